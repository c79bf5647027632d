"""Learning from statements that may be wrong: what users see of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import credo
from credo import ConflictError, OptionError
from tests.helpers.command_line import run

STATES = {"smoke": ["no", "yes"], "lung": ["no", "yes"]}
NETWORK = credo.Network(STATES, {"lung": ["smoke"]}, name="clinic")
CPTS = {"smoke": [0.5, 0.5], "lung": [[0.9, 0.1], [0.8, 0.2]]}
ROWS = pl.DataFrame(
    {"smoke": ["yes"] * 30 + ["no"] * 30, "lung": ["yes"] * 6 + ["no"] * 24 + ["yes"] * 2 + ["no"] * 28}
)
CONTRADICTORY = """smoke raises lung
P(lung=yes | smoke=yes) >= 0.9
P(lung=yes | smoke=yes) <= 0.4
P(lung=yes | smoke=no) <= 0.3
order lung: no < yes
"""


@pytest.fixture(scope="module")
def doubted() -> credo.Fit:
    return credo.fit(NETWORK, ROWS, CONTRADICTORY, doubt=True)


def test_statements_that_contradict_each_other_compete(doubted: credo.Fit) -> None:
    with pytest.raises(ConflictError):
        credo.fit(NETWORK, ROWS, CONTRADICTORY)
    found = doubted.statements()
    assert found["statement"][0] == "P(lung=yes | smoke=yes) >= 0.9"
    assert found["probability"][0] < 0.01
    assert found["probability"].is_sorted()
    assert (found["probability"][1:] > 0.8).all()
    assert "order lung: no < yes" not in found["statement"].to_list()
    assert 0.1 < doubted.cpt("lung")["lung=yes"][1] < 0.3


def test_the_check_reports_the_conflict_as_before() -> None:
    assert not credo.check(NETWORK, CONTRADICTORY).feasible


def test_reliability_is_learned_with_an_interval(doubted: credo.Fit) -> None:
    (expert,) = doubted.experts().to_dicts()
    assert (expert["expert"], expert["statements"], expert["given"]) == (None, 4, False)
    assert 0.5 < expert["low"] < expert["reliability"] < expert["high"] < 1.0


def test_the_text_says_first_what_is_wrong(doubted: credo.Fit) -> None:
    text = str(doubted)
    assert text.startswith("One of 4 statements that may be wrong is probably wrong.")
    assert "The statements are right in" in text
    assert text.index(">= 0.9") < text.index("<= 0.4")


def test_json_and_saved_fits_have_it(doubted: credo.Fit, tmp_path: Path) -> None:
    content = json.loads(json.dumps(doubted.to_dict()))
    assert content["statements"][0]["line"] == 2
    assert content["experts"][0]["name"] is None
    doubted.save(tmp_path / "clinic.fit")
    loaded = credo.load(tmp_path / "clinic.fit")
    assert loaded.statements().equals(doubted.statements())
    assert loaded.experts().equals(doubted.experts())
    assert loaded.query("P(lung=yes)").probability == doubted.query("P(lung=yes)").probability


def test_fits_without_doubt_say_so() -> None:
    fit = credo.fit(NETWORK, ROWS, "smoke raises lung", method="cmap")
    with pytest.raises(OptionError, match="No statement was doubted"):
        fit.statements()
    assert fit.to_dict()["statements"] is None


def test_doubt_is_given_and_confidence_goes_first() -> None:
    knowledge = "P(lung=yes | smoke=no) <= 0.5\nP(smoke=yes) >= 0.1 with confidence 0.7"
    fit = credo.fit(NETWORK, ROWS, knowledge, doubt=0.2)
    assert sorted(fit.statements()["believed"].to_list()) == [0.7, 0.8]
    assert fit.experts().to_dicts()[0]["given"]


def test_what_fixed_cpts_contradict_is_wrong() -> None:
    network = NETWORK.with_cpts(CPTS)
    fit = credo.fit(network, ROWS, "P(smoke=yes) >= 0.9\nsmoke raises lung", fixed=["smoke"], doubt=True)
    assert fit.statements()["probability"][0] == 0.0


EXPERTS = """P(smoke=yes) <= 0.45
P(lung=yes | smoke=no) >= 0.01 with confidence 0.9
expert careful with reliability 0.95:
    smoke raises lung
expert careless:
    P(lung=yes | smoke=yes) >= 0.8
    P(lung=yes | smoke=no) >= 0.7
"""


def test_experts_have_reliabilities_of_their_own() -> None:
    fit = credo.fit(NETWORK, ROWS, EXPERTS)
    experts = {each["expert"]: each for each in fit.experts().to_dicts()}
    assert experts["careful"]["given"]
    assert experts["careless"]["reliability"] < 0.85
    found = {each["statement"]: each for each in fit.statements().to_dicts()}
    assert "P(smoke=yes) <= 0.45" not in found  # outside of blocks and without a confidence it must hold
    assert found["P(lung=yes | smoke=no) >= 0.01 with confidence 0.9"]["believed"] == 0.9
    assert found["P(lung=yes | smoke=yes) >= 0.8"]["expert"] == "careless"
    assert fit.posterior is not None
    low, high = fit.interval_arrays("smoke", 0.99)
    assert high[1] <= 0.45 + 1e-9
    assert low[1] > 0.2
    assert "Expert careful is right in 95% of all cases (as given)." in str(fit)


def test_reports_and_explanations_start_with_it(doubted: credo.Fit, tmp_path: Path) -> None:
    explanation = doubted.explain(progress=False)
    assert "contradicted by the data" not in str(explanation)
    page = doubted.report(tmp_path / "page.html", explanation=explanation, progress=False).read_text(encoding="utf-8")
    first = page.index("One of 4 statements that may be wrong is probably wrong.")
    assert first < page.index("the probabilities of 2 variables were learned")
    assert page.index("&gt;= 0.9") < page.index("&lt;= 0.4")


def test_missing_values_are_drawn_beside_it() -> None:
    rows = ROWS.with_columns(pl.when(pl.int_range(60) % 7 == 0).then(None).otherwise("lung").alias("lung"))
    fit = credo.fit(NETWORK, rows, CONTRADICTORY, doubt=True)
    assert fit.statements()["probability"][0] < 0.05


def test_methods_that_do_not_use_knowledge_do_not_doubt_it() -> None:
    assert credo.fit(NETWORK, ROWS, EXPERTS, method="ml").doubt is None


def test_the_command_line_doubts(tmp_path: Path) -> None:
    ROWS.write_csv(tmp_path / "rows.csv")
    credo.write_network(NETWORK.with_cpts(CPTS), tmp_path / "clinic.xdsl")
    (tmp_path / "clinic.credo").write_text(CONTRADICTORY, encoding="utf-8")
    done = run("learn", "clinic.xdsl", "rows.csv", "-k", "clinic.credo", "--doubt", "0.1", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["statements"][0]["statement"] == "P(lung=yes | smoke=yes) >= 0.9"
    assert content["experts"][0]["is_given"]


def test_products_hold_beside_doubted_statements() -> None:
    knowledge = "P(lung=yes | smoke=yes) * P(smoke=yes) <= 0.1\nP(smoke=yes) <= 0.6"
    fit = credo.fit(NETWORK, ROWS, knowledge, doubt=True, posterior=credo.PosteriorOptions(draws=50, max_draws=50))
    lung, smoke = (fit.posterior.draws[..., fit.posterior.layout.slice_of(name)] for name in ("lung", "smoke"))  # type: ignore[union-attr]
    assert (lung[..., 3] * smoke[..., 1] <= 0.1 + 1e-6).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"doubt": 1}, "doubt is True, False"),
        ({"doubt": 1.0}, "doubt is True, False, or a probability above 0 and below 1"),
        ({"doubt": "always"}, "doubt is True, False"),
        ({"trust": 0.9}, r"fit has no argument trust any more: write doubt=0\.1"),
        (
            {"doubt": True, "method": "cmap"},
            "The method cmap cannot weigh statements that may be wrong, because it makes no draws",
        ),
    ],
)
def test_options_that_mean_nothing(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        credo.fit(NETWORK, ROWS, CONTRADICTORY, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("asked", [{"doubt": True}, {"doubt": 0.4}, {}])
def test_a_statement_that_cannot_be_weighed_does_not_become_a_hard_one(asked: dict[str, Any]) -> None:
    product = "P(lung=yes | smoke=no) * P(smoke=yes) <= 0.1"
    with pytest.raises(OptionError, match="compares products of probabilities"):
        credo.fit(NETWORK, ROWS, product if asked else f"expert a: {product}", **asked)


def test_what_is_believed_before_the_data_is_not_what_was_learned() -> None:
    text = "expert a: P(lung=yes | smoke=yes) >= 0.9\nexpert b with reliability between 0.5 and 0.7: smoke raises lung"
    fit = credo.fit(NETWORK, ROWS, text)
    assert sorted(fit.statements()["believed"].to_list()) == [pytest.approx(0.6), pytest.approx(0.9)]
    assert fit.experts()["expert"].to_list() == ["a", "b"]  # nobody else said anything
    assert "Expert a is right in" in str(fit)
    assert "learned from 1 statement)" in str(fit)


def test_no_weight_of_soft_statements_is_spoken_of() -> None:
    rows = ROWS.with_columns(pl.when(pl.int_range(60) % 20 == 0).then(None).otherwise("lung").alias("lung"))
    fit = credo.fit(NETWORK, rows, "expert a: smoke raises lung", em=credo.EMOptions(starts=1))
    assert not [each for each in fit.findings if each.kind in ("soft weight", "folds")]


def test_what_must_hold_is_named_by_its_line() -> None:
    text = "# from the ward\n\nexpert nurse: P(b=yes | a=yes) >= 0.3\nP(c=yes) * P(a=yes) <= 0.3"
    network = credo.Network({key: ["no", "yes"] for key in "abc"}, {"b": ["a"]})
    rows = pl.DataFrame({name: ["no", "yes"] for name in "abc"})
    messages = [finding.message for finding in credo.fit(network, rows, text).findings]
    assert "Line 4 must hold: what compares products of probabilities is not doubted." in messages


def test_a_confidence_is_the_prior_probability_of_a_statement_whether_or_not_experts_are_there() -> None:
    """P(true | data) by Bayes' theorem from the confidence and the statement's share of the draws without it."""
    coin = credo.Network({"coin": ["heads", "tails"]})
    rows = pl.DataFrame({"coin": ["heads"] * 6 + ["tails"] * 8})
    line = "P(coin=heads) <= 0.5 with confidence {}"
    for confidence in (0.3, 0.8):
        alone = credo.fit(coin, rows, line.format(confidence))
        beside = credo.fit(coin, rows, f"{line.format(confidence)}\nexpert e: P(coin=heads) <= 0.999")
        for fit in (alone, beside):
            belief = fit.statements().filter(pl.col("believed") == confidence).to_dicts()[0]
            odds = confidence / (1 - confidence) * belief["without"] / (1 - belief["without"])
            assert belief["probability"] == pytest.approx(odds / (1 + odds), abs=0.05)


def test_an_optimum_makes_a_cost_of_a_confidence_and_auto_may_fall_back_to_it() -> None:
    coin = credo.Network({"coin": ["heads", "tails"]})
    rows = pl.DataFrame({"coin": ["heads"] * 6 + ["tails"] * 8})
    text = "P(coin=heads) <= 0.3 with confidence 0.8"
    fit = credo.fit(coin, rows, text, method="cmap")
    assert fit.doubt is None
    assert any(finding.kind == "soft weight" for finding in fit.findings)
    assert credo.fit(coin, rows, text, prior=1.0).doubt is None  # auto is cmap there

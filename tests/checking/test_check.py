"""The check as a user meets it: consistent or not, why, what follows, and what the data say."""

from __future__ import annotations

import json
from io import StringIO
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from credo import ConflictError, Knowledge, KnowledgeError, Network, check
from credo.checking.check import require_consistent
from credo.constraints import block_findings as findings
from credo.constraints.blocks import Block
from credo.constraints.feasibility import interior_of
from credo.constraints.lower import lower
from credo.explain.plausibility import ProbabilityEstimate
from credo.io.bif import read_bif
from credo.knowledge import to_text
from credo.progress import CHECKING_KNOWLEDGE, ProgressEvent
from credo.report.check_text import check_summary, estimate_text, rounded
from credo.testing import andes_like_network, made_up_network, true_statements

ANDES = Path(__file__).resolve().parents[3] / "shared" / "networks" / "andes.bif"


@pytest.fixture
def clinic() -> Network:
    return Network(
        {
            "smoke": ["yes", "no"],
            "asia": ["yes", "no"],
            "lung": ["yes", "no"],
            "tub": ["yes", "no"],
            "severity": ["severe", "mild", "moderate"],
            "only": ["here"],
        },
        parents={"lung": ["smoke"], "tub": ["asia", "smoke"], "severity": ["lung", "tub"]},
    )


def test_consistent_knowledge_says_so_with_rows_and_orders(clinic: Network) -> None:
    found = check(
        clinic,
        """
        # a comment
        order severity: mild < moderate < severe
        smoke raises lung
        lung raises severity   by at least 0.05
        P(tub=yes | asia=yes, each smoke) >= 0.05
        """,
    )
    assert found.feasible
    assert found.exit_code == 0
    assert [each.constraints for each in found.statements] == [0, 1, 4, 2]
    assert [each.statement.line for each in found.statements] == [3, 4, 5, 6]
    orders = {each.variable: each.states for each in found.orders}
    assert orders["smoke"] == ("no", "yes")
    assert orders["severity"] == ("mild", "moderate", "severe")
    assert "line 3" in next(each.reason for each in found.orders if each.variable == "severity")
    text = str(found)
    assert text.startswith("The knowledge is consistent: its 4 statements can all hold together.")
    assert "severity: mild < moderate < severe" in text
    require_consistent(found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "P(lung=yes | smoke=yes) >= 0.6 with confidence 0.9\nP(lung=yes | smoke=yes) <= 0.4",
            "the 1 statement that must hold can hold. One more has a confidence, and may be wrong.",
        ),
        (
            "P(lung=yes | smoke=yes) >= 0.6 with confidence 0.9\nP(lung=yes | smoke=yes) <= 0.4 with confidence 0.8",
            "all of its statements have a confidence, and may be wrong.",
        ),
    ],
)
def test_statements_that_may_be_wrong_are_not_said_to_hold_together(clinic: Network, text: str, says: str) -> None:
    assert " ".join(str(check(clinic, text)).split()).startswith(f"The knowledge is consistent: {says}")


def test_conflicts_are_reported_in_the_users_words(clinic: Network) -> None:
    found = check(
        clinic,
        "smoke raises lung\n"
        "P(lung=yes | smoke=yes) <= 0.1   # from a textbook\n"
        "P(lung=yes | smoke=no) >= 0.2\n"
        "P(tub=yes | asia=yes, each smoke) >= 0.3\n"
        "P(tub=yes | asia=yes, smoke=no) <= 0.2\n"
        "P(smoke=yes) + P(smoke=no) <= 0.9",
    )
    assert not found.feasible
    assert found.exit_code == 3
    sets = [[(each.line, each.text) for each in conflict.statements] for conflict in found.conflicts]
    assert sorted(sets) == [
        [
            (1, "smoke raises lung"),
            (2, "P(lung=yes | smoke=yes) <= 0.1"),
            (3, "P(lung=yes | smoke=no) >= 0.2"),
        ],
        [(4, "P(tub=yes | asia=yes, each smoke) >= 0.3"), (5, "P(tub=yes | asia=yes, smoke=no) <= 0.2")],
        [(6, "P(smoke=yes) + P(smoke=no) <= 0.9")],
    ]
    first = next(conflict for conflict in found.conflicts if len(conflict.statements) == 3)
    assert first.slack_needed == pytest.approx(0.1 / 3)
    assert [each.statement.line for each in first.resolutions] == [1, 2, 3]
    without_second = dict(first.resolutions[1].probabilities)
    assert without_second["P(lung=yes | smoke=no)"] >= 0.2 - 1e-9
    text = str(found)
    assert "contradicts itself: there are 3 conflicts" in text
    assert "line 2  P(lung=yes | smoke=yes) <= 0.1" in text
    with pytest.raises(ConflictError, match="line 3: P\\(lung=yes") as caught:
        require_consistent(found)
    assert caught.value.exit_code == 3
    assert caught.value.conflicts == found.conflicts


def test_what_follows_what_is_pinned_and_what_cannot_be(clinic: Network) -> None:
    found = check(
        clinic,
        "P(lung=yes | smoke=yes) = 0.1\n"
        "P(lung=yes | smoke=yes) <= 0.2\n"
        "P(lung=yes | smoke=no) <= 0.3\n"
        "P(lung=no | smoke=no) >= 0.6\n"
        "P(lung=yes | smoke=yes) >= 0.5 with confidence 0.7\n"
        "P(asia=yes) <= 1\n"
        "P(only=here) >= 0.5\n"
        "P(asia=yes) + P(asia=no) >= 0.8",
    )
    assert found.feasible
    assert {each.statement.line: [source.line for source in each.follows_from] for each in found.redundant} == {
        2: [1],
        4: [3],
        6: [],
    }
    assert [(pin.probability, pin.value, pin.statements[0].line) for pin in found.determined] == [
        ("P(lung=yes | smoke=yes)", 0.1, 1)
    ]
    (soft,) = found.excluded
    assert soft.statement.line == 5
    assert [each.line for each in soft.excluded_by] in ([1], [2])  # either rules it out alone
    assert [each.statement.line for each in found.vacuous] == [7, 8]


def test_influence_of_a_single_state_compares_nothing() -> None:
    net = Network({"a": ["only"], "b": ["no", "yes"]}, parents={"b": ["a"]})
    found = check(net, "a raises b")
    assert found.statements[0].constraints == 0
    assert found.vacuous[0].statement.line == 1


def test_products_are_shown_excluded_or_left_open(clinic: Network) -> None:
    shown = check(clinic, "P(lung=yes | smoke=yes) * P(lung=yes | smoke=no) <= P(smoke=yes) * P(asia=yes)")
    assert shown.feasible
    assert "CPTs were found" in shown.notes[0]
    assert "product synergy (type 8)" in str(shown)
    excluded = check(
        clinic,
        "P(lung=yes | smoke=yes) >= 0.8\n"
        "P(lung=yes | smoke=no) >= 0.8\n"
        "P(asia=yes) <= 0.9\n"
        "P(smoke=yes) <= 0.5\n"
        "P(lung=yes | smoke=yes) * P(lung=yes | smoke=no) <= P(smoke=yes) * P(asia=yes)",
    )
    assert not excluded.feasible
    assert [each.line for each in excluded.conflicts[0].statements] == [1, 2, 4, 5]
    assert excluded.conflicts[0].resolutions == ()
    assert "Without any one" not in str(excluded)


def test_products_far_from_the_middle_are_reached() -> None:
    net = Network({"b": list("1234"), "a": list("xy")}, parents={"a": ["b"]})
    found = check(
        net,
        "P(a=x | b=1) >= 0.3\nP(a=x | b=2) >= 0.3\nP(a=x | b=3) <= 0.4\n"
        "P(a=x | b=1) * P(a=x | b=2) <= 0.26 * P(a=x | b=3) * P(a=x | b=4)",
    )
    assert found.feasible
    assert found.notes


def test_families_ties_and_noise_are_named_as_not_checked(clinic: Network) -> None:
    found = check(
        clinic,
        "tub is noisy-or of {asia}, {smoke} with general effects\nsmoke raises tub\n"
        "P(tub=yes | asia=yes alone) >= 0.2\n"
        "rows 1, 2 share lung\n"
        "rows 1, 2 differ in tub",
    )
    assert found.feasible
    assert [each.constraints for each in found.statements] == [0, 1, 1, 0, 0]
    assert any("Line 1" in each and "noisy-or" in each for each in found.not_checked)
    assert sum("Line 4 ties rows" in each or "Line 5 ties rows" in each for each in found.not_checked) == 2


def test_what_is_forced_in_a_noisy_family_is_about_its_small_cpts() -> None:
    network = Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    found = check(network, "b is noisy-max of {a} with leak and general effects\na raises b\na lowers b")
    (forced,) = found.forced_equalities
    assert forced.equation == "P(b by a=y | a=n) = P(b by a=y | a=y)"


def test_statements_on_a_noisy_family_are_checked_on_its_small_cpts(clinic: Network) -> None:
    family = "tub is noisy-or of {asia}, {smoke}\n"
    contradiction = check(clinic, family + "P(tub=yes | asia=yes alone) >= 0.2\nP(tub=yes | asia=yes alone) <= 0.1")
    assert not contradiction.feasible
    apart = check(clinic, family + "P(tub=yes | asia=yes alone) >= 0.2\nP(tub=yes | smoke=yes alone) <= 0.1")
    assert apart.feasible
    spanning = check(clinic, family + "asia and smoke synergize on tub")
    assert "spans several" in spanning.statements[1].note
    assert any("Line 2" in each and "spans several" in each for each in spanning.not_checked)


def test_data_put_what_they_contradict_on_top(clinic: Network) -> None:
    lung = {"yes": (12, 28), "no": (1, 59)}  # smoke → how many with and without
    rows = [
        (smoke, state)
        for smoke, pair in lung.items()
        for state, n in zip(("yes", "no"), pair, strict=True)
        for _ in range(n)
    ]
    frame = pl.DataFrame(rows, schema=["smoke", "lung"], orient="row").with_columns(asia=pl.lit("no"))

    knowledge = "P(asia=yes) <= 0.1\nsmoke lowers lung\nP(smoke=yes) = 0.4"
    found = check(clinic, knowledge, data=frame)
    assert found.with_data
    by_line = {each.statement.line: each.plausibility for each in found.statements}
    assert by_line[2] is not None
    assert by_line[2].after_data is not None
    assert by_line[2].after_data.value < 1e-3
    text = str(found)
    assert "The data contradict one statement." in text
    assert text.index("smoke lowers lung") < text.index("P(asia=yes) <= 0.1")
    assert check(clinic, knowledge, data=frame, seed=4).statements[1] == found.statements[1]


def test_a_check_fits_into_json_and_onto_a_terminal(clinic: Network) -> None:
    found = check(clinic, "smoke raises lung\nP(lung=yes | smoke=yes) < P(lung=yes | smoke=no) by at least 0.1")
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["feasible"] is False
    assert record["conflicts"][0]["statements"][1]["line"] == 2
    console = Console(record=True, width=80, file=StringIO())
    console.print(check_summary(found))
    assert "Conflict 1" in console.export_text()


def test_what_does_not_parse_is_bad_input(clinic: Network) -> None:
    with pytest.raises(KnowledgeError) as caught:
        check(clinic, "smoke raises lunk")
    assert caught.value.exit_code == 2


def test_statements_made_in_python_are_quoted_without_a_line(clinic: Network) -> None:
    statements = Knowledge(clinic, "P(smoke=yes) >= 0.7\nP(smoke=no) >= 0.7").statements
    bare = [
        type(each)(*(getattr(each, name) for name in each.__dataclass_fields__ if name != "span"))
        for each in statements
    ]
    found = check(clinic, Knowledge(clinic, bare))
    assert not found.feasible
    assert "P(smoke=no) >= 0.7" in str(found)


def test_true_statements_are_consistent_whatever_is_drawn() -> None:
    net = made_up_network(12, (2, 3), (0.25, 0.25, 0.25, 0.25), seed=3)
    for seed in range(3):
        drawn = true_statements(net, 8, seed, across_variables=0.1)
        found = check(net, Knowledge(net, drawn))
        assert found.feasible, str(found)


@pytest.mark.slow
def test_a_network_of_the_size_of_andes_takes_seconds() -> None:
    assert_quick(andes_like_network())


@pytest.mark.slow
@pytest.mark.skipif(not ANDES.exists(), reason="andes.bif is not part of the project")
def test_andes_takes_seconds() -> None:
    assert_quick(read_bif(ANDES))


def assert_quick(net: Network) -> None:
    drawn = true_statements(net, 45, 0)
    knowledge = Knowledge(net, "\n".join(to_text(each) for each in drawn))
    started = process_time()
    lower(knowledge)
    assert process_time() - started < 3
    fewer = Knowledge(net, "\n".join(to_text(each) for each in true_statements(net, 30, 1)))
    found = check(net, fewer)
    assert found.feasible
    assert found.seconds < 30


def test_data_may_be_a_file_and_ties_name_its_columns(clinic: Network, tmp_path: Path) -> None:
    frame = pl.DataFrame({"smoke": ["yes", "no"], "lung": ["yes", "no"], "twin": ["1", "1"]})
    frame.write_csv(tmp_path / "d.csv")
    for tied in ("share", "differ in"):
        found = check(clinic, f"smoke raises lung\nrows with equal twin {tied} lung", data=tmp_path / "d.csv")
        assert found.with_data
        with pytest.raises(KnowledgeError, match="twins") as caught:
            check(clinic, f"smoke raises lung\nrows with equal twins {tied} lung", data=tmp_path / "d.csv")
        (mistake,) = caught.value.mistakes
        assert (mistake.kind, mistake.line) == ("unknown-column", 2)
        with pytest.raises(KnowledgeError, match="7"):
            check(clinic, f"rows 1, 7 {tied} lung", data=tmp_path / "d.csv")


def test_raising_and_lowering_at_once_forces_equality(clinic: Network) -> None:
    found = check(clinic, "smoke raises lung\nsmoke lowers lung")
    assert found.feasible
    assert [(each.equation, [statement.line for statement in each.statements]) for each in found.forced_equalities] in (
        [("P(lung=yes | smoke=no) = P(lung=yes | smoke=yes)", [1, 2])],
        [("P(lung=yes | smoke=yes) = P(lung=yes | smoke=no)", [1, 2])],
    )
    assert "Lines 1 and 2 force P(lung=yes | smoke=" in " ".join(str(found).split())
    assert not check(clinic, "smoke raises lung").forced_equalities


@pytest.mark.filterwarnings("ignore::credo.errors.LargeCPTWarning")
def test_equal_blocks_are_checked_once_and_named_each(monkeypatch: pytest.MonkeyPatch) -> None:
    solved, events = list[Block](), list[ProgressEvent]()
    monkeypatch.setattr(findings, "interior_of", lambda block: solved.append(block) or interior_of(block))
    names = [f"p{number}" for number in range(9)]
    net = Network({**{name: list("abcd") for name in names}, "y": ["no", "yes"]}, {"y": names})
    found = check(net, "p0 raises y", progress=events.append)  # about 4 seconds
    assert found.constraints == 196_608
    assert found.blocks == 65_536
    assert len(solved) == 1
    shares = [event.share for event in events if event.total]
    assert {event.phase for event in events} == {CHECKING_KNOWLEDGE}
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0

    net = Network({**{name: list("ab") for name in names[:4]}, "y": ["no", "yes"]}, {"y": names[:4]})
    found = check(
        net, "p0 raises y\nP(y=yes | p0=a, each other parent) = 0.5\nP(y=yes | p0=b, each other parent) <= 0.5"
    )
    assert len(found.determined) == len({each.probability for each in found.determined}) == 32
    assert {len(each.statements) for each in found.determined} == {1, 3}
    found = check(
        net,
        "p0 raises y\nP(y=yes | p0=a, p1=b, each other parent) >= 0.5\nP(y=yes | p0=b, p1=b, each other parent) <= 0.4",
    )
    assert [[each.line for each in conflict.statements] for conflict in found.conflicts] == [[1, 2, 3]]
    assert all("p1=b" in name for name, _ in found.conflicts[0].resolutions[0].probabilities)


def test_missing_values_and_hidden_variables_are_reported(clinic: Network) -> None:
    data = pl.DataFrame({"smoke": ["yes", "no", None, "no"] * 10, "lung": ["yes", "no", "no", "no"] * 10})
    found = check(clinic, "smoke raises lung\nP(tub=yes | asia=yes, each smoke) <= 0.1", data=data)
    assert [(each.variable, each.rows_used, each.rows) for each in found.data_use] == [
        ("lung", 30, 40),
        ("tub", 0, 40),
    ]
    assert found.hidden == ("asia", "tub", "severity", "only")
    assert found.to_dict()["data_use"][0]["rows_used"] == 30
    text = " ".join(str(found).split())
    assert "lung was compared with 30 of 40 rows" in text
    assert "tub was not compared with the data: tub, asia have no columns." in text
    assert found.statements[0].plausibility.after_data is not None
    assert found.statements[1].plausibility.after_data is None


def test_what_cannot_be_compared_is_not_said_to_agree(clinic: Network) -> None:
    data = pl.DataFrame({"smoke": ["yes", "no"], "lung": ["yes", "no"], "asia": ["yes", "no"]})
    found = check(clinic, "tub is noisy-or of {smoke}, {asia}", data=data)
    text = " ".join(str(found).split())
    assert "None of them could be compared with the data." in text
    assert "contradict none" not in text
    assert "with which the data cannot be compared directly" in found.not_checked[0]
    assert "contradict none" not in str(check(clinic, "rows 1, 2 share lung", data=data))


def test_statements_of_two_files_are_named_with_their_files(clinic: Network) -> None:
    first = Knowledge(clinic, "P(lung=yes | smoke=no) >= 0.5", "doctor.txt")
    second = Knowledge(clinic, "P(lung=yes | smoke=no) <= 0.2", "textbook.txt")
    found = check(clinic, first + second)
    assert "doctor.txt:1" in str(found)
    assert "textbook.txt:1  P(lung=yes" in str(found)
    with pytest.raises(ConflictError, match="doctor.txt:1: P"):
        require_consistent(found)
    assert "line 1" not in str(found)


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (ProbabilityEstimate(0.1366, 0.05), "≈0.14"),
        (ProbabilityEstimate(0.1366, 0.0, is_exact=True), "0.14"),
        (ProbabilityEstimate(0.1366, 0.3), "<0.74"),
        (ProbabilityEstimate(0.999, 0.0, is_exact=True), ">0.99"),
        (ProbabilityEstimate(1.0, 0.0, is_exact=True), "1.0"),
        (ProbabilityEstimate(0.0, 0.0, upper_bound=1 / 4000), "<0.00025"),
        (ProbabilityEstimate(0.0, 0.0, is_exact=True), "0"),
    ],
)
def test_numbers_have_the_digits_that_their_error_leaves(estimate: ProbabilityEstimate, text: str) -> None:
    assert estimate_text(estimate) == text
    assert rounded(13.66, 5.0, is_exact=False) == "≈14"
    assert rounded(1366.0, 300.0, is_exact=False) == "≈1,400"


def test_a_conflict_of_products_ends_without_an_empty_line(clinic: Network) -> None:
    found = check(clinic, "P(smoke=yes) * P(asia=yes) >= 0.5\nP(smoke=yes) <= 0.1")
    assert not found.feasible
    lines = str(found).splitlines()
    assert [line for before, line in pairwise(lines) if not before and not line] == []


def test_probabilities_too_small_for_numbers_are_not_compared() -> None:
    names = [f"p{number}" for number in range(6)]
    net = Network({**{name: list("abcd") for name in names}, "y": ["no", "yes"]}, {"y": names})
    rng = np.random.default_rng(0)
    data = pl.DataFrame({name: rng.choice(list(net.states(name)), 3000) for name in net.names})
    high = (data["p0"] == "d").to_numpy() | ((data["p0"] == "c").to_numpy() & (rng.random(3000) < 0.5))
    data = data.with_columns(y=pl.Series(np.where(high, "yes", "no")))
    found = check(net, "p0 raises y", data=data)
    assert found.statements[0].plausibility.after_data is None
    assert "probability is too small to compute" in " ".join(found.not_checked)
    assert "contradict none" not in str(found)


def test_statements_about_the_only_state_of_a_variable() -> None:
    """Their coefficients say nothing about a direction."""
    network = Network({"a": ["only"], "b": ["n", "y"]}, {"b": ["a"]})
    text = "6e9*P(a=only) <= P(b=y | a=only) with confidence 0.8\n1e-12*P(a=only) <= 0.31 with confidence 0.8"
    assert check(network, text, progress=False).feasible

"""Learning noisy families: the objective never falls, statements hold, and every method takes them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import EMOptions, Network, NoisyForm, OptionError, Status
from credo.estimation.methods import METHODS
from credo.testing import with_missing_values
from tests.helpers.noisy_families import KINDS, noisy_network

BINARY = ("no", "yes")
NAMES = ("chol", "bp", "age", "smoke")
HEART = Network({**dict.fromkeys(NAMES, BINARY), "attack": BINARY}, {"attack": NAMES})
FAMILY = "attack is noisy-or of {chol, bp}, {age}, {smoke} with leak and general effects\n"
FORM = NoisyForm(
    "noisy-or",
    (("chol", "bp"), ("age",), ("smoke",)),
    BINARY,
    True,
    (
        np.array([[[1.0, 0.0], [0.8, 0.2]], [[0.85, 0.15], [0.4, 0.6]]]),
        np.array([[1.0, 0.0], [0.7, 0.3]]),
        np.array([[1.0, 0.0], [0.5, 0.5]]),
        np.array([0.95, 0.05]),
    ),
)
TRUTH = HEART.with_cpts({name: [0.5, 0.5] for name in NAMES}).with_forms({"attack": FORM})
DATA = TRUTH.sample(400, seed=1)


def never_falls(history: tuple[float, ...]) -> bool:
    return all(after >= before - 1e-8 * (1 + abs(before)) for before, after in pairwise(history))


def test_a_single_cause_is_learned_by_counting() -> None:
    network = Network({"a": BINARY, "y": BINARY}, {"y": ["a"]})
    frame = pl.DataFrame({"a": ["no"] * 4 + ["yes"] * 5, "y": ["no"] * 3 + ["yes"] + ["no"] * 2 + ["yes"] * 3})
    fit = credo.fit(network, frame, "y is noisy-or of {a} with general effects", method="ml")
    assert fit.network.cpt_array("y") == pytest.approx(np.array([[0.75, 0.25], [0.4, 0.6]]), abs=1e-6)


def test_the_optimum_of_two_causes_by_hand() -> None:
    """Each configuration as often as the truth has it: the truth is the optimum."""
    network = Network({"a": BINARY, "b": BINARY, "y": BINARY}, {"y": ["a", "b"]})
    counts = {("no", "no"): (90, 10), ("yes", "no"): (45, 55), ("no", "yes"): (72, 28), ("yes", "yes"): (36, 64)}
    rows = [(a, b, y, n) for (a, b), pair in counts.items() for y, n in zip(BINARY, pair, strict=True)]
    frame = pl.DataFrame(rows, schema=["a", "b", "y", "times"], orient="row")
    fit = credo.fit(
        network,
        frame,
        "y is noisy-or of {a}, {b} with leak and general effects",
        method="ml",
        weights="times",
        em=EMOptions(tolerance=1e-13),
    )
    one, two, leak = fit.network.forms["y"].cpts
    assert one == pytest.approx(np.array([[1.0, 0.0], [0.5, 0.5]]), abs=1e-5)
    assert two == pytest.approx(np.array([[1.0, 0.0], [0.8, 0.2]]), abs=1e-5)
    assert leak == pytest.approx([0.9, 0.1], abs=1e-5)


@pytest.mark.parametrize("accelerate", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_never_falls(kind: str, accelerate: bool) -> None:
    truth = noisy_network(np.random.default_rng(2), kind, leak=True)
    frame = with_missing_values(truth.sample(150, seed=3), 0.15, 3).drop("x2")
    text = f"y is {kind} of {{x0, x1}}, {{x2}}, {{x3}} with general effects\nx0 and x1 synergize on y\nx3 lowers y"
    bare = Network(truth.variables, truth.parents)
    fit = credo.fit(bare, frame, text, method="cmap", em=EMOptions(starts=2, accelerate=accelerate))
    assert never_falls(fit.history)
    assert fit.log_likelihood == pytest.approx(fit.network.log_likelihood(frame), rel=1e-9)
    assert fit.violations().is_empty()


def test_several_families_amid_a_network_with_missing_values_and_a_hidden_variable() -> None:
    generator = np.random.default_rng(8)
    names = ("a", "b", "h", "y", "c", "z", "end")
    parents = {"b": ["a"], "h": ["a"], "y": ["a", "b", "h"], "z": ["y", "c"], "end": ["z", "h"]}
    structure = Network(dict.fromkeys(names, BINARY), parents)
    truth = structure.with_cpts(
        {name: generator.dirichlet([1, 1], structure.shape(name)[:-1]) for name in names if name not in "yz"}
    ).with_forms(
        {
            "y": NoisyForm("noisy-or", (("a", "b"), ("h",)), BINARY, True, small(generator, (2, 2), (2,), ())),
            "z": NoisyForm("noisy-and", (("y",), ("c",)), BINARY, False, small(generator, (2,), (2,))),
        }
    )
    text = (
        "y is noisy-or of {a, b}, {h} with leak and general effects\nz is noisy-and of {y}, {c} with general effects\n"
        "a and b synergize on y\nh raises y by at least 0.1\nP(z=yes | y=yes alone) >= 0.6\nh raises end"
    )
    frame = with_missing_values(truth.sample(250, seed=4), 0.2, 4).drop("h")
    fit = credo.fit(structure, frame, text, method="cmap", em=EMOptions(starts=2))
    assert never_falls(fit.history)
    assert fit.violations().is_empty()
    assert set(fit.network.forms) == {"y", "z"}
    assert not any(each.variable is not None and each.variable not in names for each in fit.findings)


def small(generator: np.random.Generator, *shapes: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return tuple(generator.dirichlet([1, 1], shape) for shape in shapes)


STATEMENTS = {
    "raises": "chol raises attack\nage raises attack by at least 0.4",
    "lowers": "smoke lowers attack",
    "synergy": "chol and bp synergize on attack by at least 0.3",
    "sub-synergy": "chol and bp sub-synergize on attack",
    "range": "0.4 <= P(attack=yes | age=yes alone) <= 0.45",
    "low range": "P(attack=yes | age=no alone) >= 0.1",
    "equality": "P(attack=yes | smoke=yes alone) = 0.3",
    "approximation": "P(attack=yes | chol=yes, bp=yes alone) ~ P(attack=yes | chol=no, bp=yes alone) within 0.05",
    "margin": "P(attack=yes | chol=yes, bp=yes alone) >= P(attack=yes | chol=no, bp=no alone) by at least 0.8",
    "across sets": "P(attack=yes | smoke=yes alone) <= P(attack=yes | age=yes alone)",
}


@pytest.mark.parametrize("method", ["cml", "cmap"])
@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS)
def test_hard_statements_hold_at_the_end(text: str, method: str) -> None:
    fit = credo.fit(HEART, DATA, FAMILY + text, method=method, em=EMOptions(starts=2))
    assert fit.violations().is_empty()
    assert fit.status is Status.CONVERGED
    assert never_falls(fit.history)
    assert (
        fit.log_likelihood <= credo.fit(HEART, DATA, FAMILY, method="ml", em=EMOptions(starts=2)).log_likelihood + 1e-3
    )


def test_a_confidence_pulls_and_yields() -> None:
    text = "P(attack=yes | age=yes alone) >= 0.9 with confidence 0.9"
    free, pulled, strict = (
        credo.fit(
            HEART,
            DATA,
            FAMILY + text,
            method="cml",
            optimiser=credo.OptimiserOptions(soft_weight=weight),
            em=EMOptions(starts=1),
        ).network
        for weight in (0.0, 100.0, 1e6)
    )
    at = [each.forms["attack"].cpts[1][1, 1] for each in (free, pulled, strict)]
    assert at[0] < at[1] < at[2]
    assert at[2] == pytest.approx(0.9, abs=0.02)


def test_a_range_on_a_small_table_is_not_scaled_into_a_violation() -> None:
    fit = credo.fit(HEART, DATA, FAMILY + STATEMENTS["low range"], method="cml", em=EMOptions(starts=1))
    assert fit.network.forms["attack"].cpts[1][0, 1] >= 0.1 - 1e-9
    free = credo.fit(HEART, DATA, FAMILY + "age raises attack", method="cml", em=EMOptions(starts=1))
    assert free.network.forms["attack"].cpts[1][0, 1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_noisy_families(method: str) -> None:
    text = FAMILY + "chol and bp synergize on attack\nage raises attack"
    fit = credo.fit(HEART, DATA.head(150), text, method=method, em=EMOptions(starts=1))
    assert fit.network.is_complete
    assert fit.network.cpt_array("attack").sum(axis=-1) == pytest.approx(np.ones((2,) * 4))
    assert fit.network.forms["attack"].kind == "noisy-or"
    assert fit.log_likelihood == pytest.approx(fit.network.log_likelihood(DATA.head(150)), rel=1e-9)
    if method in ("cml", "cmap", "posterior", "qmapc", "cme"):
        assert (fit.violations()["amount"].max() or 0.0) <= 1e-6


def test_intervals_are_those_of_small_tables() -> None:
    fit = credo.fit(HEART, DATA, FAMILY + "age raises attack", method="posterior", em=EMOptions(starts=1))
    low, high = fit.interval_arrays("attack by age")
    learned = fit.network.forms["attack"].cpts[1]
    assert (low <= learned + 1e-9).all()
    assert (learned <= high + 1e-9).all()
    with pytest.raises(OptionError, match="one of its small CPTs, .* attack by age"):
        fit.interval("attack")


def test_a_family_that_the_network_declares_needs_no_statement() -> None:
    stated = credo.fit(HEART, DATA, FAMILY + "age raises attack", method="cmap", em=EMOptions(starts=1))
    declared = credo.fit(
        HEART.with_forms({"attack": FORM.without_cpts()}),
        DATA,
        "age raises attack",
        method="cmap",
        em=EMOptions(starts=1),
    )
    assert stated.network == declared.network


def test_a_learned_family_can_be_kept() -> None:
    fit = credo.fit(TRUTH, DATA, method="cmap", fixed=["attack"], em=EMOptions(starts=1))
    assert fit.network.forms["attack"] == FORM


@pytest.mark.parametrize("prior", [2.0, "bdeu:4", {"attack": 3.0}, TRUTH])
def test_priors_reach_the_small_tables(prior: Any) -> None:
    fit = credo.fit(HEART, DATA.head(20), FAMILY, method="map", prior=prior, em=EMOptions(starts=1))
    counted = credo.fit(HEART, DATA.head(20), FAMILY, method="ml", em=EMOptions(starts=1))
    assert fit.network.forms["attack"] != counted.network.forms["attack"]


def test_a_spanning_statement_is_reported() -> None:
    fit = credo.fit(HEART, DATA, FAMILY + "chol and age synergize on attack", method="cmap", em=EMOptions(starts=1))
    found = [each for each in fit.findings if each.kind == "only checked"]
    assert len(found) == 1
    assert "spans several of its sets" in found[0].message
    assert fit.violations()["statement"][0] == "chol and age synergize on attack"


def test_knowledge_about_a_noisy_family_that_cannot_hold_is_a_conflict() -> None:
    text = FAMILY + "P(attack=yes | age=yes alone) >= 0.5\nP(attack=yes | age=yes alone) <= 0.4"
    assert not credo.check(HEART, text).feasible
    with pytest.raises(credo.CredoError, match="cannot"):
        credo.fit(HEART, DATA, text, method="cml", em=EMOptions(starts=1))


def test_the_check_of_a_noisy_family_with_and_without_data() -> None:
    text = (
        FAMILY
        + "chol and bp synergize on attack\nP(attack=yes | age=yes alone) >= 0.1\nchol and age synergize on attack"
    )
    for data in (None, DATA):
        found = credo.check(HEART, text, data=data)
        assert found.feasible
        assert any("spans several of its sets" in each for each in found.not_checked)
        assert found.to_dict()["feasible"]


def test_forty_parents_cost_ten_small_tables() -> None:
    names = [f"x{i}" for i in range(40)]
    sets = [names[i : i + 4] for i in range(0, 40, 4)]
    network = Network({**dict.fromkeys(names, BINARY), "y": BINARY}, {"y": names})
    text = "y is noisy-or of " + ", ".join("{" + ", ".join(own) + "}" for own in sets) + " with leak\nx3 raises y"
    generator = np.random.default_rng(0)
    frame = pl.DataFrame({name: np.array(BINARY)[generator.integers(0, 2, 200)] for name in (*names, "y")})
    fit = credo.fit(network, frame, text, em=EMOptions(starts=1))
    assert len(fit.network.forms["y"].cpts) == 11
    assert fit.network.predict(frame.head(3).drop("y"), "y").height == 3
    assert fit.violations().is_empty()
    again = fit.to_dict()
    assert again["cpts"]["y"]["probabilities"] is None
    assert [cause["parents"] for cause in again["noisy"]["y"]["causes"]][:2] == sets[:2]


def test_a_full_cpt_does_not_fix_a_noisy_family() -> None:
    network = credo.Network({key: ["n", "y"] for key in "abc"}, {"c": ["a", "b"]})
    network = network.with_cpts({"c": [[[0.9, 0.1], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]]})
    rows = pl.DataFrame({"a": ["n"], "b": ["y"], "c": ["n"]})
    with pytest.raises(credo.NetworkError, match="c is noisy-or, and the network has no small CPTs for it"):
        credo.fit(network, rows, "c is noisy-or of a, b", fixed=["c"])


def test_no_cause_has_no_effect() -> None:
    rows = pl.DataFrame({"a": ["ok"] * 50, "b": ["ok"] * 50})
    text = """
    variables a, b, top: ok, failed
    P(a=failed) <= 1e-3
    P(b=failed) <= 1e-3
    P(top=failed | a=failed alone) = 1
    P(top=failed | b=failed alone) = 1
    top is noisy-or of {a}, {b}"""
    for method in ("posterior", "cmap"):
        fit = credo.fit(text, rows, method=method)
        assert fit.query("P(top=failed | a=ok, b=ok)").probability == 0
        assert fit.query("P(top=failed)").probability <= 2e-3
        assert fit.query("P(top=failed | a=failed, b=ok)").probability == 1
    for words in (" with leak", " with general effects", " with leak and general effects"):
        assert credo.fit(text + words, rows).query("P(top=failed | a=ok, b=ok)").probability > 0.05


def test_data_without_a_cause_need_a_leak() -> None:
    rows = pl.DataFrame({"a": ["ok", "failed", "ok"], "top": ["ok", "failed", "failed"]})
    text = "variables a, top: ok, failed\ntop is noisy-or of {a}"
    with pytest.raises(credo.ImpossibleRowError, match="Row 3 is impossible: .* add `with leak` if it happens without"):
        credo.fit(text, rows)
    assert credo.fit(text + " with leak", rows).query("P(top=failed | a=ok)").probability > 0.2


def test_causes_without_effect_in_a_file_keep_having_none(tmp_path: Path) -> None:
    states = ("failed", "ok")  # as GeNIe lists them
    network = Network(dict.fromkeys(("a", "b", "top"), states), {"top": ["a", "b"]})
    effects = [[[0.9, 0.1], [0.0, 1.0]], [[0.8, 0.2], [0.0, 1.0]]]
    form = NoisyForm("noisy-or", (("a",), ("b",)), ("ok", "failed"), False, tuple(map(np.array, effects)))
    credo.write_network(
        network.with_cpts({key: [0.1, 0.9] for key in "ab"}).with_forms({"top": form}), tmp_path / "t.xdsl"
    )
    rows = pl.DataFrame({"a": ["ok"] * 50, "b": ["ok"] * 50})
    fit = credo.fit(tmp_path / "t.xdsl", rows)
    assert fit.query("P(top=failed | a=ok, b=ok)").probability == 0
    assert fit.knowledge.to_text() == "P(top=ok | a=ok alone) = 1\nP(top=ok | b=ok alone) = 1"
    assert "(the network, line 1)" in str(fit.knowledge)
    stated = credo.fit(tmp_path / "t.xdsl", rows, "top is noisy-or of a, b with general effects")
    assert stated.query("P(top=failed | a=ok, b=ok)").probability > 0.05
    again = credo.fit(fit.network, rows, fit.knowledge)
    assert len(again.knowledge) == len(fit.knowledge) == 2


@pytest.mark.parametrize("ending", ["", " with general effects"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_draws_of_a_noisy_family_follow_what_is_seen_of_its_variable(ending: str, missing: float) -> None:
    states = {"flu": ["no", "yes"], "cold": ["no", "yes"], "fever": ["no", "yes"]}
    fever = [[[1.0, 0.0], [0.763, 0.237]], [[0.384, 0.616], [0.293, 0.707]]]
    cpts = {"flu": [0.6, 0.4], "cold": [0.6, 0.4], "fever": fever}
    truth = credo.Network(states, {"fever": ["flu", "cold"]}, cpts)
    rows = with_missing_values(truth.sample(500, seed=1), missing, 2) if missing else truth.sample(500, seed=1)
    fit = credo.fit(truth.without_cpts(), rows, f"fever is noisy-or of {{flu}}, {{cold}}{ending}", method="posterior")
    assert fit.status is credo.Status.AVERAGED
    np.testing.assert_allclose(fit.network.cpt_array("fever"), fever, atol=0.08)

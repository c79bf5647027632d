"""Statements about any probability bind in cml and cmap: closed forms, SciPy's general solver, invariants."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo import OptionError, Status
from credo.explain.explanation import Effect
from credo.explain.learned_probabilities import LearnedProbability
from credo.explain.violations import ONLY_CHECKED
from credo.testing import random_network, with_missing_values
from tests.helpers.amounts import seeds
from tests.helpers.general import best_by_slsqp, joint_of, random_case, random_general, text_of, value_of

PAIR = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
ROWS = pl.DataFrame({"a": ["n"] * 60 + ["y"] * 40, "b": ["n"] * 50 + ["y"] * 10 + ["n"] * 10 + ["y"] * 30})


def test_a_marginal_of_two_variables_has_a_closed_form() -> None:
    """max Σ N log p(a, b) with P(b=y) = c: both states of b keep their distributions of a, N(a, b)/N(b)."""
    fit = credo.fit(PAIR, ROWS, "P(b=y) <= 0.3", method="cml")
    assert fit.status is Status.LOCAL
    joint = joint_of(PAIR, fit.network.cpts)
    expected = np.array([[50 / 60 * 0.7, 10 / 40 * 0.3], [10 / 60 * 0.7, 30 / 40 * 0.3]])
    np.testing.assert_allclose(joint, expected, atol=1e-6)
    # d/dc [40 log c + 60 log(1 − c)] at the bound.
    assert fit.multipliers[0] == pytest.approx(40 / 0.3 - 60 / 0.7, rel=1e-4)
    assert not len(fit.violations())


def test_a_diagnostic_value_of_two_variables_has_a_closed_form() -> None:
    fit = credo.fit(PAIR, ROWS, "P(a=y | b=y) is at least 90%", method="cml")
    joint = joint_of(PAIR, fit.network.cpts)
    np.testing.assert_allclose(joint, [[0.5, 0.04], [0.1, 0.36]], atol=1e-6)
    assert fit.to_dict()["binding"][0]["line"] == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("P(b=y) is between 50% and 60%", 0.5),
        ("P(b=y) is about 20%", 0.24),
        ("P(b=y) = 0.25", 0.25),
        ("P(b=y) ~ P(a=y) within 0.1\nP(a=y) = 0.7", 0.6),
    ],
)
def test_words_ranges_and_equalities_bind(text: str, value: float) -> None:
    fit = credo.fit(PAIR, ROWS, text, method="cmap")
    assert joint_of(PAIR, fit.network.cpts)[:, 1].sum() == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("seed", seeds(5, 300))
def test_no_solver_finds_better_cpts(seed: int) -> None:
    rng, truth = random_case(seed)
    statements = random_general(truth, rng, int(rng.integers(1, 4)))
    frame = truth.sample(int(rng.integers(5, 60)), seed=seed)
    text = "\n".join(text_of(truth, each) for each in statements)
    fit = credo.fit(truth.without_cpts(), frame, text, method="cmap")
    assert fit._problem is not None
    weights, layout = fit._problem.vector(), fit._problem.layout
    theta, joint = layout.pack(fit.network.cpts), joint_of(truth, fit.network.cpts)
    for terms, relation, bound in statements:
        excess = value_of(truth, joint, terms) - bound
        assert (abs(excess) if relation == "=" else excess if relation == "<=" else -excess) <= 2e-8
    assert not len(fit.violations())

    def objective(point: np.ndarray) -> float:
        return -float(weights @ np.log(np.maximum(point, 1e-12)))

    others = [rng.dirichlet(np.ones(len(truth.states(n))), truth.configurations(n)).ravel() for n in truth.names]
    starts = [layout.pack(truth.cpts), theta, np.concatenate(others)]
    best = best_by_slsqp(objective, truth, statements, [], starts)
    if best is not None:
        assert objective(theta) <= best[0] + 1e-5 * (1.0 + abs(best[0]))


def test_other_statements_hold_with_them() -> None:
    network = random_network(dict.fromkeys("abc", 2), {"b": ("a",), "c": ("a", "b")}, seed=4)
    text = "a raises b by at least 0.2\nP(c=s1) = 0.4\nP(a=s1 | c=s1) >= 0.7\nb does not affect c\nP(b=s1) <= P(a=s1)"
    fit = credo.fit(network.without_cpts(), network.sample(80, seed=1), text, method="cmap")
    assert fit.status is Status.LOCAL
    assert not len(fit.violations())


def test_a_soft_one_moves_the_estimate_by_its_confidence() -> None:
    prevalence = [
        joint_of(
            PAIR,
            credo.fit(
                PAIR, ROWS, text, method="cmap", optimiser=credo.OptimiserOptions(soft_weight=weight)
            ).network.cpts,
        )[:, 1].sum()
        for text, weight in (
            ("P(b=y) <= 0.3 with confidence 0.5", 100.0),
            ("P(b=y) <= 0.3 with confidence 0.9", 100.0),
            ("P(b=y) <= 0.3 with confidence 0.9", 1e5),
        )
    ]
    assert 0.41 > prevalence[0] > prevalence[1] > prevalence[2] > 0.3
    # The derivative of 40 log p + 60 log(1 − p) and the prior is that of (W/2)·C·(p − 0.3)².
    soft = credo.fit(
        PAIR,
        ROWS,
        "P(b=y) <= 0.3 with confidence 0.5",
        method="cml",
        optimiser=credo.OptimiserOptions(soft_weight=100.0),
    )
    p = joint_of(PAIR, soft.network.cpts)[:, 1].sum()
    assert 40 / p - 60 / (1 - p) == pytest.approx(100.0 * 0.5 * (p - 0.3), rel=1e-3)


def test_they_bind_with_missing_values_and_em_never_falls() -> None:
    network = random_network(dict.fromkeys("abc", 2), {"b": ("a",), "c": ("a", "b")}, seed=5)
    frame = with_missing_values(network.sample(150, seed=2), 0.2, seed=3)
    text = "P(c=s1) = 0.37\nP(a=s1 | c=s1) >= 0.7\nP(b=s0 | a=s1) >= 0.3"
    fit = credo.fit(network.without_cpts(), frame, text, method="cmap", em=credo.EMOptions(starts=2))
    assert not len(fit.violations())
    assert (np.diff(fit.history) >= -1e-7).all()
    assert fit.status is Status.CONVERGED


@pytest.mark.parametrize("more", ["", "P(d=s1 | c=s0) <= 0.95"])
def test_em_learns_what_they_are_not_about_as_without_them(more: str) -> None:
    network = random_network(dict.fromkeys("abcd", 2), {"b": ["a"], "d": ["c"]}, seed=1)
    frame = with_missing_values(network.sample(150, seed=2), 0.3, seed=3)
    free = credo.fit(network, frame, more, method="cml", progress=False)
    part = free.network.cpt_array("a") @ free.network.cpt_array("b")
    bound = credo.fit(network, frame, f"P(b=s1) <= {0.7 * part[1]}\n{more}", method="cml", progress=False)
    for name in "cd":
        np.testing.assert_allclose(bound.network.cpt_array(name), free.network.cpt_array(name), atol=1e-4)


def test_em_never_stays_where_an_ordinary_statement_is_missed() -> None:
    """The first CPTs satisfy all statements about any probability, but not the other one."""
    network = credo.Network({name: ["n", "y"] for name in "abc"}, {"b": ["a"], "c": ["a", "b"]})
    frame = pl.DataFrame({"a": ["n", "y"], "b": ["n", None], "c": [None, "n"]})
    text = "P(a=y) >= P(b=y | a=y) by at least 0.3\nP(b=y) <= 0.15 with confidence 0.8"
    options = credo.EMOptions(starts=1, max_iterations=1, accelerate=False)
    fit = credo.fit(
        network,
        frame,
        text,
        method="cml",
        optimiser=credo.OptimiserOptions(soft_weight=0.0),
        em=options,
        progress=False,
    )
    assert not [each for each in fit.violations().to_dicts() if each["confidence"] is None]


def test_methods_that_cannot_bind_them_say_so() -> None:
    for method in ("ml", "map", "me", "qmapc", "cme", "co"):
        found = {each.kind for each in credo.fit(PAIR, ROWS, "P(b=y) <= 0.3", method=method).findings}
        assert ONLY_CHECKED in found, method


def test_the_explanation_treats_them_as_any_statement() -> None:
    network = random_network(dict.fromkeys("abc", 2), {"b": ("a",), "c": ("a", "b")}, seed=6)
    text = "P(c=s1) <= 0.2\nP(a=s1) >= 0.05\nP(b=s1 | c=s1) >= 0.001\nP(c=s1 | a=s0, b=s0) >= 0.3"
    fit = credo.fit(network.without_cpts(), network.sample(200, seed=2), text, method="cmap")
    effects = {each.statement.line: each for each in fit.explain().statements}
    assert effects[1].effect is Effect.BINDING
    assert effects[1].gain_per_point > 0.0
    assert effects[1].largest_change > 0.01
    assert effects[3].effect is Effect.SATISFIED
    (learned,) = effects[1].learned
    assert learned == LearnedProbability("P(c=s1)", pytest.approx(0.2, abs=1e-7))
    assert effects[3].learned[0].value == pytest.approx(fit.query("P(b=s1 | c=s1)").probability, abs=1e-9)
    assert not effects[2].learned
    without = credo.fit(
        network.without_cpts(), network.sample(200, seed=2), text.partition("\n")[2], method="cmap"
    ).network
    change = max(np.abs(without.cpts[name] - fit.network.cpts[name]).max() for name in "abc")
    assert effects[1].largest_change == pytest.approx(change, rel=0.5)
    assert next(each["line"] for each in fit.to_dict()["binding"]) == 1


def test_what_was_learned_for_them_has_the_interval_of_a_question() -> None:
    network = random_network(dict.fromkeys("abc", 2), {"b": ("a",), "c": ("a", "b")}, seed=6)
    text = "P(c=s1) <= 0.45\nP(b=s1 | c=s1) >= 1.1*P(b=s1)"
    fit = credo.fit(network.without_cpts(), network.sample(40, seed=2), text, method="posterior", seed=1)
    effects = {each.statement.line: each for each in fit.explain().statements}
    assert [each.text for each in effects[2].learned] == ["P(b=s1 | c=s1)", "P(b=s1)"]
    for each in (*effects[1].learned, *effects[2].learned):
        asked = fit.query(each.text)
        assert each.value == pytest.approx(asked.probability, abs=1e-12)
        assert each.interval == pytest.approx(asked.interval, abs=1e-12)
    assert effects[1].learned[0].interval is not None
    assert effects[1].learned[0].interval[1] <= 0.45 + 1e-8


def test_statements_that_cannot_hold_are_named() -> None:
    with pytest.raises(credo.ConflictError, match="This is what a search found, and no proof") as caught:
        credo.fit(PAIR, ROWS, "P(b=y) >= 0.9\nP(b=y | a=n) + 0.5 <= P(b=y | a=y)\nP(a=y) <= 0.5", method="cmap")
    assert all(f"line {number}:" in str(caught.value) for number in (1, 2, 3))


def test_fixed_cpts_that_contradict_one_are_refused() -> None:
    network = PAIR.with_cpts({"a": np.array([0.5, 0.5]), "b": np.array([[0.5, 0.5], [0.5, 0.5]])})
    with pytest.raises(OptionError, match="Line 1 cannot hold: it is about fixed CPTs only"):
        credo.fit(network, ROWS, "P(b=y) <= 0.3", method="cmap", fixed=["a", "b"])
    fit = credo.fit(network, ROWS, "P(b=y) <= 0.3", method="cmap", fixed=["a"])
    np.testing.assert_array_equal(fit.network.cpts["a"], [0.5, 0.5])
    assert not len(fit.violations())


def test_the_gradient_trainer_refuses_them() -> None:
    rows = with_missing_values(ROWS, 0.1, seed=1)
    with pytest.raises(OptionError, match="cannot bind those about probabilities that depend on several CPTs"):
        credo.fit(PAIR, rows, "P(b=y) <= 0.3", method="cmap", em=credo.EMOptions(trainer="gradient"))


def test_all_causes_of_a_noisy_family_together_bind() -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"], "c": ["n", "y"]}, {"c": ["a", "b"]})
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({name: rng.choice(["n", "y"], 60) for name in "abc"})
    text = "c is noisy-or of {a}, {b} with leak\nP(c=y | a=y, b=y) >= 0.9\nP(c=y | a=y) <= 0.8"
    fit = credo.fit(network, rows, text, method="cmap", em=credo.EMOptions(starts=1))
    assert fit.network.cpt_array("c")[1, 1, 1] >= 0.9 - 1e-7
    assert not len(fit.violations())

"""Statements about any probability that may be wrong, beside ones that must hold, against weighted draws."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from tests.helpers.general import ABC, EVERYTHING, draws_of, joints_of

BARE = ABC.without_cpts()
HARD = "P(c=s1) <= 0.6"
DOUBTED = (
    "P(a=s1 | c=s1) >= 0.8",
    "P(b=s1 | a=s1) <= 0.45",  # about a CPT
    "P(a=s1 | c=s1) >= 1.1 * P(a=s1)",  # linear along no line
    "P(b=s1) ~ 0.3 within 0.05",
    "P(b=s1) = P(c=s1)",
)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_draws_are_those_that_weights_leave(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled:
        monkeypatch.setattr("credo.sampling.vectorised.general_updates.MOST_MOVES", 0)
    rows = ABC.sample(25, seed=1)
    many = credo.PosteriorOptions(chains=16, draws=5000, max_draws=5000)
    free = credo.fit(BARE, rows, f"{EVERYTHING}\n{HARD}", method="posterior", posterior=many)
    joint, draws = joints_of(free), draws_of(free)
    a, b, c = joint[:, 1].sum(axis=(1, 2)), joint[:, :, 1].sum(axis=(1, 2)), joint[..., 1].sum(axis=(1, 2))
    given = joint[:, 1, :, 1].sum(axis=1) / c
    of_a = joint[:, 1, 1].sum(axis=1) / a
    true = np.stack([given >= 0.8, of_a <= 0.45, given >= 1.1 * a, np.abs(b - 0.3) <= 0.05, np.abs(b - c) <= 0.01])
    said = "\n".join(f"    {each}" for each in DOUBTED)
    text = f"{EVERYTHING}\n{HARD}\nexpert x with reliability 0.7:\n{said}"
    options = credo.PosteriorOptions(chains=8, draws=3000, max_draws=3000)
    fit = credo.fit(BARE, rows, text, posterior=options)
    assert fit.doubt is not None
    assert fit._problem.model.doubts is not None
    logs = (np.log(0.7 / 0.3) + fit._problem.model.doubts.log_widening) @ true
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    found = np.array([each.probability for each in fit.doubt.statements])
    errors = np.array([each.error for each in fit.doubt.statements])
    expected = true @ weights
    of_expected = np.sqrt(expected * (1.0 - expected) * (weights @ weights) * 4.0)
    np.testing.assert_array_less(np.abs(found - expected), 4.0 * np.hypot(errors, of_expected) + 0.005)
    mean = weights @ draws
    deviation = np.sqrt(weights @ (draws - mean) ** 2)
    own = draws_of(fit)
    size = min(float(np.min(fit.posterior.effective_sizes)), 0.25 / float(weights @ weights))  # type: ignore[union-attr]
    assert (np.abs(own.mean(axis=0) - mean) <= 5.0 * deviation / np.sqrt(size)).all()
    np.testing.assert_allclose(own.std(axis=0), deviation, rtol=0.15)
    assert joints_of(fit)[..., 1].sum(axis=(1, 2)).max() <= 0.6 + 1e-9


# `tests/test_combinations.py` always runs the compiled updates.
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_they_are_weighed_and_the_others_hold(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if compiled:
        monkeypatch.setattr("credo.sampling.vectorised.general_updates.MOST_MOVES", 0)
    few = credo.PosteriorOptions(chains=4, draws=150, warmup=60, max_draws=150)
    text = f"{HARD}\nexpert x: P(c=s1) >= 0.95\nexpert y: P(a=s1 | c=s1) >= 0.1\nexpert y: P(b=s1 | a=s1) <= 0.9"
    fit = credo.fit(BARE, ABC.sample(40, seed=1), text, posterior=few)
    found = {each["statement"]: each["probability"] for each in fit.statements().to_dicts()}
    assert found["P(c=s1) >= 0.95"] == 0.0  # contradicts what must hold
    assert found["P(a=s1 | c=s1) >= 0.1"] > 0.9
    assert joints_of_reached(fit).max() <= 0.6 + 1e-9
    assert fit.violations()["statement"].to_list() == ["P(c=s1) >= 0.95"]
    explained = {each.statement.number: each for each in fit.explain(progress=False).statements}
    assert len(explained) == 4


def joints_of_reached(fit: credo.Fit) -> np.ndarray:
    """P(c=s1) in all draws; all CPTs are reached, and so all draws are kept."""
    return np.asarray(joints_of(fit)[..., 1].sum(axis=(1, 2)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds", [((0.3, 0.31), (0.8, 1.0)), ((0.3, 0.5), (0.8, 1.0)), ((0.2, 0.7), (0.6, 1.0))], ids=str
)
def test_narrow_statements_are_found_and_compete(bounds: tuple[tuple[float, float], ...]) -> None:
    network = credo.Network({"a": ["n", "y"], "c": ["n", "y"]}, {"c": ["a"]})
    rows = pl.DataFrame({"a": ["n", "y"], "c": ["n", "y"]})
    many = credo.PosteriorOptions(chains=16, draws=8000, max_draws=8000)
    free = credo.fit(network, rows, "P(a=y) >= 1e-6\nP(c=y | each a) >= 1e-6", method="posterior", posterior=many)
    draws, layout = draws_of(free), free.posterior.layout  # type: ignore[union-attr]
    of_a, of_c = draws[:, layout.slice_of("a")], draws[:, layout.slice_of("c")].reshape(-1, 2, 2)
    given = of_a[:, 1] * of_c[:, 1, 1] / (of_a * of_c[:, :, 1]).sum(axis=1)
    text = "\n".join(f"expert x with reliability 0.8: {low} <= P(a=y | c=y) <= {high}" for low, high in bounds)
    fit = credo.fit(network, rows, text, posterior=credo.PosteriorOptions(draws=3000, max_draws=3000))
    assert fit.doubt is not None
    assert fit._problem.model.doubts is not None
    true = np.stack([(given >= low) & (given <= high) for low, high in bounds])
    logs = (np.log(4.0) + fit._problem.model.doubts.log_widening) @ true
    expected = true @ np.exp(logs) / np.exp(logs).sum()
    found = np.array([each.probability for each in fit.doubt.statements])
    errors = np.array([each.error for each in fit.doubt.statements])
    assert (errors < 0.04).all()
    np.testing.assert_array_less(np.abs(found - expected), 4.0 * np.hypot(errors, 0.015))

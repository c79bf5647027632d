"""Wide variables: states that no constraint distinguishes are solved as one, and all get their share."""

from __future__ import annotations

from time import process_time

import numpy as np
import polars as pl
import pytest

import credo
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.block_solver import Task, merged_task
from credo.estimation.solvers.certificate import objective
from tests.helpers.block_tasks import at_most, general_task, make_block, soft_task


@pytest.mark.parametrize("make", [general_task, soft_task])
def test_the_same_optimum(monkeypatch: pytest.MonkeyPatch, make: object) -> None:
    """Random tasks, those of entropy alone among them: merged and not, both certified."""
    generator = np.random.default_rng(8)
    tasks = [make(generator) for _ in range(60)]  # type: ignore[operator]
    plain = solve_certified(tasks)
    monkeypatch.setattr("credo.estimation.solvers.block_solver.MERGED_STATES", 1)
    assert any(merged_task(task) is not None for task in tasks)
    for one, other in zip(plain, solve_certified(tasks), strict=True):
        assert other.certificate.holds == one.certificate.holds
        assert objective(other.task, other.theta) == pytest.approx(objective(one.task, one.theta), rel=1e-7, abs=1e-7)


def test_entropy_by_hand() -> None:
    """P(x = 0) ≥ 0.4 of 400 states: the others share 0.6 equally."""
    block = make_block([400], [at_most([0], [-1.0], -0.4)])
    (found,) = solve_certified([Task(block, np.zeros(400), np.ones(400))])
    assert found.certificate.holds
    np.testing.assert_allclose(found.theta, [0.4, *[0.6 / 399] * 399], atol=1e-9)


def test_counts_by_hand() -> None:
    """A bound that takes mass from all others in proportion to their counts; no count, no mass."""
    weights = np.arange(400.0)
    block = make_block([400], [at_most([0], [-1.0], -0.4)])
    (found,) = solve_certified([Task(block, weights)])
    np.testing.assert_allclose(
        found.theta, np.where(np.arange(400) == 0, 0.4, 0.6 * weights / weights.sum()), atol=1e-9
    )


@pytest.mark.parametrize("method", ["cml", "cmap", "cme"])
def test_two_thousand_states(method: str) -> None:
    _learn_wide(method, 2_000)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cml", "cmap", "cme"])
def test_a_hundred_thousand_states(method: str) -> None:
    began = process_time()
    _learn_wide(method, 100_000)
    assert process_time() - began < 60.0


def _learn_wide(method: str, states: int) -> None:
    network = credo.Network({"x": [f"s{i}" for i in range(states)]})
    generator = np.random.default_rng(0)
    rows = pl.DataFrame({"x": [f"s{i}" for i in generator.integers(1, states, 50)]})
    fit = credo.fit(network, rows, "P(x=s0) >= 0.1", method=method)
    assert fit.status.name == "OPTIMAL"
    assert fit.network.cpts["x"].ravel()[0] == pytest.approx(0.1, abs=1e-6)

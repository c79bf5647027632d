"""The conic solver beside our own: its answer counts only where it is one."""

from __future__ import annotations

from types import SimpleNamespace

import clarabel
import numpy as np
import pytest

import credo
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.clarabel import solve_with_clarabel
from credo.knowledge import knowledge_for


@pytest.fixture
def task() -> Task:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    (block,) = blocks_of(lower(knowledge_for(network, "P(b=y | a=y) >= 2 * P(b=y | a=n)")))
    return Task(block, np.array([3.0, 1.0, 2.0, 2.0]))


def test_an_answer(task: Task) -> None:
    found = solve_with_clarabel(task)
    assert found is not None
    assert found.theta[3] >= 2 * found.theta[1] - 1e-9


@pytest.mark.parametrize("answer", [0.0, -1e-12, np.nan])
def test_an_answer_without_distributions_is_none(task: Task, answer: float, monkeypatch: pytest.MonkeyPatch) -> None:
    class Solver:
        def __init__(self, *problem: object) -> None:
            self.columns, self.rows = problem[2].shape[1], problem[2].shape[0]  # type: ignore[attr-defined]

        def solve(self) -> SimpleNamespace:
            numbers, duals = np.full(self.columns, answer), np.zeros(self.rows)
            return SimpleNamespace(status="Solved", x=numbers, z=duals, iterations=1)

    monkeypatch.setattr(clarabel, "DefaultSolver", Solver)
    with np.errstate(all="raise"):
        assert solve_with_clarabel(task) is None

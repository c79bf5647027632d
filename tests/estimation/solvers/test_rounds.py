"""Blocks in rounds: the optimum under all constraints, found with a few of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from credo.constraints.feasibility import InfeasibleError
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.block_solver import Task, solve_tasks
from credo.estimation.solvers.certificate import certify, objective
from tests.helpers.block_tasks import at_most, general_task, large_task, make_block, soft_task


def assert_optimal(tasks: list[Task]) -> None:
    """In rounds and at once: the same objective, both certified for all constraints."""
    for task, few, full in zip(tasks, solve_tasks(tasks), solve_tasks(tasks, in_rounds=False), strict=True):
        certificate = certify(task, few.theta, few.multipliers)
        assert certificate.holds
        assert few.violation == pytest.approx(certificate.violation, abs=1e-12)
        assert objective(task, few.theta) == pytest.approx(objective(task, full.theta), rel=1e-7, abs=1e-7)


def test_the_optimum_under_all_constraints() -> None:
    task = large_task(np.random.default_rng(1), 96, 4, 600)
    assert_optimal([task])
    (point,) = solve_tasks([task])
    assert (point.multipliers > 0).sum() < 300  # most constraints never came into play


def test_blocks_in_general() -> None:
    """Distributions without data and blocks of entropy alone among them."""
    generator = np.random.default_rng(2)
    assert_optimal([general_task(generator) for _ in range(400)])


def test_soft_constraints_are_added_where_they_cost() -> None:
    generator = np.random.default_rng(3)
    assert_optimal([soft_task(generator) for _ in range(200)])


def test_equalities_are_there_from_the_first_round() -> None:
    """At the counts the equality holds as an inequality, but not as what it is."""
    equal = replace(at_most([0, 2], [1.0, -1.0], 0.0), equality=True)
    assert_optimal([Task(make_block([2, 2], [equal]), np.array([3.0, 7.0, 8.0, 2.0]))])


def test_distributions_without_data_hold_back_those_with_data() -> None:
    """P(b=1) = 0.5 in the data, at most P(a=1) and that at most 0.3: a has no data and no room beside 0.5."""
    constraints = [at_most([3, 1], [1.0, -1.0], 0.0), at_most([1], [1.0], 0.3), at_most([5], [1.0], 0.9)]
    task = Task(make_block([2, 2, 2], constraints), np.array([0.0, 0.0, 6.0, 6.0, 0.0, 0.0]))
    (point,) = solve_tasks([task], most_entropic=True)
    assert certify(task, point.theta, point.multipliers).holds
    np.testing.assert_allclose(point.theta, [0.7, 0.3, 0.7, 0.3, 0.5, 0.5], atol=1e-8)
    assert point.unseen.tolist() == [0, 2]


def test_distributions_without_data_are_the_most_entropic_beside_the_others() -> None:
    """P(a=1) at least 0.8 · P(b=1), which is 0.9: no more than that."""
    constraints = [at_most([3, 1], [0.8, -1.0], 0.0), at_most([1], [1.0], 0.95)]
    task = Task(make_block([2, 2], constraints), np.array([0.0, 0.0, 1.0, 9.0]))
    (point,) = solve_tasks([task], most_entropic=True)
    assert certify(task, point.theta, point.multipliers).holds
    np.testing.assert_allclose(point.theta, [0.28, 0.72, 0.1, 0.9], atol=1e-9)


def test_thousands_of_blocks_at_once_and_one_by_one() -> None:
    generator = np.random.default_rng(5)
    tasks = [general_task(generator) if k % 2 else soft_task(generator) for k in range(2_000)]
    for task, point in zip(tasks, solve_tasks(tasks, most_entropic=True), strict=True):
        (alone,) = solve_tasks([task], most_entropic=True)
        np.testing.assert_array_equal(point.theta, alone.theta)
        assert certify(task, point.theta, point.multipliers).holds


def test_a_conflict_is_found_with_few_constraints_too() -> None:
    constraints = [at_most([0], [1.0], 0.3), at_most([0], [-1.0], -0.6), at_most([2], [1.0], 0.9)]
    with pytest.raises(InfeasibleError):
        solve_certified([Task(make_block([2, 2], constraints), np.array([5.0, 5.0, 5.0, 5.0]))])

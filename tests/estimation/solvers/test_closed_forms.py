"""Closed forms: values by hand, and the same optimum as the interior point and CVXPY."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from credo.constraints.feasibility import InfeasibleError
from credo.core.closed_forms import BOUNDED_SUMS, CHAIN, GENERAL, NO_CONSTRAINTS, RANGES, SUMS_AGAINST_SUMS
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.block_solver import Task, solve_tasks
from credo.estimation.solvers.certificate import certify, objective
from tests.helpers.amounts import amounts
from tests.helpers.block_tasks import (
    at_most,
    bounded_sums_task,
    box_task,
    chain_task,
    make_block,
    sums_against_sums_task,
)
from tests.helpers.cvxpy_oracle import solve

TASKS: dict[int, Callable[[np.random.Generator], Task]] = {
    RANGES: box_task,
    BOUNDED_SUMS: bounded_sums_task,
    SUMS_AGAINST_SUMS: sums_against_sums_task,
    CHAIN: chain_task,
}
NAMES = {RANGES: "ranges", BOUNDED_SUMS: "bounded sums", SUMS_AGAINST_SUMS: "sums against sums", CHAIN: "chain"}
EACH = pytest.mark.parametrize("shape", TASKS, ids=NAMES.get)


def tasks_of(shape: int, count: int, seed: int) -> list[Task]:
    """Random tasks that have this shape, or a simpler one that it contains."""
    generator = np.random.default_rng(seed)
    tasks = [TASKS[shape](generator) for _ in range(count)]
    return [task for task in tasks if len(task.block.linear)]


@pytest.mark.parametrize("count", amounts(400, 2_000))
@EACH
def test_the_same_optimum_as_the_interior_point(shape: int, count: int) -> None:
    """Objectives agree to 1e-8; so do the points, but where a bound is just reached without being pressed against."""
    tasks = tasks_of(shape, count, seed=shape)
    by_form, by_iteration = solve_tasks(tasks), solve_tasks(tasks, closed_forms=False)
    assert sum(point.shape == shape for point in by_form) > 0.5 * len(tasks)
    degenerate = 0
    for task, one, other in zip(tasks, by_form, by_iteration, strict=True):
        first, second = certify(task, one.theta, one.multipliers), certify(task, other.theta, other.multipliers)
        assert first.holds, (first, task.weights, list(task.block.linear))
        assert second.holds, (second, task.weights, list(task.block.linear))
        assert objective(task, one.theta) == pytest.approx(objective(task, other.theta), rel=1e-8)
        touched = task.block.linear.bounds - task.block.linear.values(one.theta) < 1e-6
        idle = (touched & (one.multipliers < 1e-6 * task.weights.sum())).any()
        degenerate += idle
        assert np.abs(one.theta - other.theta).max() <= (1e-6 if idle else 1e-8)
    assert degenerate < 0.8 * len(tasks)  # chains have constraints that follow from others, and those are idle


@pytest.mark.parametrize("count", amounts(30, 90))
@EACH
def test_the_same_optimum_as_cvxpy(shape: int, count: int) -> None:
    tasks = tasks_of(shape, count, seed=10 + shape)
    compared = 0
    for task, point in zip(tasks, solve_tasks(tasks), strict=True):
        found = solve(task)
        if found is not None:
            compared += 1
            value = objective(task, point.theta)
            assert value == pytest.approx(found[0], rel=1e-7, abs=1e-7)
    assert compared >= 0.6 * count


def solved(
    weights: list[float], sizes: list[int], *constraints: tuple[dict[int, float], float]
) -> tuple[int, np.ndarray, np.ndarray]:
    """Shape, θ and multipliers of a task, certified."""
    block = make_block(sizes, [at_most(list(terms), list(terms.values()), bound) for terms, bound in constraints])
    task = Task(block, np.array(weights, dtype=float))
    (point,) = solve_tasks([task])
    assert certify(task, point.theta, point.multipliers).holds
    return point.shape, point.theta, point.multipliers


def test_counting_by_hand() -> None:
    shape, theta, _ = solved([1, 3, 2, 2], [2, 2])
    assert shape == NO_CONSTRAINTS
    assert theta == pytest.approx([0.25, 0.75, 0.5, 0.5])


def test_theorem_4_1_by_hand() -> None:
    """N = (6, 2, 2) and θ_0 ≤ θ_1: N_A > N_B, so that both get (6 + 2) / 20; the multiplier is N (6 − 2) / (6 + 2)."""
    shape, theta, multipliers = solved([6, 2, 2], [3], ({0: 1.0, 1: -1.0}, 0.0))
    assert shape == SUMS_AGAINST_SUMS
    assert theta == pytest.approx([0.4, 0.4, 0.2])
    assert multipliers == pytest.approx([5.0])


def test_theorem_4_1_where_the_counts_agree() -> None:
    _, theta, multipliers = solved([2, 6, 2], [3], ({0: 1.0, 1: -1.0}, 0.0))
    assert theta == pytest.approx([0.2, 0.6, 0.2])
    assert multipliers == pytest.approx([0.0])


def test_theorem_4_1_with_sums_on_both_sides() -> None:
    """A = {0, 1} with 6 + 2, B = {2, 3} with 1 + 1: both sums become 1/2, shared as counted."""
    _, theta, _ = solved([6, 2, 1, 1], [4], ({0: 1.0, 1: 1.0, 2: -1.0, 3: -1.0}, 0.0))
    assert theta == pytest.approx([3 / 8, 1 / 8, 1 / 4, 1 / 4])


def test_theorem_4_2_where_bounds_leave_room() -> None:
    """Σ α > 1 or not all covered: {0, 1} ≤ 0.4 with 8 of 10 counts is tight, the rest shares 0.6."""
    shape, theta, multipliers = solved([6, 2, 1, 1], [4], ({0: 1.0, 1: 1.0}, 0.4))
    assert shape == BOUNDED_SUMS
    assert theta == pytest.approx([0.3, 0.1, 0.3, 0.3])
    assert multipliers == pytest.approx([8 / 0.4 - 2 / 0.6])


def test_algorithm_4_1_adds_what_tight_sets_push_over_their_bounds() -> None:
    """N = (5, 1, 2, 1, 1): {0, 1} ≤ 0.3 is tight at once; what it gives away lifts {2, 3} to 0.525 > 0.4."""
    _, theta, multipliers = solved([5, 1, 2, 1, 1], [5], ({0: 1.0, 1: 1.0}, 0.3), ({2: 1.0, 3: 1.0}, 0.4))
    assert theta == pytest.approx([0.25, 0.05, 0.4 * 2 / 3, 0.4 / 3, 0.3])
    assert (multipliers > 0).all()


def test_theorem_4_2_where_bounds_sum_to_one() -> None:
    """Σ α = 1 over all states: every bound is tight, whatever the counts say."""
    _, theta, _ = solved([1, 3, 5, 5], [4], ({0: 1.0, 1: 1.0}, 0.6), ({2: 1.0, 3: 1.0}, 0.4))
    assert theta == pytest.approx([0.15, 0.45, 0.2, 0.2])


def test_theorem_4_2_where_bounds_leave_less_than_one() -> None:
    constraints = [at_most([0, 1], [1.0, 1.0], 0.5), at_most([2, 3], [1.0, 1.0], 0.4)]
    with pytest.raises(InfeasibleError):
        solve_certified([Task(make_block([4], constraints), np.ones(4))])


def test_boxes_by_hand() -> None:
    """N = (7, 2, 1): θ_0 ≤ 0.5 and θ_2 ≥ 0.3 fix two, and the third takes what is left."""
    shape, theta, _ = solved([7, 2, 1], [3], ({0: 1.0}, 0.5), ({2: -1.0}, -0.3))
    assert shape == RANGES
    assert theta == pytest.approx([0.5, 0.2, 0.3])
    _, theta, multipliers = solved([7, 2, 1], [3], ({2: -2.0}, -0.6))
    assert theta == pytest.approx([0.7 * 7 / 9, 0.7 * 2 / 9, 0.3])
    assert multipliers == pytest.approx([(9 / 0.7 - 1 / 0.3) / 2])


def test_boxes_that_pin_everything() -> None:
    _, theta, _ = solved([7, 2, 1], [3], *(({k: 1.0}, bound) for k, bound in enumerate((0.2, 0.3, 0.5))))
    assert theta == pytest.approx([0.2, 0.3, 0.5])


@pytest.mark.parametrize("bounds", [((0, 1.0, 0.2), (0, -1.0, -0.3)), ((0, 1.0, 0.2), (1, 1.0, 0.3), (2, 1.0, 0.4))])
def test_boxes_that_cannot_hold(bounds: tuple[tuple[int, float, float], ...]) -> None:
    constraints = [at_most([k], [sign], bound) for k, sign, bound in bounds]
    with pytest.raises(InfeasibleError):
        solve_certified([Task(make_block([3], constraints), np.ones(3))])


def test_pool_adjacent_violators_by_hand() -> None:
    """8 of 10, 4 of 10, 9 of 10 in rising order: the first two pool to 12 of 20."""
    shape, theta, multipliers = solved(
        [2, 8, 6, 4, 1, 9], [2, 2, 2], ({1: 1.0, 3: -1.0}, 0.0), ({3: 1.0, 5: -1.0}, 0.0)
    )
    assert shape == CHAIN
    assert theta[1::2] == pytest.approx([0.6, 0.6, 0.9])
    assert multipliers == pytest.approx([8 / 0.6 - 2 / 0.4, 0.0])


def test_a_chain_against_a_quadratic_time_oracle() -> None:
    """Isotonic regression as max over lower sets, min over upper sets, of pooled proportions."""
    generator = np.random.default_rng(4)
    for _ in range(200):
        count = int(generator.integers(2, 9))
        no, yes = generator.integers(1, 40, (2, count)).astype(float)
        constraints = [({2 * k + 1: 1.0, 2 * k + 3: -1.0}, 0.0) for k in range(count - 1)]
        _, theta, _ = solved(np.stack((no, yes), 1).ravel().tolist(), [2] * count, *constraints)
        expected = [
            max(min(yes[a : b + 1].sum() / (yes + no)[a : b + 1].sum() for b in range(k, count)) for a in range(k + 1))
            for k in range(count)
        ]
        assert theta[1::2] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("weights", "sizes", "constraints"),
    [
        ([0, 1, 2], [3], [({0: 1.0, 1: 1.0}, 0.5)]),  # a state without weight
        ([1, 1, 1], [3], [({0: 1.0, 1: 1.0}, 0.5), ({1: 1.0, 2: 1.0}, 0.7)]),  # sums that overlap
        ([1, 1, 1], [3], [({0: 1.0, 1: -2.0}, 0.0)]),  # unequal coefficients
        ([1, 1, 1], [3], [({0: 1.0, 1: -1.0}, -0.1)]),  # a margin
        ([1, 1, 1, 1], [2, 2], [({0: 1.0, 3: -1.0}, 0.0)]),  # different states of two distributions
        ([1] * 6, [2, 2, 2], [({1: 1.0, 3: -1.0}, 0.0), ({1: 1.0, 5: -1.0}, 0.0)]),  # an order that is not total
    ],
)
def test_other_shapes_are_left_to_the_interior_point(
    weights: list[float], sizes: list[int], constraints: list[tuple[dict[int, float], float]]
) -> None:
    assert solved(weights, sizes, *constraints)[0] in (GENERAL, NO_CONSTRAINTS)


def test_a_chain_with_counts_that_em_has_made_very_small() -> None:
    constraints = [at_most([2, 0], [1.0, -1.0], 0.0, 0)]
    task = Task(make_block([2, 2], constraints), np.array([9.0, 1e-8, 7e-22, 1.0]))
    (point,) = solve_tasks([task])
    assert point.shape == CHAIN
    np.testing.assert_allclose(point.theta, [1.0, 1e-8 / 9, 7e-22, 1.0], rtol=1e-8)
    assert certify(task, point.theta, point.multipliers).holds

"""Tasks whose statements are ranges: against the interior point, by hand, and what is left to others."""

from __future__ import annotations

import numpy as np
import pytest

from credo.constraints.constraint_set import LinearConstraint
from credo.constraints.feasibility import InfeasibleError
from credo.core.closed_forms import NO_CONSTRAINTS, RANGES
from credo.estimation.solvers.block_estimates import estimate_blocks, solve_certified
from credo.estimation.solvers.block_solver import Task, solve_tasks
from credo.estimation.solvers.certificate import certify, objective
from tests.helpers.block_tasks import at_most, make_block


def range_task(generator: np.random.Generator, entropic: bool) -> Task:
    """A few distributions around a point inside, with ranges, equalities and repeated bounds; some weights are zero."""
    sizes = generator.integers(2, 6, size=generator.integers(1, 3)).tolist()
    inside = np.concatenate([generator.dirichlet(np.ones(size)) for size in sizes])
    constraints = []
    for place in generator.choice(len(inside), size=generator.integers(0, len(inside)), replace=False).tolist():
        value, scale = float(inside[place]), float(generator.choice([1.0, 0.25]))
        kind = generator.integers(4)
        if kind != 1:
            constraints.append(at_most([place], [scale], scale * min(1.0, value + 0.3 * generator.random())))
        if kind != 0:
            constraints.append(at_most([place], [-scale], -scale * max(0.0, value - 0.3 * generator.random())))
        if kind == 3 and len(constraints) < 3:
            constraints.append(LinearConstraint((place,), (1.0,), value, 0, equality=True))
    weights = np.where(generator.random(len(inside)) < 0.3, 0.0, generator.gamma(0.5, 20.0, len(inside)))
    block = make_block(sizes, constraints)
    if entropic:
        return Task(block, np.zeros(block.size), np.full(block.size, 2.0))
    return Task(block, weights)


@pytest.mark.parametrize("entropic", [False, True])
def test_the_same_optimum_as_the_interior_point(entropic: bool) -> None:
    generator = np.random.default_rng(5)
    tasks = [range_task(generator, entropic) for _ in range(200)]
    found = solve_tasks(tasks)
    assert all(point.shape in (RANGES, NO_CONSTRAINTS) for point in found)
    others = solve_tasks(tasks, closed_forms=False)
    for k, (task, other) in enumerate(zip(tasks, others, strict=True)):
        point = found[k]
        certificate = certify(task, point.theta, point.multipliers)
        assert certificate.holds
        assert certificate.violation == pytest.approx(point.violation, abs=1e-15)
        assert certificate.gap == pytest.approx(point.gap, abs=1e-12)
        if other.converged:
            assert objective(task, point.theta) <= objective(task, other.theta) + 1e-8
        if entropic and other.converged:
            np.testing.assert_allclose(point.theta, other.theta, atol=1e-6)


def test_by_hand() -> None:
    """10, 30 and 60 rows; the last is at most a half, so that the others share a half 1 : 3."""
    task = Task(make_block([3], [at_most([2], [1.0], 0.5)]), np.array([10.0, 30.0, 60.0]))
    point = solve_tasks([task])[0]
    np.testing.assert_allclose(point.theta, [0.125, 0.375, 0.5], atol=1e-15)
    np.testing.assert_allclose(point.multipliers, [60 / 0.5 - 40 / 0.5])


def test_states_without_weight_share_what_is_left_evenly() -> None:
    block = make_block([4], [at_most([0], [1.0], 0.4), at_most([1], [1.0], 0.1)])
    point = solve_tasks([Task(block, np.array([5.0, 0.0, 0.0, 0.0]))])[0]
    np.testing.assert_allclose(point.theta, [0.4, 0.1, 0.25, 0.25], atol=1e-15)
    np.testing.assert_allclose(point.multipliers, [5 / 0.4, 0.0])


def test_a_distribution_without_data_takes_maximum_entropy() -> None:
    block = make_block([4], [at_most([0], [-1.0], -0.4)])
    (found,) = estimate_blocks([block], np.zeros(4), 0.0)
    np.testing.assert_allclose(found.theta, [0.4, 0.2, 0.2, 0.2], atol=1e-15)
    assert found.certificate.holds


def test_many_are_solved_as_one_by_one() -> None:
    generator = np.random.default_rng(6)
    tasks = [range_task(generator, bool(k % 2)) for k in range(50)]
    together = solve_tasks(tasks)
    for k, task in enumerate(tasks):
        np.testing.assert_array_equal(solve_tasks([task])[0].theta, together[k].theta)


def test_other_tasks_are_left_to_other_solvers() -> None:
    """Among them what has the right number of entries, soft statements, costs, and mixed terms."""
    weights = np.array([1.0, 2.0, 3.0])
    fine = make_block([3], [at_most([0], [1.0], 0.2)])
    soft = LinearConstraint((0,), (1.0,), 0.1, 0, confidence=0.9)
    tasks = [
        Task(make_block([3], [at_most([0, 1], [1.0, 1.0], 0.2), at_most([], [], 0.0)]), weights),
        Task(make_block([3], [soft]), weights, None, 1.0),
        Task(fine, weights, costs=np.ones(3)),
        Task(fine, weights, np.ones(3)),
        Task(fine, np.zeros(3), np.array([1.0, 2.0, 3.0])),
        Task(make_block([3], [at_most([0], [1.0], 0.0)]), weights),  # what has data must be zero
        Task(make_block([3], [at_most([0], [1.0], 0.2), at_most([0], [-1.0], -0.3)]), weights),  # a conflict
        Task(fine, weights),
    ]
    assert [k for k, point in enumerate(solve_tasks(tasks)) if point.shape == RANGES] == [7]
    with pytest.raises(InfeasibleError):
        solve_certified([tasks[6]])


def test_weights_of_every_size() -> None:
    task = Task(make_block([3], [at_most([0], [1.0], 0.2)]), np.array([1e12, 1e-9, 1e-3]))
    for scale in (1e-12, 1.0, 1e6):
        point = solve_tasks([task._replace(weights=scale * task.weights)])[0]
        np.testing.assert_allclose(point.theta, [0.2, 0.8 * 1e-9 / 0.001000001, 0.8 * 0.001 / 0.001000001], rtol=1e-12)


def test_the_smallest_weights_there_are_do_not_overflow() -> None:
    task = Task(make_block([3], [at_most([0], [1.0], 0.5)]), np.array([5e-324, 1e-310, 3.0]))
    with np.errstate(all="raise", under="ignore"):
        solve_tasks([task])

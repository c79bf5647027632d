"""The block solver: its certificate on thousands of blocks of every kind, Clarabel on many, and CVXPY on hundreds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from credo import Network
from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import LinearConstraint
from credo.constraints.lower import lower
from credo.estimation.solvers.block_estimates import most_entropic_points, restricted, solve_certified
from credo.estimation.solvers.block_solver import Task, solve_tasks
from credo.estimation.solvers.certificate import certify, lower_bound, objective
from credo.estimation.solvers.clarabel import solve_with_clarabel
from credo.knowledge import knowledge_for
from tests.helpers.amounts import amounts
from tests.helpers.block_tasks import at_most, general_task, large_task, make_block, soft_task, with_constraints
from tests.helpers.cvxpy_oracle import solve
from tests.helpers.plain_certificate import plain_certificate


def certified(tasks: list[Task], closed_forms: bool = False) -> list[np.ndarray]:
    """Solve, and hold every certificate; the points."""
    points = solve_tasks(tasks, closed_forms=closed_forms, in_rounds=False)
    for task, point in zip(tasks, points, strict=True):
        certificate = certify(task, point.theta, point.multipliers)
        assert certificate.violation <= 1e-9, (certificate, task.weights, list(task.block.linear))
        assert certificate.gap <= 1e-8, (certificate, task.weights, list(task.block.linear))
    return [point.theta for point in points]


def in_units(constraint: LinearConstraint, scale: float) -> LinearConstraint:
    return replace(
        constraint, coefficients=tuple(scale * c for c in constraint.coefficients), bound=scale * constraint.bound
    )


def random_tasks(count: int, seed: int, largest: int = 8) -> list[Task]:
    generator = np.random.default_rng(seed)
    return [general_task(generator, largest) for _ in range(count)]


@pytest.mark.parametrize("count", amounts(600, 3_000))
def test_blocks_in_general(count: int) -> None:
    """Up to seven distributions with counts between none and thousands, ranges and comparisons."""
    certified(random_tasks(count, 1), closed_forms=True)
    certified(random_tasks(count // 2, 2))


@pytest.mark.parametrize("count", amounts(60, 170))
def test_against_cvxpy(count: int) -> None:
    compared = 0
    tasks = [task for task in random_tasks(count, 3, largest=5) if len(task.block.linear)]
    for task, theta in zip(tasks, certified(tasks), strict=True):
        found = solve(task)
        if found is not None:
            compared += 1
            assert objective(task, theta) == pytest.approx(found[0], rel=1e-7, abs=1e-7)
    assert compared >= 0.5 * count


@pytest.mark.parametrize("largest", [1.0, 1e3, 1e6, 1e9])
def test_counts_of_every_size(largest: float) -> None:
    generator = np.random.default_rng(4)
    tasks = []
    for task in random_tasks(300, 5):
        weights = np.round(10 ** generator.uniform(0, np.log10(largest) + 1e-9, task.block.size))
        weights[generator.random(task.block.size) < 0.2] = 0.0
        weights[0] = max(weights[0], 1.0)
        tasks.append(Task(task.block, weights))
    certified(tasks)


def test_counts_of_every_size_in_one_block() -> None:
    """One in a distribution, a thousand million in the next."""
    generator = np.random.default_rng(6)
    tasks = []
    for task in random_tasks(500, 7):
        sizes = generator.choice([1.0, 1e3, 1e6, 1e9], len(task.block.distributions) - 1)
        weights = np.ceil(generator.random(task.block.size) * sizes[task.block.distribution_of])
        tasks.append(Task(task.block, weights))
    certified(tasks)


def test_states_and_distributions_without_weight() -> None:
    generator = np.random.default_rng(8)
    tasks = []
    for task in random_tasks(500, 9):
        weights = generator.choice([0.0, 0.0, 0.0, 1.0, 7.0], task.block.size)
        weights[-1] = 1.0
        tasks.append(Task(task.block, weights))
    certified(tasks)


def test_constraints_twice_and_constraints_that_follow() -> None:
    """Every constraint twice, once scaled by a thousand, and loosened copies of each."""
    once = random_tasks(300, 10)
    tasks = []
    for task in once:
        constraints = list(task.block.linear)
        scaled = [in_units(constraint, 1e3) for constraint in constraints]
        loose = [replace(constraint, bound=constraint.bound + 0.3) for constraint in constraints]
        tasks.append(with_constraints(task, [*constraints, *constraints, *scaled, *loose]))
    for task, one, other in zip(tasks, certified(once), certified(tasks), strict=True):
        assert objective(task, one) == pytest.approx(objective(task, other), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_size_of_a_constraint_changes_nothing(scale: float) -> None:
    """The same constraints in other units: the same point; and multipliers in the other units."""
    tasks = random_tasks(200, 11)
    scaled = [
        with_constraints(task, [in_units(constraint, scale) for constraint in task.block.linear]) for task in tasks
    ]
    points = solve_tasks(tasks, closed_forms=False, most_entropic=True)  # the one optimum where data leave many
    others = solve_tasks(scaled, closed_forms=False, most_entropic=True)
    for one, other in zip(points, others, strict=True):
        np.testing.assert_allclose(one.theta, other.theta, atol=1e-7)


def test_equalities() -> None:
    """θ_a = θ_b + c, as the truth has it, within and across distributions."""
    generator = np.random.default_rng(12)
    tasks = []
    for _ in range(500):
        distributions, states = int(generator.integers(1, 5)), int(generator.integers(2, 5))
        truth = generator.dirichlet(np.ones(states), distributions).ravel()
        constraints = []
        for _ in range(int(generator.integers(1, 5))):
            a, b = generator.choice(truth.size, 2, replace=False).tolist()
            constraints.append(LinearConstraint((a, b), (1.0, -1.0), float(truth[a] - truth[b]), 0, equality=True))
        constraints.append(at_most([0], [1.0], float(truth[0]) + 0.1))
        weights = generator.integers(0, 30, truth.size).astype(float)
        weights[0] += 1.0
        tasks.append(Task(make_block([states] * distributions, constraints), weights))
    certified(tasks)


def test_systems_without_an_interior() -> None:
    """a ≤ b and b ≤ a; a chain that closes; bounds from both sides at one number."""
    generator = np.random.default_rng(13)
    tasks = []
    for _ in range(300):
        weights = generator.integers(1, 60, 8).astype(float)
        kind = int(generator.integers(3))
        if kind == 0:
            constraints = [at_most([0, 2], [1.0, -1.0], 0.0), at_most([2, 0], [1.0, -1.0], 0.0)]
        elif kind == 1:
            ring = [(0, 2), (2, 4), (4, 6), (6, 0)]
            constraints = [at_most([a, b], [1.0, -1.0], 0.0) for a, b in ring]
        else:
            constraints = [at_most([0], [1.0], 0.3), at_most([0], [-1.0], -0.3), at_most([0, 2], [1.0, -1.0], 0.0)]
        tasks.append(Task(make_block([2, 2, 2, 2], constraints), weights))
    for task, estimate in zip(tasks, solve_certified(tasks), strict=True):
        assert estimate.certificate.holds, (estimate.certificate, list(task.block.linear))


def test_numbers_that_must_be_zero() -> None:
    """θ_0 ≤ 0 where state 0 was never seen, and θ_0 ≤ θ_2 ≤ 0 across distributions."""
    constraints = [at_most([0], [1.0], 0.0)]
    single = Task(make_block([3], constraints), np.array([0.0, 3.0, 1.0]))
    across = Task(
        make_block([2, 2], [at_most([0, 2], [1.0, -1.0], 0.0), at_most([2], [1.0], 0.0)]),
        np.array([0.0, 2.0, 0.0, 5.0]),
    )
    first, second = solve_certified([single, across])
    assert first.theta == pytest.approx([0.0, 0.75, 0.25], abs=1e-9)
    assert second.theta == pytest.approx([0.0, 1.0, 0.0, 1.0], abs=1e-9)


@pytest.mark.parametrize("count", amounts(200, 800))
def test_soft_constraints(count: int) -> None:
    """Constraints that may be violated at a cost, some of them wrong; against their dual, and CVXPY."""
    generator = np.random.default_rng(14)
    tasks = [soft_task(generator) for _ in range(count)]
    compared = 0
    for number, (task, theta) in enumerate(zip(tasks, certified(tasks), strict=True)):
        if number < count // 10:
            found = solve(task)
            if found is not None:
                compared += 1
                assert objective(task, theta) == pytest.approx(found[0], rel=1e-7, abs=1e-6)
    assert compared >= count // 20


def test_a_soft_constraint_by_hand() -> None:
    """min −9 log p − log(1 − p) + (W C / 2)(p − 0.5)² with W C = 100: the root of 9/p − 1/(1−p) = 100 (p − 0.5)."""
    constraint = LinearConstraint((0,), (1.0,), 0.5, 0, confidence=0.5)
    (point,) = solve_tasks([Task(make_block([2], [constraint]), np.array([9.0, 1.0]), None, 200.0)])
    p = point.theta[0]
    assert 9 / p - 1 / (1 - p) == pytest.approx(100 * (p - 0.5), abs=1e-6)
    assert point.multipliers[0] == pytest.approx(100 * (p - 0.5), abs=1e-6)


def test_entropy_alone() -> None:
    """Blocks without data: the most entropic point, against CVXPY."""
    tasks = [
        Task(task.block, np.zeros(task.block.size), np.ones(task.block.size))
        for task in random_tasks(300, 16, largest=5)
    ]
    compared = 0
    for number, (task, theta) in enumerate(zip(tasks, certified(tasks), strict=True)):
        if number < 50:
            found = solve(task)
            if found is not None:
                compared += 1
                assert objective(task, theta) == pytest.approx(found[0], abs=1e-7)
    assert compared >= 35


def test_weak_duality_holds_for_any_multipliers() -> None:
    generator = np.random.default_rng(17)
    for task in random_tasks(200, 18):
        (point,) = solve_tasks([task])
        value = objective(task, point.theta)
        for _ in range(3):
            multipliers = generator.exponential(size=len(task.block.linear)) * generator.choice([0.1, 1, 100])
            assert lower_bound(task, multipliers) <= value + 1e-9 * (1 + abs(value))


def test_hundreds_of_constraints_in_one_block() -> None:
    certified([large_task(np.random.default_rng(19), 64, 4, 300)])


def test_thousands_of_unknowns() -> None:
    certified([large_task(np.random.default_rng(20), 256, 4, 1_000)])


def test_the_same_answer_alone_and_among_others() -> None:
    """Blocks that share a call share nothing else."""
    tasks = random_tasks(40, 21)
    for task, point in zip(tasks, solve_tasks(tasks), strict=True):
        (alone,) = solve_tasks([task])
        np.testing.assert_array_equal(alone.theta, point.theta)


def test_nothing_to_solve() -> None:
    assert solve_tasks([]) == []


def test_the_certificate_is_the_one_of_the_formulas() -> None:
    """Against the definitions, with the minimum over each simplex by bisection."""
    generator = np.random.default_rng(22)
    tasks = [*random_tasks(100, 23), *(soft_task(generator) for _ in range(100))]
    for task, point in zip(tasks, solve_tasks(tasks), strict=True):
        for multipliers in (point.multipliers, generator.exponential(size=len(point.multipliers))):
            violation, value, bound = plain_certificate(task, point.theta, multipliers)
            certificate = certify(task, point.theta, multipliers)
            assert certificate.violation == pytest.approx(violation, abs=1e-14)
            assert objective(task, point.theta) == pytest.approx(value, rel=1e-12, abs=1e-12)
            assert lower_bound(task, multipliers) == pytest.approx(bound, rel=1e-9, abs=1e-9)
        found = certify(task, point.theta, point.multipliers)
        assert (point.violation, point.gap) == pytest.approx((found.violation, found.gap), abs=1e-13)


@pytest.mark.parametrize("count", amounts(300, 2_000))
def test_against_clarabel(count: int) -> None:
    """Objectives agree always; θ where all is seen and every constraint that is reached is pressed against;
    multipliers where no reached constraint follows from others."""
    generator = np.random.default_rng(25)
    tasks = [*random_tasks(count, 26), *(soft_task(generator) for _ in range(count // 3))]
    tasks += [task._replace(weights=task.weights + 1.0, entropies=None) for task in random_tasks(count, 30)]
    solved = unique = with_multipliers = 0
    for task, one in zip(tasks, solve_tasks(tasks), strict=True):
        other = solve_with_clarabel(task)
        if other is None or not certify(task, other.theta, other.multipliers).holds:
            continue
        solved += 1
        assert objective(task, one.theta) == pytest.approx(objective(task, other.theta), rel=1e-7, abs=1e-7)
        linear = task.block.linear
        reached = np.abs(linear.bounds - linear.values(one.theta)) < 1e-4
        pressed = one.multipliers > 1e-4 * max(1.0, task.weights.sum())
        if (task.weights > 0).all() and (reached == pressed)[linear.hard].all():
            unique += 1
            # Clarabel's gap of 1e-8 leaves so much to θ of distributions with few counts beside others with many.
            np.testing.assert_allclose(one.theta, other.theta, rtol=0, atol=2e-3)
            if are_independent(task, reached):
                with_multipliers += 1
                np.testing.assert_allclose(
                    one.multipliers, other.multipliers, rtol=1e-3, atol=1e-3 * task.weights.sum()
                )
    assert solved > 0.8 * len(tasks)
    assert unique > 0.2 * len(tasks)
    assert with_multipliers > 0.1 * len(tasks)


def are_independent(task: Task, reached: np.ndarray) -> bool:
    constraints = task.block.linear.take(reached).matrix(task.block.size).toarray()
    sums = np.equal.outer(np.unique(task.block.distribution_of), task.block.distribution_of)
    both = np.vstack((constraints, sums))
    return bool(np.linalg.matrix_rank(both) == len(both))


def test_dense_and_sparse_systems_lead_to_one_optimum() -> None:
    """70 free parameters, in blocks that differ in an idle distribution beyond the limit of dense systems."""
    generator = np.random.default_rng(3)
    task = large_task(generator, 31, 3, 40)
    idle = np.array([5.0, 3.0, 2.0])
    sizes, constraints = np.diff(task.block.distributions).tolist(), list(task.block.linear)
    wider = Task(make_block([*sizes, 3, 3], constraints), np.concatenate((task.weights, idle, idle)))
    (small,), (large,) = certified([task]), certified([wider])
    np.testing.assert_allclose(large[: len(small)], small, atol=1e-8)
    np.testing.assert_allclose(large[-3:], idle / 10.0, atol=1e-8)


def test_weights_below_all_numbers_leave_the_bound_one() -> None:
    """Expected counts of rows that are nearly impossible: 1e-310 is lost, and nothing overflows."""
    network = Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    (block,) = blocks_of(lower(knowledge_for(network, "P(b=y | a=y) >= P(b=y | a=n) by at least 0.1")))
    task = Task(block, np.array([1e-310, 2e-310, 3.0, 1.0]))
    with np.errstate(all="raise", under="ignore"):
        bound = lower_bound(task, np.array([0.5]))
    theta = np.array([0.95, 0.05, 0.75, 0.25])
    assert bound <= objective(task, theta)


def test_restricted_blocks_leave_what_is_held_where_it_is() -> None:
    """Distributions without data at maximum entropy: the compiled way and the one for large blocks agree."""
    generator = np.random.default_rng(31)
    compared = 0
    for task in random_tasks(200, 32):
        empty = generator.random(len(task.block.distributions) - 1) < 0.5
        weights = np.where(empty[task.block.distribution_of], 0.0, task.weights + 1.0)
        if empty.all() or not empty.any():
            continue
        (estimate,) = solve_certified([task._replace(weights=weights, entropies=None)])
        free = np.flatnonzero(empty)
        (found,) = most_entropic_points([task.block], [free], [estimate.theta])
        part = restricted(task.block, free, estimate.theta)
        (point,) = solve_tasks([Task(part, np.zeros(part.size), np.ones(part.size))])
        if found is None or not point.converged:
            continue
        compared += 1
        own = empty[task.block.distribution_of]
        np.testing.assert_array_equal(found[0][~own], estimate.theta[~own])
        np.testing.assert_allclose(found[0][own], point.theta, atol=1e-6)
        assert found[1] <= 1e-8
    assert compared > 80

"""The interior point: its certificate on thousands of blocks of every kind, and CVXPY on hundreds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import LinearConstraint
from credo.constraints.lower import lower
from credo.estimation.solvers import interior_point
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.certificate import certify, lower_bound, objective
from credo.estimation.solvers.interior_point import Point, Task, is_small, solve_compiled, solve_plain
from credo.estimation.solvers.plain_interior_point import _inverse, _solution
from credo.kernels import blocks
from credo.kernels.cholesky import factorise_dense, solve_dense, workspace
from credo.knowledge import knowledge_for
from credo.model.network import Network
from tests.helpers.amounts import amounts
from tests.helpers.block_tasks import at_most, general_task, large_task, make_block, soft_task, with_constraints
from tests.helpers.cvxpy_oracle import solve

Solver = Callable[..., list[Point]]
Certified = Callable[..., list[np.ndarray]]


@pytest.fixture(params=[solve_plain, solve_compiled], ids=["plain", "compiled"])
def solve_tasks(request: pytest.FixtureRequest) -> Solver:
    """Every test runs with plain NumPy and with the compiled loops."""
    return request.param


@pytest.fixture
def certified(solve_tasks: Solver) -> Certified:
    """Solve, and hold every certificate; the points."""

    def certified(tasks: list[Task], closed_forms: bool = False) -> list[np.ndarray]:
        return _certified(tasks, solve_tasks(tasks, closed_forms))

    return certified


@pytest.fixture(params=[10**9, 0], ids=["plain", "compiled"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is solved through `solve_certified`, by plain NumPy and by the compiled loops."""
    monkeypatch.setattr(interior_point, "PLAIN_UNKNOWNS", request.param)


def _certified(tasks: list[Task], points: list[Point]) -> list[np.ndarray]:
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
def test_blocks_in_general(certified: Certified, count: int) -> None:
    """Up to seven distributions with counts between none and thousands, ranges and comparisons."""
    certified(random_tasks(count, 1), closed_forms=True)
    certified(random_tasks(count // 2, 2))


@pytest.mark.parametrize("count", amounts(60, 170))
def test_against_cvxpy(certified: Certified, count: int) -> None:
    compared = 0
    tasks = [task for task in random_tasks(count, 3, largest=5) if len(task.block.linear)]
    for task, theta in zip(tasks, certified(tasks), strict=True):
        found = solve(task)
        if found is not None:
            compared += 1
            assert objective(task, theta) == pytest.approx(found[0], rel=1e-7, abs=1e-7)
    assert compared >= 0.5 * count


@pytest.mark.parametrize("largest", [1.0, 1e3, 1e6, 1e9])
def test_counts_of_every_size(largest: float, certified: Certified) -> None:
    generator = np.random.default_rng(4)
    tasks = []
    for task in random_tasks(300, 5):
        weights = np.round(10 ** generator.uniform(0, np.log10(largest) + 1e-9, task.block.size))
        weights[generator.random(task.block.size) < 0.2] = 0.0
        weights[0] = max(weights[0], 1.0)
        tasks.append(Task(task.block, weights))
    certified(tasks)


def test_counts_of_every_size_in_one_block(certified: Certified) -> None:
    """One in a distribution, a thousand million in the next."""
    generator = np.random.default_rng(6)
    tasks = []
    for task in random_tasks(500, 7):
        sizes = generator.choice([1.0, 1e3, 1e6, 1e9], len(task.block.distributions) - 1)
        weights = np.ceil(generator.random(task.block.size) * sizes[task.block.distribution_of])
        tasks.append(Task(task.block, weights))
    certified(tasks)


def test_states_and_distributions_without_weight(certified: Certified) -> None:
    generator = np.random.default_rng(8)
    tasks = []
    for task in random_tasks(500, 9):
        weights = generator.choice([0.0, 0.0, 0.0, 1.0, 7.0], task.block.size)
        weights[-1] = 1.0
        tasks.append(Task(task.block, weights))
    certified(tasks)


def test_constraints_twice_and_constraints_that_follow(solve_tasks: Solver, certified: Certified) -> None:
    """Every constraint twice, once scaled by a thousand, and loosened copies of each."""
    few = [task for task in random_tasks(300, 10) if len(task.block.linear) <= 8]
    once = few if solve_tasks is solve_plain else random_tasks(300, 10)  # plain code is for no more than 32 constraints
    tasks = []
    for task in once:
        constraints = list(task.block.linear)
        scaled = [in_units(constraint, 1e3) for constraint in constraints]
        loose = [replace(constraint, bound=constraint.bound + 0.3) for constraint in constraints]
        tasks.append(with_constraints(task, [*constraints, *constraints, *scaled, *loose]))
    for task, one, other in zip(tasks, certified(once), certified(tasks), strict=True):
        assert objective(task, one) == pytest.approx(objective(task, other), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_size_of_a_constraint_changes_nothing(scale: float, solve_tasks: Solver) -> None:
    """The same constraints in other units: the same point; and multipliers in the other units."""
    tasks = random_tasks(200, 11)
    scaled = [
        with_constraints(task, [in_units(constraint, scale) for constraint in task.block.linear]) for task in tasks
    ]
    for one, other in zip(solve_tasks(tasks, False), solve_tasks(scaled, False), strict=True):
        np.testing.assert_allclose(one.theta, other.theta, atol=1e-7)


def test_equalities(certified: Certified) -> None:
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


def test_systems_without_an_interior(either_way: None) -> None:
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


def test_numbers_that_must_be_zero(either_way: None) -> None:
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
def test_soft_constraints(certified: Certified, count: int) -> None:
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


def test_a_soft_constraint_by_hand(solve_tasks: Solver) -> None:
    """min −9 log p − log(1 − p) + (W C / 2)(p − 0.5)² with W C = 100: the root of 9/p − 1/(1−p) = 100 (p − 0.5)."""
    constraint = LinearConstraint((0,), (1.0,), 0.5, 0, confidence=0.5)
    (point,) = solve_tasks([Task(make_block([2], [constraint]), np.array([9.0, 1.0]), None, 200.0)])
    p = point.theta[0]
    assert 9 / p - 1 / (1 - p) == pytest.approx(100 * (p - 0.5), abs=1e-6)
    assert point.multipliers[0] == pytest.approx(100 * (p - 0.5), abs=1e-6)


def test_entropy_alone(certified: Certified) -> None:
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


def test_weak_duality_holds_for_any_multipliers(solve_tasks: Solver) -> None:
    generator = np.random.default_rng(17)
    for task in random_tasks(200, 18):
        (point,) = solve_tasks([task])
        value = objective(task, point.theta)
        for _ in range(3):
            multipliers = generator.exponential(size=len(task.block.linear)) * generator.choice([0.1, 1, 100])
            assert lower_bound(task, multipliers) <= value + 1e-9 * (1 + abs(value))


def test_hundreds_of_constraints_in_one_block() -> None:
    tasks = [large_task(np.random.default_rng(19), 64, 4, 300)]
    _certified(tasks, solve_compiled(tasks))


def test_a_block_that_a_library_orders() -> None:
    """Beyond `LARGE_SYSTEM` the elimination order comes from SuperLU: the optimum is the same."""
    tasks = [large_task(np.random.default_rng(20), 128, 4, 500)]
    _certified(tasks, solve_compiled(tasks))


def test_the_same_answer_alone_and_among_others(solve_tasks: Solver) -> None:
    """Blocks that share a call share nothing else."""
    tasks = random_tasks(40, 21)
    for task, point in zip(tasks, solve_tasks(tasks), strict=True):
        (alone,) = solve_tasks([task])
        np.testing.assert_array_equal(alone.theta, point.theta)


def test_nothing_to_solve(solve_tasks: Solver) -> None:
    assert solve_tasks([]) == []


def test_the_compiled_certificate_is_the_one_of_the_formulas() -> None:
    generator = np.random.default_rng(22)
    tasks = [*random_tasks(200, 23), *(soft_task(generator) for _ in range(200))]
    for task, point in zip(tasks, solve_compiled(tasks), strict=True):
        certificate = certify(task, point.theta, point.multipliers)
        assert point.violation == pytest.approx(certificate.violation, abs=1e-14)
        assert point.gap == pytest.approx(certificate.gap, abs=1e-13)


def test_plain_and_compiled_find_the_same_optimum() -> None:
    """Objectives agree to 1e-8 always; θ where all is seen and a constraint that is reached is pressed against;
    multipliers where no reached constraint follows from others."""
    generator = np.random.default_rng(25)
    tasks = [*random_tasks(1_500, 26), *(soft_task(generator) for _ in range(500))]
    # Few of these have counts everywhere; of those that do, most have one optimum.
    tasks += [replace(task, weights=task.weights + 1.0, entropies=None) for task in random_tasks(2_000, 30)]
    unique = with_multipliers = 0
    for task, one, other in zip(tasks, solve_plain(tasks), solve_compiled(tasks), strict=True):
        assert certify(task, one.theta, one.multipliers).holds
        assert one.shape == other.shape
        assert objective(task, one.theta) == pytest.approx(objective(task, other.theta), rel=1e-8, abs=1e-8)
        linear = task.block.linear
        reached = np.abs(linear.bounds - linear.values(one.theta)) < 1e-5
        pressed = one.multipliers > 1e-5 * max(1.0, task.weights.sum())
        if (task.weights > 0).all() and (reached == pressed)[linear.hard].all():
            unique += 1
            np.testing.assert_allclose(one.theta, other.theta, rtol=0, atol=1e-8)
            if are_independent(task, reached):
                with_multipliers += 1
                np.testing.assert_allclose(
                    one.multipliers, other.multipliers, rtol=1e-5, atol=1e-6 * task.weights.sum()
                )
    assert unique > 1_000
    assert with_multipliers > 500


def are_independent(task: Task, reached: np.ndarray) -> bool:
    constraints = task.block.linear.take(reached).matrix(task.block.size).toarray()
    sums = np.equal.outer(np.unique(task.block.distribution_of), task.block.distribution_of)
    both = np.vstack((constraints, sums))
    return bool(np.linalg.matrix_rank(both) == len(both))


def test_the_size_of_the_work_decides() -> None:
    """Few small blocks are plain work; many, or a large one, or few that are solved again and again, are not."""
    tasks = random_tasks(10, 27)
    assert is_small(tasks)
    assert not is_small(tasks, repetitions=100)
    assert not is_small(random_tasks(500, 28))
    assert not is_small([large_task(np.random.default_rng(29), 64, 4, 300)])
    assert is_small([])


@pytest.mark.parametrize("size", [1, 5, 129, 300, 700, 1300])
def test_dense_factors_against_numpy(size: int) -> None:
    """Quasi-definite matrices with the signs of their pivots in any order, across the edges of panels and strips."""
    generator = np.random.default_rng(size)
    signs = generator.choice([-1.0, 1.0], size)
    matrix = generator.normal(size=(size, size)) / np.sqrt(size)
    matrix = np.where(signs[:, None] == signs[None, :], 0.0, matrix + matrix.T) + 2.0 * np.diag(signs)
    factor, inverse, vector = matrix.copy(), np.empty(size), generator.normal(size=size)
    factorise_dense(factor, signs, inverse, workspace(size))
    lower = np.tril(factor, -1) + np.eye(size)
    np.testing.assert_allclose(lower @ np.diag(1.0 / inverse) @ lower.T, matrix, atol=1e-10)
    solution = vector.copy()
    solve_dense(factor, inverse, solution)
    np.testing.assert_allclose(matrix @ solution, vector, atol=1e-10)


def test_an_order_and_a_dense_tail_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same block with the order found here and with SuperLU's."""
    task = large_task(np.random.default_rng(24), 48, 3, 160)
    (plain,) = solve_compiled([task])
    monkeypatch.setattr(interior_point, "LARGE_SYSTEM", 1)
    (ordered,) = solve_compiled([task])
    np.testing.assert_allclose(ordered.theta, plain.theta, atol=1e-7)
    assert ordered.gap <= 1e-8


@pytest.mark.parametrize("unused", ["solve_sparse_blocks", "solve_dense_blocks"])
def test_kernels_that_no_block_needs_are_not_called(unused: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call would compile them, which takes many seconds."""
    generator = np.random.default_rng(3)
    dense, sparse = general_task(generator), large_task(generator, 40, 3, 30)
    monkeypatch.setattr(blocks, unused, lambda *_: pytest.fail(f"{unused} was called"))
    (point,) = interior_point.solve_compiled([dense if unused == "solve_sparse_blocks" else sparse], False)
    assert point.converged


def test_a_system_without_a_solution_leaves_the_others_alone() -> None:
    """One of many blocks that are solved together may become singular; it is then left to other solvers."""
    systems = np.stack((np.eye(2), np.ones((2, 2)), 2.0 * np.eye(2)))
    inverses, solutions = _inverse(systems), _solution(systems, np.ones((3, 2)))
    for found, expected in (
        (inverses, np.linalg.inv(systems[[0, 2]])),
        (solutions, np.array([[1.0, 1.0], [0.5, 0.5]])),
    ):
        np.testing.assert_array_equal(found[[0, 2]], expected)
        assert np.isnan(found[1]).all()


def test_weights_below_all_numbers_leave_the_bound_one() -> None:
    """Expected counts of rows that are nearly impossible: 1e-310 is lost, and nothing overflows."""
    network = Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    (block,) = blocks_of(lower(knowledge_for(network, "P(b=y | a=y) >= P(b=y | a=n) by at least 0.1")))
    task = Task(block, np.array([1e-310, 2e-310, 3.0, 1.0]))
    with np.errstate(all="raise", under="ignore"):
        bound = lower_bound(task, np.array([0.5]))
    theta = np.array([0.95, 0.05, 0.75, 0.25])
    assert bound <= objective(task, theta)

"""Training with an exterior penalty: its gradient, what it reaches, and that it says where it fails."""

from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl
import pytest
from scipy.optimize import approx_fprime

import credo
from credo import ConflictError, Network
from credo.constraints.constraint_set import LinearConstraint, ProductConstraint
from credo.constraints.stage_costs import estimating
from credo.estimation.papers.lbfgs import minimise
from credo.estimation.solvers import penalised as penalty
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import objective
from credo.estimation.solvers.penalised import FEASIBLE, PenalisedObjective, train
from tests.helpers.block_tasks import at_most, general_task, large_task, make_block
from tests.helpers.blocks import block_of
from tests.helpers.problems import known_network

COIN = Network({"coin": ("heads", "tails")})


def everything_task(generator: np.random.Generator) -> Task:
    """Hard and soft constraints, equalities, hard and soft products in one block."""
    constraints = [
        at_most([0, 3], [1.0, -1.0], -0.1),
        at_most([1], [2.0], 0.2),
        LinearConstraint((2, 5), (1.0, -1.0), 0.05, 1, equality=True),
        LinearConstraint((4,), (1.0,), 0.05, 2, confidence=0.7),
        LinearConstraint((1, 4), (1.0, 1.0), 0.3, 3, equality=True, confidence=0.4),
    ]
    products = [
        ProductConstraint((0, 3, 1), (1.0, 1.0, -2.0), -1.0, 4),
        ProductConstraint((2, 4), (1.0, 1.0), -3.0, 5, confidence=0.5),
    ]
    return Task(block_of((3, 3), constraints, products), generator.integers(0, 50, 6).astype(float), None, 30.0)


def test_the_gradient_against_finite_differences() -> None:
    generator = np.random.default_rng(1)
    for omega in (0.5, 20.0, 1e3):
        penalised = PenalisedObjective.of(everything_task(generator))
        for _ in range(5):
            beta = generator.normal(size=6)
            _, gradient = penalised.cost(beta, omega)
            numeric = approx_fprime(beta, lambda x, of=penalised, w=omega: of.cost(x, w)[0], 1e-7)
            np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5 * omega)


def test_without_constraints_the_gradient_is_counts_less_expected_counts() -> None:
    """∂/∂β_k Σ w log θ = N_k − θ_k N: the full Jacobian, not its diagonal."""
    weights = np.array([3.0, 1.0, 0.0])
    penalised = PenalisedObjective.of(Task(make_block([3], []), weights))
    beta = np.array([0.3, -0.2, 0.1])
    theta = penalised.distributions(beta)
    assert -4.0 * penalised.cost(beta, 1.0)[1] == pytest.approx(weights - theta * 4.0, abs=1e-5)


def test_newton_finds_what_l_bfgs_finds() -> None:
    generator = np.random.default_rng(4)
    for number in range(40):
        task = everything_task(generator) if number % 2 else general_task(generator, largest=4)
        penalised = PenalisedObjective.of(task)
        for omega in (1.0, 100.0):
            start = np.zeros(task.block.size)
            reached, _ = penalised.minimise(start, omega)
            slow = minimise(lambda x, of=penalised, w=omega: of.cost(x, w), start, 5_000, 1e-10)
            value, slope = penalised.cost(reached, omega)
            assert np.abs(slope).max() <= 1e-8
            assert value <= slow.value + 1e-9
            if not task.block.products:  # convex: there is no other minimum
                assert value >= slow.value - 1e-6


def test_large_blocks_reach_the_exact_optimum() -> None:
    """Many configurations and constraints, some states without data."""
    task = large_task(np.random.default_rng(1), 180, 4, 400)
    (exact,) = solve_certified([task])
    trained = train(task)
    assert trained.converged
    assert trained.certificate.violation <= FEASIBLE
    assert objective(task, trained.theta) == pytest.approx(objective(task, exact.theta), rel=1e-6)


def wide_constraints(kind: str, states: int) -> list[LinearConstraint]:
    """Few bounds, comparisons of neighbours or of all states with one, sums of many, and equalities that repeat."""
    if kind == "bounds":
        return [at_most([3], [1.0], 0.001), at_most([5], [-1.0], -0.2)]
    if kind == "neighbours":
        return [at_most([i, i + 1], [1.0, -1.0], 0.0, i) for i in range(states - 1)]
    if kind == "mode":
        return [at_most([i, states - 1], [1.0, -1.0], 0.0, i) for i in range(states - 1)]
    if kind == "sums":
        everything = tuple(range(states))
        mean = LinearConstraint(everything, tuple(i / states for i in everything), 0.4, 1, equality=True)
        return [at_most(list(range(states // 2)), [1.0] * (states // 2), 0.7), mean]
    firsts = range(0, min(states, 100) - 1, 2)
    pairs = [LinearConstraint((i, i + 1), (1.0, -1.0), 0.001, i, equality=True) for i in firsts]
    return [*pairs, *pairs, LinearConstraint(tuple(range(states)), (1.0,) * states, 1.0, 1, equality=True)]


def wide_task(kind: str, states: int) -> Task:
    generator = np.random.default_rng(states)
    weights = generator.multinomial(200, generator.dirichlet(np.full(states, 0.3))).astype(float)
    return Task(make_block([states], wide_constraints(kind, states)), weights)


@pytest.mark.parametrize("kind", ["bounds", "neighbours", "mode", "sums", "repeated"])
def test_large_blocks_end_where_small_ones_do(kind: str) -> None:
    """The same block alone, and beside distributions without constraints that make it a large one."""
    task = wide_task(kind, 90)
    beside = np.tile([3.0, 2.0], 20)
    wider = Task(make_block([90, *[2] * 20], list(task.block.linear)), np.concatenate((task.weights, beside)))
    small, large = train(task), train(wider)
    assert small.converged
    assert large.converged
    np.testing.assert_allclose(large.theta[:90], small.theta, atol=1e-5)
    np.testing.assert_allclose(large.theta[90::2], 0.6, atol=1e-5)


@pytest.mark.parametrize("kind", ["bounds", "neighbours", "mode", "sums", "repeated"])
def test_many_states_take_memory_in_proportion(kind: str) -> None:
    """A matrix over 3,000 states would take 72 MB."""
    task = wide_task(kind, 3_000)
    penalised = PenalisedObjective.of(task)
    start = np.log(task.weights + 0.01)
    penalised.minimise(start[:], 1.0)  # what is imported does not count
    tracemalloc.start()
    penalised.minimise(start, 100.0)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 20e6
    assert used < estimating([task.block]).bytes


def test_many_constraints_on_few_states_take_the_smaller_system() -> None:
    """As many constraints as states of a hundred distributions, twice: neither way may lose the optimum."""
    generator = np.random.default_rng(2)
    truth = generator.dirichlet(np.ones(2), 100).ravel()
    constraints = []
    for number in range(1_000):
        a, b = generator.choice(len(truth), 2, replace=False).tolist()
        constraints.append(at_most([a, b], [1.0, -1.0], float(truth[a] - truth[b]), number))
    task = Task(make_block([2] * 100, constraints), generator.multinomial(5_000, truth / 100).astype(float))
    (exact,) = solve_certified([task])
    trained = train(task)
    assert trained.converged
    assert objective(task, trained.theta) == pytest.approx(objective(task, exact.theta), rel=1e-6)


def test_by_hand() -> None:
    """9 heads of 10, P(heads) ≤ 0.6: it ends at the bound, from outside."""
    frame = pl.DataFrame({"coin": ["heads"] * 9 + ["tails"]})
    fit = credo.fit(COIN, frame, "P(coin=heads) <= 0.6", method="co")
    assert 0.6 < fit.network.cpt_array("coin")[0] <= 0.6 + FEASIBLE
    assert fit.status is credo.Status.NOT_CERTIFIED


def test_it_comes_near_to_the_exact_optimum() -> None:
    generator = np.random.default_rng(2)
    ended_feasible = 0
    for _ in range(60):
        task = general_task(generator, largest=4)
        if not task.weights.any():
            continue
        (exact,) = solve_certified([task])
        trained = train(task)
        ended_feasible += trained.certificate.violation <= FEASIBLE
        best, reached = objective(task, exact.theta), objective(task, trained.theta)
        assert reached >= best - 1e-4 * (1.0 + abs(best))  # a violation of 1e-6 can win a little
        assert reached - best <= trained.certificate.gap * max(1.0, abs(reached)) + 1e-9
        if trained.certificate.violation <= FEASIBLE:
            assert reached == pytest.approx(best, rel=2e-3, abs=1e-3)
    assert ended_feasible >= 50


def test_training_that_is_cut_short_says_what_is_violated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penalty, "ROUNDS", 1)
    truth, knowledge = known_network(statements=10)
    fit = credo.fit(truth.without_cpts(), truth.sample(20, 3), knowledge, method="co")
    assert fit.status is credo.Status.VIOLATED
    assert any(each.kind == "violated" for each in fit.findings)
    assert not fit.violations().is_empty()


def test_training_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penalty, "NEWTON_STEPS", 1)
    frame = pl.DataFrame({"coin": ["heads"] * 9 + ["tails"]})
    fit = credo.fit(COIN, frame, "P(coin=heads) <= 0.95", method="co")
    assert fit.status is credo.Status.NOT_CONVERGED
    assert any(each.kind == "not converged" and "coin" in str(each) for each in fit.findings)


def test_knowledge_that_contradicts_itself_is_an_error() -> None:
    frame = pl.DataFrame({"coin": ["heads", "tails"]})
    with pytest.raises(ConflictError):
        credo.fit(COIN, frame, "P(coin=heads) <= 0.3\nP(coin=tails) <= 0.3", method="co")


def test_products_are_constraints_like_others() -> None:
    text = "P(b=s0|a=s0) * P(b=s1|a=s1) <= 0.5 * P(b=s1|a=s0) * P(b=s0|a=s1)"
    truth, _ = known_network()
    fit = credo.fit(truth.without_cpts(), truth.sample(100, 1), text, method="co")
    table = fit.network.cpt_array("b")
    assert table[0, 0] * table[1, 1] <= 0.5 * table[0, 1] * table[1, 0] * (1 + 2e-6)


def test_configurations_without_data_keep_what_the_penalty_leaves() -> None:
    truth, _ = known_network()
    frame = truth.sample(20, 1).filter(pl.col("a") == "s0")
    fit = credo.fit(truth.without_cpts(), frame, "P(b=s0 | a=s1) >= 0.6", method="co")
    assert fit.network.cpt_array("b")[1] == pytest.approx([0.6, 0.2, 0.2], abs=1e-4)
    assert any("what the penalties left" in str(each) for each in fit.findings)


def test_l_bfgs_finds_a_minimum_in_a_bent_valley() -> None:
    """Rosenbrock's function, from its usual start."""

    def valley(x: np.ndarray) -> tuple[float, np.ndarray]:
        bend = x[1] - x[0] ** 2
        return 100 * bend**2 + (1 - x[0]) ** 2, np.array([-400 * x[0] * bend - 2 * (1 - x[0]), 200 * bend])

    found = minimise(valley, np.array([-1.2, 1.0]), 200, 1e-10)
    assert found.point == pytest.approx([1.0, 1.0], abs=1e-8)
    assert found.evaluations < 150


def test_l_bfgs_stops_where_it_starts_at_the_minimum() -> None:
    found = minimise(lambda x: (float(x @ x), 2 * x), np.zeros(3), 10, 1e-12)
    assert found.evaluations == 1

"""Product constraints by their multipliers: the same optimum as many starts of another solver, and its proof."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from credo.constraints.constraint_set import LinearConstraint, ProductConstraint
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.estimation.solvers.certificate import objective
from credo.estimation.solvers.product_multipliers import optimum_by_multipliers
from credo.estimation.solvers.products import ProductConstraints
from tests.helpers.blocks import at_most, block_of


def solved(
    sizes: tuple[int, ...],
    weights: list[float],
    products: list[ProductConstraint],
    linear: list[LinearConstraint],
    soft_weight: float = 0.0,
) -> tuple[BlockEstimate | None, ProductConstraints]:
    block = block_of(sizes, linear, products)
    (relaxed,) = estimate_blocks([block], np.array(weights), soft_weight)
    own = ProductConstraints.of(block, soft_weight)
    return optimum_by_multipliers(relaxed, own), own


def by_many_starts(found: BlockEstimate, products: ProductConstraints, generator: np.random.Generator) -> float:
    """The least objective that SLSQP finds, in units of log θ."""
    block, weights = found.block, found.task.weights
    matrix = block.linear.matrix(block.size).toarray() if len(block.linear) else np.zeros((0, block.size))
    starts = block.distributions[:-1]
    rules = [
        {"type": "eq", "fun": lambda t: np.add.reduceat(np.exp(t), starts) - 1.0},
        {"type": "ineq", "fun": lambda t: products.log_bounds - products.exponents @ t},
        {"type": "ineq", "fun": lambda t: block.linear.bounds - matrix @ np.exp(t)},
    ]
    best = np.inf
    for _ in range(4):
        start = np.log(np.concatenate([generator.dirichlet(np.full(n, 3.0)) for n in np.diff(block.distributions)]))
        end = minimize(lambda t: -weights @ t, start, jac=lambda t: -weights, method="SLSQP", constraints=rules)
        if end.success:
            best = min(best, float(end.fun))
    return best


def test_against_many_starts_of_another_solver() -> None:
    generator = np.random.default_rng(4)
    compared = 0
    for _ in range(12):
        distributions, states = int(generator.integers(2, 4)), int(generator.integers(2, 4))
        truth = generator.dirichlet(np.ones(states), distributions).ravel()
        weights = generator.integers(1, 40, truth.size).astype(float).tolist()
        products = []
        for number in range(int(generator.integers(1, 4))):
            chosen = generator.choice(truth.size, 4, replace=False)
            exponents = generator.choice([-1.0, 1.0], 4)
            bound = float(exponents @ np.log(truth[chosen]))
            products.append(ProductConstraint(tuple(chosen.tolist()), tuple(exponents.tolist()), bound, number))
        a, b = sorted(generator.choice(truth.size, 2, replace=False).tolist(), key=lambda i: truth[i])
        found, own = solved((states,) * distributions, weights, products, [at_most({a: 1.0, b: -1.0}, 0.0)])
        if found is None:
            continue
        compared += 1
        assert found.certificate.holds
        assert own.missed(found.theta).max(initial=0.0) <= 1e-9
        assert objective(found.task, found.theta) <= by_many_starts(found, own, generator) + 1e-6
    assert compared >= 8


def test_soft_products_by_hand() -> None:
    """One coin, w = (6, 4), (5/2)·(log p − log 0.5)² beyond 0.5: 6/p − 4/(1 − p) = 5 (log p − log 0.5)/p."""
    product = ProductConstraint((0,), (1.0,), float(np.log(0.5)), 0, confidence=0.5)
    found, _ = solved((2,), [6.0, 4.0], [product], [], soft_weight=10.0)
    assert found is not None
    assert found.certificate.holds
    p = found.theta[0]
    assert 6 / p - 4 / (1 - p) == pytest.approx(5 * (np.log(p) - np.log(0.5)) / p, abs=1e-6)


def test_a_factor_without_data_gives_way_at_no_cost() -> None:
    """The second distribution has no data: it satisfies the product alone, and the first keeps its proportion."""
    product = ProductConstraint((0, 2), (1.0, 1.0), float(np.log(0.2)), 0)
    found, own = solved((2, 2), [8.0, 2.0, 0.0, 0.0], [product], [])
    assert found is not None
    assert found.theta == pytest.approx([0.8, 0.2, 0.25, 0.75], abs=1e-6)
    assert found.certificate.holds  # the optimum without products proves it
    assert own.missed(found.theta).max() <= 1e-9


def test_none_where_two_points_are_the_best() -> None:
    found, _ = solved((2,), [10.0, 10.0], [ProductConstraint((0, 1), (1.0, 1.0), float(np.log(0.1)), 0)], [])
    assert found is None


def test_none_without_any_data() -> None:
    found, _ = solved((2, 2), [0.0] * 4, [ProductConstraint((0, 2), (1.0, 1.0), float(np.log(0.1)), 0)], [])
    assert found is None

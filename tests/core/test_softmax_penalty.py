"""The penalised objective in softmax coordinates: its value and gradient against the formulas in NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax

from credo.constraints.constraint_set import ProductConstraint
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.penalised import PenalisedObjective
from tests.helpers.block_tasks import general_task, soft_task


def plain_cost(task: Task, weights: np.ndarray, scale: float, omega: float, beta: np.ndarray) -> float:
    """−Σ w log θ + Σ p max(0, c·x − b)², x being θ of linear constraints and log θ of products."""
    block = task.block
    logs = np.concatenate([log_softmax(part) for part in np.split(beta, block.distributions[1:-1])])
    value = -float(weights @ logs)
    for constraint in block.linear:
        excess = float(np.dot(constraint.coefficients, np.exp(logs[list(constraint.indices)]))) - constraint.bound
        missed = excess if constraint.equality else max(0.0, excess)
        soft = constraint.confidence is not None
        value += (0.5 * task.soft_weight / scale * constraint.confidence if soft else omega) * missed**2
    for product in block.products:
        value += (
            omega * max(0.0, float(np.dot(product.exponents, logs[list(product.indices)])) - product.log_bound) ** 2
        )
    return value


@pytest.mark.parametrize("seed", range(20))
def test_value_and_gradient(seed: int) -> None:
    generator = np.random.default_rng(seed)
    task = soft_task(generator) if seed % 4 == 0 else general_task(generator)
    n = task.block.size
    products = tuple(
        ProductConstraint((int(a), int(b)), (1.0, -1.0), float(generator.normal()), 0)
        for a, b in (generator.choice(n, 2, replace=False) for _ in range(seed % 3))
    )
    task = task._replace(block=replace(task.block, products=products))
    objective = PenalisedObjective.of(task)
    beta = generator.normal(size=n)
    value, gradient = objective.cost(beta, 3.0)

    def plain(point: np.ndarray) -> float:
        return plain_cost(task, objective.weights, objective.scale, 3.0, point)

    assert value == pytest.approx(plain(beta), rel=1e-12)
    numeric = [(plain(beta + step) - plain(beta - step)) / 2e-6 for step in 1e-6 * np.eye(n)]
    np.testing.assert_allclose(gradient, numeric, atol=1e-5)

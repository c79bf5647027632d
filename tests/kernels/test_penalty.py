"""The penalised objective: compiled and in NumPy, the same value and gradient."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from credo.constraints.constraint_set import ProductConstraint
from credo.estimation.penalised import PenalisedObjective
from credo.estimation.solvers.softmax_penalty import cost_plain, excesses, log_softmax
from credo.kernels.penalty import cost, set_distributions, set_excess
from tests.helpers.block_tasks import general_task


@pytest.mark.parametrize("seed", range(20))
def test_plain_and_compiled_are_the_same_function(seed: int) -> None:
    generator = np.random.default_rng(seed)
    task = general_task(generator)
    n = task.block.size
    products = tuple(
        ProductConstraint((int(a), int(b)), (1.0, -1.0), float(generator.normal()), 0)
        for a, b in (generator.choice(n, 2, replace=False) for _ in range(seed % 3))
    )
    objective = PenalisedObjective.of(replace(task, block=replace(task.block, products=products)))
    constraints, beta = objective.constraints, generator.normal(size=n)
    log_theta, theta, excess = np.empty(n), np.empty(n), np.empty(len(constraints.bounds))
    set_distributions(constraints, beta, log_theta, theta)
    set_excess(constraints, log_theta, theta, excess)
    np.testing.assert_allclose(log_softmax(constraints, beta), log_theta, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(excesses(constraints, log_theta, theta), excess, atol=1e-14)
    value, gradient = cost(constraints, objective.weights, 3.0, beta)
    same, other = cost_plain(constraints, objective.weights, 3.0, beta)
    assert same == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(other, gradient, atol=1e-12)

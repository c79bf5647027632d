"""Estimates of blocks: hardly any data, and what is returned where nothing is proved."""

from __future__ import annotations

import numpy as np

from credo.constraints.constraint_set import LinearConstraint
from credo.estimation.solvers.block_estimates import BlockEstimate, _made_feasible, solve_certified
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import Certificate
from tests.helpers.block_tasks import at_most, make_block


def test_hardly_any_data_beside_soft_statements() -> None:
    """Total weights of 1e-9, beside others of 1e4 or alone: soft constraints are no harder than they are."""
    generator = np.random.default_rng(84)
    for _ in range(25):
        sizes = generator.integers(2, 5, size=3).tolist()
        inside = np.concatenate([generator.dirichlet(np.ones(size)) for size in sizes])
        constraints = []
        for number in range(6):
            places = generator.choice(len(inside), size=2, replace=False)
            signs = generator.choice([1.0, -1.0], size=2)
            soft = generator.choice([0.01, 1.0, 100.0]) if number % 2 else None
            bound = float(signs @ inside[places]) - (0.2 if soft else 0.0)
            constraints.append(
                LinearConstraint(tuple(places.tolist()), tuple(signs.tolist()), bound, number, confidence=soft)
            )
        totals = 10.0 ** generator.choice([-9.0, -8.0, 4.0], size=3)
        weights = np.concatenate([t * generator.dirichlet(np.ones(n)) for t, n in zip(totals, sizes, strict=True)])
        weights *= generator.random(len(weights)) < 0.7
        task = Task(make_block(sizes, constraints), weights, None, 1.0)
        (found,) = solve_certified([task])
        assert found.certificate.holds


def test_a_point_that_is_not_proved_optimal_satisfies_the_hard_statements() -> None:
    block = make_block([2, 2], [at_most([0, 2], [1.0, -1.0], 0.0), at_most([0], [-1.0], -0.1)])
    task = Task(block, np.array([5.0, 1.0, 1.0, 5.0]))
    certificate = Certificate(0.3, np.inf)
    estimate = BlockEstimate(task, np.array([0.8, 0.2, 0.5, 0.5]), np.zeros(2), "", certificate, np.zeros(0, np.int64))
    moved = _made_feasible(estimate, np.array([0.3, 0.7, 0.6, 0.4]))
    assert moved.certificate.violation <= 1e-9
    np.testing.assert_allclose(moved.theta, [0.55, 0.45, 0.55, 0.45])  # half of the way

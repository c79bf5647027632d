"""Newton systems of small blocks with sums and constraints eliminated: the whole system, written out, is the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from credo.kernels.newton_systems import choose_dependent, factorise_reduced, reduce_constraints, solve_reduced
from tests.helpers.block_tasks import general_task


@pytest.mark.parametrize("seed", range(20))
def test_the_solution_of_the_whole_system(seed: int) -> None:
    generator = np.random.default_rng(seed)
    block = general_task(generator).block
    linear, of = block.linear, block.distribution_of
    n, m, distributions = block.size, len(linear), len(block.distributions) - 1
    free = n - distributions
    theta, curvature, constraint_weights = generator.random(n), generator.random(n) + 0.1, generator.random(m) + 0.1
    right = generator.normal(size=n + m + distributions)

    dependent, place = np.full(distributions, -1), np.empty(n, dtype=np.int64)
    lengths, unknowns, values = np.empty(m, dtype=np.int64), np.empty((m, free), dtype=np.int64), np.empty((m, free))
    matrix, inverse, solution = np.empty((free, free)), np.empty(free), np.empty(n + m + distributions)
    assert choose_dependent(of, theta, dependent, place)
    assert not choose_dependent(of, theta, dependent, place)
    np.testing.assert_array_equal(theta[dependent], np.maximum.reduceat(theta, block.distributions[:-1]))
    reduce_constraints(of, linear.starts, linear.indices, linear.coefficients, place, lengths, unknowns, values)
    factorise_reduced(of, curvature, constraint_weights, dependent, place, lengths, unknowns, values, matrix, inverse)
    solve_reduced(
        of,
        linear.starts,
        linear.indices,
        linear.coefficients,
        curvature,
        constraint_weights,
        dependent,
        place,
        matrix,
        inverse,
        right,
        solution,
        np.empty(free),
        np.empty(n),
    )

    above = np.vstack((linear.matrix(n).toarray(), np.arange(distributions)[:, None] == of)).T
    below = -np.diag(np.concatenate((1.0 / constraint_weights, np.zeros(distributions))))
    whole = np.block([[np.diag(curvature), above], [above.T, below]])
    np.testing.assert_allclose(whole @ solution, right, atol=1e-10)

"""Newton systems of small blocks with sums and constraints eliminated: the whole system, written out, is the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from credo.core.block_program import BlockProgram
from credo.core.newton_systems import ReducedSystem
from tests.helpers.block_tasks import general_task


@pytest.mark.parametrize("seed", range(20))
def test_the_solution_of_the_whole_system(seed: int) -> None:
    generator = np.random.default_rng(seed)
    block = general_task(generator).block
    linear, of = block.linear, block.distribution_of
    n, m, distributions = block.size, len(linear), len(block.distributions) - 1
    theta, curvature, constraint_weights = generator.random(n), generator.random(n) + 0.1, generator.random(m) + 0.1
    right = generator.normal(size=n + m + distributions)

    program = BlockProgram()
    program.load(block.distributions, linear, np.ones(n), None, None, 0.0)
    program.load_point(theta, np.zeros(m))
    diagonal = np.concatenate((curvature, -1.0 / constraint_weights, np.zeros(distributions)))
    solution = ReducedSystem().solution_of(program, diagonal, right)

    above = np.vstack((linear.matrix(n).toarray(), np.arange(distributions)[:, None] == of)).T
    below = -np.diag(np.concatenate((1.0 / constraint_weights, np.zeros(distributions))))
    whole = np.block([[np.diag(curvature), above], [above.T, below]])
    np.testing.assert_allclose(whole @ solution, right, atol=1e-10)

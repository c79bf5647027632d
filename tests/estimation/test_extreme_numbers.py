"""Numbers at the end of what floats can hold, and variables with one state: no warning, and a typed error at most."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo.estimation.solvers.block_solver import Task, solve_tasks
from tests.helpers.block_tasks import at_most, make_block


@pytest.mark.parametrize("method", ["cml", "cme", "cmap", "posterior"])
def test_an_impossible_product_of_sure_values_is_a_conflict(method: str) -> None:
    network = credo.Network({"c": ["0", "1"], "g": ["only"]}, {"g": ["c"]})
    data = pl.DataFrame({"c": ["0", "0", "1"], "g": ["only"] * 3})
    with pytest.raises(credo.ConflictError, match="This cannot hold"):
        credo.fit(network, data, 'P(g=only | c="1") * P(g=only | c="0") <= 0.3', method=method)


def test_shares_by_tiny_weights_do_not_overflow() -> None:
    ranges = [at_most([0], [-1.0], -0.3), at_most([1], [1.0], 0.5), at_most([2], [1.0], 0.4)]
    (point,) = solve_tasks([Task(make_block([3], ranges), np.array([1e-200, 3e-200, 1e-200]))])
    np.testing.assert_allclose(point.theta, [0.3, 0.5, 0.2])

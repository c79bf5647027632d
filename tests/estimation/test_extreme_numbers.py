"""Numbers at the end of what floats can hold, and variables with one state: no warning, and a typed error at most."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo.estimation.solvers.certificate import _levels
from credo.estimation.solvers.ranges import shared


@pytest.mark.parametrize("method", ["cml", "cme", "cmap", "posterior"])
def test_an_impossible_product_of_sure_values_is_a_conflict(method: str) -> None:
    network = credo.Network({"c": ["0", "1"], "g": ["only"]}, {"g": ["c"]})
    data = pl.DataFrame({"c": ["0", "0", "1"], "g": ["only"] * 3})
    with pytest.raises(credo.ConflictError, match="This cannot hold"):
        credo.fit(network, data, 'P(g=only | c="1") * P(g=only | c="0") <= 0.3', method=method)


def test_shares_by_tiny_weights_do_not_overflow() -> None:
    weights, starts, of = np.array([1e-200, 3e-200, 1e-200]), np.array([0]), np.zeros(3, dtype=np.int64)
    lower, upper = np.array([0.3, 0.0, 0.0]), np.array([1.0, 0.5, 0.4])
    theta, _, possible = shared(weights, lower, upper, starts, of)
    assert possible.all()
    np.testing.assert_allclose(theta, [0.3, 0.5, 0.2])


def test_levels_far_from_any_root_stay_finite() -> None:
    weights, above, near = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.0, -1e200])
    seen, weighted, of = np.array([True, False]), np.array([True]), np.zeros(2, dtype=np.int64)
    assert np.isfinite(_levels(weights, above, seen, weighted, np.array([0]), of, near)).all()

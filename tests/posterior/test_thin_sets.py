"""Narrow ranges of a probability over several CPTs: intervals as wide as they should be, or no claim to be sure."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import credo
from credo.posterior.draws import cpt_draws

NETWORK = credo.Network({name: ["n", "y"] for name in "abc"}, parents={"b": ["a"], "c": ["b"]})


def shares(table: pd.DataFrame, low: float, high: float, seed: int) -> tuple[bool, float, float]:
    """Whether the draws are called mixed, and the mean and deviation of P(b=y)."""
    fit = credo.fit(NETWORK, table, f"P(c=y) >= {low}\nP(c=y) <= {high}", seed=seed)
    a, b = cpt_draws(fit.posterior, "a")[:, 1], cpt_draws(fit.posterior, "b")[..., 1]  # type: ignore[arg-type]
    share = (1.0 - a) * b[:, 0] + a * b[:, 1]
    return fit.status.name == "AVERAGED", float(share.mean()), float(share.std())


@pytest.mark.parametrize("seed", range(2))
def test_a_narrow_range_gives_no_narrow_interval_of_something_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.random(12) < 0.5
    b = rng.random(12) < np.where(a, 0.6, 0.2)
    c = rng.random(12) < np.where(b, 0.7, 0.3)
    table = pd.DataFrame({name: np.where(own, "y", "n") for name, own in zip("abc", (a, b, c), strict=True)})
    _, mean, deviation = shares(table, 0.36, 0.44, seed)
    for width in (1e-4, 1e-3):
        sure, narrow_mean, narrow_deviation = shares(table, 0.4 - width, 0.4 + width, seed)
        alike = abs(narrow_mean - mean) < 0.4 * deviation and 0.7 < narrow_deviation / deviation < 1.4
        assert alike or not sure

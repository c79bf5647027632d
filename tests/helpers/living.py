"""A small clinic whose tables come one after the other, and what it means that two fits are the same."""

from __future__ import annotations

import numpy as np
import polars as pl

import credo

NETWORK = "variables smoke, lung, xray: no, yes\nlung depends on smoke\nxray depends on lung\n"
STATEMENTS = "smoke raises lung\nP(smoke=yes) is between 20% and 60%\n"


def table(rows: int, seed: int, missing: float = 0.0) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    smoke = random.random(rows) < 0.4
    lung = random.random(rows) < np.where(smoke, 0.3, 0.1)
    xray = random.random(rows) < np.where(lung, 0.9, 0.05)
    columns = {}
    for name, values in (("smoke", smoke), ("lung", lung), ("xray", xray)):
        words = np.where(values, "yes", "no").tolist()
        columns[name] = [None if random.random() < missing else word for word in words]
    return pl.DataFrame({**columns, "pair": [f"{seed}-{row // 2}" for row in range(rows)]})


def same(first: credo.Fit, second: credo.Fit) -> None:
    assert first.network == second.network
    assert first.rows == second.rows
    assert first.log_likelihood == second.log_likelihood
    assert first.status == second.status
    assert (first.posterior is None) == (second.posterior is None)
    if first.posterior is not None and second.posterior is not None:
        assert np.array_equal(first.posterior.draws, second.posterior.draws)

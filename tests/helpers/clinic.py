"""A small network with data and statements that pull at it, for the tests of explanations."""

from __future__ import annotations

import numpy as np
import polars as pl

from credo import Network

NO_YES = ["no", "yes"]
CLINIC = Network(
    {"age": ["young", "middle", "old"], "smoke": NO_YES, "lung": NO_YES, "xray": ["clear", "unclear", "dark"]},
    parents={"lung": ["age", "smoke"], "xray": ["lung"]},
    cpts={
        "age": [0.3, 0.4, 0.3],
        "smoke": [0.6, 0.4],
        "lung": [[[0.97, 0.03], [0.9, 0.1]], [[0.93, 0.07], [0.75, 0.25]], [[0.85, 0.15], [0.5, 0.5]]],
        "xray": [[0.8, 0.15, 0.05], [0.1, 0.3, 0.6]],
    },
    name="clinic",
)
STATEMENTS = (
    "smoke raises lung by at least 0.05",
    "P(lung=yes | age=old, smoke=yes) >= 0.6",
    "P(lung=yes | age=young, each smoke) <= 0.12",
    "P(xray=dark | lung=yes) >= P(xray=unclear | lung=yes) by at least 0.4",
    "P(xray=dark | lung=no) + P(xray=unclear | lung=no) <= 0.15",
    "P(smoke=yes) >= 0.3 with confidence 0.8",
    "0.1 <= P(age=old)",
)


def patients(rows: int, seed: int = 0) -> pl.DataFrame:
    return CLINIC.sample(rows, seed=seed)


def counted(yes: int, no: int) -> pl.DataFrame:
    """One variable, a, so often yes and so often no."""
    return pl.DataFrame({"a": ["yes"] * yes + ["no"] * no})


COIN = Network({"a": NO_YES}, name="coin")


def largest_change(one: Network, other: Network, name: str) -> np.ndarray:
    """(rows,) the largest change of a number in each row of a table."""
    states = len(one.states(name))
    found: np.ndarray = np.abs(one.cpt_array(name) - other.cpt_array(name)).reshape(-1, states).max(axis=1)
    return found

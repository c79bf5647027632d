"""The rows of a domain: features of two states for all learners, and the numbers behind them for some."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

from experiments.running import SHARED, require
from experiments.yang.domains import Domain, Feature

SEED = 20131  # of the rows that are taken where the file has more than the paper used


@dataclass(frozen=True, slots=True)
class Rows:
    """A table to learn from."""

    features: pd.DataFrame  # 0 and 1
    raw: pd.DataFrame  # numbers where the column has them
    target: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.target)

    def take(self, places: NDArray[Any]) -> Rows:
        """Some of the rows."""
        return Rows(self.features.iloc[places], self.raw.iloc[places], self.target[places])


def read_rows(domain: Domain, tables: Path = SHARED / "tables") -> Rows:
    """As many rows as in the paper: complete ones, and of more than that a sample."""
    table = pl.read_csv(require(tables / f"{domain.table}.csv", "Tables are"), infer_schema=False)
    return rows_of(table, domain)


def rows_of(table: pl.DataFrame, domain: Domain) -> Rows:
    """The same from a table of texts."""
    used = [each.column for each in domain.features]
    gaps = ["?", "", *(["0", "0.0"] if domain.zero_is_missing else [])]
    table = table.filter(~pl.any_horizontal(pl.col(used).is_in(gaps)), ~pl.col(domain.column).is_in(domain.without))
    if len(table) > domain.rows:
        table = table[np.sort(np.random.default_rng(SEED).permutation(len(table))[: domain.rows])]
    high, raw = {}, {}
    for feature in domain.features:
        high[feature.name], raw[feature.name] = _two_states(table[feature.column], feature)
    target = table[domain.column].is_in(domain.positive).to_numpy().astype(np.int64)
    return Rows(pd.DataFrame(high), pd.DataFrame(raw), target)


def _two_states(column: pl.Series, feature: Feature) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Whether each value is high, and its number; of a word the number is whether it is high."""
    if feature.among:
        words = {*feature.among, *(f"{word}.0" for word in feature.among)}
        high = column.is_in(words).to_numpy()
        return high.astype(np.int64), high.astype(np.float64)
    numbers = column.str.extract(r"^(-?[\d.]+)").cast(pl.Float64).to_numpy()  # of 40-49 the lower end
    cut = np.median(numbers) if feature.at_least is None else feature.at_least
    return (numbers >= cut).astype(np.int64), numbers

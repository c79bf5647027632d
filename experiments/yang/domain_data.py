"""The data of a domain: binary features for all learners, and the original values for some."""

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

SEED = 20131  # of the sample that is taken if the file has more rows than the paper used


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a data set."""

    features: pd.DataFrame  # 0 and 1
    raw: pd.DataFrame  # the original values, of numeric columns
    target: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.target)

    def take(self, places: NDArray[Any]) -> Rows:
        """Some of the rows."""
        return Rows(self.features.iloc[places], self.raw.iloc[places], self.target[places])


def read_rows(domain: Domain, tables: Path = SHARED / "tables") -> Rows:
    """As many complete rows as in the paper; a sample, if there are more."""
    table = pl.read_csv(require(tables / f"{domain.table}.csv", "Tables are"), infer_schema=False)
    return rows_of(table, domain)


def rows_of(table: pl.DataFrame, domain: Domain) -> Rows:
    """The same from a table of strings."""
    used = [feature.column for feature in domain.features]
    missing = ["?", "", *(["0", "0.0"] if domain.zero_is_missing else [])]
    table = table.filter(~pl.any_horizontal(pl.col(used).is_in(missing)), ~pl.col(domain.column).is_in(domain.without))
    if len(table) > domain.rows:
        table = table[np.sort(np.random.default_rng(SEED).permutation(len(table))[: domain.rows])]
    high, raw = {}, {}
    for feature in domain.features:
        high[feature.name], raw[feature.name] = _binary(table[feature.column], feature)
    target = table[domain.column].is_in(domain.positive).to_numpy().astype(np.int64)
    return Rows(pd.DataFrame(high), pd.DataFrame(raw), target)


def _binary(column: pl.Series, feature: Feature) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Whether each value is high, and the value as a number; for categories, 1 if it is high and 0 otherwise."""
    if feature.among:
        words = {*feature.among, *(f"{word}.0" for word in feature.among)}
        high = column.is_in(words).to_numpy()
        return high.astype(np.int64), high.astype(np.float64)
    numbers = column.str.extract(r"^(-?[\d.]+)").cast(pl.Float64).to_numpy()  # the lower end of 40-49
    cut = np.median(numbers) if feature.at_least is None else feature.at_least
    return (numbers >= cut).astype(np.int64), numbers

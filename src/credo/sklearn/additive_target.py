"""The additive model of a target: how the columns of a frame become its features."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credo.io.column_values import checked_numbers
from credo.io.columns import MISSING
from credo.sklearn.additive import AdditiveModel, learn_additive
from credo.sklearn.columns import Column
from credo.sklearn.feature_columns import curve_of
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class NumberedFeatures:
    """How the features become numbers: as measured, or the places of their states in an order."""

    columns: Mapping[str, Column]
    orders: Mapping[str, tuple[str, ...]]  # of the states of features whose direction is stated
    measured: Set[str]  # features that are numbers and are not cut into states

    def of(self, frame: pl.DataFrame, *, strict: bool) -> list[Numbers]:
        """The numbers of each feature, NaN where a value is missing."""
        return [self._of(frame, name, strict) for name in frame.columns]

    def _of(self, frame: pl.DataFrame, name: str, strict: bool) -> Numbers:
        if name in self.measured:
            return checked_numbers(frame[name])
        column = self.columns[name]
        codes, states = column.codes(frame[name], strict=strict), column.variable.states
        ordered = self.orders.get(name, states)
        places = np.array([ordered.index(state) for state in states], dtype=np.float64)
        return np.where(codes == MISSING, np.nan, places[codes])

    def texts(self, name: str, values: Numbers) -> list[str]:
        """How values are written: numbers as they are, states by their names."""
        if name in self.measured:
            return [f"{value:g}" for value in values]
        ordered = self.orders.get(name, self.columns[name].variable.states)
        return [ordered[int(value)] for value in values]

    def are_ordered(self, name: str) -> bool:
        """Whether the curve of a feature follows its numbers, instead of having a value of its own for each."""
        return name in self.orders or name in self.measured or self.columns[name].thresholds is not None


@dataclass(frozen=True, slots=True)
class TrainingRows:
    """What the model was learned from."""

    values: tuple[Numbers, ...]  # of each feature
    labels: Indices  # (rows,)
    weights: Numbers  # (rows,)
    classes: int
    seed: int
    reliability: float  # of directions


@dataclass(frozen=True, slots=True)
class AdditiveTarget:
    """What was learned: how features become numbers, and the model of their effects."""

    features: NumberedFeatures
    names: tuple[str, ...]
    signs: Mapping[str, int]  # 1 for features that are said to make the second class more probable, −1 for the reverse
    learned_from: TrainingRows
    model: AdditiveModel

    def means(self, frame: pl.DataFrame) -> Numbers:
        """The probability of each class, (rows, classes)."""
        return self.model.means(self.features.of(frame, strict=False))

    def draws(self, frame: pl.DataFrame) -> Numbers:
        """The probability of each class under each draw, (draws, rows, classes)."""
        return self.model.draws(self.features.of(frame, strict=False))

    def without(self, name: str) -> AdditiveTarget:
        """What is learned without the statement about a feature."""
        signs = {other: sign for other, sign in self.signs.items() if other != name}
        return _learned(self.features, self.names, signs, self.learned_from)


def learn_additive_target(
    features: NumberedFeatures,
    signs: Mapping[str, int],
    frame: pl.DataFrame,
    labels: Indices,
    weights: Numbers,
    *,
    classes: int,
    seed: int,
    reliability: float,
) -> AdditiveTarget:
    """Learn the effects of all features on the target.

    `signs` are 1 for features that make the second class more probable as they rise, −1 for those that make it less so.
    """
    values = tuple(features.of(frame, strict=True))
    rows = TrainingRows(values, labels, weights, classes, seed, reliability)
    return _learned(features, tuple(frame.columns), signs, rows)


def _learned(
    features: NumberedFeatures, names: tuple[str, ...], signs: Mapping[str, int], rows: TrainingRows
) -> AdditiveTarget:
    curves = [
        curve_of(of_feature, rows.weights, signs.get(name, 0), ordered=features.are_ordered(name))
        for name, of_feature in zip(names, rows.values, strict=True)
    ]
    model = learn_additive(rows.values, curves, rows.labels, rows.weights, rows.seed, rows.reliability, rows.classes)
    return AdditiveTarget(features, names, dict(signs), rows, model)

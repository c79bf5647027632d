"""The additive model of a target: features as numbers, and one model for two classes or one for each of several."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credo.io.column_values import checked_numbers
from credo.io.columns import MISSING
from credo.sklearn.additive import AdditiveModel, curve_of, learn_additive
from credo.sklearn.columns import Column
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

    def are_ordered(self, name: str) -> bool:
        """Whether the curve of a feature follows its numbers, instead of having a value of its own for each."""
        return name in self.orders or name in self.measured or self.columns[name].thresholds is not None


@dataclass(frozen=True, slots=True)
class AdditiveTarget:
    """What was learned: a model of the second of two classes, or one of each class against all others."""

    features: NumberedFeatures
    models: tuple[AdditiveModel, ...]

    def draws(self, frame: pl.DataFrame) -> Numbers:
        """The probability of each class under each draw, (draws, rows, classes)."""
        values = self.features.of(frame, strict=False)
        chances = np.stack([model.probabilities(values) for model in self.models], axis=-1)
        if len(self.models) == 1:
            return np.concatenate([1.0 - chances, chances], axis=-1)
        return np.asarray(chances / chances.sum(axis=-1, keepdims=True))


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
    """Learn one model for two classes; for more, one for each class.

    `signs` are 1 for features that make the second class more probable as they rise, −1 for those that make it less so.
    """
    values = features.of(frame, strict=True)
    curves = [
        curve_of(of_feature, weights, signs.get(name, 0), ordered=features.are_ordered(name))
        for name, of_feature in zip(frame.columns, values, strict=True)
    ]
    models = tuple(
        learn_additive(values, curves, (labels == label).astype(np.int64), weights, seed, reliability)
        for label in (range(classes) if classes > 2 else (1,))
    )
    return AdditiveTarget(features, models)

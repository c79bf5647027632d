"""What the additive model learned, for people: curves of features with bands, and what became of each statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credo.sklearn.additive_target import AdditiveTarget
from credo.types import Numbers

if TYPE_CHECKING:
    import polars as pl

POINTS = 15  # of the curve of a number, at quantiles of the training rows


@dataclass(frozen=True, slots=True)
class DirectionResult:
    """What became of a statement such as `age raises attack`.

    Attributes
    ----------
    statement, feature : str
        The statement, and the feature that it is about.
    probability, before : float
        How probable it is that the statement is right, given the rows and before any row.
    change, low, high : float
        By how much the probability of the target's highest state changes from the lowest to the highest value of the
        feature, with the ends of its interval.
    difference : float
        By how much predictions for training rows differ with and without the statement, on average.
    """

    statement: str
    feature: str
    probability: float
    before: float
    change: float
    low: float
    high: float
    difference: float

    def __str__(self) -> str:
        """A sentence or two.

        Returns
        -------
        str
            The text.
        """
        return (
            f"{self.statement}: right with {self.probability:.0%} probability ({self.before:.0%} before any row). From "
            f"the lowest to the highest value of {self.feature}, the probability changes by {100 * self.change:+.0f} "
            f"points [{100 * self.low:+.0f}, {100 * self.high:+.0f}]. Without the statement, predictions for the "
            f"training rows would differ by {100 * self.difference:.1f} points on average."
        )


def effect_curves(target: AdditiveTarget, classes: Sequence[str], level: float) -> pl.DataFrame:
    """A row for each class, feature and value: the probability of the class if all training rows had this value."""
    import polars as pl

    columns: dict[str, list[object]] = {name: [] for name in ("class", "feature", "value", "number")}
    found: list[Numbers] = []
    for place, name in enumerate(target.names):
        if not len(values := _values(target, place)):
            continue  # no training row has a value
        texts = target.features.texts(name, values)
        draws = target.model.partial(place, values)  # (draws, values, classes)
        for number, label in enumerate(classes):
            if len(classes) == 2 and number == 0:
                continue
            columns["class"] += [label] * len(values)
            columns["feature"] += [name] * len(values)
            columns["value"] += texts
            columns["number"] += values.tolist()
            ends = np.quantile(draws[..., number], [(1 - level) / 2, (1 + level) / 2], axis=0)
            found.append(np.stack([draws[..., number].mean(axis=0), *ends]))
    schema = {"class": pl.String, "feature": pl.String, "value": pl.String, "number": pl.Float64}
    probability, low, high = np.concatenate([np.empty((3, 0)), *found], axis=1)
    return pl.DataFrame(columns, schema=schema).with_columns(probability=probability, low=low, high=high)


def direction_results(target: AdditiveTarget, label: str, highest: int, level: float) -> tuple[DirectionResult, ...]:
    """What became of each statement; the model is learned again without it. `highest` is the class that they raise."""
    used = np.flatnonzero(target.model.design.used)
    predicted = target.model.means(target.learned_from.values)[:, highest]
    found = []
    for name, sign in target.signs.items():
        place = target.names.index(name)
        before = target.learned_from.reliability
        right = np.flatnonzero(used == place)
        probability = float(target.model.effects.directions[:, right[0]].mean()) if len(right) else before
        values = _values(target, place)
        change = np.zeros(1)
        if len(values) > 1:
            ends = target.model.partial(place, values[[0, -1]])[..., highest]
            change = ends[:, 1] - ends[:, 0]
        without = target.without(name).model.means(target.learned_from.values)[:, highest]
        low, high = np.quantile(change, [(1 - level) / 2, (1 + level) / 2])
        verb = "raises" if sign == (1 if highest == 1 else -1) else "lowers"
        found.append(
            DirectionResult(
                f"{name} {verb} {label}", name, probability, before, float(change.mean()), float(low), float(high),
                float(np.abs(without - predicted).mean()),
            )
        )  # fmt: skip
    return tuple(found)


def _values(target: AdditiveTarget, place: int) -> Numbers:
    """The values of a feature at which its curve is shown: all of few, and quantiles of many."""
    values = target.model.similar.table[:, place]
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) <= POINTS:
        return distinct
    known = np.sort(values[~np.isnan(values)])
    return np.unique(known[np.linspace(0, len(known) - 1, POINTS).round().astype(np.int64)])

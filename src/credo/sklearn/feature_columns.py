"""How features become columns of numbers, which the effects of `additive.py` multiply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from credo.types import Indices, Numbers

ROWS_OF_STEP, FEWEST_STEPS, MOST_STEPS = 12, 4, 15  # quantiles at which a curve may rise: more with more rows
LANDMARKS, EIGENFUNCTIONS = 300, 30
EIGENVALUE = 1e-6  # the smallest, as a share of the largest
EIGENFUNCTION_SCALE = 0.6  # of the standard deviation of g, in units of the widths of features
SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class Curve:
    """The effect of one feature: its values become columns of the design."""

    sign: int  # 1 and −1 for a stated direction, otherwise 0
    line: tuple[float, float] | None  # centre and scale
    ends: tuple[float, float] = (-np.inf, np.inf)  # the range of the training rows: no line is extended beyond it
    points: tuple[float, ...] = ()
    states: tuple[float, ...] = ()  # of a category without an order

    @property
    def groups(self) -> list[int]:
        """Which scale the prior of each column has: 0 for lines and categories, 1 for steps."""
        return [0] * (len(self.states) + (self.line is not None)) + [1] * len(self.points)

    def columns(self, values: Numbers) -> Numbers:
        """The design of a feature, (rows, columns), before it is centred; NaN where the value is missing."""
        found = [np.where(np.isnan(values), np.nan, values == state) for state in self.states]
        if self.line is not None:
            found.append((np.clip(values, *self.ends) - self.line[0]) / self.line[1])
        height = len(self.points) ** (1.0 if self.sign else 0.5)
        found += [np.where(np.isnan(values), np.nan, values >= c) / height for c in self.points]
        return np.stack(found, axis=1) * (self.sign or 1) if found else np.empty((len(values), 0))


@dataclass(frozen=True, slots=True)
class Interactions:
    """What features do together, as columns of the design."""

    places: Indices  # the columns of lines and categories, in which distances are measured
    landmarks: Numbers  # (landmarks, places)
    squared_length: float  # ℓ²
    weights: Numbers  # (landmarks, eigenfunctions)
    means: Numbers  # (eigenfunctions,)

    def columns(self, design: Numbers) -> Numbers:
        """The eigenfunctions at rows of the design, (rows, eigenfunctions)."""
        squares = cdist(design[:, self.places], self.landmarks, "sqeuclidean")
        near = np.exp(-squares / (2.0 * self.squared_length))
        return np.asarray(EIGENFUNCTION_SCALE * (near @ self.weights - self.means))


def curve_of(values: Numbers, weights: Numbers, sign: int, *, ordered: bool) -> Curve:
    """The curve of a feature, from its values in the training rows; NaN stands for missing."""
    known = ~np.isnan(values)
    distinct, which = np.unique(values[known], return_inverse=True)
    if len(distinct) < 2:
        return Curve(sign, None)
    if not ordered and len(distinct) > 2:
        return Curve(0, None, states=tuple(distinct.tolist()))
    counts = np.bincount(which, weights[known], minlength=len(distinct))
    share = np.asarray(counts / counts.sum(), dtype=np.float64)
    centre = float(share @ distinct)
    ends = (float(distinct[0]), float(distinct[-1]))
    if len(distinct) == 2:
        return Curve(sign, (centre, ends[1] - ends[0]), ends)
    scale = 2.0 * float(share @ (distinct - centre) ** 2) ** 0.5
    return Curve(sign, (centre, scale), ends, _cut_points(distinct, np.cumsum(share), float(weights.sum())))


def _cut_points(distinct: Numbers, shares: Numbers, total: float) -> tuple[float, ...]:
    """Points between distinct values, with about as many rows between them."""
    steps = int(np.clip(total / ROWS_OF_STEP, FEWEST_STEPS, MOST_STEPS))
    middles = (distinct[1:] + distinct[:-1]) / 2
    if len(middles) <= steps:
        return tuple(middles.tolist())
    wanted = np.arange(1, steps + 1) / (steps + 1)
    places = np.abs(shares[:-1, None] - wanted).argmin(axis=0)
    return tuple(middles[np.unique(places)].tolist())


@dataclass(frozen=True, slots=True)
class Design:
    """How a table of features becomes columns of numbers."""

    curves: tuple[Curve, ...]
    means: Numbers  # (columns of curves,)
    interactions: Interactions | None

    @property
    def used(self) -> NDArray[np.bool_]:
        """The features that have columns; others have no effect, missing or not."""
        return np.array([bool(curve.groups) for curve in self.curves], dtype=np.bool_)

    def of_curves(self, table: Numbers) -> Numbers:
        """The columns of curves, centred, with missing values at the mean."""
        return np.nan_to_num(_columns(self.curves, table) - self.means, nan=0.0)

    def of(self, table: Numbers) -> Numbers:
        """All columns, (rows, columns)."""
        found = self.of_curves(table)
        if self.interactions is not None:
            found = np.hstack([found, self.interactions.columns(found)])
        return found if found.shape[1] else np.zeros((len(table), 1))

    def key(self, table: Numbers) -> Numbers:
        """What makes two rows one configuration."""
        return np.ascontiguousarray(table[:, self.used] + 0.0)


def design_of(curves: Sequence[Curve], table: Numbers, weights: Numbers, *, together: bool) -> Design:
    """The columns of features, (rows, features), and of what they do together, if they may."""
    raw = _columns(curves, table)
    totals = np.where(np.isnan(raw), 0.0, weights[:, None]).sum(axis=0)
    means = np.nansum(raw * weights[:, None], axis=0) / np.maximum(totals, SMALLEST)
    design = Design(tuple(curves), means, None)
    if not together or design.used.sum() < 2:
        return design
    lines = np.array([group for curve in curves for group in curve.groups]) == 0
    return replace(design, interactions=_interactions(design.of_curves(table), np.flatnonzero(lines), weights))


def _interactions(design: Numbers, places: Indices, weights: Numbers) -> Interactions:
    """The leading eigenfunctions over rows of the design."""
    distinct = np.unique(design[:, places], axis=0)
    count = min(len(distinct), LANDMARKS)
    landmarks = distinct[np.linspace(0, len(distinct) - 1, count).round().astype(np.int64)]
    squares = cdist(landmarks, landmarks, "sqeuclidean")
    length = float(np.median(squares[np.triu_indices(count, 1)])) if count > 1 else 1.0
    values, vectors = np.linalg.eigh(np.exp(-squares / (2.0 * length)))
    leading = np.flatnonzero(values > EIGENVALUE * values[-1])[::-1][:EIGENFUNCTIONS]
    found = Interactions(
        places, landmarks, length, vectors[:, leading] / values[leading] ** 0.5, np.zeros(len(leading))
    )
    return replace(found, means=np.average(found.columns(design), axis=0, weights=weights) / EIGENFUNCTION_SCALE)


def _columns(curves: Sequence[Curve], table: Numbers) -> Numbers:
    """The columns of all curves; NaN where the value is missing."""
    found = [curve.columns(values) for curve, values in zip(curves, table.T, strict=True)]
    return np.hstack([np.empty((len(table), 0)), *found])

"""A target with two classes on which features act additively, learned with the directions that statements give them.

    P(y = 1 | x) = Φ(β₀ + Σ_j f_j(x_j) + g(x))
    f_j(x) = β_j · (x − x̄_j) / (2·s_j) + Σ_k δ_jk · [x ≥ c_jk] / h_j

Φ is the standard normal distribution function. A number x has a line and small steps at K_j of its quantiles, so that
no cut point decides alone and neighbouring ranges are alike; a category without an order has an effect for each state.
Effects have normal priors, and those of a feature with a stated direction have it with probability r each,

    β_j ~ N(0, σ₁²)        δ_jk ~ N(0, σ₂²)        σ² ~ inverse gamma with ν degrees of freedom and the scale s
    `x raises y`:  p(β) = 2·N(β | 0, σ²)·(r if β > 0, else 1 − r)

so that rows can overrule a wrong statement; r = 1 makes it hold in every draw. The height h_j of steps is √K_j without
a direction, and K_j with one, where steps add up instead of cancelling out. All is drawn by Gibbs sampling: a latent
normal variate for each row [Albert and Chib, 1993], then one effect after the other, then σ₁ and σ₂. All chains are one
array. Rows that agree count as one row with a weight.

g is for what features do together: a smooth function with a small Gaussian process as its prior, whose covariance is
σ₃²·exp(−d²/2ℓ²) in the distance d of two rows, ℓ² being the median of d². It is approximated by the leading
eigenfunctions over at most `LANDMARKS` rows [Williams and Seeger, 2001], whose weights are drawn like other effects. It
keeps to no direction, and is left out where directions have to hold in every draw (r = 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import ndtr, ndtri

from credo.small_products import product
from credo.types import Indices, Numbers

ROWS_OF_STEP, FEWEST_STEPS, MOST_STEPS = 12, 4, 15  # quantiles at which a curve may rise: more with more rows
SCALES, FREEDOM = np.array([0.8, 0.8, 0.3]), 4.0  # s of σ₁, σ₂, σ₃, and ν
LANDMARKS, EIGENFUNCTIONS = 300, 30
INTERCEPT_DEVIATION = 2.0
CHAINS, WARM_UP, SWEEPS, THIN = 24, 100, 100, 4
MOST_LATENT = 2**16  # latent variates of all chains together; with more rows there are fewer chains
FEWEST_CHAINS = 4
EXACT_WEIGHT = 16  # up to here a weight is so many latent variates; their sum is nearly normal beyond
SMALLEST = 1e-300
MOST_ROWS = 2_000  # that are kept to sum over missing values
MOST_VALUES = 50  # of missing features, over which a row is summed
ROWS_AT_ONCE = 4_096  # of the design, under all draws
EIGENVALUE = 1e-6  # the smallest, as a share of the largest


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
        return np.asarray(np.exp(-squares / (2.0 * self.squared_length)) @ self.weights - self.means)


@dataclass(frozen=True, slots=True)
class AdditiveModel:
    """Curves, the mean of each column of the design, rows to sum over missing values with, draws of all effects.

    Where values of a row are missing, P(y = 1 | x) is the mean over what they are in the training rows:

        Σ_v share(v) · P(y = 1 | x, v)        with the share of the training rows in which the missing features are v
    """

    curves: tuple[Curve, ...]
    means: Numbers  # (columns,)
    interactions: Interactions | None
    draws: Numbers  # (draws, 1 + columns + eigenfunctions)
    rows: Numbers  # (rows, features) of training rows, or of some of them,
    weights: Numbers  # (rows,) and how often each counts

    def probabilities(self, features: Sequence[Numbers]) -> Numbers:
        """P(y = 1 | x) under each draw, (draws, rows)."""
        table = np.column_stack(features)
        missing = np.isnan(table)
        found = np.empty((len(self.draws), len(table)))
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            own = np.flatnonzero(which.ravel() == number)
            values, shares = self._values_of(pattern)
            for first in range(0, len(own), step := max(1, ROWS_AT_ONCE // len(values))):
                some = own[first : first + step]
                completed = np.repeat(table[some], len(values), axis=0)
                completed[:, pattern] = np.tile(values, (len(some), 1))
                each = self._of_complete(completed).reshape(len(self.draws), len(some), len(values))
                found[:, some] = each @ shares
        return found

    def _values_of(self, missing: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
        """What features that are missing in a row are in the training rows, (values, features), and their shares."""
        known = ~np.isnan(self.rows[:, missing]).any(axis=1)
        if not missing.any() or not known.any():  # a value that no training row has stays missing, at the mean
            return np.full((1, int(missing.sum())), np.nan), np.ones(1)
        values, which = np.unique(self.rows[known][:, missing], axis=0, return_inverse=True)
        shares: Numbers = np.bincount(which.ravel(), self.weights[known], minlength=len(values)).astype(np.float64)
        if len(values) > MOST_VALUES:  # about as many rows for each of those that are kept, in their order
            middles = np.cumsum(shares) - shares / 2
            wanted = (np.arange(MOST_VALUES) + 0.5) / MOST_VALUES * shares.sum()
            values, shares = values[np.abs(middles[:, None] - wanted).argmin(axis=0)], np.ones(MOST_VALUES)
        return values, shares / shares.sum()

    def _of_complete(self, table: Numbers) -> Numbers:
        design = _design(self.curves, self.means, list(table.T))
        if self.interactions is not None:
            design = np.hstack([design, self.interactions.columns(design)])
        return np.asarray(ndtr(product(self.draws, np.ascontiguousarray(design.T))))


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


def learn_additive(
    features: Sequence[Numbers],
    curves: Sequence[Curve],
    labels: Indices,
    weights: Numbers,
    seed: int,
    reliability: float = 1.0,
) -> AdditiveModel:
    """Draw from the posterior. `labels` are 0 and 1; a stated direction is right with probability `reliability`."""
    rng = np.random.default_rng([seed, 4])
    table = np.column_stack(features)
    kept = np.sort(rng.choice(len(table), MOST_ROWS, replace=False)) if len(table) > MOST_ROWS else slice(None)
    seen, counts = table[kept], weights[kept]
    raw = np.hstack([np.empty((len(labels), 0)), *(c.columns(v) for c, v in zip(curves, features, strict=True))])
    totals = np.where(np.isnan(raw), 0.0, weights[:, None]).sum(axis=0)
    means = np.nansum(raw * weights[:, None], axis=0) / np.maximum(totals, SMALLEST)
    design, labels, weights = _distinct(_design(curves, means, features), labels, weights)
    signed = np.array([False, *(curve.sign != 0 for curve in curves for _ in curve.groups)])
    groups = np.array([group for curve in curves for group in curve.groups], dtype=np.int64)
    interactions = None
    if sum(bool(curve.groups) for curve in curves) > 1 and (reliability < 1.0 or not signed.any()):
        interactions = _interactions(design, 1 + np.flatnonzero(groups == 0), weights)
        design = np.hstack([design, interactions.columns(design)])
        more = design.shape[1] - len(signed)
        signed, groups = np.append(signed, [False] * more), np.append(groups, [2] * more)
    draws = _gibbs(design, labels, weights, signed, groups, reliability, np.random.default_rng([seed, 3]))
    return AdditiveModel(tuple(curves), means, interactions, draws, seen, counts)


def _interactions(design: Numbers, places: Indices, weights: Numbers) -> Interactions:
    """The leading eigenfunctions over rows of the design, which are distinct and sorted."""
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
    return replace(found, means=np.average(found.columns(design), axis=0, weights=weights))


def _cut_points(distinct: Numbers, shares: Numbers, total: float) -> tuple[float, ...]:
    """Points between distinct values, with about as many rows between them."""
    steps = int(np.clip(total / ROWS_OF_STEP, FEWEST_STEPS, MOST_STEPS))
    middles = (distinct[1:] + distinct[:-1]) / 2
    if len(middles) <= steps:
        return tuple(middles.tolist())
    wanted = np.arange(1, steps + 1) / (steps + 1)
    places = np.abs(shares[:-1, None] - wanted).argmin(axis=0)
    return tuple(middles[np.unique(places)].tolist())


def _design(curves: Sequence[Curve], means: Numbers, features: Sequence[Numbers]) -> Numbers:
    """A column of ones, then the columns of all curves; centred, with missing values at the mean."""
    rows = len(features[0])
    columns = np.hstack([curve.columns(values) for curve, values in zip(curves, features, strict=True)])
    return np.hstack([np.ones((rows, 1)), np.nan_to_num(columns - means, nan=0.0)])


def _distinct(design: Numbers, labels: Indices, weights: Numbers) -> tuple[Numbers, Indices, Numbers]:
    """Rows that agree as one row, in an order that does not depend on that of the rows."""
    both, which = np.unique(np.column_stack([design.round(12), labels]), axis=0, return_inverse=True)
    counts = np.bincount(which.ravel(), weights).astype(np.float64)
    return both[:, :-1], both[:, -1].astype(np.int64), counts


def _gibbs(
    design: Numbers,
    labels: Indices,
    weights: Numbers,
    signed: Numbers,
    groups: Indices,
    reliability: float,
    rng: np.random.Generator,
) -> Numbers:
    """Draws of all effects, (draws, columns); see the beginning of this file."""
    rows, columns = design.shape
    chains = max(FEWEST_CHAINS, min(CHAINS, MOST_LATENT // rows))
    gram = product((design * weights[:, None]).T, design)
    positive_share = (weights @ labels + 0.5) / (weights.sum() + 1.0)
    effects = np.where(signed, 0.01, 0.0) * np.ones((chains, 1))
    effects[:, 0] = ndtri(positive_share)
    variances = np.tile(SCALES**2, (chains, 1))
    sizes = np.bincount(groups, minlength=len(SCALES))
    direction = 2.0 * labels - 1.0
    transposed = np.ascontiguousarray(design.T)
    kept = []
    for sweep in range(WARM_UP + SWEEPS):
        latent = direction * _latent_sums(direction * product(effects, transposed), weights, rng)
        moments = product(latent, design)
        precisions = np.column_stack([np.full(chains, INTERCEPT_DEVIATION**-2), 1.0 / variances[:, groups]])
        precisions += np.diag(gram)
        deviations = precisions**-0.5
        noise = rng.standard_normal((columns, chains))
        for k in rng.permutation(columns).tolist():
            rest = effects @ gram[k] - gram[k, k] * effects[:, k]
            means, deviation = (moments[:, k] - rest) / precisions[:, k], deviations[:, k]
            effects[:, k] = _directed(means, deviation, reliability, rng) if signed[k] else means + deviation * noise[k]
        for group, scale in enumerate(SCALES.tolist()):
            squares = (effects[:, 1:][:, groups == group] ** 2).sum(axis=1)
            shapes = rng.standard_gamma((FREEDOM + sizes[group]) / 2, chains)
            variances[:, group] = (FREEDOM * scale**2 + squares) / 2 / shapes
        if sweep >= WARM_UP and sweep % THIN == 0:
            kept.append(effects.copy())
    return np.concatenate(kept)


def _directed(means: Numbers, deviations: Numbers, reliability: float, rng: np.random.Generator) -> Numbers:
    """Normal variates whose density is multiplied by `reliability` above zero, and by the rest below."""
    above, below = reliability * ndtr(means / deviations), (1.0 - reliability) * ndtr(-means / deviations)
    side = np.where(rng.random(means.shape) * (above + below) < above, 1.0, -1.0) if reliability < 1.0 else 1.0
    return np.asarray(side * _positive(side * means, deviations, rng))


def _positive(means: Numbers, deviations: Numbers | float, rng: np.random.Generator) -> Numbers:
    """Normal variates that are above zero."""
    below = rng.random(means.shape) * ndtr(means / deviations)
    return np.asarray(np.maximum(means - deviations * ndtri(np.maximum(below, SMALLEST)), 0.0))


def _latent_sums(means: Numbers, weights: Numbers, rng: np.random.Generator) -> Numbers:
    """For each chain and row, the sum of so many variates N(mean, 1) above zero as the row has weight."""
    if (weights == 1.0).all():
        return _positive(means, 1.0, rng)
    few = (weights <= EXACT_WEIGHT) & (weights == np.floor(weights))
    sums = np.empty_like(means)
    if few.any():
        numbers = weights[few].astype(np.int64)
        each = _positive(np.repeat(means[:, few], numbers, axis=1), 1.0, rng)
        sums[:, few] = np.add.reduceat(each, np.cumsum(numbers) - numbers, axis=1)
    if not few.all():
        centre, heavy = means[:, ~few], weights[~few]
        ratio = np.exp(-(centre**2) / 2) / np.sqrt(2 * np.pi) / np.maximum(ndtr(centre), SMALLEST)
        variance = np.maximum(1.0 - ratio * (ratio + centre), SMALLEST)
        noise = rng.standard_normal(centre.shape)
        sums[:, ~few] = np.maximum(heavy * (centre + ratio) + np.sqrt(heavy * variance) * noise, 0.0)
    return sums

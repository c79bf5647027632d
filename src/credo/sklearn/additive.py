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
array. Rows that agree count as one row with a weight. What is missing in a row is drawn too, given the class and the
effects: v with a probability ∝ share(v)·P(y | x, v), where the same features are v in that share of the other rows.

g is for what features do together: a smooth function with a small Gaussian process as its prior, whose covariance is
σ₃²·exp(−d²/2ℓ²) in the distance d of two rows, ℓ² being the median of d². It is approximated by the leading
eigenfunctions over at most `LANDMARKS` rows [Williams and Seeger, 2001], whose weights are drawn like other effects. It
keeps to no direction, and is left out where directions have to hold in every draw (r = 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import log_ndtr, ndtr, ndtri

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
WAYS = 4  # to complete a training row, among which and the last one it is drawn …
DRAWN_EVERY = 5  # … after so many sweeps, because the products of all columns follow
MOST_PRODUCTS = 300_000_000  # multiplications of these products, of all chains; with more there are fewer chains
FEWEST_DONORS = 30  # rows in which several features are known, to be drawn together; with fewer each is drawn alone
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
            values, shares = _values_of(self.rows, self.weights, pattern)
            if len(values) > MOST_VALUES:  # about as many rows for each of those that are kept, in their order
                middles = np.cumsum(shares) - shares / 2
                wanted = (np.arange(MOST_VALUES) + 0.5) / MOST_VALUES
                values = values[np.abs(middles[:, None] - wanted).argmin(axis=0)]
                shares = np.full(MOST_VALUES, 1 / MOST_VALUES)
            for first in range(0, len(own), step := max(1, ROWS_AT_ONCE // len(values))):
                some = own[first : first + step]
                completed = np.repeat(table[some], len(values), axis=0)
                completed[:, pattern] = np.tile(values, (len(some), 1))
                each = self._of_complete(completed).reshape(len(self.draws), len(some), len(values))
                found[:, some] = each @ shares
        return found

    def _of_complete(self, table: Numbers) -> Numbers:
        design = _whole_design(self.curves, self.means, self.interactions, table)
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
    order = np.lexsort((labels, *np.nan_to_num(table.T, nan=-np.inf)[::-1]))  # so that the order of rows means nothing
    table, labels, weights = table[order], labels[order], weights[order]
    kept = np.sort(rng.choice(len(table), MOST_ROWS, replace=False)) if len(table) > MOST_ROWS else slice(None)
    seen, counts = table[kept], weights[kept]
    raw = _columns(curves, table)
    totals = np.where(np.isnan(raw), 0.0, weights[:, None]).sum(axis=0)
    means = np.nansum(raw * weights[:, None], axis=0) / np.maximum(totals, SMALLEST)
    used = np.array([bool(curve.groups) for curve in curves], dtype=bool)  # others have no effect, missing or not
    incomplete = np.flatnonzero(np.isnan(table[:, used]).any(axis=1))
    complete = np.delete(np.arange(len(table)), incomplete)
    design, own, own_weights = _distinct(_design(curves, means, table[complete]), labels[complete], weights[complete])
    signed = np.array([False, *(curve.sign != 0 for curve in curves for _ in curve.groups)])
    groups = np.array([group for curve in curves for group in curve.groups], dtype=np.int64)
    interactions = None
    if used.sum() > 1 and (reliability < 1.0 or not signed.any()):
        whole = (_design(curves, means, table), weights) if len(incomplete) else (design, own_weights)
        interactions = _interactions(whole[0], 1 + np.flatnonzero(groups == 0), whole[1])
        design = np.hstack([design, interactions.columns(design)])
        more = len(interactions.means)
        signed, groups = np.append(signed, [False] * more), np.append(groups, [2] * more)
    missing = None
    if len(incomplete):
        donors = _donors(table[incomplete], seen, counts, used)
        of_rows = partial(_whole_design, curves, means, interactions)
        missing = IncompleteRows(table[incomplete], donors, of_rows, labels[incomplete], weights[incomplete])
    rows = design, own, own_weights
    draws = _gibbs(*rows, signed, groups, reliability, np.random.default_rng([seed, 3]), missing)
    return AdditiveModel(tuple(curves), means, interactions, draws, seen, counts)


@dataclass(frozen=True, slots=True)
class IncompleteRows:
    """Training rows in which values are missing, and what the missing features are in others."""

    table: Numbers  # (rows, features)
    donors: tuple[tuple[Indices, Indices, Numbers, Numbers], ...]  # rows, their features, values, shares
    design: Callable[[Numbers], Numbers]  # of complete rows
    labels: Indices  # (rows,)
    weights: Numbers  # (rows,)

    def drawn(self, effects: Numbers, before: Numbers | None, rng: np.random.Generator) -> Numbers:
        """The rows completed, given their classes and the effects of each chain: designs, (chains, rows, columns).

        Drawn among values with their shares and the ones before, which keeps the posterior as it is, however few they
        are [Andrieu, Doucet and Holenstein, 2010].
        """
        completed = np.repeat(self.table[:, None], WAYS, axis=1)
        for rows, features, values, shares in self.donors:
            chosen = rng.choice(len(values), (len(rows), WAYS), p=shares)
            completed[np.ix_(rows, np.arange(WAYS), features)] = values[chosen]
        designs = self.design(completed.reshape(-1, completed.shape[-1]))
        predictors = product(effects, np.ascontiguousarray(designs.T)).reshape(len(effects), -1, WAYS)
        if before is not None:
            predictors = np.append(predictors, np.einsum("cij,cj->ci", before, effects)[..., None], axis=-1)
        logs = log_ndtr((2.0 * self.labels - 1.0)[:, None] * predictors) * self.weights[:, None]
        cumulative = np.cumsum(np.exp(logs - logs.max(axis=-1, keepdims=True)), axis=-1)
        wanted = rng.random(cumulative.shape[:2])[..., None] * cumulative[..., -1:]
        place = np.minimum((cumulative < wanted).sum(axis=-1), predictors.shape[-1] - 1)
        found = designs.reshape(len(self.table), WAYS, -1)[np.arange(len(self.table)), np.minimum(place, WAYS - 1)]
        return found if before is None else np.where((place == WAYS)[..., None], before, found)


def _values_of(rows: Numbers, weights: Numbers, missing: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """What features that are missing in a row are in the training rows, (values, features), and their shares."""
    known = ~np.isnan(rows[:, missing]).any(axis=1)
    if not missing.any() or not known.any():  # a value that no training row has stays missing, at the mean
        return np.full((1, int(missing.sum())), np.nan), np.ones(1)
    values, which = np.unique(rows[known][:, missing], axis=0, return_inverse=True)
    shares = np.bincount(which.ravel(), weights[known], minlength=len(values)).astype(np.float64)
    return values, shares / shares.sum()


def _donors(
    table: Numbers, rows: Numbers, weights: Numbers, used: NDArray[np.bool_]
) -> tuple[tuple[Indices, Indices, Numbers, Numbers], ...]:
    """For rows with the same missing features: these, together if enough rows know all of them, values and shares."""
    missing = np.isnan(table) & used
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    found = []
    for number, pattern in enumerate(patterns):
        own, features = np.flatnonzero(which.ravel() == number), np.flatnonzero(pattern)
        together = (~np.isnan(rows[:, pattern]).any(axis=1)).sum() >= FEWEST_DONORS
        for part in [features] if together else features[:, None]:
            found.append((own, part, *_values_of(rows, weights, np.isin(np.arange(len(used)), part))))
    return tuple(found)


def _whole_design(
    curves: Sequence[Curve], means: Numbers, interactions: Interactions | None, table: Numbers
) -> Numbers:
    design = _design(curves, means, table)
    return design if interactions is None else np.hstack([design, interactions.columns(design)])


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


def _columns(curves: Sequence[Curve], table: Numbers) -> Numbers:
    """The columns of all curves; NaN where the value is missing."""
    found = [curve.columns(values) for curve, values in zip(curves, table.T, strict=True)]
    return np.hstack([np.empty((len(table), 0)), *found])


def _design(curves: Sequence[Curve], means: Numbers, table: Numbers) -> Numbers:
    """A column of ones, then the columns of all curves; centred, with missing values at the mean."""
    return np.hstack([np.ones((len(table), 1)), np.nan_to_num(_columns(curves, table) - means, nan=0.0)])


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
    missing: IncompleteRows | None = None,
) -> Numbers:
    """Draws of all effects, (draws, columns); see the beginning of this file."""
    rows, columns = design.shape
    every, all_labels = weights, labels
    if missing is not None:
        every, all_labels = np.append(weights, missing.weights), np.append(labels, missing.labels)
    chains = max(FEWEST_CHAINS, min(CHAINS, MOST_LATENT // len(every)))
    if missing is not None:
        chains = max(FEWEST_CHAINS, min(chains, MOST_PRODUCTS // (len(missing.labels) * columns**2)))
    gram = product((design * weights[:, None]).T, design)
    positive_share = (every @ all_labels + 0.5) / (every.sum() + 1.0)
    effects = np.where(signed, 0.01, 0.0) * np.ones((chains, 1))
    effects[:, 0] = ndtri(positive_share)
    variances = np.tile(SCALES**2, (chains, 1))
    sizes = np.bincount(groups, minlength=len(SCALES))
    direction = 2.0 * all_labels - 1.0
    transposed = np.ascontiguousarray(design.T)
    kept, grams = [], gram[None]
    drawn: Numbers | None = None
    for sweep in range(WARM_UP + SWEEPS):
        predictors = product(effects, transposed)
        if missing is not None:
            if drawn is None or sweep % DRAWN_EVERY == 0:
                drawn = missing.drawn(effects, drawn, rng)
                scaled = drawn * missing.weights[:, None]
                grams = gram + np.stack([product(one.T, two) for one, two in zip(scaled, drawn, strict=True)])
            predictors = np.hstack([predictors, np.einsum("cij,cj->ci", drawn, effects)])
        latent = direction * _latent_sums(direction * predictors, every, rng)
        moments = product(np.ascontiguousarray(latent[:, :rows]), design)
        if drawn is not None:
            moments += np.einsum("ci,cij->cj", latent[:, rows:], drawn)
        diagonals = np.diagonal(grams, axis1=1, axis2=2)
        precisions = np.column_stack([np.full(chains, INTERCEPT_DEVIATION**-2), 1.0 / variances[:, groups]])
        precisions += diagonals
        deviations = precisions**-0.5
        noise = rng.standard_normal((columns, chains))
        for k in rng.permutation(columns).tolist():
            joint = effects @ gram[k] if missing is None else (effects * grams[:, k]).sum(axis=1)
            rest = joint - diagonals[:, k] * effects[:, k]
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

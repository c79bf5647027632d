"""A target on which features act additively, learned with the directions that statements give them.

It is the prior of a CPT, `core/additive_base.py`, for a CPT whose configurations are rows of a table:

    b(x)  =  softmax(c + Σ_p f_p(x_p) + g(x))
    f_p(x)  =  a_p0 · (x − x̄_p) / (2·s_p)  +  Σ_u a_pu · [x ≥ t_pu] / h_p

A number x has a line and small steps at its quantiles t, so that no cut point decides alone and neighbouring ranges are
alike; a category without an order has an effect for each state. Widths of effects, one for each feature around one that
all share, are drawn, and so is how closely distributions follow the base: P(y | x) ~ Dirichlet(s·b(x)) around it, or
free of it. Rows with the same features are one configuration. Under `x raises y` all effects of x have that sign, with
the probability that statements are right; rows can switch a wrong statement off. The height h_p of steps is the square
root of their number without a direction, and their number with one, where steps add up instead of cancelling out.

g is for what features do together: a smooth function whose prior is a Gaussian process with the covariance
exp(−d²/2ℓ²) in the distance d of two rows, ℓ² being the median of d², and a width that is drawn like those of features.
It is approximated by the leading eigenfunctions over at most `LANDMARKS` rows [Williams and Seeger, 2001]. It keeps to
no direction, and is left out where directions have to hold in every draw.

What is missing in a row is drawn too, given the class, the effects and how often rows like it have each value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, softmax

from credo.core.additive_columns import AdditiveColumns
from credo.posterior.chains import PriorConstants
from credo.sklearn.feature_columns import Curve, Design, design_of
from credo.sklearn.missing_features import SimilarRows
from credo.small_products import product
from credo.types import Indices, Numbers

PRIOR = PriorConstants()
STRENGTHS = (*PRIOR.following, *PRIOR.free)
CENTRES, SPREADS = (-0.1, 0.0, -0.7), (0.7, 0.5, 0.5)  # of log widths: all features together, slopes and rests of each
SHARE_CENTRES = (3.0, 1.0, -1.0, -3.0, -3.0, -3.0)  # of the logits of components
INTERCEPT = 2.0  # the deviation of the intercept, in units of these widths
CHAINS, FEWEST_CHAINS, WARM_UP, DRAWS, FEWEST_DRAWS = 4, 2, 120, 150, 60
MOST_WORK = 400_000  # products of one step of all chains; with more there are fewer chains, and fewer draws
MOST_ROWS = 2_000  # that are kept to sum over missing values
MOST_VALUES = 50  # of missing features, over which a row is summed
MOST_COPIES = 100  # of a row with missing values
WAYS = 4  # to complete a training row, among which and the last one it is drawn …
DRAWN_EVERY = 5  # … after so many updates
FEWEST_DONORS = 30  # rows in which several features are known, to be drawn together; with fewer each is drawn alone
ROWS_AT_ONCE = 512
ROWS_OF_CURVE = 200  # over which a curve is a mean
SMALLEST = 1e-300


@dataclass(frozen=True, slots=True)
class Effects:
    """Draws of what the base is made of, in log-odds, and of how closely distributions follow it."""

    intercepts: Numbers  # (draws, classes)
    slopes: Numbers  # (draws, columns): a
    rests: Numbers  # (draws, columns, classes): e; no columns where there are two classes
    shares: Numbers  # (draws, components): π
    directions: Indices  # (draws, features with columns): 1 where all effects have the stated sign

    def base(self, design: Numbers) -> Numbers:
        """b of rows of the design, (draws, rows, classes)."""
        count = self.intercepts.shape[1]
        scores = _scores(count)
        logits = product(self.slopes, np.ascontiguousarray(design.T))[..., None] * scores + self.intercepts[:, None]
        if self.rests.shape[1]:
            logits += np.stack([product(design, each) for each in self.rests])
        return np.asarray(np.maximum(softmax(logits, axis=-1), SMALLEST))

    def follows(self) -> Numbers:
        """How probable it is that a distribution follows the base, (draws,)."""
        return np.asarray(self.shares[:, : len(PRIOR.following)].sum(axis=1))


@dataclass(frozen=True, slots=True)
class AdditiveModel:
    """Curves, draws of their effects, and the training rows."""

    design: Design
    effects: Effects
    counts: Mapping[bytes, Numbers]  # how often each class occurs in a configuration
    similar: SimilarRows
    seed: int
    hedged: bool  # whether distributions are drawn around the base: not where directions have to hold in every draw

    def means(self, features: Sequence[Numbers]) -> Numbers:
        """The probability of each class, (rows, classes)."""
        found = self._summed(features, lambda table: self._distributions(table, None).mean(axis=0, keepdims=True))
        return np.asarray(found[0])

    def draws(self, features: Sequence[Numbers]) -> Numbers:
        """The same under each draw, (draws, rows, classes)."""
        rng = np.random.default_rng([self.seed, 5])
        return self._summed(features, lambda table: self._distributions(table, rng))

    def partial(self, feature: int, values: Numbers) -> Numbers:
        """The probability of each class if all rows had this value of a feature, (draws, values, classes)."""
        table, weights = self.similar.table, self.similar.weights
        some = np.linspace(0, len(table) - 1, min(len(table), ROWS_OF_CURVE)).round().astype(np.int64)
        table, weights = table[some], weights[some] / weights[some].sum()
        found = []
        for value in values:
            table[:, feature] = value
            found.append(np.einsum("srk,r->sk", self._of_base(self.effects.base(self.design.of(table))), weights))
        return np.stack(found, axis=1)

    def _of_base(self, base: Numbers) -> Numbers:
        follows = self.effects.follows()[:, None, None]
        return np.asarray(follows * base + (1.0 - follows) / base.shape[-1])

    def _summed(self, features: Sequence[Numbers], of_complete: Callable[[Numbers], Numbers]) -> Numbers:
        """Σ_v share(v | x) · P(y | x, v) over what is missing in each row."""
        table = np.column_stack(features)
        missing = np.isnan(table) & self.design.used
        parts: list[tuple[Indices, Numbers]] = []
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            own = np.flatnonzero(which.ravel() == number)
            for first in range(0, len(own), ROWS_AT_ONCE):
                some = own[first : first + ROWS_AT_ONCE]
                values, shares = self.similar.values(table[some], pattern)
                ways = min(len(values), MOST_VALUES)
                chosen, shares = _some_values(shares, ways)
                completed = np.repeat(table[some], ways, axis=0)
                completed[:, pattern] = values[chosen.ravel()]
                step = max(1, ROWS_AT_ONCE // ways)
                for start in range(0, len(some), step):
                    rows = some[start : start + step]
                    each = of_complete(completed[start * ways : (start + len(rows)) * ways])
                    each = each.reshape(len(each), len(rows), ways, -1)
                    parts.append((rows, np.einsum("srwk,rw->srk", each, shares[start : start + len(rows)])))
        if not parts:
            return of_complete(table)
        found = np.concatenate([part for _, part in parts], axis=1)
        return found[:, np.argsort(np.concatenate([rows for rows, _ in parts]), kind="stable")]

    def _distributions(self, table: Numbers, rng: np.random.Generator | None) -> Numbers:
        """θ of complete rows under each draw, (draws, rows, classes); its mean without `rng`.

        Given what training rows of the same configuration are, if there are any.
        """
        base = self.effects.base(self.design.of(table))
        if not self.hedged:
            return self._of_base(base)
        keys = [row.tobytes() for row in self.design.key(table)]
        seen = np.array([key in self.counts for key in keys], dtype=np.bool_)
        found = self._of_base(base) if rng is None else self._drawn(base, self.effects.shares[:, None], None, rng)
        if seen.any():
            base = base[:, seen]
            counts = np.stack([self.counts[key] for key, is_seen in zip(keys, seen, strict=True) if is_seen])
            logs = np.log(self.effects.shares + SMALLEST)[:, None] + np.stack(
                [_log_marginal(_shapes(base, g, unseen=False), counts) for g in range(len(STRENGTHS))], axis=-1
            )
            odds = softmax(logs, axis=-1)
            if rng is None:
                found[:, seen] = sum(
                    odds[..., g, None] * _mean(_shapes(base, g, unseen=False) + counts) for g in range(len(STRENGTHS))
                )
            else:
                found[:, seen] = self._drawn(base, odds, counts, rng)
        return found

    def _drawn(self, base: Numbers, odds: Numbers, counts: Numbers | None, rng: np.random.Generator) -> Numbers:
        """θ, its component having these odds, (draws, rows or 1, components)."""
        wanted = rng.random((*base.shape[:2], 1))
        component = np.minimum((np.cumsum(odds, axis=-1) < wanted).sum(axis=-1), len(STRENGTHS) - 1)
        shapes = np.empty_like(base)
        for g in range(len(STRENGTHS)):
            own = component == g
            shapes[own] = _shapes(base[own], g, unseen=counts is None)
        variates = np.maximum(rng.standard_gamma(shapes if counts is None else shapes + counts), SMALLEST)
        return np.asarray(variates / variates.sum(axis=-1, keepdims=True))


def learn_additive(
    features: Sequence[Numbers],
    curves: Sequence[Curve],
    labels: Indices,
    weights: Numbers,
    seed: int,
    reliability: float = 1.0,
    classes: int = 2,
) -> AdditiveModel:
    """Draw from the posterior. `labels` are numbers of classes; a stated direction is right with `reliability`."""
    rng = np.random.default_rng([seed, 4])
    table, labels, weights = _distinct(np.column_stack(features), labels, weights)
    signs = [abs(curve.sign) for curve in curves if curve.groups]
    certain = reliability == 1.0 and any(signs)
    design = design_of(curves, table, weights, together=not certain)
    table, labels, weights = _one_by_one(table, labels, weights, design.used)
    incomplete = np.asarray(np.isnan(table[:, design.used]).any(axis=1))
    keys, first, which = np.unique(design.key(table[~incomplete]), axis=0, return_index=True, return_inverse=True)
    counts = np.zeros((len(keys) + int(incomplete.sum()), classes))
    np.add.at(counts, (which.ravel(), labels[~incomplete]), weights[~incomplete])
    counts[np.arange(len(keys), len(counts)), labels[incomplete]] = weights[incomplete]
    kept = np.sort(rng.choice(len(table), MOST_ROWS, replace=False)) if len(table) > MOST_ROWS else slice(None)
    ordered = tuple(not curve.states for curve in curves)
    similar = SimilarRows(table[kept], weights[kept], ordered)
    columns = design.of(np.concatenate([table[~incomplete][first], table[incomplete]]))
    sizes = [len(curve.groups) for curve in curves if curve.groups]
    if design.interactions is not None:
        sizes, signs = [*sizes, len(design.interactions.means)], [*signs, 0]
    if not sizes:
        sizes, signs = [1], [0]  # a column of zeros: no feature says anything
    missing = None
    if incomplete.any():
        donors = _donors(table[incomplete], similar, design.used)
        missing = IncompleteRows(
            table[incomplete],
            donors,
            design,
            labels[incomplete],
            weights[incomplete],
            np.arange(len(keys), len(counts)),
        )
    effects, completed = _draw(columns, sizes, signs, counts, reliability, seed, missing)
    if completed is not None:  # so that what is missing in a row can be what any row has there
        table[incomplete] = completed
        similar = SimilarRows(table[kept], weights[kept], ordered)
    by_key = {key.tobytes(): each for key, each in zip(keys, counts, strict=False)}
    return AdditiveModel(design, effects, by_key, similar, seed, not certain)


def _distinct(table: Numbers, labels: Indices, weights: Numbers) -> tuple[Numbers, Indices, Numbers]:
    """Rows that agree as one row, in an order that does not depend on that of the rows."""
    both = np.column_stack([np.nan_to_num(table, nan=-np.inf), labels])
    _, first, which = np.unique(both, axis=0, return_index=True, return_inverse=True)
    return table[first], labels[first], np.bincount(which.ravel(), weights).astype(np.float64)


def _one_by_one(
    table: Numbers, labels: Indices, weights: Numbers, used: NDArray[np.bool_]
) -> tuple[Numbers, Indices, Numbers]:
    """A row with missing values that counts n times as n rows, because what is missing may differ between them."""
    several = np.isnan(table[:, used]).any(axis=1) & (weights == np.floor(weights)) & (weights <= MOST_COPIES)
    times = np.where(several, weights, 1.0).astype(np.int64)
    return np.repeat(table, times, axis=0), np.repeat(labels, times), np.repeat(weights / times, times)


def _draw(
    columns: Numbers,
    sizes: Sequence[int],
    signs: Sequence[int],
    counts: Numbers,
    reliability: float,
    seed: int,
    missing: IncompleteRows | None,
) -> tuple[Effects, Numbers | None]:
    """Draws of all effects, from a few chains, and the rows with missing values as they were completed last."""
    classes, width = counts.shape[1], columns.shape[1]
    work = len(columns) * (width * (1 if classes == 2 else classes) + 20)
    chains = int(np.clip(MOST_WORK // work, FEWEST_CHAINS, CHAINS))
    draws = int(np.clip(DRAWS * MOST_WORK // work, FEWEST_DRAWS, DRAWS))
    kept: list[tuple[Numbers, Numbers, Numbers, Numbers, Indices]] = []
    completed: Completed | None = None
    for number in range(chains):
        base = AdditiveColumns(
            columns, sizes, classes, counts, STRENGTHS, PRIOR.least_unseen, len(PRIOR.following), np.array(CENTRES),
            np.array(SPREADS), np.array(SHARE_CENTRES), PRIOR.share_spread, INTERCEPT, [seed, number], signs,
            reliability,
        )  # fmt: skip
        rng = np.random.default_rng([seed, 3, number])
        completed = None
        for update in range(WARM_UP + draws):
            if missing is not None and update % DRAWN_EVERY == 0:
                completed = missing.drawn(_effects([base.current()]), completed, rng)
                base.set_rows(missing.places, completed.design)
            base.update(update < WARM_UP)
            if update >= WARM_UP:
                kept.append(base.current())
    return _effects(kept), None if completed is None else completed.table


def _effects(states: Sequence[tuple[Numbers, Numbers, Numbers, Numbers, Indices]]) -> Effects:
    intercepts, slopes, rests, shares, directions = (np.stack(each) for each in zip(*states, strict=True))
    return Effects(intercepts, slopes, rests, shares, directions)


@dataclass(frozen=True, slots=True)
class Completed:
    """Rows without missing values."""

    table: Numbers  # (rows, features)
    design: Numbers  # (rows, columns)


@dataclass(frozen=True, slots=True)
class IncompleteRows:
    """Training rows in which values are missing, and what the missing features are in others."""

    table: Numbers  # (rows, features)
    donors: tuple[tuple[Indices, Indices, Numbers, Numbers], ...]  # rows, their features, values, shares (rows, values)
    design: Design
    labels: Indices  # (rows,)
    weights: Numbers  # (rows,)
    places: Indices  # their configurations

    def drawn(self, effects: Effects, before: Completed | None, rng: np.random.Generator) -> Completed:
        """The rows completed, given their classes and one draw of the effects.

        Drawn among values with their shares and the ones before, which keeps the posterior as it is, however few they
        are [Andrieu, Doucet and Holenstein, 2010].
        """
        completed = np.repeat(self.table[:, None], WAYS, axis=1)
        for rows, features, values, shares in self.donors:
            wanted = rng.random((len(rows), WAYS, 1))
            chosen = np.minimum((np.cumsum(shares, axis=1)[:, None] < wanted).sum(axis=-1), len(values) - 1)
            completed[np.ix_(rows, np.arange(WAYS), features)] = values[chosen]
        designs = self.design.of(completed.reshape(-1, completed.shape[-1])).reshape(len(self.table), WAYS, -1)
        if before is not None:
            designs = np.concatenate([designs, before.design[:, None]], axis=1)
            completed = np.concatenate([completed, before.table[:, None]], axis=1)
        base = effects.base(designs.reshape(-1, designs.shape[-1]))[0]
        follows = effects.follows()[0]
        chances = (follows * base + (1.0 - follows) / base.shape[-1]).reshape(*designs.shape[:2], -1)
        logs = np.log(np.take_along_axis(chances, self.labels[:, None, None], axis=-1)[..., 0]) * self.weights[:, None]
        cumulative = np.cumsum(softmax(logs, axis=1), axis=1)
        chosen = np.minimum((cumulative < rng.random((len(logs), 1))).sum(axis=1), logs.shape[1] - 1)
        rows = np.arange(len(designs))
        return Completed(completed[rows, chosen], np.ascontiguousarray(designs[rows, chosen]))


def _donors(
    table: Numbers, similar: SimilarRows, used: NDArray[np.bool_]
) -> tuple[tuple[Indices, Indices, Numbers, Numbers], ...]:
    """For rows with the same missing features: these, together if enough rows know all of them, values and shares."""
    missing = np.isnan(table) & used
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    alone = missing.copy()
    found = []
    for number, pattern in enumerate(patterns):
        if (~np.isnan(similar.table[:, pattern]).any(axis=1)).sum() >= FEWEST_DONORS:
            own = np.flatnonzero(which.ravel() == number)
            alone[own] = False
            found.append((own, np.flatnonzero(pattern), *similar.values(table[own], pattern)))
    for feature in np.flatnonzero(alone.any(axis=0)):
        own = np.flatnonzero(alone[:, feature])
        found.append((own, np.array([feature]), *similar.values(table[own], np.arange(len(used)) == feature)))
    return tuple(found)


def _some_values(shares: Numbers, most: int) -> tuple[Indices, Numbers]:
    """The places of values with their shares, (rows, values); at most so many, each for as much of the shares."""
    rows, count = shares.shape
    if count <= most:
        return np.tile(np.arange(count), (rows, 1)), shares
    wanted = (np.arange(most) + 0.5) / most
    chosen = np.stack([np.searchsorted(np.cumsum(each), wanted) for each in shares])
    return np.minimum(chosen, count - 1), np.full((rows, most), 1.0 / most)


def _scores(classes: int) -> Numbers:
    """Those of `AdditiveBase`: equally spaced, with the variance 1/4."""
    scores = np.arange(classes) - (classes - 1) / 2
    return np.asarray(scores / (2 * scores.std()))


def _shapes(base: Numbers, component: int, *, unseen: bool) -> Numbers:
    """The parameters of the Dirichlet distribution of a component."""
    strength = STRENGTHS[component]
    if component >= len(PRIOR.following):
        strength *= base.shape[-1]
        base = np.full_like(base, 1.0 / base.shape[-1])
    return base * (max(strength, PRIOR.least_unseen) if unseen else strength)


def _log_marginal(shapes: Numbers, counts: Numbers) -> Numbers:
    totals, rows = shapes.sum(axis=-1), counts.sum(axis=-1)
    risings = (gammaln(shapes + counts) - gammaln(shapes)).sum(axis=-1)
    return np.asarray(risings - gammaln(totals + rows) + gammaln(totals))


def _mean(shapes: Numbers) -> Numbers:
    return np.asarray(shapes / shapes.sum(axis=-1, keepdims=True))

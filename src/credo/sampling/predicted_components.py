"""What the other configurations of a CPT predict for each of them: the bases of the prior's predicted components.

How much configurations resemble each other, and along which parents, is learned from the counts of each CPT. Two
configurations that differ in the parents D are alike to the degree Π_{p ∈ D} λ_p, with λ_p = 1 for a parent that
does not matter and λ_p near 0 for one across which nothing can be concluded [Aitchison and Aitken, 1976]:

    b_j  ∝  a/K + Σ_{j' ≠ j} r_j' · Π_{p: v_p(j) ≠ v_p(j')} λ_p · N_j'·τ/(n_j' + τ)          n_j = Σ_k N_jk

N·τ/(n + τ) counts a configuration as τ rows at most: few where distributions differ however many rows show them, many
where they are the same. What is far from everything that was seen is predicted as uniform, because a/K is then all
that is left. A configuration's own counts are left out, so that they can judge the prediction: under λ and τ the CPT
has the predictive density

    Π_j ( ½ · mean_s DM(N_j | s·b_j)  +  ½ · mean_u DM(N_j | u/K) )

with the Dirichlet-multinomial distribution DM, and r_j is the share of the first summand: 1, or (a second model) found
by iteration, which leaves exceptions out of what is predicted for others; few rows count there, as the configurations
that agree are chosen. The models are averaged over values of τ and λ on a grid, with weights in proportion to this
density and to a prior: half of all parents do not matter, λ = 1. The values are those that a search visits, parent
after parent. Without that prior it finds, among so many values, some that fit by chance. Counts of a single
configuration support no pooling, and predict nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from credo.model.layout import Layout
from credo.types import Indices, Numbers

RESEMBLANCES = np.array([1e-4, 0.03, 0.1, 0.3, 0.6, 1.0])  # λ
SHARES = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.5])  # of the parents with this λ, beforehand
UNIFORM_ROWS = 0.5  # a
MOST_ROWS = (4.0, 1000.0)  # τ; with exceptions the first
STRENGTHS = (4.0, 30.0)  # s
UNPOOLED_STRENGTHS = (0.2, 1.0, 4.0, 30.0)  # u
UNPOOLED_ROUNDS = 10
ROUNDS = 3  # in which exceptions are found
STARTS = (2, 5)  # on the grid of λ, of the searches
MOST_SWEEPS = 6  # over the parents, of each search
MOST_COMPARED = 128  # configurations with the most rows, from which λ is learned
MOST_KNOWN = 4096  # the same from which others are predicted
MOST_MODELS = 32  # that are averaged
SMALLEST_WEIGHT = 1e-3  # of a model that is averaged
TEMPER = 0.5  # each pair of configurations is compared twice
EM_ROUNDS = 50
FARTHEST = 300.0
CHUNK = 2**22  # numbers in memory at once
WORK = 10**9  # comparisons of states, of a CPT, for which fewer models and configurations are used: about ten seconds
LEAST_KNOWN = 16


def predicted_cpts(layout: Layout, counts: Numbers) -> Numbers:
    """b of all CPTs of a layout, whose counts are (cells,), as one vector."""
    found, searches = np.empty(layout.size), {}
    for name in layout.names:
        own, view = layout.view(counts, name), layout.view(found, name)
        view[:] = 1.0 / view.shape[1]
        rows = own.sum(axis=1)
        seen = np.flatnonzero(rows > 0.0)
        if len(seen) > 1 and view.shape[1] > 1:
            cards = layout.network.shape(name)[:-1]
            seen = seen[np.argsort(-rows[seen], kind="stable")]
            searches[name] = _Search(own, seen, cards)
    ratios = np.array([search.ratio for search in searches.values()])
    for name, share in zip(searches, pooled_shares(ratios).tolist(), strict=True):
        searches[name].predict(share, layout.view(found, name))
    return found


def predicted_cpt(counts: Numbers, cards: Sequence[int]) -> Numbers:
    """b of every configuration of one CPT by itself, (configurations, states); `cards` are those of the parents."""
    rows = counts.sum(axis=1)
    seen = np.flatnonzero(rows > 0.0)
    found = np.full(counts.shape, 1.0 / counts.shape[1])
    if len(seen) > 1 and counts.shape[1] > 1:
        search = _Search(counts, seen[np.argsort(-rows[seen], kind="stable")], cards)
        search.predict(float(pooled_shares(np.array([search.ratio]))[0]), found)
    return found


def pooled_shares(ratios: Numbers) -> Numbers:
    """The probability that each CPT pools, given the logarithms of its density with pooling and without.

    How many of the network's CPTs do is learned from all of them, with a uniform prior, by expectation maximisation.
    """
    share = 0.5
    odds = np.exp(np.clip(ratios, -FARTHEST, FARTHEST))
    for _ in range(EM_ROUNDS):
        each = share * odds / (1.0 - share + share * odds)
        share = (1.0 + each.sum()) / (2.0 + len(each))
    return np.asarray(share * odds / (1.0 - share + share * odds))


def _values(configurations: Indices, cards: Sequence[int]) -> Indices:
    """The states of the parents, (configurations, parents)."""
    return np.stack(np.unravel_index(configurations, tuple(cards)), axis=1)


def _limited(counts: Numbers, most: float) -> Numbers:
    return np.asarray(counts * (most / (counts.sum(axis=-1, keepdims=True) + most)))


def _normalised(evidence: Numbers) -> Numbers:
    total = evidence.sum(axis=-1, keepdims=True) + UNIFORM_ROWS
    return np.asarray((evidence + UNIFORM_ROWS / evidence.shape[-1]) / total)


Point = tuple[int, ...]  # on the grid: the number of τ, then those of λ of all parents


class _Search:
    """The models of a CPT that a search from several starts visits, with the logarithm of their density."""

    def __init__(self, counts: Numbers, seen: Indices, cards: Sequence[int]) -> None:
        self.all_counts, self.seen, self.cards = counts, seen, cards
        compared = seen[:MOST_COMPARED]
        self.counts, values = counts[compared], _values(compared, cards)
        self.limited = [_limited(self.counts, most) for most in MOST_ROWS]
        self.differ = (values.T[:, :, None] != values.T[:, None, :]).astype(np.float64)  # (parents, seen, seen)
        self.other = 1.0 - np.eye(len(compared))
        uniform = np.full(self.counts.shape, 1.0 / counts.shape[1])
        self.unpooled = _unpooled_density(self.counts)
        self.visited: dict[Point, tuple[Numbers, Numbers]] = {}
        best = [self._climb((0, *[start] * len(cards))) for start in STARTS]
        place = max(best, key=lambda point: self.visited[point][0].max())
        for rows in range(1, len(MOST_ROWS)):
            self._climb((rows, *place[1:]))
        self.ratio = self._evidence() - self._without(uniform)

    def _without(self, uniform: Numbers) -> float:
        """The same without pooling: of all distributions alike, or with what is predicted replaced by uniform ones."""
        replaced = np.logaddexp(_mean_density(self.counts, uniform, STRENGTHS), self.unpooled) - np.log(2.0)
        alone, beside = TEMPER * self.unpooled.sum(), TEMPER * replaced.sum()
        return float(np.logaddexp(alone, beside) - np.log(2.0))

    def _line(self, point: Point, parent: int) -> list[Point]:
        """All λ of one parent at a point, visited."""
        line = [(*point[: parent + 1], g, *point[parent + 2 :]) for g in range(len(RESEMBLANCES))]
        self._visit([each for each in line if each not in self.visited])
        return line

    def _climb(self, point: Point) -> Point:
        """Change one parent's λ after the other to the best on the grid, until none changes."""
        for _ in range(MOST_SWEEPS):
            before = point
            for parent in range(len(self.cards)):
                point = max(self._line(point, parent), key=lambda each: float(self.visited[each][0].max()))
            if point == before:
                break
        return point

    def _visit(self, points: list[Point]) -> None:
        """Density, times the prior of λ, of both models and shares at these points of the grid, which have one τ."""
        if not points:
            return
        numbers, limited = np.array(points)[:, 1:], self.limited[points[0][0]]
        rounds = 0 if points[0][0] else ROUNDS
        alike = np.exp(np.tensordot(np.log(RESEMBLANCES)[numbers], self.differ, axes=1)) * self.other
        shares = np.ones(alike.shape[:2])  # alike is (points, seen, seen)
        for round_ in range(rounds + 1):
            bases = _normalised(alike @ (limited * shares[:, :, None]))
            pooled = _mean_density(self.counts, bases, STRENGTHS)
            density = np.logaddexp(pooled, self.unpooled) - np.log(2.0)
            if round_ == 0:
                plain = density.sum(axis=1)
            if round_ < rounds:
                shares = np.exp(pooled - np.log(2.0) - density)
        values = TEMPER * np.stack((plain, density.sum(axis=1)), axis=1) + np.log(SHARES)[numbers].sum(axis=1)[:, None]
        if points[0][0]:
            values[:, 1] = -np.inf
        for place, point in enumerate(points):
            self.visited[point] = values[place], shares[place]

    def predict(self, pooled: float, found: Numbers) -> None:
        """Write b of all configurations, where configurations resemble each other with this probability."""
        found *= 1.0 - pooled
        room = WORK // (len(found) * len(self.cards))  # pairs of a configuration and a model, for each configuration
        known = self.seen[: max(LEAST_KNOWN, min(MOST_KNOWN, room))]
        models = self._models(max(1, min(MOST_MODELS, room // len(known))))
        compared = min(len(self.counts), len(known))
        limited = [_limited(self.all_counts[known], most) for most in MOST_ROWS]
        values = _values(known, self.cards)
        step = max(1, CHUNK // values.size)
        for first in range(0, len(found), step):
            some = np.arange(first, min(first + step, len(found)))
            differ = (_values(some, self.cards)[:, None] != values).astype(np.float64)
            other = some[:, None] != known
            for weight, point, shares in models:
                used = slice(None) if (shares == 1.0).all() else slice(compared)  # r is known of these
                kept = limited[point[0]][used].copy()
                kept[:compared] *= shares[:compared, None]
                alike = np.exp(differ[:, used] @ np.log(RESEMBLANCES)[list(point[1:])]) * other[:, used]
                found[some] += pooled * weight * _normalised(alike @ kept)

    def _models(self, most: int) -> list[tuple[float, Point, Numbers]]:
        """The weight, the point on the grid and r of the models that are averaged, at most so many."""
        points = list(self.visited)
        values = np.array([self.visited[point][0] for point in points])
        weights = np.exp(values - values.max()).ravel()
        best = np.argsort(-weights, kind="stable")[:most]
        best = best[weights[best] > SMALLEST_WEIGHT * weights[best].sum()]
        total = weights[best].sum()
        found = []
        for number in best.tolist():
            place, exceptions = divmod(number, 2)
            shares = self.visited[points[place]][1] if exceptions else np.ones(len(self.counts))
            found.append((float(weights[number] / total), points[place], shares))
        return found

    def _evidence(self) -> float:
        """log of the density averaged over τ and λ: the highest of each τ, times what each λ_p adds, others fixed."""
        total = -np.inf
        for rows in range(len(MOST_ROWS)):
            for model in range(1 if rows else 2):
                own = [point for point in self.visited if point[0] == rows]
                point = max(own, key=lambda each: self.visited[each][0][model])
                best = value = float(self.visited[point][0][model])
                for parent in range(len(self.cards)):
                    terms = np.array([self.visited[each][0][model] for each in self._line(point, parent)])
                    value += float(np.log(np.exp(terms - best).sum()))
                total = float(np.logaddexp(total, value))
        return total - float(np.log(1.0 + len(MOST_ROWS)))


def _unpooled_density(counts: Numbers) -> Numbers:
    """log Σ_u ω_u·DM(N_j | u/K), (configurations,): the CPT's shares ω of strengths by expectation maximisation."""
    from scipy.special import logsumexp

    uniform = np.full(counts.shape, 1.0 / counts.shape[1])
    logs = np.stack([_mean_density(counts, uniform, (u,)) for u in UNPOOLED_STRENGTHS])
    shares = np.full(len(logs), 1.0 / len(logs))
    for _ in range(UNPOOLED_ROUNDS):
        each = np.exp(logs - logs.max(axis=0)) * shares[:, None]
        shares = (1.0 + (each / each.sum(axis=0)).sum(axis=1)) / (len(logs) + logs.shape[1])
    return np.asarray(logsumexp(logs, axis=0, b=shares[:, None]))


def _mean_density(counts: Numbers, bases: Numbers, strengths: Sequence[float]) -> Numbers:
    """log of the mean over s of DM(N_j | s·b_j), (…, configurations)."""
    from scipy.special import gammaln

    rows = counts.sum(axis=-1)
    logs = [
        gammaln(s) - gammaln(s + rows) + (gammaln(s * bases + counts) - gammaln(s * bases)).sum(axis=-1)
        for s in strengths
    ]
    return np.asarray(reduce(np.logaddexp, logs) - np.log(len(strengths)))

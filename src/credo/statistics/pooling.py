"""CPTs that are nearly the same: what members of a group have in common, and what that is worth to each of them.

Member i of a group has the distributions θ_ij around common ones, in every configuration j of a CPT, and these lie
around what configurations have in common:

    θ_ij ~ Dirichlet(c·m_j)        m_j ~ Dirichlet(a·q)        q ~ Dirichlet(1, …, 1)

A large c says that members are alike, a small one that what others saw tells little; a large a and a q that is even
say that there is nothing to be alike in. log c is normal over the CPTs of the same members, and so is log a: CPTs with
few cases are as much alike as the others are. All is drawn by Gibbs sampling, with θ summed over: the cases of member i
in state k are worth t_ijk draws from m_j, as many as tables in a Chinese restaurant with the strength c·m_jk, and given
these all else is conjugate [Teh and others, 2006] but the strengths, which a random walk moves.

To a member, the others are worth the cases that turn its own into the distribution with the mean and the variance of
its posterior distribution, a mixture of Dirichlet(n_ij + c·m_j).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from credo.types import Indices, Numbers

WEAKEST, STRONGEST = -3.0, 20.0  # log₂ of strengths
DEVIATIONS, MEAN_STEP = (0.5, 1.0, 2.0, 4.0), 0.5  # of log₂ of strengths over CPTs; means are on a grid
# How much less probable a mean strength c is than one of 1, c^−½: deviations 1/√c are equally probable [Gelman, 2006].
DECAY = 0.5
SWEEPS, WARM_UP, KEPT, WALKS = 800, 200, 2, 2  # every second sweep is kept
LARGEST_STEP = 4.0  # of a random walk, in log₂
MANY = 1000.0  # cases, of which tables are drawn from a normal distribution
_TINY = 1e-200


@dataclass(frozen=True, slots=True, eq=False)
class CommonCPT:
    """What members of a group say about one CPT that they have nearly in common."""

    strengths: Numbers  # (draws,) c: how many cases of a member the common distributions are worth to it
    cases: Numbers  # (configurations, states): draws from common distributions that what was seen is worth, on average
    seen: Indices  # the configurations of which there are cases
    means: Numbers  # (draws, seen configurations, states): draws of m


def common_cpts(tables: Sequence[Numbers], seed: int = 0) -> list[CommonCPT]:
    """What members have in common, for each CPT; `tables` are their cases, (members, configurations, states) each."""
    used = [place for place, table in enumerate(tables) if table.any()]
    seen = [np.flatnonzero(table.any(axis=(0, 2))) for table in tables]
    found = [
        CommonCPT(np.ones(1), np.zeros(t.shape[1:]), s, np.zeros((1, 0, t.shape[2])))
        for t, s in zip(tables, seen, strict=True)
    ]
    if not used:
        return found
    chain = _Chain([tables[place][:, seen[place]] for place in used], np.random.default_rng([seed, len(tables)]))
    draws = SWEEPS // KEPT
    strengths, means, cases = np.zeros((draws, len(used))), np.zeros((draws, chain.cells)), np.zeros(chain.cells)
    for _ in range(WARM_UP):
        chain.step()
    for draw in range(draws):
        for _ in range(KEPT):
            chain.step()
        strengths[draw], means[draw] = np.exp2(chain.log_strength), chain.mean
        cases += chain.tables / draws
    for number, place in enumerate(used):
        table, own = tables[place], slice(chain.first[number], chain.first[number + 1])
        whole = np.zeros(table.shape[1:])
        whole[seen[place]] = cases[own].reshape(-1, table.shape[2])
        drawn = means[:, own].reshape(draws, -1, table.shape[2])
        found[place] = CommonCPT(strengths[:, number], whole, seen[place], drawn)
    return found


def borrowed_cases(counts: Numbers, strengths: Numbers, means: Numbers) -> Numbers:
    """What the others are worth to each member, (members, configurations, states).

    `counts` are the members' own cases, of the same shape; `strengths` (draws,) and `means` (draws, configurations,
    states) are draws of c and m.
    """
    first, second = np.zeros(counts.shape), np.zeros(counts.shape)
    for strength, mean in zip(strengths, means, strict=True):
        shape = counts + strength * mean
        total = shape.sum(axis=-1, keepdims=True)
        first += shape / total
        second += shape * (shape + 1.0) / (total * (total + 1.0))
    first, second = first / len(strengths), second / len(strengths)
    spread = (second - first**2).sum(axis=-1, keepdims=True)
    size = (first - first**2).sum(axis=-1, keepdims=True) / np.maximum(spread, _TINY) - 1.0
    size = np.maximum(size, (counts / np.maximum(first, _TINY)).max(axis=-1, keepdims=True))  # takes no case away
    return np.asarray(np.maximum(size * first - counts, 0.0), dtype=np.float64)


def cases_for_a_new_member(strengths: Numbers, means: Numbers) -> Numbers:
    """What all members are worth to one of which nothing is known, (configurations, states)."""
    nothing = np.zeros((1, *means.shape[1:]))
    return np.asarray(borrowed_cases(nothing, strengths, means)[0], dtype=np.float64)


def shortened(cases: Numbers, strengths: Numbers) -> Numbers:
    """Cases of others as they count at a member by themselves: c / (c + n) of n cases, on average."""
    size = cases.sum(axis=-1, keepdims=True)
    return np.asarray(cases * np.mean([c / (c + size) for c in strengths], axis=0), dtype=np.float64)


def share_of_others(counts: Numbers, strengths: Numbers) -> float:
    """Which part of the others' cases counts at a member, on average."""
    others = counts.sum(axis=0) - counts
    return float(shortened(others, strengths).sum() / others.sum()) if others.any() else 0.0


class _Chain:
    """A Gibbs sampler of all CPTs of the same members; arrays of all CPTs follow each other."""

    def __init__(self, tables: Sequence[Numbers], rng: np.random.Generator) -> None:
        shapes = [table.shape[1:] for table in tables]
        self.rng = rng
        self.first = np.concatenate([[0], np.cumsum([rows * states for rows, states in shapes])])
        self.cells = int(self.first[-1])
        self.counts = np.concatenate([table.reshape(len(table), -1) for table in tables], axis=1)  # (members, cells)
        rows = np.array([rows for rows, _ in shapes])
        self.row_cpt = np.repeat(np.arange(len(tables)), rows)
        widths = np.repeat([states for _, states in shapes], rows)
        self.row_first = np.cumsum(widths) - widths
        self.row = np.repeat(np.arange(len(widths)), widths)
        self.cpt = self.row_cpt[self.row]
        states = np.array([states for _, states in shapes])
        self.state_first = np.cumsum(states) - states
        self.state = np.concatenate(
            [first + np.tile(np.arange(own), many) for first, (many, own) in zip(self.state_first, shapes, strict=True)]
        )
        self.sizes = np.add.reduceat(self.counts, self.row_first, axis=1)  # (members, rows)
        self.mean = 1.0 / widths[self.row]
        self.base = np.repeat(1.0 / states, states)  # q
        self.log_strength, self.log_closeness = np.full(len(tables), 3.0), np.full(len(tables), 2.0)  # log₂ of c and a
        self.strength_centre, self.closeness_centre = (3.0, 2.0), (2.0, 2.0)  # means and deviations over CPTs
        self.tables = np.zeros(self.cells)

    def step(self) -> None:
        """Draw everything once."""
        self.log_strength, self.strength_centre = self._walked(
            self.log_strength, self.strength_centre, DECAY, self.counts, self.sizes, self.mean
        )
        occupied = self._occupied(self.counts, np.exp2(self.log_strength)[self.cpt] * self.mean)
        self.tables = occupied.sum(axis=0)
        tables, sizes = self.tables[None], np.add.reduceat(self.tables, self.row_first)[None]
        self.log_closeness, self.closeness_centre = self._walked(
            self.log_closeness, self.closeness_centre, 0.0, tables, sizes, self.base[self.state]
        )
        around = np.exp2(self.log_closeness)[self.cpt] * self.base[self.state]
        further = self._occupied(tables, around)[0]
        opened_of = np.bincount(self.state, further, len(self.base)).astype(np.float64)
        self.base = self._dirichlet(1.0 + opened_of, self.state_first)
        shapes = np.exp2(self.log_closeness)[self.cpt] * self.base[self.state] + self.tables
        self.mean = self._dirichlet(np.asarray(shapes, dtype=np.float64), self.row_first)

    def _walked(
        self,
        logs: Numbers,
        centre: tuple[float, float],
        decay: float,
        counts: Numbers,
        sizes: Numbers,
        around: Numbers,
    ) -> tuple[Numbers, tuple[float, float]]:
        """Steps of a random walk for strengths of CPTs, one by one and all with their centre, and a draw of that."""
        density = self._log_density(logs, counts, sizes, around)
        for _ in range(WALKS):
            proposal = logs + LARGEST_STEP * self.rng.uniform(-1.0, 1.0, len(logs)) * self.rng.random(len(logs))
            proposed = self._log_density(proposal, counts, sizes, around)
            gain = proposed - density - 0.5 * ((proposal - centre[0]) ** 2 - (logs - centre[0]) ** 2) / centre[1] ** 2
            inside = (proposal >= WEAKEST) & (proposal <= STRONGEST)
            accepted = inside & (np.log(self.rng.random(len(logs))) < gain)
            logs, density = np.where(accepted, proposal, logs), np.where(accepted, proposed, density)
        shift = MEAN_STEP * float(self.rng.integers(-8, 9))
        proposal, mean = logs + shift, centre[0] + shift
        if min(mean, proposal.min()) >= WEAKEST and max(mean, proposal.max()) <= STRONGEST:
            gain = (self._log_density(proposal, counts, sizes, around) - density).sum()
            gain -= decay * np.log(2.0) * (max(mean, 0.0) - max(centre[0], 0.0))
            if np.log(self.rng.random()) < gain:
                logs = proposal
        return logs, self._centre(logs, decay)

    def _log_density(self, logs: Numbers, counts: Numbers, sizes: Numbers, around: Numbers) -> Numbers:
        """log Π DirMult(counts; strength·around) of each CPT, up to a constant."""
        gammaln = _gammaln()
        strength = np.exp2(logs)
        shapes, totals = np.maximum(strength[self.cpt] * around, _TINY), strength[self.row_cpt]
        of_cells = (gammaln(counts + shapes) - gammaln(shapes)).sum(axis=0)
        of_rows = (gammaln(sizes + totals) - gammaln(totals)).sum(axis=0)
        many = len(logs)
        found = np.bincount(self.cpt, of_cells, many) - np.bincount(self.row_cpt, of_rows, many)
        return np.asarray(found, dtype=np.float64)

    def _occupied(self, counts: Numbers, shapes: Numbers) -> Numbers:
        """Tables in Chinese restaurants with so many customers: customer n opens one with probability a/(a + n − 1)."""
        found = np.zeros(counts.shape)
        members, cells = np.nonzero(counts)
        customers, a = counts[members, cells], np.maximum(shapes[cells], _TINY)
        drawn = np.zeros(len(customers))
        few = customers <= MANY
        numbers = np.maximum(np.rint(customers[few]), 1.0).astype(np.int64)
        owners = np.repeat(np.arange(len(numbers)), numbers)
        before = np.arange(len(owners)) - (np.cumsum(numbers) - numbers)[owners]
        own = a[few][owners]
        drawn[few] = np.bincount(owners, self.rng.random(len(owners)) * (own + before) < own, len(numbers))
        if not few.all():
            drawn[~few] = _many_tables(customers[~few], a[~few], self.rng)
        found[members, cells] = np.minimum(drawn, customers)
        return found

    def _dirichlet(self, shapes: Numbers, first: Indices) -> Numbers:
        """One draw for each stretch of `shapes`."""
        shapes = np.maximum(shapes, 1e-10)
        logs = np.log(self.rng.standard_gamma(shapes + 1.0)) - self.rng.standard_exponential(len(shapes)) / shapes
        widths = np.diff(np.append(first, len(shapes)))
        values = np.exp(logs - np.repeat(np.maximum.reduceat(logs, first), widths))
        found = np.maximum(values / np.repeat(np.add.reduceat(values, first), widths), _TINY)
        return np.asarray(found, dtype=np.float64)

    def _centre(self, logs: Numbers, decay: float) -> tuple[float, float]:
        """The mean and the deviation of strengths over CPTs, given those of all CPTs."""
        means = np.arange(WEAKEST, STRONGEST + MEAN_STEP / 2, MEAN_STEP)[:, None]
        deviations = np.array(DEVIATIONS)
        square = ((logs**2).sum() - 2.0 * means * logs.sum() + len(logs) * means**2) / deviations**2
        weights = -0.5 * square - len(logs) * np.log(deviations) - decay * np.log(2.0) * np.maximum(means, 0.0)
        chances = np.exp(weights - weights.max()).ravel()
        place = int(self.rng.choice(chances.size, p=chances / chances.sum()))
        return float(means[place // len(deviations), 0]), float(deviations[place % len(deviations)])


def _many_tables(customers: Numbers, a: Numbers, rng: np.random.Generator) -> Numbers:
    """How many tables thousands of customers occupy: Σ a/(a + n − 1), and its variance."""
    from scipy.special import digamma, polygamma

    mean = a * (digamma(a + customers) - digamma(a))
    variance = np.maximum(mean + a**2 * (polygamma(1, a + customers) - polygamma(1, a)), 0.0)
    return np.asarray(
        np.maximum(np.rint(mean + np.sqrt(variance) * rng.standard_normal(len(a))), 1.0), dtype=np.float64
    )


def log_beta(x: Numbers) -> Numbers:
    """log Π Γ(x_k) / Γ(Σ x_k) of each line."""
    gamma = _gammaln()
    return np.asarray(gamma(x).sum(axis=-1) - gamma(x.sum(axis=-1)), dtype=np.float64)


def _gammaln() -> Callable[[Numbers], Numbers]:
    from scipy.special import gammaln

    return gammaln  # type: ignore[no-any-return]

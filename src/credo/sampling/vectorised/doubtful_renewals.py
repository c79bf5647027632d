"""Distributions of one statement proposed together, for many chains at once; what these moves are is in
`kernels/doubtful_renewals.py`. Components are given here, not summed over: the sweep draws them in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from credo.kernels.doubtful_renewals import MOST_DRAWN
from credo.sampling.doubted_statements import ROUNDING
from credo.sampling.doubtful_moves import DoubtfulMoves
from credo.sampling.vectorised.batches import SMALLEST
from credo.types import Indices, Numbers

MOST_RENEWALS = 12  # of sets in a sweep, so that it takes about as long as the moves of pairs


class Way(Enum):
    """How distributions are proposed together."""

    DRAW = auto()
    FOLLOW_BY_AMOUNTS = auto()
    FOLLOW_BY_FACTORS = auto()


FOLLOWING = Way.FOLLOW_BY_AMOUNTS, Way.FOLLOW_BY_FACTORS


@dataclass(frozen=True, slots=True, eq=False)
class RenewedSet:
    """Distributions that are proposed together, and the constraints on them."""

    parameters: tuple[Indices, ...]  # of each distribution
    rows: Indices  # doubted constraints
    changes: Numbers  # (rows, parameters of all distributions)
    meanings: Indices
    members: Numbers  # (meanings, rows) which constraints each has
    hard: Indices  # constraints that must hold
    hard_changes: Numbers

    @property
    def ways(self) -> tuple[Way, ...]:
        """How they can be proposed: only distributions with as many states follow each other."""
        same = len({len(each) for each in self.parameters}) == 1
        few = len(self.parameters) <= MOST_DRAWN
        return (*((Way.DRAW,) if few or not same else ()), *(FOLLOWING if same else ()))

    def propose(self, theta: Numbers, shape: Numbers, way: Way, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
        """New values, (parameters, chains), and the logarithm of the ratio of densities that the proposal leaves.

        All distributions are drawn as if there were no statements, or one of them is, and the others follow.
        """
        chains = theta.shape[1]
        if way is Way.DRAW:
            return np.concatenate([_dirichlet(shape[own], rng) for own in self.parameters]), np.zeros(chains)
        leader = int(rng.integers(len(self.parameters)))
        drawn, was = _dirichlet(shape[self.parameters[leader]], rng), theta[self.parameters[leader]]
        new, ratio = [], np.zeros(chains)
        for place, own in enumerate(self.parameters):
            if place == leader:
                new.append(drawn)
                continue
            if way is Way.FOLLOW_BY_AMOUNTS:
                moved, volume = theta[own] + (drawn - was), 0.0
            else:
                moved, volume = theta[own] * (drawn / was), 1.0
                moved = moved / moved.sum(axis=0)
            inside = (moved > SMALLEST).all(axis=0)
            moved = np.where(inside, moved, theta[own])
            more = ((shape[own] - 1.0 + volume) * (np.log(moved) - np.log(theta[own]))).sum(axis=0)
            ratio = np.where(inside, ratio + more, -np.inf)
            new.append(moved)
        return np.concatenate(new), ratio

    def renew(
        self,
        theta: Numbers,
        shape: Numbers,
        slack: Numbers,
        hard: Numbers,
        broken: Indices,
        odds: Numbers,
        way: Way,
        rng: np.random.Generator,
    ) -> None:
        """One proposal of all chains; slack, hard, broken and odds are as in `move_pairs`."""
        every = np.concatenate(self.parameters)
        new, ratio = self.propose(theta, shape, way, rng)
        step = new - theta[every]
        after, limits = slack[self.rows] - self.changes @ step, hard[self.hard] - self.hard_changes @ step
        ratio = np.where((limits >= 0.0).all(axis=0), ratio, -np.inf)
        change = self.members @ ((after < -ROUNDING).astype(np.int64) - (slack[self.rows] < -ROUNDING))
        was = broken[self.meanings]
        gained = ((was + change == 0).astype(np.float64) - (was == 0)) * odds[self.meanings]
        accepted = np.log(rng.random(theta.shape[1])) < ratio + gained.sum(axis=0)
        theta[every] = np.where(accepted, new, theta[every])
        slack[self.rows] = np.where(accepted, after, slack[self.rows])
        hard[self.hard] = np.where(accepted, limits, hard[self.hard])
        broken[self.meanings] += np.where(accepted, change, 0).astype(np.int64)


def renewed_sets(moves: DoubtfulMoves) -> tuple[RenewedSet, ...]:
    """The sets of several distributions that no statement about any probability reaches."""
    from scipy.sparse import csc_array

    within = {pair.distribution for pair in moves.pairs_apart_from_general()}
    doubted, hard = csc_array(moves.matrix), csc_array(moves.hard)
    statements = moves.doubted.linear.statements
    found = []
    for chosen in moves.sets:
        if len(chosen) < 2 or not within.issuperset(chosen):
            continue
        parameters = tuple(np.arange(moves.starts[d], moves.starts[d + 1]) for d in chosen)
        every = np.concatenate(parameters)
        own, limits = doubted[:, every].toarray(), hard[:, every].toarray()
        rows, limited = np.flatnonzero(own.any(axis=1)), np.flatnonzero(limits.any(axis=1))
        meanings, which = np.unique(statements[rows], return_inverse=True)
        members = (np.arange(len(meanings))[:, None] == which[None]).astype(np.int64)
        found.append(RenewedSet(parameters, rows, own[rows], meanings, members, limited, limits[limited]))
    return tuple(found)


def renew_some(
    sets: tuple[RenewedSet, ...],
    theta: Numbers,
    shape: Numbers,
    slack: Numbers,
    hard: Numbers,
    broken: Indices,
    odds: Numbers,
    rng: np.random.Generator,
) -> None:
    """Some sets at random, each in one of the ways that it can be proposed in."""
    for number in rng.permutation(len(sets))[:MOST_RENEWALS].tolist():
        ways = sets[number].ways
        sets[number].renew(theta, shape, slack, hard, broken, odds, ways[int(rng.integers(len(ways)))], rng)


def _dirichlet(shape: Numbers, rng: np.random.Generator) -> Numbers:
    """Dirichlet draws along the first axis."""
    logs = np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential(shape.shape) / shape
    values = np.exp(logs - logs.max(axis=0))
    return np.asarray(np.maximum(values / values.sum(axis=0), SMALLEST))

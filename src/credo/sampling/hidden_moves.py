"""Distributions of hidden variables, proposed from their prior and judged by the rows without completing them.

Given completed rows, a distribution moves as little as if all its rows had been observed. Where rows say little about
what is hidden, as of the effects of many causes, chains then need thousands of sweeps. So each sweep begins with some
distributions that are proposed without completed rows, all else as it is,

    θ'_d ~ Dirichlet(s·b + a·N)        with the prior's shape s·b, N expected where EM ended, and a from `SHARES`,

and accepted by the Metropolis-Hastings ratio, in which missing values are summed out:

    P(rows | θ') / P(rows | θ) · Π_k (θ_dk / θ'_dk)^(a·N_k)

Rows are completed afterwards. A family of ten causes, of which 200 rows say little, had seven effective draws of 1,000
in each of four chains without these moves. Where statements about any probability reach a distribution, those that must
hold are looked at once a proposal would be accepted. Distributions whose proposals were hardly ever accepted during the
warm-up are left alone from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from credo.constraints.blocks import Block
from credo.kernels.sampler_arrays import ChainState, DistributionArrays
from credo.sampling.distributions import SampledDistributions
from credo.sampling.general_updates import DrawnGeneral, GeneralUpdates
from credo.sampling.missing_values import Augmentation
from credo.statistics.inference.elimination import execute, visited_cells
from credo.statistics.inference.expected_counts import Prepared
from credo.types import Indices, Numbers

SHARES = (0.0, 0.03, 0.1, 0.3)  # a
MOST_PROPOSALS = 8  # in a sweep,
SHARE_OF_DISTRIBUTIONS = 0.4  # and of all distributions that can be proposed
MOST_CELLS = 500_000  # that are visited to judge a proposal: where rows are many, they say enough
COST = 0.2  # of judging a proposal, where completing the rows costs one
RARELY = 0.02  # accepted, below which proposals are not worth their time
SMALLEST = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class HiddenMoves:
    """Which distributions are proposed, and what judges them."""

    distributions: Indices
    incomplete: Prepared
    base: Numbers  # (cells,) as in `Augmentation`
    places: Indices
    fixed: Numbers
    expected: Numbers  # (parameters,) counts of incomplete families where EM ended
    constrained: int  # parameters of blocks; general statements are about these
    drawn: DrawnGeneral | None

    @property
    def proposals(self) -> int:
        """How many are made in a sweep."""
        return min(MOST_PROPOSALS, ceil(SHARE_OF_DISTRIBUTIONS * len(self.distributions)))

    @property
    def cost(self) -> float:
        """How many times as long a sweep takes to judge them as to complete the rows."""
        return COST * (1 + self.proposals)

    def allows(self, d: int, starts: Indices, theta: Numbers) -> bool:
        """Whether statements allow what distribution d has become."""
        return self.drawn is None or starts[d] >= self.constrained or self.drawn.all_hold(theta[: self.constrained])

    def log_likelihood(self, theta: Numbers) -> float:
        """log P(rows) up to a constant, without complete families."""
        cells, rows = self.base.copy(), self.incomplete
        cells[self.places] = theta
        _, value, impossible = execute(rows.layout, rows.groups, rows.plans, rows.cuts, cells, backward=False)
        return -np.inf if impossible >= 0 else value

    def worthwhile(self, tried: Indices, accepted: Indices) -> HiddenMoves | None:
        """The same without distributions whose proposals were hardly ever accepted; None where none are left."""
        kept = accepted[self.distributions] >= RARELY * tried[self.distributions]
        return replace(self, distributions=self.distributions[kept]) if kept.any() else None


def hidden_moves(
    sampled: SampledDistributions,
    missing: Augmentation,
    general: GeneralUpdates | None = None,
    blocks: Sequence[Block] = (),
) -> HiddenMoves | None:
    """Moves of distributions that no statement about their CPT binds, in families with a variable that no row shows.

    Where some `general` statements are soft or may be wrong, what they reach is not moved.
    """
    rows, network = missing.incomplete, sampled.layout.network
    if rows is None or missing.tied is not None or visited_cells(rows.groups, rows.plans).sum() > MOST_CELLS:
        return None
    never = np.logical_not(rows.seen).tolist()
    hidden = {name for name, is_hidden in zip(network.names, never, strict=True) if is_hidden}
    families = [number for number, name in enumerate(sampled.names) if hidden & {name, *network.parents[name]}]
    own = np.flatnonzero(np.isin(sampled.families, families))
    drawn = general.drawn if general is not None and _must_hold(general) else None
    movable = np.ones(len(sampled.numbers), dtype=np.bool_)
    movable[: sampled.constrained] = [
        drawn is not None and not len(block.linear) and not block.products
        for block in blocks
        for _ in block.configurations
    ]
    own = own[movable[own]]
    if not len(own):
        return None
    expected = np.maximum(missing.expected - missing.fixed, 0.0)
    where = missing.base, missing.places, missing.fixed
    return HiddenMoves(own, rows, *where, expected, sampled.constrained_size, drawn)


def _must_hold(general: GeneralUpdates) -> bool:
    """Whether every statement is hard, and none may be wrong."""
    return bool(np.isnan(general.arrays.weights).all() and (general.arrays.meanings < 0).all())


def move_hidden(
    moves: HiddenMoves,
    arrays: DistributionArrays,
    state: ChainState,
    rng: np.random.Generator,
    tried: Indices,  # (distributions,) how often each was proposed, and accepted; counted on
    accepted: Indices,
) -> None:
    """Propose some distributions of a chain."""
    from credo.kernels.posterior_gibbs import set_shapes

    shape, theta = np.empty(len(state.theta)), state.theta
    prior = arrays._replace(counts=np.zeros_like(arrays.counts))
    set_shapes(prior, state, shape)
    value = moves.log_likelihood(theta)
    for d in rng.choice(moves.distributions, moves.proposals).tolist():
        own = slice(arrays.starts[d], arrays.starts[d + 1])
        extra = rng.choice(SHARES) * moves.expected[own]
        before, after = theta[own].copy(), _dirichlet(shape[own] + extra, rng)
        theta[own] = after
        proposed = moves.log_likelihood(theta)
        steps = np.log(after) - np.log(np.maximum(before, SMALLEST))
        tried[d] += 1
        gain = proposed - value + float((moves.fixed[own] - extra) @ steps)
        if np.log(rng.random()) < gain and moves.allows(d, arrays.starts, theta):
            value = proposed
            accepted[d] += 1
        else:
            theta[own] = before


def _dirichlet(shape: Numbers, rng: np.random.Generator) -> Numbers:
    """A draw that no small shape makes underflow."""
    logs = np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential(len(shape)) / shape
    values = np.exp(logs - logs.max())
    return np.asarray(np.maximum(values / values.sum(), SMALLEST))

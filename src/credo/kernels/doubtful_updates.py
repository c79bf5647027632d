"""The compiled sweep of distributions under statements that may be wrong; its moves are in `doubtful_moves.py`."""

from __future__ import annotations

from typing import Any, NamedTuple

from credo.kernels.compiler import compiled
from credo.kernels.doubt_arrays import BeliefArrays, DoubtArrays, DoubtState, begin_doubt, draw_odds
from credo.kernels.doubtful_pairs import move_pair_doubtful
from credo.kernels.doubtful_renewals import renew_sometimes
from credo.kernels.doubtful_tempering import temper
from credo.kernels.posterior_gibbs import set_shapes
from credo.kernels.sampler_arrays import ChainState, DistributionArrays, GeneralArrays, Underway


class VisitArrays(NamedTuple):
    """What is updated when a CPT is visited; what belongs to none that is comes last, as one more CPT."""

    set_starts: Any  # (CPTs + 2,)
    sets: Any
    pair_starts: Any  # (CPTs + 2,)
    pairs: Any
    tempered_starts: Any  # (CPTs + 2,)
    tempered: Any


@compiled(error_model="numpy")
def passes_of_set(doubt: DoubtArrays, number: int, arrays: DistributionArrays, passes: Any) -> int:
    """How often a set takes part in a sweep: as that of its distributions which does most."""
    most = 1
    for m in range(doubt.set_starts[number], doubt.set_starts[number + 1]):
        most = max(most, passes[arrays.starts[doubt.sets[m]]])
    return most


@compiled(error_model="numpy")
def passes_of_line(doubt: DoubtArrays, line: int, passes: Any) -> int:
    """The same of pairs that are moved together."""
    most = 1
    for m in range(doubt.member_starts[line], doubt.member_starts[line + 1]):
        most = max(most, passes[doubt.firsts[m]])
    return most


@compiled(error_model="numpy")
def visit(
    doubt: DoubtArrays,
    visits: VisitArrays,
    family: int,
    passes: Any,  # (parameters of blocks,) how often each takes part
    general: GeneralArrays,
    underway: Underway,
    arrays: DistributionArrays,
    state: ChainState,
    own: DoubtState,
    generator: Any,
) -> None:
    """Renewals, pairs and tempered transitions of one CPT; what mixes slowly takes part in several passes."""
    first_set, last_set = visits.set_starts[family], visits.set_starts[family + 1]
    first_pair, last_pair = visits.pair_starts[family], visits.pair_starts[family + 1]
    most = 1
    for k in range(first_pair, last_pair):
        most = max(most, passes_of_line(doubt, visits.pairs[k], passes))
    for done in range(most):
        for k in range(first_set, last_set):
            if done == 0 or passes_of_set(doubt, visits.sets[k], arrays, passes) > done:
                renew_sometimes(doubt, visits.sets[k], general, underway, arrays, state, own, generator)
        set_shapes(arrays, state, own.shape)
        for k in range(first_pair, last_pair):
            pair = visits.pairs[k]
            if done == 0 or passes_of_line(doubt, pair, passes) > done:
                move_pair_doubtful(doubt, pair, general, underway, state.theta, own, -1, 0.0, generator)
    for k in range(visits.tempered_starts[family], visits.tempered_starts[family + 1]):
        temper(doubt, visits.tempered[k], general, underway, state.theta, own, generator)


@compiled(error_model="numpy")
def update_doubtful(
    doubt: DoubtArrays,
    beliefs: BeliefArrays,
    visits: VisitArrays,  # of all CPTs at once
    passes: Any,  # (parameters of blocks,) how often each takes part
    general: GeneralArrays,  # without statements
    underway: Underway,  # empty
    arrays: DistributionArrays,
    state: ChainState,
    generator: Any,
) -> None:
    """One sweep: reliabilities, then everything that may be moved."""
    own = begin_doubt(doubt, beliefs, arrays, state, 0)
    draw_odds(beliefs, own.broken, own.odds, generator)
    visit(doubt, visits, 0, passes, general, underway, arrays, state, own, generator)

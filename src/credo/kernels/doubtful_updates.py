"""The compiled sweep of distributions under statements that may be wrong; its moves are in `doubtful_moves.py`."""

from __future__ import annotations

from typing import Any

from credo.kernels.compiler import compiled
from credo.kernels.doubt_arrays import BeliefArrays, DoubtArrays, begin_doubt, draw_odds
from credo.kernels.doubtful_pairs import move_pair_doubtful
from credo.kernels.doubtful_renewals import renew_sometimes
from credo.kernels.doubtful_tempering import temper
from credo.kernels.posterior_gibbs import set_shapes
from credo.kernels.sampler_arrays import ChainState, DistributionArrays, GeneralArrays, Underway


@compiled(error_model="numpy")
def update_doubtful(
    doubt: DoubtArrays,
    beliefs: BeliefArrays,
    general: GeneralArrays,  # without statements
    underway: Underway,  # empty
    arrays: DistributionArrays,
    state: ChainState,
    generator: Any,
) -> None:
    """One sweep: reliabilities, renewals, every pair, and what is tempered."""
    own = begin_doubt(doubt, beliefs, arrays, state, 0)
    draw_odds(beliefs, own.broken, own.odds, generator)
    for number in range(len(doubt.set_chances)):
        renew_sometimes(doubt, number, general, underway, arrays, state, own, generator)
    set_shapes(arrays, state, arrays.seen, 0, own.shape)
    for pair in range(len(doubt.firsts)):
        move_pair_doubtful(doubt, pair, general, underway, state.theta, own, -1, 0.0, generator)
    for number in range(len(doubt.tempered)):
        temper(doubt, number, general, underway, state.theta, own, generator)

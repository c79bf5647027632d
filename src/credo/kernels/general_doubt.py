"""The compiled sweep where statements about any probability of the network meet statements that may be wrong.

CPTs are visited as in `general_sweeps.py`. Blocks that doubted statements reach are updated as in
`doubtful_updates.py`, under the sums of the visited CPT; the others along lines, as without doubt.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.doubt_arrays import BeliefArrays, DoubtArrays, begin_doubt, draw_odds
from credo.kernels.doubtful_updates import VisitArrays, visit
from credo.kernels.general_lines import count_broken
from credo.kernels.general_messages import SEND, begin_cpt, begin_sweep, end_cpt, send
from credo.kernels.general_sweeps import most_passes, move_along_lines
from credo.kernels.sampler_arrays import (
    ChainState,
    CliqueTree,
    DistributionArrays,
    Extras,
    GeneralArrays,
    GeneralMoves,
    Geometry,
    Underway,
)
from credo.kernels.sweeps import refresh, work_space


@compiled(error_model="numpy")
def general_doubtful_sweep(
    geometry: Geometry,
    extras: Extras,
    tree: CliqueTree,
    general: GeneralArrays,
    moves: GeneralMoves,  # lines
    groups: Any,  # (groups,) which general statements reach
    doubt: DoubtArrays,
    beliefs: BeliefArrays,
    visits: VisitArrays,
    passes: Any,  # (parameters of blocks,) how often each takes part
    no_general: GeneralArrays,  # without statements
    nothing: Underway,  # empty
    arrays: DistributionArrays,
    state: ChainState,
    generator: Any,
) -> None:
    """Every CPT that general statements reach once, then all other blocks that doubted statements constrain."""
    theta = state.theta
    own = begin_doubt(doubt, beliefs, arrays, state, len(general.bounds))
    limits = np.empty(len(geometry.bounds))
    for group in range(len(groups)):
        refresh(geometry, group, theta, limits)
    messages = np.empty((tree.messages[-1], general.indicators.shape[1]))
    touched = np.empty(len(general.bounds), dtype=np.int64)
    work, work_indices = work_space(len(theta), len(limits))
    begun, times = begin_sweep(tree, general, theta, messages)
    is_drawn = False
    for k in range(len(tree.operations)):
        kind, clique, which = tree.operations[k, 0], tree.operations[k, 1], tree.operations[k, 2]
        if kind == SEND:
            send(tree, general, clique, which, messages, begun, times)
            continue
        underway = begin_cpt(tree, general, clique, which, messages, begun)
        count_broken(general, underway, own.broken)
        if not is_drawn:
            draw_odds(beliefs, own.broken, own.odds, generator)
            is_drawn = True
        for done in range(most_passes(geometry, moves, which, passes)):
            move_along_lines(
                geometry, extras, general, moves, own.odds, which, passes, done, own.shape, theta, limits, underway,
                touched, work, work_indices, generator,
            )  # fmt: skip
        count_broken(general, underway, own.broken)
        visit(doubt, visits, which, passes, general, underway, arrays, state, own, generator)
        end_cpt(general, which, clique, theta, times)
    if not is_drawn:
        draw_odds(beliefs, own.broken, own.odds, generator)
    last = len(visits.set_starts) - 2
    visit(doubt, visits, last, passes, no_general, nothing, arrays, state, own, generator)

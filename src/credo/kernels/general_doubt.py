"""The compiled sweep where statements about any probability of the network meet statements that may be wrong.

CPTs are visited as in `general_sweeps.py`. Blocks that doubted statements reach are updated as in
`doubtful_updates.py`, under the sums of the visited CPT; the others along lines, as without doubt.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.doubt_arrays import BeliefArrays, DoubtArrays, DoubtState, begin_doubt, draw_odds
from credo.kernels.doubtful_pairs import move_pair_doubtful
from credo.kernels.doubtful_renewals import renew_sometimes
from credo.kernels.doubtful_tempering import temper
from credo.kernels.general_lines import count_broken
from credo.kernels.general_sweeps import SEND, begin_cpt, begin_sweep, end_cpt, multiply_clique, update_family
from credo.kernels.posterior_gibbs import set_shapes
from credo.kernels.sampler_arrays import (
    ChainState,
    CliqueTree,
    DistributionArrays,
    Extras,
    GeneralArrays,
    Geometry,
    Underway,
)
from credo.kernels.sweeps import refresh, work_space


class VisitArrays(NamedTuple):
    """What is updated when a CPT is visited; what belongs to none that is comes last, as one more CPT."""

    set_starts: Any  # (CPTs + 2,)
    sets: Any
    pair_starts: Any  # (CPTs + 2,)
    pairs: Any
    tempered_starts: Any  # (CPTs + 2,)
    tempered: Any


@compiled(error_model="numpy")
def visit(
    doubt: DoubtArrays,
    visits: VisitArrays,
    family: int,
    general: GeneralArrays,
    underway: Underway,
    arrays: DistributionArrays,
    state: ChainState,
    own: DoubtState,
    generator: Any,
) -> None:
    """Renewals, pairs and tempered transitions of one CPT."""
    for k in range(visits.set_starts[family], visits.set_starts[family + 1]):
        renew_sometimes(doubt, visits.sets[k], general, underway, arrays, state, own, generator)
    set_shapes(arrays, state, arrays.seen, 0, own.shape)
    for k in range(visits.pair_starts[family], visits.pair_starts[family + 1]):
        move_pair_doubtful(doubt, visits.pairs[k], general, underway, state.theta, own, -1, 0.0, generator)
    for k in range(visits.tempered_starts[family], visits.tempered_starts[family + 1]):
        temper(doubt, visits.tempered[k], general, underway, state.theta, own, generator)


@compiled(error_model="numpy")
def general_doubtful_sweep(
    geometry: Geometry,
    extras: Extras,
    tree: CliqueTree,
    general: GeneralArrays,
    groups: Any,  # (groups,) which general statements reach
    doubt: DoubtArrays,
    beliefs: BeliefArrays,
    visits: VisitArrays,
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
    begun = begin_sweep(tree, general, theta, messages)
    is_drawn = False
    for k in range(len(tree.operations)):
        kind, clique, which = tree.operations[k, 0], tree.operations[k, 1], tree.operations[k, 2]
        if kind == SEND:
            out = messages[tree.messages[which] : tree.messages[which + 1]]
            multiply_clique(tree, general, clique, -1, which, messages, begun.slopes, out)
            continue
        underway = begin_cpt(tree, general, clique, which, messages, begun)
        count_broken(general, underway, own.broken)
        if not is_drawn:
            draw_odds(beliefs, own.broken, own.odds, generator)
            is_drawn = True
        update_family(
            geometry, extras, general, own.odds, which, own.shape, theta, limits, underway, touched, work,
            work_indices, generator,
        )  # fmt: skip
        count_broken(general, underway, own.broken)
        visit(doubt, visits, which, general, underway, arrays, state, own, generator)
        end_cpt(general, which, theta)
    if not is_drawn:
        draw_odds(beliefs, own.broken, own.odds, generator)
    last = len(visits.set_starts) - 2
    visit(doubt, visits, last, no_general, nothing, arrays, state, own, generator)

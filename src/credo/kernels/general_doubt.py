"""The compiled sweep where statements about any probability of the network meet statements that may be wrong.

CPTs are visited as in `general_sweeps.py`. Blocks that doubted statements reach are updated as in
`doubtful_updates.py`, under the sums of the visited CPT; the others along lines, as without doubt.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.doubtful_updates import (
    BeliefArrays,
    DoubtArrays,
    broken_meanings,
    count_broken,
    draw_odds,
    move_pair_doubtful,
    normalise,
    pair_room,
    renew,
    room_left,
    temper,
)
from credo.kernels.general_sweeps import SEND, begin_cpt, begin_sweep, end_cpt, multiply_clique, update_family
from credo.kernels.polytope_moves import uniform
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


class DoubtState(NamedTuple):
    """What a sweep holds of doubted statements."""

    slack: Any
    hard: Any
    broken: Any
    odds: Any
    shape: Any
    room: Any
    indices: Any
    kept: Any
    chances: Any
    work: Any
    drawn: Any
    old: Any


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
        if uniform(generator) < doubt.set_chances[visits.sets[k]]:
            renew(
                doubt, visits.sets[k], general, underway, arrays, state, own.slack, own.hard, own.broken, own.odds,
                own.kept, own.chances, own.work, own.drawn, generator,
            )  # fmt: skip
    set_shapes(arrays, state, arrays.seen, 0, own.shape)
    for k in range(visits.pair_starts[family], visits.pair_starts[family + 1]):
        move_pair_doubtful(
            doubt, visits.pairs[k], general, underway, own.shape, state.theta, own.slack, own.hard, own.broken,
            own.odds, -1, 0.0, own.room, own.indices, generator,
        )  # fmt: skip
    for k in range(visits.tempered_starts[family], visits.tempered_starts[family + 1]):
        temper(
            doubt, visits.tempered[k], general, underway, own.shape, state.theta, own.slack, own.hard, own.broken,
            own.odds, own.old, own.room, own.indices, generator,
        )  # fmt: skip


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
    edge = arrays.starts[arrays.constrained[0]]
    normalise(arrays, theta)
    limits = np.empty(len(geometry.bounds))
    for group in range(len(groups)):
        refresh(geometry, group, theta, limits)
    slack = room_left(doubt.starts, doubt.indices, doubt.values, doubt.bounds, theta)
    broken = broken_meanings(doubt, beliefs, slack)
    room, indices = pair_room(doubt, len(general.bounds))
    own = DoubtState(
        slack,
        room_left(doubt.hard_starts, doubt.hard_indices, doubt.hard_values, doubt.hard_bounds, theta),
        broken,
        np.empty(len(broken)),
        np.empty(len(theta)),
        room,
        indices,
        np.empty(edge),
        np.empty(arrays.strengths.shape[1]),
        np.empty(2 * edge),
        np.empty(len(arrays.families), dtype=np.int64),
        np.empty((2, max(edge, len(slack)))),
    )
    set_shapes(arrays, state, arrays.seen, 0, own.shape)
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
        count_broken(general, underway, broken)
        if not is_drawn:
            draw_odds(beliefs, broken, own.odds, generator)
            is_drawn = True
        update_family(
            geometry, extras, general, own.odds, which, own.shape, theta, limits, underway, touched, work,
            work_indices, generator,
        )  # fmt: skip
        count_broken(general, underway, broken)
        visit(doubt, visits, which, general, underway, arrays, state, own, generator)
        end_cpt(general, which, theta)
    if not is_drawn:
        draw_odds(beliefs, broken, own.odds, generator)
    last = len(visits.set_starts) - 2
    visit(doubt, visits, last, no_general, nothing, arrays, state, own, generator)

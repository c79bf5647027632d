"""The compiled updates of CPTs under statements about any probability of the network, CPT after CPT."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.collapsed import set_norms
from credo.kernels.compiler import compiled
from credo.kernels.general_distributions import (
    Binding,
    Collapsed,
    draw_component,
    move_pairs,
    update_jointly_checked,
)
from credo.kernels.general_lines import add_direction, clear_line, update_line
from credo.kernels.general_messages import SEND, begin_cpt, begin_sweep, end_cpt, send
from credo.kernels.polytope_moves import uniform
from credo.kernels.posterior_gibbs import mixture_of, run_posterior, set_density, set_shape, set_shapes
from credo.kernels.sampler_arrays import (
    BORROWING,
    ChainState,
    CliqueTree,
    DistributionArrays,
    Extras,
    GeneralArrays,
    GeneralMoves,
    Geometry,
    JointUpdates,
    Ranges,
    Schedule,
    Underway,
)
from credo.kernels.sweeps import laid_out, refresh, work_space


@compiled(**BORROWING)
def move_along_lines(
    geometry: Geometry,
    extras: Extras,
    general: GeneralArrays,
    moves: GeneralMoves,
    odds: Any,
    family: int,
    passes: Any,  # (parameters of blocks,) how often each takes part
    done: int,  # passes
    shape: Any,
    theta: Any,
    slack: Any,
    underway: Underway,
    touched: Any,
    work: Any,
    work_indices: Any,
    generator: Any,
) -> None:
    """The moves of one CPT that are no pairs of states, each as often as its chance has it."""
    for place in range(moves.line_starts[family], moves.line_starts[family + 1]):
        move = moves.lines[place]
        if done > 0 and passes_of_move(geometry, move, passes) <= done:
            continue
        if geometry.chances[move] < 1.0 and uniform(generator) > geometry.chances[move]:
            continue
        named = geometry.extra_list[geometry.extra_starts[move] : geometry.extra_starts[move + 1]]
        indices, values, constraints, changes = laid_out(geometry, move, shape, theta, work, work_indices)
        clear_line(underway)
        for k in range(len(indices)):
            add_direction(general, underway, indices[k], values[k])
        update_line(
            general, odds, indices, values, constraints, changes, named, extras, work[4], theta, slack, underway,
            touched, work, generator,
        )  # fmt: skip


@compiled(**BORROWING)
def passes_of_move(geometry: Geometry, move: int, passes: Any) -> int:
    """How often a move takes part in a sweep: as the parameter that does most."""
    most = 1
    for k in range(geometry.move_starts[move], geometry.move_starts[move + 1]):
        most = max(most, passes[geometry.move_indices[k]])
    return most


@compiled(**BORROWING)
def most_passes(geometry: Geometry, moves: GeneralMoves, family: int, passes: Any) -> int:
    """In how many passes anything of a CPT takes part."""
    most = 1
    for place in range(moves.distribution_starts[family], moves.distribution_starts[family + 1]):
        most = max(most, passes[geometry.distributions[moves.distributions[place]]])
    for place in range(moves.line_starts[family], moves.line_starts[family + 1]):
        most = max(most, passes_of_move(geometry, moves.lines[place], passes))
    return most


@compiled(**BORROWING)
def update_family(
    geometry: Geometry,
    extras: Extras,
    general: GeneralArrays,
    moves: GeneralMoves,
    collapsed: Collapsed,
    family: int,
    passes: Any,  # (parameters of blocks,) in how many rounds each takes part, of which
    done: int,  # so many were made
    binding: Binding,
    arrays: DistributionArrays,
    state: ChainState,
    shape: Any,
    slack: Any,
    underway: Underway,
    touched: Any,
    work: Any,
    work_indices: Any,
    odds: Any,
    generator: Any,
) -> None:
    """One CPT: pairs of states, lines, and joint updates.

    These sum over components. What they change gets new ones, before it is moved given these again.
    """
    for place in range(moves.distribution_starts[family], moves.distribution_starts[family + 1]):
        if done == 0 or passes[geometry.distributions[moves.distributions[place]]] > done:
            move_pairs(geometry, general, moves, place, binding, shape, state.theta, slack, underway, generator)
    move_along_lines(
        geometry, extras, general, moves, odds, family, passes, done, shape, state.theta, slack, underway, touched,
        work, work_indices, generator,
    )  # fmt: skip
    jumped = False
    for place in range(moves.joint_starts[family], moves.joint_starts[family + 1]):
        which = moves.joints[place]
        if done > 0 and passes_of_update(collapsed.updates, which, passes) <= done:
            continue
        if uniform(generator) < collapsed.updates.chances[which]:
            jumped |= update_jointly_checked(
                geometry, extras, general, collapsed, which, arrays, state, shape, underway, generator
            )
    if jumped:
        refresh_groups(geometry, moves, family, state.theta, slack)
    for place in range(moves.distribution_starts[family], moves.distribution_starts[family + 1]):
        d = moves.distributions[place]
        if passes[geometry.distributions[d]] > done + 1 and arrays.informative[d] and not arrays.flat[d]:
            draw_component(collapsed.mixture, d, state, collapsed.chances, generator)
            set_shape(arrays, state, d, shape)


@compiled(**BORROWING)
def passes_of_update(updates: JointUpdates, which: int, passes: Any) -> int:
    """How often a joint update takes part in a sweep: as the parameter that does most."""
    most = 1
    for step in range(updates.starts[which], updates.starts[which + 1]):
        most = max(most, passes[updates.numbers[step]])
    return most


@compiled(**BORROWING)
def refresh_groups(geometry: Geometry, moves: GeneralMoves, family: int, theta: Any, slack: Any) -> None:
    """b − Aθ of all groups of a CPT, which joint updates do not follow."""
    for place in range(moves.group_starts[family], moves.group_starts[family + 1]):
        refresh(geometry, moves.groups[place], theta, slack)


@compiled(error_model="numpy")
def general_sweep(
    geometry: Geometry,
    extras: Extras,
    tree: CliqueTree,
    general: GeneralArrays,
    moves: GeneralMoves,
    updates: JointUpdates,
    groups: Any,  # (groups,) which general statements reach
    passes: Any,  # (parameters of blocks,) in how many rounds each takes part,
    rounds: Any,  # (operations,) and each operation of the tree
    arrays: DistributionArrays,
    state: ChainState,
    generator: Any,
) -> None:
    """Every CPT that general statements reach, with derivatives that follow the updates.

    What mixes slowly is updated in several rounds: CPTs that statements hold together follow each other.
    """
    theta, count, components = state.theta, len(arrays.families), arrays.strengths.shape[1]
    slack = np.empty(len(geometry.bounds))
    for group in range(len(groups)):
        refresh(geometry, group, theta, slack)
    shape, odds = np.empty(len(theta)), np.empty(0)
    set_shapes(arrays, state, shape)
    families = len(arrays.cells) - 1
    norms, density = np.empty((families, 2, components)), np.empty((families, 2, components))
    set_norms(arrays, state.means, norms)
    set_density(state, norms, density)
    order = np.full(count, -1, dtype=np.int64)
    mixture = mixture_of(arrays, state, density)
    collapsed = Collapsed(updates, mixture, np.empty(len(theta)), order, np.empty(components))
    states = 0
    for d in range(count):
        states = max(states, arrays.starts[d + 1] - arrays.starts[d])
    constraints = len(general.bounds)
    binding = Binding(np.empty(constraints), np.empty((constraints, states)), np.empty(constraints), np.empty(states))
    messages = np.empty((tree.messages[-1], general.indicators.shape[1]))
    touched = np.empty(constraints, dtype=np.int64)
    work, indices = work_space(len(theta), len(slack))
    room, times = begin_sweep(tree, general, theta, messages)
    most = 1
    for k in range(len(rounds)):
        most = max(most, rounds[k])
    for done in range(most):
        for k in range(len(tree.operations)):
            if rounds[k] <= done:
                continue
            kind, clique, which = tree.operations[k, 0], tree.operations[k, 1], tree.operations[k, 2]
            if kind == SEND:
                send(tree, general, clique, which, messages, room, times)
                continue
            underway = begin_cpt(tree, general, clique, which, messages, room)
            update_family(
                geometry, extras, general, moves, collapsed, which, passes, done, binding, arrays, state, shape, slack,
                underway, touched, work, indices, odds, generator,
            )  # fmt: skip
            end_cpt(general, which, clique, theta, times)


@compiled(error_model="numpy")
def run_general(
    geometry: Geometry,
    extras: Extras,
    tree: CliqueTree,
    general: GeneralArrays,
    moves: GeneralMoves,
    general_joint: JointUpdates,  # of groups that general statements reach
    groups: Any,  # (groups,) which these are
    passes: Any,
    rounds: Any,
    updates: JointUpdates,  # of all other groups
    ranges: Ranges,
    arrays: DistributionArrays,
    schedule: Schedule,
    state: ChainState,
    mean_concentration: float,
    pooling_concentration: float,
    thinning: int,
    out_theta: Any,
    out_component: Any,
    out_means: Any,
    out_weights: Any,
    moments: Any,
    generator: Any,
) -> None:
    """Draws as `run_posterior` makes them, with a sweep of what general statements reach before each of its own."""
    for draw in range(len(out_theta)):
        now = slice(draw, draw + 1)
        for _ in range(thinning):
            general_sweep(
                geometry, extras, tree, general, moves, general_joint, groups, passes, rounds, arrays, state, generator
            )
            run_posterior(
                geometry, extras, updates, ranges, arrays, schedule, state, mean_concentration, pooling_concentration,
                1, out_theta[now], out_component[now], out_means[now], out_weights[now], moments, generator,
            )  # fmt: skip

"""The compiled updates of CPTs under statements about any probability of the network.

With all other CPTs fixed, every sum P(…) is linear in one CPT, and so along a line in it: S + t·dS. A statement about
one conditional probability then bounds t; others are evaluated where a slice tries a point. The derivatives of all sums
with respect to a CPT come from a clique tree, whose messages follow the updates from CPT to CPT.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.general_lines import add_direction, clear_line, statement_value
from credo.kernels.polytope_moves import (
    MOST_SHRINKS,
    MOST_STEPS_OUT,
    STEP_OUT,
    ends_of_line,
    extra_terms,
    place_on_line,
    set_gaps,
    uniform,
)
from credo.kernels.posterior_gibbs import set_shapes
from credo.kernels.sampler_arrays import (
    BORROWING,
    ROUNDING,
    ChainState,
    CliqueTree,
    DistributionArrays,
    Extras,
    GeneralArrays,
    Geometry,
    Underway,
)
from credo.kernels.sweeps import NOTHING, laid_out, refresh, work_space

SEND = 0


@compiled(**BORROWING)
def multiply_clique(
    tree: CliqueTree, general: GeneralArrays, clique: int, family: int, message: int, messages: Any, row: Any, out: Any
) -> None:
    """The product of all that is put into a clique, but for one CPT or one message, summed into `out`."""
    cells, indicators, maps = general.cpts, general.indicators, tree.maps
    sums = indicators.shape[1]
    skipped = message ^ 1 if message >= 0 else -1  # the message from where it goes
    target = tree.outs[message] if message >= 0 else 0
    first = tree.messages[message] if message >= 0 else general.family_starts[family]
    if family >= 0:
        for k in range(tree.family_starts[clique], tree.family_starts[clique + 1]):
            if tree.family_inputs[k, 0] == family:
                target = tree.family_inputs[k, 1]
    last = tree.messages[message + 1] if message >= 0 else general.family_starts[family + 1]
    for cell in range(last - first):
        for s in range(sums):
            out[cell, s] = 0.0
    shift = first if family >= 0 else 0
    for cell in range(tree.counts[clique]):
        value = 1.0
        for k in range(tree.family_starts[clique], tree.family_starts[clique + 1]):
            if tree.family_inputs[k, 0] != family:
                value *= cells[maps[tree.family_inputs[k, 1] + cell]]
        if value == 0.0:
            continue
        for s in range(sums):
            row[s] = value
        for k in range(tree.indicator_starts[clique], tree.indicator_starts[clique + 1]):
            place = tree.indicator_inputs[k, 0] + maps[tree.indicator_inputs[k, 1] + cell]
            for s in range(sums):
                row[s] *= indicators[place, s]
        for k in range(tree.message_starts[clique], tree.message_starts[clique + 1]):
            which = tree.message_inputs[k, 0]
            if which != skipped:
                place = tree.messages[which] + maps[tree.message_inputs[k, 1] + cell]
                for s in range(sums):
                    row[s] *= messages[place, s]
        place = maps[target + cell] - shift
        for s in range(sums):
            out[place, s] += row[s]


@compiled(**BORROWING)
def general_terms(general: GeneralArrays, named: Any, sums: Any, changes: Any, linear: Any, step: float) -> float:
    """What statements add to the log density at a point of a line: 0 or −∞, or −w/2·violation²."""
    density = 0.0
    for statement in named:
        value = statement_value(general, statement, sums, changes, linear, step)
        if np.isnan(general.weights[statement]):
            if value > ROUNDING:
                return -np.inf
        elif value > 0.0 or (general.equality[statement] and value > -np.inf):
            density -= 0.5 * general.weights[statement] * value * value
    return density


@compiled(**BORROWING)
def believed_terms(general: GeneralArrays, odds: Any, sums: Any, changes: Any, linear: Any, step: float) -> float:
    """Σ log-odds of the statements that may be wrong and hold at a point of a line."""
    density, row, count = 0.0, 0, len(general.bounds)
    if len(odds) == 0:
        return density
    while row < count:
        meaning = general.meanings[row]
        if meaning < 0:
            row += 1
            continue
        holds = True
        while row < count and general.meanings[row] == meaning:
            holds = holds and statement_value(general, row, sums, changes, linear, step) <= ROUNDING
            row += 1
        if holds:
            density += odds[meaning]
    return density


@compiled(**BORROWING)
def update_line(
    general: GeneralArrays,
    belief: Any,  # (meanings,) the log-odds of what may be wrong; empty where nothing is
    indices: Any,
    values: Any,
    constraints: Any,
    changes: Any,
    named: Any,
    extras: Extras,
    exponents: Any,
    theta: Any,
    slack: Any,
    sums: Any,
    slopes: Any,
    linear: Any,
    touched: Any,  # room for statements
    work: Any,
    generator: Any,
) -> None:
    """Along a direction, as `move_line`, with sums that change by `slopes` and parameters in statements by `linear`."""
    low, high = ends_of_line(indices, values, constraints, changes, theta, slack)
    count = 0
    for statement in range(len(general.bounds)):
        term = general.term_starts[statement]
        if general.meanings[statement] >= 0:
            continue
        if general.single[statement]:
            above, below = general.above[term], general.below[term]
            bound = general.bounds[statement] / general.coefficients[term]
            sign = 1.0 if general.coefficients[term] > 0.0 else -1.0
            if below >= 0:
                value = sign * (sums[above] - bound * sums[below])
                slope = sign * (slopes[above] - bound * slopes[below])
                scale = abs(slopes[above]) + abs(bound * slopes[below])
            else:
                value, slope = sign * (sums[above] - bound), sign * slopes[above]
                scale = abs(slopes[above])
            if abs(slope) > NOTHING * scale and scale > 0.0:
                limit = -min(value, 0.0) / slope
                if slope > 0.0:
                    high = min(high, limit)
                else:
                    low = max(low, limit)
        else:
            moves = linear[1, statement] != 0.0
            for k in range(term, general.term_starts[statement + 1]):
                moves |= slopes[general.above[k]] != 0.0
                if general.below[k] >= 0:
                    moves |= slopes[general.below[k]] != 0.0
            if moves:
                touched[count] = statement
                count += 1
    if not (low < 0.0 < high):
        return
    length = high - low
    gaps, old = work[0], work[1]
    set_gaps(indices, values, theta, low, high, gaps, old)
    now = np.log(-low / high)
    others = touched[:count]
    level = place_on_line(exponents, theta, indices, values, gaps, length, now) + np.log(uniform(generator))
    level += extra_terms(extras, named, theta) + general_terms(general, others, sums, slopes, linear, 0.0)
    level += believed_terms(general, belief, sums, slopes, linear, 0.0)
    left = now - STEP_OUT * uniform(generator)
    right = left + STEP_OUT
    most_left = int(MOST_STEPS_OUT * uniform(generator))
    for _ in range(most_left):
        if place_on_line(exponents, theta, indices, values, gaps, length, left) < level:
            break
        left -= STEP_OUT
    for _ in range(MOST_STEPS_OUT - 1 - most_left):
        if place_on_line(exponents, theta, indices, values, gaps, length, right) < level:
            break
        right += STEP_OUT
    for _ in range(MOST_SHRINKS):
        odds = left + uniform(generator) * (right - left)
        density = place_on_line(exponents, theta, indices, values, gaps, length, odds)
        if density >= level:
            density += extra_terms(extras, named, theta)
        if density >= level:
            step = low + length / (1.0 + np.exp(-odds))
            density += general_terms(general, others, sums, slopes, linear, step)
            density += believed_terms(general, belief, sums, slopes, linear, step)
            if density >= level:
                for k in range(len(constraints)):
                    slack[constraints[k]] -= step * changes[k]
                for s in range(len(sums)):
                    sums[s] += step * slopes[s]
                for statement in range(len(general.bounds)):
                    linear[0, statement] += step * linear[1, statement]
                return
        if odds < now:
            left = odds
        else:
            right = odds
    for k in range(len(indices)):
        theta[indices[k]] = old[k]


@compiled(**BORROWING)
def update_family(
    geometry: Geometry,
    extras: Extras,
    general: GeneralArrays,
    odds: Any,
    family: int,
    passes: Any,  # (parameters of blocks,) how often each takes part
    shape: Any,
    theta: Any,
    slack: Any,
    underway: Underway,
    touched: Any,
    work: Any,
    work_indices: Any,
    generator: Any,
) -> None:
    """All moves within one CPT, each as often as its chance has it; what mixes slowly takes part in several passes."""
    most = 1
    for place in range(general.move_starts[family], general.move_starts[family + 1]):
        most = max(most, passes_of_move(geometry, general.moves[place], passes))
    for done in range(most):
        for place in range(general.move_starts[family], general.move_starts[family + 1]):
            move = general.moves[place]
            if done == 0 or passes_of_move(geometry, move, passes) > done:
                make_move(
                    geometry, extras, general, odds, move, shape, theta, slack, underway, touched, work, work_indices,
                    generator,
                )  # fmt: skip


@compiled(**BORROWING)
def passes_of_move(geometry: Geometry, move: int, passes: Any) -> int:
    """How often a move takes part in a sweep: as the parameter that does most."""
    most = 1
    for k in range(geometry.move_starts[move], geometry.move_starts[move + 1]):
        most = max(most, passes[geometry.move_indices[k]])
    return most


@compiled(**BORROWING)
def make_move(
    geometry: Geometry,
    extras: Extras,
    general: GeneralArrays,
    odds: Any,
    move: int,
    shape: Any,
    theta: Any,
    slack: Any,
    underway: Underway,
    touched: Any,
    work: Any,
    work_indices: Any,
    generator: Any,
) -> None:
    """One move, as often as its chance has it."""
    if geometry.chances[move] < 1.0 and uniform(generator) > geometry.chances[move]:
        return
    named = geometry.extra_list[geometry.extra_starts[move] : geometry.extra_starts[move + 1]]
    indices, values, constraints, changes = laid_out(geometry, move, shape, theta, work, work_indices)
    clear_line(general, underway)
    for k in range(len(indices)):
        add_direction(general, underway, indices[k], values[k])
    update_line(
        general, odds, indices, values, constraints, changes, named, extras, work[4], theta, slack, underway.sums,
        underway.slopes, underway.linear, touched, work, generator,
    )  # fmt: skip


@compiled(error_model="numpy")
def begin_cpt(tree: CliqueTree, general: GeneralArrays, clique: int, family: int, messages: Any, room: Underway) -> Any:
    """A CPT as it is begun: the derivatives of all sums with respect to it, and the sums."""
    first, last = general.family_starts[family], general.family_starts[family + 1]
    multiply_clique(tree, general, clique, family, -1, messages, room.slopes, room.derivatives)
    for s in range(len(room.sums)):
        room.sums[s] = 0.0
    for cell in range(first, last):
        for s in range(len(room.sums)):
            room.sums[s] += general.cpts[cell] * room.derivatives[cell - first, s]
    return Underway(first, room.derivatives, room.sums, room.slopes, room.linear, room.kept)


@compiled(error_model="numpy")
def end_cpt(general: GeneralArrays, family: int, theta: Any) -> None:
    """What a CPT became, for the messages to others."""
    for i in range(len(general.places)):
        cell = general.places[i]
        if general.family_starts[family] <= cell < general.family_starts[family + 1]:
            general.cpts[cell] = theta[i]


@compiled(error_model="numpy")
def begin_sweep(tree: CliqueTree, general: GeneralArrays, theta: Any, messages: Any) -> Any:
    """The present CPTs, the messages to the root, and room for the CPTs that are updated one by one."""
    count, statements = general.indicators.shape[1], len(general.bounds)
    for i in range(len(general.places)):
        if general.places[i] >= 0:
            general.cpts[general.places[i]] = theta[i]
    largest = 0
    for family in range(len(general.family_starts) - 1):
        largest = max(largest, general.family_starts[family + 1] - general.family_starts[family])
    linear = np.zeros((2, statements))
    for i in range(len(general.entry_starts) - 1):
        for e in range(general.entry_starts[i], general.entry_starts[i + 1]):
            linear[0, general.entry_statements[e]] += general.entry_values[e] * theta[i]
    slopes = np.empty(count)
    for k in range(len(tree.collecting)):
        clique, message = tree.collecting[k, 1], tree.collecting[k, 2]
        out = messages[tree.messages[message] : tree.messages[message + 1]]
        multiply_clique(tree, general, clique, -1, message, messages, slopes, out)
    kept = np.empty((2, max(count, statements)))
    return Underway(general.family_starts[0], np.empty((largest, count)), np.empty(count), slopes, linear, kept)


@compiled(error_model="numpy")
def general_sweep(
    geometry: Geometry,
    extras: Extras,
    tree: CliqueTree,
    general: GeneralArrays,
    groups: Any,  # (groups,) which general statements reach
    passes: Any,  # (parameters of blocks,) how often each takes part
    arrays: DistributionArrays,
    state: ChainState,
    generator: Any,
) -> None:
    """Every CPT that general statements reach once, with derivatives that follow the updates."""
    theta = state.theta
    slack = np.empty(len(geometry.bounds))
    for group in range(len(groups)):
        refresh(geometry, group, theta, slack)
    shape, odds = np.empty(len(theta)), np.empty(0)
    set_shapes(arrays, state, arrays.seen, 0, shape)
    messages = np.empty((tree.messages[-1], general.indicators.shape[1]))
    touched = np.empty(len(general.bounds), dtype=np.int64)
    work, indices = work_space(len(theta), len(slack))
    room = begin_sweep(tree, general, theta, messages)
    for k in range(len(tree.operations)):
        kind, clique, which = tree.operations[k, 0], tree.operations[k, 1], tree.operations[k, 2]
        if kind == SEND:
            out = messages[tree.messages[which] : tree.messages[which + 1]]
            multiply_clique(tree, general, clique, -1, which, messages, room.slopes, out)
            continue
        underway = begin_cpt(tree, general, clique, which, messages, room)
        update_family(
            geometry, extras, general, odds, which, passes, shape, theta, slack, underway, touched, work, indices,
            generator,
        )  # fmt: skip
        end_cpt(general, which, theta)

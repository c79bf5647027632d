"""Whole distributions proposed at once, under statements that may be wrong.

Renewal: distributions and their components are drawn as if there were no statements. Following: one of them is, and the
others go with it, so that distributions which statements hold together (`P(x | a) ~ P(x | b)`) come at once to where
other statements hold. They change by the same amounts, θ_e′ = θ_e + θ_d′ − θ_d, which keeps volumes; or by the same
factors, θ_e′ ∝ θ_e·θ_d′/θ_d, which leads into corners, and multiplies volumes by Π θ_e′/θ_e. The component of what
follows is summed over, and drawn again.
"""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from credo.kernels.collapsed import drawn_component
from credo.kernels.compiler import compiled
from credo.kernels.doubt_arrays import DoubtArrays, DoubtState, doubted_room, hard_room, refresh_constraint
from credo.kernels.gamma_draws import draw_dirichlet
from credo.kernels.general_lines import add_direction, clear_line, general_ratio, go_on
from credo.kernels.polytope_moves import SMALLEST, uniform
from credo.kernels.range_classes import shape_at
from credo.kernels.sampler_arrays import ROUNDING, ChainState, DistributionArrays, GeneralArrays, Underway

MOST_DRAWN = 6  # distributions that are drawn together at most: of more, nearly all draws are rejected


@compiled(error_model="numpy")
def exponentiate(logs: Any) -> float:
    """Logarithms become shares of the largest; returns the logarithm of their sum."""
    highest, total = -np.inf, 0.0
    for g in range(len(logs)):
        highest = max(highest, logs[g])
    for g in range(len(logs)):
        logs[g] = np.exp(logs[g] - highest)
        total += logs[g]
    return highest + np.log(total)


@compiled(error_model="numpy")
def draw_freely(
    arrays: DistributionArrays, state: ChainState, d: int, chances: Any, shape: Any, out: Any, generator: Any
) -> int:
    """A component and a distribution, as if there were no statements: p(z, θ | data, m, π)."""
    start, stop = arrays.starts[d], arrays.starts[d + 1]
    family, seen = arrays.families[d], arrays.seen[d]
    states, total = stop - start, 0.0
    for i in range(start, stop):
        total += arrays.counts[i]
    for g in range(len(chances)):
        strength = arrays.strengths[seen, g]
        value = np.log(max(state.weights[family, g], SMALLEST))
        if total > 0.0:
            value += lgamma(strength) - lgamma(strength + total)
            for i in range(start, stop):
                if arrays.counts[i] > 0.0:
                    own = shape_at(arrays, state.means, d, g, i)
                    value += lgamma(own + arrays.counts[i]) - lgamma(own)
        chances[g] = value
    exponentiate(chances)
    chosen = drawn_component(chances, generator)
    for i in range(states):
        shape[i] = shape_at(arrays, state.means, d, chosen, start + i) + arrays.counts[start + i]
    draw_dirichlet(shape[:states], out[:states], generator)
    return chosen


@compiled(error_model="numpy")
def component_logs(arrays: DistributionArrays, state: ChainState, d: int, theta: Any, logs: Any) -> None:
    """log p(z = g, θ, data | m, π) of one distribution, at `theta`."""
    start, stop = arrays.starts[d], arrays.starts[d + 1]
    for g in range(len(logs)):
        value = np.log(max(state.weights[arrays.families[d], g], SMALLEST))
        value += lgamma(arrays.strengths[arrays.seen[d], g])
        for i in range(start, stop):
            own = shape_at(arrays, state.means, d, g, i)
            value += (own + arrays.counts[i] - 1.0) * np.log(theta[i - start]) - lgamma(own)
        logs[g] = value


@compiled(error_model="numpy")
def follow(arrays: DistributionArrays, theta: Any, d: int, changes: Any, by_factors: bool, out: Any) -> bool:
    """A distribution changed by the same amounts, or factors, as another; returns whether it still is one."""
    start, stop = arrays.starts[d], arrays.starts[d + 1]
    total = 0.0
    for i in range(stop - start):
        out[i] = theta[start + i] * changes[i] if by_factors else theta[start + i] + changes[i]
        total += out[i]
        if not SMALLEST < out[i] < np.inf:
            return False
    if by_factors:
        for i in range(stop - start):
            out[i] = max(out[i] / total, SMALLEST)
    return True


@compiled(error_model="numpy")
def density_ratio(
    arrays: DistributionArrays, state: ChainState, d: int, old: Any, by_factors: bool, own: DoubtState, generator: Any
) -> Any:
    """A component for a distribution that followed, and the ratio of densities at θ and at `old`, with volumes."""
    start, stop = arrays.starts[d], arrays.starts[d + 1]
    component_logs(arrays, state, d, old, own.chances[0])
    component_logs(arrays, state, d, state.theta[start:stop], own.chances[1])
    ratio = exponentiate(own.chances[1]) - exponentiate(own.chances[0])
    if by_factors:
        for i in range(stop - start):
            ratio += np.log(state.theta[start + i] / old[i])
    return drawn_component(own.chances[1], generator), ratio


@compiled(error_model="numpy")
def statement_ratio(doubt: DoubtArrays, number: int, theta: Any, own: DoubtState) -> float:
    """What statements give the proposed place of a set over the present one: −∞ where one that must hold does not."""
    for k in range(doubt.set_limit_starts[number], doubt.set_limit_starts[number + 1]):
        if hard_room(doubt, doubt.set_limits[k], theta) < 0.0:
            return -np.inf
    ratio = 0.0
    k, stop = doubt.set_constraint_starts[number], doubt.set_constraint_starts[number + 1]
    while k < stop:
        s, change = doubt.statements[doubt.set_constraints[k]], 0
        while k < stop and doubt.statements[doubt.set_constraints[k]] == s:
            constraint = doubt.set_constraints[k]
            change += int(doubted_room(doubt, constraint, theta) < -ROUNDING) - int(own.slack[constraint] < -ROUNDING)
            k += 1
        ratio += own.odds[s] * (int(own.broken[s] + change == 0) - int(own.broken[s] == 0))
    return ratio


@compiled(error_model="numpy")
def propose(
    doubt: DoubtArrays,
    number: int,
    leader: int,
    by_factors: bool,
    arrays: DistributionArrays,
    state: ChainState,
    own: DoubtState,
    generator: Any,
) -> bool:
    """New distributions of a set, in `kept`, and components of those that are drawn; False: not all would be some."""
    first, used = doubt.set_starts[number], 0
    half = len(own.work) // 2
    proposed, changes = own.work[:half], own.work[half:]
    if leader >= 0:
        d = doubt.sets[first + leader]
        start = arrays.starts[d]
        own.drawn[leader] = draw_freely(arrays, state, d, own.chances[0], changes, proposed, generator)
        for i in range(arrays.starts[d + 1] - start):
            now = state.theta[start + i]
            changes[i] = proposed[i] / now if by_factors else proposed[i] - now
    for m in range(doubt.set_starts[number + 1] - first):
        d = doubt.sets[first + m]
        states = arrays.starts[d + 1] - arrays.starts[d]
        to = own.kept[used : used + states]
        if leader < 0:
            own.drawn[m] = draw_freely(arrays, state, d, own.chances[0], changes, to, generator)
        elif m == leader:
            for i in range(states):
                to[i] = proposed[i]
        elif not follow(arrays, state.theta, d, changes, by_factors, to):
            return False
        used += states
    return True


@compiled(error_model="numpy")
def renew(
    doubt: DoubtArrays,
    number: int,
    leader: int,  # which distribution of the set the others follow, −1: all are drawn
    by_factors: bool,  # how they follow
    general: GeneralArrays,
    underway: Underway,
    arrays: DistributionArrays,
    state: ChainState,
    own: DoubtState,
    generator: Any,
) -> None:
    """Distributions drawn as if there were no statements, or following one; kept with the chance that these give.

    What follows is kept if the statements accept it, and then its density: most is rejected by the former, which take
    less time [Christen and Fox, 2005].
    """
    theta, reaches = state.theta, len(general.bounds) > 0
    first, last = doubt.set_starts[number], doubt.set_starts[number + 1]
    if not propose(doubt, number, leader, by_factors, arrays, state, own, generator):
        return
    exchange(doubt, number, arrays, theta, own.kept)
    ratio = statement_ratio(doubt, number, theta, own)
    if reaches and ratio > -np.inf:
        clear_line(underway)
        used = 0
        for m in range(first, last):
            for i in range(arrays.starts[doubt.sets[m]], arrays.starts[doubt.sets[m] + 1]):
                add_direction(general, underway, i, theta[i] - own.kept[used])
                used += 1
        ratio += general_ratio(general, underway, own.broken, own.odds, 1.0, False)
    accepted, used = np.log(uniform(generator)) < ratio, 0
    if accepted and leader >= 0:
        ratio = 0.0
        for m in range(last - first):
            d = doubt.sets[first + m]
            states = arrays.starts[d + 1] - arrays.starts[d]
            if m != leader:
                old = own.kept[used : used + states]
                own.drawn[m], more = density_ratio(arrays, state, d, old, by_factors, own, generator)
                ratio += more
            used += states
        accepted = np.log(uniform(generator)) < ratio
    if not accepted:
        exchange(doubt, number, arrays, theta, own.kept)
        return
    for m in range(first, last):
        state.component[doubt.sets[m]] = own.drawn[m - first]
    if reaches:
        go_on(general, underway, own.broken, 1.0)
    for k in range(doubt.set_limit_starts[number], doubt.set_limit_starts[number + 1]):
        own.hard[doubt.set_limits[k]] = hard_room(doubt, doubt.set_limits[k], theta)
    for k in range(doubt.set_constraint_starts[number], doubt.set_constraint_starts[number + 1]):
        refresh_constraint(doubt, doubt.set_constraints[k], theta, own)


@compiled(error_model="numpy")
def exchange(doubt: DoubtArrays, number: int, arrays: DistributionArrays, theta: Any, kept: Any) -> None:
    """The distributions of a set, with those that are kept."""
    used = 0
    for m in range(doubt.set_starts[number], doubt.set_starts[number + 1]):
        for i in range(arrays.starts[doubt.sets[m]], arrays.starts[doubt.sets[m] + 1]):
            theta[i], kept[used] = kept[used], theta[i]
            used += 1


@compiled(error_model="numpy")
def renew_sometimes(
    doubt: DoubtArrays,
    number: int,
    general: GeneralArrays,
    underway: Underway,
    arrays: DistributionArrays,
    state: ChainState,
    own: DoubtState,
    generator: Any,
) -> None:
    """A set drawn, or one of it with all others following by amounts or by factors, each in a third of all cases."""
    if uniform(generator) >= doubt.set_chances[number]:
        return
    first, last = doubt.set_starts[number], doubt.set_starts[number + 1]
    together = last - first > 1
    for m in range(first + 1, last):
        d, before = doubt.sets[m], doubt.sets[m - 1]
        if arrays.starts[d + 1] - arrays.starts[d] != arrays.starts[before + 1] - arrays.starts[before]:
            together = False  # other states: the same changes mean nothing
    way = int(3.0 * uniform(generator)) if together else 0
    if together and last - first > MOST_DRAWN:
        way = 1 + int(2.0 * uniform(generator))
    leader = int(uniform(generator) * (last - first)) if way else -1
    renew(doubt, number, leader, way == 2, general, underway, arrays, state, own, generator)

"""Updates of distributions under statements about any probability, while their CPT is visited.

A statement that is linear in a CPT is one more linear constraint on it, Σ c_k·θ_k ≤ …, whose coefficients come from the
derivatives of sums. A distribution of an improbable configuration can break few of them, whatever it becomes: those
that it can are looked for once, and bound its moves. Joint updates know nothing of these statements: what they propose
is taken back where it breaks one, as Metropolis and Hastings would have it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from credo.kernels.collapsed import drawn_component
from credo.kernels.compiler import compiled
from credo.kernels.general_lines import add_direction, advance, clear_line, general_terms
from credo.kernels.joint_updates import joint_update, log_sums, take_back, update_alone
from credo.kernels.polytope_moves import draw_split, ends_of_pair, uniform
from credo.kernels.posterior_gibbs import set_shape
from credo.kernels.sampler_arrays import (
    BORROWING,
    ChainState,
    DistributionArrays,
    Extras,
    GeneralArrays,
    GeneralMoves,
    Geometry,
    JointUpdates,
    Mixture,
    Underway,
)

NO_CHANGE = 1e-14  # of the terms of a coefficient: what is less is rounding


class Binding(NamedTuple):
    """Room for the statements that a distribution can break."""

    slack: Any  # (statements,) how far each is from its bound, times its denominator
    changes: Any  # (statements, states) c_k
    scales: Any  # (statements,) of these
    before: Any  # (states,) the distribution as it was


class Collapsed(NamedTuple):
    """What joint updates need: the density with components summed over, and room."""

    updates: JointUpdates
    mixture: Mixture
    old: Any  # (parameters,)
    order: Any  # (distributions,) −1
    chances: Any  # (components,)


@compiled(**BORROWING)
def set_binding(general: GeneralArrays, underway: Underway, start: int, stop: int, theta: Any, binding: Binding) -> int:
    """The statements that a distribution can break, as linear constraints on it: how many."""
    count, cell = 0, general.places[start] - underway.first
    sums, derivatives = underway.sums, underway.derivatives
    for constraint in underway.constraints:
        slack, value, highest, scale = general.bounds[constraint] - underway.linear[0, constraint], 0.0, -np.inf, 0.0
        for term in range(general.term_starts[constraint], general.term_starts[constraint + 1]):
            above, below, coefficient = general.above[term], general.below[term], general.coefficients[term]
            if below >= 0:  # the only term: N/D ≤ c is N − c·D ≤ 0
                slack = general.bounds[constraint] * sums[below] - coefficient * sums[above]
            else:
                slack -= coefficient * sums[above]
        for k in range(stop - start):
            change = size = 0.0
            for term in range(general.term_starts[constraint], general.term_starts[constraint + 1]):
                above, below, coefficient = general.above[term], general.below[term], general.coefficients[term]
                part = coefficient * derivatives[cell + k, above]
                other = general.bounds[constraint] * derivatives[cell + k, below] if below >= 0 else 0.0
                change += part - other
                size += abs(part) + abs(other)
            for e in range(general.entry_starts[start + k], general.entry_starts[start + k + 1]):
                if general.entry_statements[e] == constraint:
                    change += general.entry_values[e]
                    size += abs(general.entry_values[e])
            binding.changes[count, k] = change
            value += change * theta[start + k]
            highest, scale = max(highest, change), max(scale, size)
        if highest - value > slack - NO_CHANGE * scale and highest - value > NO_CHANGE * scale:
            binding.slack[count], binding.scales[count] = max(slack, 0.0), scale
            count += 1
    return count


@compiled(**BORROWING)
def move_pair_bound(
    geometry: Geometry,
    move: int,
    start: int,
    count: int,
    binding: Binding,
    shape: Any,
    theta: Any,
    slack: Any,
    generator: Any,
) -> None:
    """Mass between two states, as `move_pair`, within what statements about any probability allow."""
    first, last = geometry.delta_starts[move], geometry.delta_starts[move + 1]
    place = geometry.move_starts[move]
    i, j = geometry.move_indices[place], geometry.move_indices[place + 1]
    low, high = ends_of_pair(i, j, first, last, geometry.delta_constraints, geometry.delta_values, theta, slack)
    for constraint in range(count):
        change = binding.changes[constraint, i - start] - binding.changes[constraint, j - start]
        if change > NO_CHANGE * binding.scales[constraint]:
            high = min(high, binding.slack[constraint] / change)
        elif change < -NO_CHANGE * binding.scales[constraint]:
            low = max(low, binding.slack[constraint] / change)
    step = draw_split(i, j, min(low, 0.0), max(high, 0.0), shape, theta, generator)
    for e in range(first, last):
        slack[geometry.delta_constraints[e]] -= geometry.delta_values[e] * step
    for constraint in range(count):
        binding.slack[constraint] -= step * (
            binding.changes[constraint, i - start] - binding.changes[constraint, j - start]
        )


@compiled(**BORROWING)
def draw_component(mixture: Mixture, d: int, state: ChainState, chances: Any, generator: Any) -> None:
    """z of a distribution given θ, after an update with z summed over."""
    sums, family, seen = log_sums(mixture, d, state.theta), mixture.families[d], mixture.seen[d]
    even, highest = sums[0] / (mixture.starts[d + 1] - mixture.starts[d]), -np.inf
    for g in range(len(chances)):
        inner = even if g < mixture.uniform_components else sums[1]
        norm = mixture.predicted_logs[d, g - mixture.first_predicted] if g >= mixture.first_predicted else 0.0
        chances[g] = mixture.density[family, seen, g] + norm + mixture.strengths[seen, g] * inner
        highest = max(highest, chances[g])
    for g in range(len(chances)):
        chances[g] = np.exp(chances[g] - highest)
    state.component[d] = drawn_component(chances, generator)


@compiled(**BORROWING)
def move_pairs(
    geometry: Geometry,
    general: GeneralArrays,
    moves: GeneralMoves,
    place: int,  # of the distribution among those of all CPTs
    binding: Binding,
    shape: Any,
    theta: Any,
    slack: Any,
    underway: Underway,
    generator: Any,
) -> None:
    """All pairs of states of a distribution."""
    d = moves.distributions[place]
    start, stop = geometry.distributions[d], geometry.distributions[d + 1]
    count = set_binding(general, underway, start, stop, theta, binding)
    for i in range(start, stop):
        binding.before[i - start] = theta[i]
    for k in range(moves.pair_starts[place], moves.pair_starts[place + 1]):
        move_pair_bound(geometry, moves.pairs[k], start, count, binding, shape, theta, slack, generator)
    clear_line(underway)
    for i in range(start, stop):
        add_direction(general, underway, i, theta[i] - binding.before[i - start])
    advance(underway, 1.0)


@compiled(**BORROWING)
def update_jointly_checked(
    geometry: Geometry,
    extras: Extras,
    general: GeneralArrays,
    collapsed: Collapsed,
    which: int,
    arrays: DistributionArrays,
    state: ChainState,
    shape: Any,
    underway: Underway,
    generator: Any,
) -> bool:
    """A joint update of distributions of the visited CPT, taken back where a statement has it; whether it was taken."""
    updates, mixture, old, order = collapsed.updates, collapsed.mixture, collapsed.old, collapsed.order
    first, last, theta = updates.starts[which], updates.starts[which + 1], state.theta
    if last == first + 1:
        taken = update_alone(geometry, extras, mixture, updates, which, theta, old, order, generator)
    else:
        taken = joint_update(geometry, extras, mixture, updates, which, theta, old, order, generator)
    for step in range(first, last):
        order[geometry.owners[updates.numbers[step]]] = -1
    if not taken:
        return False
    clear_line(underway)
    for step in range(first, last):
        d = geometry.owners[updates.numbers[step]]
        for i in range(geometry.distributions[d], geometry.distributions[d + 1]):
            add_direction(general, underway, i, theta[i] - old[i])
    there = general_terms(general, underway.constraints, underway.sums, underway.slopes, underway.linear, 1.0)
    taken = there == 0.0  # nothing is missed there; else what is missed here counts as well
    if there > -np.inf and not taken:
        here = general_terms(general, underway.constraints, underway.sums, underway.slopes, underway.linear, 0.0)
        taken = there >= here or np.log(uniform(generator)) < there - here
    if taken:
        advance(underway, 1.0)
    for step in range(first, last):
        d = geometry.owners[updates.numbers[step]]
        if taken:
            draw_component(mixture, d, state, collapsed.chances, generator)
            set_shape(arrays, state, d, shape)
        else:
            take_back(geometry, d, old, theta)
    return bool(taken)

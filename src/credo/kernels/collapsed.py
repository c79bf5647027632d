"""Updates of what the distributions of a CPT share, its mean m and weights π, with what makes these slow summed over.

Given the components z of all distributions, m and π barely move where there are many, and the other way round. So both
are drawn by slices given the values θ alone, with z summed over: each distribution adds Σ_g π_g·Dir(θ | s_g·b_g).
Thousands of equal distributions under one range would hold m and π as closely by their θ; these are summed over too:

    Σ_g π_g · L_g(m),    L_g = ∫ Π θ^N · Dir(θ | s_g·b_g) over what the range allows,

where L_g is a quotient of Beta functions times the probability that a Beta variate is in the range. Then z is drawn
given m and π, and θ given z and m, where somebody needs it.
"""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.polytope_moves import SMALLEST, uniform
from credo.kernels.range_classes import class_part, set_class_logs, shared_term
from credo.kernels.sampler_arrays import BORROWING, ChainState, DistributionArrays, Given, Ranges

WIDTH = 1.5  # of a first stretch, in log-odds
FARTHEST = 300.0
MOST_STEPS_OUT = 20
MOST_SHRINKS = 100
MOST_TRIALS = MOST_STEPS_OUT + MOST_SHRINKS
WEIGHT_SLICES = 2  # of two components each, in a sweep; given z, all of them are drawn afterwards
MANY, FEW = 20, 5  # distributions, from which m and π are drawn in every sweep, and up to which in every fourth


@compiled(**BORROWING)
def log_norm(arrays: DistributionArrays, means: Any, family: int, seen: int, g: int) -> float:
    """log of 1/B(s_g·b_g) of a CPT; 0 where the base is predicted, which distributions do not share."""
    if g >= arrays.first_predicted[0]:
        return 0.0
    first, last, strength = arrays.cells[family], arrays.cells[family + 1], arrays.strengths[seen, g]
    value = lgamma(strength)
    if g < arrays.uniform_components[0]:
        return value - (last - first) * lgamma(strength / (last - first))
    for cell in range(first, last):
        value -= lgamma(max(strength * means[cell], SMALLEST))
    return value


@compiled(**BORROWING)
def set_norms(arrays: DistributionArrays, means: Any, norms: Any) -> None:
    """log of 1/B(s_g·b_g) of every CPT; `update_mean` keeps them as they are."""
    for family in range(len(arrays.cells) - 1):
        for seen in range(2):
            for g in range(arrays.strengths.shape[1]):
                norms[family, seen, g] = log_norm(arrays, means, family, seen, g)


@compiled(**BORROWING)
def set_value(arrays: DistributionArrays, state: ChainState, family: int, k: int, d: int, room: Given) -> None:
    """Dir(θ | s_g·b_g) of a distribution whose θ is given, as a part of the largest."""
    components, first_pooled = arrays.strengths.shape[1], arrays.uniform_components[0]
    first_predicted = arrays.first_predicted[0]
    predicts = first_predicted == first_pooled  # otherwise the base of all pooled components is the mean
    cell, norms = arrays.cells[family], room.norms[family]
    start, stop, seen = arrays.starts[d], arrays.starts[d + 1], arrays.seen[d]
    plain = mean = 0.0
    for i in range(start, stop):
        room.logs[i] = np.log(max(state.theta[i], SMALLEST))
        plain += room.logs[i]
        base = arrays.predicted[i] if predicts else state.means[cell + i - start]
        mean += base * room.logs[i]
    highest = -np.inf
    for g in range(components):
        inner = plain / (stop - start) if g < first_pooled else mean
        norm = norms[seen, g] if g < first_predicted else arrays.predicted_logs[d, g - first_predicted]
        room.values[k, g] = norm + arrays.strengths[seen, g] * inner
        highest = max(highest, room.values[k, g])
    for g in range(components):
        room.values[k, g] = np.exp(room.values[k, g] - highest)
    room.inners[k], room.highest[k] = mean, highest


@compiled(**BORROWING)
def set_values(
    arrays: DistributionArrays,
    ranges: Ranges,
    state: ChainState,
    family: int,
    passes: Any,
    now: int,
    class_logs: Any,
    room: Given,
) -> None:
    """Dir(θ | s_g·b_g) of a CPT's distributions whose θ is given, and L_g of its shared classes, up to a factor.

    Of distributions that take part in more passes than were made: others have what they had, unless their mean changed.
    """
    has_mean = arrays.uniform_components[0] < arrays.first_predicted[0]
    for k in range(ranges.given_starts[family], ranges.given_starts[family + 1]):
        if not ranges.given_summed[k] and (has_mean or passes[ranges.given[k]] > now):
            set_value(arrays, state, family, k, ranges.given[k], room)
    if ranges.shares[family]:
        first, last = arrays.uniform_components[0], arrays.first_predicted[0]
        set_class_logs(arrays, ranges, state.means, family, first, last, class_logs)


@compiled(**BORROWING)
def mean_density(
    arrays: DistributionArrays,
    ranges: Ranges,
    state: ChainState,
    family: int,
    class_logs: Any,
    room: Given,
    i: int,
    j: int,
    old: float,
) -> float:
    """What the mean of a CPT as it is in `state` adds to the log density, after m_i was changed from `old`, and m_j.

    `room.rests` holds log 1/B(s_g·b_g) without these two; it is completed in `room.trial`.
    """
    means, weights, first_pooled, components = (
        state.means,
        state.weights[family],
        arrays.uniform_components[0],
        arrays.strengths.shape[1],
    )
    cell, change = arrays.cells[family], means[i] - old
    trial = room.trial
    for g in range(first_pooled, components):  # what is shared is shared by those with data and those without
        strength = arrays.strengths[0, g]
        trial[g] = (
            room.rests[g] - lgamma(max(strength * means[i], SMALLEST)) - lgamma(max(strength * means[j], SMALLEST))
        )
    value, product = 0.0, 1.0
    for k in range(ranges.given_starts[family], ranges.given_starts[family + 1]):
        first = arrays.starts[ranges.given[k]] - cell
        inner = room.inners[k] + change * (room.logs[first + i] - room.logs[first + j])
        shift = 0.0
        for g in range(first_pooled, components):
            shift = max(shift, trial[g] + arrays.strengths[0, g] * inner - room.highest[k])
        total = room.fixed[k] * np.exp(-shift) if shift > 0.0 else room.fixed[k]
        for g in range(first_pooled, components):
            total += weights[g] * np.exp(trial[g] + arrays.strengths[0, g] * inner - room.highest[k] - shift)
        value += shift
        product *= total
        if not 1e-200 < product < 1e200:
            value += np.log(product)
            product = 1.0
    value += np.log(product)
    if ranges.shares[family]:
        set_class_logs(arrays, ranges, means, family, first_pooled, components, class_logs)
        value += shared_term(ranges, weights, family, class_logs)
    return value


@compiled(**BORROWING)
def update_mean(
    arrays: DistributionArrays,
    ranges: Ranges,
    state: ChainState,
    family: int,
    concentration: float,
    class_logs: Any,
    room: Given,
    generator: Any,
) -> None:
    """m of a CPT, state against state, by slices in the log-odds of their split, with z summed over."""
    means, weights, start, stop = state.means, state.weights[family], arrays.cells[family], arrays.cells[family + 1]
    states, first_pooled, components = stop - start, arrays.uniform_components[0], arrays.strengths.shape[1]
    for k in range(ranges.given_starts[family], ranges.given_starts[family + 1]):
        room.fixed[k] = 0.0
        for g in range(first_pooled):
            room.fixed[k] += weights[g] * room.values[k, g]
    for i in range(start, start + 1 if states == 2 else stop):
        j = start + (i - start + 1 + int(uniform(generator) * (states - 1))) % states
        if i == j:
            continue
        old_i, old_j = means[i], means[j]
        total, now = old_i + old_j, np.log(old_i / old_j)
        for g in range(first_pooled, components):
            strength = arrays.strengths[0, g]
            room.rests[g] = room.norms[family, 0, g] + lgamma(max(strength * old_i, SMALLEST))
            room.rests[g] += lgamma(max(strength * old_j, SMALLEST))
        level = np.log(uniform(generator)) + concentration * (np.log(old_i) + np.log(old_j))
        level += mean_density(arrays, ranges, state, family, class_logs, room, i, j, old_i)
        ends, found = first_ends(now, WIDTH, generator), False
        for _ in range(MOST_TRIALS):
            odds = min(max(next_trial(ends, generator), -FARTHEST), FARTHEST)
            means[i] = max(total / (1.0 + np.exp(-odds)), SMALLEST)
            means[j] = max(total / (1.0 + np.exp(odds)), SMALLEST)
            value = concentration * (np.log(means[i]) + np.log(means[j]))
            inside = value + mean_density(arrays, ranges, state, family, class_logs, room, i, j, old_i) >= level
            found = inside and is_last(ends)
            if found:
                break
            ends = next_ends(ends, now, WIDTH, odds, inside)
        if not found:
            means[i], means[j] = old_i, old_j
        else:
            for g in range(first_pooled, components):
                room.norms[family, 0, g] = room.norms[family, 1, g] = room.trial[g]
        for k in range(ranges.given_starts[family], ranges.given_starts[family + 1]):
            first = arrays.starts[ranges.given[k]] - start
            room.inners[k] += (means[i] - old_i) * (room.logs[first + i] - room.logs[first + j])


@compiled(**BORROWING)
def weight_density(ranges: Ranges, weights: Any, family: int, class_logs: Any, room: Given, i: int, j: int) -> float:
    """What the weights of a CPT add to the log density, of which only these two have changed."""
    value, product, one, other = 0.0, 1.0, weights[i], weights[j]
    for k in range(ranges.given_starts[family], ranges.given_starts[family + 1]):
        product *= room.fixed[k] + one * room.values[k, i] + other * room.values[k, j]
        if not 1e-200 < product < 1e200:
            value += np.log(product)
            product = 1.0
    value += np.log(product)
    return value + shared_term(ranges, weights, family, class_logs) if ranges.shares[family] else value


@compiled(**BORROWING)
def update_weights_of(
    ranges: Ranges,
    state: ChainState,
    family: int,
    concentration: float,
    class_logs: Any,
    room: Given,
    generator: Any,
) -> None:
    """π of a CPT, component against component, by slices in the log-odds of their split, with z summed over."""
    weights = state.weights[family]
    components = len(weights)
    for _ in range(WEIGHT_SLICES if components > 1 else 0):
        i = int(uniform(generator) * components)
        j = (i + 1 + int(uniform(generator) * (components - 1))) % components
        for k in range(ranges.given_starts[family], ranges.given_starts[family + 1]):
            room.fixed[k] = 0.0
            for g in range(components):
                room.fixed[k] += weights[g] * room.values[k, g] if g != i and g != j else 0.0
        old_i, old_j = weights[i], weights[j]
        both, now = old_i + old_j, np.log(old_i / old_j)
        one, other = concentration * state.pool[i], concentration * state.pool[j]
        level = np.log(uniform(generator)) + one * np.log(old_i) + other * np.log(old_j)
        level += weight_density(ranges, weights, family, class_logs, room, i, j)
        ends, found = first_ends(now, WIDTH, generator), False
        for __ in range(MOST_TRIALS):
            odds = min(max(next_trial(ends, generator), -FARTHEST), FARTHEST)
            weights[i] = max(both / (1.0 + np.exp(-odds)), SMALLEST)
            weights[j] = max(both / (1.0 + np.exp(odds)), SMALLEST)
            value = one * np.log(weights[i]) + other * np.log(weights[j])
            inside = value + weight_density(ranges, weights, family, class_logs, room, i, j) >= level
            found = inside and is_last(ends)
            if found:
                break
            ends = next_ends(ends, now, WIDTH, odds, inside)
        if not found:
            weights[i], weights[j] = old_i, old_j


@compiled(**BORROWING)
def drawn_component(chances: Any, generator: Any) -> int:
    """A component by its chance, which need not sum to one."""
    total, chosen = 0.0, 0
    for g in range(len(chances)):
        total += chances[g]
    rest = uniform(generator) * total
    while chosen < len(chances) - 1 and rest > chances[chosen]:
        rest -= chances[chosen]
        chosen += 1
    return chosen


@compiled(**BORROWING)
def given_component(ranges: Ranges, state: ChainState, weights: Any, k: int, room: Given, generator: Any) -> int:
    """z of a distribution whose θ is given, with chances π_g·Dir(θ | s_g·b_g)."""
    for g in range(len(weights)):
        room.chances[g] = weights[g] * room.values[k, g]
    chosen = drawn_component(room.chances, generator)
    state.component[ranges.given[k]] = chosen
    return chosen


@compiled(**BORROWING)
def choose_components(
    arrays: DistributionArrays,
    ranges: Ranges,
    state: ChainState,
    family: int,
    members: Any,
    class_logs: Any,
    room: Given,
    generator: Any,
) -> None:
    """z of each distribution of a CPT: with chances π_g·Dir(θ | s_g·b_g), or π_g·L_g; `members` counts them."""
    weights, chances = state.weights[family], room.chances
    for g in range(len(weights)):
        members[family, g] = 0.0
    for k in range(ranges.given_starts[family], ranges.given_starts[family + 1]):
        members[family, given_component(ranges, state, weights, k, room, generator)] += 1.0
    if not ranges.shares[family]:
        return
    for which in range(ranges.family_starts[family], ranges.family_starts[family + 1]):
        if not ranges.shared[which]:
            continue
        _, unit = class_part(weights, which, class_logs)
        for g in range(len(weights)):
            chances[g] = weights[g] * np.exp(class_logs[which, g] - unit)
        for k in range(ranges.class_starts[which], ranges.class_starts[which + 1]):
            chosen = drawn_component(chances, generator)
            state.component[ranges.numbers[k]] = chosen
            members[family, chosen] += 1.0


@compiled(**BORROWING)
def update_components(
    arrays: DistributionArrays,
    ranges: Ranges,
    state: ChainState,
    chosen: Any,  # CPTs
    family_passes: Any,  # (families,) in how many passes each takes part,
    passes: Any,  # (distributions,) and in how many θ of each may change, of which
    now: int,  # so many were made
    mean_concentration: float,
    pooling_concentration: float,
    members: Any,
    class_logs: Any,
    room: Given,
    generator: Any,
) -> None:
    """m and π of each CPT given θ, with z summed over, and then z.

    Few distributions say little about m and π: these are then drawn less often, so that a sweep takes time in
    proportion to the distributions.
    """
    for family in chosen:
        if family_passes[family] <= now:
            continue
        set_values(arrays, ranges, state, family, passes, now, class_logs, room)
        count = ranges.given_starts[family + 1] - ranges.given_starts[family]
        if ranges.shares[family] or uniform(generator) * MANY < max(count, FEW):
            if arrays.uniform_components[0] < arrays.first_predicted[0]:  # else no component has a mean
                update_mean(arrays, ranges, state, family, mean_concentration, class_logs, room, generator)
                set_values(arrays, ranges, state, family, passes, now, class_logs, room)
            update_weights_of(ranges, state, family, pooling_concentration, class_logs, room, generator)
        choose_components(arrays, ranges, state, family, members, class_logs, room, generator)
    for k in range(len(ranges.uninformative)):
        d = ranges.uninformative[k]
        if family_passes[arrays.families[d]] > now:
            for g in range(len(room.chances)):
                room.chances[g] = state.weights[arrays.families[d], g]
            state.component[d] = drawn_component(room.chances, generator)


# Slices of one number: steps out, then in [Neal, 2003, figures 3 and 5], as a state that a loop carries on ------------


@compiled(**BORROWING)
def first_ends(now: float, width: float, generator: Any) -> Any:
    """The ends of a stretch around a number, and how many steps out may be made on either side."""
    left = now - width * uniform(generator)
    steps = int(MOST_STEPS_OUT * uniform(generator))
    return left, left + width, steps, MOST_STEPS_OUT - 1 - steps


@compiled(**BORROWING)
def next_trial(ends: Any, generator: Any) -> float:
    """Out to the left while there are steps, then out to the right, then a number between."""
    left, right, steps_left, steps_right = ends
    if steps_left > 0:
        return left
    return right if steps_right > 0 else left + uniform(generator) * (right - left)


@compiled(**BORROWING)
def is_last(ends: Any) -> bool:
    """Whether a trial that is inside is the draw."""
    return ends[2] == 0 and ends[3] == 0


@compiled(**BORROWING)
def next_ends(ends: Any, now: float, width: float, tried: float, inside: bool) -> Any:
    """The ends after a trial."""
    left, right, steps_left, steps_right = ends
    if steps_left > 0:
        return (left - width, right, steps_left - 1, steps_right) if inside else (left, right, 0, steps_right)
    if steps_right > 0:
        return (left, right + width, 0, steps_right - 1) if inside else (left, right, 0, 0)
    return (tried, right, 0, 0) if tried < now else (left, tried, 0, 0)

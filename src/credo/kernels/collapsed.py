"""Updates of a CPT's mean m and weights π with the components z and values θ of many equal distributions summed over.

Thousands of distributions under one bound, with the same counts, determine m and π as closely as if they were
data: given their z and θ, m and π barely move, and the other way round. But each of them has the chances

    Σ_g π_g · L_g(m),    L_g = ∫ Π θ^N · Dir(θ | s_g·b_g) over what its range allows,

and L_g is a quotient of Beta functions times the probability that a Beta variate is in the range. So m and π are drawn
by slices given these; then z given m and π; and θ given z and m, where somebody needs it.
"""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.cut_beta import draw_between, log_between
from credo.kernels.gamma_draws import log_gamma_draw
from credo.kernels.polytope_moves import SMALLEST, uniform
from credo.kernels.sampler_arrays import BORROWING, ChainState, DistributionArrays, Ranges
from credo.kernels.slices import MOST_TRIALS, first_ends, is_last, next_ends, next_trial

WIDTH = 1.5  # of a first stretch, in log-odds
FARTHEST = 300.0


@compiled(**BORROWING)
def shape_at(arrays: DistributionArrays, means: Any, d: int, g: int, i: int) -> float:
    """s_g·b_g of one state: i counts all parameters."""
    strength = arrays.strengths[arrays.seen[d], g]
    if g < arrays.uniform_components[0]:
        return strength / (arrays.starts[d + 1] - arrays.starts[d])
    return max(strength * means[arrays.cells[arrays.families[d]] + i - arrays.starts[d]], SMALLEST)


@compiled(**BORROWING)
def class_log(arrays: DistributionArrays, ranges: Ranges, means: Any, which: int, g: int) -> float:
    """log L_g of each member of a class."""
    d = ranges.numbers[ranges.class_starts[which]]
    total = data = inside = outside = value = 0.0
    for i in range(arrays.starts[d], arrays.starts[d + 1]):
        shape, count = shape_at(arrays, means, d, g, i), arrays.counts[i]
        total += shape
        data += count
        if count > 0.0:
            value += lgamma(shape + count) - lgamma(shape)
        if ranges.named[i]:
            inside += shape + count
        else:
            outside += shape + count
    if data > 0.0:
        value += lgamma(total) - lgamma(total + data)
    return value + log_between(inside, outside, ranges.lows[which], ranges.highs[which])


@compiled(**BORROWING)
def set_class_logs(
    arrays: DistributionArrays, ranges: Ranges, means: Any, family: int, first: int, last: int, logs: Any
) -> None:
    """log L_g of the shared classes of a CPT for components from `first` until `last`."""
    for which in range(ranges.family_starts[family], ranges.family_starts[family + 1]):
        if ranges.shared[which]:
            for g in range(first, last):
                logs[which, g] = class_log(arrays, ranges, means, which, g)


@compiled(**BORROWING)
def set_fixed_logs(arrays: DistributionArrays, ranges: Ranges, means: Any, logs: Any) -> None:
    """The same for the components that depend on no mean, once for all CPTs."""
    for family in range(len(arrays.cells) - 1):
        set_class_logs(arrays, ranges, means, family, 0, arrays.uniform_components[0], logs)


@compiled(**BORROWING)
def shared_term(ranges: Ranges, weights: Any, family: int, logs: Any) -> float:
    """Σ n·log Σ_g π_g·L_g over the shared classes of a CPT, which have n members each."""
    value = 0.0
    for which in range(ranges.family_starts[family], ranges.family_starts[family + 1]):
        if not ranges.shared[which]:
            continue
        highest = -np.inf
        for g in range(len(weights)):
            highest = max(highest, logs[which, g])
        total = 0.0
        for g in range(len(weights)):
            total += weights[g] * np.exp(logs[which, g] - highest)
        value += (ranges.class_starts[which + 1] - ranges.class_starts[which]) * (highest + np.log(total))
    return value


@compiled(**BORROWING)
def shared_mean_term(arrays: DistributionArrays, ranges: Ranges, state: ChainState, family: int, logs: Any) -> float:
    """What the mean of a CPT, as it is in `state` now, adds by its shared classes; nothing where it has none."""
    if not ranges.shares[family]:
        return 0.0
    set_class_logs(arrays, ranges, state.means, family, arrays.uniform_components[0], logs.shape[1], logs)
    return shared_term(ranges, state.weights[family], family, logs)


@compiled(**BORROWING)
def update_shared_weights(
    ranges: Ranges, state: ChainState, active: Any, members: Any, concentration: float, logs: Any, generator: Any
) -> None:
    """π of CPTs with shared classes, component against component, by slices in the log-odds of their split.

    `members` counts the distributions of no shared class, `logs` holds L_g for the means as they are.
    """
    components = members.shape[1]
    for family in range(len(members)):
        if not (active[family] and ranges.shares[family]):
            continue
        weights = state.weights[family]
        for i in range(components):
            j = (i + 1 + int(uniform(generator) * (components - 1))) % components
            if i == j:
                continue
            both, now = weights[i] + weights[j], np.log(weights[i] / weights[j])
            one, other = (
                concentration * state.pool[i] + members[family, i],
                concentration * state.pool[j] + members[family, j],
            )
            level = np.log(uniform(generator)) + one * np.log(weights[i]) + other * np.log(weights[j])
            level += shared_term(ranges, weights, family, logs)
            old_i, old_j = weights[i], weights[j]
            ends, found = first_ends(now, WIDTH, generator), False
            for _ in range(MOST_TRIALS):
                odds = min(max(next_trial(ends, generator), -FARTHEST), FARTHEST)
                weights[i] = max(both / (1.0 + np.exp(-odds)), SMALLEST)
                weights[j] = max(both / (1.0 + np.exp(odds)), SMALLEST)
                value = one * np.log(weights[i]) + other * np.log(weights[j])
                inside = value + shared_term(ranges, weights, family, logs) >= level
                found = inside and is_last(ends)
                if found:
                    break
                ends = next_ends(ends, now, WIDTH, odds, inside)
            if not found:
                weights[i], weights[j] = old_i, old_j


@compiled(**BORROWING)
def choose_shared_components(
    ranges: Ranges, state: ChainState, active: Any, members: Any, logs: Any, chances: Any, generator: Any
) -> None:
    """z of the members of shared classes, with chances π_g·L_g; they are added to `members`."""
    for family in range(len(members)):
        if not (active[family] and ranges.shares[family]):
            continue
        for which in range(ranges.family_starts[family], ranges.family_starts[family + 1]):
            if not ranges.shared[which]:
                continue
            highest, total = -np.inf, 0.0
            for g in range(len(chances)):
                highest = max(highest, logs[which, g])
            for g in range(len(chances)):
                chances[g] = state.weights[family, g] * np.exp(logs[which, g] - highest)
                total += chances[g]
            for k in range(ranges.class_starts[which], ranges.class_starts[which + 1]):
                rest, chosen = uniform(generator) * total, 0
                while chosen < len(chances) - 1 and rest > chances[chosen]:
                    rest -= chances[chosen]
                    chosen += 1
                state.component[ranges.numbers[k]] = chosen
                members[family, chosen] += 1.0


# Values ---------------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def scale_part(ranges: Ranges, start: int, stop: int, named: bool, total: float, theta: Any) -> None:
    """States that are named, or those that are not: from logarithms of gamma variates to parts of their total."""
    highest, count, together = -np.inf, 0, 0.0
    for i in range(start, stop):
        if ranges.named[i] == named:
            highest = max(highest, theta[i])
            count += 1
    for i in range(start, stop):
        if ranges.named[i] == named:
            theta[i] = np.exp(theta[i] - highest) if count > 1 else 1.0
            together += theta[i]
    for i in range(start, stop):
        if ranges.named[i] == named:
            theta[i] = max(theta[i] * (total / together), SMALLEST)


@compiled(**BORROWING)
def draw_range(arrays: DistributionArrays, ranges: Ranges, state: ChainState, which: int, generator: Any) -> None:
    """θ of the members of a class given z and m, where they belong to blocks: nobody needs the others."""
    low, high, theta = ranges.lows[which], ranges.highs[which], state.theta
    for k in range(ranges.class_starts[which], ranges.class_starts[which + 1]):
        d = ranges.numbers[k]
        if d >= arrays.constrained[0]:
            continue
        start, stop, component = arrays.starts[d], arrays.starts[d + 1], state.component[d]
        inside = outside = 0.0
        for i in range(start, stop):
            shape = shape_at(arrays, state.means, d, component, i) + arrays.counts[i]
            if ranges.named[i]:
                inside += shape
            else:
                outside += shape
            if stop - start > 2:
                theta[i] = log_gamma_draw(shape, generator)
        total, rest = draw_between(inside, outside, low, high, generator)
        scale_part(ranges, start, stop, True, total, theta)
        scale_part(ranges, start, stop, False, rest, theta)

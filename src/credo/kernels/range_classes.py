"""Classes of equal distributions under one range: what they add when they are summed over, and draws from them.

A distribution that only a range of one sum of its states bounds is a Beta variate that is cut off, and with it summed
over, a component adds

    L_g = ∫ Π θ^N · Dir(θ | s_g·b_g) over what the range allows,

a quotient of Beta functions times the probability that a Beta variate is in the range.
"""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.cut_beta import draw_between, log_between
from credo.kernels.gamma_draws import log_gamma_draw
from credo.kernels.polytope_moves import SMALLEST
from credo.kernels.sampler_arrays import BORROWING, ChainState, DistributionArrays, Ranges


@compiled(**BORROWING)
def shape_at(arrays: DistributionArrays, means: Any, d: int, g: int, i: int) -> float:
    """s_g·b_g of one state: i counts all parameters."""
    strength = arrays.strengths[arrays.seen[d], g]
    if g < arrays.uniform_components[0]:
        return strength / (arrays.starts[d + 1] - arrays.starts[d])
    if g >= arrays.first_predicted[0]:
        return strength * arrays.predicted[i]
    return max(strength * means[arrays.cells[arrays.families[d]] + i - arrays.starts[d]], SMALLEST)


@compiled(**BORROWING)
def class_log(arrays: DistributionArrays, ranges: Ranges, means: Any, which: int, d: int, g: int) -> float:
    """log L_g of a member of a class; where the class is -1, of a distribution without a range."""
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
    return value if which < 0 else value + log_between(inside, outside, ranges.lows[which], ranges.highs[which])


@compiled(**BORROWING)
def set_class_logs(
    arrays: DistributionArrays, ranges: Ranges, means: Any, family: int, first: int, last: int, logs: Any
) -> None:
    """log L_g of the shared classes of a CPT for components from `first` until `last`."""
    for which in range(ranges.family_starts[family], ranges.family_starts[family + 1]):
        if ranges.shared[which]:
            for g in range(first, last):
                d = ranges.numbers[ranges.class_starts[which]]
                logs[which, g] = class_log(arrays, ranges, means, which, d, g)


@compiled(**BORROWING)
def set_fixed_logs(arrays: DistributionArrays, ranges: Ranges, means: Any) -> None:
    """The same once for all, for components that depend on no mean."""
    for family in range(len(arrays.cells) - 1):
        set_class_logs(arrays, ranges, means, family, 0, arrays.uniform_components[0], ranges.fixed_logs)


@compiled(**BORROWING)
def set_given_values(arrays: DistributionArrays, ranges: Ranges, classes: Any, means: Any) -> None:
    """L_g of each distribution that is summed over by itself, as a part of the largest; `classes` are theirs, or -1."""
    values = ranges.given_values
    for k in range(len(classes)):
        if not ranges.given_summed[k]:
            continue
        highest = -np.inf
        for g in range(values.shape[1]):
            values[k, g] = class_log(arrays, ranges, means, classes[k], ranges.given[k], g)
            highest = max(highest, values[k, g])
        for g in range(values.shape[1]):
            values[k, g] = np.exp(values[k, g] - highest)


@compiled(**BORROWING)
def class_part(weights: Any, which: int, logs: Any) -> Any:
    """Σ π_g·L_g of a member of a class, and a log unit."""
    unit, total = -np.inf, 0.0
    for g in range(len(weights)):
        unit = max(unit, logs[which, g])
    for g in range(len(weights)):
        total += weights[g] * np.exp(logs[which, g] - unit)
    return total, unit


@compiled(**BORROWING)
def shared_term(ranges: Ranges, weights: Any, family: int, logs: Any) -> float:
    """Σ n·log Σ_g π_g·L_g over the shared classes of a CPT, which have n members each."""
    value = 0.0
    for which in range(ranges.family_starts[family], ranges.family_starts[family + 1]):
        if ranges.shared[which]:
            total, unit = class_part(weights, which, logs)
            value += (ranges.class_starts[which + 1] - ranges.class_starts[which]) * (unit + np.log(total))
    return value


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

"""The compiled moves of a Markov chain in a polytope of distributions; what a move is, and why, is in `uniform.py`.

The target is Π θ_i^(a_i − 1) on {θ ≥ 0, distributions sum to one, Aθ ≤ b, products}, times exp(−w/2·violation²) for
each soft statement. Every move keeps the target, and draws on the chain's own generator alone: a seed fixes a chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.sampler_arrays import BORROWING, Extras

FARTHEST = 650.0  # in log-odds: e^-650 is still a number
SMALLEST = 1e-290
MOST_SHRINKS = 200
MOST_STEPS_OUT = 40
STEP_OUT = 8.0  # the width of a step out, in log-odds along a line
STRETCH = 12.0  # the width where no steps are made


# Random numbers -------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def uniform(generator: Any) -> float:
    """A number in (0, 1): xoshiro256+ [Blackman and Vigna, 2018]."""
    s0, s1, s2, s3 = generator[0], generator[1], generator[2], generator[3]
    result = s0 + s3
    t = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    generator[0], generator[1], generator[2], generator[3] = s0, s1, s2, s3
    return (np.float64(result >> np.uint64(11)) + 0.5) * 1.1102230246251565e-16


# Moves ----------------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def extra_terms(extras: Extras, named: Any, theta: Any) -> float:
    """What these products and soft statements add to the log density: 0 or −∞, or −w/2·violation²."""
    density = 0.0
    for extra in named:
        weight = extras.weights[extra]
        total = -extras.bounds[extra]
        start, stop = extras.starts[extra], extras.starts[extra + 1]
        if np.isnan(weight) or weight < 0.0:
            for e in range(start, stop):
                total += extras.values[e] * np.log(max(theta[extras.indices[e]], SMALLEST))
            if total > 0.0:
                if np.isnan(weight):
                    return -np.inf
                density += 0.5 * weight * total * total
            continue
        for e in range(start, stop):
            total += extras.values[e] * theta[extras.indices[e]]
        if total > 0.0 or extras.equality[extra]:
            density -= 0.5 * weight * total * total
    return density


@compiled(**BORROWING)
def log_split(a: float, b: float, odds: float) -> float:
    """log of t^a (1 − t)^b, t = 1/(1 + e^−odds): concave, and at most min(a·odds, −b·odds)."""
    return (-b * odds if odds > 0.0 else a * odds) - (a + b) * np.log(1.0 + np.exp(-abs(odds)))


@compiled(**BORROWING)
def draw_split(i: int, j: int, low: float, high: float, shape: Any, theta: Any, generator: Any) -> float:
    """Mass between two states of a distribution, of which the first can gain from `low` to `high`: what it gained.

    A Beta(a_i, a_j) that is cut off. With a_i = a_j = 1 it is uniform and drawn as such; else by a slice in the
    log-odds of the split.
    """
    a, b = shape[i], shape[j]
    old_i, old_j = theta[i], theta[j]
    if a == 1.0 and b == 1.0:
        step = low + uniform(generator) * (high - low)
        theta[i] = max(old_i + step, SMALLEST)
        theta[j] = max(old_j - step, SMALLEST)
        return step
    total, now = old_i + old_j, np.log(old_i / old_j)
    level = a * now - (a + b) * np.log(total / old_j) + np.log(uniform(generator))  # as `log_split`
    left = -FARTHEST if low <= -old_i else np.log((old_i + low) / (old_j - low))
    right = FARTHEST if high >= old_j else np.log((old_i + high) / (old_j - high))
    left, right = min(max(left, level / a), now), max(min(right, -level / b), now)
    for _ in range(MOST_SHRINKS):
        odds = left + uniform(generator) * (right - left)
        small = np.exp(-abs(odds))
        if (-b * odds if odds > 0.0 else a * odds) - (a + b) * np.log(1.0 + small) >= level:
            near, far = max(total * small / (1.0 + small), SMALLEST), max(total / (1.0 + small), SMALLEST)
            theta[i], theta[j] = (far, near) if odds > 0.0 else (near, far)
            break
        if odds < now:
            left = odds
        else:
            right = odds
    return theta[i] - old_i


@compiled(**BORROWING)
def ends_of_pair(i: int, j: int, start: int, stop: int, constraints: Any, changes: Any, theta: Any, slack: Any) -> Any:
    """How much the first of two states can gain from the second, (low, high), under constraints that name one."""
    low, high = -theta[i], theta[j]
    for e in range(start, stop):
        limit = slack[constraints[e]] / changes[e]
        if changes[e] > 0.0:
            high = min(high, limit)
        else:
            low = max(low, limit)
    return low, high


@compiled(**BORROWING)
def move_pair(
    i: int,
    j: int,
    start: int,
    stop: int,
    constraints: Any,
    changes: Any,
    shape: Any,
    theta: Any,
    slack: Any,
    generator: Any,
) -> None:
    """Mass between two states of a distribution, within the constraints that name one of them."""
    low, high = ends_of_pair(i, j, start, stop, constraints, changes, theta, slack)
    step = draw_split(i, j, min(low, 0.0), max(high, 0.0), shape, theta, generator)
    for e in range(start, stop):
        slack[constraints[e]] -= changes[e] * step


@compiled(**BORROWING)
def place_on_line(
    exponents: Any, theta: Any, indices: Any, values: Any, gaps: Any, length: float, odds: float
) -> float:
    """The point that divides a line with these log-odds, into θ; and the log density there, in the log-odds.

    θ_i is a distance from its own zero, which lies beyond one of the ends by `gaps`: nothing cancels near zero.
    """
    small = np.exp(-abs(odds))
    near, far = length * small / (1.0 + small), length / (1.0 + small)
    from_low, to_high = (far, near) if odds > 0.0 else (near, far)
    density = -abs(odds) - 2.0 * np.log(1.0 + small)
    for k in range(len(indices)):
        i, value = indices[k], values[k]
        distance = from_low + gaps[k] if value > 0.0 else to_high + gaps[k]
        theta[i] = max(abs(value) * distance, SMALLEST)
        if exponents[k] != 0.0:
            density += exponents[k] * np.log(theta[i])
    return density


@compiled(**BORROWING)
def ends_of_line(indices: Any, values: Any, constraints: Any, changes: Any, theta: Any, slack: Any) -> Any:
    """How far a direction leads until a parameter is zero or a constraint binds: (low, high)."""
    low, high = -np.inf, np.inf
    for k in range(len(indices)):
        limit = -theta[indices[k]] / values[k]
        if values[k] > 0.0:
            low = max(low, limit)
        else:
            high = min(high, limit)
    for k in range(len(constraints)):
        if changes[k] != 0.0:
            limit = slack[constraints[k]] / changes[k]
            if changes[k] > 0.0:
                high = min(high, limit)
            else:
                low = max(low, limit)
    return low, high


@compiled(**BORROWING)
def set_gaps(indices: Any, values: Any, theta: Any, low: float, high: float, gaps: Any, old: Any) -> None:
    """How far the zero of each parameter lies beyond the end of a line, and what parameters are."""
    for k in range(len(indices)):
        old[k] = theta[indices[k]]
        zero = -old[k] / values[k]
        gaps[k] = low - zero if values[k] > 0.0 else zero - high


@compiled(**BORROWING)
def move_line(
    indices: Any,
    values: Any,
    constraints: Any,
    changes: Any,
    named: Any,
    extras: Extras,
    exponents: Any,
    far: bool,
    theta: Any,
    slack: Any,
    work: Any,
    generator: Any,
) -> None:
    """Along any direction v, θ + s·v, density Π θ^exponents: by a slice in the log-odds of s between the two ends.

    Steps out are made where the draw may be `far`, as in corners; else one stretch is wide enough.
    """
    low, high = ends_of_line(indices, values, constraints, changes, theta, slack)
    flat = len(named) == 0
    for k in range(len(indices)):
        flat &= exponents[k] == 0.0
    if not (low < 0.0 < high):
        return
    length = high - low
    if flat:
        step = low + uniform(generator) * length
        for k in range(len(indices)):
            theta[indices[k]] = max(theta[indices[k]] + step * values[k], SMALLEST)
        for k in range(len(constraints)):
            slack[constraints[k]] -= step * changes[k]
        return
    gaps, old = work[0], work[1]
    set_gaps(indices, values, theta, low, high, gaps, old)
    now = np.log(-low / high)
    level = place_on_line(exponents, theta, indices, values, gaps, length, now) + np.log(uniform(generator))
    level += extra_terms(extras, named, theta)
    # Step out on both sides, together at most so often, then shrink [Neal, 2003, figures 3 and 5].
    width = STEP_OUT if far else STRETCH
    left = now - width * uniform(generator)
    right = left + width
    most_left = int(MOST_STEPS_OUT * uniform(generator)) if far else 0
    for _ in range(most_left):
        density = place_on_line(exponents, theta, indices, values, gaps, length, left)
        if density < level or density + extra_terms(extras, named, theta) < level:
            break
        left -= STEP_OUT
    for _ in range(MOST_STEPS_OUT - 1 - most_left if far else 0):
        density = place_on_line(exponents, theta, indices, values, gaps, length, right)
        if density < level or density + extra_terms(extras, named, theta) < level:
            break
        right += STEP_OUT
    for _ in range(MOST_SHRINKS):
        odds = left + uniform(generator) * (right - left)
        density = place_on_line(exponents, theta, indices, values, gaps, length, odds)
        if density >= level and density + extra_terms(extras, named, theta) >= level:
            step = low + length / (1.0 + np.exp(-odds))
            for k in range(len(constraints)):
                slack[constraints[k]] -= step * changes[k]
            return
        if odds < now:
            left = odds
        else:
            right = odds
    for k in range(len(indices)):
        theta[indices[k]] = old[k]


@compiled(**BORROWING)
def set_ray(
    raised: Any, ratios: Any, owners: Any, distributions: Any, shape: Any, theta: Any, work: Any, indices: Any
) -> int:
    """The direction in which states are raised and all others of their distributions give in proportion.

    θ_k + s, others θ_l·(1 − θ_k − s)/(1 − θ_k): a line towards the corner of state k. In these coordinates the volume
    element is (1 − θ_k)^(K − 2), and since others move in proportion it may be added to the exponent of any of them.
    """
    direction, values, exponents = work[2], work[3], work[4]
    count = 0
    for k in range(len(raised)):
        start, stop = distributions[owners[raised[k]]], distributions[owners[raised[k]] + 1]
        rest, largest = 0.0, -1
        for i in range(start, stop):
            if i != raised[k]:
                rest += theta[i]
                if largest < 0 or theta[i] > theta[largest]:
                    largest = i
        for i in range(start, stop):
            if theta[i] > 0.0:
                value = ratios[k] if i == raised[k] else -ratios[k] * theta[i] / rest
                exponent = shape[i] - 1.0 + (stop - start - 2.0 if i == largest else 0.0)
                direction[i] = values[count] = value
                indices[count], exponents[count] = i, exponent
                count += value != 0.0
    return count

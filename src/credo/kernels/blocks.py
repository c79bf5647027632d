"""Blocks one after another, compiled: in closed form where there is one, else by the interior point; each certified."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.closed_forms import (
    BOUNDED_SUMS,
    BOXES,
    CHAIN,
    GENERAL,
    NO_CONSTRAINTS,
    SUMS_AGAINST_SUMS,
    bounded_sums,
    boxes,
    chain,
    shape_of,
    sums_against_sums,
    without_constraints,
)
from credo.kernels.compiler import compiled
from credo.kernels.interior_point import SOLVED, solve_block

# Certificates ---------------------------------------------------------------------------------------------------------


NEWTON_STEPS = 200


@compiled
def normalise(distribution_of: Any, distributions: int, theta: Any) -> None:  # pragma: no cover
    """Every distribution summing to one, to the last bit that rounding allows."""
    sums = np.zeros(distributions)
    for i in range(len(theta)):
        theta[i] = max(theta[i], 0.0)
        sums[distribution_of[i]] += theta[i]
    for i in range(len(theta)):
        theta[i] /= sums[distribution_of[i]]


@compiled(error_model="numpy")
def certify_block(  # pragma: no cover
    weights: Any,  # (n,) scaled, and so on: see `solve_block`
    entropies: Any,
    distribution_of: Any,
    distributions: int,
    starts: Any,
    indices: Any,
    coefficients: Any,
    bounds: Any,
    equality: Any,
    softness: Any,
    norms: Any,  # (m,) what each constraint was divided by
    theta: Any,
    multipliers: Any,
) -> tuple[float, float, float]:
    """The largest violation of a hard constraint or a sum, in its own units; the objective; and the dual bound."""
    n, m = len(weights), len(bounds)
    violation, value, bound = 0.0, 0.0, 0.0
    sums = np.zeros(distributions)
    gradient = np.zeros(n)
    for i in range(n):
        sums[distribution_of[i]] += theta[i]
        if weights[i] > 0.0:
            value -= weights[i] * np.log(theta[i])
        if entropies[i] > 0.0 and theta[i] > 0.0:
            value += entropies[i] * theta[i] * np.log(theta[i])
    for d in range(distributions):
        violation = max(violation, abs(sums[d] - 1.0))
    for j in range(m):
        excess = -bounds[j]
        z = multipliers[j] if equality[j] else max(multipliers[j], 0.0)
        for p in range(starts[j], starts[j + 1]):
            excess += coefficients[p] * theta[indices[p]]
            gradient[indices[p]] += coefficients[p] * z
        excess = abs(excess) if equality[j] else max(excess, 0.0)
        bound -= bounds[j] * z
        if softness[j] > 0.0:
            value += excess * excess / (2.0 * softness[j])
            bound -= 0.5 * softness[j] * z * z
        else:
            violation = max(violation, excess * norms[j])
    first = 0
    while first < n:
        last = first
        while last < n and distribution_of[last] == distribution_of[first]:
            last += 1
        bound += least_on_simplex(weights[first:last], entropies[first:last], gradient[first:last])
        first = last
    return violation, value, bound


@compiled(error_model="numpy")
def least_on_simplex(weights: Any, entropies: Any, gradient: Any) -> float:  # pragma: no cover
    """min over one simplex of Σ −w log θ + e θ log θ + g θ; weights and entropies are not mixed in a distribution."""
    n = len(weights)
    lowest, total, start, unseen = np.inf, 0.0, -np.inf, np.inf
    for i in range(n):
        lowest = min(lowest, gradient[i])
        total += weights[i]
        if weights[i] > 0.0:
            start = max(start, weights[i] - gradient[i])
        else:
            unseen = min(unseen, gradient[i])
    e = entropies[0]
    if e > 0.0:
        mass = 0.0
        for i in range(n):
            mass += np.exp(-(gradient[i] - lowest) / e)
        return lowest - e * np.log(mass)
    if total == 0.0:
        return lowest
    level = start  # Newton on 1 − 1/Σ w/(y + g), from the left of its root
    for _ in range(NEWTON_STEPS):
        value, slope = 0.0, 0.0
        for i in range(n):
            if weights[i] > 0.0:
                share = weights[i] / (level + gradient[i])
                value += share
                slope += share / (level + gradient[i])
        step = value * (value - 1.0) / slope
        level += step
        if abs(step) <= 1e-15 * (abs(level) + total):
            break
    level = max(level, -unseen)  # a state without weight that is cheaper takes the mass that is left
    result, left = 0.0, 1.0
    for i in range(n):
        if weights[i] > 0.0:
            theta = weights[i] / (level + gradient[i])
            result += gradient[i] * theta - weights[i] * np.log(theta)
            left -= theta
    return result - left * level


# Blocks ---------------------------------------------------------------------------------------------------------------


@compiled
def solve_blocks(  # pragma: no cover
    first: int,
    last: int,
    parameter_starts: Any,  # (blocks + 1,)
    constraint_starts: Any,  # (blocks + 1,)
    distribution_counts: Any,  # (blocks,)
    weights: Any,
    entropies: Any,
    distribution_of: Any,  # counted from 0 in each block
    entry_starts: Any,  # (constraints + 1,)
    indices: Any,  # counted from 0 in each block
    coefficients: Any,
    bounds: Any,
    equality: Any,
    softness: Any,
    norms: Any,
    scales: Any,  # (blocks,) what the weights of each were divided by
    order_starts: Any,  # (blocks + 1,)
    orders: Any,  # elimination orders of large blocks; the others find their own
    tolerance: float,
    theta: Any,  # in and out
    multipliers: Any,  # out
    iterations: Any,  # (blocks,) out
    status: Any,  # (blocks,) out
    shapes: Any,  # (blocks,) out
    violations: Any,  # (blocks,) out
    gaps: Any,  # (blocks,) out
    closed_forms: bool,
) -> None:
    """Solve and certify blocks `first` to `last`, in closed form where there is one; arrays hold all blocks."""
    for b in range(first, last):
        p, q = parameter_starts[b], parameter_starts[b + 1]
        r, t = constraint_starts[b], constraint_starts[b + 1]
        begin, end = entry_starts[r], entry_starts[t]
        w, x, z = weights[p:q], theta[p:q], multipliers[r:t]
        of, count = distribution_of[p:q], distribution_counts[b]
        starts = entry_starts[r : t + 1] - begin
        where, what, upper = indices[begin:end], coefficients[begin:end], bounds[r:t]
        shapes[b], done = GENERAL, False
        if closed_forms:
            chain_constraints = np.empty(count, dtype=np.int64)
            if not entropies[p:q].any():
                shapes[b] = shape_of(
                    w, of, count, starts, where, what, upper, equality[r:t], softness[r:t], chain_constraints
                )
            if shapes[b] == NO_CONSTRAINTS:
                done = without_constraints(w, of, count, x)
            elif shapes[b] == BOXES:
                done = boxes(w, starts, where, what, upper, x, z)
            elif shapes[b] == BOUNDED_SUMS:
                done = bounded_sums(w, starts, where, what, upper, x, z)
            elif shapes[b] == SUMS_AGAINST_SUMS:
                done = sums_against_sums(w, starts, where, what, x, z)
            elif shapes[b] == CHAIN:
                done = chain(w, count, starts, where, what, chain_constraints, x, z)
        if done:
            iterations[b], status[b] = 0, SOLVED
        else:
            # Where it gets stuck on the way from a start near the counts, it tries once more from the middle.
            for cautious in (False, True):
                iterations[b], status[b], _, _ = solve_block(
                    w,
                    entropies[p:q],
                    of,
                    count,
                    starts,
                    where,
                    what,
                    upper,
                    equality[r:t],
                    softness[r:t],
                    orders[order_starts[b] : order_starts[b + 1]],
                    cautious,
                    tolerance,
                    x,
                    z,
                )
                if status[b] == SOLVED:
                    break
        normalise(of, count, x)
        violations[b], value, bound = certify_block(
            w,
            entropies[p:q],
            of,
            count,
            starts,
            where,
            what,
            upper,
            equality[r:t],
            softness[r:t],
            norms[r:t],
            x,
            z,
        )
        gaps[b] = max(0.0, value - bound) * scales[b] / max(1.0, abs(value) * scales[b])

"""The certificate of `certificate.py`, compiled, for blocks as the interior point holds them: scaled, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

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
    norms: Any,  # (m,) what each row was divided by
    theta: Any,
    multipliers: Any,
) -> tuple[float, float, float]:
    """The largest violation of a hard row or a sum, in the row's own units; the objective; and the dual bound."""
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

"""Blocks one after another, compiled: in closed form where there is one, else by the interior point; each certified.

Each way has an entry point of its own, so that a fit compiles no more than it uses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from credo.kernels.closed_forms import (
    BOUNDED_SUMS,
    BOXES,
    CHAIN,
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
from credo.kernels.interior_point import OPEN, SOLVED, solve_block
from credo.kernels.newton_systems import SMALL, sparse_space

# Certificates ---------------------------------------------------------------------------------------------------------


NEWTON_STEPS = 200
LEAST_PER_ROW = 1e-6  # see `certificate.relative_gap`


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
    costs: Any,
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
    gradient = costs.copy()
    for i in range(n):
        value += costs[i] * theta[i]
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
    lowest, total, first, unseen = np.inf, 0.0, np.inf, np.inf
    for i in range(n):
        lowest = min(lowest, gradient[i])
        total += weights[i]
        if weights[i] > 0.0:
            first = min(first, gradient[i])
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
    level = 0.0  # u = y + first: counted from the cheapest state, so that small weights are not lost beside gradients
    for i in range(n):
        if weights[i] > 0.0:
            level = max(level, weights[i] - (gradient[i] - first))
    for _ in range(NEWTON_STEPS):  # on 1 − 1/Σ w/(u + d), from the left of its root
        value, slope = 0.0, 0.0
        for i in range(n):
            if weights[i] > 0.0:
                share = weights[i] / (level + (gradient[i] - first))
                value += share
                slope += share / (level + (gradient[i] - first))
        step = value * (value - 1.0) / slope
        level += step
        if abs(step) <= 4e-15 * level:
            break
    level = max(level, first - unseen)  # a state without weight that is cheaper takes the mass that is left
    result, left = first, 1.0
    for i in range(n):
        if weights[i] > 0.0:
            theta = weights[i] / (level + (gradient[i] - first))
            result += (gradient[i] - first) * theta - weights[i] * np.log(theta)
            left -= theta
    return result - left * level


# Blocks ---------------------------------------------------------------------------------------------------------------


class Blocks(NamedTuple):
    """All blocks in one set of arrays; weights sum to one, coefficients of constraints are at most one."""

    parameter_starts: Any  # (blocks + 1,)
    constraint_starts: Any  # (blocks + 1,)
    distribution_counts: Any  # (blocks,)
    weights: Any
    entropies: Any
    costs: Any
    distribution_of: Any  # counted from 0 in each block
    entry_starts: Any  # (constraints + 1,)
    indices: Any  # counted from 0 in each block
    coefficients: Any
    bounds: Any
    equality: Any
    softness: Any
    norms: Any
    scales: Any  # (blocks,) what the weights of each were divided by
    order_starts: Any  # (blocks + 1,)
    orders: Any  # elimination orders of large blocks; the others find their own


class Ends(NamedTuple):
    """Where each block ended; `theta` is also where it starts."""

    theta: Any
    multipliers: Any
    iterations: Any  # (blocks,)
    status: Any  # (blocks,) OPEN at first
    shapes: Any  # (blocks,)
    violations: Any  # (blocks,)
    gaps: Any  # (blocks,)


@compiled
def constraints_of(blocks: Blocks, b: int) -> Any:  # pragma: no cover
    """The constraints of a block: starts, indices, coefficients, bounds, equality, softness."""
    r, t = blocks.constraint_starts[b], blocks.constraint_starts[b + 1]
    begin, end = blocks.entry_starts[r], blocks.entry_starts[t]
    return (
        blocks.entry_starts[r : t + 1] - begin,
        blocks.indices[begin:end],
        blocks.coefficients[begin:end],
        blocks.bounds[r:t],
        blocks.equality[r:t],
        blocks.softness[r:t],
    )


@compiled
def solve_in_closed_form(first: int, last: int, blocks: Blocks, ends: Ends) -> None:  # pragma: no cover
    """Solve blocks `first` to `last` where there is a closed form."""
    for b in range(first, last):
        p, q = blocks.parameter_starts[b], blocks.parameter_starts[b + 1]
        r, t = blocks.constraint_starts[b], blocks.constraint_starts[b + 1]
        w, x, z = blocks.weights[p:q], ends.theta[p:q], ends.multipliers[r:t]
        of, count = blocks.distribution_of[p:q], blocks.distribution_counts[b]
        if blocks.entropies[p:q].any():
            continue
        starts, where, what, upper, equality, softness = constraints_of(blocks, b)
        order = np.empty(count, dtype=np.int64)
        shape, done = shape_of(w, of, count, starts, where, what, upper, equality, softness, order), False
        if shape == NO_CONSTRAINTS:
            done = without_constraints(w, of, count, x)
        elif shape == BOXES:
            done = boxes(w, starts, where, what, upper, x, z)
        elif shape == BOUNDED_SUMS:
            done = bounded_sums(w, starts, where, what, upper, x, z)
        elif shape == SUMS_AGAINST_SUMS:
            done = sums_against_sums(w, starts, where, what, x, z)
        elif shape == CHAIN:
            done = chain(w, count, starts, where, what, order, x, z)
        ends.shapes[b] = shape
        if done:
            ends.status[b] = SOLVED


@compiled
def is_dense(blocks: Blocks, b: int) -> bool:  # pragma: no cover
    """Whether the reduced dense systems of a block are the quicker ones."""
    return blocks.parameter_starts[b + 1] - blocks.parameter_starts[b] - blocks.distribution_counts[b] <= SMALL


@compiled
def iterate(b: int, blocks: Blocks, dense: Any, sparse: Any, tolerance: float, ends: Ends) -> None:  # pragma: no cover
    """Solve one block; where it gets stuck on the way from near the counts, it tries once more from the middle."""
    p, q = blocks.parameter_starts[b], blocks.parameter_starts[b + 1]
    r, t = blocks.constraint_starts[b], blocks.constraint_starts[b + 1]
    starts, where, what, upper, equality, softness = constraints_of(blocks, b)
    for cautious in (False, True):
        ends.iterations[b], ends.status[b], _, _ = solve_block(
            blocks.weights[p:q],
            blocks.entropies[p:q],
            blocks.costs[p:q],
            blocks.distribution_of[p:q],
            blocks.distribution_counts[b],
            starts,
            where,
            what,
            upper,
            equality,
            softness,
            dense,
            sparse,
            cautious,
            tolerance,
            ends.theta[p:q],
            ends.multipliers[r:t],
        )
        if ends.status[b] == SOLVED:
            break


@compiled
def solve_dense_blocks(first: int, last: int, blocks: Blocks, tolerance: float, ends: Ends) -> None:  # pragma: no cover
    """Solve the small ones of blocks `first` to `last` that are open."""
    for b in range(first, last):
        if ends.status[b] == OPEN and is_dense(blocks, b):
            iterate(b, blocks, True, None, tolerance, ends)


@compiled
def solve_sparse_blocks(
    first: int, last: int, blocks: Blocks, tolerance: float, ends: Ends
) -> None:  # pragma: no cover
    """Solve the large ones of blocks `first` to `last` that are open."""
    for b in range(first, last):
        if ends.status[b] == OPEN and not is_dense(blocks, b):
            p, q = blocks.parameter_starts[b], blocks.parameter_starts[b + 1]
            starts, where, what, _, _, _ = constraints_of(blocks, b)
            order = blocks.orders[blocks.order_starts[b] : blocks.order_starts[b + 1]]
            of, count = blocks.distribution_of[p:q], blocks.distribution_counts[b]
            sparse = sparse_space(of, count, starts, where, what, order)
            iterate(b, blocks, None, sparse, tolerance, ends)


@compiled
def certify_blocks(first: int, last: int, blocks: Blocks, ends: Ends) -> None:  # pragma: no cover
    """Normalise and certify blocks `first` to `last`."""
    for b in range(first, last):
        p, q = blocks.parameter_starts[b], blocks.parameter_starts[b + 1]
        r, t = blocks.constraint_starts[b], blocks.constraint_starts[b + 1]
        of, count, scale = blocks.distribution_of[p:q], blocks.distribution_counts[b], blocks.scales[b]
        starts, where, what, upper, equality, softness = constraints_of(blocks, b)
        normalise(of, count, ends.theta[p:q])
        ends.violations[b], value, bound = certify_block(
            blocks.weights[p:q],
            blocks.entropies[p:q],
            blocks.costs[p:q],
            of,
            count,
            starts,
            where,
            what,
            upper,
            equality,
            softness,
            blocks.norms[r:t],
            ends.theta[p:q],
            ends.multipliers[r:t],
        )
        distance = value - bound
        if np.isfinite(distance):  # in these units the weights sum to one; see `certificate.relative_gap`
            ends.gaps[b] = max(0.0, distance) * scale / max(1.0, max(abs(value), LEAST_PER_ROW) * scale)
        else:
            ends.gaps[b] = np.inf

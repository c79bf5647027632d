"""Blocks one after another, compiled: in closed form where there is one, else by the interior point; certified."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.certificate import certify_block, normalise
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


@compiled
def solve_blocks(  # pragma: no cover
    first: int,
    last: int,
    parameter_starts: Any,  # (blocks + 1,)
    row_starts: Any,  # (blocks + 1,)
    distribution_counts: Any,  # (blocks,)
    weights: Any,
    entropies: Any,
    distribution_of: Any,  # counted from 0 in each block
    entry_starts: Any,  # (rows + 1,)
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
        r, t = row_starts[b], row_starts[b + 1]
        begin, end = entry_starts[r], entry_starts[t]
        w, x, z = weights[p:q], theta[p:q], multipliers[r:t]
        of, count = distribution_of[p:q], distribution_counts[b]
        starts = entry_starts[r : t + 1] - begin
        where, what, upper = indices[begin:end], coefficients[begin:end], bounds[r:t]
        shapes[b], done = GENERAL, False
        if closed_forms:
            rows = np.empty(count, dtype=np.int64)
            if not entropies[p:q].any():
                shapes[b] = shape_of(w, of, count, starts, where, what, upper, equality[r:t], softness[r:t], rows)
            if shapes[b] == NO_CONSTRAINTS:
                done = without_constraints(w, of, count, x)
            elif shapes[b] == BOXES:
                done = boxes(w, starts, where, what, upper, x, z)
            elif shapes[b] == BOUNDED_SUMS:
                done = bounded_sums(w, starts, where, what, upper, x, z)
            elif shapes[b] == SUMS_AGAINST_SUMS:
                done = sums_against_sums(w, starts, where, what, x, z)
            elif shapes[b] == CHAIN:
                done = chain(w, count, starts, where, what, rows, x, z)
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

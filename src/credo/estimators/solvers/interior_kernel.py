"""The interior point, compiled: one loop a block, many blocks a call.

Minimise Σ −w log θ + e θ log θ over distributions θ with rows Aθ ≤ b, some of them equalities, some soft. With
multipliers z ≥ 0 of the rows, y of the sums, and v of θ ≥ 0, the optimum satisfies

    Aᵀz + y − v + e (log θ + 1) = 0,    Aθ + s − c z = b,    Σ θ = 1,    s z = 0,    θ v = w,

where c = 1 / (W·C) for a soft row, whose cost is (W/2)·C·violation² [liao, eq. 5], and 0 for a hard one. The
likelihood has become a complementarity with the counts as its target: weights of zero need no care of their own, and
each Newton step is linear algebra with a matrix of which only the diagonal changes:

    ⎡ (v + e)/θ    Aᵀ      1 ⎤ ⎡ Δθ ⎤
    ⎢     A    −(s/z + c)    ⎥ ⎢ Δz ⎥ = …
    ⎣     1                  ⎦ ⎣ Δy ⎦

Mehrotra's predictor and corrector choose how far towards the boundary each step aims.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from credo.estimators.solvers.certificate_kernel import certify_block, normalise
from credo.estimators.solvers.closed_form_kernel import (
    BOUNDED_SUMS,
    BOXES,
    CHAIN,
    GENERAL,
    NO_ROWS,
    SUMS_AGAINST_SUMS,
    bounded_sums,
    boxes,
    chain,
    shape_of,
    sums_against_sums,
    without_rows,
)
from credo.estimators.solvers.dense_kernel import workspace
from credo.estimators.solvers.sparse_kernel import (
    elimination_tree,
    factorise,
    minimum_degree,
    solve_factorised,
    upper_triangle,
)

SOLVED, STALLED = 0, 1

ITERATIONS = 100
REGULARISATION = 1e-9  # keeps pivots away from zero; refinement takes its effect out of the solution
REFINEMENTS = 2
TO_BOUNDARY = 0.995
CENTRALITY = 0.1
SHORT_STEP = 0.1
RESIDUAL = 1e-13  # of the linear equations
ACCEPTABLE = 1e-9  # where rounding ends progress, this will do


@numba.njit(cache=True, nogil=True, error_model="numpy")
def solve_block(  # pragma: no cover
    weights: Any,  # (n,) scaled to a sum of one, or zeros
    entropies: Any,  # (n,)
    distribution_of: Any,  # (n,)
    distributions: int,
    starts: Any,  # (m + 1,)
    indices: Any,
    coefficients: Any,
    bounds: Any,  # (m,)
    equality: Any,  # (m,)
    softness: Any,  # (m,) c, 0 where hard
    order: Any,  # (n + m + distributions,) elimination order, or empty: then it is found here
    cautious: bool,  # start in the middle of everything, and keep further away from the boundary
    tolerance: float,
    theta: Any,  # (n,) in: where to start; out: the optimum
    multipliers: Any,  # (m,) out
) -> tuple[int, int, float, float]:
    """Returns iterations, status, and the last primal residual and complementarity."""
    n, m = len(weights), len(bounds)
    size = n + m + distributions

    # The matrix: off-diagonal pairs once, in the order parameters, rows, sums.
    pairs = starts[m] + n
    pair_rows = np.empty(pairs, dtype=np.int64)
    pair_columns = np.empty(pairs, dtype=np.int64)
    pair_values = np.empty(pairs)
    k = 0
    for j in range(m):
        for p in range(starts[j], starts[j + 1]):
            pair_rows[k], pair_columns[k], pair_values[k] = indices[p], n + j, coefficients[p]
            k += 1
    for i in range(n):
        pair_rows[k], pair_columns[k], pair_values[k] = i, n + m + distribution_of[i], 1.0
        k += 1
    if len(order) == 0:
        order = minimum_degree(size, pair_rows, pair_columns)
    column_starts, numbers, entries, diagonal_at = upper_triangle(size, order, pair_rows, pair_columns, pair_values)
    parent, factor_starts, tail = elimination_tree(size, column_starts, numbers)
    dense, signs, space = np.empty((size - tail, size - tail)), np.empty(size - tail), workspace(size - tail)
    factor_numbers = np.empty(factor_starts[size], dtype=np.int64)
    factor_entries = np.empty(factor_starts[size])
    inverse_diagonal = np.empty(size)
    factors = (factor_starts, factor_numbers, factor_entries, inverse_diagonal, tail, dense)
    work = np.zeros(size)
    integers = np.empty((4, size), dtype=np.int64)

    diagonal = np.empty(size)
    right, solution, residual, permuted = np.empty(size), np.empty(size), np.empty(size), np.empty(size)

    # A start inside, near the optimum without rows, where each distribution's multiplier is its weight.
    y = np.zeros(distributions)
    for i in range(n):
        y[distribution_of[i]] += weights[i]
    lowest = 0.01 / max(1, distributions)
    for d in range(distributions):
        y[d] = max(y[d], lowest)
    v, s, z = np.empty(n), np.zeros(m), np.zeros(m)
    for i in range(n):
        v[i] = y[distribution_of[i]]
    row_values = np.zeros(m)
    for j in range(m):
        lightest = 1.0
        for p in range(starts[j], starts[j + 1]):
            row_values[j] += coefficients[p] * theta[indices[p]]
            lightest = min(lightest, y[distribution_of[indices[p]]])
        if not equality[j]:
            s[j] = max(bounds[j] - row_values[j], 0.05)
            z[j] = 0.1 * lightest
            for p in range(starts[j], starts[j + 1]):
                v[indices[p]] += coefficients[p] * z[j]
    for i in range(n):
        v[i] = max(v[i], 0.1 * y[distribution_of[i]])
    to_boundary = TO_BOUNDARY
    if cautious:
        to_boundary = 0.9
        middle(distribution_of, theta, v)
        for j in range(m):
            if not equality[j]:
                s[j], z[j] = max(bounds[j] - row_values[j], 1.0), 1.0

    dtheta, dv, ds, dz = np.zeros(n), np.zeros(n), np.zeros(m), np.zeros(m)
    dual, comp_theta, comp_row = np.empty(n), np.empty(n), np.empty(m)
    primal, gap, worst, iteration = np.inf, np.inf, np.inf, 0
    pairs_total = n
    for j in range(m):
        pairs_total += not equality[j]
    stalled = 0
    for iteration in range(ITERATIONS):
        # Residuals.
        for i in range(n):
            dual[i] = y[distribution_of[i]] - v[i]
            if entropies[i] > 0.0:
                dual[i] += entropies[i] * (np.log(theta[i]) + 1.0)
        row_values[:] = 0.0
        for j in range(m):
            for p in range(starts[j], starts[j + 1]):
                row_values[j] += coefficients[p] * theta[indices[p]]
                dual[indices[p]] += coefficients[p] * z[j]
        primal, worst, short, mu = 0.0, 0.0, 0.0, 0.0
        for j in range(m):
            primal = max(primal, abs(row_values[j] + s[j] - softness[j] * z[j] - bounds[j]))
            if not equality[j]:
                mu += s[j] * z[j]
        sums = np.zeros(distributions)
        for i in range(n):
            sums[distribution_of[i]] += theta[i]
            worst = max(worst, abs(dual[i]) * theta[i])
            product = theta[i] * v[i] - weights[i]
            mu += max(product, 0.0)
            short += max(-product, 0.0)
        for d in range(distributions):
            primal = max(primal, abs(sums[d] - 1.0))
        gap = mu + short
        if primal <= RESIDUAL and worst <= RESIDUAL and gap <= tolerance:
            for j in range(m):
                multipliers[j] = z[j]
            return iteration, SOLVED, primal, gap
        if not np.isfinite(gap) or not np.isfinite(primal) or stalled >= 5:
            break
        mu /= pairs_total

        # The matrix of this iteration.
        for i in range(n):
            diagonal[i] = (v[i] + entropies[i]) / theta[i]
        for j in range(m):
            diagonal[n + j] = -softness[j] if equality[j] else -(s[j] / z[j] + softness[j])
        for d in range(distributions):
            diagonal[n + m + d] = 0.0
        for k in range(size):
            shift = REGULARISATION * diagonal[k] if k < n else -REGULARISATION
            entries[diagonal_at[k]] = diagonal[k] + shift
        factorise(
            size,
            column_starts,
            numbers,
            entries,
            parent,
            factor_starts,
            factor_numbers,
            factor_entries,
            n,
            order,
            inverse_diagonal,
            work,
            integers[0],
            integers[1],
            integers[2],
            integers[3],
            tail,
            dense,
            signs,
            space,
        )

        sigma, step, curvature = 0.0, 0.0, 0.0
        for phase in range(3):
            if phase == 2:
                if step >= SHORT_STEP:
                    break
                sigma = 1.0  # the corrector got stuck: go back to the middle first
            # What the complementarities should change by: to the target, less the predictor's curvature.
            for i in range(n):
                target = weights[i] + sigma * mu
                comp_theta[i] = target - theta[i] * v[i] - (curvature * dtheta[i] * dv[i] if phase == 1 else 0.0)
            for j in range(m):
                if not equality[j]:
                    comp_row[j] = sigma * mu - s[j] * z[j] - (curvature * ds[j] * dz[j] if phase == 1 else 0.0)
            for i in range(n):
                right[i] = -dual[i] + comp_theta[i] / theta[i]
            for j in range(m):
                missing = bounds[j] - row_values[j] + softness[j] * z[j] - s[j]
                right[n + j] = missing if equality[j] else missing - comp_row[j] / z[j]
            for d in range(distributions):
                right[n + m + d] = 1.0 - sums[d]

            # Solve, and refine with the matrix that has no regularisation.
            for k in range(size):
                permuted[k] = right[order[k]]
            solve_factorised(size, *factors, permuted)
            for k in range(size):
                solution[order[k]] = permuted[k]
            for _ in range(REFINEMENTS if phase > 0 else 0):  # the predictor only says how far things could go
                for k in range(size):
                    residual[k] = right[k] - diagonal[k] * solution[k]
                for k in range(pairs):
                    residual[pair_rows[k]] -= pair_values[k] * solution[pair_columns[k]]
                    residual[pair_columns[k]] -= pair_values[k] * solution[pair_rows[k]]
                for k in range(size):
                    permuted[k] = residual[order[k]]
                solve_factorised(size, *factors, permuted)
                for k in range(size):
                    solution[order[k]] += permuted[k]

            # The step, and how far it may go.
            step = 1.0 / to_boundary
            for i in range(n):
                dtheta[i] = solution[i]
                dv[i] = (comp_theta[i] - v[i] * dtheta[i]) / theta[i]
                if dtheta[i] < 0.0:
                    step = min(step, -theta[i] / dtheta[i])
                if dv[i] < 0.0:
                    step = min(step, -v[i] / dv[i])
            for j in range(m):
                dz[j] = solution[n + j]
                if not equality[j]:
                    ds[j] = (comp_row[j] - s[j] * dz[j]) / z[j]
                    if ds[j] < 0.0:
                        step = min(step, -s[j] / ds[j])
                    if dz[j] < 0.0:
                        step = min(step, -z[j] / dz[j])
            step *= to_boundary
            if phase >= 1:
                # Near the boundary with a product far below its target, Newton's steps would become tiny: stay away.
                for _ in range(40):
                    central = True
                    for i in range(n):
                        now = theta[i] * v[i]
                        later = (theta[i] + step * dtheta[i]) * (v[i] + step * dv[i])
                        central &= later >= min(now, CENTRALITY * (weights[i] + sigma * mu))
                    if central:
                        break
                    step *= 0.8
            if phase == 0:
                after = 0.0
                for i in range(n):
                    after += max((theta[i] + step * dtheta[i]) * (v[i] + step * dv[i]) - weights[i], 0.0)
                for j in range(m):
                    if not equality[j]:
                        after += (s[j] + step * ds[j]) * (z[j] + step * dz[j])
                sigma = (after / pairs_total / mu) ** 3 if mu > 0.0 else 0.0
                sigma = min(max(sigma, (1.0 - step) ** 3), 1.0)
                curvature = step * step  # the predictor's own curvature counts as far as the predictor could go
        stalled = stalled + 1 if step < 1e-3 else 0
        for i in range(n):
            theta[i] += step * dtheta[i]
            v[i] += step * dv[i]
        for j in range(m):
            z[j] += step * dz[j]
            if not equality[j]:
                s[j] += step * ds[j]
        for d in range(distributions):
            y[d] += step * solution[n + m + d]
    for j in range(m):
        multipliers[j] = z[j]
    good = primal <= ACCEPTABLE and worst <= ACCEPTABLE and gap <= ACCEPTABLE
    return iteration, SOLVED if good else STALLED, primal, gap


@numba.njit(cache=True, nogil=True)
def middle(distribution_of: Any, theta: Any, v: Any) -> None:  # pragma: no cover
    """The middle of every distribution, with θ v = 1."""
    sizes = np.zeros(distribution_of.max() + 1)
    for d in distribution_of:
        sizes[d] += 1.0
    for i in range(len(theta)):
        theta[i] = 1.0 / sizes[distribution_of[i]]
        v[i] = sizes[distribution_of[i]]


@numba.njit(cache=True, nogil=True)
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
            if shapes[b] == NO_ROWS:
                done = without_rows(w, of, count, x)
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

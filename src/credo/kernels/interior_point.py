"""The interior point, compiled: the loop that solves one block.

Minimise Σ −w log θ + e θ log θ + c θ over distributions θ with constraints Aθ ≤ b, some of them equalities, some soft.
With multipliers z ≥ 0 of the constraints, y of the sums, and v of θ ≥ 0, the optimum satisfies

    Aᵀz + y − v + e (log θ + 1) + c = 0,    Aθ + s − t z = b,    Σ θ = 1,    s z = 0,    θ v = w,

where t = 1 / (W·C) for a soft constraint, whose cost is (W/2)·C·violation² [liao, eq. 5], and 0 for a hard one. The
likelihood has become a complementarity with the counts as its target: weights of zero need no care of their own, and
each Newton step is linear algebra with a matrix of which only the diagonal changes:

    ⎡ (v + e)/θ    Aᵀ      1 ⎤ ⎡ Δθ ⎤
    ⎢     A    −(s/z + t)    ⎥ ⎢ Δz ⎥ = …
    ⎣     1                  ⎦ ⎣ Δy ⎦

Mehrotra's predictor and corrector choose how far towards the boundary each step aims.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.newton_systems import (
    REGULARISATION,
    choose_dependent,
    factorise_reduced,
    factorise_sparse,
    reduce_constraints,
    residual_of,
    solve_reduced,
    solve_sparse,
)

SOLVED, STALLED, OPEN = 0, 1, 2

ITERATIONS = 100
REFINEMENTS = 2
ENOUGH = 1e-7  # of the gap: what an equation may be off by; what has no weight would drift with more
TO_BOUNDARY, CAUTIOUS_TO_BOUNDARY = 0.995, 0.9
CENTRALITY = 0.1
SHORT_STEP = 0.1
RESIDUAL = 1e-13  # of the linear equations
PATIENCE = 6  # steps that halve nothing, after which an acceptable point is taken
ACCEPTABLE = 1e-9  # where rounding ends progress, this will do


@compiled(error_model="numpy")
def solve_block(  # pragma: no cover
    weights: Any,  # (n,) scaled to a sum of one, or zeros
    entropies: Any,  # (n,)
    costs: Any,  # (n,) c
    distribution_of: Any,  # (n,)
    distributions: int,
    starts: Any,  # (m + 1,)
    indices: Any,
    coefficients: Any,
    bounds: Any,  # (m,)
    equality: Any,  # (m,)
    softness: Any,  # (m,) t, 0 where hard
    dense: Any,  # True for a small block, whose systems are reduced to dense ones; None for a large one
    sparse: Any,  # None for a small block; for a large one what `sparse_space` makes of it
    cautious: bool,  # start in the middle of everything, and keep further away from the boundary
    tolerance: float,
    theta: Any,  # (n,) in: where to start; out: the optimum
    multipliers: Any,  # (m,) out
) -> tuple[int, int, float, float]:
    """Returns iterations, status, and the last primal residual and complementarity."""
    n, m = len(weights), len(bounds)
    size = n + m + distributions

    free = 0
    if dense is not None:  # compiled only where this is known to hold, as with all conditions of this form
        free = n - distributions
    dependent, place = np.full(distributions, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    lengths, unknowns, values = np.empty(m, dtype=np.int64), np.empty((m, free), dtype=np.int64), np.empty((m, free))
    matrix, inverse, unknown, gradient = np.empty((free, free)), np.empty(free), np.empty(free), np.empty(n)
    regular, correction, constraint_weights = np.empty(size), np.empty(size), np.empty(m)
    inverse_theta, inverse_v, inverse_s, inverse_z = np.empty(n), np.empty(n), np.zeros(m), np.zeros(m)
    diagonal = np.empty(size)
    right, solution, residual = np.empty(size), np.empty(size), np.empty(size)

    y, v, s, z = start_inside(
        weights, distribution_of, distributions, starts, indices, coefficients, bounds, equality, cautious, theta
    )
    to_boundary = CAUTIOUS_TO_BOUNDARY if cautious else TO_BOUNDARY
    constraint_values, sums = np.empty(m), np.empty(distributions)

    dtheta, dv, ds, dz = np.zeros(n), np.zeros(n), np.zeros(m), np.zeros(m)
    dual, comp_theta, comp_constraint = np.empty(n), np.empty(n), np.empty(m)
    primal, gap, worst, iteration = np.inf, np.inf, np.inf, 0
    pairs_total = n
    for j in range(m):
        pairs_total += not equality[j]
    stalled, idle, least = 0, 0, np.inf
    for iteration in range(ITERATIONS):
        # Residuals.
        for i in range(n):
            dual[i] = y[distribution_of[i]] - v[i] + costs[i]
            if entropies[i] > 0.0:
                dual[i] += entropies[i] * (np.log(theta[i]) + 1.0)
        constraint_values[:] = 0.0
        for j in range(m):
            for p in range(starts[j], starts[j + 1]):
                constraint_values[j] += coefficients[p] * theta[indices[p]]
                dual[indices[p]] += coefficients[p] * z[j]
        primal, worst, short, mu = 0.0, 0.0, 0.0, 0.0
        for j in range(m):
            primal = max(primal, abs(constraint_values[j] + s[j] - softness[j] * z[j] - bounds[j]))
            mu += s[j] * z[j]
        sums[:] = 0.0
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
        # Numbers that must be zero have no inside, and get there slowly: enough is enough.
        error = max(primal, worst, gap)
        idle = 0 if error < 0.5 * least else idle + 1
        least = min(least, error)
        if idle >= PATIENCE and error <= ACCEPTABLE:
            break
        mu /= pairs_total

        # The matrix of this iteration.
        for i in range(n):
            inverse_theta[i], inverse_v[i] = 1.0 / theta[i], 1.0 / v[i]
            diagonal[i] = (v[i] + entropies[i]) * inverse_theta[i]
            regular[i] = diagonal[i] * (1.0 + REGULARISATION)
        for j in range(m):
            if not equality[j]:  # an equality has no slack, and nothing that could become zero
                inverse_s[j], inverse_z[j] = 1.0 / s[j], 1.0 / z[j]
            diagonal[n + j] = -(s[j] * inverse_z[j] + softness[j])
            regular[n + j] = diagonal[n + j] - REGULARISATION
            constraint_weights[j] = -1.0 / regular[n + j]
        for d in range(n + m, size):
            diagonal[d], regular[d] = 0.0, -REGULARISATION
        if dense is not None:
            if choose_dependent(distribution_of, theta, dependent, place):
                reduce_constraints(distribution_of, starts, indices, coefficients, place, lengths, unknowns, values)
            factorise_reduced(
                distribution_of,
                regular,
                constraint_weights,
                dependent,
                place,
                lengths,
                unknowns,
                values,
                matrix,
                inverse,
            )
        if sparse is not None:
            factorise_sparse(sparse, regular)

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
                right[i] = comp_theta[i] * inverse_theta[i] - dual[i]
            for j in range(m):
                comp_constraint[j] = sigma * mu - s[j] * z[j] - (curvature * ds[j] * dz[j] if phase == 1 else 0.0)
                missing = bounds[j] - constraint_values[j] + softness[j] * z[j] - s[j]
                right[n + j] = missing - comp_constraint[j] * inverse_z[j]
            for d in range(distributions):
                right[n + m + d] = 1.0 - sums[d]

            # Solve, and refine with the matrix itself; the predictor only says how far things could go.
            for refinement in range(1 + REFINEMENTS if phase > 0 else 1):
                asked, answer = (right, solution) if refinement == 0 else (residual, correction)
                if dense is not None:
                    solve_reduced(
                        distribution_of,
                        starts,
                        indices,
                        coefficients,
                        regular,
                        constraint_weights,
                        dependent,
                        place,
                        matrix,
                        inverse,
                        asked,
                        answer,
                        unknown,
                        gradient,
                    )
                if sparse is not None:
                    solve_sparse(sparse, asked, answer)
                if refinement > 0:
                    for k in range(size):
                        solution[k] += correction[k]
                if phase > 0 and refinement < REFINEMENTS:
                    missed = residual_of(
                        distribution_of, starts, indices, coefficients, diagonal, right, solution, residual
                    )
                    if missed <= ENOUGH * gap:
                        break

            # The step, and how far it may go.
            ratio = to_boundary
            for i in range(n):
                dtheta[i] = solution[i]
                dv[i] = (comp_theta[i] - v[i] * dtheta[i]) * inverse_theta[i]
                ratio = max(ratio, max(-dtheta[i] * inverse_theta[i], -dv[i] * inverse_v[i]))
            for j in range(m):
                dz[j] = solution[n + j]
                ds[j] = (comp_constraint[j] - s[j] * dz[j]) * inverse_z[j]
                ratio = max(ratio, max(-ds[j] * inverse_s[j], -dz[j] * inverse_z[j]))
            step = to_boundary / ratio
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
            s[j] += step * ds[j]
        for d in range(distributions):
            y[d] += step * solution[n + m + d]
    for j in range(m):
        multipliers[j] = z[j]
    good = primal <= ACCEPTABLE and worst <= ACCEPTABLE and gap <= ACCEPTABLE
    return iteration, SOLVED if good else STALLED, primal, gap


@compiled
def start_inside(  # pragma: no cover
    weights: Any,
    distribution_of: Any,
    distributions: int,
    starts: Any,
    indices: Any,
    coefficients: Any,
    bounds: Any,
    equality: Any,
    cautious: bool,
    theta: Any,
) -> Any:
    """Multipliers y, v, z and slacks s for θ near the unconstrained optimum, where y is a distribution's weight."""
    n, m = len(weights), len(bounds)
    y = np.zeros(distributions)
    for i in range(n):
        y[distribution_of[i]] += weights[i]
    lowest = 0.01 / max(1, distributions)
    for d in range(distributions):
        y[d] = max(y[d], lowest)
    v, s, z = np.empty(n), np.zeros(m), np.zeros(m)
    for i in range(n):
        v[i] = y[distribution_of[i]]
    for j in range(m):
        lightest, slack = 1.0, bounds[j]
        for p in range(starts[j], starts[j + 1]):
            slack -= coefficients[p] * theta[indices[p]]
            lightest = min(lightest, y[distribution_of[indices[p]]])
        if equality[j]:
            continue
        if cautious:
            s[j], z[j] = max(slack, 1.0), 1.0
            continue
        s[j], z[j] = max(slack, 0.05), 0.1 * lightest
        for p in range(starts[j], starts[j + 1]):
            v[indices[p]] += coefficients[p] * z[j]
    for i in range(n):
        v[i] = max(v[i], 0.1 * y[distribution_of[i]])
    if cautious:
        middle(distribution_of, theta, v)
    return y, v, s, z


@compiled
def middle(distribution_of: Any, theta: Any, v: Any) -> None:  # pragma: no cover
    """The middle of every distribution, with θ v = 1."""
    sizes = np.zeros(distribution_of.max() + 1)
    for d in distribution_of:
        sizes[d] += 1.0
    for i in range(len(theta)):
        theta[i] = 1.0 / sizes[distribution_of[i]]
        v[i] = sizes[distribution_of[i]]

"""The penalised objective of a block in softmax coordinates, and its minimum by Newton's steps, compiled.

With θ = softmax(β) in each distribution, what is minimised is

    F = −Σ w log θ + Σ_j p_j missed_j²,    missed_j = max(0, c_j·x − b_j), and without the cut for equalities,

where x is θ for linear constraints and log θ for products. A step u with Σ θ u = 0 in each distribution changes log θ
by u, and F, to the second order, to

    F(u) = F(0) − Σ w u + ½ Σ D u² + Σ_j p_j (missed_j after J_j u)²,    J = c θ for linear constraints, c for products.

For linear constraints D = w at the optimum, and w = θ·(gradient of the penalties, plus the multiplier of the sum).
Before that, the larger of both stands for D, so that no state asks by itself for a step below −1. Which constraints
are violated is settled within F(u): weights can be 1e-8 and penalties 1e6, and a step that knew only the constraints
violated at its beginning would end far beyond others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from credo.kernels.cholesky import factorise_dense, solve_dense, workspace
from credo.kernels.compiler import compiled

SUFFICIENT, HALVINGS = 1e-4, 40
FARTHEST_DOWN = 4.0  # that log θ may fall in one step
PASSES = 20  # for finding the constraints that count
SMALLEST_STEP = 1e-9  # of θ: the one before the last; the last is about its square
ROUNDING = 1e-13  # the share of F that its differences are right to
PATIENCE = 20  # steps that lower F by no more than that; with products, steps converge linearly


class PenalisedConstraints(NamedTuple):
    """A block's distributions and its constraints with their penalties: linear constraints first, then products."""

    distributions: Any  # (distributions + 1,)
    distribution_of: Any  # (parameters,)
    starts: Any  # (constraints + 1,)
    indices: Any
    coefficients: Any  # of products: exponents
    bounds: Any  # (constraints,) of products: their logarithms
    equality: Any  # (constraints,)
    penalties: Any  # (constraints,) of soft ones; NaN of hard ones, whose penalty is ω
    linear: int  # how many constraints are linear


@compiled
def penalty_of(constraints: PenalisedConstraints, omega: float, j: int) -> float:  # pragma: no cover
    """What a unit of squared violation costs."""
    return omega if np.isnan(constraints.penalties[j]) else constraints.penalties[j]


@compiled
def coefficient(constraints: PenalisedConstraints, theta: Any, j: int, e: int) -> float:  # pragma: no cover
    """How entry e of constraint j changes with log θ: J."""
    return (
        constraints.coefficients[e] * theta[constraints.indices[e]]
        if j < constraints.linear
        else constraints.coefficients[e]
    )


@compiled
def set_distributions(
    constraints: PenalisedConstraints, beta: Any, log_theta: Any, theta: Any
) -> None:  # pragma: no cover
    """θ = softmax(β) in each distribution, and log θ."""
    for d in range(len(constraints.distributions) - 1):
        first, last = constraints.distributions[d], constraints.distributions[d + 1]
        highest, total = beta[first], 0.0
        for i in range(first, last):
            highest = max(highest, beta[i])
        for i in range(first, last):
            total += np.exp(beta[i] - highest)
        for i in range(first, last):
            log_theta[i] = beta[i] - highest - np.log(total)
            theta[i] = np.exp(log_theta[i])


@compiled
def set_excess(constraints: PenalisedConstraints, log_theta: Any, theta: Any, excess: Any) -> None:  # pragma: no cover
    """By how much the left side of each constraint exceeds its right."""
    for j in range(len(excess)):
        excess[j] = -constraints.bounds[j]
        for e in range(constraints.starts[j], constraints.starts[j + 1]):
            i = constraints.indices[e]
            excess[j] += constraints.coefficients[e] * (theta[i] if j < constraints.linear else log_theta[i])


@compiled
def value_at(  # pragma: no cover
    constraints: PenalisedConstraints, weights: Any, omega: float, beta: Any, log_theta: Any, theta: Any, excess: Any
) -> float:
    """F at β; θ, log θ and the excess of each constraint are left behind."""
    set_distributions(constraints, beta, log_theta, theta)
    set_excess(constraints, log_theta, theta, excess)
    value = 0.0
    for i in range(len(beta)):
        value -= weights[i] * log_theta[i]
    for j in range(len(excess)):
        if excess[j] > 0.0 or constraints.equality[j]:
            value += penalty_of(constraints, omega, j) * excess[j] * excess[j]
    return value


@compiled
def set_slope(
    constraints: PenalisedConstraints, weights: Any, omega: float, theta: Any, excess: Any, slope: Any
) -> float:  # pragma: no cover
    """∂F/∂β, and its largest component.

    v = ∂F/∂log θ is summed up first; the softmax's full Jacobian makes v − θ · Σ_d v of it, d being the distribution.
    """
    for i in range(len(theta)):
        slope[i] = -weights[i]
    for j in range(len(excess)):
        if excess[j] > 0.0 or constraints.equality[j]:
            pull = 2.0 * penalty_of(constraints, omega, j) * excess[j]
            for e in range(constraints.starts[j], constraints.starts[j + 1]):
                slope[constraints.indices[e]] += pull * coefficient(constraints, theta, j, e)
    steepest = 0.0
    for d in range(len(constraints.distributions) - 1):
        total = 0.0
        for i in range(constraints.distributions[d], constraints.distributions[d + 1]):
            total += slope[i]
        for i in range(constraints.distributions[d], constraints.distributions[d + 1]):
            slope[i] -= theta[i] * total
            steepest = max(steepest, abs(slope[i]))
    return steepest


@compiled
def cost(constraints: PenalisedConstraints, weights: Any, omega: float, beta: Any) -> Any:  # pragma: no cover
    """F and ∂F/∂β, for who iterates in another way."""
    log_theta, theta, slope = np.empty(len(beta)), np.empty(len(beta)), np.empty(len(beta))
    excess = np.empty(len(constraints.bounds))
    value = value_at(constraints, weights, omega, beta, log_theta, theta, excess)
    set_slope(constraints, weights, omega, theta, excess, slope)
    return value, slope


# Newton's step --------------------------------------------------------------------------------------------------------


@compiled
def set_free(constraints: PenalisedConstraints, theta: Any, likeliest: Any, place: Any) -> None:  # pragma: no cover
    """The likeliest state of each distribution follows from the others, as Σ θ u = 0; these get places from 0 on."""
    count = 0
    for d in range(len(likeliest)):
        first, last = constraints.distributions[d], constraints.distributions[d + 1]
        likeliest[d] = first
        for i in range(first, last):
            if theta[i] > theta[likeliest[d]]:
                likeliest[d] = i
        for i in range(first, last):
            if i == likeliest[d]:
                place[i] = -1
            else:
                place[i] = count
                count += 1


@compiled
def add_term(
    constraints: PenalisedConstraints, theta: Any, place: Any, i: int, factor: float, form: Any
) -> None:  # pragma: no cover
    """Add factor·u_i to a linear form in the steps of the free states."""
    if place[i] >= 0:
        form[place[i]] += factor
        return
    d = constraints.distribution_of[i]
    for other in range(constraints.distributions[d], constraints.distributions[d + 1]):
        if other != i:
            form[place[other]] -= factor * theta[other] / theta[i]


@compiled
def add_square(
    form: Any, factor: float, target: float, named: Any, matrix: Any, right: Any
) -> None:  # pragma: no cover
    """Add the equations of ½·factor·(form − target)²; the form is zero afterwards."""
    count = 0
    for a in range(len(form)):
        if form[a] != 0.0:
            named[count] = a
            count += 1
    for k in range(count):
        a = named[k]
        right[a] += factor * target * form[a]
        for other in range(k + 1):
            matrix[a, named[other]] += factor * form[a] * form[named[other]]
    for k in range(count):
        form[named[k]] = 0.0


@compiled
def set_equations(  # pragma: no cover
    constraints: PenalisedConstraints,
    weights: Any,
    omega: float,
    theta: Any,
    excess: Any,
    slope: Any,
    ahead: Any,
    place: Any,
    matrix: Any,
    right: Any,
) -> None:
    """The equations of the free states' steps to the minimum of F(u), with the constraints violated `ahead`."""
    form, named = np.zeros(len(right)), np.empty(len(right), dtype=np.int64)
    matrix[:] = 0.0
    right[:] = 0.0
    for i in range(len(theta)):
        add_term(constraints, theta, place, i, weights[i], right)
        add_term(constraints, theta, place, i, 1.0, form)
        add_square(form, weights[i] + max(0.0, slope[i]), 0.0, named, matrix, right)
    for j in range(len(excess)):
        if ahead[j] > 0.0 or constraints.equality[j]:
            for e in range(constraints.starts[j], constraints.starts[j + 1]):
                add_term(constraints, theta, place, constraints.indices[e], coefficient(constraints, theta, j, e), form)
            add_square(form, 2.0 * penalty_of(constraints, omega, j), -excess[j], named, matrix, right)


@compiled
def solve_equations(matrix: Any, right: Any, space: Any) -> None:  # pragma: no cover
    """Solve in place, scaled to a diagonal of ones."""
    scale = np.empty(len(right))
    for a in range(len(right)):
        scale[a] = 1.0 / np.sqrt(matrix[a, a])
        right[a] *= scale[a]
        for other in range(a + 1):
            matrix[a, other] *= scale[a] * scale[other]
    inverse_diagonal = np.empty(len(right))
    factorise_dense(matrix, np.ones(len(right)), inverse_diagonal, space)
    solve_dense(matrix, inverse_diagonal, right)
    for a in range(len(right)):
        right[a] *= scale[a]


@compiled
def model_at(  # pragma: no cover
    constraints: PenalisedConstraints,
    weights: Any,
    omega: float,
    theta: Any,
    excess: Any,
    slope: Any,
    step: Any,
    ahead: Any,
) -> float:
    """F(u) − F(0) but for a constant; the excess of each constraint there is left behind."""
    value = 0.0
    for i in range(len(theta)):
        value += (0.5 * (weights[i] + max(0.0, slope[i])) * step[i] - weights[i]) * step[i]
    for j in range(len(excess)):
        ahead[j] = excess[j]
        for e in range(constraints.starts[j], constraints.starts[j + 1]):
            ahead[j] += coefficient(constraints, theta, j, e) * step[constraints.indices[e]]
        if ahead[j] > 0.0 or constraints.equality[j]:
            value += penalty_of(constraints, omega, j) * ahead[j] * ahead[j]
    return value


@compiled
def set_step(  # pragma: no cover
    constraints: PenalisedConstraints,
    weights: Any,
    omega: float,
    theta: Any,
    excess: Any,
    slope: Any,
    step: Any,
    matrix: Any,
    space: Any,
) -> float:
    """The step to the minimum of F(u), and how fast F falls at its beginning.

    F(u) is convex and made of quadratic pieces: each pass goes towards the minimum of the piece that it is in, as far
    as F(u) falls, and the last one ends where it has aimed.
    """
    n, m = len(theta), len(excess)
    likeliest, place = np.empty(len(constraints.distributions) - 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    set_free(constraints, theta, likeliest, place)
    right, aim, tried, ahead, there = np.empty(len(matrix)), np.empty(n), np.empty(n), np.empty(m), np.empty(m)
    step[:] = 0.0
    value = model_at(constraints, weights, omega, theta, excess, slope, step, ahead)
    for _ in range(PASSES):
        set_equations(constraints, weights, omega, theta, excess, slope, ahead, place, matrix, right)
        solve_equations(matrix, right, space)
        aim[:] = 0.0
        for i in range(n):
            if place[i] >= 0:
                aim[i] = right[place[i]]
                k = likeliest[constraints.distribution_of[i]]
                aim[k] -= aim[i] * theta[i] / theta[k]
        length, after = 1.0, np.inf
        for _ in range(HALVINGS):
            for i in range(n):
                tried[i] = step[i] + length * (aim[i] - step[i])
            after = model_at(constraints, weights, omega, theta, excess, slope, tried, there)
            if after < value:
                break
            length *= 0.5
        if not after < value:
            break
        same = length == 1.0
        value = after
        for i in range(n):
            step[i] = tried[i]
        for j in range(m):
            same = same and (ahead[j] > 0.0) == (there[j] > 0.0)
            ahead[j] = there[j]
        if same:
            break
    fall = 0.0
    for i in range(n):
        fall += slope[i] * step[i]
    return fall


@compiled
def newton(
    constraints: PenalisedConstraints, weights: Any, omega: float, start: Any, iterations: int, tolerance: float
) -> Any:  # pragma: no cover
    """The minimum near β, and how often F was evaluated.

    It ends where no component of the slope is above the tolerance and θ no longer moves, or where rounding ends
    progress. States that grow do so in proportion to the length of a step, as θ does on a straight line; those that
    shrink, as log θ does: neither can end below zero, nor grow without bound.
    """
    beta = start.copy()
    n, free = len(beta), len(beta) - len(constraints.distributions) + 1
    log_theta, theta, slope, step, tried = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    before = np.empty(n)
    excess, matrix, space = np.empty(len(constraints.bounds)), np.empty((free, free)), workspace(free)
    value, evaluations = value_at(constraints, weights, omega, beta, log_theta, theta, excess), 1
    moved, idle = np.inf, 0
    for _ in range(iterations):
        steepest = set_slope(constraints, weights, omega, theta, excess, slope)
        if idle == PATIENCE or (steepest <= tolerance and moved <= SMALLEST_STEP):
            break
        fall = set_step(constraints, weights, omega, theta, excess, slope, step, matrix, space)
        if not fall < 0.0:
            break
        length = 1.0
        for i in range(n):
            before[i] = theta[i]
            if length * step[i] < -FARTHEST_DOWN:
                length = -FARTHEST_DOWN / step[i]
        after = np.inf
        for _ in range(HALVINGS):
            for i in range(n):
                along = length * step[i]
                tried[i] = beta[i] + (np.log1p(along) if along > 0.0 else along)
            after = value_at(constraints, weights, omega, tried, log_theta, theta, excess)
            evaluations += 1
            if after <= value + SUFFICIENT * length * fall + ROUNDING * abs(value):
                break
            length *= 0.5
        else:
            break
        idle = 0 if after < value - ROUNDING * abs(value) else idle + 1
        value, moved = after, 0.0
        for i in range(n):
            beta[i] = tried[i]
            moved = max(moved, abs(theta[i] - before[i]))
    return beta, evaluations

"""The penalised objective of a block in softmax coordinates, and its minimum by Newton's steps, compiled.

With θ = softmax(β) in each distribution, what is minimised is

    F = −Σ w log θ + Σ_j p_j missed_j²,    missed_j = max(0, c_j·x − b_j), and without the cut for equalities,

where x is θ for linear rows and log θ for products. A step u with Σ θ u = 0 in each distribution changes log θ by u,
and F, to the second order, to

    F(u) = F(0) − Σ w u + ½ Σ D u² + Σ_j p_j (missed_j after J_j u)²,    J = c θ for linear rows, c for products.

For linear rows D = w at the optimum, and w = θ·(what the rows pull with, plus the multiplier of the sum); on the way
the larger of both stands for D, so that no state asks by itself for a step below −1. Which rows are missed is settled
within F(u): weights can be 1e-8 and prices 1e6, and a step that knew no rows but those missed at its beginning would
end far beyond others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from credo.kernels.cholesky import factorise_dense, solve_dense, workspace
from credo.kernels.compiler import compiled

SUFFICIENT, HALVINGS = 1e-4, 40
FARTHEST_DOWN = 4.0  # that log θ may fall in one step
PASSES = 20  # for finding the rows that count
SMALLEST_STEP = 1e-9  # of θ: the one before the last; the last is about its square
ROUNDING = 1e-13  # the share of F that its differences are right to
PATIENCE = 20  # steps that lower F by no more than that; with products, steps converge linearly


class PricedRows(NamedTuple):
    """A block's distributions and its rows with their prices; linear rows come first, products after them."""

    distributions: Any  # (distributions + 1,)
    distribution_of: Any  # (parameters,)
    starts: Any  # (rows + 1,)
    indices: Any
    coefficients: Any  # of products: exponents
    bounds: Any  # (rows,) of products: their logarithms
    equality: Any  # (rows,)
    prices: Any  # (rows,) of a soft row; NaN: a hard one, whose price is ω
    linear: int  # how many rows are linear


@compiled
def price_of(rows: PricedRows, omega: float, j: int) -> float:  # pragma: no cover
    """What a unit of squared violation costs."""
    return omega if np.isnan(rows.prices[j]) else rows.prices[j]


@compiled
def coefficient(rows: PricedRows, theta: Any, j: int, e: int) -> float:  # pragma: no cover
    """How entry e of row j changes with log θ: J."""
    return rows.coefficients[e] * theta[rows.indices[e]] if j < rows.linear else rows.coefficients[e]


@compiled
def set_distributions(rows: PricedRows, beta: Any, log_theta: Any, theta: Any) -> None:  # pragma: no cover
    """θ = softmax(β) in each distribution, and log θ."""
    for d in range(len(rows.distributions) - 1):
        first, last = rows.distributions[d], rows.distributions[d + 1]
        highest, total = beta[first], 0.0
        for i in range(first, last):
            highest = max(highest, beta[i])
        for i in range(first, last):
            total += np.exp(beta[i] - highest)
        for i in range(first, last):
            log_theta[i] = beta[i] - highest - np.log(total)
            theta[i] = np.exp(log_theta[i])


@compiled
def set_excess(rows: PricedRows, log_theta: Any, theta: Any, excess: Any) -> None:  # pragma: no cover
    """By how much the left side of each row exceeds its right."""
    for j in range(len(excess)):
        excess[j] = -rows.bounds[j]
        for e in range(rows.starts[j], rows.starts[j + 1]):
            i = rows.indices[e]
            excess[j] += rows.coefficients[e] * (theta[i] if j < rows.linear else log_theta[i])


@compiled
def value_at(  # pragma: no cover
    rows: PricedRows, weights: Any, omega: float, beta: Any, log_theta: Any, theta: Any, excess: Any
) -> float:
    """F at β; θ, log θ and the excess of each row are left behind."""
    set_distributions(rows, beta, log_theta, theta)
    set_excess(rows, log_theta, theta, excess)
    value = 0.0
    for i in range(len(beta)):
        value -= weights[i] * log_theta[i]
    for j in range(len(excess)):
        if excess[j] > 0.0 or rows.equality[j]:
            value += price_of(rows, omega, j) * excess[j] * excess[j]
    return value


@compiled
def set_slope(
    rows: PricedRows, weights: Any, omega: float, theta: Any, excess: Any, slope: Any
) -> float:  # pragma: no cover
    """∂F/∂β, and its largest component.

    v = ∂F/∂log θ is summed up first; the softmax's full Jacobian makes v − θ · Σ_d v of it, d being the distribution.
    """
    for i in range(len(theta)):
        slope[i] = -weights[i]
    for j in range(len(excess)):
        if excess[j] > 0.0 or rows.equality[j]:
            pull = 2.0 * price_of(rows, omega, j) * excess[j]
            for e in range(rows.starts[j], rows.starts[j + 1]):
                slope[rows.indices[e]] += pull * coefficient(rows, theta, j, e)
    steepest = 0.0
    for d in range(len(rows.distributions) - 1):
        total = 0.0
        for i in range(rows.distributions[d], rows.distributions[d + 1]):
            total += slope[i]
        for i in range(rows.distributions[d], rows.distributions[d + 1]):
            slope[i] -= theta[i] * total
            steepest = max(steepest, abs(slope[i]))
    return steepest


@compiled
def cost(rows: PricedRows, weights: Any, omega: float, beta: Any) -> Any:  # pragma: no cover
    """F and ∂F/∂β, for who iterates in another way."""
    log_theta, theta, slope = np.empty(len(beta)), np.empty(len(beta)), np.empty(len(beta))
    excess = np.empty(len(rows.bounds))
    value = value_at(rows, weights, omega, beta, log_theta, theta, excess)
    set_slope(rows, weights, omega, theta, excess, slope)
    return value, slope


# Newton's step --------------------------------------------------------------------------------------------------------


@compiled
def set_free(rows: PricedRows, theta: Any, likeliest: Any, place: Any) -> None:  # pragma: no cover
    """The likeliest state of each distribution follows from the others, as Σ θ u = 0; these get places from 0 on."""
    count = 0
    for d in range(len(likeliest)):
        first, last = rows.distributions[d], rows.distributions[d + 1]
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
def add_term(rows: PricedRows, theta: Any, place: Any, i: int, factor: float, form: Any) -> None:  # pragma: no cover
    """Add factor·u_i to a linear form in the steps of the free states."""
    if place[i] >= 0:
        form[place[i]] += factor
        return
    d = rows.distribution_of[i]
    for other in range(rows.distributions[d], rows.distributions[d + 1]):
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
    rows: PricedRows,
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
    """What the free states' steps to the minimum of F(u) solve, where the rows that are violated `ahead` count."""
    form, named = np.zeros(len(right)), np.empty(len(right), dtype=np.int64)
    matrix[:] = 0.0
    right[:] = 0.0
    for i in range(len(theta)):
        add_term(rows, theta, place, i, weights[i], right)
        add_term(rows, theta, place, i, 1.0, form)
        add_square(form, weights[i] + max(0.0, slope[i]), 0.0, named, matrix, right)
    for j in range(len(excess)):
        if ahead[j] > 0.0 or rows.equality[j]:
            for e in range(rows.starts[j], rows.starts[j + 1]):
                add_term(rows, theta, place, rows.indices[e], coefficient(rows, theta, j, e), form)
            add_square(form, 2.0 * price_of(rows, omega, j), -excess[j], named, matrix, right)


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
    rows: PricedRows, weights: Any, omega: float, theta: Any, excess: Any, slope: Any, step: Any, ahead: Any
) -> float:
    """F(u) − F(0) but for a constant; the excess of each row there is left behind."""
    value = 0.0
    for i in range(len(theta)):
        value += (0.5 * (weights[i] + max(0.0, slope[i])) * step[i] - weights[i]) * step[i]
    for j in range(len(excess)):
        ahead[j] = excess[j]
        for e in range(rows.starts[j], rows.starts[j + 1]):
            ahead[j] += coefficient(rows, theta, j, e) * step[rows.indices[e]]
        if ahead[j] > 0.0 or rows.equality[j]:
            value += price_of(rows, omega, j) * ahead[j] * ahead[j]
    return value


@compiled
def set_step(  # pragma: no cover
    rows: PricedRows,
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
    likeliest, place = np.empty(len(rows.distributions) - 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    set_free(rows, theta, likeliest, place)
    right, aim, tried, ahead, there = np.empty(len(matrix)), np.empty(n), np.empty(n), np.empty(m), np.empty(m)
    step[:] = 0.0
    value = model_at(rows, weights, omega, theta, excess, slope, step, ahead)
    for _ in range(PASSES):
        set_equations(rows, weights, omega, theta, excess, slope, ahead, place, matrix, right)
        solve_equations(matrix, right, space)
        aim[:] = 0.0
        for i in range(n):
            if place[i] >= 0:
                aim[i] = right[place[i]]
                k = likeliest[rows.distribution_of[i]]
                aim[k] -= aim[i] * theta[i] / theta[k]
        length, after = 1.0, np.inf
        for _ in range(HALVINGS):
            for i in range(n):
                tried[i] = step[i] + length * (aim[i] - step[i])
            after = model_at(rows, weights, omega, theta, excess, slope, tried, there)
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
    rows: PricedRows, weights: Any, omega: float, start: Any, iterations: int, tolerance: float
) -> Any:  # pragma: no cover
    """The minimum near β, and how often F was evaluated.

    It ends where no component of the slope is above the tolerance and θ no longer moves, or where rounding ends
    progress. States that grow do so in proportion to the length of a step, as θ does on a straight line; those that
    shrink, as log θ does: neither can end below zero, nor grow without measure.
    """
    beta = start.copy()
    n, free = len(beta), len(beta) - len(rows.distributions) + 1
    log_theta, theta, slope, step, tried = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    before = np.empty(n)
    excess, matrix, space = np.empty(len(rows.bounds)), np.empty((free, free)), workspace(free)
    value, evaluations = value_at(rows, weights, omega, beta, log_theta, theta, excess), 1
    moved, idle = np.inf, 0
    for _ in range(iterations):
        steepest = set_slope(rows, weights, omega, theta, excess, slope)
        if idle == PATIENCE or (steepest <= tolerance and moved <= SMALLEST_STEP):
            break
        fall = set_step(rows, weights, omega, theta, excess, slope, step, matrix, space)
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
            after = value_at(rows, weights, omega, tried, log_theta, theta, excess)
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

"""Newton's steps for the penalised objective of a block, in plain NumPy: the reference of `kernels/penalty.py`.

With θ = softmax(β), a step u with Σ θ u = 0 in each distribution changes log θ by u, and the objective F of
`softmax_penalty.py`, to the second order, to

    F(u) = F(0) − Σ w u + ½ Σ D u² + Σ_j p_j max(0, e_j + J_j u)²,    J = c θ for linear constraints, c for products,

where e is what a constraint's left side exceeds its right by, and equalities are not cut off at zero. The minimum under
the constraints that count, those violated at u, is a problem of least squares. In small blocks the likeliest state of
each distribution follows from the others in it, as Σ θ u = 0. In large ones that would link all states of a
distribution with each other; there the equations are those of multipliers, one for each constraint that counts and for
each sum, whose memory grows with the entries of the constraints alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from credo.estimation.solvers.softmax_penalty import entry_constraints, excesses, log_softmax
from credo.kernels.penalty import (
    FARTHEST_DOWN,
    HALVINGS,
    PASSES,
    PATIENCE,
    ROUNDING,
    SMALLEST_STEP,
    SUFFICIENT,
    PenalisedConstraints,
)
from credo.types import Flags, Indices, Numbers

DENSE = 96  # free parameters: from 100 on, libraries take several threads, which on busy cores wait for each other
REGULARISATION = 1e-14  # of normal equations with a diagonal of ones; refinements make up for it
LEAST_SLACK = 4e-16  # of constraints of length one: those that repeat others leave no system singular
REFINEMENTS = 2
FILLED = 0.1  # the share of entries that are not zero, from which dense factors are the quicker ones
FILLED_IN = 40  # entries of normal equations, for each of the constraints and distributions, that are few
CROWDED = 16  # constraints of a parameter, above which the products of all their pairs are many
SMALLEST_PIVOT = 1e-3  # of the largest in its column


def newton_plain(
    constraints: PenalisedConstraints, weights: Numbers, omega: float, beta: Numbers, iterations: int, tolerance: float
) -> tuple[Numbers, int]:
    """The minimum near β and how often F was evaluated.

    It ends where no component of ∂F/∂β is above the tolerance and θ no longer moves, or where rounding ends progress.
    States that grow do so in proportion to the length of a step, as θ does on a straight line; those that shrink, as
    log θ does: neither can end below zero, nor grow without measure.
    """
    here = _Point.at(constraints, weights, omega, beta)
    evaluations, moved, idle = 1, np.inf, 0
    for _ in range(iterations):
        if idle == PATIENCE or (np.abs(here.slope).max(initial=0.0) <= tolerance and moved <= SMALLEST_STEP):
            break
        step = _Model.of(here).minimum()
        fall = float(here.slope @ step)
        if not fall < 0.0:
            break
        length = min(1.0, FARTHEST_DOWN / max(FARTHEST_DOWN, -float(step.min())))
        for _ in range(HALVINGS):
            along = length * step
            there = _Point.at(
                constraints, weights, omega, here.beta + np.where(along > 0.0, np.log1p(np.maximum(along, 0.0)), along)
            )
            evaluations += 1
            if there.value <= here.value + SUFFICIENT * length * fall + ROUNDING * abs(here.value):
                break
            length *= 0.5
        else:
            break
        moved = float(np.abs(there.theta - here.theta).max())
        idle = 0 if there.value < here.value - ROUNDING * abs(here.value) else idle + 1
        here = there
    return here.beta, evaluations


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """F and its slope at one β."""

    constraints: PenalisedConstraints
    weights: Numbers  # (parameters,)
    penalties: Numbers  # (constraints,) p
    beta: Numbers  # (parameters,)
    theta: Numbers  # (parameters,)
    excess: Numbers  # (constraints,) e
    entries: Numbers  # (entries,) J
    value: float
    slope: Numbers  # (parameters,) ∂F/∂β

    @classmethod
    def at(cls, constraints: PenalisedConstraints, weights: Numbers, omega: float, beta: Numbers) -> _Point:
        log_theta = log_softmax(constraints, beta)
        theta = np.exp(log_theta)
        excess = excesses(constraints, log_theta, theta)
        penalties = np.where(np.isnan(constraints.penalties), omega, constraints.penalties)
        pull = np.where(constraints.equality, excess, np.maximum(excess, 0.0)) * penalties
        linear = constraints.starts[constraints.linear]
        entries = constraints.coefficients.copy()
        entries[:linear] *= theta[constraints.indices[:linear]]
        pulls = np.bincount(constraints.indices, 2.0 * pull[entry_constraints(constraints)] * entries, len(beta))
        slope = pulls - weights
        slope -= theta * np.add.reduceat(slope, constraints.distributions[:-1])[constraints.distribution_of]
        value = float(pull @ excess - weights @ log_theta)
        return cls(constraints, weights, penalties, beta, theta, excess, entries, value, slope)


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """F(u) around a point: convex, and made of quadratic pieces.

    For linear constraints D = w at the optimum, and w = θ·(what constraints pull with, plus the multiplier of the sum);
    on the way the larger of both stands for D, so that no state asks by itself for a step below −1.
    """

    point: _Point
    curvature: Numbers  # (parameters,) D
    owners: Indices  # (entries,) the constraint that each belongs to

    @classmethod
    def of(cls, point: _Point) -> _Model:
        return cls(point, point.weights + np.maximum(0.0, point.slope), entry_constraints(point.constraints))

    def minimum(self) -> Numbers:
        """Each pass goes towards the minimum of the piece that it is in, as far as F(u) falls.

        Which constraints count is settled here: weights can be 1e-8 and penalties 1e6, and a step that knew no
        constraints but those violated at its beginning would end far beyond others.
        """
        step = np.zeros(len(self.curvature))
        value, counted = self._value(step)
        for _ in range(PASSES):
            aim, length = self._aim(counted), 1.0
            for _ in range(HALVINGS):
                tried = step + length * (aim - step)
                after, ahead = self._value(tried)
                if after < value:
                    break
                length *= 0.5
            else:
                break
            same = length == 1.0 and bool((ahead == counted).all())
            step, value, counted = tried, after, ahead
            if same:
                break
        return step

    def _value(self, step: Numbers) -> tuple[float, Flags]:
        """F(u) − F(0) up to a constant, and which constraints count there."""
        point, rows = self.point, self.point.constraints
        ahead = point.excess + np.bincount(self.owners, point.entries * step[rows.indices], len(rows.bounds))
        counted = (ahead > 0.0) | rows.equality
        cost = float(point.penalties[counted] @ ahead[counted] ** 2)
        return float((0.5 * self.curvature * step - point.weights) @ step) + cost, counted

    def _aim(self, counted: Flags) -> Numbers:
        """The minimum of F(u) if the same constraints count everywhere."""
        counted = counted & (self.point.penalties > 0.0)
        of, distributions = self.point.constraints.distribution_of, self.point.constraints.distributions
        likeliest = np.lexsort((self.point.theta, of))[distributions[1:] - 1]
        if len(of) - len(likeliest) <= DENSE or self._is_compact(counted, likeliest):
            return self._aim_of_free_states(counted, likeliest)
        return self._aim_with_multipliers(counted)

    def _is_compact(self, counted: Flags, likeliest: Indices) -> bool:
        """Whether multipliers outnumber free states, and the matrix over these has few entries."""
        rows = self.point.constraints
        if int(counted.sum()) + len(likeliest) < len(self.curvature) - len(likeliest):
            return False
        sizes, inside = np.diff(rows.distributions), counted[self.owners]
        named = np.ones(len(self.curvature))
        named[likeliest] = sizes  # each of the others changes it
        pairs = float((sizes**2.0).sum() + (np.bincount(self.owners[inside], named[rows.indices[inside]]) ** 2).sum())
        return pairs <= FILLED_IN * (len(self.curvature) + int(inside.sum()))

    def _aim_of_free_states(self, counted: Flags, likeliest: Indices) -> Numbers:
        """By least squares, where the likeliest state of each distribution follows from the others."""
        point, rows, root = self.point, self.point.constraints, np.sqrt(self.curvature)
        of, n = rows.distribution_of, len(root)
        free = np.delete(np.arange(n), likeliest)
        at, others, inside = np.arange(len(free)), likeliest[of[free]], counted[self.owners]
        build = _dense if len(free) <= DENSE else _sparse
        # The steps of all states, for a unit step of each free one.
        shares = np.concatenate((np.ones(len(free)), -point.theta[free] / point.theta[others]))
        steps = build(shares, np.concatenate((free, others)), np.concatenate((at, at)), (n, len(free)))
        entries, owners = point.entries[inside], (np.cumsum(counted) - 1)[self.owners[inside]]
        pull = np.sqrt(2.0 * point.penalties[counted])
        jacobian = build(entries * pull[owners], owners, rows.indices[inside], (len(pull), n))
        weighted = build(root, np.arange(n), np.arange(n), (n, n))
        solve = _solve_dense if len(free) <= DENSE else _solve_sparse
        right = point.weights / root, -pull * point.excess[counted]
        return np.asarray(steps @ solve(weighted @ steps, jacobian @ steps, *right))

    def _aim_with_multipliers(self, counted: Flags) -> Numbers:
        """By the equations of v = √D u and of the multipliers of constraints and of the sums Σ θ u = 0."""
        point, rows, root = self.point, self.point.constraints, np.sqrt(self.curvature)
        of, inside, count = rows.distribution_of, counted[self.owners], int(counted.sum())
        columns = np.concatenate((rows.indices[inside], np.arange(len(root))))
        owners = np.concatenate(((np.cumsum(counted) - 1)[self.owners[inside]], count + of))
        values = np.concatenate((point.entries[inside], point.theta)) / root[columns]
        sums = len(rows.distributions) - 1
        slack = np.concatenate((0.5 / point.penalties[counted], np.zeros(sums)))
        right = np.concatenate((-point.excess[counted], np.zeros(sums)))
        scale = 1.0 / np.sqrt(np.bincount(owners, values**2, len(slack)) + slack)
        matrix = _sparse(values * scale[owners], owners, columns, (len(slack), len(root)))
        step = _solve_with_multipliers(matrix, scale**2 * slack, point.weights / root, scale * right) / root
        # What rounding leaves of the sums. A constant in a distribution changes none of its probabilities.
        return np.asarray(step - np.add.reduceat(point.theta * step, rows.distributions[:-1])[of])


def _dense(values: Numbers, rows: Indices, columns: Indices, shape: tuple[int, int]) -> Numbers:
    matrix = np.zeros(shape)
    np.add.at(matrix, (rows, columns), values)
    return matrix


def _solve_dense(upper: Numbers, lower: Numbers, first: Numbers, second: Numbers) -> Numbers:
    """The x that minimises |upper x − first|² + |lower x − second|²."""
    matrix, right = np.concatenate((upper, lower)), np.concatenate((first, second))
    scale = 1.0 / np.sqrt((matrix**2).sum(axis=0))
    orthogonal, triangle = np.linalg.qr(matrix * scale)
    return np.asarray(scale * np.linalg.solve(triangle, orthogonal.T @ right))


def _sparse(values: Numbers, rows: Indices, columns: Indices, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csc_matrix

    return csc_matrix((values, (rows, columns)), shape=shape)


def _solve_sparse(upper: Any, lower: Any, first: Numbers, second: Numbers) -> Numbers:
    """The same by normal equations, refined with the matrix itself [björck 1987]."""
    from scipy.sparse import diags, vstack

    matrix, right = vstack((upper, lower), format="csc"), np.concatenate((first, second))
    scale = 1.0 / np.sqrt(np.asarray(matrix.power(2).sum(axis=0)).ravel())
    matrix = matrix @ diags(scale)
    solve = _factors((matrix.T @ matrix + diags(np.full(len(scale), REGULARISATION))).tocsc(), 0.0)
    solution = np.zeros(len(scale))
    for _ in range(1 + REFINEMENTS):
        solution += solve(matrix.T @ (right - matrix @ solution))
    return np.asarray(scale * solution)


def _solve_with_multipliers(matrix: Any, slack: Numbers, first: Numbers, second: Numbers) -> Numbers:
    """The v of v + Bᵀλ = first, B v − slack·λ = second, refined with these equations themselves; B is the matrix.

    Columns of B with few entries are eliminated first. Each leaves as many products as its entries have pairs: where
    constraints are few, all that is left is a small system in λ. Columns with many entries stay in the system.
    """
    from scipy.sparse import bmat, diags, identity

    many = np.flatnonzero(np.diff(matrix.indptr) > (CROWDED if len(slack) > DENSE else len(slack)))
    few = np.delete(np.arange(matrix.shape[1]), many)
    crowded, others = matrix[:, many], matrix[:, few]
    eliminated = others @ others.T + diags(slack + LEAST_SLACK)
    system = bmat([[identity(len(many)), crowded.T], [crowded, -eliminated]], format="csc")
    solve = _factors(system, SMALLEST_PIVOT)
    v, multipliers = np.zeros(len(first)), np.zeros(len(slack))
    for _ in range(1 + REFINEMENTS):
        left = first - v - matrix.T @ multipliers
        missing = second - matrix @ v + slack * multipliers
        found = solve(np.concatenate((left[many], missing - others @ left[few])))
        multipliers += found[len(many) :]
        v[many] += found[: len(many)]
        v[few] += left[few] - others.T @ found[len(many) :]
    return v


def _factors(system: Any, smallest_pivot: float) -> Callable[[Numbers], Numbers]:
    """What solves a symmetric system; pivots on the diagonal are at least such a share of the largest in the column."""
    from scipy.linalg import lu_factor, lu_solve
    from scipy.sparse.linalg import splu

    if system.shape[0] <= DENSE or system.nnz > FILLED * system.shape[0] ** 2:
        return partial(lu_solve, lu_factor(system.toarray()))
    options = {"SymmetricMode": True}
    factors: Any = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=smallest_pivot, options=options)
    return lambda right: np.asarray(factors.solve(right))

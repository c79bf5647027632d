# cython: infer_types=True
"""The penalised objective of a block in softmax coordinates, and its minimum by Newton's steps.

With θ = softmax(β) in each distribution, what is minimised is

    F = −Σ w log θ + Σ_j p_j missed_j²,    missed_j = max(0, c_j·x − b_j), and without the cut for equalities,

where x is θ for linear constraints and log θ for products. A step u with Σ θ u = 0 in each distribution changes log θ
by u, and F, to the second order, to

    F(u) = F(0) − Σ w u + ½ Σ D u² + Σ_j p_j (missed_j after J_j u)²,    J = c θ for linear constraints, c for products.

For linear constraints D = w at the optimum, and w = θ·(gradient of the penalties, plus the multiplier of the sum).
Before that, the larger of both stands for D, so that no state asks by itself for a step below −1. Which constraints
are violated is settled within F(u): weights can be 1e-8 and penalties 1e6, and a step that knew only the constraints
violated at its beginning would end far beyond others.

Under the constraints that count, v = √D u and the multipliers of constraints and sums are found by one sparse system,

    ⎡ 1   Bᵀ ⎤ ⎡ v ⎤   ⎡ w/√D ⎤
    ⎣ B   −S ⎦ ⎣ λ ⎦ = ⎣  −e  ⎦,    B = (J, θ)/√D with rows of length one, S = 1/(2p) of constraints and 0 of sums.
"""

import cython
import numpy as np
from cython.cimports.credo.core.cholesky import SparseFactors
from cython.cimports.libc.math import INFINITY, exp, fabs, isnan, log, log1p, sqrt
from cython.cimports.libc.stdint import int64_t, uint8_t

SUFFICIENT = cython.declare(cython.double, 1e-4)
HALVINGS = cython.declare(cython.Py_ssize_t, 40)
FARTHEST_DOWN = cython.declare(cython.double, 4.0)  # that log θ may fall in one step
PASSES = cython.declare(cython.Py_ssize_t, 20)  # for finding the constraints that count
SMALLEST_STEP = cython.declare(cython.double, 1e-9)  # of θ: the one before the last; the last is about its square
ROUNDING = cython.declare(cython.double, 1e-13)  # the share of F that its differences are right to
# Steps that lower F by no more than that; with products, steps converge linearly.
PATIENCE = cython.declare(cython.Py_ssize_t, 20)
REGULARISATION = cython.declare(cython.double, 1e-14)  # of systems with entries of about one
REFINEMENTS = cython.declare(cython.Py_ssize_t, 6)
REFINED = cython.declare(cython.double, 1e-14)  # of the right-hand side: what the equations may be off by


@cython.cclass
class SoftmaxPenalty:
    """F of a block; linear constraints come first, then products, whose coefficients are exponents.

    Penalties are NaN for hard constraints, whose penalty ω grows from round to round.
    """

    states: cython.Py_ssize_t
    constraints: cython.Py_ssize_t
    distributions: cython.Py_ssize_t
    linear: cython.Py_ssize_t
    omega: cython.double
    distribution_starts: int64_t[::1]
    distribution_of: int64_t[::1]
    starts: int64_t[::1]
    indices: int64_t[::1]
    coefficients: cython.double[::1]
    bounds: cython.double[::1]
    equality: uint8_t[::1]
    penalties: cython.double[::1]
    # (states,)
    weights: cython.double[::1]
    beta: cython.double[::1]
    log_theta: cython.double[::1]
    theta: cython.double[::1]
    slope: cython.double[::1]
    step: cython.double[::1]
    aim: cython.double[::1]
    tried: cython.double[::1]
    before: cython.double[::1]
    root: cython.double[::1]  # √D
    # (constraints,) c·x − b here, after the step, and after one that is tried
    excess: cython.double[::1]
    ahead: cython.double[::1]
    there: cython.double[::1]
    # the system
    sparse: SparseFactors
    entries: cython.double[::1]
    diagonal: cython.double[::1]
    regular: cython.double[::1]
    right: cython.double[::1]
    solution: cython.double[::1]
    residual: cython.double[::1]
    correction: cython.double[::1]

    def __init__(self, distributions, starts, indices, coefficients, bounds, equality, penalties, linear) -> None:
        m, k = len(bounds), len(distributions) - 1
        n = int(distributions[k])
        self.states, self.constraints, self.distributions, self.linear = n, m, k, linear
        self.distribution_starts = np.array(distributions, dtype=np.int64)
        self.distribution_of = np.repeat(np.arange(k), np.diff(distributions))
        self.starts, self.indices = np.array(starts, dtype=np.int64), np.array(indices, dtype=np.int64)
        self.coefficients, self.bounds = np.array(coefficients, dtype=float), np.array(bounds, dtype=float)
        self.equality, self.penalties = np.array(equality, dtype=np.uint8), np.array(penalties, dtype=float)
        if len(self.indices) and not 0 <= np.min(self.indices) <= np.max(self.indices) < n:
            raise ValueError("The constraints of a block refer to parameters that it does not have.")
        self.weights, self.beta, self.log_theta, self.theta, self.slope = np.zeros((5, n))
        self.step, self.aim, self.tried, self.before, self.root = np.zeros((5, n))
        self.excess, self.ahead, self.there = np.zeros((3, m))

    def cost(self, weights, omega, beta):
        """F and ∂F/∂β."""
        self._load(weights, omega, beta)
        value = self.value_at(self.beta)
        self.set_slope()
        return value, np.array(self.slope)

    def distributions_of(self, beta):
        """θ = softmax(β) in each distribution."""
        self._load(np.zeros(self.states), 0.0, beta)
        self.value_at(self.beta)
        return np.array(self.theta)

    def excess_at(self, log_theta, theta):
        """By how much the left side of each constraint exceeds its right."""
        np.asarray(self.log_theta)[:] = log_theta
        np.asarray(self.theta)[:] = theta
        self.set_excess()
        return np.array(self.excess)

    def minimise(self, weights, omega, beta, iterations: cython.Py_ssize_t, tolerance: cython.double):
        """The minimum near β, and how often F was evaluated.

        It ends where no component of the slope is above the tolerance and θ no longer moves, or where rounding ends
        progress. States that grow do so in proportion to the length of a step, as θ does on a straight line; those that
        shrink, as log θ does: neither can end below zero, nor grow without bound.
        """
        self._load(weights, omega, beta)
        self._reserve_system()
        with cython.nogil:
            evaluations = self.newton(iterations, tolerance)
        return np.array(self.beta), evaluations

    def _load(self, weights, omega, beta):
        np.asarray(self.weights)[:] = weights
        np.asarray(self.beta)[:] = beta
        self.omega = omega

    def _reserve_system(self):
        n, m, k = self.states, self.constraints, self.distributions
        if self.sparse is not None:
            return
        rows = np.concatenate((self.indices, np.arange(n)))
        owners = np.repeat(np.arange(m), np.diff(self.starts))
        columns = np.concatenate((n + owners, n + m + np.asarray(self.distribution_of)))
        self.sparse = SparseFactors(n + m + k, n, rows, columns)
        self.entries = np.zeros(len(rows))
        self.diagonal, self.regular, self.right = np.zeros((3, n + m + k))
        self.solution, self.residual, self.correction = np.zeros((3, n + m + k))

    # F and its slope --------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def penalty_of(self, j: cython.Py_ssize_t) -> cython.double:
        """What a unit of squared violation costs."""
        return self.omega if isnan(self.penalties[j]) else self.penalties[j]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def slope_of(self, j: cython.Py_ssize_t, e: cython.Py_ssize_t) -> cython.double:
        """How entry e of constraint j changes with log θ: J."""
        return self.coefficients[e] * self.theta[self.indices[e]] if j < self.linear else self.coefficients[e]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_excess(self) -> cython.void:
        """c·x − b of each constraint at θ."""
        for j in range(self.constraints):
            value: cython.double = -self.bounds[j]
            for e in range(self.starts[j], self.starts[j + 1]):
                i = self.indices[e]
                value += self.coefficients[e] * (self.theta[i] if j < self.linear else self.log_theta[i])
            self.excess[j] = value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def value_at(self, beta: cython.double[::1]) -> cython.double:
        """F at β; θ, log θ and the excess of each constraint are set."""
        value: cython.double = 0.0
        for d in range(self.distributions):
            first = self.distribution_starts[d]
            last = self.distribution_starts[d + 1]
            highest = beta[first]
            total: cython.double = 0.0
            for i in range(first, last):
                highest = max(highest, beta[i])
            for i in range(first, last):
                total += exp(beta[i] - highest)
            for i in range(first, last):
                self.log_theta[i] = beta[i] - highest - log(total)
                self.theta[i] = exp(self.log_theta[i])
                value -= self.weights[i] * self.log_theta[i]
        self.set_excess()
        for j in range(self.constraints):
            if self.excess[j] > 0.0 or self.equality[j]:
                value += self.penalty_of(j) * self.excess[j] * self.excess[j]
        return value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_slope(self) -> cython.double:
        """∂F/∂β, and its largest component.

        v = ∂F/∂log θ is summed up first; the softmax's full Jacobian makes v − θ · Σ_d v of it, d being the
        distribution.
        """
        for i in range(self.states):
            self.slope[i] = -self.weights[i]
        for j in range(self.constraints):
            if self.excess[j] > 0.0 or self.equality[j]:
                pull = 2.0 * self.penalty_of(j) * self.excess[j]
                for e in range(self.starts[j], self.starts[j + 1]):
                    self.slope[self.indices[e]] += pull * self.slope_of(j, e)
        steepest: cython.double = 0.0
        for d in range(self.distributions):
            total: cython.double = 0.0
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                total += self.slope[i]
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                self.slope[i] -= self.theta[i] * total
                steepest = max(steepest, fabs(self.slope[i]))
        return steepest

    # Newton's steps ---------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def newton(self, iterations: cython.Py_ssize_t, tolerance: cython.double) -> cython.Py_ssize_t:
        """The iterations of `minimise`."""
        value: cython.double = self.value_at(self.beta)
        evaluations: cython.Py_ssize_t = 1
        moved: cython.double = INFINITY
        idle: cython.Py_ssize_t = 0
        lower: cython.bint
        for _ in range(iterations):
            steepest = self.set_slope()
            if idle == PATIENCE or (steepest <= tolerance and moved <= SMALLEST_STEP):
                break
            fall = self.set_step()
            if not fall < 0.0:
                break
            length: cython.double = 1.0
            for i in range(self.states):
                self.before[i] = self.theta[i]
                if length * self.step[i] < -FARTHEST_DOWN:
                    length = -FARTHEST_DOWN / self.step[i]
            after: cython.double = INFINITY
            lower = False
            for _ in range(HALVINGS):
                for i in range(self.states):
                    along = length * self.step[i]
                    self.tried[i] = self.beta[i] + (log1p(along) if along > 0.0 else along)
                after = self.value_at(self.tried)
                evaluations += 1
                lower = after <= value + SUFFICIENT * length * fall + ROUNDING * fabs(value)
                if lower:
                    break
                length *= 0.5
            if not lower:
                break
            idle = 0 if after < value - ROUNDING * fabs(value) else idle + 1
            value, moved = after, 0.0
            for i in range(self.states):
                self.beta[i] = self.tried[i]
                moved = max(moved, fabs(self.theta[i] - self.before[i]))
        return evaluations

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_step(self) -> cython.double:
        """The step to the minimum of F(u), and how fast F falls at its beginning.

        F(u) is convex and made of quadratic pieces: each pass goes towards the minimum of the piece that it is in, as
        far as F(u) falls, and the last one ends where it has aimed.
        """
        same: cython.bint
        for i in range(self.states):
            self.step[i] = 0.0
            self.root[i] = sqrt(self.weights[i] + max(0.0, self.slope[i]))
        value: cython.double = self.model_at(self.step)
        for j in range(self.constraints):
            self.ahead[j] = self.there[j]
        for _ in range(PASSES):
            self.aim_by_multipliers()
            length: cython.double = 1.0
            after: cython.double = INFINITY
            for _ in range(HALVINGS):
                for i in range(self.states):
                    self.tried[i] = self.step[i] + length * (self.aim[i] - self.step[i])
                after = self.model_at(self.tried)
                if after < value:
                    break
                length *= 0.5
            if not after < value:
                break
            same = length == 1.0
            value = after
            for i in range(self.states):
                self.step[i] = self.tried[i]
            for j in range(self.constraints):
                same = same and (self.ahead[j] > 0.0) == (self.there[j] > 0.0)
                self.ahead[j] = self.there[j]
            if same:
                break
        fall: cython.double = 0.0
        for i in range(self.states):
            fall += self.slope[i] * self.step[i]
        return fall

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def model_at(self, step: cython.double[::1]) -> cython.double:
        """F(u) − F(0) but for a constant; the excess of each constraint `there` is set."""
        value: cython.double = 0.0
        for i in range(self.states):
            value += (0.5 * self.root[i] * self.root[i] * step[i] - self.weights[i]) * step[i]
        for j in range(self.constraints):
            missed: cython.double = self.excess[j]
            for e in range(self.starts[j], self.starts[j + 1]):
                missed += self.slope_of(j, e) * step[self.indices[e]]
            self.there[j] = missed
            if missed > 0.0 or self.equality[j]:
                value += self.penalty_of(j) * missed * missed
        return value

    # The minimum under the constraints that count ---------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def aim_by_multipliers(self) -> cython.void:
        """By one sparse system; constraints that do not count have no entries in it."""
        n = self.states
        m = self.constraints
        at = self.starts[m]
        for i in range(n):
            self.diagonal[i] = 1.0
            self.right[i] = self.weights[i] / self.root[i]
        for j in range(m):
            counts: cython.bint = (self.ahead[j] > 0.0 or self.equality[j]) and self.penalty_of(j) > 0.0
            slack: cython.double = 0.5 / self.penalty_of(j) if counts else 1.0
            length: cython.double = slack
            for e in range(self.starts[j], self.starts[j + 1]):
                self.entries[e] = self.slope_of(j, e) / self.root[self.indices[e]] if counts else 0.0
                length += self.entries[e] * self.entries[e]
            scale: cython.double = 1.0 / sqrt(length)
            for e in range(self.starts[j], self.starts[j + 1]):
                self.entries[e] *= scale
            self.diagonal[n + j] = -slack * scale * scale
            self.right[n + j] = -self.excess[j] * scale if counts else 0.0
        for d in range(self.distributions):
            length = 0.0
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                self.entries[at + i] = self.theta[i] / self.root[i]
                length += self.entries[at + i] * self.entries[at + i]
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                self.entries[at + i] /= sqrt(length)
            self.diagonal[n + m + d] = self.right[n + m + d] = 0.0
        self.solve_sparse()
        for d in range(self.distributions):
            total: cython.double = 0.0  # what rounding leaves of Σ θ u; a constant changes no probability
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                self.aim[i] = self.solution[i] / self.root[i]
                total += self.theta[i] * self.aim[i]
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                self.aim[i] -= total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def solve_sparse(self) -> cython.void:
        """Solve with regularised factors, and refine with the matrix itself."""
        n = self.states
        m = self.constraints
        size = n + m + self.distributions
        largest: cython.double = 0.0
        for k in range(size):
            self.regular[k] = self.diagonal[k] + (REGULARISATION if k < n else -REGULARISATION)
            self.solution[k] = 0.0
            self.residual[k] = self.right[k]
            largest = max(largest, fabs(self.right[k]))
        for e in range(self.entries.shape[0]):
            self.sparse.entries[self.sparse.entry_at[e]] = self.entries[e]
        self.sparse.factorise(self.regular)
        for _ in range(1 + REFINEMENTS):
            self.sparse.solve(self.residual, self.correction)
            for k in range(size):
                self.solution[k] += self.correction[k]
            for k in range(size):
                self.residual[k] = self.right[k] - self.diagonal[k] * self.solution[k]
            for j in range(m):
                for e in range(self.starts[j], self.starts[j + 1]):
                    self.residual[self.indices[e]] -= self.entries[e] * self.solution[n + j]
                    self.residual[n + j] -= self.entries[e] * self.solution[self.indices[e]]
            for i in range(n):
                k = n + m + self.distribution_of[i]
                self.residual[i] -= self.entries[self.starts[m] + i] * self.solution[k]
                self.residual[k] -= self.entries[self.starts[m] + i] * self.solution[i]
            worst: cython.double = 0.0
            for k in range(size):
                worst = max(worst, fabs(self.residual[k]))
            if worst <= REFINED * largest:
                break

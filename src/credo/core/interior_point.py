# cython: infer_types=True
"""The interior point: the loop that solves one block.

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

import cython
import numpy as np
from cython.cimports.credo.core.newton_systems import residual_of
from cython.cimports.libc.math import INFINITY, fabs, isfinite, log

ITERATIONS = cython.declare(cython.Py_ssize_t, 100)
REFINEMENTS = cython.declare(cython.Py_ssize_t, 2)
REGULARISATION = cython.declare(cython.double, 1e-9)  # keeps pivots away from zero
# Of the gap: what an equation may be off by; what has no weight would drift with more.
REFINED = cython.declare(cython.double, 1e-7)
TO_BOUNDARY = cython.declare(cython.double, 0.995)
CAUTIOUS_TO_BOUNDARY = cython.declare(cython.double, 0.9)
ENTROPY_MASS = cython.declare(cython.double, 0.3)  # what entropies count as at the start
CENTRALITY = cython.declare(cython.double, 0.1)
SHORT_STEP = cython.declare(cython.double, 0.1)
TINY_STEP = cython.declare(cython.double, 1e-3)
MOST_TINY_STEPS = cython.declare(cython.Py_ssize_t, 5)
RESIDUAL = cython.declare(cython.double, 1e-13)  # of the linear equations
GAP = cython.declare(cython.double, 2e-16)  # of complementarity, with weights scaled to a sum of one
PATIENCE = cython.declare(cython.Py_ssize_t, 6)  # steps that halve nothing, after which an acceptable point is taken
FIRST_PROOF = cython.declare(cython.Py_ssize_t, 4)  # the iteration before which multipliers prove nothing
PROVED = cython.declare(cython.double, 1e-6)  # a bound of what is not above zero, beyond rounding
ACCEPTABLE = cython.declare(cython.double, 1e-9)  # where rounding ends progress, this will do


@cython.cclass
class InteriorPoint:
    """The state of the iterations, in arrays that are as long as the largest block so far needed."""

    def __init__(self) -> None:
        self._reserve(16, 16)

    def reserve(self, program):
        """Make room for a block."""
        room = self.v.shape[0], self.s.shape[0]
        if program.parameters > room[0] or program.constraints > room[1]:
            self._reserve(max(2 * program.parameters, room[0]), max(2 * program.constraints, room[1]))

    def _reserve(self, n: cython.Py_ssize_t, m: cython.Py_ssize_t):
        self.v, self.dtheta, self.dv, self.dual, self.target_theta, self.inverse_theta, self.inverse_v = np.zeros(
            (7, n)
        )
        self.s, self.z, self.ds, self.dz, self.values = np.zeros((5, m))
        self.target_constraint, self.inverse_s, self.inverse_z = np.zeros((3, m))
        self.y, self.sums = np.zeros((2, n))
        self.diagonal, self.regular, self.right = np.zeros((3, 2 * n + m))
        self.solution, self.correction, self.residual = np.zeros((3, 2 * n + m))

    def solve(self, program, system, cautious):
        """Iterate from θ of the program to the optimum; whether it got there.

        A cautious solver starts in the middle of each distribution and keeps further away from the boundary. It stops
        where multipliers prove a conflict: Σ e θ log θ is never above zero, and so is no bound of it.
        """
        self.conflicting = False
        at_most_zero: cython.bint = program.entropic
        for i in range(program.parameters):
            at_most_zero &= program.weights[i] == 0.0 and program.costs[i] <= 0.0
        for j in range(program.constraints):
            at_most_zero &= program.softness[j] == 0.0
        to_boundary = CAUTIOUS_TO_BOUNDARY if cautious else TO_BOUNDARY
        least = INFINITY
        tiny_steps: cython.Py_ssize_t = 0
        idle: cython.Py_ssize_t = 0
        solved: cython.bint = False
        self.start(program, cautious)
        for iteration in range(ITERATIONS):
            self.iterations = iteration
            self.set_residuals(program)
            solved = self.primal <= RESIDUAL and self.worst_dual <= RESIDUAL and self.gap <= GAP
            if solved or not isfinite(self.gap) or not isfinite(self.primal) or tiny_steps >= MOST_TINY_STEPS:
                break
            # Numbers that must be zero have no inside, and get there slowly: stop early.
            error = max(max(self.primal, self.worst_dual), self.gap)
            idle = 0 if error < 0.5 * least else idle + 1
            least = min(least, error)
            if idle >= PATIENCE and error <= ACCEPTABLE:
                break
            if not cautious:  # the last steps converge quadratically only if they may go to the end
                to_boundary = max(TO_BOUNDARY, 1.0 - self.gap)
            if at_most_zero and iteration >= FIRST_PROOF:
                for j in range(program.constraints):
                    program.multipliers[j] = self.z[j]
                if program.lower_bound() > PROVED:
                    self.conflicting = True
                    break
            self.set_diagonal(program)
            system.factorise(program, self.regular)

            self.set_direction(program, system, 0.0, 0.0, False)  # the predictor says how far things could go
            step = self.step_length(program, to_boundary)
            sigma = self.centring(program, step)
            self.set_direction(program, system, sigma, step * step, True)  # its curvature counts that far
            step = self.central_step(program, self.step_length(program, to_boundary), sigma)
            if step < SHORT_STEP:  # the corrector got stuck: go back to the middle first
                self.set_direction(program, system, 1.0, 0.0, True)
                step = self.central_step(program, self.step_length(program, to_boundary), 1.0)
            tiny_steps = tiny_steps + 1 if step < TINY_STEP else 0
            self.advance(program, step)
        for j in range(program.constraints):
            program.multipliers[j] = self.z[j]
        return solved or (self.primal <= ACCEPTABLE and self.worst_dual <= ACCEPTABLE and self.gap <= ACCEPTABLE)

    def start(self, program, cautious):
        """Multipliers y, v, z and slacks s for θ near the optimum without constraints.

        There y is a distribution's weight; with entropies, e (log n − 1).
        """
        lowest = 0.01 / max(1, program.distributions)
        for d in range(program.distributions):
            first = program.distribution_starts[d]
            last = program.distribution_starts[d + 1]
            total = 0.0
            for i in range(first, last):
                total += program.weights[i]
            mass = max(total, max(lowest, ENTROPY_MASS * program.entropies[first]))
            self.sums[d] = self.y[d] = mass
            if program.entropies[first] > 0.0:
                self.y[d] += program.entropies[first] * (log(last - first) - 1.0)
            for i in range(first, last):
                self.v[i] = mass
                if cautious:
                    program.theta[i] = 1.0 / (last - first)
        for j in range(program.constraints):
            lightest = 1.0
            slack = program.bounds[j]
            for p in range(program.starts[j], program.starts[j + 1]):
                i = program.indices[p]
                slack -= program.coefficients[p] * program.theta[i]
                lightest = min(lightest, self.sums[program.distribution_of[i]])
            self.s[j] = self.z[j] = self.inverse_s[j] = self.inverse_z[j] = 0.0
            if program.equality[j]:  # it has no slack, and nothing that could become zero
                continue
            if cautious:
                self.s[j] = max(slack, 1.0)
                self.z[j] = 1.0
                continue
            self.s[j] = max(slack, 0.05)
            self.z[j] = 0.1 * lightest
            for p in range(program.starts[j], program.starts[j + 1]):
                self.v[program.indices[p]] += program.coefficients[p] * self.z[j]
        for i in range(program.parameters):
            self.v[i] = max(self.v[i], 0.1 * self.sums[program.distribution_of[i]])
            if cautious:
                self.v[i] = 1.0 / program.theta[i]

    def set_residuals(self, program):
        """Of all equations; `mu` is the mean complementarity that is left to remove."""
        n = program.parameters
        m = program.constraints
        primal = 0.0
        worst = 0.0
        mu = 0.0
        short = 0.0
        for i in range(n):
            self.dual[i] = self.y[program.distribution_of[i]] - self.v[i] + program.costs[i]
            if program.entropies[i] > 0.0:
                self.dual[i] += program.entropies[i] * (log(program.theta[i]) + 1.0)
        pairs = n
        for j in range(m):
            value = 0.0
            for p in range(program.starts[j], program.starts[j + 1]):
                value += program.coefficients[p] * program.theta[program.indices[p]]
                self.dual[program.indices[p]] += program.coefficients[p] * self.z[j]
            self.values[j] = value
            primal = max(primal, fabs(value + self.s[j] - program.softness[j] * self.z[j] - program.bounds[j]))
            mu += self.s[j] * self.z[j]
            pairs += not program.equality[j]
        for d in range(program.distributions):
            self.sums[d] = 0.0
        for i in range(n):
            self.sums[program.distribution_of[i]] += program.theta[i]
            worst = max(worst, fabs(self.dual[i]) * program.theta[i])
            product = program.theta[i] * self.v[i] - program.weights[i]
            mu += max(product, 0.0)
            short += max(-product, 0.0)
        for d in range(program.distributions):
            primal = max(primal, fabs(self.sums[d] - 1.0))
        self.primal = primal
        self.worst_dual = worst
        self.gap = mu + short
        self.mu = mu / pairs

    def set_diagonal(self, program):
        """The diagonal of this iteration's matrix, and the regularised one that is factorised."""
        n = program.parameters
        m = program.constraints
        for i in range(n):
            self.inverse_theta[i] = 1.0 / program.theta[i]
            self.inverse_v[i] = 1.0 / self.v[i]
            self.diagonal[i] = (self.v[i] + program.entropies[i]) * self.inverse_theta[i]
            self.regular[i] = self.diagonal[i] * (1.0 + REGULARISATION)
        for j in range(m):
            if not program.equality[j]:
                self.inverse_s[j] = 1.0 / self.s[j]
                self.inverse_z[j] = 1.0 / self.z[j]
            self.diagonal[n + j] = -(self.s[j] * self.inverse_z[j] + program.softness[j])
            self.regular[n + j] = self.diagonal[n + j] - REGULARISATION
        for d in range(n + m, n + m + program.distributions):
            self.diagonal[d] = 0.0
            self.regular[d] = -REGULARISATION

    def set_direction(self, program, system, sigma, curvature, refined):
        """The Newton direction to complementarities of σμ beyond their targets.

        The products of the last direction, times `curvature`, are what a step that long would miss. Refinement is with
        the matrix itself.
        """
        n = program.parameters
        m = program.constraints
        size = n + m + program.distributions
        for i in range(n):
            target = program.weights[i] + sigma * self.mu - program.theta[i] * self.v[i]
            if curvature > 0.0:
                target -= curvature * self.dtheta[i] * self.dv[i]
            self.target_theta[i] = target
            self.right[i] = target * self.inverse_theta[i] - self.dual[i]
        for j in range(m):
            target = sigma * self.mu - self.s[j] * self.z[j]
            if curvature > 0.0:
                target -= curvature * self.ds[j] * self.dz[j]
            self.target_constraint[j] = target
            missing = program.bounds[j] - self.values[j] + program.softness[j] * self.z[j] - self.s[j]
            self.right[n + j] = missing - target * self.inverse_z[j]
        for d in range(program.distributions):
            self.right[n + m + d] = 1.0 - self.sums[d]

        system.solve(program, self.right, self.solution)
        if refined:
            for _ in range(REFINEMENTS):
                missed = residual_of(program, self.diagonal, self.right, self.solution, self.residual)
                if missed <= REFINED * self.gap:
                    break
                system.solve(program, self.residual, self.correction)
                for k in range(size):
                    self.solution[k] += self.correction[k]

        for i in range(n):
            self.dtheta[i] = self.solution[i]
            self.dv[i] = (self.target_theta[i] - self.v[i] * self.dtheta[i]) * self.inverse_theta[i]
        for j in range(m):
            self.dz[j] = self.solution[n + j]
            self.ds[j] = (self.target_constraint[j] - self.s[j] * self.dz[j]) * self.inverse_z[j]

    def step_length(self, program, to_boundary):
        """How far the direction may be followed, at most one."""
        ratio = to_boundary
        for i in range(program.parameters):
            ratio = max(ratio, max(-self.dtheta[i] * self.inverse_theta[i], -self.dv[i] * self.inverse_v[i]))
        for j in range(program.constraints):
            ratio = max(ratio, max(-self.ds[j] * self.inverse_s[j], -self.dz[j] * self.inverse_z[j]))
        return to_boundary / ratio

    def central_step(self, program, step, sigma):
        """The step, shortened where a product would be far below its target: later steps would become tiny."""
        for _ in range(40):
            central: cython.bint = True
            for i in range(program.parameters):
                now = program.theta[i] * self.v[i]
                later = (program.theta[i] + step * self.dtheta[i]) * (self.v[i] + step * self.dv[i])
                central &= later >= min(now, CENTRALITY * (program.weights[i] + sigma * self.mu))
            if central:
                break
            step *= 0.8
        return step

    def centring(self, program, step):
        """Mehrotra's σ: the cube of the share of complementarity that the predictor would leave."""
        after = 0.0
        pairs = program.parameters
        for i in range(program.parameters):
            product = (program.theta[i] + step * self.dtheta[i]) * (self.v[i] + step * self.dv[i])
            after += max(product - program.weights[i], 0.0)
        for j in range(program.constraints):
            after += (self.s[j] + step * self.ds[j]) * (self.z[j] + step * self.dz[j])
            pairs += not program.equality[j]
        share = after / pairs / self.mu if self.mu > 0.0 else 0.0
        least = (1.0 - step) * (1.0 - step) * (1.0 - step)
        return min(max(share * share * share, least), 1.0)

    def advance(self, program, step):
        """Take the step."""
        n = program.parameters
        m = program.constraints
        for i in range(n):
            program.theta[i] += step * self.dtheta[i]
            self.v[i] += step * self.dv[i]
        for j in range(m):
            self.z[j] += step * self.dz[j]
            self.s[j] += step * self.ds[j]
        for d in range(program.distributions):
            self.y[d] += step * self.solution[n + m + d]

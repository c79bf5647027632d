# cython: infer_types=True
"""The linear systems of Newton steps: sparse ones of larger blocks, reduced dense ones of small blocks.

    ⎡ H   Aᵀ    1 ⎤ ⎡ Δθ ⎤
    ⎢ A  −1/D     ⎥ ⎢ Δz ⎥ = right,        H and D diagonal.
    ⎣ 1           ⎦ ⎣ Δy ⎦

A small block's sums and constraints are eliminated first; what is left is small, dense and positive definite.
"""

import cython
import numpy as np
from cython.cimports.credo.core.block_program import BlockProgram
from cython.cimports.credo.core.cholesky import PIVOT_INSTEAD, SMALLEST_PIVOT, SparseFactors
from cython.cimports.libc.math import fabs
from cython.cimports.libc.stdint import int64_t

ROUNDING = cython.declare(
    cython.double, 1e-13
)  # of its diagonal is the least pivot; refinement makes up for the change
# A distribution keeps its dependent number as long as that is not below this share of the largest.
KEPT = cython.declare(cython.double, 0.2)


@cython.cclass
class NewtonSystem:
    """What the interior point asks for: factors for a diagonal, and solutions."""

    def factorise(self, program, diagonal):
        """Factorise the matrix with this diagonal: H of parameters, −1/D of constraints, that of sums."""

    def solve(self, program, right, solution):
        """Solve for Δθ, Δz, Δy with the factors as they are."""


@cython.cclass
class ReducedSystem(NewtonSystem):
    """One number of each distribution follows from the others, and constraints are squares: N'(H + A'DA)N, dense."""

    def __init__(self) -> None:
        self._reserve(16, 16, 16)

    def reserve(self, program):
        """Make room for a block."""
        n, m = program.parameters, program.constraints
        self.free = n - program.distributions
        room = self.curvature.shape[0], self.constraint_weights.shape[0], self.inverse.shape[0]
        if n > room[0] or m > room[1] or self.free > room[2] or m * self.free > self.values.shape[0]:
            self._reserve(max(2 * n, room[0]), max(2 * m, room[1]), max(self.free, room[2]))
        for d in range(program.distributions):
            self.dependent[d] = -1

    def _reserve(self, n: cython.Py_ssize_t, m: cython.Py_ssize_t, free: cython.Py_ssize_t):
        self.curvature, self.gradient = np.empty((2, n))
        self.constraint_weights = np.empty(m)
        self.dependent, self.place = np.empty((2, n), dtype=np.int64)
        self.starts = np.zeros(m + 1, dtype=np.int64)
        self.unknowns, self.values = np.empty(m * free, dtype=np.int64), np.empty(m * free)
        self.matrix = np.empty((free, free))
        self.inverse, self.unknown, self.line = np.zeros((3, free))

    def choose_dependent(self, program):
        """Let the largest number of each distribution depend on the others; whether that changed anything."""
        theta = program.theta
        changed = False
        for d in range(program.distributions):
            best = program.distribution_starts[d]
            for i in range(program.distribution_starts[d], program.distribution_starts[d + 1]):
                if theta[i] > theta[best]:
                    best = i
            if self.dependent[d] < 0 or theta[self.dependent[d]] < KEPT * theta[best]:
                self.dependent[d] = best
                changed = True
        if changed:
            count: cython.Py_ssize_t = 0
            for i in range(program.parameters):
                if self.dependent[program.distribution_of[i]] == i:
                    self.place[i] = -1
                else:
                    self.place[i] = count
                    count += 1
        return changed

    def reduce_constraints(self, program):
        """A N: a coefficient of a dependent number is taken off those of all others in its distribution."""
        filled: cython.Py_ssize_t = 0
        for j in range(program.constraints):
            for p in range(program.starts[j], program.starts[j + 1]):
                i = program.indices[p]
                if self.place[i] >= 0:
                    self.line[self.place[i]] += program.coefficients[p]
                    continue
                d = program.distribution_of[i]
                for k in range(program.distribution_starts[d], program.distribution_starts[d + 1]):
                    if self.place[k] >= 0:
                        self.line[self.place[k]] -= program.coefficients[p]
            for f in range(self.free):
                if self.line[f] != 0.0:
                    self.unknowns[filled] = f
                    self.values[filled] = self.line[f]
                    self.line[f] = 0.0
                    filled += 1
            self.starts[j + 1] = filled

    def factorise(self, program, diagonal):
        """Below the diagonal of the matrix D L, with the last unknown eliminated first; the inverse is that of D."""
        n = program.parameters
        free = self.free
        matrix = self.matrix
        inverse = self.inverse
        for i in range(n):
            self.curvature[i] = diagonal[i]
        for j in range(program.constraints):
            self.constraint_weights[j] = -1.0 / diagonal[n + j]
        if self.choose_dependent(program):
            self.reduce_constraints(program)
        for i in range(free):
            for k in range(i + 1):
                matrix[i, k] = 0.0
        for d in range(program.distributions):
            shared = self.curvature[self.dependent[d]]
            for i in range(program.distribution_starts[d], program.distribution_starts[d + 1]):
                row = self.place[i]
                if row >= 0:
                    for k in range(program.distribution_starts[d], i):
                        if self.place[k] >= 0:
                            matrix[row, self.place[k]] = shared
                    matrix[row, row] = self.curvature[i] + shared
        for j in range(program.constraints):
            for a in range(self.starts[j], self.starts[j + 1]):
                scaled = self.constraint_weights[j] * self.values[a]
                row = self.unknowns[a]
                for b in range(self.starts[j], a + 1):
                    matrix[row, self.unknowns[b]] += scaled * self.values[b]
        for k in range(free):
            inverse[k] = ROUNDING * matrix[k, k]
        for step in range(free):
            k = free - 1 - step
            pivot = max(matrix[k, k], inverse[k])
            if pivot < SMALLEST_PIVOT:  # nothing that has weight depends on this one: it is to stay where it is
                pivot = PIVOT_INSTEAD
            inverse[k] = 1.0 / pivot
            for i in range(k):
                factor = matrix[k, i] * inverse[k]
                if factor != 0.0:
                    for c in range(i + 1):
                        matrix[i, c] -= factor * matrix[k, c]

    def solve(self, program, right, solution):
        """Each dependent number takes what its sum misses; then the free ones; then what follows from them."""
        value: cython.double
        n = program.parameters
        m = program.constraints
        free = self.free
        matrix = self.matrix
        unknown = self.unknown
        gradient = self.gradient
        for i in range(n):
            solution[i] = 0.0
            gradient[i] = right[i]
        for d in range(program.distributions):
            i = self.dependent[d]
            solution[i] = right[n + m + d]
            gradient[i] -= self.curvature[i] * solution[i]
        for j in range(m):
            missing = right[n + j]
            for p in range(program.starts[j], program.starts[j + 1]):
                missing -= program.coefficients[p] * solution[program.indices[p]]
            missing *= self.constraint_weights[j]
            for p in range(program.starts[j], program.starts[j + 1]):
                gradient[program.indices[p]] += program.coefficients[p] * missing
        for i in range(n):
            if self.place[i] >= 0:
                unknown[self.place[i]] = gradient[i] - gradient[self.dependent[program.distribution_of[i]]]
        for step in range(free):
            k = free - 1 - step
            unknown[k] *= self.inverse[k]
            for i in range(k):
                unknown[i] -= unknown[k] * matrix[k, i]
        for k in range(free):
            value = 0.0
            other: cython.double = 0.0  # two sums, so that one addition need not wait for the other
            for i in range(0, k - 1, 2):
                value += matrix[k, i] * unknown[i]
                other += matrix[k, i + 1] * unknown[i + 1]
            if k & 1:
                value += matrix[k, k - 1] * unknown[k - 1]
            unknown[k] -= (value + other) * self.inverse[k]
        for i in range(n):
            if self.place[i] >= 0:
                solution[i] = unknown[self.place[i]]
                solution[self.dependent[program.distribution_of[i]]] -= solution[i]
        for i in range(n):
            gradient[i] = right[i] - self.curvature[i] * solution[i]
        for j in range(m):
            value = -right[n + j]
            for p in range(program.starts[j], program.starts[j + 1]):
                value += program.coefficients[p] * solution[program.indices[p]]
            value *= self.constraint_weights[j]
            solution[n + j] = value
            for p in range(program.starts[j], program.starts[j + 1]):
                gradient[program.indices[p]] -= program.coefficients[p] * value
        for d in range(program.distributions):
            solution[n + m + d] = gradient[self.dependent[d]]

    def solution_of(self, program: BlockProgram, diagonal: cython.double[::1], right: cython.double[::1]):
        """The solution of one system; θ of the program chooses what depends on what."""
        self.reserve(program)
        solution = np.empty(right.shape[0])
        self.factorise(program, diagonal)
        self.solve(program, right, solution)
        return solution


@cython.cclass
class SparseSystem(NewtonSystem):
    """The whole system with sparse factors."""

    def __init__(self, program: BlockProgram) -> None:
        n, m = program.parameters, program.constraints
        pairs: cython.Py_ssize_t = program.starts[m] + n
        rows: int64_t[::1] = np.empty(pairs, dtype=np.int64)
        columns: int64_t[::1] = np.empty(pairs, dtype=np.int64)
        values: cython.double[::1] = np.ones(pairs)
        p: cython.Py_ssize_t
        for j in range(m):
            for p in range(program.starts[j], program.starts[j + 1]):
                rows[p], columns[p], values[p] = program.indices[p], n + j, program.coefficients[p]
        for i in range(n):
            rows[pairs - n + i], columns[pairs - n + i] = i, n + m + program.distribution_of[i]
        self.factors = SparseFactors(n + m + program.distributions, n, rows, columns)
        self.factors.set_entries(values)

    def factorise(self, program, diagonal):
        """See `NewtonSystem`."""
        self.factors.factorise(diagonal)

    def solve(self, program, right, solution):
        """See `NewtonSystem`."""
        self.factors.solve(right, solution)


def residual_of(program, diagonal, right, solution, residual):
    """What a solution still misses, and the most that it misses anywhere."""
    n = program.parameters
    m = program.constraints
    size = n + m + program.distributions
    for k in range(size):
        residual[k] = right[k] - diagonal[k] * solution[k]
    for j in range(m):
        value = 0.0
        for p in range(program.starts[j], program.starts[j + 1]):
            value += program.coefficients[p] * solution[program.indices[p]]
            residual[program.indices[p]] -= program.coefficients[p] * solution[n + j]
        residual[n + j] -= value
    for i in range(n):
        d = n + m + program.distribution_of[i]
        residual[i] -= solution[d]
        residual[d] -= solution[i]
    most = 0.0
    for k in range(size):
        most = max(most, fabs(residual[k]))
    return most

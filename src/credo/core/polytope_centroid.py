"""Means of uniform distributions: on polytopes {x : Gx ≤ h}, h > 0, and along sparse lines where these are not enough.

The inverse root of the curvature of −Σ log(h − Gx) at its minimum makes a first round shape of a polytope, the spread
of the first draws a better one. In such coordinates uniform draws one by one [Smith, 1984] mix within few sweeps.
Instead of what is drawn, the mean of what could have been is added up, and sweeps go on until batches of them agree.
"""

import cython
import numpy as np
from cython.cimports.credo.core.variates import uniform
from cython.cimports.libc.math import INFINITY, log, sqrt
from cython.cimports.libc.stdint import int64_t, uint64_t

CENTRED = cython.declare(cython.double, 1e-3)  # Newton's decrement at the minimum
NEWTON_STEPS = cython.declare(cython.Py_ssize_t, 200)
ROUNDINGS = 2
FLATTEST = cython.declare(cython.double, 1e-6)  # a variance, where the curvature expects about one
BURN_IN = cython.declare(cython.Py_ssize_t, 10)
BATCHES = cython.declare(cython.Py_ssize_t, 32)
FIRST_BATCH = cython.declare(cython.Py_ssize_t, 4)  # sweeps
LAST_BATCH = cython.declare(cython.Py_ssize_t, 4096)
MOST_SHRINKS = cython.declare(cython.Py_ssize_t, 200)
SMALLEST = cython.declare(cython.double, 1e-300)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def decompose(matrix: cython.double[:, ::1], least: cython.double) -> cython.void:
    """The lower triangle of a positive matrix becomes its Cholesky factor, no pivot of which is below the least."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    value: cython.double
    for j in range(matrix.shape[0]):
        for i in range(j, matrix.shape[0]):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = sqrt(max(value, least)) if i == j else value / matrix[j, j]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def reach(
    change: cython.pointer(cython.const[cython.double]),
    slack: cython.pointer(cython.const[cython.double]),
    rows: cython.Py_ssize_t,
    low: cython.pointer(cython.double),
    high: cython.pointer(cython.double),
) -> cython.void:
    """How far a step can go back and forth."""
    r: cython.Py_ssize_t
    limit: cython.double
    lowest: cython.double = -INFINITY
    highest: cython.double = INFINITY
    for r in range(rows):
        limit = slack[r] / change[r]
        highest = min(highest, limit if change[r] > 0.0 else INFINITY)
        lowest = max(lowest, limit if change[r] < 0.0 else -INFINITY)
    low[0], high[0] = min(lowest, 0.0), max(highest, 0.0)


@cython.cclass
class RoundPolytope:
    """{x : Gx ≤ h} in coordinates in which it is round: x = point + Σ place · axis."""

    constraints: cython.double[:, ::1]
    slack: cython.double[::1]
    first_slack: cython.double[::1]  # at the point
    point: cython.double[::1]
    place: cython.double[::1]
    total: cython.double[::1]  # of the middles of what was drawn from
    axes: cython.double[:, ::1]
    changes: cython.double[:, ::1]  # (axes, constraints)
    matrix: cython.double[:, ::1]
    random: uint64_t[::1]
    size: cython.Py_ssize_t
    rows: cython.Py_ssize_t

    def __init__(self, constraints, bounds, seed):
        self.constraints = np.ascontiguousarray(constraints, float)
        self.rows, self.size = constraints.shape
        self.slack = np.array(bounds, float)
        self.point, self.place, self.total = np.zeros((3, self.size))
        self.axes, self.matrix = np.zeros((2, self.size, self.size))
        self.changes = np.empty((self.size, self.rows))
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        with cython.nogil:
            self.centre()
            self.set_axes()
            self.set_changes()
        self.first_slack = np.array(self.slack)
        for _ in range(ROUNDINGS):
            self.make_rounder()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_curvature(self) -> cython.void:
        """Gᵀ diag(1/slack²) G, decomposed."""
        r: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        scaled: cython.double
        self.matrix[:, :] = 0.0
        for r in range(self.rows):
            for i in range(self.size):
                scaled = self.constraints[r, i] / (self.slack[r] * self.slack[r])
                if scaled != 0.0:
                    for j in range(i + 1):
                        self.matrix[i, j] += scaled * self.constraints[r, j]
        decompose(self.matrix, SMALLEST)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def centre(self) -> cython.void:
        """Move to the minimum of −Σ log slack by Newton's damped steps; the curvature there is left in `matrix`."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        n: cython.Py_ssize_t
        square: cython.double
        decrement: cython.double
        length: cython.double
        gradient: cython.double[::1] = self.total
        step: cython.double[::1] = self.place
        for n in range(NEWTON_STEPS):
            self.set_curvature()
            gradient[:] = 0.0
            for r in range(self.rows):
                for i in range(self.size):
                    gradient[i] -= self.constraints[r, i] / self.slack[r]
            for i in range(self.size):
                step[i] = gradient[i]
                for k in range(i):
                    step[i] -= self.matrix[i, k] * step[k]
                step[i] /= self.matrix[i, i]
            for i in range(self.size - 1, -1, -1):
                for k in range(i + 1, self.size):
                    step[i] -= self.matrix[k, i] * step[k]
                step[i] /= self.matrix[i, i]
            square = 0.0
            for i in range(self.size):
                square += gradient[i] * step[i]
            decrement = sqrt(max(square, 0.0))
            length = 1.0 / (1.0 + decrement)
            for i in range(self.size):
                self.point[i] += length * step[i]
            for r in range(self.rows):
                for i in range(self.size):
                    self.slack[r] -= length * step[i] * self.constraints[r, i]
            if decrement < CENTRED:
                break
        self.set_curvature()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_axes(self) -> cython.void:
        """Columns of the factor's inverse, transposed, as axes."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        value: cython.double
        for j in range(self.size):
            for i in range(self.size - 1, -1, -1):
                value = 1.0 if i == j else 0.0
                for k in range(i + 1, self.size):
                    value -= self.matrix[k, i] * self.axes[j, k]
                self.axes[j, i] = value / self.matrix[i, i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_changes(self) -> cython.void:
        """How a step along each axis changes every constraint."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        r: cython.Py_ssize_t
        for j in range(self.size):
            for r in range(self.rows):
                self.changes[j, r] = 0.0
                for i in range(self.size):
                    self.changes[j, r] += self.constraints[r, i] * self.axes[j, i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def restart(self) -> cython.void:
        self.place[:] = 0.0
        self.total[:] = 0.0
        self.slack[:] = self.first_slack

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sweep(self, total: cython.double[::1]) -> cython.void:
        """A uniform draw along every axis; the middle of what it was drawn from is added to `total`."""
        j: cython.Py_ssize_t
        r: cython.Py_ssize_t
        low: cython.double
        high: cython.double
        step: cython.double
        slack: cython.pointer(cython.double) = cython.address(self.slack[0])
        change: cython.pointer(cython.double)
        for j in range(self.size):
            change = cython.address(self.changes[j, 0])
            reach(change, slack, self.rows, cython.address(low), cython.address(high))
            total[j] += self.place[j] + 0.5 * (low + high)
            step = low + uniform(cython.address(self.random[0])) * (high - low)
            self.place[j] += step
            for r in range(self.rows):
                slack[r] -= step * change[r]

    def make_rounder(self):
        """Draw, and take the root of the draws' covariance for axes instead."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t
        sweeps: cython.Py_ssize_t = 20 + 10 * self.size
        mean: cython.double[::1] = np.zeros(self.size)
        spread: cython.double[:, ::1] = self.matrix
        old: cython.double[:, ::1] = np.array(self.axes)
        with cython.nogil:
            self.restart()
            spread[:, :] = 0.0
            for n in range(sweeps):
                self.sweep(self.total)
                for i in range(self.size):
                    mean[i] += self.place[i] / sweeps
                    for j in range(i + 1):
                        spread[i, j] += self.place[i] * self.place[j] / sweeps
            for i in range(self.size):
                for j in range(i + 1):
                    spread[i, j] -= mean[i] * mean[j]
            decompose(spread, FLATTEST)
            for j in range(self.size):
                for i in range(self.size):
                    self.axes[j, i] = 0.0
                for k in range(j, self.size):
                    for i in range(self.size):
                        self.axes[j, i] += spread[k, j] * old[k, i]
            self.set_changes()

    def mean(self, tolerance: cython.double):
        """The mean in x, to a standard error below the tolerance, as batches of sweeps tell it.

        The tolerance is in units of the standard deviation, in the square mean over all directions.
        """
        j: cython.Py_ssize_t
        n: cython.Py_ssize_t
        batch: cython.Py_ssize_t
        length: cython.Py_ssize_t = FIRST_BATCH
        kept: cython.Py_ssize_t = 0
        square: cython.double
        found: cython.double[::1] = np.zeros(self.size)
        batches: cython.double[:, ::1] = np.zeros((BATCHES, self.size))
        with cython.nogil:
            self.restart()
            for n in range(BURN_IN + self.size):
                self.sweep(self.total)
            while True:
                for batch in range(kept, BATCHES):
                    for n in range(length):
                        self.sweep(batches[batch])
                square = 0.0
                for j in range(self.size):
                    found[j] = 0.0
                    for batch in range(BATCHES):
                        found[j] += batches[batch, j] / (BATCHES * length)
                    for batch in range(BATCHES):
                        square += (batches[batch, j] / length - found[j]) ** 2
                if square <= tolerance * tolerance * self.size * BATCHES * (BATCHES - 1) or length >= LAST_BATCH:
                    break
                kept = BATCHES // 2
                for batch in range(BATCHES):
                    for j in range(self.size):
                        batches[batch, j] = batches[2 * batch, j] + batches[2 * batch + 1, j] if batch < kept else 0.0
                length *= 2
            # All draws are inside, but middles of where they were drawn from need not be, each by itself.
            while not self.holds(found):
                for j in range(self.size):
                    found[j] *= 0.5
        return np.asarray(self.point) + np.asarray(found) @ np.asarray(self.axes)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def holds(self, place: cython.double[::1]) -> cython.bint:
        """Whether every constraint holds at a place along the axes."""
        r: cython.Py_ssize_t
        j: cython.Py_ssize_t
        left: cython.double
        for r in range(self.rows):
            left = self.first_slack[r]
            for j in range(self.size):
                left -= self.changes[j, r] * place[j]
            if left < 0.0:
                return False
        return True


def centroid(constraints, bounds, tolerance, seed):
    """The mean of the uniform distribution on {x : constraints·x ≤ bounds}, where all bounds are above zero."""
    return RoundPolytope(constraints, bounds, seed).mean(tolerance)


@cython.cclass
class Lines:
    """A chain on θ ≥ 0 under linear constraints and products, density Π θ^powers, that moves along sparse directions.

    Along a direction only the constraints that it changes matter. A slice between them shrinks until density and
    products allow what is drawn [Neal, 2003], which is exact whether or not they leave one interval.
    """

    theta: cython.double[::1]
    proposed: cython.double[::1]  # equal to θ between moves
    slack: cython.double[::1]
    powers: cython.double[::1]
    starts: int64_t[::1]  # of each direction, in `cells` and `values`
    cells: int64_t[::1]
    values: cython.double[::1]
    change_starts: int64_t[::1]  # of each direction: the constraints that it changes
    changed: int64_t[::1]
    changes: cython.double[::1]
    touched_starts: int64_t[::1]  # of each direction: the products that it touches
    touched: int64_t[::1]
    product_starts: int64_t[::1]
    product_cells: int64_t[::1]
    exponents: cython.double[::1]
    log_bounds: cython.double[::1]
    random: uint64_t[::1]

    def __init__(self, theta, slack, powers, products, log_bounds, seed):
        """`products` is a sparse matrix, (products, parameters)."""
        self.theta, self.proposed = np.array([theta, theta], float)
        self.slack, self.powers = np.array(slack, float), np.array(powers, float)
        self.product_starts, self.product_cells, self.exponents = arrays(products)
        self.log_bounds = np.array(log_bounds, float)
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)

    def set_directions(self, directions, changes, touched):
        """Sparse matrices: (directions, parameters), (directions, constraints), (directions, products)."""
        self.starts, self.cells, self.values = arrays(directions)
        self.change_starts, self.changed, self.changes = arrays(changes)
        self.touched_starts, self.touched, _ = arrays(touched)

    def sweep(self, sweeps: cython.Py_ssize_t):
        """Move along every direction so many times; the sums of θ and of θ² after each sweep, and θ at the end."""
        n: cython.Py_ssize_t
        i: cython.Py_ssize_t
        move: cython.Py_ssize_t
        total: cython.double[::1] = np.zeros(self.theta.shape[0])
        square: cython.double[::1] = np.zeros(self.theta.shape[0])
        with cython.nogil:
            for n in range(sweeps):
                for move in range(self.starts.shape[0] - 1):
                    self.move(move)
                for i in range(self.theta.shape[0]):
                    total[i] += self.theta[i]
                    square[i] += self.theta[i] * self.theta[i]
        return np.asarray(total), np.asarray(square), np.array(self.theta)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move(self, move: cython.Py_ssize_t) -> cython.void:
        """A draw along one direction."""
        e: cython.Py_ssize_t
        n: cython.Py_ssize_t
        limit: cython.double
        step: cython.double
        low: cython.double = -INFINITY
        high: cython.double = INFINITY
        random: cython.pointer(uint64_t) = cython.address(self.random[0])
        for e in range(self.starts[move], self.starts[move + 1]):
            limit = -self.theta[self.cells[e]] / self.values[e]
            if self.values[e] > 0.0:
                low = max(low, limit)
            else:
                high = min(high, limit)
        for e in range(self.change_starts[move], self.change_starts[move + 1]):
            limit = self.slack[self.changed[e]] / self.changes[e]
            if self.changes[e] > 0.0:
                high = min(high, limit)
            else:
                low = max(low, limit)
        low, high = min(low, 0.0), max(high, 0.0)
        level: cython.double = self.density(move) + log(uniform(random))
        for n in range(MOST_SHRINKS):
            step = low + uniform(random) * (high - low)
            for e in range(self.starts[move], self.starts[move + 1]):
                self.proposed[self.cells[e]] = max(0.0, self.theta[self.cells[e]] + step * self.values[e])
            if self.density(move) >= level:
                for e in range(self.starts[move], self.starts[move + 1]):
                    self.theta[self.cells[e]] = self.proposed[self.cells[e]]
                for e in range(self.change_starts[move], self.change_starts[move + 1]):
                    self.slack[self.changed[e]] -= step * self.changes[e]
                return
            if step < 0.0:
                low = step
            else:
                high = step
        for e in range(self.starts[move], self.starts[move + 1]):
            self.proposed[self.cells[e]] = self.theta[self.cells[e]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def density(self, move: cython.Py_ssize_t) -> cython.double:
        """The logarithm of what of the density a move changes, at what is proposed."""
        e: cython.Py_ssize_t
        k: cython.Py_ssize_t
        product: cython.Py_ssize_t
        total: cython.double
        found: cython.double = 0.0
        for k in range(self.touched_starts[move], self.touched_starts[move + 1]):
            product, total = self.touched[k], 0.0
            for e in range(self.product_starts[product], self.product_starts[product + 1]):
                total += self.exponents[e] * log(max(self.proposed[self.product_cells[e]], SMALLEST))
            if total > self.log_bounds[product]:
                return -INFINITY
        for e in range(self.starts[move], self.starts[move + 1]):
            if self.powers[self.cells[e]] != 0.0:
                found += self.powers[self.cells[e]] * log(max(self.proposed[self.cells[e]], SMALLEST))
        return found


def arrays(matrix):
    """A sparse matrix by rows: where they start, columns and values."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(float)

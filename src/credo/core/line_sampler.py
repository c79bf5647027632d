# cython: infer_types=True
"""Means of uniform distributions by a chain along sparse lines."""

import cython
import numpy as np
from cython.cimports.credo.core.variates import uniform
from cython.cimports.libc.math import INFINITY, log
from cython.cimports.libc.stdint import int64_t, uint64_t

MOST_SHRINKS = cython.declare(cython.Py_ssize_t, 200)
SMALLEST = cython.declare(cython.double, 1e-300)


@cython.cclass
class Lines:
    """A chain on θ ≥ 0 under linear constraints and products, density Π θ^powers, that moves along sparse directions.

    Along a direction only the constraints that it changes matter. A slice between them shrinks until density and
    products allow what is drawn [Neal, 2003], which is exact whether or not they leave one interval.
    """

    theta: cython.double[::1]
    proposed: cython.double[::1]  # equal to θ between draws
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
        total: cython.double[::1] = np.zeros(self.theta.shape[0])
        square: cython.double[::1] = np.zeros(self.theta.shape[0])
        with cython.nogil:
            for n in range(sweeps):
                for direction in range(self.starts.shape[0] - 1):
                    self.draw_along(direction)
                for i in range(self.theta.shape[0]):
                    total[i] += self.theta[i]
                    square[i] += self.theta[i] * self.theta[i]
        return np.asarray(total), np.asarray(square), np.array(self.theta)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_along(self, direction: cython.Py_ssize_t) -> cython.void:
        """A draw along one direction."""
        e: cython.Py_ssize_t
        low: cython.double = -INFINITY
        high: cython.double = INFINITY
        random: cython.pointer(uint64_t) = cython.address(self.random[0])
        for e in range(self.starts[direction], self.starts[direction + 1]):
            limit = -self.theta[self.cells[e]] / self.values[e]
            if self.values[e] > 0.0:
                low = max(low, limit)
            else:
                high = min(high, limit)
        for e in range(self.change_starts[direction], self.change_starts[direction + 1]):
            limit = self.slack[self.changed[e]] / self.changes[e]
            if self.changes[e] > 0.0:
                high = min(high, limit)
            else:
                low = max(low, limit)
        low, high = min(low, 0.0), max(high, 0.0)
        level: cython.double = self.density(direction) + log(uniform(random))
        for n in range(MOST_SHRINKS):
            step = low + uniform(random) * (high - low)
            for e in range(self.starts[direction], self.starts[direction + 1]):
                self.proposed[self.cells[e]] = max(0.0, self.theta[self.cells[e]] + step * self.values[e])
            if self.density(direction) >= level:
                for e in range(self.starts[direction], self.starts[direction + 1]):
                    self.theta[self.cells[e]] = self.proposed[self.cells[e]]
                for e in range(self.change_starts[direction], self.change_starts[direction + 1]):
                    self.slack[self.changed[e]] -= step * self.changes[e]
                return
            if step < 0.0:
                low = step
            else:
                high = step
        for e in range(self.starts[direction], self.starts[direction + 1]):
            self.proposed[self.cells[e]] = self.theta[self.cells[e]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def density(self, direction: cython.Py_ssize_t) -> cython.double:
        """The logarithm of what of the density a direction changes, at what is proposed."""
        e: cython.Py_ssize_t
        k: cython.Py_ssize_t
        product: cython.Py_ssize_t
        found: cython.double = 0.0
        for k in range(self.touched_starts[direction], self.touched_starts[direction + 1]):
            product, total = self.touched[k], 0.0
            for e in range(self.product_starts[product], self.product_starts[product + 1]):
                total += self.exponents[e] * log(max(self.proposed[self.product_cells[e]], SMALLEST))
            if total > self.log_bounds[product]:
                return -INFINITY
        for e in range(self.starts[direction], self.starts[direction + 1]):
            if self.powers[self.cells[e]] != 0.0:
                found += self.powers[self.cells[e]] * log(max(self.proposed[self.cells[e]], SMALLEST))
        return found


def arrays(matrix):
    """A sparse matrix by rows: where they start, columns and values."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(float)

"""The boundaries that statements set: linear constraints Aθ ≤ b on distributions, and where a move first crosses one.

θ of all distributions is one vector, and so is log θ. Along a move that is linear in log-odds, θ(t) is proportional to
exp((1 − t) · log θ(0) + t · log θ(1)) in each distribution, so that a crossing is found from both ends alone.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, exp

ROUNDING = cython.declare(cython.double, 1e-12)  # what sums of probabilities may be off by
MOST_HALVINGS = cython.declare(cython.Py_ssize_t, 60)


@cython.cclass
class Boundaries:
    """Constraints on the distributions of one vector θ."""

    def __init__(self, starts, cells, coefficients, bounds, first_cell, theta, logs, first=0, last=None):
        """Cells `first` to `last` are those of the CPTs that move together; the others stay where they are."""
        self.count = len(bounds)
        self.starts, self.cells = np.asarray(starts, np.int64), np.asarray(cells, np.int64)
        self.coefficients, self.bounds = np.asarray(coefficients, float), np.asarray(bounds, float)
        self.first_cell = np.asarray(first_cell, np.int64)  # (distributions + 1,)
        self.theta, self.logs = theta, logs
        self.first, self.last = first, len(theta) if last is None else last
        self.before, self.slope = np.zeros(len(theta)), np.zeros(len(theta))
        lengths = np.diff(first_cell)
        distribution = np.repeat(np.arange(len(lengths)), lengths)[np.asarray(cells, np.int64)]
        self.distribution = distribution.astype(np.int32)
        rows = np.repeat(np.arange(self.count), np.diff(starts))
        pairs = np.unique(distribution.astype(np.int64) * max(1, self.count) + rows)
        owners = pairs // max(1, self.count)
        self.touching = (pairs % max(1, self.count)).astype(np.int32)
        self.touching_starts = np.searchsorted(owners, np.arange(len(lengths) + 1)).astype(np.int64)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def value(self, row: cython.Py_ssize_t) -> cython.double:
        """By how much a constraint is violated at θ; negative where it holds."""
        i: cython.Py_ssize_t
        total: cython.double = -self.bounds[row]
        for i in range(self.starts[row], self.starts[row + 1]):
            total += self.coefficients[i] * self.theta[self.cells[i]]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def hold(self) -> cython.bint:
        row: cython.Py_ssize_t
        for row in range(self.count):  # noqa: SIM110
            if not self.value(row) <= ROUNDING:
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def hold_at(self, distribution: cython.Py_ssize_t) -> cython.bint:
        """Whether the constraints on one distribution hold."""
        i: cython.Py_ssize_t
        for i in range(self.touching_starts[distribution], self.touching_starts[distribution + 1]):
            if not self.value(self.touching[i]) <= ROUNDING:
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def remember(self) -> cython.void:
        """The start of a move is here."""
        i: cython.Py_ssize_t
        for i in range(self.first, self.last):
            self.before[i] = self.logs[i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def value_between(self, row: cython.Py_ssize_t, time: cython.double) -> cython.double:
        """The same as `value`, at a share of the way from the start of a move to θ."""
        i: cython.Py_ssize_t
        c: cython.Py_ssize_t
        d: cython.Py_ssize_t
        last: cython.Py_ssize_t = -1
        highest: cython.double = 0.0
        norm: cython.double = 1.0
        log_here: cython.double
        total: cython.double = -self.bounds[row]
        for i in range(self.starts[row], self.starts[row + 1]):
            d = self.distribution[i]
            if d != last:
                last, highest, norm = d, -INFINITY, 0.0
                for c in range(self.first_cell[d], self.first_cell[d + 1]):
                    highest = max(highest, (1.0 - time) * self.before[c] + time * self.logs[c])
                for c in range(self.first_cell[d], self.first_cell[d + 1]):
                    norm += exp((1.0 - time) * self.before[c] + time * self.logs[c] - highest)
            c = self.cells[i]
            log_here = (1.0 - time) * self.before[c] + time * self.logs[c]
            total += self.coefficients[i] * exp(log_here - highest) / norm
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def first_crossing(self, time: cython.pointer(cython.double)) -> cython.Py_ssize_t:
        """The first constraint that a move violates, and the last share of the way at which all still hold; or -1."""
        row: cython.Py_ssize_t
        found: cython.Py_ssize_t = -1
        i: cython.Py_ssize_t
        low: cython.double
        high: cython.double
        at_low: cython.double
        at_high: cython.double
        middle: cython.double
        at_middle: cython.double
        time[0] = 1.0
        for row in range(self.count):
            at_high = self.value(row) if time[0] == 1.0 else self.value_between(row, time[0])
            if at_high <= ROUNDING:
                continue
            low, high = 0.0, time[0]
            at_low = min(self.value_between(row, 0.0) - ROUNDING, -1e-300)
            at_high -= ROUNDING
            for i in range(MOST_HALVINGS):  # false position, halving where it stays on one side
                middle = low + (high - low) * (at_low / (at_low - at_high) if i % 3 < 2 else 0.5)
                at_middle = self.value_between(row, middle) - ROUNDING
                if at_middle <= 0.0:
                    low, at_low = middle, min(at_middle, -1e-300)
                else:
                    high, at_high = middle, at_middle
                if high - low <= 1e-12 or (at_middle <= 0.0 and at_middle >= -ROUNDING):
                    break
            time[0] = low
            found = row
            if low <= 0.0:
                break
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_slope(self, row: cython.Py_ssize_t) -> cython.void:
        """The derivative of a constraint's value with respect to log-odds, at θ; zero for other distributions."""
        i: cython.Py_ssize_t
        c: cython.Py_ssize_t
        d: cython.Py_ssize_t
        last: cython.Py_ssize_t = -1
        mean: cython.double
        for i in range(self.first, self.last):
            self.slope[i] = 0.0
        for i in range(self.starts[row], self.starts[row + 1]):
            self.slope[self.cells[i]] += self.coefficients[i]
        for i in range(self.starts[row], self.starts[row + 1]):
            d = self.distribution[i]
            if d == last:
                continue
            last, mean = d, 0.0
            for c in range(self.first_cell[d], self.first_cell[d + 1]):
                mean += self.slope[c] * self.theta[c]
            for c in range(self.first_cell[d], self.first_cell[d + 1]):
                self.slope[c] = self.theta[c] * (self.slope[c] - mean)

    def links(self, first, last):
        """For distributions `first` to `last`, those among them that a constraint links with it, from `first` on."""
        distribution, starts = np.asarray(self.distribution), np.asarray(self.starts)
        touching, touching_starts = np.asarray(self.touching), np.asarray(self.touching_starts)
        found = []
        for d in range(first, last):
            rows = touching[touching_starts[d] : touching_starts[d + 1]] if d + 1 < len(touching_starts) else ()
            linked = {int(o) for row in rows for o in distribution[starts[row] : starts[row + 1]]} - {d}
            found.append(np.array(sorted(o - first for o in linked if first <= o < last), np.int32))
        return found

    def satisfied(self) -> bool:
        """Whether all constraints hold."""
        return self.hold()

    def largest_excess(self) -> float:
        """By how much the worst constraint is violated."""
        row: cython.Py_ssize_t
        worst: cython.double = -INFINITY
        for row in range(self.count):
            worst = max(worst, self.value(row))
        return worst

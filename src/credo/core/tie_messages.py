# cython: infer_types=True
"""Loops of message passing between tied rows.

Each member of a tie has a column of soft evidence λ. From the marginal of its value, P ∝ λ·μ, the column is taken out
again: μ = P/λ is what the row itself says, and sums to one. A tie of n members has Z = Σ_x Π μ_j(x) and the belief
b(x) = Π μ_j(x) / Z, so that the next evidence of member i is Π_{j≠i} μ_j = b/μ_i up to a factor; a pair that differs
has Z = Σ_x μ_i(x)·(1 − μ_j(x)) and the evidence 1 − μ_j. A pair over a tuple of variables sums μ_j over the states that
go with x instead. Evidence is scaled to Σ λ·μ = 1.
"""

import cython
import numpy as np
from cython.cimports.libc.math import fabs, log, pow
from cython.cimports.libc.stdint import int64_t, uint8_t

LEAST = cython.declare(cython.double, 1e-100)  # of evidence: what was zero under these CPTs can be seen again
SMALL = cython.declare(cython.double, 1e-150)  # a product below this is scaled


class TieFactors:
    """The arrays that do not change: ties (factors), their members, and the columns of evidence of these.

    `factors`, `members` and `digits` are records of arrays: see `Factors`, `Members` and `TupleDigits` in
    `credo.statistics.ties`.
    """

    def __init__(self, factors, members, digits, states, shares, offsets):
        self.starts, self.differ, self.copies = factors.starts, factors.differ.view(np.uint8), factors.weights
        self.columns = members.columns
        self.digit_starts, self.digits, self.differs = digits.starts, digits.sizes, digits.differs.view(np.uint8)
        self.states, self.shares, self.offsets = states, shares, offsets
        self.belief = np.empty(max(1, int(states.max(initial=1))))

    def compensate(self, own, tilt, evidence, beliefs):
        """The next evidence λ, from what rows say, μ; Σ log Z, and the first factor that leaves no value (-1: none).

        `tilt`, (factors, most states), is a factor of each belief beside the rows' own, or empty; with it `beliefs`,
        of the same shape, are written too.
        """
        self.own, self.tilt, self.evidence, self.beliefs = own, tilt, evidence, beliefs
        with cython.nogil:
            impossible = self._compensate()
        return self.total, impossible

    def _compensate(self):
        at: cython.Py_ssize_t
        has_tilt: cython.bint = self.tilt.shape[0] > 0
        self.total = 0.0
        for i in range(self.evidence.shape[0]):
            self.evidence[i] = 0.0
        for g in range(self.states.shape[0]):
            if self.differ[g]:
                if not self._compensate_pair(g):
                    return g
                continue
            k = self.states[g]
            for x in range(k):
                self.belief[x] = self.tilt[g, x] if has_tilt else 1.0
            for i in range(self.starts[g], self.starts[g + 1]):
                at = self.offsets[self.columns[i]]
                largest = 0.0
                for x in range(k):
                    if self.copies[i] == 1.0:
                        self.belief[x] *= self.own[at + x]
                    else:
                        self.belief[x] *= pow(self.own[at + x], self.copies[i])
                    largest = max(largest, self.belief[x])
                if largest < SMALL:
                    if largest == 0.0:
                        return g
                    self.total += log(largest)
                    for x in range(k):
                        self.belief[x] /= largest
            z = 0.0
            for x in range(k):
                z += self.belief[x]
            self.total += log(z)
            for x in range(k):
                self.belief[x] /= z
                if has_tilt:
                    self.beliefs[g, x] = self.belief[x]
            for i in range(self.starts[g], self.starts[g + 1]):
                at = self.offsets[self.columns[i]]
                for x in range(k):
                    if self.own[at + x] > 0.0:
                        self.evidence[at + x] += self.shares[i] * self.belief[x] / self.own[at + x]
        return -1

    def _compensate_pair(self, g):
        """The evidence of a pair that differs; whether some value is left."""
        first: cython.Py_ssize_t = self.starts[g]
        left: int64_t = self.columns[first]
        right: int64_t = self.columns[first + 1]
        z: cython.double = 0.0
        for x in range(self.states[g]):
            z += self._equality_message(left, x) * self._compatible(right, g, x)
        if not z > LEAST:
            if left < 0 or right < 0:
                return False
            z = LEAST  # both are sure of the same, for now: each also receives other messages
        self.total += log(z)
        for x in range(self.states[g]):
            if left >= 0:
                self.evidence[self.offsets[left] + x] += self.shares[first] * self._compatible(right, g, x) / z
            if right >= 0:
                self.evidence[self.offsets[right] + x] += self.shares[first + 1] * self._compatible(left, g, x) / z
        return True

    def _equality_message(self, column, x):
        """The message of a member to an equal one, for the value x: μ of its row, or certainty where x is observed."""
        if column >= 0:
            return self.own[self.offsets[column] + x]
        return 1.0 if x == -1 - column else 0.0

    def _difference_message(self, column, x, k):
        """The message of a member to one that differs, 1 − μ(x): exact also where μ(x) is almost one."""
        at: cython.Py_ssize_t
        others: cython.double = 0.0
        if column < 0:
            return 0.0 if x == -1 - column else 1.0
        at = self.offsets[column]
        if self.own[at + x] < 0.5:
            return 1.0 - self.own[at + x]
        for y in range(k):
            if y != x:
                others += self.own[at + y]
        return others

    def _compatible(self, column, g, x):
        """What a member of a pair says of all states that go with the state x of the other one."""
        total: cython.double = 0.0
        if self.digit_starts[g + 1] - self.digit_starts[g] == 1:
            return self._difference_message(column, x, self.states[g])
        for y in range(self.states[g]):
            if self._allows(g, x, y):
                total += self._equality_message(column, y)
        return total

    def _allows(self, g, x, y):
        """Whether a pair may hold the states x and y of a tuple: each variable is shared, or differs."""
        d: cython.Py_ssize_t
        is_same: cython.bint
        for d in range(self.digit_starts[g + 1] - 1, self.digit_starts[g] - 1, -1):
            is_same = x % self.digits[d] == y % self.digits[d]
            if is_same == self.differs[d]:
                return False
            x //= self.digits[d]
            y //= self.digits[d]
        return True


def take_out(
    counts: cython.const[cython.double][::1],  # expected counts of all cells
    cells: cython.const[int64_t][::1],  # (columns,) the first cell of each
    steps: cython.const[int64_t][::1],  # (columns,) from a state's cell to the next state's
    offsets: cython.const[int64_t][::1],  # (columns + 1,) where each begins in the arrays of messages
    weights: cython.const[cython.double][::1],  # (columns,)
    evidence: cython.const[cython.double][::1],
    which: cython.const[uint8_t][::1],  # (columns,) those that were evaluated
    own: cython.double[::1],  # out: μ
):
    """What each row says itself; the sum of w·log Σ λ·μ over columns."""
    at: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    total: cython.double = 0.0
    with cython.nogil:
        for c in range(cells.shape[0]):
            if not which[c]:
                continue
            marginal = scale = 0.0
            cell = cells[c]
            for at in range(offsets[c], offsets[c + 1]):
                own[at] = counts[cell] / evidence[at]
                marginal += counts[cell]
                scale += own[at]
                cell += steps[c]
            for at in range(offsets[c], offsets[c + 1]):
                own[at] /= scale
            total += weights[c] * log(marginal / scale)
    return total


def put_in(
    cells: cython.const[int64_t][::1],
    steps: cython.const[int64_t][::1],
    offsets: cython.const[int64_t][::1],
    evidence: cython.const[cython.double][::1],
    theta: cython.double[::1],
):
    """Write the columns into the CPTs of the sensors."""
    at: cython.Py_ssize_t
    cell: cython.Py_ssize_t
    with cython.nogil:
        for c in range(cells.shape[0]):
            cell = cells[c]
            for at in range(offsets[c], offsets[c + 1]):
                theta[cell] = evidence[at]
                cell += steps[c]


def change(
    offsets: cython.const[int64_t][::1],
    crowd: cython.const[int64_t][::1],
    own: cython.const[cython.double][::1],
    before: cython.const[cython.double][::1],
    after: cython.double[::1],
    keep: cython.double,
    changes: cython.double[::1],  # (columns,) out
):
    """Damp the new evidence in place: λ = before^keep · after^(1 − keep); how far it moves each column's marginal.

    Evidence of n columns on one value, a row that differs from many, moves it n times as far: each moves by 1/n.
    """
    at: cython.Py_ssize_t
    with cython.nogil:
        for c in range(offsets.shape[0] - 1):
            held, least = max(keep, 1.0 - 1.0 / crowd[c]), pow(LEAST, 1.0 / crowd[c])
            scale = total = largest = 0.0
            for at in range(offsets[c], offsets[c + 1]):
                scale += before[at] * own[at]
            for at in range(offsets[c], offsets[c + 1]):
                largest = max(largest, fabs(after[at] - before[at] / scale) * own[at])
                after[at] = max(after[at], least)
                if held > 0.0:
                    after[at] = pow(before[at], held) * pow(after[at], 1.0 - held)
                total += after[at] * own[at]
            for at in range(offsets[c], offsets[c + 1]):
                after[at] = max(after[at] / total, least)
            changes[c] = largest


def keep_previous(
    offsets: cython.const[int64_t][::1],
    which: cython.const[uint8_t][::1],
    before: cython.const[cython.double][::1],
    after: cython.double[::1],
):
    """Keep the old evidence in place of the new where a column waits."""
    at: cython.Py_ssize_t
    with cython.nogil:
        for c in range(which.shape[0]):
            if not which[c]:
                for at in range(offsets[c], offsets[c + 1]):
                    after[at] = before[at]

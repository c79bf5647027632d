# cython: infer_types=True
"""Symmetric quasi-definite linear systems: L D Lᵀ of dense ones in panels, of sparse ones in a fill-reducing order."""

import cython
import numpy as np
from cython.cimports.libc.stdint import int64_t, uint8_t

PANEL = cython.declare(cython.Py_ssize_t, 128)  # columns that are eliminated together
STRIP = cython.declare(cython.Py_ssize_t, 512)  # rows that are updated together
# Up to this size a matrix is one panel: a threaded product of matrices waits longer than it works.
ONE_PANEL = cython.declare(cython.Py_ssize_t, 640)
# Constraints that repeat others leave no pivot; refinement makes up for the change.
SMALLEST_PIVOT = cython.declare(cython.double, 1e-14)
PIVOT_INSTEAD = cython.declare(cython.double, 1e-7)
# The filled share and the size from which the end of an elimination is done densely.
DENSE_ENOUGH = cython.declare(cython.double, 0.5)
LEAST_TAIL = cython.declare(cython.Py_ssize_t, 96)


@cython.cclass
class DenseFactors:
    """L D Lᵀ of one dense matrix after another, with room for the largest; signs are those of the pivots of D."""

    def __init__(self, size: cython.Py_ssize_t) -> None:
        self.size = size
        self.matrix = np.zeros((size, size))
        self.signs = np.ones(size)
        self.inverse_diagonal = np.empty(size)
        self.panel = np.zeros((size if size <= ONE_PANEL else PANEL, size))

    def factorise(self):
        """The lower triangle of `matrix` becomes L, without its unit diagonal."""
        panels = self.size if self.size <= ONE_PANEL else PANEL
        start: cython.Py_ssize_t = 0
        while start < self.size:
            width = min(panels, self.size - start)
            length = self.size - start
            for i in range(length):  # columns as rows: first of A, then of L D
                for a in range(min(width, i + 1)):
                    self.panel[a, i] = self.matrix[start + i, start + a]
            self.eliminate(start, width, 0, width)
            first: cython.Py_ssize_t = width
            while first < length:
                self.eliminate(start, width, first, min(first + STRIP, length))
                first += STRIP
            for i in range(length):
                for a in range(min(width, i)):
                    self.matrix[start + i, start + a] = self.panel[a, i] * self.inverse_diagonal[start + a]
            if width < length:
                with cython.gil:
                    self._update_rest(start, width, length)
            start += panels

    def _update_rest(self, start, width, length):
        """What is right of and below a panel, less (L D) Lᵀ, strip by strip and up to the diagonal: BLAS does it."""
        matrix, panel = np.asarray(self.matrix)[start:, start:], np.asarray(self.panel)
        for first in range(width, length, 512):
            last = min(first + 512, length)
            product = panel[:width, first:last].T @ matrix[width:last, :width].T
            matrix[first:last, width:last] -= product

    def eliminate(self, start, width, first, last):
        """L D of columns `first` to `last` of a panel from A; the panel's own triangle, from 0 on, comes first."""
        for j in range(width):
            begin = max(first, j)
            for k in range(j):
                scaled = self.panel[k, j] * self.inverse_diagonal[start + k]
                if scaled != 0.0:
                    for i in range(begin, last):
                        self.panel[j, i] -= scaled * self.panel[k, i]
            if first == 0:
                pivot = self.panel[j, j]
                if pivot * self.signs[start + j] < SMALLEST_PIVOT:
                    pivot = self.signs[start + j] * PIVOT_INSTEAD
                self.inverse_diagonal[start + j] = 1.0 / pivot

    def solve(self, vector, first):
        """Solve L D Lᵀ x = b in place, b being the vector from `first` on."""
        value: cython.double
        for i in range(self.size):
            value = vector[first + i]
            for k in range(i):
                value -= self.matrix[i, k] * vector[first + k]
            vector[first + i] = value
        for i in range(self.size):
            vector[first + i] *= self.inverse_diagonal[i]
        for step in range(self.size):
            i = self.size - 1 - step
            value = vector[first + i]
            for k in range(i):
                vector[first + k] -= self.matrix[i, k] * value

    def solution_of(self, matrix, right, signs=None):
        """The solution of one system."""
        self.__init__(len(right))
        np.asarray(self.matrix)[:] = matrix
        if signs is not None:
            np.asarray(self.signs)[:] = signs
        solution = np.array(right, dtype=np.float64)
        self.factorise()
        self.solve(solution, 0)
        return solution


@cython.cclass
class SparseFactors:
    """L D Lᵀ of matrices with one pattern, of which the diagonal and the values of entries change."""

    def __init__(
        self, size: cython.Py_ssize_t, positive: cython.Py_ssize_t, rows: int64_t[::1], columns: int64_t[::1]
    ) -> None:
        """Analyse the pattern: each off-diagonal pair once; pivots of the first `positive` unknowns are positive."""
        self.size, self.positive = size, positive
        self.order = minimum_degree(size, rows, columns)
        self._set_pattern(rows, columns)
        self._set_tree()
        self.pattern, self.stack, self.mark, self.filled = np.zeros((4, size), dtype=np.int64)
        self.work, self.permuted, self.inverse_diagonal = np.zeros((3, size))

    def set_entries(self, values: cython.const[cython.double][:]):
        """The values of the pairs, in the order in which these were given."""
        for k in range(values.shape[0]):
            self.entries[self.entry_at[k]] = values[k]

    def _set_pattern(self, rows: int64_t[::1], columns: int64_t[::1]):
        """The upper triangle, by columns, in elimination order, with the diagonal last in each column."""
        size: cython.Py_ssize_t = self.size
        place: int64_t[::1] = np.empty(size, dtype=np.int64)
        starts: int64_t[::1] = np.zeros(size + 1, dtype=np.int64)
        for k in range(size):
            place[self.order[k]] = k
        for k in range(rows.shape[0]):
            starts[max(place[rows[k]], place[columns[k]]) + 1] += 1
        for k in range(size):
            starts[k + 1] += starts[k] + 1
        fill: int64_t[::1] = np.array(starts[:size])
        self.numbers = np.empty(starts[size], dtype=np.int64)
        self.entries = np.zeros(starts[size])
        self.entry_at = np.empty(rows.shape[0], dtype=np.int64)
        for k in range(rows.shape[0]):
            low = min(place[rows[k]], place[columns[k]])
            high = max(place[rows[k]], place[columns[k]])
            self.numbers[fill[high]] = low
            self.entry_at[k] = fill[high]
            fill[high] += 1
        self.diagonal_at = np.empty(size, dtype=np.int64)
        for k in range(size):
            self.numbers[starts[k + 1] - 1] = k
            self.diagonal_at[self.order[k]] = starts[k + 1] - 1
        self.column_starts = starts

    def _set_tree(self):
        """The parent of each column in the elimination tree (−1 at a root), where columns of L start, and the tail.

        Columns from the tail on are nearly full: they are kept in a dense matrix, and have no room here.
        """
        size: cython.Py_ssize_t = self.size
        parent: int64_t[::1] = np.full(size, -1, dtype=np.int64)
        mark: int64_t[::1] = np.zeros(size, dtype=np.int64)
        counts: int64_t[::1] = np.zeros(size, dtype=np.int64)
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        with cython.nogil:
            for j in range(size):
                mark[j] = j
                for p in range(self.column_starts[j], self.column_starts[j + 1] - 1):
                    i = self.numbers[p]
                    while mark[i] != j:
                        if parent[i] == -1:
                            parent[i] = j
                        counts[i] += 1
                        mark[i] = j
                        i = parent[i]
        tail: cython.Py_ssize_t = size
        filled: int64_t = 0
        for length in range(1, size + 1):
            filled += counts[size - length]
            if length >= LEAST_TAIL and filled >= DENSE_ENOUGH * 0.5 * length * (length - 1):
                tail = size - length
        factor_starts: int64_t[::1] = np.zeros(size + 1, dtype=np.int64)
        for j in range(size):
            factor_starts[j + 1] = factor_starts[j] + (counts[j] if j < tail else 0)
        self.parent, self.factor_starts, self.tail = parent, factor_starts, tail
        self.factor_numbers = np.empty(factor_starts[size], dtype=np.int64)
        self.factor_entries = np.empty(factor_starts[size])
        self.dense = DenseFactors(size - tail)

    def factorise(self, diagonal):
        """L and 1/D of the matrix with this diagonal, in the order in which unknowns were given."""
        size = self.size
        tail = self.tail
        for k in range(size):
            self.entries[self.diagonal_at[k]] = diagonal[k]
        for i in range(size - tail):
            for k in range(i + 1):
                self.dense.matrix[i, k] = 0.0
        for j in range(size):
            self.filled[j] = self.factor_starts[j]
            self.mark[j] = -1
        for j in range(size):
            top = size
            self.mark[j] = j
            for p in range(self.column_starts[j], self.column_starts[j + 1] - 1):
                i = self.numbers[p]
                self.work[i] = self.entries[p]
                depth: cython.Py_ssize_t = 0
                while self.mark[i] != j:
                    self.stack[depth] = i
                    depth += 1
                    self.mark[i] = j
                    i = self.parent[i]
                while depth > 0:  # in front of what is there already: a topological order
                    depth -= 1
                    top -= 1
                    self.pattern[top] = self.stack[depth]
            pivot = self.entries[self.column_starts[j + 1] - 1]
            for a in range(top, size):
                i = self.pattern[a]
                value = self.work[i]
                self.work[i] = 0.0
                if i >= tail:
                    self.dense.matrix[j - tail, i - tail] = (
                        value  # all columns before the tail have been taken out of it
                    )
                    continue
                for p in range(self.factor_starts[i], self.filled[i]):
                    self.work[self.factor_numbers[p]] -= self.factor_entries[p] * value
                scaled = value * self.inverse_diagonal[i]
                pivot -= value * scaled
                self.factor_numbers[self.filled[i]] = j
                self.factor_entries[self.filled[i]] = scaled
                self.filled[i] += 1
            sign = 1.0 if self.order[j] < self.positive else -1.0
            if j >= tail:
                self.dense.matrix[j - tail, j - tail] = pivot
                self.dense.signs[j - tail] = sign
                continue
            if pivot * sign < SMALLEST_PIVOT:
                pivot = sign * PIVOT_INSTEAD
            self.inverse_diagonal[j] = 1.0 / pivot
        if tail < size:
            self.dense.factorise()

    def solve(self, right, solution):
        """Solve with the factors as they are."""
        size = self.size
        tail = self.tail
        vector = self.permuted
        for k in range(size):
            vector[k] = right[self.order[k]]
        for j in range(tail):
            value = vector[j]
            if value != 0.0:
                for p in range(self.factor_starts[j], self.factor_starts[j + 1]):
                    vector[self.factor_numbers[p]] -= self.factor_entries[p] * value
        for j in range(tail):
            vector[j] *= self.inverse_diagonal[j]
        if tail < size:
            self.dense.solve(vector, tail)
        for step in range(tail):
            j = tail - 1 - step
            value = vector[j]
            for p in range(self.factor_starts[j], self.factor_starts[j + 1]):
                value -= self.factor_entries[p] * vector[self.factor_numbers[p]]
            vector[j] = value
        for k in range(size):
            solution[self.order[k]] = vector[k]

    def solution_of(self, diagonal: cython.double[::1], right: cython.double[::1]):
        """The solution of one system with the present entries."""
        solution = np.empty(self.size)
        self.factorise(diagonal)
        self.solve(right, solution)
        return solution


def minimum_degree(size: cython.Py_ssize_t, rows: cython.const[int64_t][:], columns: cython.const[int64_t][:]):
    """An elimination order: always an unknown with about the fewest neighbours [amestoy, davis & duff 1996].

    What an unknown leaves behind, a clique of its neighbours, is kept as one element, so that memory grows with the
    factors at most. Unknown i has `plain[i]` neighbours in the matrix, at the front of its room, and `held[i]` elements
    at the back; `members` has the unknowns of elements. An element is absorbed by the next one that contains it.
    """
    j: cython.Py_ssize_t
    p: cython.Py_ssize_t
    e: cython.Py_ssize_t
    kept: cython.Py_ssize_t
    least: cython.Py_ssize_t = 0
    filled: cython.Py_ssize_t = 0
    room: int64_t[::1] = np.zeros(size + 1, dtype=np.int64)
    for k in range(rows.shape[0]):
        room[rows[k] + 1] += 1
        room[columns[k] + 1] += 1
    for i in range(size):
        room[i + 1] += room[i]
    neighbours: int64_t[::1] = np.empty(room[size], dtype=np.int64)
    integers: int64_t[:, ::1] = np.zeros((6, size), dtype=np.int64)
    plain: int64_t[::1] = integers[0]
    held: int64_t[::1] = integers[1]
    degree_of: int64_t[::1] = integers[2]
    left_over: int64_t[::1] = integers[3]  # of an element: how many of its unknowns the new one does not have
    starts: int64_t[::1] = integers[4]
    sizes: int64_t[::1] = integers[5]
    seen: int64_t[::1] = np.full(size, -1, dtype=np.int64)  # the step in which an unknown was last put into an element
    state: uint8_t[::1] = np.zeros(size, dtype=np.uint8)  # 0 unknown, 1 element, 2 absorbed
    stamps: int64_t[::1] = np.full(size, -1, dtype=np.int64)  # the step in which `left_over` was last set
    members: int64_t[::1] = np.empty(max(64, 2 * rows.shape[0]), dtype=np.int64)
    order_array = np.empty(size, dtype=np.int64)
    order: int64_t[::1] = order_array
    # Unknowns of each degree, in doubly linked lists.
    head: int64_t[::1] = np.full(size + 1, -1, dtype=np.int64)
    after: int64_t[::1] = np.full(size, -1, dtype=np.int64)
    before: int64_t[::1] = np.full(size, -1, dtype=np.int64)
    for k in range(rows.shape[0]):
        i, j = rows[k], columns[k]
        neighbours[room[i] + plain[i]] = j
        neighbours[room[j] + plain[j]] = i
        plain[i] += 1
        plain[j] += 1
    for i in range(size):
        degree_of[i] = min(plain[i], size - 1)
    for k in range(size):
        i = size - 1 - k
        _link(i, degree_of[i], head, after, before)

    for k in range(size):
        while head[least] < 0:
            least += 1
        p = head[least]
        _unlink(p, least, head, after, before)
        order[k] = p
        # The new element: the neighbours of p, and the members of its elements, which it absorbs.
        if filled + size > members.shape[0]:
            members = np.concatenate((members, np.empty(max(members.shape[0], size), dtype=np.int64)))
        first = filled
        state[p], seen[p] = 1, k
        for a in range(room[p], room[p] + plain[p]):
            j = neighbours[a]
            if state[j] == 0 and seen[j] != k:
                seen[j] = k
                members[filled] = j
                filled += 1
        for a in range(room[p + 1] - held[p], room[p + 1]):
            e = neighbours[a]
            if state[e] == 1:
                for i in range(starts[e], starts[e] + sizes[e]):
                    j = members[i]
                    if state[j] == 0 and seen[j] != k:
                        seen[j] = k
                        members[filled] = j
                        filled += 1
                state[e] = 2
        starts[p], sizes[p] = first, filled - first
        count = filled - first
        # What the other elements of its members have outside of it.
        for a in range(first, filled):
            i = members[a]
            for j in range(room[i + 1] - held[i], room[i + 1]):
                e = neighbours[j]
                if state[e] == 1:
                    if stamps[e] != k:
                        stamps[e] = k
                        left_over[e] = sizes[e]
                    left_over[e] -= 1
        for a in range(first, filled):
            i = members[a]
            degree = count - 1
            kept = room[i]
            for j in range(room[i], room[i] + plain[i]):
                if state[neighbours[j]] == 0 and seen[neighbours[j]] != k:
                    neighbours[kept] = neighbours[j]
                    kept += 1
            plain[i] = kept - room[i]
            degree += plain[i]
            kept = room[i + 1]
            for j in range(held[i]):
                e = neighbours[room[i + 1] - 1 - j]
                if state[e] == 1 and left_over[e] == 0:
                    state[e] = 2  # the new element has all of it
                if state[e] == 1:
                    kept -= 1
                    neighbours[kept] = e
                    degree += left_over[e]
            kept -= 1
            neighbours[kept] = p
            held[i] = room[i + 1] - kept
            degree = min(min(degree, degree_of[i] + count - 1), size - k - 2)
            _unlink(i, degree_of[i], head, after, before)
            degree_of[i] = max(degree, 0)
            _link(i, degree_of[i], head, after, before)
            least = min(least, degree_of[i])
    return order_array


@cython.cfunc
@cython.inline
def _link(
    i: cython.Py_ssize_t, degree: cython.Py_ssize_t, head: int64_t[::1], after: int64_t[::1], before: int64_t[::1]
) -> cython.void:
    """Put an unknown at the head of the list of its degree."""
    after[i], before[i] = head[degree], -1
    if head[degree] >= 0:
        before[head[degree]] = i
    head[degree] = i


@cython.cfunc
@cython.inline
def _unlink(
    i: cython.Py_ssize_t, degree: cython.Py_ssize_t, head: int64_t[::1], after: int64_t[::1], before: int64_t[::1]
) -> cython.void:
    """Take an unknown out of the list of its degree."""
    if before[i] >= 0:
        after[before[i]] = after[i]
    else:
        head[degree] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]

"""Symmetric linear systems, compiled: L D Lᵀ of dense ones in panels, of sparse ones in a fill-reducing order."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

# Dense systems --------------------------------------------------------------------------------------------------------


PANEL, STRIP = 128, 512  # columns that are eliminated together; rows that are updated together
ALONE = 640  # up to this size it is one panel: a threaded product of matrices waits longer than it works
SMALLEST_PIVOT, PIVOT_INSTEAD = 1e-14, 1e-7


@compiled
def workspace(size: int) -> Any:  # pragma: no cover
    """What `factorise_dense` works in; asked for once, because new memory can cost more than the arithmetic in it."""
    if size <= ALONE:
        return np.zeros(size * size)
    return np.zeros(3 * PANEL * size + STRIP * (PANEL + size))


@compiled(error_model="numpy")
def factorise_dense(matrix: Any, signs: Any, inverse_diagonal: Any, space: Any) -> None:  # pragma: no cover
    """The lower triangle of `matrix` becomes L, without its unit diagonal; 1/D goes to `inverse_diagonal`."""
    size = len(signs)
    panels = size if size <= ALONE else PANEL
    for start in range(0, size, panels):
        width, length = min(panels, size - start), size - start
        panel = space[: width * length].reshape(width, length)  # columns as rows: first of A, then of L D
        for i in range(length):
            for a in range(min(width, i + 1)):
                panel[a, i] = matrix[start + i, start + a]
        eliminate(panel, width, 0, width, signs[start:], inverse_diagonal[start:])
        for first in range(width, length, STRIP):
            eliminate(panel, width, first, min(first + STRIP, length), signs[start:], inverse_diagonal[start:])
        for i in range(length):
            for a in range(min(width, i)):
                matrix[start + i, start + a] = panel[a, i] * inverse_diagonal[start + a]
        for first in range(width, length, STRIP):
            last = min(first + STRIP, length)
            update_strip(matrix[start:, start:], panel, first, last, space[panels * size :])


@compiled
def update_strip(matrix: Any, panel: Any, first: int, last: int, space: Any) -> None:  # pragma: no cover
    """Rows `first` to `last` less (L D) Lᵀ of the panel before them, up to the diagonal."""
    width, rows, columns = len(panel), last - first, last - len(panel)
    left = space[: rows * width].reshape(rows, width)  # L D
    at = STRIP * width
    right = space[at : at + width * columns].reshape(width, columns)  # Lᵀ
    at += width * columns
    product = space[at : at + rows * columns].reshape(rows, columns)
    for i in range(rows):
        for a in range(width):
            left[i, a] = panel[a, first + i]
    for a in range(width):
        for k in range(columns):
            right[a, k] = matrix[width + k, a]
    np.dot(left, right, product)
    for i in range(rows):
        subtract(matrix[first + i, width : first + i + 1], product[i, : first + i + 1 - width], 1.0)


@compiled(error_model="numpy")
def eliminate(  # pragma: no cover
    panel: Any, width: int, first: int, last: int, signs: Any, inverse_diagonal: Any
) -> None:
    """L D of columns `first` to `last` of a panel from A; the panel's own triangle, from 0 on, comes first."""
    for j in range(width):
        begin = max(first, j)
        for k in range(j):
            scaled = panel[k, j] * inverse_diagonal[k]
            if scaled != 0.0:
                subtract(panel[j, begin:last], panel[k, begin:last], scaled)
        if first == 0:
            pivot = panel[j, j]
            if pivot * signs[j] < SMALLEST_PIVOT:  # rows that say the same; refinement makes up for the change
                pivot = signs[j] * PIVOT_INSTEAD
            inverse_diagonal[j] = 1.0 / pivot


@compiled
def subtract(target: Any, source: Any, factor: float) -> None:  # pragma: no cover
    """target −= factor · source; counted from zero, so that the compiler sees that it may go in steps of many."""
    for i in range(len(target)):
        target[i] -= factor * source[i]


@compiled
def solve_dense(matrix: Any, inverse_diagonal: Any, vector: Any) -> None:  # pragma: no cover
    """Solve L D Lᵀ x = vector in place."""
    size = len(vector)
    for i in range(size):
        value = vector[i]
        for k in range(i):
            value -= matrix[i, k] * vector[k]
        vector[i] = value
    for i in range(size):
        vector[i] *= inverse_diagonal[i]
    for i in range(size - 1, -1, -1):
        value = vector[i]
        for k in range(i):
            vector[k] -= matrix[i, k] * value


# Sparse systems -------------------------------------------------------------------------------------------------------


DENSE_ENOUGH, LEAST_TAIL = 0.5, 96  # filled share and size from which the end of an elimination is done densely


@compiled
def minimum_degree(size: int, rows: Any, columns: Any) -> Any:  # pragma: no cover
    """An elimination order: always the vertex with the fewest neighbours; they become each other's neighbours."""
    adjacent = np.zeros((size, size), dtype=np.bool_)
    degree = np.zeros(size, dtype=np.int64)
    for k in range(len(rows)):
        i, j = rows[k], columns[k]
        if i != j and not adjacent[i, j]:
            adjacent[i, j] = adjacent[j, i] = True
            degree[i] += 1
            degree[j] += 1
    order = np.empty(size, dtype=np.int64)
    gone = np.zeros(size, dtype=np.bool_)
    neighbours = np.empty(size, dtype=np.int64)
    for step in range(size):
        best = -1
        for i in range(size):
            if not gone[i] and (best < 0 or degree[i] < degree[best]):
                best = i
                if degree[i] <= 1:
                    break
        order[step] = best
        gone[best] = True
        count = 0
        for i in range(size):
            if adjacent[best, i] and not gone[i]:
                neighbours[count] = i
                count += 1
        for a in range(count):
            i = neighbours[a]
            degree[i] -= 1
            for b in range(a):
                j = neighbours[b]
                if not adjacent[i, j]:
                    adjacent[i, j] = adjacent[j, i] = True
                    degree[i] += 1
                    degree[j] += 1
    return order


@compiled
def upper_triangle(size: int, order: Any, rows: Any, columns: Any, values: Any) -> Any:  # pragma: no cover
    """The upper triangle, by columns, of the matrix in its new order, diagonal last in each column.

    `rows`, `columns`, `values` hold each off-diagonal pair once. Returns column starts, row numbers, values, and where
    the diagonal of each (old) index stands.
    """
    place = np.empty(size, dtype=np.int64)
    for k in range(size):
        place[order[k]] = k
    starts = np.zeros(size + 1, dtype=np.int64)
    for k in range(len(rows)):
        starts[max(place[rows[k]], place[columns[k]]) + 1] += 1
    for k in range(size):
        starts[k + 1] += starts[k] + 1
    numbers = np.empty(starts[size], dtype=np.int64)
    entries = np.zeros(starts[size])
    fill = starts[:size].copy()
    for k in range(len(rows)):
        i, j = place[rows[k]], place[columns[k]]
        low, high = min(i, j), max(i, j)
        numbers[fill[high]] = low
        entries[fill[high]] = values[k]
        fill[high] += 1
    diagonal = np.empty(size, dtype=np.int64)
    for k in range(size):
        numbers[starts[k + 1] - 1] = k
        diagonal[order[k]] = starts[k + 1] - 1
    return starts, numbers, entries, diagonal


@compiled
def elimination_tree(size: int, starts: Any, numbers: Any) -> Any:  # pragma: no cover
    """The parent of each column in the elimination tree (-1 at a root), where each column of L starts, and the tail.

    Columns from the tail on are nearly full: they are kept in a dense matrix, and have no room here.
    """
    parent = np.full(size, -1, dtype=np.int64)
    mark = np.zeros(size, dtype=np.int64)
    counts = np.zeros(size, dtype=np.int64)
    for j in range(size):
        mark[j] = j
        for p in range(starts[j], starts[j + 1] - 1):
            i = numbers[p]
            while mark[i] != j:
                if parent[i] == -1:
                    parent[i] = j
                counts[i] += 1
                mark[i] = j
                i = parent[i]
    tail, filled = size, 0
    for j in range(size - 1, -1, -1):
        filled += counts[j]
        length = size - j
        if length >= LEAST_TAIL and filled >= DENSE_ENOUGH * 0.5 * length * (length - 1):
            tail = j
    factor_starts = np.zeros(size + 1, dtype=np.int64)
    for j in range(size):
        factor_starts[j + 1] = factor_starts[j] + (counts[j] if j < tail else 0)
    return parent, factor_starts, tail


@compiled(error_model="numpy")
def factorise(  # pragma: no cover
    size: int,
    starts: Any,
    numbers: Any,
    entries: Any,
    parent: Any,
    factor_starts: Any,
    factor_numbers: Any,
    factor_entries: Any,
    positive: int,  # old indices below this have positive pivots, the others negative ones
    order: Any,  # (size,)
    inverse_diagonal: Any,
    work: Any,  # (size,) zeros, left as zeros
    pattern: Any,  # (size,) integers
    stack: Any,  # (size,) integers
    mark: Any,  # (size,) integers, at most -1
    filled: Any,  # (size,) integers
    tail: int,
    dense: Any,  # (size - tail, size - tail) out: L of the tail
    signs: Any,  # (size - tail,)
    space: Any,  # what the dense part works in
) -> None:
    """L and 1/D of the matrix; the caller gives all memory, so that iterations allocate nothing."""
    dense[:] = 0.0
    for j in range(size):
        filled[j] = factor_starts[j]
        mark[j] = -1
    for j in range(size):
        top = size
        mark[j] = j
        for p in range(starts[j], starts[j + 1] - 1):
            i = numbers[p]
            work[i] = entries[p]
            depth = 0
            while mark[i] != j:
                stack[depth] = i
                depth += 1
                mark[i] = j
                i = parent[i]
            while depth > 0:  # in front of what is there already: a topological order
                depth -= 1
                top -= 1
                pattern[top] = stack[depth]
        pivot = entries[starts[j + 1] - 1]
        for a in range(top, size):
            i = pattern[a]
            value = work[i]
            work[i] = 0.0
            if i >= tail:
                dense[j - tail, i - tail] = value  # all columns before the tail have been taken out of it
                continue
            for p in range(factor_starts[i], filled[i]):
                work[factor_numbers[p]] -= factor_entries[p] * value
            scaled = value * inverse_diagonal[i]
            pivot -= value * scaled
            factor_numbers[filled[i]] = j
            factor_entries[filled[i]] = scaled
            filled[i] += 1
        sign = 1.0 if order[j] < positive else -1.0
        if j >= tail:
            dense[j - tail, j - tail] = pivot
            signs[j - tail] = sign
            continue
        if pivot * sign < SMALLEST_PIVOT:  # rows that say the same; refinement makes up for the change
            pivot = sign * PIVOT_INSTEAD
        inverse_diagonal[j] = 1.0 / pivot
    if tail < size:
        factorise_dense(dense, signs, inverse_diagonal[tail:], space)


@compiled
def solve_factorised(  # pragma: no cover
    size: int,
    factor_starts: Any,
    factor_numbers: Any,
    factor_entries: Any,
    inverse_diagonal: Any,
    tail: int,
    dense: Any,
    vector: Any,
) -> None:
    """Solve L D Lᵀ x = vector in place."""
    for j in range(tail):
        value = vector[j]
        if value != 0.0:
            for p in range(factor_starts[j], factor_starts[j + 1]):
                vector[factor_numbers[p]] -= factor_entries[p] * value
    for j in range(tail):
        vector[j] *= inverse_diagonal[j]
    if tail < size:
        solve_dense(dense, inverse_diagonal[tail:], vector[tail:])
    for j in range(tail - 1, -1, -1):
        value = vector[j]
        for p in range(factor_starts[j], factor_starts[j + 1]):
            value -= factor_entries[p] * vector[factor_numbers[p]]
        vector[j] = value

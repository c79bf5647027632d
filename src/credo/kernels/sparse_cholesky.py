"""Symmetric sparse systems, compiled: an order that keeps factors sparse, L D Lᵀ, and solving with it.

The matrices are quasi-definite (positive and negative diagonal blocks), for which L D Lᵀ exists in every order
[vanderbei 1995]. The factorisation is the up-looking one of Davis, as in QDLDL. The last columns of a large system
fill up; they are left to `dense_kernel`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.dense_cholesky import PIVOT_INSTEAD, SMALLEST_PIVOT, factorise_dense, solve_dense

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

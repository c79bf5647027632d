"""The linear system of a Newton step, compiled: its residual, and how `sparse_kernel` solves it for larger blocks.

What is factorised, here and in `reduced_kernel`, is a matrix that was moved a little away from singularity; refinement
with the matrix itself takes the effect out of the solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.dense_cholesky import workspace
from credo.kernels.sparse_cholesky import (
    elimination_tree,
    factorise,
    minimum_degree,
    solve_factorised,
    upper_triangle,
)

SMALL = 64  # unknowns, sums and rows taken out, up to which a dense matrix is the quicker one
REGULARISATION = 1e-9  # keeps pivots away from zero


@compiled
def sparse_space(  # pragma: no cover
    distribution_of: Any, distributions: int, starts: Any, indices: Any, coefficients: Any, order: Any, wanted: bool
) -> Any:
    """The pattern of the matrix in an order that keeps factors sparse; empty where that is not wanted."""
    n, m = (len(distribution_of), len(starts) - 1) if wanted else (0, 0)
    size, pairs = (n + m + distributions, starts[m] + n) if wanted else (0, 0)
    pair_rows, pair_columns = np.empty(pairs, dtype=np.int64), np.empty(pairs, dtype=np.int64)
    pair_values = np.empty(pairs)
    k = 0
    for j in range(m):
        for p in range(starts[j], starts[j + 1]):
            pair_rows[k], pair_columns[k], pair_values[k] = indices[p], n + j, coefficients[p]
            k += 1
    for i in range(n):
        pair_rows[k], pair_columns[k], pair_values[k] = i, n + m + distribution_of[i], 1.0
        k += 1
    if len(order) == 0:
        order = minimum_degree(size, pair_rows, pair_columns)
    column_starts, numbers, entries, diagonal_at = upper_triangle(size, order, pair_rows, pair_columns, pair_values)
    parent, factor_starts, tail = elimination_tree(size, column_starts, numbers)
    matrix = (column_starts, numbers, entries, diagonal_at, parent, order, n)
    factors = (
        factor_starts,
        np.empty(factor_starts[size], dtype=np.int64),
        np.empty(factor_starts[size]),
        np.empty(size),  # 1/D
        tail,
        np.empty((size - tail, size - tail)),
    )
    room = (
        np.zeros(size),
        np.empty((4, size), dtype=np.int64),
        np.empty(size - tail),
        workspace(size - tail),
        np.empty(size),
    )
    return matrix, factors, room


@compiled
def factorise_sparse(sparse: Any, diagonal: Any) -> None:  # pragma: no cover
    """Factorise the matrix with this diagonal: of parameters, rows and sums."""
    matrix, factors, room = sparse
    column_starts, numbers, entries, diagonal_at, parent, order, positive = matrix
    for k in range(len(diagonal)):
        entries[diagonal_at[k]] = diagonal[k]
    work, integers, signs, space, _ = room
    factorise(
        len(diagonal),
        column_starts,
        numbers,
        entries,
        parent,
        factors[0],
        factors[1],
        factors[2],
        positive,
        order,
        factors[3],
        work,
        integers[0],
        integers[1],
        integers[2],
        integers[3],
        factors[4],
        factors[5],
        signs,
        space,
    )


@compiled
def solve_sparse(sparse: Any, right: Any, solution: Any) -> None:  # pragma: no cover
    """Solve with the factors as they are."""
    matrix, factors, room = sparse
    order, permuted = matrix[5], room[4]
    for k in range(len(right)):
        permuted[k] = right[order[k]]
    solve_factorised(len(right), *factors, permuted)
    for k in range(len(right)):
        solution[order[k]] = permuted[k]


@compiled
def residual_of(  # pragma: no cover
    distribution_of: Any,
    starts: Any,
    indices: Any,
    coefficients: Any,
    diagonal: Any,
    right: Any,
    solution: Any,
    residual: Any,
) -> float:
    """What a solution still misses, and the most that it misses anywhere."""
    n, m = len(distribution_of), len(starts) - 1
    for k in range(len(right)):
        residual[k] = right[k] - diagonal[k] * solution[k]
    for j in range(m):
        value, multiplier = 0.0, solution[n + j]
        for p in range(starts[j], starts[j + 1]):
            value += coefficients[p] * solution[indices[p]]
            residual[indices[p]] -= coefficients[p] * multiplier
        residual[n + j] -= value
    for i in range(n):
        d = n + m + distribution_of[i]
        residual[i] -= solution[d]
        residual[d] -= solution[i]
    most = 0.0
    for k in range(len(right)):
        most = max(most, abs(residual[k]))
    return most

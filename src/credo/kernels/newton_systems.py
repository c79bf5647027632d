"""The linear systems of Newton steps, compiled: sparse ones of larger blocks, reduced dense ones of small blocks.

A small block's sums and constraints are eliminated first; what is left is small, dense and positive definite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.cholesky import (
    PIVOT_INSTEAD,
    SMALLEST_PIVOT,
    elimination_tree,
    factorise,
    minimum_degree,
    solve_factorised,
    upper_triangle,
    workspace,
)
from credo.kernels.compiler import compiled

# Sparse systems of larger blocks --------------------------------------------------------------------------------------


SMALL = 64  # unknowns, sums and constraints taken out, up to which a dense matrix is the quicker one
REGULARISATION = 1e-9  # keeps pivots away from zero


@compiled
def sparse_space(  # pragma: no cover
    distribution_of: Any, distributions: int, starts: Any, indices: Any, coefficients: Any, order: Any
) -> Any:
    """The pattern of the matrix in an elimination order that keeps factors sparse; an empty one is found here."""
    n, m = len(distribution_of), len(starts) - 1
    size, pairs = n + m + distributions, starts[m] + n
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
    """Factorise the matrix with this diagonal: of parameters, constraints and sums."""
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


# Reduced systems of small blocks --------------------------------------------------------------------------------------


ROUNDING = 1e-13  # of its diagonal is the least pivot; refinement makes up for the change
KEPT = 0.2  # a distribution keeps its dependent number as long as that is not below this share of the largest


@compiled
def choose_dependent(  # pragma: no cover
    distribution_of: Any,
    theta: Any,
    dependent: Any,  # (distributions,) in and out: the dependent parameter of each; −1 at first
    place: Any,  # (n,) out: the place of the others among the unknowns, −1 for the dependent ones
) -> bool:
    """Let the largest number of each distribution depend on the others; whether that changed anything."""
    largest = np.zeros(len(dependent))
    for i in range(len(theta)):
        d = distribution_of[i]
        largest[d] = max(largest[d], theta[i])
    changed = False
    for d in range(len(dependent)):
        if dependent[d] < 0 or theta[dependent[d]] < KEPT * largest[d]:
            dependent[d], changed = -1, True
    if not changed:
        return False
    count = 0
    for i in range(len(theta)):
        d = distribution_of[i]
        if dependent[d] < 0 and theta[i] == largest[d]:
            dependent[d] = i
    for i in range(len(theta)):
        if dependent[distribution_of[i]] == i:
            place[i] = -1
        else:
            place[i] = count
            count += 1
    return True


@compiled
def reduce_constraints(  # pragma: no cover
    distribution_of: Any,
    starts: Any,
    indices: Any,
    coefficients: Any,
    place: Any,
    lengths: Any,  # (m,) out: how many unknowns each constraint has,
    unknowns: Any,  # (m, free) which ones, ascending,
    values: Any,  # (m, free) and their coefficients
) -> None:
    """A N: a coefficient of a dependent number is taken off those of all others in its distribution."""
    n, free = len(place), values.shape[1]
    line = np.zeros(free)
    for j in range(len(lengths)):
        for p in range(starts[j], starts[j + 1]):
            i = indices[p]
            if place[i] >= 0:
                line[place[i]] += coefficients[p]
                continue
            first = i
            while first > 0 and distribution_of[first - 1] == distribution_of[i]:
                first -= 1
            k = first
            while k < n and distribution_of[k] == distribution_of[i]:
                if place[k] >= 0:
                    line[place[k]] -= coefficients[p]
                k += 1
        length = 0
        for f in range(free):
            if line[f] != 0.0:
                unknowns[j, length], values[j, length] = f, line[f]
                line[f] = 0.0
                length += 1
        lengths[j] = length


@compiled(error_model="numpy")
def factorise_reduced(  # pragma: no cover
    distribution_of: Any,
    curvature: Any,  # (n,) H, regularised
    constraint_weights: Any,  # (m,) D, regularised
    dependent: Any,
    place: Any,
    lengths: Any,
    unknowns: Any,
    values: Any,
    matrix: Any,  # (free, free) out: below the diagonal D L, with the last unknown eliminated first
    inverse: Any,  # (free,) out: 1/D
) -> None:
    """The factors of the matrix; inner loops count from zero, so that the compiler sees how far they go."""
    n, free = len(place), len(inverse)
    for i in range(free):
        for k in range(free):
            matrix[i, k] = 0.0
    for i in range(n):
        if place[i] >= 0:
            d = distribution_of[i]
            shared = curvature[dependent[d]]
            matrix[place[i], place[i]] += curvature[i] + shared
            for k in range(i - 1, -1, -1):
                if distribution_of[k] != d:
                    break
                if place[k] >= 0:
                    matrix[place[i], place[k]] += shared
    for j in range(len(lengths)):
        for a in range(lengths[j]):
            scaled, row = constraint_weights[j] * values[j, a], unknowns[j, a]
            for b in range(a + 1):
                matrix[row, unknowns[j, b]] += scaled * values[j, b]
    for k in range(free):
        inverse[k] = ROUNDING * matrix[k, k]
    for k in range(free - 1, -1, -1):
        pivot = max(matrix[k, k], inverse[k])
        if pivot < SMALLEST_PIVOT:  # nothing that has weight depends on this one: it is to stay where it is
            pivot = PIVOT_INSTEAD
        inverse[k] = 1.0 / pivot
        for i in range(k):
            factor = matrix[k, i] * inverse[k]
            if factor != 0.0:
                for c in range(i + 1):
                    matrix[i, c] -= factor * matrix[k, c]


@compiled
def solve_reduced(  # pragma: no cover
    distribution_of: Any,
    starts: Any,
    indices: Any,
    coefficients: Any,
    curvature: Any,  # as it was factorised
    constraint_weights: Any,
    dependent: Any,
    place: Any,
    matrix: Any,
    inverse: Any,
    right: Any,
    solution: Any,  # out: Δθ, Δz, Δy
    unknown: Any,  # (free,) to work in
    gradient: Any,  # (n,) to work in
) -> None:
    """Solve the whole system for one right-hand side."""
    n, m, free = len(place), len(constraint_weights), len(inverse)
    # What is left to do after each dependent number has taken what its sum misses.
    for i in range(n):
        solution[i], gradient[i] = 0.0, right[i]
    for d in range(len(dependent)):
        i = dependent[d]
        solution[i] = right[n + m + d]
        gradient[i] -= curvature[i] * solution[i]
    for j in range(m):
        missing = right[n + j]
        for p in range(starts[j], starts[j + 1]):
            missing -= coefficients[p] * solution[indices[p]]
        missing *= constraint_weights[j]
        for p in range(starts[j], starts[j + 1]):
            gradient[indices[p]] += coefficients[p] * missing
    for i in range(n):
        if place[i] >= 0:
            unknown[place[i]] = gradient[i] - gradient[dependent[distribution_of[i]]]
    for k in range(free - 1, -1, -1):
        unknown[k] *= inverse[k]
        for i in range(k):
            unknown[i] -= unknown[k] * matrix[k, i]
    for k in range(free):
        value = 0.0
        for i in range(k):
            value += matrix[k, i] * unknown[i]
        unknown[k] -= value * inverse[k]
    for i in range(n):
        if place[i] >= 0:
            solution[i] = unknown[place[i]]
            solution[dependent[distribution_of[i]]] -= solution[i]
    for i in range(n):
        gradient[i] = right[i] - curvature[i] * solution[i]
    for j in range(m):
        value = -right[n + j]
        for p in range(starts[j], starts[j + 1]):
            value += coefficients[p] * solution[indices[p]]
        value *= constraint_weights[j]
        solution[n + j] = value
        for p in range(starts[j], starts[j + 1]):
            gradient[indices[p]] -= coefficients[p] * value
    for d in range(len(dependent)):
        solution[n + m + d] = gradient[dependent[d]]

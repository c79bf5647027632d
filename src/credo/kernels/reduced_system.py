"""Newton systems of small blocks, compiled: sums and rows taken out, what is left is small, dense and positive.

In the equations of `interior_kernel`, one number of each distribution, its largest, is one less the others, and a
row's multiplier follows from the parameters. With N for the first and D = 1/(s/z + c) for the second there remains

    Nᵀ (H + Aᵀ D A) N Δu = …,    H = (v + e)/θ,

with one unknown for a distribution of two states, however many rows speak of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.dense_cholesky import PIVOT_INSTEAD, SMALLEST_PIVOT

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
def reduce_rows(  # pragma: no cover
    distribution_of: Any,
    starts: Any,
    indices: Any,
    coefficients: Any,
    place: Any,
    lengths: Any,  # (m,) out: how many unknowns each row has,
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
    row_weights: Any,  # (m,) D, regularised
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
            scaled, row = row_weights[j] * values[j, a], unknowns[j, a]
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
    row_weights: Any,
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
    n, m, free = len(place), len(row_weights), len(inverse)
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
        missing *= row_weights[j]
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
        value *= row_weights[j]
        solution[n + j] = value
        for p in range(starts[j], starts[j + 1]):
            gradient[indices[p]] -= coefficients[p] * value
    for d in range(len(dependent)):
        solution[n + m + d] = gradient[dependent[d]]

"""Dense symmetric systems, compiled: L D Lᵀ in panels, for the end of a sparse elimination where all is filled in.

The signs of the pivots are known beforehand, as in `sparse_kernel`. Almost all work is in products of matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

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

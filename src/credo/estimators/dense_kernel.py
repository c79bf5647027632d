"""Dense symmetric systems, compiled: L D Lᵀ in panels, for the end of a sparse elimination where all is filled in.

The signs of the pivots are known beforehand, as in `sparse_kernel`. Almost all work is in products of matrices.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

PANEL, STRIP = 128, 512  # columns that are eliminated together; rows that are updated together
SMALLEST_PIVOT, PIVOT_INSTEAD = 1e-14, 1e-7


@numba.njit(cache=True, nogil=True, error_model="numpy")
def factorise_dense(matrix: Any, signs: Any, inverse_diagonal: Any) -> None:  # pragma: no cover
    """The lower triangle of `matrix` becomes L, without its unit diagonal; 1/D goes to `inverse_diagonal`."""
    size = len(signs)
    for start in range(0, size, PANEL):
        width, length = min(PANEL, size - start), size - start
        panel = np.empty((width, length))  # the panel's columns as rows: first of A, then of L D
        for i in range(length):
            for a in range(min(width, i + 1)):
                panel[a, i] = matrix[start + i, start + a]
        eliminate(panel, width, 0, width, signs[start:], inverse_diagonal[start:])
        for first in range(width, length, STRIP):
            eliminate(panel, width, first, min(first + STRIP, length), signs[start:], inverse_diagonal[start:])
        factor = np.empty((width, length - width))  # Lᵀ below the panel
        for a in range(width):
            for i in range(a + 1, length):
                matrix[start + i, start + a] = panel[a, i] * inverse_diagonal[start + a]
            for i in range(width, length):
                factor[a, i - width] = panel[a, i] * inverse_diagonal[start + a]
        for first in range(width, length, STRIP):
            last = min(first + STRIP, length)
            rows = np.ascontiguousarray(panel[:, first:last].T)
            update = np.dot(rows, np.ascontiguousarray(factor[:, : last - width]))
            for i in range(first, last):
                for k in range(i - width + 1):
                    matrix[start + i, start + width + k] -= update[i - first, k]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def eliminate(  # pragma: no cover
    panel: Any, width: int, first: int, last: int, signs: Any, inverse_diagonal: Any
) -> None:
    """L D of columns `first` to `last` of a panel from A; the panel's own triangle, from 0 on, comes first."""
    for j in range(width):
        begin = max(first, j)
        for k in range(j):
            scaled = panel[k, j] * inverse_diagonal[k]
            if scaled != 0.0:
                for i in range(begin, last):
                    panel[j, i] -= panel[k, i] * scaled
        if first == 0:
            pivot = panel[j, j]
            if pivot * signs[j] < SMALLEST_PIVOT:  # rows that say the same; refinement makes up for the change
                pivot = signs[j] * PIVOT_INSTEAD
            inverse_diagonal[j] = 1.0 / pivot


@numba.njit(cache=True, nogil=True)
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

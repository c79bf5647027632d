"""Matrix products of blocks in pieces so small that BLAS starts no threads.

For matrices of a hundred rows its threads wait for each other longer than the product takes, and the more so the busier
the machine is. How a product is divided among them also changes its last bits: the same seed would give other draws
where there are more cores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.types import Numbers

# OpenBLAS uses one thread up to 2^18 multiplications of two matrices, and up to 9,216 of a matrix and a vector.
MOST_OF_MATRICES, MOST_OF_VECTORS = 200_000, 8_000


MOST_IN_PIECES = 4_000_000  # multiplications of a product that is not worth threads


def products(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """The products of many pairs of matrices, (pairs, …); small ones without threads."""
    pairs, rows, inner = left.shape
    columns = right.shape[2]
    if rows * inner * columns > MOST_IN_PIECES:
        return left @ right
    found = np.empty((pairs, rows, columns), dtype=left.dtype)
    step = max(1, MOST_OF_MATRICES // max(1, inner * columns))
    for pair in range(pairs):
        for i in range(0, rows, step):
            np.matmul(left[pair, i : i + step], right[pair], out=found[pair, i : i + step])
    return found


def product(left: Numbers, right: Numbers) -> Numbers:
    """The product of two matrices, or of a matrix and a vector."""
    rows, inner = left.shape
    found = np.empty((rows, *right.shape[1:]))
    if right.ndim == 1:
        step = max(1, MOST_OF_VECTORS // max(1, inner))
        for i in range(0, rows, step):
            np.matmul(left[i : i + step], right, out=found[i : i + step])
        return found
    step = max(1, int(np.sqrt(MOST_OF_MATRICES / max(1, inner))))
    for i in range(0, rows, step):
        for j in range(0, right.shape[1], step):
            np.matmul(left[i : i + step], right[:, j : j + step], out=found[i : i + step, j : j + step])
    return found

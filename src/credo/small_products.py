"""Matrix products of blocks in pieces so small that BLAS starts no threads.

For matrices of a hundred rows its threads wait for each other longer than the product takes, and the more so the busier
the machine is. How a product is divided among them also changes its last bits: the same seed would give other draws
where there are more cores.
"""

from __future__ import annotations

import numpy as np

from credo.types import Numbers

# OpenBLAS uses one thread up to 2^18 multiplications of two matrices, and up to 9,216 of a matrix and a vector.
MOST_OF_MATRICES, MOST_OF_VECTORS = 200_000, 8_000


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

"""Products in small pieces are those of NumPy, and do not depend on the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from credo.small_products import MOST_OF_MATRICES, MOST_OF_VECTORS, product

SHAPES = [(1, 1), (3, 0), (0, 4), (7, 5), (130, 90), (40, 9000), (2, 300_000)]


@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_those_of_numpy(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    left, vector, right = rng.standard_normal(shape), rng.standard_normal(shape[1]), rng.standard_normal((shape[1], 12))
    np.testing.assert_allclose(product(left, vector), left @ vector, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(product(left, right), left @ right, rtol=1e-9, atol=1e-9)


def test_pieces_are_smaller_than_what_blas_divides() -> None:
    assert MOST_OF_MATRICES < 2**18
    assert MOST_OF_VECTORS < 9216


def test_more_threads_give_the_same_bits() -> None:
    """BLAS reads how many it may use when it is loaded: a process for each number."""
    program = (
        "import numpy as np; from credo.small_products import product; rng = np.random.default_rng(1);"
        "a = rng.standard_normal((150, 400)); b = rng.standard_normal(400); from hashlib import sha256;"
        "print(sha256(product(a, a.T).tobytes() + product(a, b).tobytes()).hexdigest())"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "4")
    ]
    assert len(set(found)) == 1

"""The compiled loops for one hidden variable: mixtures have nothing else, and values missing at random have many.

Up to five states at a time are kept in registers while the loop runs over the families, so that a state costs one
multiplication for each family, and nothing is written in between.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

SMALL = 1e-30  # a product below this is scaled
BATCH = np.uint64(32)  # families between two looks at the size of the products

jit = compiled(error_model="numpy")


@jit
def _multiply_1(  # pragma: no cover
    k: int, first: int, last: int, steps: Any, cells: Any, c0: int, theta: Any, table: Any
) -> None:
    t0 = 1.0
    for f in range(first, last):
        step = steps[f]
        at = np.uint64(cells[c0 + f]) + k * step
        t0 *= theta[at]
    table[k] *= t0


@jit
def _add_1(  # pragma: no cover
    k: int, families: int, steps: Any, cells: Any, c0: int, table: Any, counts: Any
) -> None:
    t0 = table[k]
    for f in range(families):
        step = steps[f]
        at = np.uint64(cells[c0 + f]) + k * step
        counts[at] += t0


@jit
def _multiply_2(  # pragma: no cover
    k: int, first: int, last: int, steps: Any, cells: Any, c0: int, theta: Any, table: Any
) -> None:
    t0, t1 = 1.0, 1.0
    for f in range(first, last):
        step = steps[f]
        at = np.uint64(cells[c0 + f]) + k * step
        t0 *= theta[at]
        t1 *= theta[at + step]
    table[k] *= t0
    table[k + np.uint64(1)] *= t1


@jit
def _add_2(  # pragma: no cover
    k: int, families: int, steps: Any, cells: Any, c0: int, table: Any, counts: Any
) -> None:
    t0 = table[k]
    t1 = table[k + np.uint64(1)]
    for f in range(families):
        step = steps[f]
        at = np.uint64(cells[c0 + f]) + k * step
        counts[at] += t0
        counts[at + step] += t1


@jit
def _multiply_3(  # pragma: no cover
    k: int, first: int, last: int, steps: Any, cells: Any, c0: int, theta: Any, table: Any
) -> None:
    t0, t1, t2 = 1.0, 1.0, 1.0
    for f in range(first, last):
        step = steps[f]
        at = np.uint64(cells[c0 + f]) + k * step
        t0 *= theta[at]
        t1 *= theta[at + step]
        t2 *= theta[at + np.uint64(2) * step]
    table[k] *= t0
    table[k + np.uint64(1)] *= t1
    table[k + np.uint64(2)] *= t2


@jit
def _add_3(  # pragma: no cover
    k: int, families: int, steps: Any, cells: Any, c0: int, table: Any, counts: Any
) -> None:
    t0 = table[k]
    t1 = table[k + np.uint64(1)]
    t2 = table[k + np.uint64(2)]
    for f in range(families):
        step = steps[f]
        at = np.uint64(cells[c0 + f]) + k * step
        counts[at] += t0
        counts[at + step] += t1
        counts[at + np.uint64(2) * step] += t2


@jit
def _multiply_5(  # pragma: no cover
    k: int, first: int, last: int, steps: Any, cells: Any, c0: int, theta: Any, table: Any
) -> None:
    t0, t1, t2, t3, t4 = 1.0, 1.0, 1.0, 1.0, 1.0
    for f in range(first, last):
        step = steps[f]
        at = np.uint64(cells[c0 + f]) + k * step
        t0 *= theta[at]
        t1 *= theta[at + step]
        t2 *= theta[at + np.uint64(2) * step]
        t3 *= theta[at + np.uint64(3) * step]
        t4 *= theta[at + np.uint64(4) * step]
    table[k] *= t0
    table[k + np.uint64(1)] *= t1
    table[k + np.uint64(2)] *= t2
    table[k + np.uint64(3)] *= t3
    table[k + np.uint64(4)] *= t4


@jit
def _add_5(  # pragma: no cover
    k: int, families: int, steps: Any, cells: Any, c0: int, table: Any, counts: Any
) -> None:
    t0 = table[k]
    t1 = table[k + np.uint64(1)]
    t2 = table[k + np.uint64(2)]
    t3 = table[k + np.uint64(3)]
    t4 = table[k + np.uint64(4)]
    for f in range(families):
        step = steps[f]
        at = np.uint64(cells[c0 + f]) + k * step
        counts[at] += t0
        counts[at + step] += t1
        counts[at + np.uint64(2) * step] += t2
        counts[at + np.uint64(3) * step] += t3
        counts[at + np.uint64(4) * step] += t4


@jit
def _width(left: int) -> Any:  # pragma: no cover
    """How many of the states that are left to take at a time: 4 are 2 and 2, 6 are 3 and 3, not 5 and 1."""
    if left == 4:
        return np.uint64(2)
    if left == 6:
        return np.uint64(3)
    return np.uint64(5) if left > 5 else np.uint64(left)


@jit
def sum_single(  # pragma: no cover
    size: int, families: int, steps: Any, cells: Any, c0: int, theta: Any, table: Any
) -> Any:
    """The product of all families for each state, and its sum z; the logarithm of what was scaled away."""
    for k in range(size):
        table[k] = 1.0
    log_scale = 0.0
    for first in range(np.uint64(0), families, BATCH):
        last = min(first + BATCH, families)
        k = np.uint64(0)
        while k < size:
            width = _width(size - k)
            if width == 5:
                _multiply_5(k, first, last, steps, cells, c0, theta, table)
            elif width == 3:
                _multiply_3(k, first, last, steps, cells, c0, theta, table)
            elif width == 2:
                _multiply_2(k, first, last, steps, cells, c0, theta, table)
            else:
                _multiply_1(k, first, last, steps, cells, c0, theta, table)
            k += width
        if last < families:
            largest = 0.0
            for k in range(size):
                largest = max(largest, table[k])
            if largest == 0.0:
                return 0.0, 0.0
            if largest < SMALL:
                for k in range(size):
                    table[k] /= largest
                log_scale += np.log(largest)
    z = 0.0
    for k in range(size):
        z += table[k]
    return log_scale, z


@jit
def add_single(  # pragma: no cover
    size: int, families: int, steps: Any, cells: Any, c0: int, ratio: float, table: Any, counts: Any
) -> None:
    """Add each state's share to the cells of all families."""
    for k in range(size):
        table[k] *= ratio
    k = np.uint64(0)
    while k < size:
        width = _width(size - k)
        if width == 5:
            _add_5(k, families, steps, cells, c0, table, counts)
        elif width == 3:
            _add_3(k, families, steps, cells, c0, table, counts)
        elif width == 2:
            _add_2(k, families, steps, cells, c0, table, counts)
        else:
            _add_1(k, families, steps, cells, c0, table, counts)
        k += width

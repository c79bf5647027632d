# cython: infer_types=True
"""The loop that counts all families in one pass over the rows.

Rows are taken a block at a time and turned into columns that stay in the cache; the cells of a family are then
computed for the whole block with vector instructions, and only the increments are made one by one.
"""

import cython
import numpy as np
from cython.cimports.libc.stdint import int8_t, int16_t, int32_t, int64_t

BLOCK_ROWS = cython.declare(cython.Py_ssize_t, 1024)

Code = cython.fused_type(int8_t, int16_t, int32_t)
Weight = cython.fused_type(int64_t, cython.double)


def count_rows(
    codes: cython.const[Code][:, :],  # (rows, variables) state numbers, negative where missing
    weights: cython.const[Weight][:],  # (rows,)
    members: cython.const[int64_t][::1],
    strides: cython.const[int64_t][::1],
    starts: cython.const[int64_t][::1],  # (families + 1,)
    offsets: cython.const[int64_t][::1],  # (families,)
    counts: Weight[::1],  # (cells,) out
    incomplete: Weight[::1],  # (families,) out: the weight of the rows in which a family has a missing value
) -> None:
    """Add the weight of every row to its cell of every family."""
    rows: cython.Py_ssize_t = codes.shape[0]
    variables: cython.Py_ssize_t = codes.shape[1]
    columns: int32_t[:, ::1] = np.empty((variables, BLOCK_ROWS), dtype=np.int32)
    has_missing: int8_t[::1] = np.zeros(variables, dtype=np.int8)
    cells: int32_t[::1] = np.empty(BLOCK_ROWS, dtype=np.int32)
    signs: int32_t[::1] = np.empty(BLOCK_ROWS, dtype=np.int32)
    row: cython.Py_ssize_t
    v: cython.Py_ssize_t
    i: cython.Py_ssize_t
    bits: int32_t
    with cython.nogil:
        for block in range((rows + BLOCK_ROWS - 1) // BLOCK_ROWS):
            start = block * BLOCK_ROWS
            n = min(BLOCK_ROWS, rows - start)
            for v in range(variables):
                bits = 0
                for row in range(n):
                    columns[v, row] = codes[start + row, v]
                    bits |= columns[v, row]  # a negative code makes it negative
                has_missing[v] = bits < 0
            for f in range(offsets.shape[0]):
                missing = False
                for row in range(n):
                    cells[row] = 0
                for i in range(starts[f], starts[f + 1]):
                    member, stride = members[i], cython.cast(int32_t, strides[i])
                    missing |= has_missing[member]
                    for row in range(n):
                        cells[row] += columns[member, row] * stride
                offset = offsets[f]
                if not missing:
                    for row in range(n):
                        counts[offset + cells[row]] += weights[start + row]
                    continue
                for row in range(n):
                    signs[row] = 0
                for i in range(starts[f], starts[f + 1]):
                    member = members[i]
                    for row in range(n):
                        signs[row] |= columns[member, row]
                for row in range(n):
                    if signs[row] < 0:
                        incomplete[f] += weights[start + row]
                    else:
                        counts[offset + cells[row]] += weights[start + row]

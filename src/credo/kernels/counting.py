"""The compiled loop that counts all families in one pass over the rows.

Rows are taken a block at a time and turned into columns that stay in the cache; the cells of a family are then
computed for the whole block with vector instructions, and only the increments are made one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

BLOCK_ROWS = 1024


@compiled
def count_rows(  # pragma: no cover
    codes: Any,  # (rows, variables) state numbers, negative where missing
    weights: Any,  # (rows,)
    members: Any,
    strides: Any,
    starts: Any,  # (families + 1,)
    offsets: Any,  # (families,)
    counts: Any,  # (cells,) out
    incomplete: Any,  # (families,) out: the weight of the rows in which a family has a missing value
) -> None:
    rows, variables = codes.shape
    columns = np.empty((variables, BLOCK_ROWS), dtype=np.int32)
    has_missing = np.zeros(variables, dtype=np.bool_)
    cells = np.empty(BLOCK_ROWS, dtype=np.int32)
    signs = np.empty(BLOCK_ROWS, dtype=np.int32)
    for start in range(0, rows, BLOCK_ROWS):
        n = min(BLOCK_ROWS, rows - start)
        for v in range(variables):
            any_bits = np.int32(0)
            for row in range(n):
                code = np.int32(codes[start + row, v])
                columns[v, row] = code
                any_bits |= code  # a negative code makes it negative
            has_missing[v] = any_bits < 0
        for f in range(len(offsets)):
            cells[:n] = 0
            missing = False
            for i in range(starts[f], starts[f + 1]):
                column, stride = columns[members[i]], np.int32(strides[i])
                missing |= has_missing[members[i]]
                for row in range(n):
                    cells[row] += column[row] * stride
            own = counts[offsets[f] :]
            if not missing:
                for row in range(n):
                    own[np.uint32(cells[row])] += weights[start + row]
                continue
            signs[:n] = 0
            for i in range(starts[f], starts[f + 1]):
                column = columns[members[i]]
                for row in range(n):
                    signs[row] |= column[row]
            for row in range(n):
                if signs[row] < 0:
                    incomplete[f] += weights[start + row]
                else:
                    own[np.uint32(cells[row])] += weights[start + row]

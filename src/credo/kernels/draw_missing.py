"""The compiled loops that draw missing values: the programs of `elimination.py` forward, and splits of rows backward.

Backward, a bucket is given how many of the n rows of an evaluation have each state of its separator. It splits them
over the cells c that agree with s, with chances T(c) / m(s), and passes on what its inputs need: families get counts,
buckets below how many rows have each state of theirs. So n rows cost one sum forward, whatever n is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.elimination import forward, opened
from credo.kernels.elimination_plan import HEAD, INPUT
from credo.kernels.polytope_moves import uniform

jit = compiled(error_model="numpy")


@jit
def _pass_on(  # pragma: no cover
    program: Any, at: int, families: int, inputs: int, cells: Any, first_cell: int, maps: Any, kept: int, cell: int,
    below: Any, counts: Any,
) -> None:  # fmt: skip
    """Let the inputs of a bucket count a row that has this cell of it."""
    for i in range(inputs):
        m0 = program[at + 1] if program[at + 1] >= 0 else kept - 1 - program[at + 1]
        read = np.int64(maps[m0 + cell])
        if i < families:
            counts[cells[first_cell + program[at]] + read] += 1
        else:
            below[program[at] + read] += 1
        at += INPUT


@jit
def _split(  # pragma: no cover
    program: Any, buckets: int, heads: Any, cells: Any, first_cell: int, weight: int, maps: Any, kept: int, tables: Any,
    below: Any, counts: Any, generator: Any,
) -> None:  # fmt: skip
    """Split the rows of one evaluation over the cells of every bucket, the last bucket first."""
    for b in range(buckets - 1, -1, -1):
        at = heads[b]
        block, separator, is_root = program[at], program[at + 2], program[at + 3]
        families, inputs = program[at + 4], program[at + 4] + program[at + 5]
        t0, s0 = program[at + 6], program[at + 7]
        for s in range(separator):
            rows = weight if is_root else below[s0 + s]
            if not is_root:
                below[s0 + s] = 0  # for the next evaluation
            if rows == 0:
                continue
            total = 0.0
            for c in range(block):
                total += tables[t0 + s * block + c]
            for _ in range(rows):
                rest, chosen, last = uniform(generator) * total, np.int64(-1), np.int64(0)
                for c in range(block):
                    share = tables[t0 + s * block + c]
                    if share > 0.0:
                        last = c
                        rest -= share
                        if rest <= 0.0:
                            chosen = c
                            break
                if chosen < 0:
                    chosen = last  # rounding
                _pass_on(
                    program, at + HEAD, families, inputs, cells, first_cell, maps, kept, s * block + chosen, below,
                    counts,
                )  # fmt: skip


@jit
def draw_missing(  # pragma: no cover
    component: Any,  # (evaluations,)
    cells: Any,
    cell_starts: Any,  # (evaluations + 1,)
    weights: Any,  # (evaluations,) whole numbers; where zero, nothing is drawn
    program: Any,
    program_starts: Any,
    maps: Any,  # those that are kept, and room for those of one component that are not
    kept: int,
    shapes: Any,
    shape_starts: Any,
    theta: Any,  # all CPTs
    tables: Any,  # scratch
    messages: Any,  # scratch
    below: Any,  # scratch, all zero
    counts: Any,  # out: what was drawn is added
    generator: Any,
) -> int:
    """Draw the missing values of all evaluations; the first evaluation of probability zero (-1: none)."""
    heads = np.empty(64, dtype=np.int64)
    plan, start, buckets = np.int64(-1), np.int64(0), np.int64(0)
    for e in range(len(component)):
        if weights[e] == 0.0:
            continue
        if component[e] != plan:
            plan = component[e]
            start = program_starts[plan]
            buckets = np.int64(program[start])
            heads = opened(program, start, maps, kept, shapes, shape_starts, heads)
        z = 0.0
        for attempt in range(2):  # the second time carefully
            _, z = forward(program, start, cells, cell_starts[e], theta, maps, kept, tables, messages, attempt == 1)
            if z > 0.0:
                break
        if z == 0.0:
            return e
        _split(
            program, buckets, heads, cells, cell_starts[e], np.int64(round(weights[e])), maps, kept, tables, below,
            counts, generator,
        )  # fmt: skip
    return -1

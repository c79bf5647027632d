"""Blocks with more rows than the knowledge gave them: intervals from data, tangents of curves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints

NO_STATEMENT = -1


def with_rows(
    block: Block,
    rows: Indices,
    columns: Indices,
    coefficients: Numbers,
    bounds: Numbers,
    confidences: Numbers | None = None,
) -> Block:
    """The block with inequalities added: entry k puts coefficients[k] at parameter columns[k] of row rows[k].

    `rows` counts from 0 and ascends. The new rows are hard where `confidences` are NaN or left out.
    """
    linear, count = block.linear, len(bounds)
    lengths = np.bincount(rows, minlength=count)
    added = LinearConstraints(
        np.concatenate((linear.starts, linear.starts[-1] + np.cumsum(lengths))),
        np.concatenate((linear.indices, columns)),
        np.concatenate((linear.coefficients, coefficients)),
        np.concatenate((linear.bounds, bounds)),
        np.concatenate((linear.statements, np.full(count, NO_STATEMENT))),
        np.concatenate((linear.equality, np.zeros(count, dtype=np.bool_))),
        np.concatenate((linear.confidences, np.full(count, np.nan) if confidences is None else confidences)),
    )
    return replace(
        block, linear=added, constraint_numbers=np.concatenate((block.constraint_numbers, np.full(count, -1)))
    )

"""Blocks that are alike: the same system in local numbers, so that one answer serves them all.

`p0 raises y` with eight more parents makes 65,536 blocks that differ in nothing but the rows of tables they speak of.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credo.arrays import Indices
from credo.constraints.blocks import Block


def shape_of(block: Block) -> tuple[bytes, ...]:
    """What two blocks have in common exactly where they are the same system, whatever tables and statements it is of.

    Statements count by their rank among the block's own, since a smallest conflict prefers those that came first.
    """
    linear = block.linear
    parts = (
        block.distributions,
        linear.starts,
        linear.indices,
        linear.coefficients,
        linear.bounds,
        linear.equality,
        linear.confidences,
    )
    statements = _ranks(block, linear.statements)
    products = [
        (row.indices, row.exponents, row.log_bound, row.confidence, block.statements.index(row.statement))
        for row in block.products
    ]
    return (*(part.tobytes() for part in parts), statements.tobytes(), repr(products).encode())


def anonymous(block: Block) -> Block:
    """The block with local numbers for parameters, and with ranks for statements: what all of its shape share."""
    return replace(
        block,
        parameters=np.arange(block.size, dtype=np.int64),
        linear=replace(block.linear, statements=_ranks(block, block.linear.statements)),
        products=tuple(replace(row, statement=block.statements.index(row.statement)) for row in block.products),
    )


def _ranks(block: Block, statements: Indices) -> Indices:
    if len(statements) and (statements == statements[0]).all() and not block.products:
        return np.zeros(len(statements), dtype=np.int64)  # the common case, and the quick one
    return np.searchsorted(block.statements, statements).astype(np.int64)

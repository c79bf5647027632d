"""All statements as penalties in one block: what [liao, eq. 5] adds to the likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints, ProductConstraint
from credo.errors import OptionError
from credo.estimation.problem import Problem

FULL_CONFIDENCE = 1.0  # λ of a statement that carries none
# W where none is given, for each row of data. A unit of squared violation is then paid for like what ten rows for
# every row of data say: a statement without a confidence yields to data only where those contradict it clearly.
WEIGHT_A_ROW = 10.0
RANGE_WEIGHT, RELATION_WEIGHT = "range_weight", "relation_weight"  # options that replace W


@dataclass(frozen=True, slots=True)
class PenaltyWeights:
    """w₁ of ranges, which bound one number, and w₂ of relations, which compare several."""

    ranges: float
    relations: float

    @classmethod
    def of(cls, problem: Problem) -> PenaltyWeights:
        """The options `range_weight` and `relation_weight`; W for both where they are not given."""
        both = default_weight(problem) if problem.soft_weight is None else problem.soft_weight
        given = [problem.options.get(name, both) for name in (RANGE_WEIGHT, RELATION_WEIGHT)]
        for name, value in zip(("soft_weight", RANGE_WEIGHT, RELATION_WEIGHT), (both, *given), strict=True):
            if not (isinstance(value, int | float) and np.isfinite(value) and value >= 0):
                raise OptionError(f"{name} is a number that is not negative; it is {value}.")
        return cls(*(float(str(value)) for value in given))


def default_weight(problem: Problem) -> float:
    """W that grows with the data, so that more of them do not make the same statement count for less."""
    return WEIGHT_A_ROW * max(1, problem.counts.rows)


def softened(problem: Problem, weights: PenaltyWeights) -> Block:
    """All blocks as one with soft rows only: (1/2)·confidence·violation², the confidence being λ·w.

    Rows that weigh nothing are left out.
    """
    block = joined(problem.blocks)
    linear = block.linear
    own = np.where(linear.hard, FULL_CONFIDENCE, linear.confidences)
    own *= np.where(linear.lengths == 1, weights.ranges, weights.relations)
    kept = own > 0
    products = tuple(_soft_product(row, weights.relations) for row in block.products) if weights.relations else ()
    return replace(
        block,
        linear=replace(linear, confidences=own).take(kept),
        constraint_numbers=block.constraint_numbers[kept],
        products=products,
    )


def joined(blocks: Sequence[Block]) -> Block:
    """Blocks side by side as one: one gradient for all of them takes little longer than that of the largest."""
    firsts = np.cumsum([0, *(block.size for block in blocks)])[:-1].tolist()
    rows = [block.linear for block in blocks]
    sizes = [np.diff(block.distributions) for block in blocks]
    return Block(
        tuple(each for block in blocks for each in block.configurations),
        _whole([block.parameters for block in blocks]),
        np.concatenate(([0], np.cumsum(_whole(sizes)))).astype(np.int64),
        np.repeat(np.arange(sum(map(len, sizes))), _whole(sizes)),
        LinearConstraints(
            np.concatenate(([0], np.cumsum(_whole([each.lengths for each in rows])))).astype(np.int64),
            _whole([each.indices + first for each, first in zip(rows, firsts, strict=True)]),
            _numbers([each.coefficients for each in rows]),
            _numbers([each.bounds for each in rows]),
            _whole([each.statements for each in rows]),
            np.concatenate([np.zeros(0, dtype=np.bool_), *(each.equality for each in rows)]),
            _numbers([each.confidences for each in rows]),
        ),
        _whole([block.constraint_numbers for block in blocks]),
        tuple(
            replace(row, indices=tuple(index + first for index in row.indices))
            for block, first in zip(blocks, firsts, strict=True)
            for row in block.products
        ),
    )


def _soft_product(row: ProductConstraint, weight: float) -> ProductConstraint:
    own = FULL_CONFIDENCE if row.confidence is None else row.confidence
    return replace(row, confidence=own * weight)


def _whole(parts: Sequence[Indices]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _numbers(parts: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0), *parts])

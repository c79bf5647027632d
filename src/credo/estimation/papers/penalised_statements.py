"""Every statement as a penalty with a weight of its own: the blocks of cem, and of what else is asked of its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import ProductConstraint, joined
from credo.estimation.problem import Problem
from credo.types import Indices

FULL_CONFIDENCE = 1.0  # λ of a statement without a confidence
# W for each row of data, where none is given. A unit of squared violation then costs as much as ten rows for every row
# of data say: a statement without a confidence yields to data only where those contradict it clearly.
WEIGHT_PER_ROW = 10.0


@dataclass(frozen=True, slots=True)
class PenaltyWeights:
    """w₁ of ranges, which bound one parameter, and w₂ of relations, which compare several [liao, eq. 5]."""

    ranges: float
    relations: float

    @classmethod
    def of(cls, problem: Problem) -> PenaltyWeights:
        """The user's weights; where they are not given, W for both, which grows with the data.

        More data then do not make the same statement count for less.
        """
        if problem.settings.soft_weight is None:
            both = WEIGHT_PER_ROW * max(1, problem.data.counts.rows)
        else:
            both = problem.settings.soft_weight
        given = problem.settings.options.optimiser
        return cls(
            both if given.range_weight is None else given.range_weight,
            both if given.relation_weight is None else given.relation_weight,
        )


def soft_block(problem: Problem, weights: PenaltyWeights) -> Block:
    """All blocks as one with soft constraints only."""
    return softened(joined_block(problem.model.blocks), weights)


def softened_problem(problem: Problem) -> Problem:
    """The problem with soft constraints only, all with their weights: what cem solves, for what else is asked of it."""
    weights = PenaltyWeights.of(problem)
    blocks = tuple(softened(block, weights) for block in problem.model.blocks)
    return problem.with_model(blocks=blocks).with_settings(soft_weight=1.0)


def softened(block: Block, weights: PenaltyWeights) -> Block:
    """The block with soft constraints only: (1/2)·confidence·violation², the confidence being λ·w.

    Constraints that weigh nothing are left out.
    """
    linear = block.linear
    confidences = np.where(linear.hard, FULL_CONFIDENCE, linear.confidences)
    confidences *= np.where(linear.lengths == 1, weights.ranges, weights.relations)
    products = tuple(_soft_product(each, weights.relations) for each in block.products) if weights.relations else ()
    whole = replace(block, linear=replace(linear, confidences=confidences), products=products)
    return whole.take(confidences > 0)


def joined_block(blocks: Sequence[Block]) -> Block:
    """Blocks side by side as one: one gradient for all of them takes little longer than that of the largest."""
    firsts = np.cumsum([0, *(block.size for block in blocks)])[:-1].tolist()
    sizes = [np.diff(block.distributions) for block in blocks]
    return Block(
        tuple(each for block in blocks for each in block.configurations),
        _joined_indices([block.parameters for block in blocks]),
        np.concatenate(([0], np.cumsum(_joined_indices(sizes)))).astype(np.int64),
        np.repeat(np.arange(sum(map(len, sizes))), _joined_indices(sizes)),
        joined([block.linear for block in blocks], firsts),
        _joined_indices([block.constraint_numbers for block in blocks]),
        tuple(
            replace(each, indices=tuple(index + first for index in each.indices))
            for block, first in zip(blocks, firsts, strict=True)
            for each in block.products
        ),
    )


def _soft_product(product: ProductConstraint, weight: float) -> ProductConstraint:
    confidence = FULL_CONFIDENCE if product.confidence is None else product.confidence
    return replace(product, confidence=confidence * weight)


def _joined_indices(parts: Sequence[Indices]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

"""Did the knowledge help? How well each observation is foretold by all the others, with the knowledge and without.

Families of complete data are counts, and an observation less is one count less: each cell that was seen is taken down
by one, its block solved again, and the probability of the cell there is how well the others foretell it
[leave-one-out]. Pseudo-counts are those of the fit, so that nothing is impossible without the knowledge either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.rows import Numbers
from credo.estimators.problem import Problem
from credo.estimators.soft import DEFAULT
from credo.estimators.solvers.block_estimates import BlockEstimate, estimate_blocks

LEAST = 1e-12  # a probability below this counts as this
SMOOTHING = 0.5  # pseudo-counts a cell, for both sides, where the fit has no prior
MOST_CELLS = 20_000  # cells that are taken down one by one


@dataclass(frozen=True, slots=True)
class BlockScore:
    """A block's rows foretold with its statements and without, in nats of all observations together."""

    table_rows: tuple[tuple[str, int], ...]
    statements: tuple[int, ...]
    with_knowledge: float
    without: float

    @property
    def gain(self) -> float:
        """What the statements of the block are worth."""
        return self.with_knowledge - self.without


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The scores of all rows that the knowledge speaks of; the others are the same with it and without."""

    blocks: tuple[BlockScore, ...]
    observations: float

    @property
    def gain(self) -> float:
        """What the knowledge is worth in all, in nats: positive where it helped."""
        return sum(each.gain for each in self.blocks)


def leave_one_out(problem: Problem) -> HeldOut | None:
    """The score of complete data; None where there are too many cells to take down."""
    counts = problem.vector(with_prior=False)
    prior = problem.vector() - counts
    if not prior.any():
        prior = np.full_like(counts, SMOOTHING)
    weight = DEFAULT if problem.soft_weight is None else problem.soft_weight
    cells = [
        (k, cell)
        for k, block in enumerate(problem.blocks)
        for cell in np.flatnonzero(counts[block.parameters]).tolist()
    ]
    if len(cells) > MOST_CELLS:
        return None
    weights = [_less_one(problem.blocks[k], counts, cell) + prior[problem.blocks[k].parameters] for k, cell in cells]
    estimates = _solved([problem.blocks[k] for k, _ in cells], weights, weight)
    told, untold = np.zeros(len(problem.blocks)), np.zeros(len(problem.blocks))
    for (k, cell), own, estimate in zip(cells, weights, estimates, strict=True):
        block = problem.blocks[k]
        seen = counts[block.parameters][cell]
        told[k] += seen * np.log(max(LEAST, estimate.theta[cell]))
        d = block.distribution_of[cell]
        row = own[block.distributions[d] : block.distributions[d + 1]]
        untold[k] += seen * np.log(max(LEAST, own[cell] / row.sum()))
    scores = [
        BlockScore(block.table_rows, block.statements, float(told[k]), float(untold[k]))
        for k, block in enumerate(problem.blocks)
    ]
    return HeldOut(tuple(scores), float(problem.counts.total))


def _less_one(block: Block, counts: Numbers, cell: int) -> Numbers:
    own = counts[block.parameters].copy()
    own[cell] -= min(1.0, own[cell])
    return own


def _solved(blocks: list[Block], weights: list[Numbers], soft_weight: float) -> list[BlockEstimate]:
    """Each block with weights of its own: their parameters are renumbered one block after the other."""
    moved, start = [], 0
    for block in blocks:
        moved.append(replace(block, parameters=np.arange(start, start + block.size)))
        start += block.size
    return estimate_blocks(moved, np.concatenate([np.zeros(0), *weights]), soft_weight)

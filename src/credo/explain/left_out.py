"""What would have been learned without a statement: only the blocks that it stands in are solved again.

Whatever the method, this is told at the most probable tables under the knowledge (cmap with the fit's own prior): there
the effect of one statement is exact, and thousands of blocks are solved in one call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block
from credo.estimation.constrained import without_pinned_prior
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT as DEFAULT
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.estimation.solvers.products import with_products

LEAST_MOVE = 1e-4  # below this a number did not move


@dataclass(frozen=True, slots=True)
class Moved:
    """How far leaving out a statement moves one row of a table: the largest change of one of its numbers."""

    variable: str
    row: int
    amount: float


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a statement did: the rows that it moved, the most moved first, and what it cost the data."""

    rows: tuple[Moved, ...]
    log_likelihood: float  # that the data would gain without it, at the most probable tables

    @property
    def most(self) -> float:
        """The largest move of a number."""
        return self.rows[0].amount if self.rows else 0.0


def leave_out(problem: Problem) -> dict[int, LeftOut]:
    """For each statement that has rows in blocks, the result without it."""
    vector, data = problem.vector(), problem.vector(with_prior=False)
    weight = DEFAULT if problem.soft_weight is None else problem.soft_weight

    def solved(blocks: Sequence[Block]) -> list[BlockEstimate]:
        estimates = without_pinned_prior(problem, vector, estimate_blocks(blocks, vector, weight), weight)
        return with_products(estimates, problem.seed)

    with_all = solved(problem.blocks)
    tasks = [(number, k) for k, block in enumerate(problem.blocks) for number in block.statements]
    others = solved([without(problem.blocks[k], number) for number, k in tasks])
    moved: dict[int, list[Moved]] = {}
    gains: dict[int, float] = {}
    for (number, k), other in zip(tasks, others, strict=True):
        moved.setdefault(number, []).extend(_moves(with_all[k], other))
        gains[number] = gains.get(number, 0.0) + _gain(problem.blocks[k], data, with_all[k].theta, other.theta)
    return {
        number: LeftOut(tuple(sorted(rows, key=lambda each: -each.amount)), gains[number])
        for number, rows in moved.items()
    }


def by_row(effects: Mapping[int, LeftOut]) -> dict[tuple[str, int], list[tuple[int, float]]]:
    """The statements that moved each row of a table, with how far, the farthest first."""
    found: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for number, effect in effects.items():
        for each in effect.rows:
            found.setdefault((each.variable, each.row), []).append((number, each.amount))
    return {row: sorted(statements, key=lambda each: -each[1]) for row, statements in found.items()}


def without(block: Block, number: int) -> Block:
    """The block without the rows of one statement."""
    kept = block.linear.statements != number
    return replace(
        block,
        linear=block.linear.take(kept),
        constraint_numbers=block.constraint_numbers[kept],
        products=tuple(row for row in block.products if row.statement != number),
    )


def _moves(one: BlockEstimate, other: BlockEstimate) -> Sequence[Moved]:
    far = np.maximum.reduceat(np.abs(one.theta - other.theta), one.block.distributions[:-1])
    return [Moved(*one.block.configurations[d], float(far[d])) for d in np.flatnonzero(far > LEAST_MOVE)]


def _gain(block: Block, data: Numbers, theta: Numbers, other: Numbers) -> float:
    counts = data[block.parameters]
    seen = counts > 0
    with np.errstate(divide="ignore"):
        return float(counts[seen] @ (np.log(other[seen]) - np.log(theta[seen])))

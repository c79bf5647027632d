"""What a statement does to a mean: draws from what the data alone say, kept where statements hold.

Of draws from Dirichlet(counts + 1), counts with the pseudo-counts of a prior, those in which every statement of a
block holds have the mean that data and knowledge leave; those in which every statement but one holds, the mean without
that one. So one set of draws tells of all statements of a block at once, wherever enough of them are kept; a few draws
tell first whether there will be.
"""

from __future__ import annotations

import numpy as np

from credo.arrays import Flags, Indices, Numbers
from credo.constraints.blocks import Block
from credo.estimation.problem import Problem
from credo.explain.left_out import Moved
from credo.explain.plausibility import dirichlet

DRAWS = 20_000
FIRST = 500  # draws that tell whether more are worth it
CELLS = 4_000_000  # of draws and rows that are held at a time
ENOUGH = 200  # draws that a mean takes at least
LEAST_MOVE = 0.01  # below this a move may be chance, and matters to nobody
HOLDS = 1e-12
EQUAL = 0.01  # equalities have probability zero: they are read as equal within this


def moves_of_means(problem: Problem) -> dict[int, list[Moved]]:
    """For each hard statement of a block with enough draws, the rows whose mean it moves; others are left out."""
    data = problem.vector()
    found: dict[int, list[Moved]] = {}
    silent: set[int] = set()  # statements with a block that has too few draws
    for block in problem.blocks:
        told = _one_block(block, data[block.parameters], problem.seed)
        for number in block.statements:
            if number in told:
                found.setdefault(number, []).extend(told[number])
            else:
                silent.add(number)
    return {
        number: sorted(rows, key=lambda each: -each.amount) for number, rows in found.items() if number not in silent
    }


def _one_block(block: Block, counts: Numbers, seed: int) -> dict[int, list[Moved]]:
    hard = block.linear.hard
    numbers = np.unique(block.linear.statements[hard])
    if not len(numbers) or any(row.confidence is None for row in block.products):
        return {}
    draws = min(DRAWS, max(ENOUGH, CELLS // (block.size + len(block.linear))))
    rng = np.random.default_rng([seed, int(block.parameters[0])])
    theta = dirichlet(rng, block, counts + 1.0, min(FIRST, draws))
    fails = _fails(block, hard, numbers, theta)
    kept = int((~fails.any(axis=1)).sum())
    if kept / len(theta) < 0.5 * ENOUGH / draws:
        return {}
    if draws > len(theta):
        theta = np.concatenate((theta, more := dirichlet(rng, block, counts + 1.0, draws - len(theta))))
        fails = np.concatenate((fails, _fails(block, hard, numbers, more)))
    failing = fails.sum(axis=1)
    all_hold, one_fails = failing == 0, failing == 1
    count = int(all_hold.sum())
    if count < ENOUGH:
        return {}
    total = theta[all_hold].sum(axis=0)
    alone = fails[one_fails].astype(np.float64)  # (draws, statements) which one it is that fails
    without = (total + alone.T @ theta[one_fails]) / (count + alone.sum(axis=0))[:, None]  # (statements, parameters)
    far = np.maximum.reduceat(np.abs(total / count - without), block.distributions[:-1], axis=1)
    return {
        number: [Moved(*block.configurations[d], float(far[k, d])) for d in np.flatnonzero(far[k] > LEAST_MOVE)]
        for k, number in enumerate(numbers.tolist())
    }


def _fails(block: Block, hard: Flags, numbers: Indices, theta: Numbers) -> Flags:
    """(draws, statements) whether a row of a statement does not hold."""
    linear = block.linear.take(hard)
    excess = linear.matrix(block.size) @ theta.T - linear.bounds[:, None]  # (rows, draws)
    broken = np.where(linear.equality[:, None], np.abs(excess) > EQUAL, excess > HOLDS)
    order = np.argsort(linear.statements, kind="stable")
    firsts = np.searchsorted(linear.statements[order], numbers)
    return np.asarray(np.logical_or.reduceat(broken[order], firsts, axis=0).T, dtype=np.bool_)

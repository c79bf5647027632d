"""Did the knowledge help? How well observations are foretold by the others, with the knowledge and without.

Families of complete data are counts, and an observation less is one count less: each cell that was seen is taken down
by one, its block solved again, and the probability of the cell there is how well the others foretell it
[leave-one-out]. Cross-validation takes away a tenth of the observations at a time. Pseudo-counts are those of the fit,
so that nothing is impossible without the knowledge either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT as DEFAULT
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.explain.left_out import without

LEAST = 1e-12  # a probability below this counts as this
SMOOTHING = 0.5  # pseudo-counts a cell, for both sides, where the fit has no prior
MOST_CELLS = 20_000  # cells that are taken down one by one
FOLDS = 10


@dataclass(frozen=True, slots=True)
class BlockScore:
    """A block's rows foretold with its statements and without, in nats of all observations together."""

    configurations: tuple[tuple[str, int], ...]
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


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """One estimate from some of the observations, and the observations of a block that it is to foretell."""

    block: int
    training: Numbers  # (parameters,) counts and pseudo-counts
    held_out: Numbers  # (parameters,)


def leave_one_out(problem: Problem) -> HeldOut | None:
    """The score of complete data; None where there are too many cells to take down."""
    counts, prior = _counts_and_prior(problem)
    if sum(np.count_nonzero(counts[block.parameters]) for block in problem.blocks) > MOST_CELLS:
        return None
    return _scored(problem, problem.blocks, list(_one_by_one(problem.blocks, counts, prior)))


def cross_validated(problem: Problem) -> HeldOut:
    """The score in ten folds: those of the fit, or each observation of a cell in a fold at random."""
    counts, prior = _counts_and_prior(problem)
    given = [problem.vector(fold.held_out, with_prior=False) for fold in problem.folds]
    rng = np.random.default_rng([problem.seed, FOLDS])
    tasks = []
    for k, block in enumerate(problem.blocks):
        own = counts[block.parameters]
        folds = [fold[block.parameters] for fold in given] if given else _drawn_folds(own, rng)
        tasks += [_Task(k, own - fold + prior[block.parameters], fold) for fold in folds]
    return _scored(problem, problem.blocks, tasks)


def most_harmful(problem: Problem, score: BlockScore) -> tuple[int, float] | None:
    """The statement of a block without which its observations are foretold best, and what that is worth in nats.

    None where each statement does some good, or where there is too much to solve.
    """
    counts, prior = _counts_and_prior(problem)
    block = next(each for each in problem.blocks if each.configurations == score.configurations)
    cells = np.count_nonzero(counts[block.parameters])
    if len(score.statements) * cells > MOST_CELLS:
        return None
    variants = [without(block, number) for number in score.statements]
    found = _scored(problem, variants, list(_one_by_one(variants, counts, prior)))
    gains = [other.with_knowledge - score.with_knowledge for other in found.blocks]
    worst = int(np.argmax(gains))
    return (score.statements[worst], gains[worst]) if gains[worst] > 0 else None


def _counts_and_prior(problem: Problem) -> tuple[Numbers, Numbers]:
    counts = problem.vector(with_prior=False)
    prior = problem.vector() - counts
    return counts, prior if prior.any() else np.full_like(counts, SMOOTHING)


def _one_by_one(blocks: Sequence[Block], counts: Numbers, prior: Numbers) -> Iterator[_Task]:
    for k, block in enumerate(blocks):
        own = counts[block.parameters]
        for cell in np.flatnonzero(own).tolist():
            training, held_out = own + prior[block.parameters], np.zeros(block.size)
            training[cell] -= min(1.0, own[cell])
            held_out[cell] = own[cell]
            yield _Task(k, training, held_out)


def _drawn_folds(counts: Numbers, rng: np.random.Generator) -> list[Numbers]:
    """Each observation of each cell in a fold at random; a part of one, where rows have weights, in a fold too."""
    whole = np.floor(counts).astype(np.int64)
    folds = rng.multinomial(whole, np.full(FOLDS, 1 / FOLDS)).astype(np.float64)  # (parameters, folds)
    folds[np.arange(len(counts)), rng.integers(FOLDS, size=len(counts))] += counts - whole
    return list(folds.T)


def _scored(problem: Problem, blocks: Sequence[Block], tasks: Sequence[_Task]) -> HeldOut:
    weight = DEFAULT if problem.soft_weight is None else problem.soft_weight
    tasks = [task for task in tasks if task.held_out.any()]
    estimates = _solved([blocks[task.block] for task in tasks], [task.training for task in tasks], weight)
    told, untold = np.zeros(len(blocks)), np.zeros(len(blocks))
    for task, estimate in zip(tasks, estimates, strict=True):
        block = blocks[task.block]
        sums = np.add.reduceat(task.training, block.distributions[:-1])[block.distribution_of]
        plain = np.divide(task.training, sums, out=np.zeros(block.size), where=sums > 0)
        told[task.block] += task.held_out @ np.log(np.maximum(estimate.theta, LEAST))
        untold[task.block] += task.held_out @ np.log(np.maximum(plain, LEAST))
    scores = [
        BlockScore(block.configurations, block.statements, float(told[k]), float(untold[k]))
        for k, block in enumerate(blocks)
    ]
    return HeldOut(tuple(scores), float(problem.counts.total))


def _solved(blocks: Sequence[Block], weights: Sequence[Numbers], soft_weight: float) -> list[BlockEstimate]:
    """Each block with weights of its own: their parameters are renumbered one block after the other."""
    moved, start = [], 0
    for block in blocks:
        moved.append(replace(block, parameters=np.arange(start, start + block.size)))
        start += block.size
    return estimate_blocks(moved, np.concatenate([np.zeros(0), *weights]), soft_weight)

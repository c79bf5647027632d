"""Did the knowledge help? How well observations are predicted from the others, with the knowledge and without.

For complete data a family is its counts, and an observation less is one count less: each cell that was observed is
reduced by one, its block is solved again, and the probability of the cell there says how well the others predict it
[leave-one-out]. Cross-validation leaves out a tenth of the observations at a time. Pseudo-counts are those of the fit,
so that nothing is impossible without the knowledge either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.explain.statement_effects import without_statement
from credo.tolerances import FOLDS
from credo.types import Numbers

LEAST_PROBABILITY = 1e-12  # a probability below this counts as this
SMOOTHING = 0.5  # pseudo-counts a cell, for both sides, where the fit has no prior
MAX_CELLS = 20_000  # cells that are reduced one by one


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """The log-likelihood of one block's held-out observations, with its statements and without.

    Attributes
    ----------
    configurations
        The conditional distributions of the block: a variable and the number of its parents' configuration.
    statements
        The numbers of the statements that connect them.
    with_knowledge, without_knowledge
        The log-likelihood of all held-out observations together.
    """

    configurations: tuple[tuple[str, int], ...]
    statements: tuple[int, ...]
    with_knowledge: float
    without_knowledge: float

    @property
    def gain(self) -> float:
        """What the statements of the block add to the log-likelihood."""
        return self.with_knowledge - self.without_knowledge


@dataclass(frozen=True, slots=True)
class HeldOutComparison:
    """Predictions with the knowledge and without, for all distributions that the knowledge is about.

    Attributes
    ----------
    scores
        One for each block; all other distributions are the same with the knowledge and without.
    observations
        How many observations the data have.
    """

    scores: tuple[HeldOutScore, ...]
    observations: float

    @property
    def gain(self) -> float:
        """What the knowledge adds to the log-likelihood of held-out observations: positive where it helped."""
        return sum(score.gain for score in self.scores)


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """One estimate from some of the observations, and the observations of a block that it is to predict."""

    block: int
    training: Numbers  # (parameters,) counts and pseudo-counts
    held_out: Numbers  # (parameters,)


def leave_one_out(problem: Problem) -> HeldOutComparison | None:
    """The comparison for complete data; None where there are too many cells to reduce."""
    counts, prior = _counts_and_prior(problem)
    if sum(np.count_nonzero(counts[block.parameters]) for block in problem.model.blocks) > MAX_CELLS:
        return None
    return _compare(problem, problem.model.blocks, list(_one_by_one(problem.model.blocks, counts, prior)))


def cross_validate(problem: Problem) -> HeldOutComparison:
    """The comparison in ten folds: those of the fit, or each observation of a cell in a random fold."""
    counts, prior = _counts_and_prior(problem)
    given = [problem.vector(fold.held_out, with_prior=False) for fold in problem.data.folds]
    rng = np.random.default_rng([problem.settings.seed, FOLDS])
    if not given:
        inside = np.concatenate([np.zeros(0, np.int64), *(block.parameters for block in problem.model.blocks)])
        given = [np.zeros(len(counts)) for _ in range(FOLDS)]
        for fold, drawn in zip(given, random_folds(counts[inside], rng), strict=True):
            fold[inside] = drawn
    tasks = []
    for k, block in enumerate(problem.model.blocks):
        own = counts[block.parameters]
        if own.any():
            before = own + prior[block.parameters]
            folds = [fold[block.parameters] for fold in given]
            tasks += [_Task(k, before - fold, fold) for fold in folds]
    return _compare(problem, problem.model.blocks, tasks)


def most_harmful_statement(problem: Problem, score: HeldOutScore) -> tuple[int, float] | None:
    """The statement of a block without which its observations are predicted best, and the gain in log-likelihood.

    None where leaving out no statement improves the predictions, or where there is too much to solve.
    """
    counts, prior = _counts_and_prior(problem)
    block = next(block for block in problem.model.blocks if block.configurations == score.configurations)
    cells = np.count_nonzero(counts[block.parameters])
    if not score.statements or len(score.statements) * cells > MAX_CELLS:
        return None
    variants = [without_statement(block, number) for number in score.statements]
    found = _compare(problem, variants, list(_one_by_one(variants, counts, prior)))
    gains = [other.with_knowledge - score.with_knowledge for other in found.scores]
    worst = int(np.argmax(gains))
    return (score.statements[worst], gains[worst]) if gains[worst] > 0 else None


def random_folds(counts: Numbers, rng: np.random.Generator) -> list[Numbers]:
    """Each observation of each cell in a random fold; where rows have weights, the fractional part in one too."""
    whole = np.floor(counts).astype(np.int64)
    folds = rng.multinomial(whole, np.full(FOLDS, 1 / FOLDS)).astype(np.float64)  # (parameters, folds)
    folds[np.arange(len(counts)), rng.integers(FOLDS, size=len(counts))] += counts - whole
    return list(folds.T)


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


def _compare(problem: Problem, blocks: Sequence[Block], tasks: Sequence[_Task]) -> HeldOutComparison:
    weight = DEFAULT_WEIGHT if problem.settings.soft_weight is None else problem.settings.soft_weight
    tasks = [task for task in tasks if task.held_out.any()]
    estimates = _solve_each([blocks[task.block] for task in tasks], [task.training for task in tasks], weight)
    with_knowledge, without_knowledge = np.zeros(len(blocks)), np.zeros(len(blocks))
    for task, estimate in zip(tasks, estimates, strict=True):
        block = blocks[task.block]
        sums = block.totals(task.training)
        relative = np.divide(task.training, sums, out=np.zeros(block.size), where=sums > 0)
        with_knowledge[task.block] += task.held_out @ np.log(np.maximum(estimate.theta, LEAST_PROBABILITY))
        without_knowledge[task.block] += task.held_out @ np.log(np.maximum(relative, LEAST_PROBABILITY))
    scores = [
        HeldOutScore(block.configurations, block.statements, float(with_knowledge[k]), float(without_knowledge[k]))
        for k, block in enumerate(blocks)
    ]
    return HeldOutComparison(tuple(scores), float(problem.data.counts.total))


def _solve_each(blocks: Sequence[Block], weights: Sequence[Numbers], soft_weight: float) -> list[BlockEstimate]:
    """Each block with weights of its own: their parameters are renumbered one block after the other."""
    renumbered, start = [], 0
    for block in blocks:
        renumbered.append(replace(block, parameters=np.arange(start, start + block.size)))
        start += block.size
    return estimate_blocks(renumbered, np.concatenate([np.zeros(0), *weights]), soft_weight)

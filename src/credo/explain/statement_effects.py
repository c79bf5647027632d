"""What a statement changed: the result without it, compared with the result.

For an optimum, only the blocks that a statement is part of are solved again without it, all in one call, at the most
probable CPTs under the knowledge (cmap with the fit's own prior), whatever the method.

For a posterior mean, draws from Dirichlet(counts + 1) are kept where statements hold: those where every statement of a
block holds have the mean under data and knowledge, those where every statement but one holds the mean without that one.
So one set of draws serves all statements of a block, wherever enough of them are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block, stacked
from credo.constraints.constraint_set import NO_CONSTRAINTS
from credo.constraints.feasibility import NONE
from credo.estimation.constrained import multipliers_by_statement, optimum, without_pinned_prior
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks, solve_certified
from credo.estimation.solvers.certificate import Certificate
from credo.estimation.solvers.products import with_products
from credo.estimation.solvers.tasks import Task
from credo.explain.plausibility import dirichlet_draws
from credo.types import Flags, Indices, Numbers

LEAST_CHANGE = 1e-4  # of an optimum; below it a probability did not change
LEAST_CHANGE_OF_MEAN = 0.01  # below it a change may be sampling error, and matters to nobody
DRAWS = 20_000
FIRST_DRAWS = 500  # that show whether enough of them will be kept
MAX_CELLS = 4_000_000  # of draws and constraints that are held at a time
ENOUGH_DRAWS = 200  # for a mean
TOLERANCE = 1e-12
EQUALITY_TOLERANCE = 0.01  # equalities have probability zero: they are read as equal within this


@dataclass(frozen=True, slots=True)
class Change:
    """The largest change of a probability in one conditional distribution if a statement is left out."""

    variable: str
    index: int  # of the parents' configuration
    amount: float


@dataclass(frozen=True, slots=True)
class StatementEffect:
    """What a statement changed, the largest change first, and what it costs the data in log-likelihood."""

    changes: tuple[Change, ...]
    log_likelihood_gain: float  # of the data without it, at the most probable CPTs

    @property
    def largest(self) -> float:
        """The largest change of a probability."""
        return self.changes[0].amount if self.changes else 0.0


def effects_of_statements(problem: Problem, *, of_mean: bool = False) -> dict[int, StatementEffect]:
    """The effect of each statement that constrains a block; on the posterior mean where that is asked for."""
    effects = effects_on_optimum(problem)
    if of_mean:
        changes = changes_of_means(problem)
        effects |= {number: replace(effects[number], changes=tuple(own)) for number, own in changes.items()}
    return effects


def effects_by_configuration(
    effects: Mapping[int, StatementEffect],
) -> dict[tuple[str, int], list[tuple[int, float]]]:
    """The statements that changed each conditional distribution, with how much, the largest change first."""
    found: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for number, effect in effects.items():
        for change in effect.changes:
            found.setdefault((change.variable, change.index), []).append((number, change.amount))
    return {place: sorted(statements, key=lambda each: -each[1]) for place, statements in found.items()}


def effects_on_optimum(problem: Problem) -> dict[int, StatementEffect]:
    """The effect of each statement on the most probable CPTs."""
    vector, data = problem.vector(), problem.vector(with_prior=False)
    weight = DEFAULT_WEIGHT if problem.soft_weight is None else problem.soft_weight

    def solve(blocks: Sequence[Block]) -> list[BlockEstimate]:
        estimates = without_pinned_prior(problem, vector, estimate_blocks(blocks, vector, weight), weight)
        return with_products(estimates, problem.seed)

    if problem.constraints.general:
        return _effects_with_general(problem, vector, data, weight)
    with_all = solve(problem.blocks)
    tasks = [(number, k) for k, block in enumerate(problem.blocks) for number in block.statements]
    without_one = solve([without_statement(problem.blocks[k], number) for number, k in tasks])
    return _compared(problem.blocks, tasks, with_all, without_one, data)


def _effects_with_general(
    problem: Problem, vector: Numbers, data: Numbers, weight: float
) -> dict[int, StatementEffect]:
    """The same where statements about any probability of the network join blocks, with their tangents at the optimum.

    Only statements with a multiplier change an optimum. One about a CPT is left out of its own block, in which the
    tangents of general statements keep their multipliers λ as costs Σ λ·∇g·θ; a general one of all that it joins.
    """
    found = optimum(problem, vector, weight)
    multipliers = multipliers_by_statement(found.estimates, problem.counts.total)
    general = set(problem.constraints.general_statements)
    costs = np.zeros(problem.layout.size)
    for each in found.estimates:
        linear = each.block.linear
        binding = np.where(np.isin(linear.statements, list(general)), each.multipliers, 0.0)
        values = linear.coefficients * binding[linear.entry_constraints]
        np.add.at(costs, each.block.parameters[linear.indices], values)
    blocks: list[Block] = []
    tasks, with_all, left_out = [], [], []
    for block in problem.blocks:
        own = [number for number in block.statements if multipliers.get(number, 0.0) > 0.0]
        theta, weights = found.theta[block.parameters], vector[block.parameters]
        for number in own:
            tasks.append((number, len(blocks)))
            task = Task(without_statement(block, number), weights, None, weight, costs[block.parameters])
            left_out.append(task if weights.any() else replace(task, entropies=np.ones(block.size)))
        blocks.append(block)
        with_all.append(BlockEstimate(Task(block, weights), theta, np.zeros(0), "", Certificate(0.0, 0.0), NONE))
    for each in found.estimates:
        for number in sorted(general.intersection(each.block.statements)):
            if multipliers.get(number, 0.0) > 0.0:
                tasks.append((number, len(blocks)))
                left_out.append(replace(each.task, block=without_statement(each.block, number)))
        if general.intersection(each.block.statements):
            blocks.append(each.block)
            with_all.append(replace(each, theta=found.theta[each.block.parameters]))
    effects = _compared(blocks, tasks, with_all, solve_certified(left_out), data)
    every = {number for block in problem.blocks for number in block.statements} | general
    return {number: effects.get(number, StatementEffect((), 0.0)) for number in sorted(every)}


def _compared(
    blocks: Sequence[Block],
    tasks: Sequence[tuple[int, int]],  # a statement, and the block without it
    with_all: Sequence[BlockEstimate],  # of each block
    without_one: Sequence[BlockEstimate],  # of each task
    data: Numbers,
) -> dict[int, StatementEffect]:
    """How the blocks without a statement differ from those with all of them."""
    if not tasks:
        return {}
    changes: dict[int, list[Change]] = {number: [] for number, _ in tasks}
    gains = dict.fromkeys(changes, 0.0)
    whole = stacked([blocks[k] for _, k in tasks])
    theta = np.concatenate([with_all[k].theta for _, k in tasks])
    other = np.concatenate([each.theta for each in without_one])
    owner = np.repeat(np.arange(len(tasks)), [len(blocks[k].configurations) for _, k in tasks])
    largest = np.maximum.reduceat(np.abs(theta - other), whole.distributions[:-1])
    for d in np.flatnonzero(largest > LEAST_CHANGE).tolist():
        changes[tasks[owner[d]][0]].append(Change(*whole.configurations[d], float(largest[d])))
    counts = data[whole.parameters]
    observed = counts > 0
    with np.errstate(divide="ignore"):
        gain = counts[observed] * (np.log(other[observed]) - np.log(theta[observed]))
    by_task = np.bincount(owner[whole.distribution_of[observed]], gain, len(tasks))
    for (number, _), amount in zip(tasks, by_task.tolist(), strict=True):
        gains[number] += amount
    return {
        number: StatementEffect(tuple(sorted(own, key=lambda change: -change.amount)), gains[number])
        for number, own in changes.items()
    }


def without_statement(block: Block, number: int) -> Block:
    """The block without the constraints of one statement."""
    kept = block.linear.statements != number
    if not block.products and not kept.any():
        return replace(block, linear=NO_CONSTRAINTS, constraint_numbers=block.constraint_numbers[:0])
    return replace(
        block,
        linear=block.linear.take(kept),
        constraint_numbers=block.constraint_numbers[kept],
        products=tuple(product for product in block.products if product.statement != number),
    )


def changes_of_means(problem: Problem) -> dict[int, list[Change]]:
    """The changes of the posterior mean, for each hard statement whose blocks all keep enough draws."""
    weights = problem.vector()
    found: dict[int, list[Change]] = {}
    unknown: set[int] = set()  # statements with a block that keeps too few draws
    for block in problem.blocks:
        changes = _changes_of_block_means(block, weights[block.parameters], problem.seed)
        for number in block.statements:
            if number in changes:
                found.setdefault(number, []).extend(changes[number])
            else:
                unknown.add(number)
    return {
        number: sorted(changes, key=lambda change: -change.amount)
        for number, changes in found.items()
        if number not in unknown
    }


def _changes_of_block_means(block: Block, counts: Numbers, seed: int) -> dict[int, list[Change]]:
    hard = block.linear.hard
    numbers = np.unique(block.linear.statements[hard])
    if not len(numbers) or any(product.confidence is None for product in block.products):
        return {}
    draws = min(DRAWS, max(ENOUGH_DRAWS, MAX_CELLS // (block.size + len(block.linear))))
    rng = np.random.default_rng([seed, int(block.parameters[0])])
    theta = dirichlet_draws(rng, block, counts + 1.0, min(FIRST_DRAWS, draws))
    fails = _violated(block, hard, numbers, theta)
    kept = int((~fails.any(axis=1)).sum())
    if kept / len(theta) < 0.5 * ENOUGH_DRAWS / draws:
        return {}
    if draws > len(theta):
        theta = np.concatenate((theta, more := dirichlet_draws(rng, block, counts + 1.0, draws - len(theta))))
        fails = np.concatenate((fails, _violated(block, hard, numbers, more)))
    failures = fails.sum(axis=1)
    all_hold, one_fails = failures == 0, failures == 1
    count = int(all_hold.sum())
    if count < ENOUGH_DRAWS:
        return {}
    total = theta[all_hold].sum(axis=0)
    failing = fails[one_fails].astype(np.float64)  # (draws, statements): which one it is that fails
    means_without = (total + failing.T @ theta[one_fails]) / (count + failing.sum(axis=0))[:, None]
    largest = np.maximum.reduceat(np.abs(total / count - means_without), block.distributions[:-1], axis=1)
    return {
        number: [
            Change(*block.configurations[d], float(largest[k, d]))
            for d in np.flatnonzero(largest[k] > LEAST_CHANGE_OF_MEAN)
        ]
        for k, number in enumerate(numbers.tolist())
    }


def _violated(block: Block, hard: Flags, numbers: Indices, theta: Numbers) -> Flags:
    """(draws, statements) whether a constraint of a statement does not hold."""
    linear = block.linear.take(hard)
    excess = linear.matrix(block.size) @ theta.T - linear.bounds[:, None]  # (constraints, draws)
    violated = np.where(linear.equality[:, None], np.abs(excess) > EQUALITY_TOLERANCE, excess > TOLERANCE)
    order = np.argsort(linear.statements, kind="stable")
    firsts = np.searchsorted(linear.statements[order], numbers)
    return np.asarray(np.logical_or.reduceat(violated[order], firsts, axis=0).T, dtype=np.bool_)

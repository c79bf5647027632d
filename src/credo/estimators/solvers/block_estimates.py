"""The optimum of each block, max Σ w log θ s.t. Aθ ≤ b, by the cheapest exact solver and with its certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.feasibility import interior_of
from credo.constraints.rows import Flags, Indices, LinearRows, Numbers
from credo.errors import CredoError
from credo.estimators.solvers.certificate import Certificate, hard_violation
from credo.estimators.solvers.closed_form_kernel import BOUNDED_SUMS, BOXES, CHAIN, GENERAL, NO_ROWS, SUMS_AGAINST_SUMS
from credo.estimators.solvers.fallback import solve_with_clarabel
from credo.estimators.solvers.interior_point import Point, Task, solve_tasks
from credo.estimators.solvers.row_rounds import solve_in_rounds

# Which solver took a block, in words for findings.
SOLVERS = {
    GENERAL: "the interior point",
    NO_ROWS: "counting",
    BOXES: "one multiplier and sorted breakpoints, because its statements are ranges in one distribution",
    BOUNDED_SUMS: "Niculescu's theorem 4.2, because its statements bound disjoint sums in one distribution",
    SUMS_AGAINST_SUMS: "Niculescu's theorem 4.1, because its statements compare disjoint sums in one distribution",
    CHAIN: "pooling adjacent violators, because its statements put distributions with two states in one order",
}
CLARABEL = "Clarabel, because the interior point did not reach its certificate"


class Infeasible(CredoError):
    """A block has no point at all; whoever knows the statements says which clash."""

    exit_code = 3

    def __init__(self) -> None:
        super().__init__("The hard statements allow no distribution. See credo.check.")


@dataclass(frozen=True, slots=True, eq=False)
class BlockEstimate:
    """The estimate of one block, the price of each of its rows, and how it was found."""

    task: Task
    theta: Numbers  # (parameters,)
    multipliers: Numbers  # (rows,) log-likelihood per unit of the bound
    solver: str
    certificate: Certificate
    without_data: Indices  # distributions with no weight at all; they take the point of maximum entropy
    local: bool = False  # whether only a local optimum is certain; `certificate.gap` then bounds the distance from all
    product_violation: float = 0.0  # of a product row, in logarithms
    product_prices: tuple[tuple[int, float], ...] = ()  # statement and price per unit of the bound's logarithm

    @property
    def block(self) -> Block:
        """The block that this is about."""
        return self.task.block


def estimate_blocks(blocks: Sequence[Block], vector: Numbers, soft_weight: float) -> list[BlockEstimate]:
    """The optimum of every block for weights that stand in one vector over all parameters."""
    tasks = [_likelihood_task(block, vector[block.parameters], soft_weight) for block in blocks]
    return _most_entropic(solve_certified(tasks))


def solve_certified(tasks: Sequence[Task]) -> list[BlockEstimate]:
    """The optimum of every task under its linear rows; soft rows that weigh nothing are no rows."""
    tasks = [_without_weightless(task) for task in tasks]
    return [_certified(task, point) for task, point in zip(tasks, solve_in_rounds(tasks), strict=True)]


def _likelihood_task(block: Block, weights: Numbers, soft_weight: float) -> Task:
    """A block without any data is a matter of entropy alone."""
    return Task(block, weights, None if weights.any() else np.ones(block.size), soft_weight)


def _without_weightless(task: Task) -> Task:
    hard = task.block.linear.hard
    if task.soft_weight > 0 or hard.all():
        return task
    return replace(
        task,
        block=replace(task.block, linear=task.block.linear.take(hard), linear_rows=task.block.linear_rows[hard]),
    )


def _certified(task: Task, point: Point) -> BlockEstimate:
    """The point with its certificate; where that fails, other ways are tried, and the best of them is returned."""
    totals = np.add.reduceat(task.weights, task.block.distributions[:-1])
    unseen = np.flatnonzero(totals == 0)
    attempts = [(point, SOLVERS[point.shape])]
    if not _certificate(point).holds:
        if interior_of(task.block) is None:
            raise Infeasible
        attempts.append((solve_tasks([task], closed_forms=False)[0], SOLVERS[GENERAL]))
        other = solve_with_clarabel(task)
        if other is not None:
            attempts.append((other, CLARABEL))
    tried, solver = min(attempts, key=lambda attempt: _certificate(attempt[0]).badness)
    return BlockEstimate(task, tried.theta, tried.multipliers, solver, _certificate(tried), unseen)


def _certificate(point: Point) -> Certificate:
    return Certificate(point.violation, point.gap)


def _most_entropic(estimates: list[BlockEstimate]) -> list[BlockEstimate]:
    """Distributions without data take the point of maximum entropy among those that leave the optimum as it is."""
    some = [k for k, each in enumerate(estimates) if each.without_data.size and each.task.entropies is None]
    parts = [restricted(estimates[k].block, estimates[k].without_data, estimates[k].theta) for k in some]
    tasks = [Task(part, np.zeros(part.size), np.ones(part.size)) for part in parts]
    estimates = list(estimates)
    for k, point in zip(some, solve_in_rounds(tasks), strict=True):
        if point.converged:
            estimates[k] = _with_part(estimates[k], point.theta)
    return estimates


def _with_part(estimate: BlockEstimate, part: Numbers) -> BlockEstimate:
    """The estimate with other numbers in the distributions without data; its dual bound stays what it was.

    Their weights are zero, and soft rows of theirs were held where they are: the objective does not rise.
    """
    block, theta = estimate.block, estimate.theta.copy()
    theta[_parameters_of(block, estimate.without_data)] = part
    violation = max(estimate.certificate.violation, hard_violation(estimate.task, theta))
    certificate = replace(estimate.certificate, violation=violation)
    if estimate.certificate.holds and not certificate.holds:
        return estimate  # among the optima one point is as good as another
    return replace(estimate, theta=theta, certificate=certificate)


def restricted(block: Block, distributions: Indices, theta: Numbers) -> Block:
    """The block with all but these distributions held at θ; soft rows may stay as violated as they are."""
    linear, entry_rows = block.linear, block.linear.entry_rows
    free = _parameters_of(block, distributions)
    inside = free[linear.indices]
    parts = linear.coefficients * theta[linear.indices]
    values = np.bincount(entry_rows, parts, len(linear))
    outside = np.bincount(entry_rows, np.where(inside, 0.0, parts), len(linear))
    # Rounding may have put θ beyond a bound by a hair; what is fixed must leave room for what is free.
    reached = np.where(linear.equality, linear.bounds, np.maximum(linear.bounds, values))
    bounds: Numbers = np.asarray(reached - outside, dtype=np.float64)
    lengths = np.bincount(entry_rows[inside], minlength=len(linear))
    touched = lengths > 0
    local = np.cumsum(free) - 1
    rows = LinearRows(
        np.concatenate(([0], np.cumsum(lengths[touched]))),
        local[linear.indices[inside]],
        linear.coefficients[inside],
        bounds[touched],
        linear.statements[touched],
        linear.equality[touched],
        np.full(int(touched.sum()), np.nan),
    )
    sizes = np.diff(block.distributions)[distributions]
    return Block(
        tuple(block.table_rows[d] for d in distributions),
        block.parameters[free],
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        np.repeat(np.arange(len(sizes)), sizes),
        rows,
        block.linear_rows[touched],
    )


def _parameters_of(block: Block, distributions: Indices) -> Flags:
    """Which parameters belong to these distributions."""
    inside = np.zeros(len(block.distributions) - 1, dtype=np.bool_)
    inside[distributions] = True
    return np.asarray(inside[block.distribution_of])

"""The optimum of each block, max Σ w log θ s.t. Aθ ≤ b, by the cheapest exact solver and with its certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from credo.constraints.blocks import Block, starts_of
from credo.constraints.constraint_set import LinearConstraints
from credo.constraints.feasibility import NONE, InfeasibleError, interior_of
from credo.core.block_program import VIOLATION_LIMIT, restrict
from credo.core.closed_forms import BOUNDED_SUMS, CHAIN, GENERAL, NO_CONSTRAINTS, RANGES, SUMS_AGAINST_SUMS
from credo.estimation.solvers.block_solver import (
    MERGED_STATES,
    Point,
    Task,
    idle_solver,
    merged_tasks,
    solve_tasks,
    widest_of,
)
from credo.estimation.solvers.certificate import Certificate, certify, hard_violation
from credo.estimation.solvers.clarabel import solve_with_clarabel
from credo.types import Flags, Indices, Numbers

# Which solver took a block, in words for findings.
SOLVERS = {
    GENERAL: "an interior-point method",
    NO_CONSTRAINTS: "counting",
    RANGES: "a closed form, because its statements are ranges in one distribution",
    BOUNDED_SUMS: "a closed form (Niculescu's theorem 4.2), because its statements bound disjoint sums",
    SUMS_AGAINST_SUMS: "a closed form (Niculescu's theorem 4.1), because its statements compare disjoint sums",
    CHAIN: "pooling adjacent violators, because its statements put distributions with two states in one order",
}
NO_NUMBERS = np.zeros(0)
CLARABEL = "Clarabel, because credo's own interior-point method could not prove its result optimal"


class BlockEstimate(NamedTuple):
    """The estimate of one block, the multiplier of each of its constraints, and how it was found."""

    task: Task
    theta: Numbers  # (parameters,)
    multipliers: Numbers  # (constraints,) log-likelihood per unit of the bound
    solver: str
    certificate: Certificate
    without_data: Indices  # distributions with no weight at all; they take the point of maximum entropy
    local: bool = False  # whether only a local optimum is certain; `certificate.gap` then bounds the distance from all
    impossible: Indices = NONE  # parameters pinned at zero whose data were left out
    product_violation: float = 0.0  # of a product constraint, in logarithms
    product_multipliers: tuple[tuple[int, float], ...] = ()  # statement, multiplier per unit of log bound

    @property
    def block(self) -> Block:
        """The block that this is about."""
        return self.task.block


def estimate_blocks(
    blocks: Sequence[Block], vector: Numbers, soft_weight: float, *, in_rounds: bool = True
) -> list[BlockEstimate]:
    """The optimum of every block for weights that stand in one vector over all parameters.

    Blocks are solved in rounds, unless all their constraints are known to matter.
    """
    if not blocks:
        return []
    firsts = starts_of([block.size for block in blocks])
    own = vector[np.concatenate([block.parameters for block in blocks])]
    seen = np.logical_or.reduceat(own > 0.0, firsts[:-1]).tolist()
    tasks = [
        Task(block, own[first:last], None if some else np.ones(block.size), soft_weight)  # else entropy alone decides
        for block, (first, last), some in zip(blocks, pairwise(firsts.tolist()), seen, strict=True)
    ]
    chosen = _chosen(tasks)
    return _estimates(chosen, solve_tasks(chosen.merged, in_rounds=in_rounds, most_entropic=True), most_entropic=True)


def solve_certified(tasks: Sequence[Task]) -> list[BlockEstimate]:
    """The optimum of every task under its linear constraints, without soft ones that cost nothing."""
    chosen = _chosen(tasks)
    return _estimates(chosen, solve_tasks(chosen.merged))


class _Chosen(NamedTuple):
    """Tasks without what costs nothing, the same with equal states merged, and the way back for θ of the k-th."""

    tasks: Sequence[Task]
    merged: Sequence[Task]
    expanded: Callable[[int, Numbers], Numbers]


def _chosen(tasks: Sequence[Task]) -> _Chosen:
    if not np.isnan(np.concatenate([NO_NUMBERS, *(task.block.linear.confidences for task in tasks)])).all():
        tasks = [task if task.soft_weight > 0 else _without_soft_constraints(task) for task in tasks]
    return _Chosen(tasks, *merged_tasks(tasks))


def _estimates(chosen: _Chosen, points: Sequence[Point], *, most_entropic: bool = False) -> list[BlockEstimate]:
    """The points with their certificates; distributions without data at maximum entropy, where that is asked for."""
    estimates = [_certified(task, point) for task, point in zip(chosen.merged, points, strict=True)]
    others = []  # which the solver of all blocks did not put at maximum entropy
    for k, (task, each) in enumerate(zip(chosen.tasks, estimates, strict=True)):
        if each.task is not task:
            theta = task.block.normalised(chosen.expanded(k, each.theta))
            certificate = certify(task, theta, each.multipliers)
            estimates[k] = each._replace(task=task, theta=theta, certificate=certificate)
            others.append(k)
        elif each.theta is not points[k].theta:
            others.append(k)
    if most_entropic and others:
        for k, each in zip(others, with_most_entropy([estimates[k] for k in others]), strict=True):
            estimates[k] = each
    return estimates


def _without_soft_constraints(task: Task) -> Task:
    hard = task.block.linear.hard
    return task if hard.all() else task._replace(block=task.block.take(hard))


def _certified(task: Task, point: Point) -> BlockEstimate:
    """The point with its certificate; where that fails, other ways are tried, and the best of them is returned."""
    certificate = _certificate(point)
    if certificate.holds:
        return BlockEstimate(task, point.theta, point.multipliers, SOLVERS[point.shape], certificate, point.unseen)
    interior = interior_of(task.block)
    if interior is None:
        raise InfeasibleError
    (with_all_constraints,) = solve_tasks([task], closed_forms=False, in_rounds=False)
    attempts = [(point, SOLVERS[point.shape]), (with_all_constraints, SOLVERS[GENERAL])]
    other = solve_with_clarabel(task)
    if other is not None:
        attempts.append((other, CLARABEL))
    tried, solver = min(attempts, key=lambda attempt: _certificate(attempt[0]).badness)
    found = BlockEstimate(task, tried.theta, tried.multipliers, solver, _certificate(tried), point.unseen)
    return found if found.certificate.violation <= VIOLATION_LIMIT else _made_feasible(found, interior.point)


def _made_feasible(estimate: BlockEstimate, inside: Numbers) -> BlockEstimate:
    """The point, moved as little as needed towards one at which all hard constraints hold.

    A point that nothing proves optimal may be a poor one, but it has to satisfy the knowledge.
    """
    task, linear = estimate.task, estimate.block.linear
    moved = estimate
    for least in (0.0, 1e-9, 1e-6, 1e-3, 1.0):  # rounding may leave the last bit
        excess, room = linear.excess(estimate.theta)[linear.hard], linear.excess(inside)[linear.hard]
        missed = excess > 0.5 * VIOLATION_LIMIT
        share = float((excess[missed] / np.maximum(excess[missed] - room[missed], 1e-300)).max(initial=0.0))
        share = min(1.0, max(share, least))
        theta = estimate.block.normalised((1.0 - share) * estimate.theta + share * inside)
        moved = estimate._replace(theta=theta, certificate=certify(task, theta, estimate.multipliers))
        if moved.certificate.violation <= VIOLATION_LIMIT:
            break
    return moved


def _certificate(point: Point) -> Certificate:
    return Certificate(point.violation, point.gap)


def with_most_entropy(estimates: list[BlockEstimate]) -> list[BlockEstimate]:
    """Distributions without data take the point of maximum entropy; the dual bound of an estimate stays what it was.

    Their weights are zero, and their soft constraints are held where they are: the objective does not rise.
    """
    some = [k for k, each in enumerate(estimates) if each.without_data.size and each.task.entropies is None]
    own = [estimates[k] for k in some]
    others = most_entropic_points(
        [each.block for each in own], [each.without_data for each in own], [each.theta for each in own]
    )
    changed = list(estimates)
    for k, each, other in zip(some, own, others, strict=True):
        if other is None:
            continue
        certificate = replace(each.certificate, violation=max(each.certificate.violation, other[1]))
        if certificate.holds or not each.certificate.holds:  # else among the optima one point is as good as another
            changed[k] = each._replace(theta=other[0], certificate=certificate)
    return changed


# Distributions without data -------------------------------------------------------------------------------------------


def most_entropic_points(
    blocks: Sequence[Block], free: Sequence[Indices], thetas: Sequence[Numbers]
) -> list[tuple[Numbers, float] | None]:
    """θ of each block with its `free` distributions at maximum entropy, and what that violates; None if not found."""
    if not blocks:
        return []
    found: list[tuple[Numbers, float] | None] = [None] * len(blocks)
    wide = [k for k, block in enumerate(blocks) if widest_of(block) >= MERGED_STATES]
    others = sorted(set(range(len(blocks))) - set(wide))
    with idle_solver() as solver:
        for k in others:
            theta, converged, violation = solver.most_entropic(
                blocks[k].distributions, blocks[k].linear, free[k], thetas[k]
            )
            found[k] = (theta, violation) if converged else None
    # Those that are solved with equal states merged.
    parts = [restricted(blocks[k], free[k], thetas[k]) for k in wide]
    tasks, expanded = merged_tasks([Task(part, np.zeros(part.size), np.ones(part.size)) for part in parts])
    for number, (k, point) in enumerate(zip(wide, solve_tasks(tasks), strict=True)):
        if point.converged:
            theta = thetas[k].copy()
            theta[_parameters_of(blocks[k], free[k])] = expanded(number, point.theta)
            found[k] = (theta, hard_violation(blocks[k], theta))
    return found


def restricted(block: Block, distributions: Indices, theta: Numbers) -> Block:
    """The block with all but these distributions held at θ; soft constraints may stay as violated as they are."""
    linear = block.linear
    starts, numbers, *columns = restrict(block.distributions, linear, distributions, theta)
    first, indices, coefficients, bounds = columns
    hard = np.full(len(numbers), np.nan)
    constraints = LinearConstraints(
        first,
        indices,
        coefficients,
        bounds,
        linear.statements[numbers],
        linear.equality[numbers],
        hard,
        linear.scales[numbers],
    )
    return Block(
        tuple(block.configurations[d] for d in distributions.tolist()),
        block.parameters[_parameters_of(block, distributions)],
        starts,
        np.repeat(np.arange(len(distributions)), np.diff(starts)),
        constraints,
        block.constraint_numbers[numbers],
    )


def _parameters_of(block: Block, distributions: Indices) -> Flags:
    """Which parameters belong to these distributions."""
    inside = np.zeros(len(block.distributions) - 1, dtype=np.bool_)
    inside[distributions] = True
    return np.asarray(inside[block.distribution_of])

"""Distributions without data: the point of maximum entropy among those that leave the optimum as it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.constraints.blocks import Block, starts_of
from credo.constraints.constraint_set import LinearConstraints
from credo.core.block_program import restrict
from credo.estimation.solvers.block_solver import idle_solver, is_large, solve_tasks
from credo.estimation.solvers.certificate import hard_violation
from credo.estimation.solvers.tasks import MERGED_STATES, Task, merged_tasks, widest_of
from credo.types import Flags, Indices, Numbers

NONE: Indices = np.empty(0, dtype=np.int64)


def without_weight(tasks: Sequence[Task]) -> list[Indices]:
    """The distributions of each task that have no weight at all."""
    if not tasks:
        return []
    found = [NONE] * len(tasks)
    weights = np.concatenate([task.weights for task in tasks])
    if weights.all():
        return found
    firsts = starts_of([len(task.block.distributions) - 1 for task in tasks])
    starts = np.concatenate([task.block.distributions[:-1] for task in tasks])
    starts += np.repeat(starts_of([task.block.size for task in tasks])[:-1], np.diff(firsts))
    empty = np.flatnonzero(np.add.reduceat(weights, starts) == 0)
    if not empty.size:
        return found
    owners = np.searchsorted(firsts, empty, side="right") - 1
    numbers, cuts = np.unique(owners, return_index=True)
    for k, own in zip(numbers.tolist(), np.split(empty - firsts[owners], cuts[1:]), strict=False):
        found[k] = own
    return found


def most_entropic(
    blocks: Sequence[Block], free: Sequence[Indices], thetas: Sequence[Numbers]
) -> list[tuple[Numbers, float] | None]:
    """θ of each block with its `free` distributions at maximum entropy, and what that violates; None if not found."""
    if not blocks:
        return []
    found: list[tuple[Numbers, float] | None] = [None] * len(blocks)
    large = [k for k, block in enumerate(blocks) if is_large(block) or widest_of(block) >= MERGED_STATES]
    others = sorted(set(range(len(blocks))) - set(large))
    with idle_solver() as solver:
        for k in others:
            theta, converged, violation = solver.most_entropic(
                blocks[k].distributions, blocks[k].linear, free[k], thetas[k]
            )
            found[k] = (theta, violation) if converged else None
    # Those that are solved in rounds, or with equal states merged.
    parts = [restricted(blocks[k], free[k], thetas[k]) for k in large]
    tasks, expanded = merged_tasks([Task(part, np.zeros(part.size), np.ones(part.size)) for part in parts])
    for number, (k, point) in enumerate(zip(large, solve_tasks(tasks), strict=True)):
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

"""Distributions without data: the point of maximum entropy among those that leave the optimum as it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.constraints.blocks import Block, split_block, stacked, starts_of
from credo.constraints.constraint_set import LinearConstraints
from credo.estimation.solvers.block_solver import solve_tasks
from credo.estimation.solvers.tasks import Task, merged_tasks
from credo.types import Flags, Indices, Numbers

NONE: Indices = np.empty(0, dtype=np.int64)


def without_weight(tasks: Sequence[Task]) -> list[Indices]:
    """The distributions of each task that have no weight at all."""
    if not tasks:
        return []
    found = [NONE] * len(tasks)
    firsts = starts_of([len(task.block.distributions) - 1 for task in tasks])
    starts = np.concatenate([task.block.distributions[:-1] for task in tasks])
    starts += np.repeat(starts_of([task.block.size for task in tasks])[:-1], np.diff(firsts))
    empty = np.flatnonzero(np.add.reduceat(np.concatenate([task.weights for task in tasks]), starts) == 0)
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
    whole, theta = stacked(blocks), np.concatenate(thetas)
    firsts = starts_of([len(block.distributions) - 1 for block in blocks])
    constraint_firsts = starts_of([len(block.linear) for block in blocks])
    chosen = np.concatenate(free) + np.repeat(firsts[:-1], [len(own) for own in free])
    part = restricted(whole, chosen, theta)
    parts = split_block(
        part, np.searchsorted(chosen, firsts), np.searchsorted(part.constraint_numbers, constraint_firsts)
    )
    tasks, expanded = merged_tasks([Task(each, np.zeros(each.size), np.ones(each.size)) for each in parts])
    points = solve_tasks(tasks)
    theta[_parameters_of(whole, chosen)] = np.concatenate([expanded(k, point.theta) for k, point in enumerate(points)])
    violations = _violations(whole, theta, firsts, constraint_firsts).tolist()
    found = np.split(theta, whole.distributions[firsts[1:-1]])
    return [
        (own, violation) if point.converged else None
        for own, violation, point in zip(found, violations, points, strict=True)
    ]


def _violations(whole: Block, theta: Numbers, firsts: Indices, constraint_firsts: Indices) -> Numbers:
    """How far a hard constraint or a sum of each stacked block is off at most."""
    constraints, found = whole.linear, np.zeros(len(firsts) - 1)
    excess = constraints.values(theta) - constraints.bounds
    excess = np.where(constraints.equality, np.abs(excess), excess) * constraints.hard
    sums = np.add.reduceat(theta, whole.distributions[:-1])
    np.maximum.at(found, np.repeat(np.arange(len(found)), np.diff(constraint_firsts)), excess)
    np.maximum.at(found, np.repeat(np.arange(len(found)), np.diff(firsts)), np.abs(sums - 1))
    return found


def restricted(block: Block, distributions: Indices, theta: Numbers) -> Block:
    """The block with all but these distributions held at θ; soft constraints may stay as violated as they are."""
    linear, entry_constraints = block.linear, block.linear.entry_constraints
    free = _parameters_of(block, distributions)
    inside = free[linear.indices]
    parts = linear.coefficients * theta[linear.indices]
    values = np.bincount(entry_constraints, parts, len(linear))
    outside = np.bincount(entry_constraints, np.where(inside, 0.0, parts), len(linear))
    # Rounding may have put θ beyond a bound by a hair; what is fixed must leave room for what is free.
    reached = np.where(linear.equality, linear.bounds, np.maximum(linear.bounds, values))
    bounds: Numbers = np.asarray(reached - outside, dtype=np.float64)
    lengths = np.bincount(entry_constraints[inside], minlength=len(linear))
    touched = lengths > 0
    local = np.cumsum(free) - 1
    constraints = LinearConstraints(
        np.concatenate(([0], np.cumsum(lengths[touched]))),
        local[linear.indices[inside]],
        linear.coefficients[inside],
        bounds[touched],
        linear.statements[touched],
        linear.equality[touched],
        np.full(int(touched.sum()), np.nan),
        linear.scales[touched],
    )
    sizes = np.diff(block.distributions)[distributions]
    return Block(
        tuple(block.configurations[d] for d in distributions),
        block.parameters[free],
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        np.repeat(np.arange(len(sizes)), sizes),
        constraints,
        block.constraint_numbers[touched],
    )


def _parameters_of(block: Block, distributions: Indices) -> Flags:
    """Which parameters belong to these distributions."""
    inside = np.zeros(len(block.distributions) - 1, dtype=np.bool_)
    inside[distributions] = True
    return np.asarray(inside[block.distribution_of])

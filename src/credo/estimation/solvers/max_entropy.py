"""Distributions without data: the point of maximum entropy among those that leave the optimum as it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.core.block_program import restrict
from credo.estimation.solvers.block_solver import idle_solver, solve_tasks
from credo.estimation.solvers.certificate import hard_violation
from credo.estimation.solvers.tasks import MERGED_STATES, Task, merged_tasks, widest_of
from credo.types import Flags, Indices, Numbers


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

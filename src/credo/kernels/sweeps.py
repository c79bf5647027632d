"""The compiled sweeps of a Markov chain: which moves are made, in which order, on which constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.polytope_moves import move_line, move_pair, set_ray, uniform
from credo.kernels.sampler_arrays import BORROWING, Extras, Geometry

NOTHING = 1e-15  # a change of a constraint that is rounding: it keeps its value on the ray


@compiled(**BORROWING)
def refresh(geometry: Geometry, group: int, theta: Any, slack: Any) -> None:
    """Distributions summed to one again, and b − Aθ worked out anew: rounding adds up in what is only updated."""
    for d in range(geometry.group_distributions[group], geometry.group_distributions[group + 1]):
        total = 0.0
        for i in range(geometry.distributions[d], geometry.distributions[d + 1]):
            total += theta[i]
        for i in range(geometry.distributions[d], geometry.distributions[d + 1]):
            theta[i] /= total
    for constraint in range(geometry.group_constraints[group], geometry.group_constraints[group + 1]):
        rest = geometry.bounds[constraint]
        for e in range(geometry.constraint_starts[constraint], geometry.constraint_starts[constraint + 1]):
            rest -= geometry.constraint_values[e] * theta[geometry.constraint_indices[e]]
        slack[constraint] = rest


@compiled
def work_space(parameters: int, constraints: int) -> Any:
    """Room for a sweep: numbers, the third line of which must be zero, and indices."""
    return np.zeros((6, parameters + constraints)), np.empty(parameters + constraints, dtype=np.int64)


@compiled(**BORROWING)
def laid_out(geometry: Geometry, move: int, shape: Any, theta: Any, work: Any, work_indices: Any) -> Any:
    """A move as `move_line` takes it: its entries and what it changes; exponents are put into `work`.

    The arrays are borrowed: who counts references, without `BORROWING`, would free them.
    """
    start, stop = geometry.move_starts[move], geometry.move_starts[move + 1]
    first, last = geometry.delta_starts[move], geometry.delta_starts[move + 1]
    indices, values = geometry.move_indices[start:stop], geometry.move_values[start:stop]
    constraints, changes = geometry.delta_constraints[first:last], geometry.delta_values[first:last]
    if not geometry.rays[move]:
        for k in range(stop - start):
            work[4, k] = shape[indices[k]] - 1.0
        return indices, values, constraints, changes
    count = set_ray(indices, values, geometry.owners, geometry.distributions, shape, theta, work, work_indices)
    starts, members, coefficients = geometry.constraint_starts, geometry.constraint_indices, geometry.constraint_values
    direction, ray_indices, ray_changes = work[2], work_indices[:count], work[5, : last - first]
    for k in range(last - first):
        ray_changes[k] = 0.0
        for e in range(starts[constraints[k]], starts[constraints[k] + 1]):
            ray_changes[k] += coefficients[e] * direction[members[e]]
        if abs(ray_changes[k]) < NOTHING:
            ray_changes[k] = 0.0
    for k in range(count):
        direction[ray_indices[k]] = 0.0
    return ray_indices, work[3, :count], constraints, ray_changes


@compiled(**BORROWING)
def sweep(
    geometry: Geometry,
    extras: Extras,
    groups: Any,  # which are swept
    group_passes: Any,  # (groups,) in how many passes each takes part,
    passes: Any,  # (moves,) and each move, of which
    now: int,  # so many were made
    shape: Any,
    theta: Any,
    slack: Any,
    work: Any,
    work_indices: Any,
    generator: Any,
) -> None:
    """Every move of this pass once, or as often as its chance has it, group by group."""
    # Taken out of the tuple once: in the loop each look would count references.
    move_starts, move_indices, delta_starts = geometry.move_starts, geometry.move_indices, geometry.delta_starts
    changed, delta_values = geometry.delta_constraints, geometry.delta_values
    extra_starts, extra_list, chances, rays = (
        geometry.extra_starts,
        geometry.extra_list,
        geometry.chances,
        geometry.rays,
    )
    for group in groups:
        if group_passes[group] <= now:
            continue
        for move in range(geometry.group_moves[group], geometry.group_moves[group + 1]):
            if passes[move] <= now or (chances[move] < 1.0 and uniform(generator) > chances[move]):
                continue
            start, stop = move_starts[move], move_starts[move + 1]
            if not rays[move] and stop - start == 2 and extra_starts[move] == extra_starts[move + 1]:
                i, j, first, last = (
                    move_indices[start],
                    move_indices[start + 1],
                    delta_starts[move],
                    delta_starts[move + 1],
                )
                move_pair(i, j, first, last, changed, delta_values, shape, theta, slack, generator)
                continue
            named = extra_list[extra_starts[move] : extra_starts[move + 1]]
            indices, values, constraints, changes = laid_out(geometry, move, shape, theta, work, work_indices)
            move_line(
                indices, values, constraints, changes, named, extras, work[4], rays[move], theta, slack, work, generator
            )
        refresh(geometry, group, theta, slack)


@compiled
def run_chain(
    geometry: Geometry,
    extras: Extras,
    shape: Any,  # (parameters,)
    theta: Any,  # (parameters,) in and out
    thinning: int,
    out: Any,  # (draws, parameters)
    generator: Any,
) -> None:
    """Draws, each after `thinning` sweeps."""
    slack = np.empty(len(geometry.bounds))
    for group in range(len(geometry.group_constraints) - 1):
        refresh(geometry, group, theta, slack)
    work, indices = work_space(len(theta), len(slack))
    groups = np.arange(len(geometry.group_constraints) - 1)
    own, passes = np.ones(len(groups), dtype=np.int64), np.ones(len(geometry.chances), dtype=np.int64)
    for draw in range(len(out)):
        for _ in range(thinning):
            sweep(geometry, extras, groups, own, passes, 0, shape, theta, slack, work, indices, generator)
        out[draw] = theta

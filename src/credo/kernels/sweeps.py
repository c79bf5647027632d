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
def sweep(
    geometry: Geometry,
    extras: Extras,
    active: Any,  # (groups,) which groups are swept
    shape: Any,
    theta: Any,
    slack: Any,
    work: Any,
    work_indices: Any,
    generator: Any,
) -> None:
    """Every move once, or as often as its chance has it, group by group."""
    # Taken out of the tuple once: in the loop each look would count references.
    move_starts, move_indices, move_values = geometry.move_starts, geometry.move_indices, geometry.move_values
    delta_starts, changed, delta_values = geometry.delta_starts, geometry.delta_constraints, geometry.delta_values
    extra_starts, extra_list, chances = geometry.extra_starts, geometry.extra_list, geometry.chances
    starts, members, coefficients = geometry.constraint_starts, geometry.constraint_indices, geometry.constraint_values
    rays, owners, distributions = geometry.rays, geometry.owners, geometry.distributions
    direction, exponents, ray_changes = work[2], work[4], work[5]
    for group in range(len(geometry.group_constraints) - 1):
        if not active[group]:
            continue
        for move in range(geometry.group_moves[group], geometry.group_moves[group + 1]):
            if chances[move] < 1.0 and uniform(generator) > chances[move]:
                continue
            start, stop = move_starts[move], move_starts[move + 1]
            first, last = delta_starts[move], delta_starts[move + 1]
            if not rays[move] and stop - start == 2 and extra_starts[move] == extra_starts[move + 1]:
                i, j = move_indices[start], move_indices[start + 1]
                move_pair(i, j, first, last, changed, delta_values, shape, theta, slack, generator)
                continue
            named = extra_list[extra_starts[move] : extra_starts[move + 1]]
            indices, values = move_indices[start:stop], move_values[start:stop]
            constraints, changes = changed[first:last], delta_values[first:last]
            if rays[move]:
                count = set_ray(indices, values, owners, distributions, shape, theta, work, work_indices)
                indices, values, changes = work_indices[:count], work[3, :count], ray_changes[: last - first]
                for k in range(last - first):
                    changes[k] = 0.0
                    for e in range(starts[constraints[k]], starts[constraints[k] + 1]):
                        changes[k] += coefficients[e] * direction[members[e]]
                    if abs(changes[k]) < NOTHING:
                        changes[k] = 0.0
                for k in range(count):
                    direction[indices[k]] = 0.0
            else:
                for k in range(stop - start):
                    exponents[k] = shape[indices[k]] - 1.0
            far = rays[move]
            move_line(
                indices, values, constraints, changes, named, extras, exponents, far, theta, slack, work, generator
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
    active = np.ones(len(geometry.group_constraints) - 1, dtype=np.bool_)
    for draw in range(len(out)):
        for _ in range(thinning):
            sweep(geometry, extras, active, shape, theta, slack, work, indices, generator)
        out[draw] = theta

"""The compiled Gibbs sampler of the posterior; the model, its names and its density are in `posterior.py`.

Loops instead of expressions over whole arrays: each of those would compile a loop of its own, and messages for errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.collapsed import set_norms, set_values, update_components
from credo.kernels.compiler import compiled
from credo.kernels.gamma_draws import draw_dirichlet
from credo.kernels.joint_updates import update_jointly
from credo.kernels.polytope_moves import uniform
from credo.kernels.range_classes import draw_range
from credo.kernels.sampler_arrays import (
    BORROWING,
    ChainState,
    DistributionArrays,
    Extras,
    Geometry,
    Given,
    JointUpdates,
    Mixture,
    Ranges,
    Schedule,
)
from credo.kernels.sweeps import refresh, sweep, work_space

# Updates --------------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def set_shape(arrays: DistributionArrays, state: ChainState, d: int, shape: Any) -> None:
    """s_z·b_z + N of a distribution."""
    start, stop = arrays.starts[d], arrays.starts[d + 1]
    component, cell = state.component[d], arrays.cells[arrays.families[d]]
    strength = arrays.strengths[arrays.seen[d], component]
    for i in range(start, stop):
        if component < arrays.uniform_components[0]:
            base = 1.0 / (stop - start)
        else:
            base = state.means[cell + i - start] if component < arrays.first_predicted[0] else arrays.predicted[i]
        shape[i] = (1.0 if arrays.flat[d] else strength * base) + arrays.counts[i]


@compiled(**BORROWING)
def set_shapes(arrays: DistributionArrays, state: ChainState, shape: Any) -> None:
    """The same of every distribution."""
    for d in range(len(arrays.families)):
        set_shape(arrays, state, d, shape)


@compiled(**BORROWING)
def set_family_density(state: ChainState, family: int, norms: Any, density: Any) -> None:
    """log π_g/B(s_g·b_g) of a CPT; log π_g where the base is predicted, which distributions do not share."""
    for g in range(density.shape[2]):
        log = np.log(state.weights[family, g])
        density[family, 0, g], density[family, 1, g] = log + norms[family, 0, g], log + norms[family, 1, g]


@compiled(**BORROWING)
def set_density(state: ChainState, norms: Any, density: Any) -> None:
    """The same of every CPT."""
    for family in range(len(density)):
        set_family_density(state, family, norms, density)


@compiled(**BORROWING)
def update_pool(state: ChainState, members: Any, pooling_concentration: float, shape: Any, generator: Any) -> None:
    """w, by how many tables a Chinese restaurant with these customers has [Teh and others, 2006, section 5]."""
    pool = state.pool
    for g in range(len(pool)):
        shape[g] = 1.0
    for family in range(len(members)):
        for g in range(len(pool)):
            for n in range(int(members[family, g])):
                shape[g] += uniform(generator) * (pooling_concentration * pool[g] + n) < pooling_concentration * pool[g]
    draw_dirichlet(shape, pool, generator)


@compiled(**BORROWING)
def update_weights(
    state: ChainState,
    chosen: Any,
    passes: Any,
    now: int,
    members: Any,
    pooling_concentration: float,
    shape: Any,
    generator: Any,
) -> None:
    """π of each CPT, a Dirichlet(κ·w + how many of its distributions have each component)."""
    for family in chosen:
        if passes[family] > now:
            for g in range(len(shape)):
                shape[g] = pooling_concentration * state.pool[g] + members[family, g]
            draw_dirichlet(shape, state.weights[family], generator)


@compiled(error_model="numpy")
def mixture_of(arrays: DistributionArrays, state: ChainState, density: Any) -> Any:
    """What distributions are drawn from; `density` is filled by `set_density`."""
    totals = np.zeros(len(arrays.families))
    for d in range(len(totals)):
        for i in range(arrays.starts[d], arrays.starts[d + 1]):
            totals[d] += arrays.counts[i]
    return Mixture(
        arrays.starts,
        arrays.families,
        arrays.counts,
        totals,
        arrays.cells,
        state.means,
        arrays.seen,
        arrays.strengths,
        arrays.uniform_components[0],
        arrays.first_predicted[0],
        arrays.predicted,
        arrays.predicted_logs,
        density,
        state.weights,
    )


@compiled(error_model="numpy")
def run_posterior(
    geometry: Geometry,
    extras: Extras,
    updates: JointUpdates,
    ranges: Ranges,
    arrays: DistributionArrays,
    schedule: Schedule,
    state: ChainState,
    mean_concentration: float,
    pooling_concentration: float,
    thinning: int,
    out_theta: Any,  # (draws, parameters of blocks)
    out_component: Any,  # (draws, distributions)
    out_means: Any,  # (draws, cells)
    out_weights: Any,  # (draws, families, components)
    moments: Any,  # (2, parameters of no block) out: Σ over sweeps of E θ and E θ²
    generator: Any,
) -> None:
    """Draws, each after `thinning` sweeps: a pass with all updates, then those again that need more effort."""
    theta = state.theta
    slack = np.empty(len(geometry.bounds))
    for group in range(len(geometry.group_constraints) - 1):
        refresh(geometry, group, theta, slack)
    families, components, count = len(arrays.cells) - 1, arrays.strengths.shape[1], len(arrays.families)
    work, indices = work_space(len(theta), len(slack))
    shape, logs, order = np.empty(len(theta)), np.empty(len(theta)), np.empty(count, dtype=np.int64)
    members, density = np.zeros((families, components)), np.empty((families, 2, components))
    given, chances, class_logs = len(ranges.given), np.empty(components), ranges.fixed_logs.copy()
    room = Given(
        np.empty(len(theta)),
        ranges.given_values.copy(),
        np.empty(given),
        np.empty(given),
        np.empty(given),
        np.empty((families, 2, components)),
        np.empty(components),
        np.empty(components),
        chances,
    )
    set_norms(arrays, state.means, room.norms)
    mixture = mixture_of(arrays, state, density)
    edge = arrays.starts[arrays.constrained[0]]
    most = 1
    for d in range(count):
        most = max(most, schedule.distributions[d])
    first, changed = schedule.first[0], schedule.whole
    if first > 0:  # values of what takes part in no pass that is made
        for family in schedule.later.families:
            set_values(arrays, ranges, state, family, schedule.changed, 0, class_logs, room)
    for draw in range(len(out_theta)):
        for repeat in range(thinning * (most - first)):
            now = first + repeat % (most - first)
            chosen = schedule.whole if now == 0 else schedule.later
            # What the last pass has changed: z, m and π of CPTs that took part in it.
            for d in changed.distributions:
                set_shape(arrays, state, d, shape)
            for family in changed.families:
                set_family_density(state, family, room.norms, density)
            changed = chosen
            sweep(
                geometry, extras, chosen.groups, schedule.groups, schedule.moves, now, shape, theta, slack,
                work, indices, generator,
            )  # fmt: skip
            rooms = logs, order, work[0], chances
            update_jointly(
                geometry, extras, mixture, updates, chosen.updates, schedule.updates, now, theta, *rooms, generator
            )
            for group in chosen.groups:
                if schedule.groups[group] > now:
                    refresh(geometry, group, theta, slack)
            for d in chosen.free:
                if schedule.distributions[d] <= now:
                    continue
                start, stop = arrays.starts[d], arrays.starts[d + 1]
                if not ranges.summed_over[d]:
                    draw_dirichlet(shape[start:stop], theta[start:stop], generator)
                if now > 0:
                    continue
                total = 0.0
                for i in range(start, stop):
                    total += shape[i]
                for i in range(start, stop):
                    moments[0, i - edge] += shape[i] / total
                    moments[1, i - edge] += shape[i] * (shape[i] + 1.0) / (total * (total + 1.0))
            for which in chosen.classes:
                if schedule.classes[which] > now:
                    draw_range(arrays, ranges, state, which, generator)
            update_components(
                arrays, ranges, state, chosen.families, schedule.families, schedule.changed, now, mean_concentration,
                pooling_concentration, members, class_logs, room, generator,
            )  # fmt: skip
            if now == 0:
                update_pool(state, members, pooling_concentration, chances, generator)
            update_weights(
                state, chosen.families, schedule.families, now, members, pooling_concentration, chances, generator
            )
        for which in range(len(ranges.lows)):
            if ranges.shared[which]:
                draw_range(arrays, ranges, state, which, generator)
        for i in range(edge):
            out_theta[draw, i] = theta[i]
        for d in range(count):
            out_component[draw, d] = state.component[d]
        for cell in range(len(state.means)):
            out_means[draw, cell] = state.means[cell]
        for family in range(families):
            for g in range(components):
                out_weights[draw, family, g] = state.weights[family, g]

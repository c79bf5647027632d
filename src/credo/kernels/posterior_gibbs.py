"""The compiled Gibbs sampler of the posterior; the model, its names and its density are in `posterior.py`.

Loops instead of expressions over whole arrays: each of those would compile a loop of its own, and messages for errors.
"""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from credo.kernels.collapsed import (
    FARTHEST,
    WIDTH,
    choose_shared_components,
    draw_range,
    shared_mean_term,
    update_shared_weights,
)
from credo.kernels.compiler import compiled
from credo.kernels.gamma_draws import draw_dirichlet
from credo.kernels.joint_updates import update_jointly
from credo.kernels.polytope_moves import SMALLEST, uniform
from credo.kernels.sampler_arrays import (
    BORROWING,
    ChainState,
    DistributionArrays,
    Extras,
    Geometry,
    JointUpdates,
    Mixture,
    Ranges,
)
from credo.kernels.slices import MOST_TRIALS, first_ends, is_last, next_ends, next_trial
from credo.kernels.sweeps import refresh, sweep, work_space

# Updates --------------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def set_shapes(arrays: DistributionArrays, state: ChainState, active: Any, shape: Any) -> None:
    """s_z·b_z + N of every distribution."""
    for d in range(len(arrays.families)):
        if not active[arrays.families[d]]:
            continue
        start, stop = arrays.starts[d], arrays.starts[d + 1]
        component, cell = state.component[d], arrays.cells[arrays.families[d]]
        strength = arrays.strengths[arrays.seen[d], component]
        for i in range(start, stop):
            base = 1.0 / (stop - start) if component < arrays.uniform_components[0] else state.means[cell + i - start]
            shape[i] = (1.0 if arrays.flat[d] else strength * base) + arrays.counts[i]


@compiled(**BORROWING)
def set_density(arrays: DistributionArrays, state: ChainState, active: Any, density: Any) -> None:
    """log π_g/B(s_g·b_g) of every CPT."""
    cells, strengths = arrays.cells, arrays.strengths
    means, weights, first_pooled = state.means, state.weights, arrays.uniform_components[0]
    for family in range(len(cells) - 1):
        if not active[family]:
            continue
        states = cells[family + 1] - cells[family]
        for g in range(strengths.shape[1]):
            for seen in range(2):
                strength = strengths[seen, g]
                if g < first_pooled:
                    value = lgamma(strength) - states * lgamma(strength / states)
                elif seen == 0:  # what is shared is shared by both
                    value = lgamma(strength)
                    for cell in range(cells[family], cells[family + 1]):
                        value -= lgamma(strength * means[cell])
                density[family, seen, g] = np.log(weights[family, g]) + value


@compiled(**BORROWING)
def choose_components(
    arrays: DistributionArrays,
    ranges: Ranges,
    state: ChainState,
    active: Any,
    logs: Any,
    members: Any,
    log_sums: Any,
    density: Any,
    chances: Any,
    generator: Any,
) -> None:
    """z of each distribution of no shared class with chances π_g·Dir(θ | s_g·b_g).

    Sets how many of these distributions of a CPT have component g, and Σ log θ over them.
    """
    starts, families, cells = arrays.starts, arrays.families, arrays.cells
    strengths, means, weights, first_pooled = (
        arrays.strengths,
        state.means,
        state.weights,
        arrays.uniform_components[0],
    )
    components = strengths.shape[1]
    for family in range(len(cells) - 1):
        if active[family]:
            for g in range(components):
                members[family, g] = 0.0
                for cell in range(cells[family], cells[family + 1]):
                    log_sums[cell, g] = 0.0
    for d in range(len(families)):
        if ranges.summed_over[d] or not active[families[d]]:
            continue
        family, start, stop = families[d], starts[d], starts[d + 1]
        cell, seen = cells[family], arrays.seen[d]
        plain = mean = 0.0  # Σ log θ, and Σ m log θ
        for i in range(start, stop):
            logs[i] = np.log(max(state.theta[i], SMALLEST))
            plain += logs[i]
            mean += means[cell + i - start] * logs[i]
        highest = -np.inf
        for g in range(components):
            if not arrays.informative[d]:
                chances[g] = np.log(weights[family, g])
            else:
                inner = plain / (stop - start) if g < first_pooled else mean
                chances[g] = density[family, seen, g] + strengths[seen, g] * inner - plain
            highest = max(highest, chances[g])
        total = 0.0
        for g in range(components):
            total += np.exp(chances[g] - highest)
        rest, chosen = uniform(generator) * total, 0
        while chosen < components - 1 and rest > np.exp(chances[chosen] - highest):
            rest -= np.exp(chances[chosen] - highest)
            chosen += 1
        state.component[d] = chosen
        if arrays.informative[d]:
            members[family, chosen] += 1.0
            for i in range(start, stop):
                log_sums[cell + i - start, chosen] += logs[i]


@compiled(**BORROWING)
def mean_term(
    strengths: Any, first_pooled: int, members: Any, log_sums: Any, mean: float, mean_concentration: float
) -> float:
    """What m_k adds to the log density: c·log m, and Σ s·m·log θ − log Γ(s·m) over distributions that share it."""
    value = mean_concentration * np.log(mean)
    for g in range(first_pooled, len(strengths)):
        if members[g] > 0.0:
            weight = strengths[g] * mean
            value += weight * log_sums[g] - members[g] * lgamma(weight)
    return value


@compiled(**BORROWING)
def update_means(
    arrays: DistributionArrays,
    ranges: Ranges,
    state: ChainState,
    active: Any,
    members: Any,
    log_sums: Any,
    mean_concentration: float,
    class_logs: Any,
    generator: Any,
) -> None:
    """m of each CPT, state against state, by slices in the log-odds of their split.

    Distributions of shared classes are summed over, see `collapsed.py`; the others are in `members` and `log_sums`.
    """
    cells, strengths, first_pooled, means = (
        arrays.cells,
        arrays.strengths[0],
        arrays.uniform_components[0],
        state.means,
    )
    for family in range(len(cells) - 1):
        if not active[family]:
            continue
        start, stop = cells[family], cells[family + 1]
        states = stop - start
        for i in range(start, start + 1 if states == 2 else stop):
            j = start + (i - start + 1 + int(uniform(generator) * (states - 1))) % states
            if i == j:
                continue
            old_i, old_j = means[i], means[j]
            total = old_i + old_j
            now = np.log(old_i / old_j)
            own, first, second = members[family], log_sums[i], log_sums[j]
            level = np.log(uniform(generator)) + shared_mean_term(arrays, ranges, state, family, class_logs)
            level += mean_term(strengths, first_pooled, own, first, old_i, mean_concentration)
            level += mean_term(strengths, first_pooled, own, second, old_j, mean_concentration)
            ends, found = first_ends(now, WIDTH, generator), False
            for _ in range(MOST_TRIALS):
                odds = min(max(next_trial(ends, generator), -FARTHEST), FARTHEST)
                means[i] = max(total / (1.0 + np.exp(-odds)), SMALLEST)
                means[j] = max(total / (1.0 + np.exp(odds)), SMALLEST)
                value = mean_term(strengths, first_pooled, own, first, means[i], mean_concentration)
                value += mean_term(strengths, first_pooled, own, second, means[j], mean_concentration)
                inside = (
                    value >= level
                    if not ranges.shares[family]
                    else (value + shared_mean_term(arrays, ranges, state, family, class_logs) >= level)
                )
                found = inside and is_last(ends)
                if found:
                    break
                ends = next_ends(ends, now, WIDTH, odds, inside)
            if not found:
                means[i], means[j] = old_i, old_j
        shared_mean_term(arrays, ranges, state, family, class_logs)  # for what comes next, given the means as they are


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
    state: ChainState, active: Any, members: Any, pooling_concentration: float, shape: Any, generator: Any
) -> None:
    """π of each CPT, a Dirichlet(κ·w + how many of its distributions have each component)."""
    for family in range(len(members)):
        if active[family]:
            for g in range(len(shape)):
                shape[g] = pooling_concentration * state.pool[g] + members[family, g]
            draw_dirichlet(shape, state.weights[family], generator)


@compiled(error_model="numpy")
def run_posterior(
    geometry: Geometry,
    extras: Extras,
    updates: JointUpdates,
    ranges: Ranges,
    arrays: DistributionArrays,
    effort: Any,  # (families,) how often a round updates each
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
    """Draws, each after `thinning` rounds of all updates."""
    theta = state.theta
    slack = np.empty(len(geometry.bounds))
    for group in range(len(geometry.group_constraints) - 1):
        refresh(geometry, group, theta, slack)
    families, components, count = len(arrays.cells) - 1, arrays.strengths.shape[1], len(arrays.families)
    work, indices = work_space(len(theta), len(slack))
    shape, logs, order = np.empty(len(theta)), np.empty(len(theta)), np.empty(count, dtype=np.int64)
    members, density = np.zeros((families, components)), np.empty((families, 2, components))
    log_sums, chances = np.zeros((len(state.means), components)), np.empty(components)
    class_logs = ranges.fixed_logs.copy()
    totals = np.zeros(count)
    for d in range(count):
        for i in range(arrays.starts[d], arrays.starts[d + 1]):
            totals[d] += arrays.counts[i]
    mixture = Mixture(
        arrays.starts,
        arrays.families,
        arrays.counts,
        totals,
        arrays.cells,
        state.means,
        arrays.seen,
        arrays.strengths,
        arrays.uniform_components[0],
        density,
    )
    edge = arrays.starts[arrays.constrained[0]]
    most = 1
    for family in range(families):
        most = max(most, effort[family])
    active = np.empty(families, dtype=np.bool_)
    active_groups = np.empty(len(arrays.group_families), dtype=np.bool_)
    for draw in range(len(out_theta)):
        for repeat in range(thinning * most):
            # All CPTs, then those again that need more effort; given w, a CPT depends on no other.
            for family in range(families):
                active[family] = effort[family] > repeat % most
            for group in range(len(active_groups)):
                active_groups[group] = active[arrays.group_families[group]] and not ranges.closed[group]
            set_shapes(arrays, state, active, shape)
            sweep(geometry, extras, active_groups, shape, theta, slack, work, indices, generator)
            set_density(arrays, state, active, density)
            update_jointly(geometry, extras, mixture, updates, active, theta, logs, order, generator)
            for group in range(len(active_groups)):
                if active_groups[group]:
                    refresh(geometry, group, theta, slack)
            for d in range(arrays.constrained[0], count):
                if not active[arrays.families[d]]:
                    continue
                start, stop = arrays.starts[d], arrays.starts[d + 1]
                if not ranges.summed_over[d]:
                    draw_dirichlet(shape[start:stop], theta[start:stop], generator)
                if repeat % most:
                    continue
                total = 0.0
                for i in range(start, stop):
                    total += shape[i]
                for i in range(start, stop):
                    moments[0, i - edge] += shape[i] / total
                    moments[1, i - edge] += shape[i] * (shape[i] + 1.0) / (total * (total + 1.0))
            for which in range(len(ranges.lows)):
                if not ranges.shared[which] and active[arrays.families[ranges.numbers[ranges.class_starts[which]]]]:
                    draw_range(arrays, ranges, state, which, generator)
            choose_components(arrays, ranges, state, active, logs, members, log_sums, density, chances, generator)
            update_means(arrays, ranges, state, active, members, log_sums, mean_concentration, class_logs, generator)
            update_shared_weights(ranges, state, active, members, pooling_concentration, class_logs, generator)
            choose_shared_components(ranges, state, active, members, class_logs, chances, generator)
            if repeat % most == 0:
                update_pool(state, members, pooling_concentration, chances, generator)
            update_weights(state, active, members, pooling_concentration, chances, generator)
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

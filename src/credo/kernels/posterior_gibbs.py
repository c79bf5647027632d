"""The compiled Gibbs sampler of the posterior; the model, its names and its density are in `posterior.py`."""

from __future__ import annotations

from math import lgamma
from typing import Any, NamedTuple

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.joint_updates import Leaps, Mixture, leap_all
from credo.kernels.polytope_moves import SMALLEST, Extras, uniform
from credo.kernels.sweeps import Geometry, refresh, sweep, work_space

STEP_OUT = 1.5  # in log-odds
MOST_STEPS_OUT = 20
MOST_SHRINKS = 100
FARTHEST = 300.0


class Layout(NamedTuple):
    """The rows that are sampled, those of blocks first, then those that have data but no statement; flat arrays."""

    row_starts: Any  # (rows + 1,) into parameters
    row_tables: Any  # (rows,)
    counts: Any  # (parameters,)
    informative: Any  # (rows,) all but rows with numbers that can only be zero, whose density has another dimension
    constrained: Any  # how many rows belong to blocks, as an array of one number
    cells: Any  # (tables + 1,) into means
    seen: Any  # (rows,) 1: it has data
    strengths: Any  # (2, components) s_g, by `seen`
    own: Any  # how many of the components have the even base, as an array of one number
    group_tables: Any  # (groups,) the table of a group's first row; tables that a group joins have the same effort


class State(NamedTuple):
    """What a chain carries on."""

    theta: Any  # (parameters,)
    component: Any  # (rows,) z
    means: Any  # (cells,) m
    weights: Any  # (tables, components) π
    pool: Any  # (components,) w


# Random numbers -------------------------------------------------------------------------------------------------------


@compiled(error_model="numpy")
def log_gamma_draw(shape: float, generator: Any) -> float:
    """The logarithm of a gamma variate [Marsaglia and Tsang, 2000], which a small shape cannot make underflow."""
    boost = 0.0
    if shape < 1.0:
        boost = np.log(uniform(generator)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = np.sqrt(-2.0 * np.log(uniform(generator))) * np.cos(2.0 * np.pi * uniform(generator))
        v = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(uniform(generator)) < 0.5 * x * x + d - d * v + d * np.log(v):
            return np.log(d * v) + boost


@compiled(error_model="numpy")
def draw_dirichlet(shape: Any, out: Any, generator: Any) -> None:
    highest = -np.inf
    for k in range(len(shape)):
        out[k] = log_gamma_draw(shape[k], generator)
        highest = max(highest, out[k])
    total = 0.0
    for k in range(len(shape)):
        out[k] = np.exp(out[k] - highest)
        total += out[k]
    for k in range(len(shape)):
        out[k] = max(out[k] / total, SMALLEST)


# Updates --------------------------------------------------------------------------------------------------------------


@compiled(error_model="numpy")
def set_shapes(layout: Layout, state: State, active: Any, shape: Any) -> None:
    """s_z·b_z + N of every row."""
    for row in range(len(layout.row_tables)):
        if not active[layout.row_tables[row]]:
            continue
        start, stop = layout.row_starts[row], layout.row_starts[row + 1]
        component, cell = state.component[row], layout.cells[layout.row_tables[row]]
        strength = layout.strengths[layout.seen[row], component]
        for i in range(start, stop):
            base = 1.0 / (stop - start) if component < layout.own[0] else state.means[cell + i - start]
            shape[i] = strength * base + layout.counts[i]


@compiled(error_model="numpy")
def set_density(layout: Layout, state: State, active: Any, density: Any) -> None:
    """log π_g/B(s_g·b_g) of every table."""
    cells, strengths = layout.cells, layout.strengths
    means, weights, own = state.means, state.weights, layout.own[0]
    for table in range(len(cells) - 1):
        if not active[table]:
            continue
        states = cells[table + 1] - cells[table]
        for g in range(strengths.shape[1]):
            for seen in range(2):
                strength = strengths[seen, g]
                if g < own:
                    value = lgamma(strength) - states * lgamma(strength / states)
                elif seen == 0:  # what is shared is shared by both
                    value = lgamma(strength)
                    for cell in range(cells[table], cells[table + 1]):
                        value -= lgamma(strength * means[cell])
                density[table, seen, g] = np.log(weights[table, g]) + value


@compiled(error_model="numpy")
def choose_components(
    layout: Layout,
    state: State,
    active: Any,
    logs: Any,
    members: Any,
    log_sums: Any,
    density: Any,
    chances: Any,
    generator: Any,
) -> None:
    """z of each row with chances π_g·Dir(θ | s_g·b_g); how many rows of a table took g, and Σ log θ over them."""
    row_starts, row_tables, cells = layout.row_starts, layout.row_tables, layout.cells
    strengths, means, weights, own = layout.strengths, state.means, state.weights, layout.own[0]
    components = strengths.shape[1]
    for table in range(len(cells) - 1):
        if active[table]:
            members[table] = 0.0
            log_sums[cells[table] : cells[table + 1]] = 0.0
    for row in range(len(row_tables)):
        if not active[row_tables[row]]:
            continue
        table, start, stop = row_tables[row], row_starts[row], row_starts[row + 1]
        cell, seen = cells[table], layout.seen[row]
        plain = mean = 0.0  # Σ log θ, and Σ m log θ
        for i in range(start, stop):
            logs[i] = np.log(max(state.theta[i], SMALLEST))
            plain += logs[i]
            mean += means[cell + i - start] * logs[i]
        highest = -np.inf
        for g in range(components):
            if not layout.informative[row]:
                chances[g] = np.log(weights[table, g])
            else:
                inner = plain / (stop - start) if g < own else mean
                chances[g] = density[table, seen, g] + strengths[seen, g] * inner - plain
            highest = max(highest, chances[g])
        total = 0.0
        for g in range(components):
            total += np.exp(chances[g] - highest)
        rest, chosen = uniform(generator) * total, 0
        while chosen < components - 1 and rest > np.exp(chances[chosen] - highest):
            rest -= np.exp(chances[chosen] - highest)
            chosen += 1
        state.component[row] = chosen
        if layout.informative[row]:
            members[table, chosen] += 1.0
            for i in range(start, stop):
                log_sums[cell + i - start, chosen] += logs[i]


@compiled(error_model="numpy")
def mean_term(strengths: Any, own: int, members: Any, log_sums: Any, mean: float, evenness: float) -> float:
    """What m_k adds to the log density: its prior, and Σ s·m·log θ − log Γ(s·m) over the rows that share it."""
    value = evenness * np.log(mean)
    for g in range(own, len(strengths)):
        if members[g] > 0.0:
            weight = strengths[g] * mean
            value += weight * log_sums[g] - members[g] * lgamma(weight)
    return value


@compiled(error_model="numpy")
def update_means(
    layout: Layout, state: State, active: Any, members: Any, log_sums: Any, evenness: float, generator: Any
) -> None:
    """m of each table, state against state, by slices in the log-odds of their split."""
    cells, strengths, own, means = layout.cells, layout.strengths[0], layout.own[0], state.means
    for table in range(len(cells) - 1):
        if not active[table]:
            continue
        start, stop = cells[table], cells[table + 1]
        states = stop - start
        for i in range(start, start + 1 if states == 2 else stop):
            j = start + (i - start + 1 + int(uniform(generator) * (states - 1))) % states
            if i == j:
                continue
            total = means[i] + means[j]
            now = np.log(means[i] / means[j])
            rows, first, second = members[table], log_sums[i], log_sums[j]
            level = np.log(uniform(generator))
            level += mean_term(strengths, own, rows, first, means[i], evenness)
            level += mean_term(strengths, own, rows, second, means[j], evenness)
            left = now - STEP_OUT * uniform(generator)
            right = left + STEP_OUT
            steps_left = int(MOST_STEPS_OUT * uniform(generator))
            steps_right = MOST_STEPS_OUT - 1 - steps_left
            for _ in range(MOST_STEPS_OUT + MOST_SHRINKS):
                # Out to the left while there are steps, then out to the right, then a point between.
                odds = (
                    left if steps_left > 0 else right if steps_right > 0 else left + uniform(generator) * (right - left)
                )
                odds = min(max(odds, -FARTHEST), FARTHEST)
                one, two = total / (1.0 + np.exp(-odds)), total / (1.0 + np.exp(odds))
                value = mean_term(strengths, own, rows, first, one, evenness)
                inside = value + mean_term(strengths, own, rows, second, two, evenness) >= level
                if steps_left > 0:
                    left -= STEP_OUT if inside else 0.0
                    steps_left = steps_left - 1 if inside else 0
                elif steps_right > 0:
                    right += STEP_OUT if inside else 0.0
                    steps_right = steps_right - 1 if inside else 0
                elif inside:
                    means[i], means[j] = max(one, SMALLEST), max(two, SMALLEST)
                    break
                elif odds < now:
                    left = odds
                else:
                    right = odds


@compiled(error_model="numpy")
def update_pool(state: State, members: Any, alikeness: float, shape: Any, generator: Any) -> None:
    """w of all tables, by counts of tables in a restaurant's sense [Teh and others, 2006, section 5]."""
    pool = state.pool
    shape[:] = 1.0
    for table in range(len(members)):
        for g in range(len(pool)):
            for n in range(int(members[table, g])):
                shape[g] += uniform(generator) * (alikeness * pool[g] + n) < alikeness * pool[g]
    draw_dirichlet(shape, pool, generator)


@compiled(error_model="numpy")
def update_weights(state: State, active: Any, members: Any, alikeness: float, shape: Any, generator: Any) -> None:
    """π of each table, which is a Dirichlet(κ·w + how many of its rows took each)."""
    for table in range(len(members)):
        if active[table]:
            shape[:] = alikeness * state.pool + members[table]
            draw_dirichlet(shape, state.weights[table], generator)


@compiled(error_model="numpy")
def run_posterior(
    geometry: Geometry,
    extras: Extras,
    leaps: Leaps,
    layout: Layout,
    effort: Any,  # (tables,) how often a round updates each
    state: State,
    evenness: float,
    alikeness: float,
    thinning: int,
    out_theta: Any,  # (draws, parameters of blocks)
    out_component: Any,  # (draws, rows)
    out_means: Any,  # (draws, cells)
    out_weights: Any,  # (draws, tables, components)
    moments: Any,  # (2, parameters of no block) out: Σ over sweeps of E θ and E θ²
    generator: Any,
) -> None:
    """Draws, each after `thinning` rounds of all updates."""
    theta = state.theta
    slack = np.empty(len(geometry.bounds))
    for group in range(len(geometry.group_rows) - 1):
        refresh(geometry, group, theta, slack)
    tables, components, rows = len(layout.cells) - 1, layout.strengths.shape[1], len(layout.row_tables)
    work, indices = work_space(len(theta), len(slack))
    shape, logs, order = np.empty(len(theta)), np.empty(len(theta)), np.empty(rows, dtype=np.int64)
    members, density = np.zeros((tables, components)), np.empty((tables, 2, components))
    log_sums, chances = np.zeros((len(state.means), components)), np.empty(components)
    mixture = Mixture(
        layout.row_starts,
        layout.row_tables,
        layout.counts,
        layout.cells,
        state.means,
        layout.seen,
        layout.strengths,
        layout.own[0],
        density,
    )
    edge = layout.row_starts[layout.constrained[0]]
    most = effort.max() if len(effort) else 1
    for draw in range(len(out_theta)):
        for repeat in range(thinning * most):
            # All tables, then those again that need more effort; given w, a table depends on no other.
            active = effort > repeat % most
            active_groups = active[layout.group_tables]
            set_shapes(layout, state, active, shape)
            sweep(geometry, extras, active_groups, shape, theta, slack, work, indices, generator)
            set_density(layout, state, active, density)
            leap_all(geometry, extras, mixture, leaps, active, theta, logs, order, generator)
            for group in range(len(active_groups)):
                if active_groups[group]:
                    refresh(geometry, group, theta, slack)
            for row in range(layout.constrained[0], rows):
                if not active[layout.row_tables[row]]:
                    continue
                start, stop = layout.row_starts[row], layout.row_starts[row + 1]
                draw_dirichlet(shape[start:stop], theta[start:stop], generator)
                if repeat % most:
                    continue
                total = shape[start:stop].sum()
                for i in range(start, stop):
                    moments[0, i - edge] += shape[i] / total
                    moments[1, i - edge] += shape[i] * (shape[i] + 1.0) / (total * (total + 1.0))
            choose_components(layout, state, active, logs, members, log_sums, density, chances, generator)
            update_means(layout, state, active, members, log_sums, evenness, generator)
            if repeat % most == 0:
                update_pool(state, members, alikeness, chances, generator)
            update_weights(state, active, members, alikeness, chances, generator)
        out_theta[draw] = theta[:edge]
        out_component[draw] = state.component
        out_means[draw] = state.means
        out_weights[draw] = state.weights

"""Statements about any probability along a line in one CPT: whether each holds at a point, and draws from the line.

With all other CPTs fixed, every sum P(…) is linear in one CPT, and so along a line in it: S + t·dS. A statement about
one conditional probability then bounds t; others are evaluated where a slice tries a point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.polytope_moves import (
    MOST_SHRINKS,
    MOST_STEPS_OUT,
    STEP_OUT,
    ends_of_line,
    extra_terms,
    place_on_line,
    set_gaps,
    uniform,
)
from credo.kernels.sampler_arrays import BORROWING, ROUNDING, Extras, GeneralArrays, Underway
from credo.kernels.sweeps import NOTHING

TINY = 1e-15


@compiled(**BORROWING)
def statement_value(general: GeneralArrays, statement: int, sums: Any, changes: Any, linear: Any, step: float) -> float:
    """Σ … − bound of a statement at a point of a line; −∞ where a condition never occurs."""
    total = linear[0, statement] + step * linear[1, statement] - general.bounds[statement]
    for term in range(general.term_starts[statement], general.term_starts[statement + 1]):
        above, below = general.above[term], general.below[term]
        value = sums[above] + step * changes[above]
        if below >= 0:
            under = sums[below] + step * changes[below]
            if under <= 0.0:
                return -np.inf
            value /= under
        total += general.coefficients[term] * value
    return total


@compiled(**BORROWING)
def straight_constraint(general: GeneralArrays, constraint: int, underway: Underway) -> Any:
    """How far a straight constraint is from its bound, times its denominator, and how fast a line leads there."""
    sums, slopes = underway.sums, underway.slopes
    slack = general.bounds[constraint] - underway.linear[0, constraint]
    change = underway.linear[1, constraint]
    scale = abs(change)
    for term in range(general.term_starts[constraint], general.term_starts[constraint + 1]):
        above, below, coefficient = general.above[term], general.below[term], general.coefficients[term]
        if below >= 0:  # the only term: N/D ≤ c is N − c·D ≤ 0
            bound = general.bounds[constraint]
            slack = bound * sums[below] - coefficient * sums[above]
            change = coefficient * slopes[above] - bound * slopes[below]
            scale = abs(coefficient * slopes[above]) + abs(bound * slopes[below])
        else:
            slack -= coefficient * sums[above]
            change += coefficient * slopes[above]
            scale += abs(coefficient * slopes[above])
    return slack, change if abs(change) > TINY * scale else 0.0


@compiled(**BORROWING)
def count_broken(general: GeneralArrays, underway: Underway, broken: Any) -> None:
    """How many constraints of each statement that may be wrong do not hold."""
    for constraint in range(len(general.bounds)):
        if general.meanings[constraint] >= 0:
            broken[general.meanings[constraint]] = 0
    for constraint in range(len(general.bounds)):
        if general.meanings[constraint] >= 0:
            value = statement_value(general, constraint, underway.sums, underway.slopes, underway.linear, 0.0)
            broken[general.meanings[constraint]] += value > ROUNDING


@compiled(**BORROWING)
def general_ratio(
    general: GeneralArrays, underway: Underway, broken: Any, odds: Any, step: float, curved_only: bool
) -> float:
    """What statements give a point of a line over the present one: −∞ where one that must hold does not.

    With `curved_only`, of those that are not straight: the others were looked at before.
    """
    ratio, constraint, count = 0.0, 0, len(general.bounds)
    sums, slopes, linear = underway.sums, underway.slopes, underway.linear
    while constraint < count:
        meaning = general.meanings[constraint]
        if meaning < 0:
            skipped = curved_only and general.single[constraint]
            if not skipped and statement_value(general, constraint, sums, slopes, linear, step) > ROUNDING:
                return -np.inf
            constraint += 1
            continue
        straight, holds = True, True
        while constraint < count and general.meanings[constraint] == meaning:
            straight = straight and general.straight[constraint]
            holds = holds and statement_value(general, constraint, sums, slopes, linear, step) <= ROUNDING
            constraint += 1
        if not (curved_only and straight):
            ratio += odds[meaning] * (int(holds) - int(broken[meaning] == 0))
    return ratio


@compiled(**BORROWING)
def advance(underway: Underway, step: float) -> None:
    """The sums at another point of a line."""
    for s in underway.active:
        underway.sums[s] += step * underway.slopes[s]
    for constraint in underway.constraints:
        underway.linear[0, constraint] += step * underway.linear[1, constraint]


@compiled(**BORROWING)
def go_on(general: GeneralArrays, underway: Underway, broken: Any, step: float) -> None:
    """The sums at another point of a line, and what does not hold there."""
    advance(underway, step)
    count_broken(general, underway, broken)


@compiled(**BORROWING)
def clear_line(underway: Underway) -> None:
    """A direction without any change, to which those of single parameters are added."""
    for s in underway.active:
        underway.slopes[s] = 0.0
    for constraint in underway.constraints:
        underway.linear[1, constraint] = 0.0


@compiled(**BORROWING)
def add_direction(general: GeneralArrays, underway: Underway, index: int, change: float) -> None:
    """One parameter of a direction."""
    cell = general.places[index] - underway.first
    for s in underway.active:
        underway.slopes[s] += change * underway.derivatives[cell, s]
    for e in range(general.entry_starts[index], general.entry_starts[index + 1]):
        underway.linear[1, general.entry_statements[e]] += change * general.entry_values[e]


@compiled(**BORROWING)
def general_terms(general: GeneralArrays, named: Any, sums: Any, changes: Any, linear: Any, step: float) -> float:
    """What statements add to the log density at a point of a line: 0 or −∞, or −w/2·violation²."""
    density = 0.0
    for statement in named:
        value = statement_value(general, statement, sums, changes, linear, step)
        if np.isnan(general.weights[statement]):
            if value > ROUNDING:
                return -np.inf
        elif value > 0.0 or (general.equality[statement] and value > -np.inf):
            density -= 0.5 * general.weights[statement] * value * value
    return density


@compiled(**BORROWING)
def believed_terms(general: GeneralArrays, odds: Any, sums: Any, changes: Any, linear: Any, step: float) -> float:
    """Σ log-odds of the statements that may be wrong and hold at a point of a line."""
    density, constraint, count = 0.0, 0, len(general.bounds)
    if len(odds) == 0:
        return density
    while constraint < count:
        meaning = general.meanings[constraint]
        if meaning < 0:
            constraint += 1
            continue
        holds = True
        while constraint < count and general.meanings[constraint] == meaning:
            holds = holds and statement_value(general, constraint, sums, changes, linear, step) <= ROUNDING
            constraint += 1
        if holds:
            density += odds[meaning]
    return density


@compiled(**BORROWING)
def update_line(
    general: GeneralArrays,
    belief: Any,  # (meanings,) the log-odds of what may be wrong; empty where nothing is
    indices: Any,
    values: Any,
    constraints: Any,
    changes: Any,
    named: Any,
    extras: Extras,
    exponents: Any,
    theta: Any,
    slack: Any,
    underway: Underway,  # with the changes of sums along the direction
    touched: Any,  # room for statements
    work: Any,
    generator: Any,
) -> None:
    """Along a direction, as `move_line`, within what statements about any probability allow."""
    sums, slopes, linear = underway.sums, underway.slopes, underway.linear
    low, high = ends_of_line(indices, values, constraints, changes, theta, slack)
    count = 0
    for statement in underway.constraints:
        term = general.term_starts[statement]
        if general.meanings[statement] >= 0:
            continue
        if general.single[statement]:
            above, below = general.above[term], general.below[term]
            bound = general.bounds[statement] / general.coefficients[term]
            sign = 1.0 if general.coefficients[term] > 0.0 else -1.0
            if below >= 0:
                value = sign * (sums[above] - bound * sums[below])
                slope = sign * (slopes[above] - bound * slopes[below])
                scale = abs(slopes[above]) + abs(bound * slopes[below])
                size = abs(sums[above]) + abs(bound * sums[below])
            else:
                value, slope = sign * (sums[above] - bound), sign * slopes[above]
                scale, size = abs(slopes[above]), abs(sums[above]) + abs(bound)
            if abs(slope) > NOTHING * scale and scale > 0.0:
                limit = max(-value, NOTHING * size) / slope  # on a bound, as much room as rounding is worth
                if slope > 0.0:
                    high = min(high, limit)
                else:
                    low = max(low, limit)
        else:
            moves = linear[1, statement] != 0.0
            for k in range(term, general.term_starts[statement + 1]):
                moves |= slopes[general.above[k]] != 0.0
                if general.below[k] >= 0:
                    moves |= slopes[general.below[k]] != 0.0
            if moves:
                touched[count] = statement
                count += 1
    if not (low < 0.0 < high):
        return
    length = high - low
    gaps, old = work[0], work[1]
    set_gaps(indices, values, theta, low, high, gaps, old)
    now = np.log(-low / high)
    others = touched[:count]
    level = place_on_line(exponents, theta, indices, values, gaps, length, now) + np.log(uniform(generator))
    level += extra_terms(extras, named, theta) + general_terms(general, others, sums, slopes, linear, 0.0)
    level += believed_terms(general, belief, sums, slopes, linear, 0.0)
    left = now - STEP_OUT * uniform(generator)
    right = left + STEP_OUT
    most_left = int(MOST_STEPS_OUT * uniform(generator))
    for _ in range(most_left):
        if place_on_line(exponents, theta, indices, values, gaps, length, left) < level:
            break
        left -= STEP_OUT
    for _ in range(MOST_STEPS_OUT - 1 - most_left):
        if place_on_line(exponents, theta, indices, values, gaps, length, right) < level:
            break
        right += STEP_OUT
    for _ in range(MOST_SHRINKS):
        odds = left + uniform(generator) * (right - left)
        density = place_on_line(exponents, theta, indices, values, gaps, length, odds)
        if density >= level:
            density += extra_terms(extras, named, theta)
        if density >= level:
            step = low + length / (1.0 + np.exp(-odds))
            density += general_terms(general, others, sums, slopes, linear, step)
            density += believed_terms(general, belief, sums, slopes, linear, step)
            if density >= level:
                for k in range(len(constraints)):
                    slack[constraints[k]] -= step * changes[k]
                advance(underway, step)
                return
        if odds < now:
            left = odds
        else:
            right = odds
    for k in range(len(indices)):
        theta[indices[k]] = old[k]

"""Statements about any probability along a line in one CPT: whether each holds at a point, and where it begins to."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.sampler_arrays import BORROWING, ROUNDING, GeneralArrays, Underway

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
def straight_row(general: GeneralArrays, row: int, underway: Underway) -> Any:
    """How far a straight row is from its bound, times its denominator, and how fast a line leads there."""
    sums, slopes = underway.sums, underway.slopes
    slack = general.bounds[row] - underway.linear[0, row]
    change = underway.linear[1, row]
    scale = abs(change)
    for term in range(general.term_starts[row], general.term_starts[row + 1]):
        above, below, coefficient = general.above[term], general.below[term], general.coefficients[term]
        if below >= 0:  # the only term: N/D ≤ c is N − c·D ≤ 0
            bound = general.bounds[row]
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
    """How many rows of each statement that may be wrong do not hold."""
    for row in range(len(general.bounds)):
        if general.meanings[row] >= 0:
            broken[general.meanings[row]] = 0
    for row in range(len(general.bounds)):
        if general.meanings[row] >= 0:
            value = statement_value(general, row, underway.sums, underway.slopes, underway.linear, 0.0)
            broken[general.meanings[row]] += value > ROUNDING


@compiled(**BORROWING)
def general_ratio(
    general: GeneralArrays, underway: Underway, broken: Any, odds: Any, step: float, curved_only: bool
) -> float:
    """What statements give a point of a line over the present one: −∞ where one that must hold does not.

    With `curved_only`, of those that are not straight: the others were looked at before.
    """
    ratio, row, count = 0.0, 0, len(general.bounds)
    sums, slopes, linear = underway.sums, underway.slopes, underway.linear
    while row < count:
        meaning = general.meanings[row]
        if meaning < 0:
            skipped = curved_only and general.single[row]
            if not skipped and statement_value(general, row, sums, slopes, linear, step) > ROUNDING:
                return -np.inf
            row += 1
            continue
        straight, holds = True, True
        while row < count and general.meanings[row] == meaning:
            straight = straight and general.straight[row]
            holds = holds and statement_value(general, row, sums, slopes, linear, step) <= ROUNDING
            row += 1
        if not (curved_only and straight):
            ratio += odds[meaning] * (int(holds) - int(broken[meaning] == 0))
    return ratio


@compiled(**BORROWING)
def go_on(general: GeneralArrays, underway: Underway, broken: Any, step: float) -> None:
    """The sums at another point of a line, and what does not hold there."""
    for s in range(len(underway.sums)):
        underway.sums[s] += step * underway.slopes[s]
    for row in range(len(general.bounds)):
        underway.linear[0, row] += step * underway.linear[1, row]
    count_broken(general, underway, broken)


@compiled(**BORROWING)
def clear_line(general: GeneralArrays, underway: Underway) -> None:
    """A direction without any change, to which those of single parameters are added."""
    for s in range(len(underway.slopes)):
        underway.slopes[s] = 0.0
    for row in range(len(general.bounds)):
        underway.linear[1, row] = 0.0


@compiled(**BORROWING)
def add_direction(general: GeneralArrays, underway: Underway, index: int, change: float) -> None:
    """One parameter of a direction."""
    cell = general.places[index] - underway.first
    for s in range(len(underway.slopes)):
        underway.slopes[s] += change * underway.derivatives[cell, s]
    for e in range(general.entry_starts[index], general.entry_starts[index + 1]):
        underway.linear[1, general.entry_statements[e]] += change * general.entry_values[e]

"""Smooth minimisation without constraints by L-BFGS [nocedal 1980], for problems of a few hundred unknowns.

SciPy's does its small products with a threaded BLAS, which on busy cores takes thirty times as long as the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from credo.types import Numbers

Function = Callable[[Numbers], tuple[float, Numbers]]  # value and gradient

MEMORY = 20
SUFFICIENT, CURVATURE = 1e-4, 0.9  # Wolfe's conditions
TRIALS = 60


@dataclass(frozen=True, slots=True, eq=False)
class Minimum:
    """Where the iterations ended."""

    point: Numbers
    value: float
    gradient: Numbers
    evaluations: int
    is_stationary: bool  # the gradient is below the tolerance, or rounding ends progress; else the limit ended it


def minimise(function: Function, start: Numbers, iterations: int, tolerance: float) -> Minimum:
    """Descend until no component of the gradient is above the tolerance, rounding ends progress, or the limit."""
    point, (value, gradient), evaluations = start, function(start), 1
    pairs: deque[tuple[Numbers, Numbers, float]] = deque(maxlen=MEMORY)
    is_stationary = False
    for _ in range(iterations):
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            break
        direction = -_scaled(gradient, pairs)
        step, after, slope, trials = _wolfe(function, point, value, gradient, direction)
        evaluations += trials
        if after is None:
            if not pairs:
                is_stationary = True
                break
            pairs.clear()  # what was learned of the curvature misleads: once more along the gradient
            continue
        moved, change = step * direction, slope - gradient
        if moved @ change > 1e-16 * float(change @ change):
            pairs.append((moved, change, 1.0 / float(moved @ change)))
        point, value, gradient = point + moved, after, slope
    is_stationary |= bool(np.abs(gradient).max(initial=0.0) <= tolerance)
    return Minimum(point, value, gradient, evaluations, is_stationary)


def _scaled(gradient: Numbers, pairs: deque[tuple[Numbers, Numbers, float]]) -> Numbers:
    """The gradient times the inverse Hessian that the last steps imply: the two loops."""
    if not pairs:
        return gradient / max(1.0, float(np.abs(gradient).max()))
    result, shares = gradient.copy(), []
    for moved, change, inverse in reversed(pairs):
        share = inverse * float(moved @ result)
        shares.append(share)
        result -= share * change
    moved, change, inverse = pairs[-1]
    result /= inverse * float(change @ change)
    for (moved, change, inverse), share in zip(pairs, reversed(shares), strict=True):
        result += (share - inverse * float(change @ result)) * moved
    return result


def _wolfe(
    function: Function, point: Numbers, value: float, gradient: Numbers, direction: Numbers
) -> tuple[float, float | None, Numbers, int]:
    """A step with Wolfe's weak conditions, by bisection [lewis & overton 2013]; None where no step lowers the value."""
    slope = float(gradient @ direction)
    if not slope < 0.0:
        return 0.0, None, gradient, 0
    low, high, step = 0.0, np.inf, 1.0
    for trial in range(1, TRIALS + 1):
        after, there = function(point + step * direction)
        if not after <= value + SUFFICIENT * step * slope:
            high = step
        elif float(there @ direction) < CURVATURE * slope:
            low = step
        else:
            return step, after, there, trial
        step = 0.5 * (low + high) if high < np.inf else 2.0 * low
    return step, None, gradient, TRIALS

"""SQUAREM: from three points of an iteration, guess where it is going [varadhan and roland, 2008].

With r = θ1 − θ0 and v = (θ2 − θ1) − r, the guess is θ0 + 2s·r + s²·v for a step s = ‖r‖/‖v‖. A step of one gives θ2.
Norms are those of the Fisher information, Σ N·Δ²/θ: a row of a table that few observations speak of moves freely
without moving the likelihood, and must not decide the step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Numbers

FIRST_LIMIT = 1.0
GROWTH = 4.0  # of the longest step, where it was reached and served [varadhan and roland, 2008]
LEAST_SHARE = 0.01  # of θ2 that a guess leaves to a state: no probability becomes zero by guessing
SMALLEST = 1e-6  # below this a probability no longer sharpens the norm


def extrapolate(
    points: tuple[Numbers, Numbers, Numbers], row_counts: Numbers, starts: NDArray[np.int64], limit: float
) -> tuple[Numbers | None, float]:
    """The guess, rows summing to one, and its step; no guess where the step would be one.

    `row_counts` gives each cell the count of its row; `starts` says where rows begin.
    """
    first, second, third = points
    r, v = second - first, (third - second) - (second - first)
    weights = row_counts / np.maximum(third, SMALLEST)
    r_norm, v_norm = float(weights @ (r * r)), float(weights @ (v * v))
    step = limit if v_norm * limit**2 <= r_norm else (r_norm / v_norm) ** 0.5
    if step <= 1.0 or r_norm == 0:
        return None, 1.0
    guess = np.maximum(first + 2 * step * r + step**2 * v, LEAST_SHARE * third)
    sums = np.add.reduceat(guess, starts)
    return guess / np.repeat(sums, np.diff(starts, append=len(guess))), step


def next_limit(limit: float, step: float, served: bool) -> float:
    """How long the next step may be: longer after the longest served, shorter after one that did not."""
    if not served:
        return max(FIRST_LIMIT, limit / GROWTH)
    return limit * GROWTH if step >= limit else limit

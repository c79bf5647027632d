"""SQUAREM: extrapolation from three points of an iteration [varadhan and roland, 2008].

With r = θ1 − θ0 and v = (θ2 − θ1) − r, the extrapolation is θ0 + 2s·r + s²·v for a step s = ‖r‖/‖v‖. A step of one
gives θ2. Norms are those of the Fisher information, Σ N·Δ²/θ: a distribution with few observations changes freely
without changing the likelihood, and must not decide the step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Numbers

FIRST_LIMIT = 1.0
GROWTH = 4.0  # of the longest step, where it was reached and accepted [varadhan and roland, 2008]
LEAST_SHARE = 0.01  # of θ2 that an extrapolation leaves to a state: no probability becomes zero by it
SMALLEST = 1e-6  # below this a probability no longer sharpens the norm


def extrapolate(
    points: tuple[Numbers, Numbers, Numbers], totals: Numbers, starts: NDArray[np.int64], limit: float
) -> tuple[Numbers | None, float]:
    """The extrapolation, normalised, and its step; None where the step would be one.

    `totals` gives each cell the count of its distribution; `starts` says where distributions begin.
    """
    first, second, third = points
    r, v = second - first, (third - second) - (second - first)
    weights = totals / np.maximum(third, SMALLEST)
    r_norm, v_norm = float(weights @ (r * r)), float(weights @ (v * v))
    step = limit if v_norm * limit**2 <= r_norm else (r_norm / v_norm) ** 0.5
    if step <= 1.0 or r_norm == 0:
        return None, 1.0
    point = np.maximum(first + 2 * step * r + step**2 * v, LEAST_SHARE * third)
    sums = np.add.reduceat(point, starts)
    return point / np.repeat(sums, np.diff(starts, append=len(point))), step


def next_limit(limit: float, step: float, accepted: bool) -> float:
    """How long the next step may be: longer after the longest was accepted, shorter after one was not."""
    if not accepted:
        return max(FIRST_LIMIT, limit / GROWTH)
    return limit * GROWTH if step >= limit else limit

"""Ranked nodes: a large CPT from a weight for each parent and a spread [Fenton, Neil and Caballero, 2007].

The states of a variable with m ordered states are the intervals [k/m, (k+1)/m] of a scale from 0 to 1. The child has a
normal distribution on that scale, truncated to [0, 1], around a mean that its parents' values x determine:

    mean  μ = Σ w_i x_i / Σ w_i
    max   μ = max_i (w_i x_i + Σ_{j≠i} x_j) / (w_i + n − 1)        min the same with min

A distribution of the CPT is the average of that of the child over all x in the intervals of its parents' states, at
points that divide each interval evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from credo.types import Indices, Numbers

KINDS = ("mean", "max", "min")
POINTS = 5  # in the interval of each parent's state, as AgenaRisk has by default
MOST_POINTS = 2**12  # for all parents together; with more parents there are fewer of each
MOST_AT_ONCE = 2**20  # points in memory


def ranked_cpt(
    kind: str, weights: Sequence[float], sizes: Sequence[int], states: int, spread: float, points: int = POINTS
) -> Numbers:
    """The CPT of a ranked node, axes (parents…, child), all states from low to high.

    `sizes` are the numbers of states of the parents, and `spread` is the standard deviation of the normal distribution
    before it is truncated.
    """
    every = np.indices(sizes).reshape(len(sizes), -1).T
    return ranked_distributions(kind, weights, sizes, states, spread, every, points).reshape(*sizes, states)


def ranked_distributions(
    kind: str,
    weights: Sequence[float],
    sizes: Sequence[int],
    states: int,
    spread: float,
    configurations: Indices,
    points: int = POINTS,
) -> Numbers:
    """Some distributions of that CPT: (configurations, states), of configurations (configurations, parents)."""
    from scipy.special import ndtr

    while points > 1 and points ** len(sizes) > MOST_POINTS:
        points -= 1
    within = (np.arange(points) + 0.5) / points
    own = np.asarray(weights, dtype=np.float64)
    edges = np.linspace(0.0, 1.0, states + 1)
    grid = np.array(list(product(within, repeat=len(sizes)))).reshape(-1, len(sizes))
    found = np.empty((len(configurations), states))
    step = max(1, MOST_AT_ONCE // len(grid))
    for first in range(0, len(configurations), step):  # so that few points are in memory at a time
        some = configurations[first : first + step]
        values = ((some[:, None, :] + grid) / np.array(sizes)).reshape(-1, len(sizes))
        cumulative = ndtr((edges - mean_of(kind, own, values)[:, None]) / spread)
        mass = np.diff(cumulative, axis=1)
        shares = (mass / mass.sum(axis=1, keepdims=True)).reshape(len(some), len(grid), states)
        found[first : first + step] = shares.mean(axis=1)
    return found


def mean_of(kind: str, weights: Numbers, values: Numbers) -> Numbers:
    """The mean of the child at values of its parents, (points, parents)."""
    if kind == "mean":
        return np.asarray(values @ weights / weights.sum(), dtype=np.float64)
    others = values.sum(axis=1, keepdims=True) - values
    each = (weights * values + others) / (weights + values.shape[1] - 1)
    return np.asarray(each.max(axis=1) if kind == "max" else each.min(axis=1), dtype=np.float64)

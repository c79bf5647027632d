"""A large CPT from a few numbers: ranked nodes and InterBeta.

Ranked nodes have a weight for each parent and a spread [Fenton, Neil and Caballero, 2007].

The states of a variable with m ordered states are the intervals [k/m, (k+1)/m] of a scale from 0 to 1. The child has a
normal distribution on that scale, truncated to [0, 1], around a mean that its parents' values x determine:

    mean  μ = Σ w_i x_i / Σ w_i
    max   μ = max_i (w_i x_i + Σ_{j≠i} x_j) / (w_i + n − 1)        min the same with min

A distribution of the CPT is the average of that of the child over all x in the intervals of its parents' states, at
points that divide each interval evenly.

InterBeta starts from the distributions in the worst and the best configuration of the parents [Barons, Mascaro and
Hanea, 2022]. They become Beta distributions on the scale, with the same mean and variance. In between, α and β are
interpolated: with weights w_i and the state s_i of parent i of m_i states,

    t = Σ w_i s_i / (m_i − 1) / Σ w_i        (α, β) = (1 − t) · (α, β)_worst + t · (α, β)_best

and the distribution of the CPT is the mass of that Beta distribution on the intervals. Single configurations c may be
given, too: log α/β and log (α + β) are then off by r_c there, and elsewhere by Σ_c r_c / d_c² / Σ_c 1/d_c², with the
distance d_c from c, the worst and the best with r = 0 among them [Shepard, 1968]. What is given is taken as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from credo.types import Indices, Numbers

KINDS = ("mean", "max", "min")
POINTS = 5  # in the interval of each parent's state, inside of it; AgenaRisk's five have its ends among them
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


# Interpolation between distributions ----------------------------------------------------------------------------------


LEAST, MOST = 1e-3, 1e4  # of α and β
CLOSE = 1e-12  # squared distance of a configuration from itself


class Corner(NamedTuple):
    """A configuration whose distribution is given: the state of each parent, counted from the lowest."""

    configuration: tuple[int, ...]
    distribution: Numbers


def interpolated_cpt(
    weights: Sequence[float], sizes: Sequence[int], worst: Numbers, best: Numbers, corners: Sequence[Corner] = ()
) -> Numbers:
    """The CPT between two distributions, axes (parents…, child), all states from low to high."""
    every = np.indices(sizes).reshape(len(sizes), -1).T
    return interpolated_distributions(weights, sizes, worst, best, every, corners).reshape(*sizes, len(worst))


def interpolated_distributions(
    weights: Sequence[float],
    sizes: Sequence[int],
    worst: Numbers,
    best: Numbers,
    configurations: Indices,
    corners: Sequence[Corner] = (),
) -> Numbers:
    """Some distributions of that CPT: (configurations, states), of configurations (configurations, parents)."""
    from scipy.special import expit

    scale = np.maximum(np.array(sizes) - 1, 1)
    own = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    ends = np.array([_fitted(tuple(worst)), _fitted(tuple(best))])
    positions = configurations / scale
    shapes = _between(ends, positions @ own)
    given = [Corner((0,) * len(sizes), worst), Corner(tuple(size - 1 for size in sizes), best), *corners]
    if corners:
        places = np.array([corner.configuration for corner in given]) / scale
        fitted = np.array([_fitted(tuple(corner.distribution)) for corner in given])
        off = _ratio_and_size(fitted) - _ratio_and_size(_between(ends, places @ own))
        near = 1.0 / np.maximum(((positions[:, None] - places) ** 2).sum(axis=2), CLOSE)
        ratio, size = (_ratio_and_size(shapes) + near @ off / near.sum(axis=1, keepdims=True)).T
        shapes = np.exp(size)[:, None] * expit(np.stack((ratio, -ratio), axis=1))
    found = np.array([beta_mass(alpha, beta, len(worst)) for alpha, beta in np.clip(shapes, LEAST, MOST)])
    for corner in given:
        found[(configurations == corner.configuration).all(axis=1)] = corner.distribution
    return found


def _between(ends: Numbers, shares: Numbers) -> Numbers:
    """(α, β) at shares of the way from the worst to the best, (configurations, 2)."""
    return np.asarray((1.0 - shares[:, None]) * ends[0] + shares[:, None] * ends[1], dtype=np.float64)


def _ratio_and_size(shapes: Numbers) -> Numbers:
    """log α/β and log (α + β), (configurations, 2)."""
    return np.stack((np.log(shapes[:, 0] / shapes[:, 1]), np.log(shapes.sum(axis=1))), axis=1)


@lru_cache(maxsize=1024)  # weights that are learned ask for the same ends again and again
def _fitted(distribution: tuple[float, ...]) -> tuple[float, float]:
    return fitted_beta(np.array(distribution))


def beta_mass(alpha: float, beta: float, states: int) -> Numbers:
    """The mass of a Beta distribution on equal intervals."""
    from scipy.special import betainc

    mass = np.diff(betainc(alpha, beta, np.linspace(0.0, 1.0, states + 1)))
    return np.asarray(mass / mass.sum(), dtype=np.float64)


def fitted_beta(distribution: Numbers) -> tuple[float, float]:
    """α and β of the Beta distribution whose masses on equal intervals are nearest to a distribution.

    The first guess has the mean and the variance of the midpoints of the intervals.
    """
    from scipy.optimize import least_squares

    given = np.asarray(distribution, dtype=np.float64)
    states = len(given)
    middles = (np.arange(states) + 0.5) / states
    mean = float(given @ middles)
    variance = float(given @ (middles - mean) ** 2) + 1.0 / (12 * states**2)
    total = max(mean * (1 - mean) / variance - 1.0, 0.1)
    start = np.log(np.clip([mean * total, (1 - mean) * total], 2 * LEAST, MOST / 2))

    def difference(logs: Numbers) -> Numbers:
        alpha, beta = np.exp(logs)
        return np.asarray(np.sqrt(beta_mass(alpha, beta, states)) - np.sqrt(given), dtype=np.float64)

    found = least_squares(difference, start, bounds=(np.log(LEAST), np.log(MOST)))
    alpha, beta = np.exp(found.x)
    return float(alpha), float(beta)

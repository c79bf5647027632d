"""InterBeta: a large CPT from its best and its worst distribution [Barons, Mascaro and Hanea, 2022].

The states of a variable with m ordered states are the intervals [k/m, (k+1)/m] of a scale from 0 to 1. The distribution
in the worst configuration of the parents, and that in the best, become Beta distributions on that scale with the same
mean and variance. In between, α and β are interpolated: with weights w_i and the state s_i of parent i of m_i states,

    t = Σ w_i s_i / (m_i − 1) / Σ w_i        (α, β) = (1 − t) · (α, β)_worst + t · (α, β)_best

and the distribution of the CPT is the mass of that Beta distribution on the intervals. The two given distributions are
taken as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import least_squares
from scipy.special import betainc

from credo.types import Numbers

LEAST, MOST = 1e-3, 1e4  # of α and β


def interpolated_cpt(weights: Sequence[float], sizes: Sequence[int], worst: Numbers, best: Numbers) -> Numbers:
    """The CPT between two distributions, axes (parents…, child), all states from low to high."""
    own = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    ends = np.array([fitted_beta(worst), fitted_beta(best)])
    cpt = np.empty((*sizes, len(worst)))
    for configuration in np.ndindex(*sizes):
        shares = [state / max(size - 1, 1) for state, size in zip(configuration, sizes, strict=True)]
        share = float(own @ np.array(shares))
        alpha, beta = (1.0 - share) * ends[0] + share * ends[1]
        cpt[configuration] = beta_mass(alpha, beta, len(worst))
    cpt[(0,) * len(sizes)] = worst
    cpt[tuple(size - 1 for size in sizes)] = best
    return cpt


def beta_mass(alpha: float, beta: float, states: int) -> Numbers:
    """The mass of a Beta distribution on equal intervals."""
    mass = np.diff(betainc(alpha, beta, np.linspace(0.0, 1.0, states + 1)))
    return np.asarray(mass / mass.sum(), dtype=np.float64)


def fitted_beta(distribution: Numbers) -> tuple[float, float]:
    """α and β of the Beta distribution whose masses on equal intervals are nearest to a distribution.

    The first guess has the mean and the variance of the midpoints of the intervals.
    """
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

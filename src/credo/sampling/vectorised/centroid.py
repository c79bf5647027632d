"""The centroid of a polytope {x : Gx ≤ h}, h > 0, by coordinate steps of many chains at once.

The inverse root of the curvature of −Σ log(h − Gx) at its minimum makes the polytope round, the spread of the first
draws makes it rounder. In such coordinates uniform draws along one axis after the other [smith 1984] mix within few
sweeps. Instead of draws, the middles of the segments that they are drawn from are averaged; the means of independent
chains show how large the error still is. `kernels/centroid.py` is the same with one long chain.
"""

from __future__ import annotations

import numpy as np

from credo.arrays import Numbers
from credo.sampling.vectorised import CHAINS

CENTRED = 1e-3  # Newton's decrement at the minimum
NEWTON_STEPS = 200
ROUNDINGS = 2
FLATTEST = 1e-6  # a variance, where the curvature expects about one
BURN_IN, FIRST_SWEEPS, LAST_SWEEPS = 10, 8, 4096


def centroid(matrix: Numbers, bounds: Numbers, tolerance: float, rng: np.random.Generator) -> Numbers:
    """The mean of the uniform distribution on {x : matrix·x ≤ bounds}, where all bounds are above zero.

    The tolerance is in units of the standard deviation, in the square mean over all directions.
    """
    size = matrix.shape[1]
    centre, root = _analytic_centre(matrix, bounds)
    slack = bounds - matrix @ centre
    axes = np.linalg.inv(root).T  # columns: steps along them change −Σ log slack alike
    if size == 1:
        low, high = _reach((matrix @ axes).T[0][:, None], slack[:, None])
        return np.asarray(centre + axes[:, 0] * 0.5 * (low + high))
    for _ in range(ROUNDINGS):
        places, changes = np.zeros((size, CHAINS)), (matrix @ axes).T
        left = np.repeat(slack[:, None], CHAINS, axis=1)
        for _ in range(BURN_IN + size):
            _sweep(changes, left, places, np.zeros_like(places), rng)
        spread = np.cov(places) + FLATTEST * np.eye(size)
        axes = axes @ np.linalg.cholesky(spread)
    mean = _mean((matrix @ axes).T, slack, tolerance, rng)
    # All draws are inside, but middles of where they were drawn from need not be, each by itself.
    while ((matrix @ axes) @ mean > slack).any():
        mean *= 0.5
    return np.asarray(centre + axes @ mean)


def _analytic_centre(matrix: Numbers, bounds: Numbers) -> tuple[Numbers, Numbers]:
    """The minimum of −Σ log(h − Gx) by Newton's damped steps, and the root R of its curvature there, RᵀR."""
    point = np.zeros(matrix.shape[1])
    for _ in range(NEWTON_STEPS):
        scaled = matrix / (bounds - matrix @ point)[:, None]
        gradient, curvature = scaled.sum(axis=0), scaled.T @ scaled
        step = -np.linalg.solve(curvature, gradient)
        decrement = float(np.sqrt(max(-gradient @ step, 0.0)))
        point = point + step / (1.0 + decrement)
        if decrement < CENTRED:
            break
    scaled = matrix / (bounds - matrix @ point)[:, None]
    return point, np.asarray(np.linalg.cholesky(scaled.T @ scaled).T, dtype=np.float64)


def _reach(change: Numbers, slack: Numbers) -> tuple[Numbers, Numbers]:
    """How far steps along one axis can go back and forth, where constraints change by `change`, (constraints, 1)."""
    forward, back = change[:, 0] > 0.0, change[:, 0] < 0.0
    high = (slack[forward] / change[forward]).min(axis=0)
    low = (slack[back] / change[back]).max(axis=0)
    return np.minimum(low, 0.0), np.maximum(high, 0.0)


def _sweep(changes: Numbers, slack: Numbers, places: Numbers, total: Numbers, rng: np.random.Generator) -> None:
    """A uniform draw along every axis; the middle of what it was drawn from is added to `total`."""
    for axis, change in enumerate(changes):
        low, high = _reach(change[:, None], slack)
        total[axis] += places[axis] + 0.5 * (low + high)
        step = low + rng.random(len(low)) * (high - low)
        places[axis] += step
        slack -= change[:, None] * step


def _mean(changes: Numbers, slack: Numbers, tolerance: float, rng: np.random.Generator) -> Numbers:
    """The mean along the axes, to a standard error below the tolerance, as independent chains show it."""
    size = len(changes)
    places, left = np.zeros((size, CHAINS)), np.repeat(slack[:, None], CHAINS, axis=1)
    for _ in range(BURN_IN + size):
        _sweep(changes, left, places, np.zeros_like(places), rng)
    total, done, wanted = np.zeros((size, CHAINS)), 0, FIRST_SWEEPS
    while True:
        for _ in range(wanted - done):
            _sweep(changes, left, places, total, rng)
        done = wanted
        error = (total / done).var(axis=1, ddof=1).mean() / CHAINS
        if error <= tolerance**2 or done >= LAST_SWEEPS:
            return np.asarray(total.mean(axis=1) / done)
        wanted = 2 * done

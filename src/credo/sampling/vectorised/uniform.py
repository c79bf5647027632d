"""Uniform draws from small polytopes, and their means, many chains at once."""

from __future__ import annotations

import numpy as np

from credo.posterior.convergence import starts_matter
from credo.sampling.region import Region, scattered_points, with_learned
from credo.sampling.vectorised import AGREEING, CHAINS, LEAST_DRAWS, MOST_SWEEPS, SCATTERED, SUPERCHAINS, WARMUP_SHARE
from credo.sampling.vectorised.gibbs import SweepPlan, plan_of, sweep_moves
from credo.types import Numbers

# Draws ----------------------------------------------------------------------------------------------------------------


SPREADING = 4  # sweeps under the uniform, with which superchains leave their vertices


def run_many_chains(region: Region, shape: Numbers, draws: int, warmup: int, thinning: int, seed: int) -> Numbers:
    """At least as many draws in all as wanted, (chains, draws, parameters); chains of a superchain next to each other.

    The target is Π θ^(shape − 1) on what the region allows. As long as starting points matter, draws become warm-up.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
    scattered = scattered_points(region, SCATTERED, rng)
    plan = plan_of(with_learned(region, scattered[None]))
    points = np.concatenate((scattered[:SUPERCHAINS].T, np.ones((1, SUPERCHAINS))))
    for _ in range(SPREADING):
        sweep_moves(plan, None, points, rng)
    theta = np.repeat(points, CHAINS // SUPERCHAINS, axis=1)
    shapes = None if (shape == 1.0).all() else np.repeat(np.append(shape, 1.0)[:, None], CHAINS, axis=1)
    half = max(2, round(0.5 * WARMUP_SHARE * warmup))
    snapshots = _draws(plan, shapes, theta, half, 1, rng)[:, -2:]
    plan = plan_of(with_learned(region, snapshots))
    _draws(plan, shapes, theta, half, 1, rng)
    count, swept = max(LEAST_DRAWS, -(-draws // CHAINS)), SPREADING + 2 * half
    while True:
        values = _draws(plan, shapes, theta, count, thinning, rng)
        swept += count * thinning
        thinning *= 2
        differ = starts_matter(values, SUPERCHAINS, AGREEING).any()
        if not differ or swept + count * thinning > MOST_SWEEPS:
            return values
        plan = plan_of(with_learned(region, values[:, -2:]))


def _draws(
    plan: SweepPlan, shapes: Numbers | None, theta: Numbers, count: int, thinning: int, rng: np.random.Generator
) -> Numbers:
    values = np.empty((theta.shape[1], count, len(theta) - 1))
    for draw in range(count):
        for _ in range(thinning):
            sweep_moves(plan, shapes, theta, rng)
        values[:, draw] = theta[:-1].T
    return values


# Means ----------------------------------------------------------------------------------------------------------------


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

"""Draws from a block by many chains at once, for concentrations of one and more, which hold no chain in a corner."""

from __future__ import annotations

import numpy as np

from credo.arrays import Numbers
from credo.sampling.convergence import starts_matter
from credo.sampling.region import Region, scattered_points, with_learned
from credo.sampling.vectorised import AGREEING, CHAINS, LEAST_DRAWS, MOST_SWEEPS, SCATTERED, SUPERCHAINS, WARMUP_SHARE
from credo.sampling.vectorised.gibbs import SweepPlan, plan_of, sweep_moves

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

"""The posterior by hundreds of short chains: overdispersed starts, a short warm-up, and draws until they agree.

Chains come in superchains that start at the same point, which a few sweeps of the prior under the statements alone
found: so far apart as the statements let the prior be. How much starting points still matter is then seen directly
(`nested_r_hat`); where they do, all draws so far become warm-up, and twice as many sweeps follow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from credo.arrays import Numbers
from credo.options import PosteriorOptions
from credo.sampling.convergence import effective_sizes_of_short_chains, nested_r_hat
from credo.sampling.distributions import Hyperparameters, SampledDistributions
from credo.sampling.draws import Draws
from credo.sampling.joint_updates import supports_of
from credo.sampling.polytope import Region, with_learned
from credo.sampling.vectorised.gibbs import ChainStates, Model, SweepPlan, free_moments, model_of, plan_of, start, sweep

CHAINS = 256
SUPERCHAINS = 16
SPREADING = 10  # sweeps without data, in which superchains find their starting points
WARMUP_SHARE = 0.1  # of the warm-up that a single long chain gets
LEAST_DRAWS = 16  # of each chain
MOST_SWEEPS = 400
AGREEING = 1.02  # nested R-hat: starting points move the mean by less than a twentieth of a standard deviation

StepDone = Callable[[int, int], None]


def sample_posterior(
    region: Region,
    sampled: SampledDistributions,
    hyperparameters: Hyperparameters,
    options: PosteriorOptions,
    seed: int,
    progress: StepDone,
) -> tuple[Draws, Numbers, Numbers]:
    """Draws of all chains, and the effective sizes and nested R-hat of the parameters in blocks."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    model = model_of(region, sampled, hyperparameters)
    supports = supports_of(region.blocks, region.parts, region.start)
    plan = plan_of(region, model, supports)
    warmup = max(4, round(WARMUP_SHARE * options.warmup))
    count = max(LEAST_DRAWS, -(-options.chains * options.draws // CHAINS))
    run = _Progress(progress, SPREADING + warmup + count * options.thinning)

    points = start(model, region, SUPERCHAINS, rng)
    for _ in range(SPREADING):
        sweep(model, plan, points, rng, data=False)
        run.step()
    state = points.take(np.repeat(np.arange(SUPERCHAINS), CHAINS // SUPERCHAINS))
    snapshots = []
    for number in range(warmup):
        sweep(model, plan, state, rng)
        run.step()
        if number in (warmup // 2 - 2, warmup // 2 - 1):
            snapshots.append(state.theta[:-1].T)
        if number == warmup // 2 - 1:
            flat = np.concatenate(snapshots)
            plan = plan_of(with_learned(region, flat[None]), model, supports, flat)

    thinning, swept = options.thinning, SPREADING + warmup
    while True:
        found = _draws(model, plan, state, count, thinning, rng, run)
        swept += count * thinning
        sizes = effective_sizes_of_short_chains(found.theta)
        mixed, of_means = (nested_r_hat(draws, SUPERCHAINS) for draws in (found.theta, found.means))
        thinning *= 2
        worst = max(mixed.max(initial=1.0), of_means.max(initial=1.0))
        if worst <= AGREEING or swept + count * thinning > MOST_SWEEPS:
            return found, sizes, mixed
        run.total += count * thinning


class _Progress:
    """Counts sweeps; a run that goes on makes the total grow."""

    def __init__(self, report: StepDone, total: int) -> None:
        self.report, self.total, self.done = report, total, 0

    def step(self) -> None:
        self.done += 1
        self.report(self.done, self.total)


def _draws(
    model: Model,
    plan: SweepPlan,
    state: ChainStates,
    count: int,
    thinning: int,
    rng: np.random.Generator,
    run: _Progress,
) -> Draws:
    chains, edge = state.chains, model.edge
    theta = np.empty((chains, count, edge))
    component = np.empty((chains, count, len(state.component)), dtype=np.int8)
    means = np.empty((chains, count, len(state.means)))
    weights = np.empty((chains, count, *state.weights.shape[:2]))
    moments = np.zeros((2, model.sampled.size - edge))
    for draw in range(count):
        for _ in range(thinning):
            sweep(model, plan, state, rng)
            moments += free_moments(model, state)
            run.step()
        theta[:, draw] = state.theta[:-1].T
        component[:, draw] = state.component.T
        means[:, draw] = state.means.T
        weights[:, draw] = state.weights.transpose(2, 0, 1)
    first, second = moments / (count * thinning)
    return Draws(theta, component, means, weights, first, second)

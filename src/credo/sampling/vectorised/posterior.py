"""The posterior by hundreds of short chains: overdispersed starts, a short warm-up, and draws until they agree.

Chains come in superchains that start at the same point: near a random vertex of what the statements allow, and moved on
by a few sweeps without data, so that starting points are as far apart as the statements let the prior be. How much
they still matter is then seen directly (`starts_matter`); where they do, all draws so far become warm-up, from which
directions are learned once more, and twice as many sweeps follow. The same where an average is not certain enough.

Where values are missing, half of the superchains start with the counts that EM ended with instead, and each sweep first
draws the missing values of all chains.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from credo.options import PosteriorOptions
from credo.posterior.convergence import LARGEST_R_HAT, effective_sizes_of_short_chains, nested_r_hat, starts_matter
from credo.sampling.averages import SMALLEST_SIZE, averages_of
from credo.sampling.directions import without_moves
from credo.sampling.distributions import Draws, Hyperparameters, SampledDistributions
from credo.sampling.joint_updates import supports_of
from credo.sampling.missing_values import Augmentation
from credo.sampling.region import Region, scattered_points, with_learned
from credo.sampling.relabelling import renamed
from credo.sampling.vectorised import (
    AGREEING,
    CHAINS,
    LEAST_DRAWS,
    MOST_SWEEPS,
    MOST_SWEEPS_WITH_GENERAL,
    MOST_SWEEPS_WITH_MISSING,
    QUICK_CELLS,
    QUICK_PARAMETERS,
    ROUNDS,
    SCATTERED,
    SUPERCHAINS,
    TIED_WARMUP,
    WARMUP_ROUNDS,
    WARMUP_SHARE,
)
from credo.sampling.vectorised.chain_states import ChainStates, Model, model_of, start
from credo.sampling.vectorised.doubtful_updates import DoubtfulUpdates
from credo.sampling.vectorised.general_updates import GeneralSweeps
from credo.sampling.vectorised.gibbs import SweepPlan, free_moments, plan_of, sweep
from credo.types import Numbers

SNAPSHOTS = 1000  # draws at most from which directions are learned
SPREADING = 10  # sweeps without data, in which superchains find their starting points

StepDone = Callable[[int, int], None]


def sample_posterior(
    region: Region,
    sampled: SampledDistributions,
    hyperparameters: Hyperparameters,
    options: PosteriorOptions,
    seed: int,
    progress: StepDone,
    missing: Augmentation | None = None,
    doubtful: DoubtfulUpdates | None = None,
    general: GeneralSweeps | None = None,
) -> tuple[Draws, Numbers, Numbers]:
    """Draws of all chains, and the effective sizes and nested R-hat of the parameters whose draws are kept."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 1]))
    model = model_of(region, sampled, hyperparameters, counts_change=missing is not None)
    model = replace(model, doubtful=doubtful, general=general)
    supports = supports_of(region.blocks, region.parts, region.start)
    scattered = scattered_points(region, SCATTERED, rng)
    if general is not None:  # what general statements reach starts where these hold
        supports = [
            each.without_updates() if own else each
            for each, own in zip(supports, general.updates.groups.tolist(), strict=True)
        ]
        reached = np.repeat(general.updates.groups, [block.size for block in region.blocks])
        for place, point in enumerate(scattered):
            point[reached] = region.point(place)[reached]

    def planned(snapshots: Numbers, draws: Numbers | None = None) -> SweepPlan:
        """The updates of a sweep, with what draws show; what general statements reach is updated by itself."""
        own = with_learned(region, snapshots[None])
        if general is not None:
            general.learn(own)
            parts = zip(own.parts, general.updates.groups.tolist(), strict=True)
            own = replace(own, parts=tuple(without_moves(part) if has else part for part, has in parts))
        return plan_of(own, supports, draws)

    plan = planned(scattered)
    warmup = max(4, round(WARMUP_SHARE * options.warmup))
    warmup *= TIED_WARMUP if missing is not None and missing.tied is not None else 1
    count = max(LEAST_DRAWS, -(-options.chains * options.draws // CHAINS))
    run = _Progress(progress, SPREADING + warmup + count * options.thinning)

    points = start(model, scattered[:SUPERCHAINS], rng)
    for _ in range(SPREADING):
        sweep(model, plan, points, rng, data=False)
        run.step()
    state = points.take(np.repeat(np.arange(SUPERCHAINS), CHAINS // SUPERCHAINS))
    snapshots, most_sweeps = [], MOST_SWEEPS
    if missing is not None:
        quick = missing.cells <= QUICK_CELLS and sampled.size <= QUICK_PARAMETERS
        most_sweeps = MOST_SWEEPS_WITH_MISSING * (2 if quick else 1)
    if general is not None:
        most_sweeps = MOST_SWEEPS_WITH_GENERAL
    for number in range(warmup):
        counts = None
        if missing is not None:
            counts = _first_counts(missing, state, rng) if number == 0 else missing.completed(state.all_theta(), rng)
        sweep(model, plan, state, rng, counts=counts, rounds=WARMUP_ROUNDS)
        run.step()
        if number in (warmup // 2 - 2, warmup // 2 - 1):
            snapshots.append(state.theta[:-1].T)
        if number == warmup // 2 - 1:
            flat = np.concatenate(snapshots)
            plan = planned(flat, flat)

    thinning, swept = options.thinning, SPREADING + warmup
    while True:
        found = _draws(model, plan, state, count, thinning, rng, run, missing)
        found = found if missing is None else renamed(found, missing.renamings)
        swept += count * thinning
        sizes = effective_sizes_of_short_chains(found.theta)
        mixed = nested_r_hat(found.theta, SUPERCHAINS)
        thinning *= 2
        drawn = found.theta, found.means, found.weights.reshape(*found.weights.shape[:2], -1)
        differ = any(starts_matter(draws, SUPERCHAINS, AGREEING).any() for draws in drawn)
        few = not (sizes >= SMALLEST_SIZE).all() or averages_of(sampled, hyperparameters, found).doubtful.any()
        poorly = missing is not None and not (mixed <= LARGEST_R_HAT).all()
        if not (differ or few or poorly) or swept + count * thinning > most_sweeps:
            return found, sizes, mixed
        flat = np.concatenate(found.theta)[-SNAPSHOTS:]
        plan = planned(flat, flat)
        run.total += count * thinning


def _first_counts(missing: Augmentation, state: ChainStates, rng: np.random.Generator) -> Numbers:
    """Rows completed for the first time: superchains start in turn where EM ended, and at CPTs drawn at random."""
    counts = missing.completed(missing.flattened(state.all_theta()), rng, first=True)
    by_em = np.arange(CHAINS) * SUPERCHAINS // CHAINS % 2 == 0
    counts[:, by_em] = missing.expected[:, None]
    return counts


class _Progress:
    """Counts sweeps; a run that goes on makes the total grow."""

    def __init__(self, notify: StepDone, total: int) -> None:
        self.notify, self.total, self.done = notify, total, 0

    def step(self) -> None:
        self.done += 1
        self.notify(self.done, self.total)


def _draws(
    model: Model,
    plan: SweepPlan,
    state: ChainStates,
    count: int,
    thinning: int,
    rng: np.random.Generator,
    run: _Progress,
    missing: Augmentation | None,
) -> Draws:
    chains = state.chains
    kept = model.edge if missing is None else model.sampled.size
    theta = np.empty((chains, count, kept))
    component = np.empty((chains, count, len(state.component)), dtype=np.int8)
    means = np.empty((chains, count, len(state.means)))
    weights = np.empty((chains, count, *state.weights.shape[:2]))
    moments = np.zeros((chains, model.sampled.size - kept))
    squares = np.zeros(model.sampled.size - kept)
    for draw in range(count):
        for _ in range(thinning):
            if missing is not None:
                sweep(model, plan, state, rng, counts=missing.completed(state.all_theta(), rng), rounds=ROUNDS)
            else:
                sweep(model, plan, state, rng, rounds=ROUNDS)
                first, second = free_moments(model, state)
                moments += first.T
                squares += second
            run.step()
        theta[:, draw] = (state.theta[:-1] if missing is None else state.all_theta()).T
        component[:, draw] = state.component.T
        means[:, draw] = state.means.T
        weights[:, draw] = state.weights.transpose(2, 0, 1)
    sweeps = count * thinning
    return Draws(theta, component, means, weights, moments[:, None] / sweeps, squares / sweeps, np.array([count]))

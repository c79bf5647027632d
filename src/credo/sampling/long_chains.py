"""Few long chains of the posterior: warm-up, how often each distribution is updated, and when there are enough draws.

Most distributions mix within a sweep or two, a few need hundreds. How many shows in effective sizes, but those of a
short warm-up say little about what is slow. So chains first go on with nothing but the slow distributions, which costs
what these cost; all others stay as they are. Then every distribution is updated as often as it needs (`schedule.py`),
by all that is known of it. Chains go on where some parameters have not mixed, with more updates of these alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from credo.options import PosteriorOptions
from credo.posterior.convergence import effective_sizes, r_hat
from credo.sampling.averages import SMALLEST_SIZE, averages_of, not_mixed
from credo.sampling.compiled_chains import CompiledChains
from credo.sampling.distributions import Draws, Hyperparameters, SampledDistributions, appended, arrays_of
from credo.sampling.doubted_statements import DoubtedConstraints
from credo.sampling.doubtful_moves import DoubtfulMoves
from credo.sampling.general_updates import GeneralUpdates
from credo.sampling.missing_values import Augmentation
from credo.sampling.plan import SamplingPlan, sampling_seconds
from credo.sampling.polytope import SNAPSHOTS
from credo.sampling.region import Region
from credo.sampling.relabelling import renamed
from credo.sampling.schedule import still_needed
from credo.types import Numbers

SAFETY = 2.0  # by so much sizes that are estimated from few draws may be too large
# Distributions that would need so many updates a sweep are run by themselves, with so many from draw to draw.
SLOW = ((6, 3), (20, 10))
PARTS = 4  # of the draws that were asked for, one of which is added where some parameters have not mixed
MORE = 0.5  # updates of these at least, for each of those before; and of all others at most
KEPT = 1.25  # times the smallest size: all others keep so much, as draws that are added with less effort can cost some
# Updates of single parameters, in all sweeps of all chains, after which no draws are added: half a minute of one core.
MOST_UPDATES, MOST_UPDATES_WITH_MISSING = 40_000_000, 20_000_000
MOST_THINNING = 4  # times as many sweeps from draw to draw as was asked for, where chains of `max_draws` have not mixed
MOST_MISSING_UPDATES = 200_000_000  # the same for drawing missing values, whose updates are visits of cells
LARGEST_R_HAT_OF_TRUTH = 1.1  # of whether a statement is true, above which that is uncertain
Progress = Callable[[int, int], None]


def sample_long_chains(
    region: Region,
    sampled: SampledDistributions,
    hyperparameters: Hyperparameters,
    options: PosteriorOptions,
    plan: SamplingPlan,
    seed: int,
    progress: Progress,
    announce: Callable[[float], None],
    missing: Augmentation | None,
    doubtful: DoubtfulMoves | None,
    general: GeneralUpdates | None,
) -> tuple[Draws, Numbers, Numbers]:
    """Draws, and effective sizes and R-hat of the parameters that are kept.

    Each chain goes on to `max_draws` while some parameters have not mixed, within `MOST_UPDATES`. Then every second
    draw is dropped, and chains go on with twice as many sweeps from one draw to the next.
    """
    arrays = arrays_of(sampled, region.start, region.compared, hyperparameters)
    chains = CompiledChains(region, sampled, arrays, hyperparameters, options.chains, seed, missing, doubtful, general)
    draws = plan.draws
    kept = -(-SNAPSHOTS // options.chains)
    if plan.warmup < options.warmup:  # a large problem: two stages of the warm-up that is left
        kept = min(kept, plan.warmup // 2)
    done, total = 0, 2 * kept + draws

    def step_done(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total)

    began = perf_counter()
    sweeps = plan.warmup + draws * options.thinning
    announce(sampling_seconds(sweeps, options.chains, *chains.sizes, 0 if missing is None else missing.updates))
    first, second = (max(1, round(share * plan.warmup / kept)) for share in (0.4, 0.6))
    chains.learn(region, chains.stage(kept, first, step_done).theta)
    announce((perf_counter() - began) * sweeps / max(1.0, 0.4 * plan.warmup))
    chains.spent[:] = 0.0
    snapshots = chains.stage(kept, second, step_done)
    announce((perf_counter() - began) * sweeps / max(1.0, plan.warmup))
    wanted = SAFETY * SMALLEST_SIZE
    known = chains.judged(effective_sizes, snapshots)  # what `spent` updates gave, those of slow distributions too
    if chains.can_rest:
        snapshots, known = _with_slow(chains, snapshots, known, wanted, draws * options.thinning)
    chains.learn(region, snapshots.theta)
    del snapshots  # as large as the draws to come
    chains.share_effort(known, np.full(len(known), wanted), draws * options.thinning)
    warmed, before = perf_counter() - began, chains.spent.copy()
    announce(warmed + warmed * draws * options.thinning / max(1, plan.warmup) * chains.mean_effort)
    renamings = () if missing is None else missing.renamings
    half = draws // 2
    found = renamed(chains.stage(half, options.thinning, step_done), renamings)
    known = known + chains.judged(effective_sizes, found)
    so_far = known * chains.of_parameters(1.0 - before / chains.spent)
    lacking = np.maximum(wanted - so_far, _to_keep(so_far, 1.0 - half / draws))
    chains.share_effort(known, lacking, (draws - half) * options.thinning)
    found = appended((found, renamed(chains.stage(draws - half, options.thinning, step_done), renamings)))
    sizes, mixed = chains.judged(effective_sizes, found), chains.judged(r_hat, found)

    def unmixed() -> bool:
        if not_mixed(sizes, mixed).any() or averages_of(sampled, hyperparameters, found).doubtful.any():
            return True
        if doubtful is None:
            return False
        truth = truth_of(doubtful.doubted, found)
        return bool((r_hat(truth) > LARGEST_R_HAT_OF_TRUTH).any())

    def affordable() -> bool:
        most = MOST_UPDATES if missing is None else MOST_UPDATES_WITH_MISSING
        return chains.updates < most and chains.missing_updates < MOST_MISSING_UPDATES

    thinning, more = options.thinning, max(1, draws // PARTS)
    chains.spent -= before
    while affordable() and unmixed():
        if found.count + more > plan.max_draws:
            if thinning == MOST_THINNING * options.thinning or draws == plan.max_draws:
                break
            found, thinning = found.every_second(), 2 * thinning
        total += more
        lacking = _to_keep(sizes, more / (found.count + more))
        lacking = np.where(not_mixed(sizes, mixed), np.maximum(wanted - sizes, MORE * sizes), lacking)
        chains.share_effort(sizes, lacking, more * thinning)
        found = appended((found, renamed(chains.stage(more, thinning, step_done), renamings)))
        sizes, mixed = chains.judged(effective_sizes, found), chains.judged(r_hat, found)
    return found, sizes, mixed


def _to_keep(sizes: Numbers, share: float) -> Numbers:
    """How many effective draws to add to these, while `share` of all draws are added for the sake of others."""
    return np.minimum(still_needed(sizes, KEPT * SMALLEST_SIZE, share), MORE * sizes)


def _with_slow(
    chains: CompiledChains, snapshots: Draws, known: Numbers, wanted: float, sweeps: int
) -> tuple[Draws, Numbers]:
    """Draws of the warm-up, and their effective sizes, with those of distributions that are slow from longer chains."""
    theta = snapshots.theta
    for least, thinning in SLOW:
        slow = chains.needed(known, np.full(len(known), wanted), sweeps) >= least
        if not slow.any():
            break
        longer = chains.stage(theta.shape[1], thinning, only=slow)
        own = chains.of_parameters(slow)
        theta = np.where(own, longer.theta, theta)
        known = np.where(own, chains.judged(effective_sizes, longer), known)
    return replace(snapshots, theta=theta), known


def truth_of(doubted: DoubtedConstraints, found: Draws) -> Numbers:
    """Whether each statement holds in each draw, as numbers, (chains, draws, statements)."""
    true = doubted.true(found.theta[:, :, : doubted.parameters])
    return np.moveaxis(true, 0, -1).astype(np.float64)

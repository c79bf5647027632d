"""How many draws the posterior makes: what was asked for, or as many as memory and a few minutes allow.

Both are estimated before anything is sampled. Fewer draws than asked for are a finding; where not even a few fit, the
error says what they need.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from credo.errors import TooLargeError, readable_bytes
from credo.findings import Finding
from credo.memory import memory_limit_or_default
from credo.options import PosteriorOptions
from credo.sampling.distributions import Hyperparameters, SampledDistributions

LEAST_DRAWS = 50  # of each chain
LEAST_WARMUP = 50  # sweeps
KEPT_BYTES = 400_000_000  # of draws, which explanations and intervals need later
COPIES = 3  # of the draws that are in memory at once: as they are made, put together, and while they are averaged
BYTES_A_PARAMETER = 4_000  # moves, joint updates and constraints of a parameter in blocks, measured
BYTES_A_SECOND_PARAMETER = 400  # state of the chains, and averages, of a parameter elsewhere
MOST_UPDATES = 100_000_000  # of single parameters that are planned; two to five minutes on one core
FEWER_DRAWS = "fewer draws"
# Of processor time in a sweep, for each parameter: in blocks, with all that is learned from it; drawn at once; and for
# what drawing missing values costs as much as.
SECONDS_A_MOVE, SECONDS_A_DRAW, SECONDS_A_COMPLETION = 2e-6, 4e-7, 1e-6


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """How long each chain is, and why it is not as long as was asked for."""

    warmup: int  # sweeps before the first draw
    draws: int
    max_draws: int
    findings: tuple[Finding, ...] = ()


def sampling_plan(
    sampled: SampledDistributions,
    options: PosteriorOptions,
    hyperparameters: Hyperparameters,
    memory_limit: int | None,
    missing_updates: int | None = None,
) -> SamplingPlan:
    """The draws that fit; an error where fewer than `LEAST_DRAWS` of each chain do.

    `missing_updates` is what drawing the missing values costs, in updates of single parameters; None: nothing is
    missing.
    """
    limit = memory_limit_or_default(memory_limit)
    each = COPIES * options.chains * draw_bytes(sampled, hyperparameters, keeps_all=missing_updates is not None)
    fixed = fixed_bytes(sampled, options.chains)
    if fixed + LEAST_DRAWS * each > limit:
        needed = fixed + LEAST_DRAWS * each
        raise TooLargeError(
            f"The posterior of {sampled.size:,} parameters needs about {readable_bytes(needed)}, and "
            f"{readable_bytes(limit)} are allowed. Use the method cmap, which needs no draws, give fewer chains, or "
            "raise memory_limit.",
            needed,
        )
    most = min((limit - fixed) // max(1, each), max(LEAST_DRAWS, COPIES * KEPT_BYTES // max(1, each)))
    sweep = max(1, options.chains * (sampled.size + (missing_updates or 0)))
    share = min(1.0, MOST_UPDATES / (sweep * (options.warmup + options.draws * options.thinning)))
    warmup = options.warmup if share == 1.0 else min(options.warmup, max(LEAST_WARMUP, int(share * options.warmup)))
    draws = min(options.draws, most) if share == 1.0 else max(LEAST_DRAWS, min(most, int(share * options.draws)))
    if draws >= options.draws:
        return SamplingPlan(warmup, max(LEAST_DRAWS, draws), min(options.max_draws, most))
    cause = "memory allows no more" if share == 1.0 else "more would take too long"
    message = (
        f"Each of the {options.chains} chains made {draws} draws instead of {options.draws}: with {sampled.size:,} "
        f"parameters{' and missing values' if missing_updates else ''} {cause}."
    )
    return SamplingPlan(warmup, draws, draws, (Finding(FEWER_DRAWS, message),))


def sampling_seconds(sweeps: int, chains: int, moved: int, drawn: int, missing_updates: int = 0) -> float:
    """How long chains of so many sweeps take, on a quiet machine, where no CPT is updated more often than others."""
    sweep = SECONDS_A_MOVE * moved + SECONDS_A_DRAW * drawn + SECONDS_A_COMPLETION * missing_updates
    return sweeps * sweep * -(-chains // (os.cpu_count() or 1))


def draw_bytes(sampled: SampledDistributions, hyperparameters: Hyperparameters, keeps_all: bool = False) -> int:
    """The memory of one draw of one chain: θ, in blocks or all, z, m and π."""
    components = int(hyperparameters.strengths().shape[1])
    kept = sampled.size if keeps_all else sampled.constrained_size
    numbers = kept + int(sampled.cells[-1]) + components * len(sampled.names)
    return 8 * numbers + len(sampled.numbers)


def fixed_bytes(sampled: SampledDistributions, chains: int) -> int:
    """The memory of what all draws share."""
    elsewhere = sampled.size - sampled.constrained_size
    return BYTES_A_PARAMETER * sampled.constrained_size + BYTES_A_SECOND_PARAMETER * chains * elsewhere

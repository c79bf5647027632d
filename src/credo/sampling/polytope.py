"""Sampling a block: Dirichlet or uniform draws from the distributions that every hard statement allows.

Three kinds of moves, each of which keeps the target:

1. Mass between two states of one distribution. Along it the target is a truncated Beta; only the constraints on one
   of the two states bound it. A slice in the log-odds of the split reaches corners at every concentration.
2. Along sparse directions of null spaces, where equalities hold; along those that keep what statements tie together,
   where concentrations below one hold a chain in a corner (`directions.py`).
3. Directions that the warm-up learns from its draws and that then stay as they are: how the block follows when one
   parameter moves. They lead along a polytope that is long and narrow, where single moves are short.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from credo.constraints.blocks import Block
from credo.kernels.threads import map_in_threads
from credo.posterior.convergence import effective_sizes, effective_sizes_of_short_chains, nested_r_hat, r_hat
from credo.sampling.directions import without_rays
from credo.sampling.region import Region, geometry_of, region_of, seeded, with_learned
from credo.sampling.vectorised import SUPERCHAINS
from credo.sampling.vectorised.uniform import run_many_chains
from credo.types import Numbers

SPREADING = 20  # sweeps under the uniform, with which chains leave their common start
SNAPSHOTS = 400  # draws from which directions are learned
VECTORISED_PARAMETERS = 120  # of a block that is sampled without compiled code


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Draws from a block, and how far they can be trusted."""

    values: Numbers  # (chains, draws, parameters)
    effective_sizes: Numbers  # (parameters,)
    r_hat: Numbers  # (parameters,)
    seconds: float

    @property
    def mean(self) -> Numbers:
        """The mean of all draws; it satisfies every convex statement, since all draws do."""
        return np.asarray(self.values.mean(axis=(0, 1)), dtype=np.float64)


def sample_block(
    block: Block,
    shape: Numbers,
    *,
    draws: int = 1000,
    chains: int = 4,
    warmup: int = 400,
    thinning: int = 2,
    seed: int = 0,
    start: Numbers | None = None,
    soft_weight: float | None = None,
    threads: int | None = None,
    compiled: bool | None = None,
) -> Samples:
    """Draws from Π θ_i^(a_i − 1) on what the block's hard statements allow; a = `shape`, all ones for the uniform.

    Soft statements count exp(−W·C/2·violation²) with W = `soft_weight` [liao, eq. 5], and nothing without a weight.
    A draw is kept every `thinning` sweeps, after `warmup` sweeps. The same seed gives the same draws. Blocks of at most
    `VECTORISED_PARAMETERS` with concentrations of one and more are sampled by many short chains without compiled
    code, unless `compiled` says otherwise; `chains` × `draws` is then the least number of draws.
    """
    began = perf_counter()
    shape = np.ascontiguousarray(shape, dtype=np.float64)
    soft_products = any(product.confidence is not None for product in block.products)
    soft = soft_weight is not None and (soft_products or not block.linear.hard.all())
    if not soft and not block.linear.hard.any() and not any(product.confidence is None for product in block.products):
        values = _independent(block, shape, chains, draws, seed)
        return Samples(values, effective_sizes(values), r_hat(values), perf_counter() - began)
    region = region_of((block,), (start,), soft_weight)
    corners = bool(shape.min(initial=1.0) < 1.0)
    if not corners:  # no corner holds a chain: moves that only corners need would only cost time
        region = replace(region, parts=tuple(without_rays(part) for part in region.parts))
    if corners or block.size > VECTORISED_PARAMETERS if compiled is None else compiled:
        values = run_chains(region, shape, draws, chains, warmup, thinning, seed, threads)
        return Samples(values, effective_sizes(values), r_hat(values), perf_counter() - began)
    values = run_many_chains(region, shape, chains * draws, warmup, thinning, seed)
    sizes, mixed = effective_sizes_of_short_chains(values), nested_r_hat(values, SUPERCHAINS)
    return Samples(values, sizes, mixed, perf_counter() - began)


# Running --------------------------------------------------------------------------------------------------------------


def run_chains(
    region: Region,
    shape: Numbers,
    draws: int,
    chains: int,
    warmup: int,
    thinning: int,
    seed: int,
    threads: int | None = None,
) -> Numbers:
    """Spread out, learn directions in two rounds, then draw with these held fixed; (chains, draws, parameters)."""
    generators = [seeded(seed, chain) for chain in range(chains)]
    points = [region.start.copy() for _ in range(chains)]

    def stage(current: Region, target: Numbers, count: int, thin: int) -> Numbers:
        from credo.kernels.sweeps import run_chain

        geometry, extras = geometry_of(current.blocks, current.parts)
        out = np.empty((chains, count, len(target)))

        def run(chain: int) -> None:
            run_chain(geometry, extras, target, points[chain], thin, out[chain], generators[chain])

        map_in_threads(run, range(chains), threads)
        return out

    stage(region, np.ones_like(shape), 1, SPREADING)
    count = -(-SNAPSHOTS // chains)
    guided = region
    for share in (0.4, 0.6):
        snapshots = stage(guided, shape, count, max(1, round(share * warmup / count)))
        guided = with_learned(region, snapshots)
    return stage(guided, shape, draws, thinning)


def _independent(block: Block, shape: Numbers, chains: int, draws: int, seed: int) -> Numbers:
    """Dirichlet draws, exact: gammas in logarithms, so that no small shape underflows."""
    rng = np.random.default_rng(seed)
    size = (chains, draws, block.size)
    logs = np.log(rng.standard_gamma(shape + 1.0, size)) + np.log(rng.random(size)) / shape
    logs -= np.repeat(np.maximum.reduceat(logs, block.distributions[:-1], axis=2), np.diff(block.distributions), axis=2)
    values = np.exp(logs)
    sums = np.add.reduceat(values, block.distributions[:-1], axis=2)
    return np.asarray(values / np.repeat(sums, np.diff(block.distributions), axis=2), dtype=np.float64)

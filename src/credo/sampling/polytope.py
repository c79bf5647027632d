"""Sampling a block: Dirichlet or uniform draws from the distributions that every hard statement allows.

Three kinds of moves, each of which keeps the target:

1. Mass between two states of one distribution. Along it the target is a truncated Beta; only the rows that name one
   of the two states bound it. A slice in the log-odds of the split reaches corners at every concentration.
2. Along sparse directions of null spaces, where equalities hold; along those that keep what statements tie together,
   where concentrations below one hold a chain in a corner (`directions.py`).
3. Directions that the warm-up learns from its draws and that then stay as they are: how the block follows when one
   number moves. They lead along a polytope that is long and narrow, where single moves are short.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from os import cpu_count
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.constraints.product_feasibility import product_finding
from credo.constraints.program import Program
from credo.errors import CredoError
from credo.kernels.sampler_arrays import Extras, Geometry
from credo.sampling.convergence import effective_sizes, r_hat
from credo.sampling.directions import Directions, directions, learned, polished, starts_of, without_rays

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPREADING = 20  # sweeps under the uniform, with which chains leave their common start
SNAPSHOTS = 400  # draws from which directions are learned
_ZERO = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Draws from a block, and how far they can be trusted."""

    values: Numbers  # (chains, draws, parameters)
    effective_sizes: Numbers  # (parameters,)
    r_hat: Numbers  # (parameters,)
    seconds: float

    @property
    def mean(self) -> Numbers:
        """The mean of all draws; it satisfies every convex row, since all draws do."""
        return np.asarray(self.values.mean(axis=(0, 1)), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Blocks, ready to be sampled: the directions of each, and a point inside."""

    blocks: tuple[Block, ...]
    parts: tuple[Directions, ...]
    start: Numbers  # (parameters of all blocks,)


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
) -> Samples:
    """Draws from Π θ_i^(a_i − 1) on what the block's hard rows allow; a = `shape`, all ones for the uniform.

    Soft rows count exp(−W·C/2·violation²) with W = `soft_weight` [liao, eq. 5], and nothing where it is left out.
    A draw is kept every `thinning` sweeps, after `warmup` sweeps. The same seed gives the same draws.
    """
    began = perf_counter()
    shape = np.ascontiguousarray(shape, dtype=np.float64)
    soft = soft_weight is not None and not block.linear.hard.all()
    if not soft and not block.linear.hard.any() and not any(row.confidence is None for row in block.products):
        values = _independent(block, shape, chains, draws, seed)
    else:
        region = region_of((block,), (start,), soft_weight)
        values = run_chains(region, shape, draws, chains, warmup, thinning, seed, threads)
    return Samples(values, effective_sizes(values), r_hat(values), perf_counter() - began)


# Preparing ------------------------------------------------------------------------------------------------------------


def region_of(
    blocks: Sequence[Block], starts: Sequence[Numbers | None] | None = None, soft_weight: float | None = None
) -> Region:
    """The geometry of blocks, one group each, and a point inside of all; an error where a block allows nothing."""
    prepared = [
        _prepared(block, start, soft_weight)
        for block, start in zip(blocks, starts or [None] * len(blocks), strict=True)
    ]
    points = np.concatenate([np.zeros(0), *(point for _, point in prepared)])
    return Region(tuple(blocks), tuple(part for part, _ in prepared), points)


def _prepared(block: Block, start: Numbers | None, soft_weight: float | None) -> tuple[Directions, Numbers]:
    interior = interior_of(block)
    if interior is None:
        raise InfeasibleError
    point = interior.point.copy() if start is None else np.array(start, dtype=np.float64)
    if start is None and any(row.confidence is None for row in block.products):
        found = product_finding(block, interior, Program(block)).point
        if found is None:
            raise CredoError("No point was found at which all statements about products hold: give one as a start.")
        # Inside of everything: the descent may end on a face, but products that hold there hold near it.
        point = found + 1e-3 * (interior.point - found)
        point = point if _products_hold(block, point) else found
    part = directions(block, interior, soft_weight)
    point = polished(part, point)
    point[interior.zero_parameters] = 0.0
    return part, point


def _products_hold(block: Block, point: Numbers) -> bool:
    logs = np.log(np.maximum(point, 1e-300))
    rows = [row for row in block.products if row.confidence is None]
    return all(float(np.dot(row.exponents, logs[list(row.indices)])) <= row.log_bound for row in rows)


# Flat arrays ----------------------------------------------------------------------------------------------------------


def geometry_of(blocks: Sequence[Block], parts: Sequence[Directions]) -> tuple[Geometry, Extras]:
    """Blocks one after the other as the groups of one geometry.

    A ray is held as the states that it raises; it reaches all states of their distributions.
    """
    from scipy.sparse import csr_array, dia_array

    sizes = [block.size for block in blocks]
    first = starts_of(sizes)
    rows = _diagonal([part.inequalities.matrix(size) for part, size in zip(parts, sizes, strict=True)])
    moves = _diagonal([part.moves for part in parts])
    extras = _diagonal([part.extras for part in parts])
    pieces = [block.distributions[:-1] + start for block, start in zip(blocks, first, strict=False)]
    distributions = np.concatenate([*pieces, first[-1:]])
    rays = np.concatenate([np.zeros(0, dtype=np.bool_), *(part.rays for part in parts)])
    on_ray, on_line = (dia_array((flags[None].astype(float), 0), shape=(len(rays),) * 2) for flags in (rays, ~rays))
    members = csr_array(
        (np.ones(first[-1]), np.arange(first[-1]), distributions), shape=(len(distributions) - 1, first[-1])
    )
    reach = csr_array(on_line @ abs(moves) + on_ray @ (abs(moves) @ members.T @ members))
    deltas = csr_array(on_line @ (moves @ rows.T) + on_ray @ (reach @ abs(rows).T))
    deltas.data[np.abs(deltas.data) < _ZERO] = 0.0
    deltas.eliminate_zeros()
    touched = csr_array(reach @ abs(extras).T)
    geometry = Geometry(
        starts_of([len(part.inequalities) for part in parts]),
        starts_of([part.moves.shape[0] for part in parts]),
        starts_of([len(block.configurations) for block in blocks]),
        distributions,
        np.repeat(np.arange(len(distributions) - 1), np.diff(distributions)),
        *_arrays(rows),
        _joined([part.inequalities.bounds for part in parts]),
        *_arrays(moves),
        *_arrays(deltas),
        *_arrays(touched)[:2],
        _joined([part.chances for part in parts]),
        rays,
    )
    return geometry, Extras(
        *_arrays(extras),
        _joined([part.extra_bounds for part in parts]),
        _joined([part.extra_weights for part in parts]),
        np.concatenate([np.zeros(0, dtype=np.bool_), *(part.extra_equality for part in parts)]),
    )


def _diagonal(matrices: list[csr_array]) -> csr_array:
    from scipy.sparse import block_diag, csr_array

    return csr_array(block_diag(matrices, format="csr")) if matrices else csr_array((0, 0))


def _joined(values: list[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0), *values])


def _arrays(matrix: csr_array) -> tuple[Indices, Indices, Numbers]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64)


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
    if shape.min(initial=1.0) >= 1.0:  # no corner holds a chain: its moves would only cost time
        region = replace(region, parts=tuple(without_rays(part) for part in region.parts))
    generators = [seeded(seed, chain) for chain in range(chains)]
    points = [region.start.copy() for _ in range(chains)]

    def stage(current: Region, target: Numbers, count: int, thin: int) -> Numbers:
        from credo.kernels.sweeps import run_chain

        geometry, extras = geometry_of(current.blocks, current.parts)
        out = np.empty((chains, count, len(target)))

        def run(chain: int) -> None:
            run_chain(geometry, extras, target, points[chain], thin, out[chain], generators[chain])

        with ThreadPoolExecutor(threads or cpu_count() or 1) as pool:
            list(pool.map(run, range(chains)))
        return out

    stage(region, np.ones_like(shape), 1, SPREADING)
    kept = -(-SNAPSHOTS // chains)
    guided = region
    for share in (0.4, 0.6):
        snapshots = stage(guided, shape, kept, max(1, round(share * warmup / kept)))
        guided = with_learned(region, snapshots)
    return stage(guided, shape, draws, thinning)


def with_learned(region: Region, snapshots: Numbers) -> Region:
    """The region with the directions that draws of it, (chains, draws, parameters), show."""
    flat = snapshots.reshape(snapshots.shape[0] * snapshots.shape[1], -1)
    ends = np.cumsum([block.size for block in region.blocks])
    parts = [
        learned(block, part, flat[:, end - block.size : end])
        for block, part, end in zip(region.blocks, region.parts, ends.tolist(), strict=True)
    ]
    return replace(region, parts=tuple(parts))


def seeded(*seed: int) -> NDArray[np.uint64]:
    """The state of a generator of its own for each chain."""
    return np.random.SeedSequence(seed).generate_state(4, np.uint64).astype(np.uint64)


def _independent(block: Block, shape: Numbers, chains: int, draws: int, seed: int) -> Numbers:
    """Dirichlet draws, exact: gammas in logarithms, so that no small shape underflows."""
    rng = np.random.default_rng(seed)
    size = (chains, draws, block.size)
    logs = np.log(rng.standard_gamma(shape + 1.0, size)) + np.log(rng.random(size)) / shape
    logs -= np.repeat(np.maximum.reduceat(logs, block.distributions[:-1], axis=2), np.diff(block.distributions), axis=2)
    values = np.exp(logs)
    sums = np.add.reduceat(values, block.distributions[:-1], axis=2)
    return np.asarray(values / np.repeat(sums, np.diff(block.distributions), axis=2), dtype=np.float64)

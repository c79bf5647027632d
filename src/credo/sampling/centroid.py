"""The mean of the uniform distribution on what each block allows [guo, section 4.1: α].

θ = θ₀ + Zx, where Z keeps the sums and the equalities and θ₀ is inside: what is left of the hard constraints and of
θ ≥ 0 is a polytope in x that has an inside, and whose centroid is the mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.constraints.blocks import Block, shape_of
from credo.constraints.feasibility import InfeasibleError, Interior, interior_of
from credo.constraints.merged_states import merged_states
from credo.kernels.threads import map_in_threads
from credo.sampling.directions import null_space
from credo.sampling.polytope import sample_block
from credo.sampling.region import seeded
from credo.types import Numbers

STANDARD_ERROR = 0.03  # of the mean, in standard deviations
LARGE = 1_000_000  # cells of a matrix, above which moves along few parameters at a time are cheaper
VECTORISED_BLOCKS = 64  # that differ, up to which no compiled code is used …
VECTORISED_CELLS = 40_000  # … nor for more cells of all their matrices
THIN = 1e-5  # a set that is less wide in one direction is stretched first
ROUNDING = 1e-12  # of a sum; linear programs keep sums to 1e-9 only
_NOTHING = 1e-12


def uniform_means(
    blocks: Sequence[Block],
    *,
    seed: int = 0,
    standard_error: float = STANDARD_ERROR,
    compiled: bool | None = None,
) -> tuple[Numbers, ...]:
    """The mean of each block; equal blocks are answered once.

    Few small blocks need no compiled code (`is_small`); `compiled` overrules that.
    """
    shapes = [shape_of(block) for block in blocks]
    distinct = dict(zip(shapes, blocks, strict=True))
    use_compiled = not is_small(list(distinct.values())) if compiled is None else compiled

    def mean(item: tuple[int, Block]) -> Numbers:
        number, block = item
        own_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        return uniform_mean(block, own_seed, standard_error, use_compiled)

    means = dict(zip(distinct, map_in_threads(mean, enumerate(distinct.values())), strict=True))
    return tuple(means[shape] for shape in shapes)


def is_small(blocks: Sequence[Block]) -> bool:
    """Whether plain NumPy is quick enough: about a hundredth of a second a block, and more for large ones."""
    cells = sum((len(block.linear) + block.size) * block.size for block in blocks)
    return len(blocks) <= VECTORISED_BLOCKS and cells <= VECTORISED_CELLS


def uniform_mean(
    block: Block, seed: int, standard_error: float = STANDARD_ERROR, compiled: bool | None = None
) -> Numbers:
    """The mean of one block; it satisfies every hard linear constraint."""
    compiled = not is_small([block]) if compiled is None else compiled
    if any(product.confidence is None for product in block.products):
        return _by_draws(block, seed, compiled)  # not convex
    if not block.linear.hard.any():
        return np.asarray(1.0 / np.diff(block.distributions)[block.distribution_of], dtype=np.float64)
    if (len(block.linear) + block.size) * block.size > LARGE:
        return _by_draws(block, seed, compiled)
    interior = interior_of(block)
    if interior is None:
        raise InfeasibleError
    start, basis = _subspace(block, interior)
    linear = block.linear.take(block.linear.hard)
    matrix = np.concatenate((linear.matrix(block.size) @ basis, -basis))
    bounds = np.concatenate((linear.bounds - linear.values(start), start))
    bounding = np.abs(matrix).max(axis=1, initial=0.0) > _NOTHING
    if not bounding.any():
        return start
    matrix, bounds = matrix[bounding], bounds[bounding]
    widths = bounds / np.linalg.norm(matrix, axis=1)
    if 0.0 < widths.min() < THIN:
        matrix, bounds, turned = _evened(matrix, bounds)
        basis = basis @ turned
    found = _centroid(matrix, bounds, standard_error, seed, compiled)
    theta = np.maximum(start + basis @ found, 0.0)
    sums = np.add.reduceat(theta, block.distributions[:-1])[block.distribution_of]
    return np.asarray(theta / sums if np.abs(sums - 1.0).max() > ROUNDING else theta, dtype=np.float64)


def _evened(matrix: Numbers, bounds: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The same set in coordinates in which it is about as wide in all directions, and the matrix that leads back."""
    rows = matrix / bounds[:, None]
    _, lengths, directions = np.linalg.svd(rows, full_matrices=False)
    turned = directions.T / np.maximum(lengths, 1e-15 * lengths[0])
    return rows @ turned, np.ones(len(bounds)), turned


def _centroid(matrix: Numbers, bounds: Numbers, standard_error: float, seed: int, compiled: bool) -> Numbers:
    if compiled:
        from credo.kernels.centroid import centroid

        return np.asarray(centroid(matrix, bounds, standard_error, seeded(seed)), dtype=np.float64)
    from credo.sampling.vectorised.uniform import centroid as vectorised_centroid

    return vectorised_centroid(matrix, bounds, standard_error, np.random.default_rng(seed))


def _by_draws(block: Block, seed: int, compiled: bool) -> Numbers:
    """The mean of draws; states that no constraint distinguishes share equally what their sum, T^(n − 1), draws."""
    merged = None if block.products else merged_states(block)
    if merged is None:
        return sample_block(block, np.ones(block.size), chains=2, seed=seed, threads=1, compiled=compiled).mean
    shape = merged.sizes.astype(np.float64)
    return merged.shared(sample_block(merged.block, shape, chains=2, seed=seed, threads=1, compiled=compiled).mean)


def _subspace(block: Block, interior: Interior) -> tuple[Numbers, Numbers]:
    """θ₀, and Z with a column for each direction that keeps sums, equalities, and what can only be zero."""
    linear, first, zeros = block.linear, block.distributions[:-1], interior.zero_parameters
    sums = (np.arange(len(first))[:, None] == block.distribution_of).astype(np.float64)
    equal = linear.hard & linear.equality
    equal[interior.tight_constraints] = True
    if not equal.any() and not len(zeros):
        basis = np.eye(block.size)
        basis[first] -= sums
        return interior.point, np.delete(basis, first, axis=1)
    fixed = np.concatenate((sums, linear.take(equal).matrix(block.size).toarray(), np.eye(block.size)[zeros]))
    targets = np.concatenate((np.ones(len(first)), linear.bounds[equal], np.zeros(len(zeros))))
    missing = targets - fixed @ interior.point  # linear programs keep equalities to 1e-9 only
    return interior.point + np.linalg.lstsq(fixed, missing, rcond=None)[0], null_space(fixed).T

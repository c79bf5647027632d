"""Blocks that are ready to be sampled: directions to move in, a point inside, and all of it as flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.constraints.blocks import Block, shape_of
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.constraints.product_feasibility import product_finding
from credo.constraints.program import Program
from credo.kernels.sampler_arrays import Extras, Geometry
from credo.sampling.directions import Directions, directions, learned, polished, starts_of
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

INSIDE = (0.1, 0.3, 0.6, 0.9, 1.0)  # of the way from a vertex to the point inside
_ZERO = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Blocks, ready to be sampled: the directions of each, and a point inside."""

    blocks: tuple[Block, ...]
    parts: tuple[Directions, ...]
    start: Numbers  # (parameters of all blocks,)
    others: tuple[Numbers, ...] = ()  # further points inside

    def point(self, chain: int) -> Numbers:
        """Where a chain starts: the points take turns."""
        points = (self.start, *self.others)
        return points[chain % len(points)]

    @property
    def compared(self) -> Flags:
        """Which distributions of all blocks equalities compare, see `Directions`."""
        return np.concatenate([np.zeros(0, dtype=np.bool_), *(part.compared for part in self.parts)])


# Preparing ------------------------------------------------------------------------------------------------------------


def region_of(
    blocks: Sequence[Block],
    starts: Sequence[Numbers | None] | None = None,
    soft_weight: float | None = None,
    with_rays: bool = True,
) -> Region:
    """The geometry of blocks, one group each, and a point inside of all; an error where a block allows nothing."""
    known: dict[tuple[bytes, ...], tuple[Directions, Numbers]] = {}

    def prepared_once(block: Block) -> tuple[Directions, Numbers]:
        """Thousands of configurations under one statement make blocks that are the same."""
        shape = shape_of(block)
        if shape not in known:
            known[shape] = _prepared(block, None, soft_weight, with_rays)
        return known[shape]

    prepared = [
        prepared_once(block) if start is None else _prepared(block, start, soft_weight, with_rays)
        for block, start in zip(blocks, starts or [None] * len(blocks), strict=True)
    ]
    points = np.concatenate([np.zeros(0), *(point for _, point in prepared)])
    return Region(tuple(blocks), tuple(part for part, _ in prepared), points)


def _prepared(
    block: Block, start: Numbers | None, soft_weight: float | None, with_rays: bool
) -> tuple[Directions, Numbers]:
    interior = interior_of(block)
    if interior is None:
        raise InfeasibleError
    point = interior.point.copy() if start is None else np.array(start, dtype=np.float64)
    if start is None and any(product.confidence is None for product in block.products):
        found = product_finding(block, interior, Program(block)).point
        if found is None:
            raise InfeasibleError  # or nothing was found; who asked says which
        # Inside of everything: the descent may end on a face, but products that hold there hold near it.
        point = found + 1e-3 * (interior.point - found)
        point = point if products_hold(block, point) else found
    part = directions(block, interior, soft_weight, with_rays)
    point = polished(part, point)
    point[interior.zero_parameters] = 0.0
    return part, point


def _is_inside(part: Directions, point: Numbers, start: Numbers) -> bool:
    """Whether no inequality is violated, and only what has to be zero is zero."""
    holds = part.inequalities.values(point) <= part.inequalities.bounds
    return bool(holds.all() and (point[start > 0.0] > 0.0).all())


def is_inside(region: Region, point: Numbers) -> bool:
    """Whether a point, (parameters of all blocks,), satisfies all that blocks state."""
    first = 0
    for block, part in zip(region.blocks, region.parts, strict=True):
        own, start = point[first : first + block.size], region.start[first : first + block.size]
        first += block.size
        equal = np.allclose(part.equalities @ own, part.equalities @ start, atol=1e-9)
        if not (equal and _is_inside(part, own, start) and products_hold(block, own)):
            return False
    return True


def products_hold(block: Block, point: Numbers) -> bool:
    logs = np.log(np.maximum(point, 1e-300))
    return all(
        float(np.dot(product.exponents, logs[list(product.indices)])) <= product.log_bound
        for product in block.products
        if product.confidence is None
    )


def scattered_points(region: Region, count: int, rng: np.random.Generator) -> Numbers:
    """Points far apart, (count, parameters): near the vertices in which random objectives are largest.

    Chains that start there see every long direction of a polytope, however narrow it is.
    """
    ends = np.cumsum([block.size for block in region.blocks], dtype=np.int64).tolist()
    points = [np.zeros((count, 0))]
    for block, part, end in zip(region.blocks, region.parts, ends, strict=True):
        start = region.start[end - block.size : end]
        program = Program(block)
        program.switch(block.linear.hard)
        found = np.empty((count, block.size))
        for number in range(count):
            optimum = program.maximise(rng.standard_normal(block.size))
            vertex = start if optimum is None else np.where(start > 0.0, optimum.point, 0.0)
            for share in INSIDE:  # products are not convex, and programs exact to 1e-9: nearer to the start both hold
                point = polished(part, vertex + share * (start - vertex))
                point[start == 0.0] = 0.0  # polishing leaves rounding where only zero is possible
                if _is_inside(part, point, start) and products_hold(block, point):
                    break
            found[number] = point
        points.append(found)
    return np.concatenate(points, axis=1)


# Flat arrays ----------------------------------------------------------------------------------------------------------


def geometry_of(blocks: Sequence[Block], parts: Sequence[Directions]) -> tuple[Geometry, Extras]:
    """Blocks one after the other as the groups of one geometry.

    A ray is held as the states that it raises; it reaches all states of their distributions.
    """
    from scipy.sparse import csr_array, dia_array

    sizes = [block.size for block in blocks]
    first = starts_of(sizes)
    matrices = {id(part): part.inequalities.matrix(size) for part, size in _distinct(parts, sizes)}
    constraints = _diagonal([matrices[id(part)] for part in parts])
    moves = _diagonal([part.moves for part in parts])
    extras = _diagonal([part.extras for part in parts])
    pieces = [block.distributions[:-1] + start for block, start in zip(blocks, first, strict=False)]
    distributions = np.concatenate([*pieces, first[-1:]])
    rays = np.concatenate([np.zeros(0, dtype=np.bool_), *(part.rays for part in parts)])
    on_ray, on_line = (dia_array((flags[None].astype(float), 0), shape=(len(rays),) * 2) for flags in (rays, ~rays))
    members = csr_array(
        (np.ones(first[-1]), np.arange(first[-1]), distributions), shape=(len(distributions) - 1, first[-1])
    )
    reach = csr_array(on_line @ abs(moves) + (on_ray @ abs(moves)) @ members.T @ members)
    deltas = csr_array(on_line @ (moves @ constraints.T) + on_ray @ (reach @ abs(constraints).T))
    deltas.data[np.abs(deltas.data) < _ZERO] = 0.0
    deltas.eliminate_zeros()
    touched = csr_array(reach @ abs(extras).T)
    geometry = Geometry(
        starts_of([len(part.inequalities) for part in parts]),
        starts_of([part.moves.shape[0] for part in parts]),
        starts_of([len(block.configurations) for block in blocks]),
        distributions,
        np.repeat(np.arange(len(distributions) - 1), np.diff(distributions)),
        *_arrays(constraints),
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


def _distinct(parts: Sequence[Directions], sizes: Sequence[int]) -> Iterable[tuple[Directions, int]]:
    """Each part once, with the size of its block: blocks of one shape share theirs."""
    return {id(part): (part, size) for part, size in zip(parts, sizes, strict=True)}.values()


def _diagonal(matrices: list[csr_array]) -> csr_array:
    """The matrices one after the other on the diagonal; SciPy's own takes a millisecond for each."""
    from scipy.sparse import csr_array

    if not matrices:
        return csr_array((0, 0))
    rows, columns = (starts_of([matrix.shape[axis] for matrix in matrices]) for axis in (0, 1))
    entries = starts_of([matrix.nnz for matrix in matrices])
    starts = [matrix.indptr[:-1] + entry for matrix, entry in zip(matrices, entries, strict=False)]
    indices = [matrix.indices + column for matrix, column in zip(matrices, columns, strict=False)]
    return csr_array(
        (
            np.concatenate([matrix.data for matrix in matrices]),
            np.concatenate(indices),
            np.concatenate([*starts, entries[-1:]]),
        ),
        shape=(int(rows[-1]), int(columns[-1])),
    )


def _joined(values: list[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0), *values])


def _arrays(matrix: csr_array) -> tuple[Indices, Indices, Numbers]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64)


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

"""Blocks as flat arrays that compiled moves run on: which rows a move changes, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.blocks import Block
from credo.kernels.polytope_moves import Extras
from credo.kernels.sweeps import Geometry
from credo.sampling.directions import Directions
from credo.sampling.polytope_constraints import starts_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ZERO = 1e-12


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

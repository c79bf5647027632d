"""Where the counts of each family (a child and its parents) are kept: a stretch of one array, or a sparse list."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from os import sysconf

import numpy as np
from numpy.typing import NDArray

from credo.errors import TooLargeError, readable_bytes
from credo.model.network import Network

# A table with more cells than this has, with few data, mostly zeros: its counts are kept as (cell, count).
DENSE_CELLS = 2**20
# Cells are numbered with 64 bits.
MOST_CELLS = 2**62

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Families:
    """The layout of the counts of a network, in the form that compiled loops take."""

    network: Network
    cells: tuple[int, ...]  # of each family's table
    dense: tuple[str, ...]
    sparse: tuple[str, ...]
    offsets: dict[str, int]  # where a dense family starts
    size: int  # of all dense families together
    members: Integers  # positions of parents and child, dense family after dense family
    strides: Integers  # what a member's state adds to the cell
    starts: Integers  # (dense families + 1,) where each begins in `members`

    @classmethod
    def of(cls, network: Network, dense_cells: int = DENSE_CELLS) -> Families:
        cells = tuple(prod(network.shape(name)) for name in network.names)
        for name, count in zip(network.names, cells, strict=True):
            if count > MOST_CELLS:
                raise TooLargeError(
                    f"The table of {name} has {count:.1e} cells, too many even to number them.", 8 * count
                )
        dense = tuple(name for name, count in zip(network.names, cells, strict=True) if count <= dense_cells)
        sparse = tuple(name for name in network.names if name not in set(dense))
        offsets, size = {}, 0
        members: list[int] = []
        strides: list[int] = []
        starts = [0]
        for name in dense:
            offsets[name] = size
            positions, steps = family(network, name)
            members += positions
            strides += steps
            starts.append(len(members))
            size += prod(network.shape(name))
        arrays = (np.array(values, dtype=np.int64) for values in (members, strides, starts))
        return cls(network, cells, dense, sparse, offsets, size, *arrays)


def family(network: Network, name: str) -> tuple[list[int], list[int]]:
    """The positions of a family's members, parents then child, and what a state of each adds to the cell's number."""
    position = {other: i for i, other in enumerate(network.names)}
    shape = network.shape(name)
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    return [position[member] for member in (*network.parents[name], name)], strides


def check_size(network: Network, limit: int | None = None) -> None:
    """Refuse a network whose tables, as arrays, would not fit: before anything is allocated.

    The limit, in bytes, is half of the machine's memory where none is given.
    """
    if limit is None:
        limit = sysconf("SC_PAGE_SIZE") * sysconf("SC_PHYS_PAGES") // 2
    sizes = {name: 8 * prod(network.shape(name)) for name in network.names}
    largest = max(sizes, key=lambda name: sizes[name])
    total = sum(sizes.values())
    if total > limit:
        parents = network.parents[largest]
        raise TooLargeError(
            f"The tables of this network would take {readable_bytes(total)}; {readable_bytes(limit)} are allowed. "
            f"The largest is that of {largest} with {len(parents)} parents: {readable_bytes(sizes[largest])}. "
            "Give it fewer parents or parents with fewer states, or raise memory_limit.",
            total,
        )

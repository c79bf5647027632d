"""How often each family was seen in each state: sufficient statistics that can be added up.

Counts are a monoid: `merge(count(x), count(y))` equals `count(x and y together)`, and `empty` changes nothing. So a
table can be counted a part at a time, by several threads, on several machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from math import prod
from os import cpu_count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.core.counting import count_rows
from credo.errors import NetworkError
from credo.io.dataset import Dataset
from credo.model.layout import MOST_CELLS, Layout, family_strides, too_many_cells
from credo.model.network import Network
from credo.threads import map_in_threads
from credo.types import Numbers

# A CPT with more cells than this has, with few data, mostly zeros: its counts are kept as (cell, count).
DENSE_CELLS = 2**20
SMALL_PIECE = 20_000  # rows that are not worth a thread of their own


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Weighted counts of every family. A row in which a family has a missing value is left out of that family alone."""

    layout: Layout
    dense: Numbers  # (cells of all dense families,)
    sparse: Mapping[str, tuple[NDArray[np.int64], Numbers]]  # cells that were seen, sorted, and their counts
    incomplete: Numbers  # (variables,) the weight of the rows that each family could not use
    total: float  # the weight of all rows
    rows: int

    def of(self, name: str) -> Numbers:
        """The counts of one family as an array (configurations, states)."""
        if name in self.layout:
            return self.layout.view(self.dense, name)
        states = len(self.layout.network.states(name))
        table = np.zeros(self.layout.network.configurations(name) * states)
        keys, values = self.sparse[name]
        table[keys] = values
        return table.reshape(-1, states)

    def configuration(self, name: str, number: int) -> Numbers:
        """The counts of one configuration, (states,); cheap where the family is sparse."""
        states = len(self.layout.network.states(name))
        if name in self.layout:
            first = self.layout.offsets[name] + number * states
            return self.dense[first : first + states].copy()
        counts = np.zeros(states)
        keys, values = self.sparse[name]
        start, stop = np.searchsorted(keys, [number * states, (number + 1) * states])
        counts[keys[start:stop] - number * states] = values[start:stop]
        return counts

    def cells(self, name: str, cells: NDArray[np.int64]) -> Numbers:
        """The counts of some cells of one family, numbered as in its CPT."""
        if name in self.layout:
            return np.asarray(self.dense[self.layout.offsets[name] + cells], dtype=np.float64)
        keys, values = self.sparse[name]
        if not len(keys):
            return np.zeros(len(cells))
        places = np.minimum(np.searchsorted(keys, cells), len(keys) - 1)
        return np.asarray(np.where(keys[places] == cells, values[places], 0.0), dtype=np.float64)

    def missing(self) -> dict[str, float]:
        """The families that could not use every row, and the weight of the rows they missed."""
        pairs = zip(self.layout.network.names, self.incomplete, strict=True)
        return {name: float(weight) for name, weight in pairs if weight}


def layout_for_counts(network: Network, dense_cells: int = DENSE_CELLS) -> Layout:
    """Where the counts of each family are kept; families with more cells than `dense_cells` are left out of it."""
    sparse = {name for name in network.names if prod(network.shape(name)) > dense_cells}
    for name in sparse:
        if prod(network.shape(name)) > MOST_CELLS:
            raise too_many_cells(network, name)
    return Layout.of(network, without=sparse)


def empty(layout: Layout) -> Counts:
    """The counts of no rows."""
    nothing = {name: (np.zeros(0, dtype=np.int64), np.zeros(0)) for name in layout.left_out}
    return Counts(layout, np.zeros(layout.size), nothing, np.zeros(len(layout.network)), 0.0, 0)


def count(layout: Layout, dataset: Dataset) -> Counts:
    """The counts of the rows of a dataset, and of those that it only has as counts."""
    if dataset.names != layout.network.names:
        raise NetworkError("The dataset was made for another network.")
    dense, incomplete = _count_dense(layout, dataset)
    sparse = {}
    for name in layout.left_out:
        keys, weights = _cells(layout, name, dataset)
        seen = keys >= 0
        incomplete[layout.network.names.index(name)] = weights[~seen].sum()
        sparse[name] = _add_up(keys[seen], weights[seen])
    total = float(len(dataset) if dataset.weights is None else dataset.weights.sum())
    own = Counts(layout, dense, sparse, incomplete, total, len(dataset))
    return reduce(merge, (replace(each, layout=layout) for each in dataset.counted), own)


def scaled(counts: Counts, factor: float) -> Counts:
    """Counts whose rows each weigh so many times as much."""
    return replace(
        counts,
        dense=factor * counts.dense,
        sparse={name: (keys, factor * values) for name, (keys, values) in counts.sparse.items()},
        incomplete=factor * counts.incomplete,
        total=factor * counts.total,
    )


def count_all(layout: Layout, datasets: Iterable[Dataset]) -> Counts:
    """The counts of datasets that follow each other, one of them in memory at a time."""
    counts = empty(layout)
    for dataset in datasets:
        counts = merge(counts, count(layout, dataset))
    return counts


def count_folds(layout: Layout, datasets: Iterable[Dataset], folds: int, seed: int) -> tuple[Counts, ...]:
    """The counts of each fold of a random division of the rows into `folds` parts of about equal size."""
    generator = np.random.default_rng(seed)
    counts = [empty(layout) for _ in range(folds)]
    for dataset in datasets:
        fold_of = generator.permutation(np.arange(len(dataset)) % folds)
        for fold in range(folds):
            counts[fold] = merge(counts[fold], count(layout, dataset.rows(fold_of == fold)))
    return tuple(counts)


def merge_all(parts: Iterable[Counts]) -> Counts:
    """The counts of all parts together; there must be one."""
    return reduce(merge, parts)


def merge(left: Counts, right: Counts) -> Counts:
    """The counts of the rows of both."""
    if left.layout.network != right.layout.network or left.layout.names != right.layout.names:
        raise NetworkError("Counts of two different networks cannot be merged.")
    sparse = {}
    for name in left.layout.left_out:
        pairs = zip(left.sparse[name], right.sparse[name], strict=True)
        keys, values = (np.concatenate(both) for both in pairs)
        sparse[name] = _add_up(keys, values)
    return Counts(
        left.layout,
        left.dense + right.dense,
        sparse,
        left.incomplete + right.incomplete,
        left.total + right.total,
        left.rows + right.rows,
    )


def less(counts: Counts, held_out: Counts) -> Counts:
    """The counts of all rows but those that are held out."""
    sparse = {}
    for name, (keys, values) in counts.sparse.items():
        values = values.copy()
        own_keys, own_values = held_out.sparse[name]
        values[np.searchsorted(keys, own_keys)] -= own_values
        sparse[name] = keys, values
    return replace(
        counts,
        dense=counts.dense - held_out.dense,
        sparse=sparse,
        incomplete=counts.incomplete - held_out.incomplete,
        total=counts.total - held_out.total,
        rows=counts.rows - held_out.rows,
    )


def _count_dense(layout: Layout, dataset: Dataset) -> tuple[Numbers, Numbers]:
    """Counts of all cells of the layout, and the weight of the incomplete rows of each variable's family.

    All families are counted in one pass over the rows, pieces of which are counted by threads.
    """
    # Without weights each row counts one: an array of stride zero, which costs no memory.
    ones = np.broadcast_to(np.int64(1), len(dataset))
    weights = ones if dataset.weights is None else dataset.weights
    offsets = layout.first_cells[:-1]

    def count_piece(piece: slice) -> tuple[NDArray[Any], NDArray[Any]]:
        counts = np.zeros(layout.size, dtype=weights.dtype)
        incomplete = np.zeros(len(offsets), dtype=weights.dtype)
        arrays = layout.members, layout.strides, layout.member_starts, offsets
        count_rows(dataset.codes[piece], weights[piece], *arrays, counts, incomplete)
        return counts, incomplete

    threads = min(cpu_count() or 1, 1 + len(dataset) // SMALL_PIECE)
    cuts = [len(dataset) * i // threads for i in range(threads + 1)]
    parts = map_in_threads(count_piece, (slice(*cut) for cut in pairwise(cuts)))
    counts, incomplete = np.zeros(layout.size), np.zeros(len(layout.network))
    present = np.array([name in layout for name in layout.network.names])
    for part_counts, part_incomplete in parts:
        counts += part_counts
        incomplete[present] += part_incomplete
    return counts, incomplete


def _cells(layout: Layout, name: str, dataset: Dataset) -> tuple[NDArray[np.int64], Numbers]:
    """The cell of each row in the CPT of one family, -1 where a value is missing; and the rows' weights."""
    positions, strides = family_strides(layout.network, name)
    keys = np.zeros(len(dataset), dtype=np.int64)
    incomplete = np.zeros(len(dataset), dtype=bool)
    for position, stride in zip(positions, strides, strict=True):
        column = dataset.codes[:, position].astype(np.int64)
        incomplete |= column < 0
        keys += column * stride
    keys[incomplete] = -1
    weights = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
    return keys, weights


def _add_up(keys: NDArray[np.int64], values: Numbers) -> tuple[NDArray[np.int64], Numbers]:
    """The distinct keys, sorted, each with the sum of its values."""
    distinct, where = np.unique(keys, return_inverse=True)
    return distinct, np.bincount(where, weights=values, minlength=len(distinct)).astype(np.float64)

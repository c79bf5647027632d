"""Complete families among incomplete rows: their cells, which are counted once, and the rows that have one of them."""

from __future__ import annotations

import numpy as np

from credo.io.dataset import Dataset
from credo.model.layout import Layout
from credo.statistics.counts import Counts
from credo.types import Flags, Indices, Numbers


def cells_of_counts(layout: Layout, observed: Counts) -> tuple[Indices, Numbers]:
    """The cells that were counted, and their counts."""
    cells, counts = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for name in layout.network.names:
        start = layout.slice_of(name).start
        if name in observed.layout.offsets:
            table = observed.of(name).ravel()
            keys = np.flatnonzero(table)
            values = table[keys]
        else:
            keys, values = observed.sparse[name]
        cells.append(start + keys)
        counts.append(values)
    return np.concatenate(cells), np.concatenate(counts)


def rows_with_cell(layout: Layout, dataset: Dataset, cell: int) -> tuple[Flags, dict[int, int]]:
    """Which rows have a cell of a complete family; and the states of its variables, by their positions."""
    family = int(np.searchsorted(layout.cell_starts, cell, side="right")) - 1
    rest, matches = cell - int(layout.cell_starts[family]), np.ones(len(dataset), dtype=np.bool_)
    states: dict[int, int] = {}
    for i in range(layout.member_starts[family], layout.member_starts[family + 1]):
        state, rest = divmod(rest, int(layout.strides[i]))
        states[int(layout.members[i])] = state
        matches &= dataset.codes[:, layout.members[i]] == state
    if dataset.weights is not None:
        matches &= dataset.weights > 0
    return matches, states

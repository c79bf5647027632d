"""Which nodes of a graph hang together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int64]


def parts(here: Nodes, there: Nodes, size: int) -> Nodes:
    """The number of each of `size` nodes' part, from 0, where an edge links each node of `here` to that of `there`."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(here), dtype=np.int8), (here, there)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)

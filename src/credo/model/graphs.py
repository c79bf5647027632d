"""Connected components of an undirected graph."""

from __future__ import annotations

import numpy as np

from credo.types import Indices


def connected_components(tails: Indices, heads: Indices, size: int) -> Indices:
    """The number of each node's component, from 0, in a graph of `size` nodes with edges from `tails` to `heads`."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components as components

    graph = coo_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(size, size))
    return np.asarray(components(graph, directed=False)[1], dtype=np.int64)

"""Connected components of an undirected graph."""

from __future__ import annotations

import numpy as np

from credo.types import Indices


def connected_components(tails: Indices, heads: Indices, size: int) -> Indices:
    """The number of each node's component, from 0, in a graph of `size` nodes with edges from `tails` to `heads`."""
    label = np.arange(size)  # of each node: another one in its component, with a smaller number or its own
    while True:
        least = np.minimum(label[tails], label[heads])
        before = label.copy()
        np.minimum.at(label, before[tails], least)
        np.minimum.at(label, before[heads], least)
        label = label[label]
        if (label == before).all():
            return np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.int64)

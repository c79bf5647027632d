"""Connected components, against SciPy."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as components

from credo.model.graphs import connected_components


def test_random_graphs() -> None:
    generator = np.random.default_rng(1)
    for _ in range(200):
        size, edges = int(generator.integers(1, 60)), int(generator.integers(0, 80))
        tails, heads = generator.integers(0, size, (2, edges))
        graph = coo_array((np.ones(edges), (tails, heads)), shape=(size, size))
        assert connected_components(tails, heads, size).tolist() == components(graph, directed=False)[1].tolist()


def test_a_long_path_in_any_order() -> None:
    order = np.random.default_rng(2).permutation(10_000)
    assert not connected_components(order[:-1], order[1:], len(order)).any()


def test_nothing() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert connected_components(none, none, 0).tolist() == []
    assert connected_components(none, none, 2).tolist() == [0, 1]

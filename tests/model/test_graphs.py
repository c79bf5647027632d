"""Connected components, against SciPy; ancestors and what is not d-separated, by hand."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components as components

from credo.model.graphs import ancestors, connected_components, reached_families


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


# a → b → c ← d → e
PARENTS = {"a": [], "b": ["a"], "c": ["b", "d"], "d": [], "e": ["d"]}


def test_ancestors() -> None:
    assert ancestors(PARENTS, ["c"]) == {"a", "b", "c", "d"}
    assert ancestors(PARENTS, ["c"], cut=["b"]) == {"b", "c", "d"}
    assert ancestors({"b": ["a"]}, ["b"]) == {"a", "b"}


def test_cpts_that_are_not_d_separated() -> None:
    assert reached_families(PARENTS, ["a"], ["a", "e"], ["e"]) == {"a"}
    assert reached_families(PARENTS, ["a"], ["a", "c"], ["c"]) == {"a", "b", "c", "d"}  # a collider that is known
    assert reached_families(PARENTS, ["a"], ["a", "b", "c"], ["b", "c"]) == {"a", "b"}

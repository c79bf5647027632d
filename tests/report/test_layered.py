"""Where variables go: parents above children, nobody on top of another, few crossings."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from credo import Network
from credo.drawing.graphs import layered_positions, positions_by_means, read_graphviz
from credo.testing import andes_like_network


def test_parents_are_above_and_nobody_is_covered() -> None:
    network = andes_like_network()
    places = positions_by_means(network)
    assert set(places) == set(network.names)
    for child in network.names:
        for parent in network.parents[child]:
            assert places[parent][1] < places[child][1]
    by_layer: dict[float, list[float]] = {}
    for x, y in places.values():
        by_layer.setdefault(y, []).append(x)
    for layer in by_layer.values():
        ordered = sorted(layer)
        assert all(after - before > 0.999 for before, after in pairwise(ordered))
    assert min(x for x, _ in places.values()) == 0.0
    assert positions_by_means(network) == places


def test_a_tree_is_drawn_without_crossings() -> None:
    children = {"b": ["a"], "c": ["a"], "d": ["b"], "e": ["c"], "f": ["b"], "g": ["c"]}
    network = Network(dict.fromkeys("abcdefg", ("no", "yes")), children)
    places = positions_by_means(network)
    arcs = [(own[0], name) for name, own in children.items()]
    for (one, end), (other, stop) in combinations(arcs, 2):
        if places[one][1] == places[other][1] and one != other:
            assert (places[one][0] - places[other][0]) * (places[end][0] - places[stop][0]) > 0
    assert places["a"][0] == pytest.approx((places["b"][0] + places["c"][0]) / 2)


def test_a_root_stands_just_above_its_child() -> None:
    network = Network(dict.fromkeys("abcd", ("no", "yes")), {"b": ["a"], "c": ["b", "d"]})
    depth = {name: y for name, (_, y) in positions_by_means(network).items()}
    assert depth == {"a": 0.0, "b": 1.0, "d": 1.0, "c": 2.0}


def test_what_graphviz_writes_is_read_as_columns_and_layers() -> None:
    text = "graph 1 3 2\nnode 0 1.5 1.75 0.01 0.01 0 solid ellipse black lightgrey\nnode 1 0.5 0.25 0.01 0.01 1\nstop\n"
    assert read_graphviz(text, ["smoke", "lung"]) == {"smoke": (1.0, 0.0), "lung": (0.0, 1.0)}


def test_a_network_is_placed_whoever_does_it() -> None:
    network = Network({name: ["no", "yes"] for name in "abcd"}, {"c": ["a", "b"], "d": ["c"]})
    places = layered_positions(network)
    assert len(set(places.values())) == 4
    assert places["a"][1] < places["c"][1] < places["d"][1]

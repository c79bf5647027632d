"""Where variables go: parents above children, nobody on top of another, few crossings."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from benchmarks.knowledge import network_like_andes

from credo import Network
from credo.report.layered import layered


def test_parents_are_above_and_nobody_is_covered() -> None:
    network = network_like_andes()
    places = layered(network)
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
    assert layered(network) == places


def test_a_tree_is_drawn_without_crossings() -> None:
    children = {"b": ["a"], "c": ["a"], "d": ["b"], "e": ["c"], "f": ["b"], "g": ["c"]}
    network = Network(dict.fromkeys("abcdefg", ("no", "yes")), children)
    places = layered(network)
    arcs = [(own[0], name) for name, own in children.items()]
    for (one, end), (other, stop) in combinations(arcs, 2):
        if places[one][1] == places[other][1] and one != other:
            assert (places[one][0] - places[other][0]) * (places[end][0] - places[stop][0]) > 0
    assert places["a"][0] == pytest.approx((places["b"][0] + places["c"][0]) / 2)


def test_a_root_stands_just_above_its_child() -> None:
    network = Network(dict.fromkeys("abcd", ("no", "yes")), {"b": ["a"], "c": ["b", "d"]})
    depth = {name: y for name, (_, y) in layered(network).items()}
    assert depth == {"a": 0.0, "b": 1.0, "d": 1.0, "c": 2.0}

"""Where boxes and arrows go: parents above children, nobody on top of another, arrows around boxes, few crossings."""

from __future__ import annotations

import shutil
import subprocess
from itertools import combinations, pairwise, product
from random import Random

import numpy as np
import pytest

from credo import Network
from credo.drawing.layered_graph import LayeredGraph, layered_graph
from credo.drawing.layered_layout import LEAST_WIDTH, Picture, layered_picture
from credo.drawing.ordering import ascending, count_crossings, ordered_layers
from credo.drawing.ranks import longest_paths, ranks_of
from credo.testing import alarm_like_network, andes_like_network, made_up_network

Parents = dict[str, list[str]]
SEEDS = range(8)
LARGE = [alarm_like_network(), made_up_network(100, (2, 4), seed=5), andes_like_network()]
WIDE = 1e9


def random_parents(seed: int) -> Parents:
    """A graph of up to thirty nodes, sometimes in several parts."""
    generator = Random(seed)
    names = [f"n{k}" for k in range(generator.randint(1, 30))]
    return {
        name: generator.sample(names[:k], min(k, generator.choice([0, 1, 1, 2, 3]))) for k, name in enumerate(names)
    }


def random_sizes(parents: Parents, seed: int) -> dict[str, tuple[float, float]]:
    generator = Random(seed)
    return {name: (generator.uniform(20, 200), generator.uniform(15, 120)) for name in parents}


def parents_of(network: Network) -> Parents:
    return {name: list(network.parents[name]) for name in network.names}


def drawn(seed: int) -> tuple[Parents, Picture]:
    parents = random_parents(seed)
    return parents, layered_picture(parents, random_sizes(parents, seed))


def points_on(route: tuple[tuple[float, float], ...]) -> np.ndarray:
    """(points, 2) close together on an arrow, as it is drawn: lines and curves in turns."""
    t = np.linspace(0, 1, 40)
    found = []
    for place, (start, end) in enumerate(pairwise(np.array(route))):
        if place % 2 == 0:
            found.append(start + np.outer(t, end - start))
        else:  # a cubic curve whose control points are below and above its ends
            middle = (start[1] + end[1]) / 2
            weights = np.stack([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3], axis=1)
            found.append(weights @ np.array([start, (start[0], middle), (end[0], middle), end]))
    return np.concatenate(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_boxes_do_not_overlap_and_are_within_the_picture(seed: int) -> None:
    parents, picture = drawn(seed)
    assert set(picture.positions) == set(parents)
    for one, other in combinations(parents, 2):
        left, top, right, bottom = picture.box(one)
        far_left, far_top, far_right, far_bottom = picture.box(other)
        apart = right < far_left or far_right < left or bottom < far_top or far_bottom < top
        assert apart, (one, other)
    for name in parents:
        left, top, right, bottom = picture.box(name)
        assert 0 < left < right < picture.width
        assert 0 < top < bottom < picture.height


@pytest.mark.parametrize("seed", SEEDS)
def test_arrows_lead_down_from_parent_to_child_and_touch_no_other_box(seed: int) -> None:
    parents, picture = drawn(seed)
    assert set(picture.routes) == {(parent, child) for child, own in parents.items() for parent in own}
    for (parent, child), route in picture.routes.items():
        assert len(route) % 2 == 1
        left, _, right, bottom = picture.box(parent)
        assert left <= route[0][0] <= right
        assert route[0][1] == pytest.approx(bottom)
        left, top, right, _ = picture.box(child)
        assert left <= route[-1][0] <= right
        assert route[-1][1] == pytest.approx(top)
        assert all(below >= above for (_, above), (_, below) in pairwise(route))
        x, y = points_on(route).T
        for name in parents:
            left, top, right, bottom = picture.box(name)
            inside = (left < x) & (x < right) & (top + 0.01 < y) & (y < bottom - 0.01)
            assert not inside.any(), (parent, child, name)


def test_a_very_tall_picture_is_folded_into_columns() -> None:
    parents: Parents = {}
    for k in range(60):  # slices of time, which all depend on the first node as well
        before = [f"c{k - 1}"] if k else []
        parents |= {f"a{k}": [*before, *["a0"] * (k > 0)], f"b{k}": [f"a{k}", *before], f"c{k}": [f"b{k}", f"a{k}"]}
    picture = layered_picture(parents, dict.fromkeys(parents, (120.0, 200.0)))
    assert 0.4 < picture.width / picture.height < 2.5
    boxes = {name: picture.box(name) for name in parents}
    for (_, one), (_, other) in combinations(boxes.items(), 2):
        assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
    assert set(picture.routes) == {(parent, child) for child, own in parents.items() for parent in own}
    for (parent, child), route in picture.routes.items():
        assert len(route) % 2 == 1
        assert route[0][1] == pytest.approx(boxes[parent][3])
        assert route[-1][1] == pytest.approx(boxes[child][1])
        x, y = points_on(route).T
        assert ((x > 0) & (x < picture.width) & (y > 0) & (y < picture.height)).all()
        for left, top, right, bottom in boxes.values():
            assert not ((left < x) & (x < right) & (top + 0.01 < y) & (y < bottom - 0.01)).any(), (parent, child)


@pytest.mark.parametrize("network", LARGE, ids=len)
def test_a_picture_of_a_large_network_is_not_wide(network: Network) -> None:
    sizes = dict.fromkeys(network.names, (120.0, 50.0))
    picture = layered_picture(parents_of(network), sizes)
    assert picture.width < max(LEAST_WIDTH, 280 * len(network) ** 0.5)
    assert picture.height < max(LEAST_WIDTH, 400 * len(network) ** 0.5)


def test_the_same_graph_always_gets_the_same_picture() -> None:
    parents, picture = drawn(3)
    assert layered_picture(parents, picture.sizes) == picture


def test_many_children_of_one_parent_wrap() -> None:
    parents = {"disease": [], **{f"sign{k}": ["disease"] for k in range(100)}}
    picture = layered_picture(parents, dict.fromkeys(parents, (120.0, 50.0)))
    assert picture.width < 3_500  # 14,200 in one row


def test_a_tree_is_drawn_without_crossings_and_parents_in_the_middle() -> None:
    parents: Parents = {"a": [], "b": ["a"], "c": ["a"], "d": ["b"], "e": ["c"], "f": ["b"], "g": ["c"]}
    picture = layered_picture(parents, dict.fromkeys(parents, (40.0, 20.0)))
    x = {name: position[0] for name, position in picture.positions.items()}
    for (one, own), (other, its) in combinations(parents.items(), 2):
        if own and its and own != its and picture.positions[one][1] == picture.positions[other][1]:
            assert (x[one] - x[other]) * (x[own[0]] - x[its[0]]) > 0
    assert x["a"] == pytest.approx((x["b"] + x["c"]) / 2, abs=0.5)


def test_a_root_stands_just_above_its_child() -> None:
    assert ranks_of(4, [(0, 1), (1, 2), (3, 2)]) == [0, 1, 2, 1]


@pytest.mark.parametrize("seed", SEEDS)
def test_arcs_are_together_as_short_as_an_independent_program_finds(seed: int) -> None:
    from scipy.optimize import linprog

    generator = Random(seed)
    nodes = 25  # each joined to one before it, so that the graph is connected
    arcs = sorted({(generator.randrange(k), k) for k in range(1, nodes) for _ in range(generator.choice([1, 2, 3]))})
    ranks = ranks_of(nodes, arcs)
    assert min(ranks) == 0
    lengths = [ranks[child] - ranks[parent] for parent, child in arcs]
    assert min(lengths) >= 1
    matrix = np.zeros((len(arcs), nodes))
    for row, (parent, child) in enumerate(arcs):
        matrix[row, parent], matrix[row, child] = 1.0, -1.0
    optimum = linprog(-matrix.sum(axis=0), A_ub=matrix, b_ub=-np.ones(len(arcs)))
    assert sum(lengths) == pytest.approx(optimum.fun)
    assert sum(lengths) <= sum(longest_paths(nodes, arcs)[c] - longest_paths(nodes, arcs)[p] for p, c in arcs)


def test_the_nearest_ascending_numbers_are_those_of_an_independent_program() -> None:
    from scipy.optimize import isotonic_regression

    generator = np.random.default_rng(0)
    for _ in range(20):
        wanted, weights = generator.normal(size=12), generator.uniform(0.5, 8, size=12)
        expected = isotonic_regression(wanted, weights=weights).x
        assert ascending(wanted.tolist(), weights.tolist()) == pytest.approx(expected.tolist())


def graph_of(network: Network) -> LayeredGraph:
    number = {name: place for place, name in enumerate(network.names)}
    arcs = [(number[parent], number[child]) for child in network.names for parent in network.parents[child]]
    return layered_graph(len(network), arcs, [1.0] * len(network), WIDE)


@pytest.mark.parametrize("seed", SEEDS)
def test_crossings_are_counted_as_every_pair_of_segments_says(seed: int) -> None:
    graph = graph_of(made_up_network(12, seed=seed))
    expected = 0
    for upper, lower in pairwise(graph.layers):
        segments = [(upper.index(one), lower.index(node)) for node in lower for one in graph.above[node]]
        expected += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(segments, 2))
    assert count_crossings(graph.layers, graph.above) == expected


@pytest.mark.parametrize("network", LARGE, ids=len)
def test_the_order_has_far_fewer_crossings_than_a_random_one(network: Network) -> None:
    graph = graph_of(network)
    generator = Random(0)
    shuffled = [generator.sample(layer, len(layer)) for layer in graph.layers]
    ordered = ordered_layers(graph)
    assert [sorted(layer) for layer in ordered] == [sorted(layer) for layer in graph.layers]
    assert count_crossings(ordered, graph.above) < 0.5 * count_crossings(shuffled, graph.above)


@pytest.mark.parametrize("seed", SEEDS)
def test_few_nodes_get_the_order_with_the_fewest_crossings(seed: int) -> None:
    """Every order of three layers is tried."""
    from itertools import permutations

    generator = Random(seed)
    arcs = [(k, 4 + j) for k, j in product(range(4), range(4)) if generator.random() < 0.45]
    arcs += [(4 + k, 8 + j) for k, j in product(range(4), range(4)) if generator.random() < 0.45]
    above = tuple(tuple(one for one, other in arcs if other == node) for node in range(12))
    below = tuple(tuple(other for one, other in arcs if one == node) for node in range(12))
    layers = ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))
    graph = LayeredGraph(12, layers, above, below, {arc: arc for arc in arcs})
    fewest = min(
        min(count_crossings([top, middle], above) for top in permutations(layers[0]))
        + min(count_crossings([middle, bottom], above) for bottom in permutations(layers[2]))
        for middle in permutations(layers[1])
    )
    assert count_crossings(ordered_layers(graph), above) <= fewest + 1


@pytest.mark.slow
@pytest.mark.parametrize("network", LARGE, ids=len)
def test_crossings_are_about_as_few_as_those_of_graphviz(network: Network) -> None:
    dot = shutil.which("dot")
    if dot is None:
        pytest.skip("Graphviz is not installed")
    graph = graph_of(network)
    arcs = ";".join(f"{parent}->{child}" for parent, child in graph.paths)
    done = subprocess.run(
        [dot, "-v", "-Tplain"], input=f"digraph {{{arcs}}}", capture_output=True, text=True, check=True
    )
    theirs = sum(int(line.split()[2]) for line in done.stderr.splitlines() if "crossings," in line)
    assert count_crossings(ordered_layers(graph), graph.above) <= 1.3 * theirs

"""A graph in layers, whose long arcs have a node of their own, a *bend*, in every layer that they pass.

So every arc is a path of segments between neighbouring layers, and the order within a layer makes room for arcs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from credo.drawing.ranks import Arc, ranks_of


@dataclass(frozen=True, slots=True)
class LayeredGraph:
    """Nodes 0 … n−1, then bends; arcs between neighbouring layers only.

    Attributes
    ----------
    nodes
        The number of nodes that are not bends.
    layers
        The nodes and bends of each layer, from the top, in their first order.
    above, below
        For each node and bend, its neighbours in the layer above and in the layer below.
    paths
        For each arc its nodes, from the parent through its bends to the child.
    """

    nodes: int
    layers: tuple[tuple[int, ...], ...]
    above: tuple[tuple[int, ...], ...]
    below: tuple[tuple[int, ...], ...]
    paths: Mapping[Arc, tuple[int, ...]]


def layered_graph(nodes: int, arcs: Sequence[Arc], widths: Sequence[float], most: float) -> LayeredGraph:
    """Put nodes into layers no wider than `most` where several nodes share one, and give long arcs their bends."""
    ranks = split_wide_layers(ranks_of(nodes, arcs), arcs, widths, most)
    rank_of = list(ranks)
    above: list[list[int]] = [[] for _ in range(nodes)]
    below: list[list[int]] = [[] for _ in range(nodes)]
    paths: dict[Arc, tuple[int, ...]] = {}
    for parent, child in arcs:
        path = [parent]
        for rank in range(ranks[parent] + 1, ranks[child]):
            path.append(len(rank_of))
            rank_of.append(rank)
            above.append([])
            below.append([])
        path.append(child)
        paths[parent, child] = tuple(path)
        for one, other in pairwise(path):
            below[one].append(other)
            above[other].append(one)
    layers: list[list[int]] = [[] for _ in range(max(rank_of, default=-1) + 1)]
    for node in _depth_first(above, below):
        layers[rank_of[node]].append(node)
    return LayeredGraph(nodes, tuple(map(tuple, layers)), tuple(map(tuple, above)), tuple(map(tuple, below)), paths)


def split_wide_layers(ranks: Sequence[int], arcs: Sequence[Arc], widths: Sequence[float], most: float) -> list[int]:
    """The same with layers wider than `most` split: no arc joins nodes of one layer, so that any of them may go below.

    Nodes with more parents than children stay up, the others go down, which keeps arcs short.
    """
    surplus = [0] * len(ranks)
    for parent, child in arcs:
        surplus[parent] += 1
        surplus[child] -= 1
    layers: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for node, rank in enumerate(ranks):
        layers[rank].append(node)
    found, next_rank = [0] * len(ranks), 0
    for layer in layers:
        total = sum(widths[node] for node in layer)
        parts = max(1, -(-int(total) // max(1, int(most))))
        used = 0.0
        for _, group in groupby(sorted(layer, key=surplus.__getitem__), key=surplus.__getitem__):
            alike = list(group)
            first, used = int(used * parts / total), used + sum(widths[node] for node in alike)
            last = min(parts - 1, int(used * parts / total))
            for place, node in enumerate(alike):  # in turns, so that arcs to the lower ones pass between the others
                found[node] = next_rank + first + place % (last - first + 1)
        next_rank += parts
    return found


def _depth_first(above: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> list[int]:
    """All nodes, each near its neighbours: the first order within layers."""
    seen = [False] * len(above)
    order = []
    for start in range(len(above)):
        if above[start] or seen[start]:
            continue
        stack = [start]
        while stack:
            node = stack.pop()
            if seen[node]:
                continue
            seen[node] = True
            order.append(node)
            stack.extend(reversed(below[node]))
    return order

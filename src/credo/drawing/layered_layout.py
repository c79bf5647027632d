"""The picture of a directed graph in layers: where boxes stand, and how arrows go around them.

An arrow is vertical where it passes a layer, and bends only between layers, where no boxes are. So it never touches a
box that it does not join, whatever the sizes of the boxes are. The method is that of Sugiyama, Tagawa and Toda
[sugiyama]: layers (`ranks`), points where long arrows pass a layer (`layered_graph`), the order within layers
(`ordering`), horizontal positions (`coordinates`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

from credo.drawing.layered_graph import LayeredGraph, layered_graph
from credo.drawing.ordering import horizontal_positions, ordered_layers
from credo.drawing.ranks import Arc

BOX_GAP = 22.0  # between two boxes of a layer
BEND_GAP = 11.0  # between an arrow that passes and its neighbours
BUNDLE_GAP = 5.0  # between arrows of the same parent or the same child
LAYER_GAP = 38.0  # between layers, at least
MOST_LAYER_GAP = 120.0
SLOPE = 0.07  # of a layer gap to the widest step of an arrow in it
PORT_GAP = 11.0  # between the tips of two arrows at a box, where it is wide enough
MARGIN = 10.0
LEAST_WIDTH = 1_000.0  # that a picture may use before it wraps
ASPECT = 1.8  # width to height that wrapping aims for
TALL, SLENDER = 20_000.0, 6.0  # a part that is higher, and so many times as high as wide, is folded into columns
CUT_WITHIN = 0.15  # of the height of a column, around where it would end: there the fewest arrows are cut
Point = tuple[float, float]
Sizes = Mapping[str, tuple[float, float]]  # width and height of each box
Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Picture:
    """Where everything is, in pixels from the top left corner.

    Attributes
    ----------
    width, height
        Of the whole picture.
    positions
        The middle of each box.
    sizes
        The width and height of each box.
    routes
        The points of each arrow, from parent to child, an odd number of them: the first two are joined by a vertical
        line, the next by a curve that is vertical at both ends, and so on in turns.
    """

    width: float
    height: float
    positions: Mapping[str, Point]
    sizes: Sizes
    routes: Mapping[tuple[str, str], tuple[Point, ...]]

    def box(self, name: str) -> tuple[float, float, float, float]:
        """The left, top, right and bottom end of a box."""
        (x, y), (width, height) = self.positions[name], self.sizes[name]
        return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def layered_picture(parents: Names, sizes: Sizes) -> Picture:
    """Draw a graph: parents above their children, unconnected parts beside each other.

    `parents` has an entry for each node. The same graph always gets the same picture.
    """
    names = list(parents)
    area = sum((width + BOX_GAP) * (height + 2 * LAYER_GAP) for width, height in sizes.values())
    most = max(LEAST_WIDTH, sqrt(area * ASPECT))
    parts = [_part(own, parents, sizes, most) for own in _components(names, parents)]
    return _packed(parts, sizes, most)


def _components(names: Sequence[str], parents: Names) -> list[list[str]]:
    """The connected parts of the graph, the largest first."""
    neighbours: dict[str, list[str]] = {name: list(parents[name]) for name in names}
    for name in names:
        for parent in parents[name]:
            neighbours[parent].append(name)
    seen: set[str] = set()
    found = []
    for start in names:
        if start in seen:
            continue
        seen.add(start)
        own = [start]
        for name in own:
            fresh = [each for each in dict.fromkeys(neighbours[name]) if each not in seen]
            seen.update(fresh)
            own.extend(fresh)
        chosen = set(own)
        found.append([name for name in names if name in chosen])
    return sorted(found, key=len, reverse=True)


def _part(names: Sequence[str], parents: Names, sizes: Sizes, most: float) -> Picture:
    """One connected part, from (0, 0)."""
    number = {name: place for place, name in enumerate(names)}
    arcs = [(number[parent], number[child]) for child in names for parent in parents[child]]
    widths = [sizes[name][0] + BOX_GAP for name in names]
    graph = layered_graph(len(names), arcs, widths, most)
    layers = ordered_layers(graph)
    half = [sizes[name][0] / 2 for name in names]

    arc_of = {bend: arc for arc, path in graph.paths.items() for bend in path[1:-1]}

    def distance(left: int, right: int) -> float:
        if left in arc_of and right in arc_of:
            together = arc_of[left][0] == arc_of[right][0] or arc_of[left][1] == arc_of[right][1]
            return BUNDLE_GAP if together else BEND_GAP
        gap = BEND_GAP if left in arc_of or right in arc_of else BOX_GAP
        return gap + sum(half[each] if each < len(names) else 0.0 for each in (left, right))

    x = horizontal_positions(graph, layers, distance)
    left = min(each - (half[node] if node < len(names) else 0.0) for node, each in enumerate(x))
    x = [each - left for each in x]
    right = max(each + (half[node] if node < len(names) else 0.0) for node, each in enumerate(x))
    starts, ends = _ports(graph, x, half)
    heights = [sizes[name][1] for name in names]
    tops, bottoms = _bands(graph, layers, heights, starts, ends, x)
    layer_of = {node: depth for depth, layer in enumerate(layers) for node in layer}
    routes = {}
    for arc, path in graph.paths.items():
        parent, child = arc
        depth = layer_of[parent]
        points = [(starts[arc], tops[depth] + heights[parent]), (starts[arc], bottoms[depth])]
        for bend in path[1:-1]:
            points += [(x[bend], tops[layer_of[bend]]), (x[bend], bottoms[layer_of[bend]])]
        points.append((ends[arc], tops[layer_of[child]]))
        routes[names[parent], names[child]] = tuple(points)
    positions = {name: (x[k], tops[layer_of[k]] + heights[k] / 2) for name, k in number.items()}
    drawn = Picture(right, bottoms[-1], positions, sizes, routes)
    if drawn.height > max(TALL, SLENDER * drawn.width):
        return _folded(drawn, tops, bottoms)
    return drawn


def _folded(drawn: Picture, tops: Sequence[float], bottoms: Sequence[float]) -> Picture:
    """The layers in columns beside each other, together about as wide as high; arrows go up again between columns."""
    count = ceil(sqrt(drawn.height / drawn.width))
    cuts = _cuts(drawn, tops, bottoms, count)
    firsts = [0.0, *(tops[cut + 1] for cut in cuts)]  # where columns begin
    lasts = [*(bottoms[cut] for cut in cuts), drawn.height]
    crossing = [[arc for arc, points in drawn.routes.items() if points[0][1] <= end < points[-1][1]] for end in lasts]
    lefts = [0.0]
    for arcs in crossing[:-1]:
        lefts.append(lefts[-1] + drawn.width + 2 * LAYER_GAP + BUNDLE_GAP * len(arcs))
    place = [{arc: k for k, arc in enumerate(arcs)} for arcs in crossing]

    def moved(point: Point) -> tuple[int, Point]:
        column = bisect_right(firsts, point[1]) - 1
        return column, (point[0] + lefts[column], point[1] - firsts[column] + LAYER_GAP)

    routes = {}
    for arc, points in drawn.routes.items():
        column, start = moved(points[0])
        found = [start]
        for point in points[1:]:
            new, end = moved(point)
            for passed in range(column, new):  # between this column and the next: up to its top
                x = lefts[passed] + drawn.width + LAYER_GAP + BUNDLE_GAP * place[passed][arc]
                found += [(x, lasts[passed] - firsts[passed] + 2 * LAYER_GAP), (x, 0.0)]
            column = new
            found.append(end)
        routes[arc] = tuple(found)
    height = max(last - first for first, last in zip(firsts, lasts, strict=True)) + 2 * LAYER_GAP
    positions = {name: moved(point)[1] for name, point in drawn.positions.items()}
    return Picture(lefts[-1] + drawn.width, height, positions, drawn.sizes, routes)


def _cuts(drawn: Picture, tops: Sequence[float], bottoms: Sequence[float], count: int) -> list[int]:
    """The layers after which columns end: near equal heights, where the fewest arrows pass."""
    passing = [sum(points[0][1] <= bottom < points[-1][1] for points in drawn.routes.values()) for bottom in bottoms]
    usual = drawn.height / count
    found: list[int] = []
    for column in range(1, count):
        near = [k for k in range(len(tops) - 1) if abs(bottoms[k] - column * usual) <= CUT_WITHIN * usual]
        if near:
            found.append(min(near, key=lambda k: (passing[k], abs(bottoms[k] - column * usual))))
    return found


def _ports(graph: LayeredGraph, x: Sequence[float], half: Sequence[float]) -> tuple[dict[Arc, float], dict[Arc, float]]:
    """Where arrows leave their parent and reach their child: side by side, in the order of where they come from."""
    leaving: dict[int, list[tuple[float, Arc]]] = {}
    arriving: dict[int, list[tuple[float, Arc]]] = {}
    for arc, path in graph.paths.items():
        leaving.setdefault(arc[0], []).append((x[path[1]], arc))
        arriving.setdefault(arc[1], []).append((x[path[-2]], arc))
    return _side_by_side(leaving, x, half), _side_by_side(arriving, x, half)


def _side_by_side(
    arrows: Mapping[int, list[tuple[float, Arc]]], x: Sequence[float], half: Sequence[float]
) -> dict[Arc, float]:
    """Places at each node's edge for its arrows, which come with where they lead."""
    found = {}
    for node, own in arrows.items():
        gap = min(PORT_GAP, 1.6 * half[node] / len(own))
        for place, (_, arc) in enumerate(sorted(own)):
            found[arc] = x[node] + gap * (place - (len(own) - 1) / 2)
    return found


def _bands(
    graph: LayeredGraph,
    layers: Sequence[Sequence[int]],
    heights: Sequence[float],
    starts: Mapping[Arc, float],
    ends: Mapping[Arc, float],
    x: Sequence[float],
) -> tuple[list[float], list[float]]:
    """The top and the bottom of each layer; the wider the steps of arrows between two layers, the larger the gap."""
    layer_of = {node: depth for depth, layer in enumerate(layers) for node in layer}
    widest = [0.0] * len(layers)  # below each layer
    for arc, path in graph.paths.items():
        across = [starts[arc], *(x[bend] for bend in path[1:-1]), ends[arc]]
        for node, (one, other) in zip(path, pairwise(across), strict=False):
            widest[layer_of[node]] = max(widest[layer_of[node]], abs(one - other))
    tops, bottoms, top = [], [], 0.0
    for layer, step in zip(layers, widest, strict=True):
        tops.append(top)
        bottoms.append(top + max((heights[node] for node in layer if node < graph.nodes), default=0.0))
        top = bottoms[-1] + min(MOST_LAYER_GAP, max(LAYER_GAP, SLOPE * step))
    return tops, bottoms


def _packed(parts: Sequence[Picture], sizes: Sizes, most: float) -> Picture:
    """The parts in rows, from left to right."""
    width = max([most, *(part.width for part in parts)])
    positions: dict[str, Point] = {}
    routes: dict[tuple[str, str], tuple[Point, ...]] = {}
    left = top = MARGIN
    lowest = rightmost = MARGIN
    for part in parts:
        if left > MARGIN and left + part.width > width + MARGIN:
            left, top = MARGIN, lowest + LAYER_GAP
        positions |= {name: (x + left, y + top) for name, (x, y) in part.positions.items()}
        routes |= {arc: tuple((x + left, y + top) for x, y in points) for arc, points in part.routes.items()}
        rightmost, lowest = max(rightmost, left + part.width), max(lowest, top + part.height)
        left += part.width + 2 * BOX_GAP
    return Picture(rightmost + MARGIN, lowest + MARGIN, {name: positions[name] for name in sizes}, sizes, routes)

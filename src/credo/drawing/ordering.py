"""The order of nodes within layers, so that few arcs cross, and their horizontal positions.

Sweeps down and up put each node at the median or the mean of its neighbours, then neighbours change places as long as
that removes crossings [gansner, section 3]. Several first orders are tried, and the best of all orders is kept.

The positions x minimise Σ w (x_u − x_v)² over the segments of arcs, while neighbours in a layer keep a least distance.
One layer after the other gets its best positions while the others stay: with offsets subtracted, that is an isotonic
regression on the weighted means of the neighbours. The objective is smooth and convex and each layer has limits of its
own, so that the sweeps converge to the optimum.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from random import Random

from credo.drawing.layered_graph import LayeredGraph

STARTS = 12  # first orders: that of the graph, its mirror image, then the best so far in some disorder
DISORDER = 0.4  # as a share of a layer
SWEEPS = 24  # from one first order
PATIENCE = 5  # sweeps without a better order
WORK = 50_000  # segments of arcs, over all sweeps: larger graphs get fewer sweeps
Layers = list[list[int]]


def ordered_layers(graph: LayeredGraph) -> Layers:
    """The layers in an order with few crossings; the same graph always gets the same."""
    best = [list(layer) for layer in graph.layers]
    fewest = count_crossings(best, graph.above)
    left = max(2, WORK // max(1, sum(map(len, graph.below))))  # sweeps that there is time for
    generator = Random(0)
    for start in range(STARTS):
        layers = [list(layer) for layer in (graph.layers if start < 2 else best)]
        target = _median if start % 2 == 0 else _mean
        position = [0] * len(graph.above)
        for layer in layers:
            if start == 1:
                layer.reverse()
            elif start > 2:
                noise = {node: place + DISORDER * len(layer) * generator.random() for place, node in enumerate(layer)}
                layer.sort(key=noise.__getitem__)
            _number(layer, position)
        without_gain = 0
        for sweep in range(min(SWEEPS, left)):
            if fewest == 0 or without_gain > PATIENCE:
                break
            left -= 1
            _sweep(layers, graph, position, target, downward=(sweep + start) % 2 == 0, mirrored=sweep % 4 >= 2)
            crossings = count_crossings(layers, graph.above)
            without_gain += 1
            if crossings < fewest:
                best, fewest, without_gain = [list(layer) for layer in layers], crossings, 0
    return best


def count_crossings(layers: Sequence[Sequence[int]], above: Sequence[Sequence[int]]) -> int:
    """How many pairs of arcs between neighbouring layers cross."""
    total = 0
    for upper, lower in pairwise(layers):
        place = {node: number for number, node in enumerate(upper)}
        ends: list[int] = []  # where the arcs of nodes further left end, in ascending order
        for node in lower:
            own = sorted(place[each] for each in above[node])
            total += sum(len(ends) - bisect_right(ends, each) for each in own)
            for each in own:
                insort(ends, each)
    return total


def _number(layer: Sequence[int], position: list[int]) -> None:
    for place, node in enumerate(layer):
        position[node] = place


def _sweep(
    layers: Layers,
    graph: LayeredGraph,
    position: list[int],
    target: Callable[[list[int]], float],
    downward: bool,
    mirrored: bool,
) -> None:
    """Sort each layer by where its nodes' neighbours in the layer before are, and exchange neighbours."""
    neighbours = graph.above if downward else graph.below
    for layer in layers[1:] if downward else layers[-2::-1]:
        wanted = {node: target([position[each] for each in neighbours[node]]) for node in layer if neighbours[node]}
        moving = [node for node in layer if node in wanted]
        if mirrored:
            moving.reverse()  # equal ones change places, which leads out of some dead ends
        moving.sort(key=wanted.__getitem__)
        following = iter(moving)
        layer[:] = [next(following) if node in wanted else node for node in layer]
        _number(layer, position)
    _exchange(layers, graph, position, shaken=mirrored)


def _mean(places: list[int]) -> float:
    return sum(places) / len(places)


def _median(places: list[int]) -> float:
    """The median; between two middle places, nearer to the side where the others are closer together."""
    places.sort()
    middle, count = len(places) // 2, len(places)
    if count % 2 == 1:
        return float(places[middle])
    if count == 2:
        return (places[0] + places[1]) / 2
    left, right = places[middle - 1] - places[0], places[-1] - places[middle]
    if left + right == 0:
        return (places[middle - 1] + places[middle]) / 2
    return (places[middle - 1] * right + places[middle] * left) / (left + right)


def _exchange(layers: Layers, graph: LayeredGraph, position: list[int], shaken: bool) -> None:
    """Let neighbours change places as long as that removes crossings; `shaken` first where it makes no difference."""
    if shaken:
        for layer in layers:
            _exchange_within(layer, graph, position, least_gain=0)
    waiting = set(range(len(layers)))
    while waiting:
        number = min(waiting)
        waiting.remove(number)
        if _exchange_within(layers[number], graph, position, least_gain=1):
            waiting.update(each for each in (number - 1, number + 1) if 0 <= each < len(layers))


def _exchange_within(layer: list[int], graph: LayeredGraph, position: list[int], least_gain: int) -> bool:
    """Do that in one layer, and say whether something changed."""
    up = {node: [position[each] for each in graph.above[node]] for node in layer}
    down = {node: [position[each] for each in graph.below[node]] for node in layer}
    changed, again = False, True
    while again:
        again = False
        for place in range(len(layer) - 1):
            left, right = layer[place], layer[place + 1]
            gain = 0  # so many fewer pairs cross if the right one comes first
            for one in up[left]:
                for other in up[right]:
                    gain += (one > other) - (one < other)
            for one in down[left]:
                for other in down[right]:
                    gain += (one > other) - (one < other)
            if gain >= least_gain:
                layer[place], layer[place + 1] = right, left
                changed, again = True, least_gain > 0
    _number(layer, position)
    return changed


# Coordinates ----------------------------------------------------------------------------------------------------------


COORDINATE_SWEEPS = 30
STRAIGHTENING = 16  # sweeps after these
SMALL_STEP = 3.0  # pixels
# Of a segment between nodes, of one to a bend, and of one between bends, which should be straight [gansner, section 4]
WEIGHTS = (1.0, 2.0, 8.0)
BENDS = WEIGHTS[2]
Distance = Callable[[int, int], float]  # the least between the middles of two neighbours, the left one first


def horizontal_positions(graph: LayeredGraph, layers: Sequence[Sequence[int]], distance: Distance) -> list[float]:
    """The middle of each node and bend."""
    offsets = [
        list(accumulate((distance(left, right) for left, right in pairwise(layer)), initial=0.0)) for layer in layers
    ]
    x = [0.0] * len(graph.above)
    for layer, own in zip(layers, offsets, strict=True):
        for node, offset in zip(layer, own, strict=True):
            x[node] = offset - own[-1] / 2
    neighbours = [_weighted_neighbours(graph, node) for node in range(len(x))]
    totals = [sum(weight for _, weight in pulls) for pulls in neighbours]
    for sweep in range(COORDINATE_SWEEPS + STRAIGHTENING):
        downward, straightening = sweep % 2 == 0, sweep >= COORDINATE_SWEEPS
        for depth in range(len(layers)) if downward else reversed(range(len(layers))):
            layer, own = layers[depth], offsets[depth]
            wanted, weights = [], []
            for node, offset in zip(layer, own, strict=True):
                here, pull, total = x[node], 0.0, totals[node]
                if straightening:
                    total = 0.0
                    for other, weight in neighbours[node]:
                        straight = _straightened(weight, abs(x[other] - here))
                        pull += straight * x[other]
                        total += straight
                else:
                    for other, weight in neighbours[node]:
                        pull += weight * x[other]
                wanted.append((pull / total if total else here) - offset)
                weights.append(total or 1.0)
            placed = ascending(wanted, weights)
            for node, value, offset in zip(layer, placed, own, strict=True):
                x[node] = value + offset
    return x


def _straightened(weight: float, step: float) -> float:
    """The weight of a segment whose cost grows with its step instead of the square of it: a few large steps, then."""
    return weight if weight < BENDS or step < SMALL_STEP else weight * SMALL_STEP / step


def ascending(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The nearest numbers, in weighted squares, that do not descend: neighbours in the wrong order share their mean."""
    pools: list[tuple[float, float, int]] = []  # weighted sum, weight and length
    for value, weight in zip(wanted, weights, strict=True):
        pools.append((value * weight, weight, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] > pools[-1][0] * pools[-2][1]:
            total, own, length = pools.pop()
            pools[-1] = pools[-1][0] + total, pools[-1][1] + own, pools[-1][2] + length
    return [total / own for total, own, length in pools for _ in range(length)]


def _weighted_neighbours(graph: LayeredGraph, node: int) -> list[tuple[int, float]]:
    is_bend = node >= graph.nodes
    return [(other, WEIGHTS[is_bend + (other >= graph.nodes)]) for other in (*graph.above[node], *graph.below[node])]

"""Horizontal positions for ordered layers: arcs as straight, and the picture as narrow, as the order allows.

The positions x minimise Σ w (x_u − x_v)² over the segments of arcs, while neighbours in a layer keep a least distance.
One layer after the other gets its best positions while the others stay: with offsets subtracted, that is an isotonic
regression on the weighted means of the neighbours. The objective is smooth and convex and each layer has limits of its
own, so that the sweeps converge to the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from credo.drawing.layered_graph import LayeredGraph

SWEEPS = 30
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
    for sweep in range(SWEEPS + STRAIGHTENING):
        downward, straightening = sweep % 2 == 0, sweep >= SWEEPS
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

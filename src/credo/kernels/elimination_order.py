"""The compiled loops that choose an elimination order, and join buckets of it where that is cheaper."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

MIN_FILL, MIN_WEIGHT = 0, 1
SMALL_CLIQUE = 16  # cells up to which buckets are always merged: there a bucket costs more than its cells


@compiled
def _score(adjacent: Any, gone: Any, sizes: Any, v: int, neighbours: Any) -> Any:  # pragma: no cover
    """How many edges the elimination of a variable adds, and how many cells its clique has."""
    found = 0
    cells = float(sizes[v])
    for u in range(len(sizes)):
        if adjacent[v, u] and not gone[u]:
            neighbours[found] = u
            found += 1
            cells *= sizes[u]
    fill = 0
    for i in range(found):
        for j in range(i):
            if not adjacent[neighbours[i], neighbours[j]]:
                fill += 1
    return fill, cells, found


@compiled
def eliminate(
    adjacent: Any, sizes: Any, rule: int, order: Any, separators: Any, widths: Any
) -> float:  # pragma: no cover
    """A greedy elimination order; each variable's neighbours at its turn; the cells of all cliques together."""
    n = len(sizes)
    gone = np.zeros(n, dtype=np.bool_)
    stale = np.ones(n, dtype=np.bool_)
    fills = np.zeros(n, dtype=np.float64)
    weights = np.zeros(n, dtype=np.float64)
    neighbours = np.empty(n, dtype=np.int64)
    total = 0.0
    for turn in range(n):
        best = -1
        for v in range(n):
            if gone[v]:
                continue
            if stale[v]:
                fill, cells, _ = _score(adjacent, gone, sizes, v, neighbours)
                fills[v], weights[v] = fill, cells
                stale[v] = False
            if best < 0:
                best = v
            elif rule == MIN_FILL:
                if fills[v] < fills[best] or (fills[v] == fills[best] and weights[v] < weights[best]):
                    best = v
            elif weights[v] < weights[best] or (weights[v] == weights[best] and fills[v] < fills[best]):
                best = v
        _, cells, found = _score(adjacent, gone, sizes, best, neighbours)
        total += cells
        order[turn], widths[turn], gone[best] = best, found, True
        for i in range(found):
            u = neighbours[i]
            separators[turn, i] = u
            for j in range(i):
                adjacent[u, neighbours[j]] = adjacent[neighbours[j], u] = True
        for i in range(found):
            u = neighbours[i]
            stale[u] = True
            for w in range(n):  # the fill of a neighbour's neighbour can shrink with the new edges
                if adjacent[u, w]:
                    stale[w] = True
    return total


@compiled
def largest_clique(variables: Any, own: Any, order: Any, separators: Any, widths: Any) -> Any:  # pragma: no cover
    worst, most = 0, 0.0
    for i in range(len(order)):
        cells = float(own[order[i]])
        for j in range(widths[i]):
            cells *= own[separators[i, j]]
        if cells > most:
            worst, most = i, cells
    clique = np.empty(widths[worst] + 1, dtype=np.int64)
    clique[0] = variables[order[worst]]
    for j in range(widths[worst]):
        clique[j + 1] = variables[separators[worst, j]]
    return clique


@compiled
def descend(values: Any) -> None:  # pragma: no cover
    """Sort a short list in place, the largest first."""
    for i in range(1, len(values)):
        value, j = values[i], i
        while j > 0 and values[j - 1] < value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@compiled
def merge_buckets(
    sizes: Any, order: Any, turn: Any, separators: Any, widths: Any, inputs: Any
) -> Any:  # pragma: no cover
    """Which bucket each turn belongs to, the last turn of each bucket, the bucket above it, and its cells.

    Each variable begins with a bucket of its own. Where what a bucket passes on is all that the one above holds, the
    two can be one, with more cells to multiply but one message less.
    """
    n = len(order)
    home, last, above = np.arange(n), np.arange(n), np.full(n, -1, dtype=np.int64)
    cells = np.empty(n, dtype=np.int64)
    for i in range(n):
        cells[i] = sizes[order[i]]
        for j in range(widths[i]):
            u = separators[i, j]
            cells[i] *= sizes[u]
            if above[i] < 0 or turn[u] < above[i]:
                above[i] = turn[u]
    for p in range(n):
        best, messages = -1, 0
        for i in range(p):
            if home[i] == i and above[i] == p:
                messages += 1
                if widths[last[i]] == widths[p] + 1 and (best < 0 or cells[i] < cells[best]):
                    best = i
        if best >= 0 and (cells[best] <= SMALL_CLIQUE or inputs[p] + messages <= 2):
            home[p], last[best], above[best] = best, p, above[p]
            inputs[best] += inputs[p] + messages - 1
    return home, last, above, cells

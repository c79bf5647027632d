"""The layer of each node of a directed graph: the arcs together as short as possible.

The layers y minimise Σ (y_child − y_parent) over the arcs, each of which is at least 1 long. This linear program has
whole numbers as its optimum; the network simplex method finds them [gansner, section 2]. A spanning tree of arcs of
length 1 fixes all layers. Leaving out one of its arcs splits the nodes in two sides; where more arcs would become
shorter than longer if the sides moved apart, another arc takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Arc = tuple[int, int]
Touching = list[list[tuple[int, int]]]  # for each node its neighbours in a graph, with the numbers of the arcs
EXCHANGES = 4  # of arcs of the tree, for each node at most: a stop for cycles, which practice has not shown
WORK = 300_000  # nodes times exchanges: larger graphs stop a little before the optimum


def ranks_of(nodes: int, arcs: Sequence[Arc]) -> list[int]:
    """The layers of a connected graph, from 0; a node with as many parents as children goes where most room is."""
    rank = longest_paths(nodes, arcs)
    surplus = [0] * nodes
    for parent, child in arcs:
        surplus[parent] += 1
        surplus[child] -= 1
    tree = _tight_tree(rank, arcs)
    touching = _touching(nodes, arcs, tree)
    for _ in range(min(EXCHANGES * nodes, WORK // max(1, nodes))):
        gains = _gains(arcs, touching, surplus)
        leaving = max(range(len(tree)), key=lambda place: gains[tree[place]], default=None)
        if leaving is None or gains[tree[leaving]] <= 0:
            break
        _replace(tree, touching, leaving, rank, arcs)
    return _balanced(rank, surplus, arcs)


def longest_paths(nodes: int, arcs: Sequence[Arc]) -> list[int]:
    """How many arcs the longest path to each node has."""
    children: list[list[int]] = [[] for _ in range(nodes)]
    waiting = [0] * nodes
    for parent, child in arcs:
        children[parent].append(child)
        waiting[child] += 1
    rank = [0] * nodes
    order = [node for node, count in enumerate(waiting) if count == 0]
    for node in order:
        for child in children[node]:
            rank[child] = max(rank[child], rank[node] + 1)
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return rank


def _tight_tree(rank: list[int], arcs: Sequence[Arc]) -> list[int]:
    """The numbers of arcs of length 1 that join all nodes; layers are shifted until there are enough of them."""
    touching = _touching(len(rank), arcs, range(len(arcs)))
    tree: list[int] = []
    within, waiting = {0}, [0]
    while True:
        for node in waiting:
            for other, number in touching[node]:
                if other not in within and abs(rank[other] - rank[node]) == 1:
                    within.add(other)
                    waiting.append(other)
                    tree.append(number)
        between = [arc for arc in arcs if (arc[0] in within) != (arc[1] in within)]
        if not between:
            return tree
        parent, child = min(between, key=lambda arc: rank[arc[1]] - rank[arc[0]])
        slack = rank[child] - rank[parent] - 1
        for node in within:
            rank[node] += slack if parent in within else -slack
        waiting = list(within)


def _touching(nodes: int, arcs: Sequence[Arc], numbers: Iterable[int]) -> Touching:
    """For each node its neighbours through some of the arcs, with the numbers of these arcs."""
    found: Touching = [[] for _ in range(nodes)]
    for number in numbers:
        parent, child = arcs[number]
        found[parent].append((child, number))
        found[child].append((parent, number))
    return found


def _gains(arcs: Sequence[Arc], touching: Touching, surplus: Sequence[int]) -> dict[int, int]:
    """For each arc of the tree, which `touching` describes, how much shorter all arcs become if it becomes longer by 1.

    That is the number of arcs back from the side of its child minus the number of arcs in its own direction. Arcs
    within a side cancel in the sum of its nodes' surplus.
    """
    order, came_from, came_by = [0], [-1] * len(surplus), [-1] * len(surplus)
    for node in order:
        before = came_from[node]
        for other, number in touching[node]:
            if other != before:
                came_from[other], came_by[other] = node, number
                order.append(other)
    total = list(surplus)  # of all nodes beyond a node, seen from node 0
    gains = {}
    for node in reversed(order[1:]):
        before, number = came_from[node], came_by[node]
        total[before] += total[node]
        gains[number] = total[node] if arcs[number][1] == node else -total[node]
    return gains


def _replace(tree: list[int], touching: Touching, place: int, rank: list[int], arcs: Sequence[Arc]) -> None:
    """Let another arc take the place of an arc of the tree, and move the nodes on the side of its parent up."""
    leaving = tree[place]
    parent, child = arcs[leaving]
    touching[parent].remove((child, leaving))
    touching[child].remove((parent, leaving))
    side = [parent]
    inside = set(side)
    for node in side:
        fresh = [other for other, _ in touching[node] if other not in inside]
        inside.update(fresh)
        side += fresh
    back = [number for number, (parent, child) in enumerate(arcs) if child in inside and parent not in inside]
    best = min(back, key=lambda number: rank[arcs[number][1]] - rank[arcs[number][0]])
    slack = rank[arcs[best][1]] - rank[arcs[best][0]] - 1
    for node in side:
        rank[node] -= slack
    tree[place] = best
    parent, child = arcs[best]
    touching[parent].append((child, best))
    touching[child].append((parent, best))


def _balanced(rank: list[int], surplus: Sequence[int], arcs: Sequence[Arc]) -> list[int]:
    """The layers from 0, where nodes that may be in several for the same length go to the one with the fewest nodes."""
    least = min(rank, default=0)
    rank = [each - least for each in rank]
    last = max(rank, default=0)
    parents: list[list[int]] = [[] for _ in rank]
    children: list[list[int]] = [[] for _ in rank]
    for parent, child in arcs:
        parents[child].append(parent)
        children[parent].append(child)
    used = [0] * (last + 1)
    for each in rank:
        used[each] += 1
    for node, own in enumerate(surplus):
        if own != 0 or not parents[node]:
            continue
        highest = max(rank[parent] for parent in parents[node]) + 1
        lowest = min(rank[child] for child in children[node]) - 1
        used[rank[node]] -= 1
        rank[node] = min(range(highest, lowest + 1), key=used.__getitem__)
        used[rank[node]] += 1
    return rank

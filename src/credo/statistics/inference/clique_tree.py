"""A clique tree of CPTs as flat arrays: messages between cliques give the derivatives of sums, CPT after CPT.

A sum is P(…) = Σ Π CPTs · Π indicators; all sums share the tree and differ in their indicators alone. In a clique that
has the messages of all its neighbours, the product of these with all CPTs but one, summed to the members of that CPT,
is ∂P/∂θ. Going through the tree from a root, from clique to clique and back, only the message on the way is computed
again: after a CPT has changed, the derivatives of the next are up to date at the cost of one clique. Only the sampler
needs that (`sampling/general_updates.py`); everybody else asks for all derivatives at once (`batched.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from credo.errors import TooLargeError, readable_bytes
from credo.kernels.sampler_arrays import CliqueTree
from credo.memory import memory_limit_or_default
from credo.statistics.inference.batched import Scope, greedy_order
from credo.types import Indices

SEND, UPDATE = 0, 1


@dataclass(frozen=True, slots=True)
class _Clique:
    scope: Scope
    parent: int  # −1: the root


def clique_tree(
    sizes: Sequence[int],
    families: Sequence[tuple[Scope, Sequence[int], int]],  # members, their strides, and the first cell of each CPT
    updated: Sequence[bool],  # whether a CPT is asked about
    variables: Sequence[int],  # that have indicators
    sums: int,
    memory_limit: int | None = None,
) -> CliqueTree:
    """The tree for these CPTs; refused where its messages for so many sums do not fit into memory."""
    cliques = _cliques(sizes, [tuple(sorted(scope)) for scope, _, _ in families])
    count = [prod(sizes[v] for v in clique.scope) for clique in cliques]
    separators = [
        () if clique.parent < 0 else tuple(sorted(set(clique.scope) & set(cliques[clique.parent].scope)))
        for clique in cliques
    ]
    cells = [prod(sizes[v] for v in separator) for separator in separators]
    needed = 16 * sums * sum(cells) + 8 * sum(count) * (2 + len(families) // max(1, len(cliques)))
    limit = memory_limit_or_default(memory_limit)
    if needed > limit:
        raise TooLargeError(
            f"Drawing under these statements would need {readable_bytes(needed)}; {readable_bytes(limit)} are allowed. "
            "Use the method cmap, or state less about probabilities that depend on several CPTs.",
            needed,
        )
    maps: list[Indices] = []
    places = [0]

    def add(found: Indices) -> int:
        maps.append(found)
        places.append(places[-1] + len(found))
        return places[-2]

    owner = [_smallest(cliques, count, set(scope)) for scope, _, _ in families]
    family_inputs: list[list[tuple[int, int]]] = [[] for _ in cliques]
    for number, (scope, strides, first) in enumerate(families):
        clique = cliques[owner[number]]
        found = add(first + _cells_of(sizes, clique.scope, dict(zip(scope, strides, strict=True))))
        family_inputs[owner[number]].append((number, found))
    indicator_inputs: list[list[tuple[int, int]]] = [[] for _ in cliques]
    offset = 0
    for v in variables:
        at = _smallest(cliques, count, {v})
        indicator_inputs[at].append((offset, add(_cells_of(sizes, cliques[at].scope, {v: 1}))))
        offset += sizes[v]
    # Message 2k goes from clique k to its parent, 2k + 1 back.
    starts = np.cumsum([0, *(size for size in cells for _ in range(2))]).astype(np.int64)
    message_inputs: list[list[tuple[int, int]]] = [[] for _ in cliques]
    outs: dict[int, int] = {}
    for number, clique in enumerate(cliques):
        if clique.parent < 0:
            continue
        between = _strides(sizes, separators[number])
        below = add(_cells_of(sizes, clique.scope, between))
        above = add(_cells_of(sizes, cliques[clique.parent].scope, between))
        message_inputs[clique.parent].append((2 * number, above))
        message_inputs[number].append((2 * number + 1, below))
        outs[2 * number], outs[2 * number + 1] = below, above
    children: list[list[int]] = [[] for _ in cliques]
    for number, clique in enumerate(cliques):
        if clique.parent >= 0:
            children[clique.parent].append(number)
    root = next(number for number, clique in enumerate(cliques) if clique.parent < 0)
    asked = [[number for number, _ in inputs if updated[number]] for inputs in family_inputs]
    operations = _operations(cliques, children, asked, root)
    collecting = [(SEND, number, 2 * number) for number in _post_order(children, root) if number != root]
    return CliqueTree(
        np.array(count, dtype=np.int64),
        *_rows(family_inputs),
        *_rows(indicator_inputs),
        *_rows(message_inputs),
        np.concatenate([np.zeros(0, dtype=np.int64), *maps]),
        starts,
        np.array([outs.get(message, 0) for message in range(2 * len(cliques))], dtype=np.int64),
        np.array(collecting, dtype=np.int64).reshape(-1, 3),
        np.array(operations, dtype=np.int64).reshape(-1, 3),
    )


def _cliques(sizes: Sequence[int], scopes: Sequence[Scope]) -> list[_Clique]:
    """The cliques of an elimination order, those inside of another left out; parts that share nothing are joined."""
    order, _ = greedy_order(sizes, scopes, (), by_fill=True)
    around: dict[int, set[int]] = {}
    for scope in scopes:
        for v in scope:
            around.setdefault(v, set()).update(scope)
    made: list[set[int]] = []
    for v in order:
        own = around.pop(v) | {v}
        made.append(own)
        for w in own - {v}:
            around[w] |= own
            around[w].discard(v)
    position = {v: k for k, v in enumerate(order)}
    parents = [min((position[w] for w in own - {order[k]}), default=-1) for k, own in enumerate(made)]
    # A clique inside of its parent, or around it, becomes one with it.
    target = list(range(len(made)))

    def find(k: int) -> int:
        while target[k] != k:
            k = target[k]
        return k

    for k in range(len(made)):
        parent = parents[k]
        if parent >= 0 and (made[parent] <= made[k] or made[k] <= made[parent]):
            made[parent] = made[parent] | made[k]
            target[k] = parent
    kept = [k for k in range(len(made)) if target[k] == k]
    number = {k: place for place, k in enumerate(kept)}
    found, root = [], -1
    for k in reversed(kept):
        parent = parents[k]
        above = number[find(parent)] if parent >= 0 else -1
        if above < 0:
            above, root = root, (number[k] if root < 0 else root)
        found.append((number[k], _Clique(tuple(sorted(made[k])), above)))
    return [clique for _, clique in sorted(found, key=lambda pair: pair[0])]


def _smallest(cliques: Sequence[_Clique], count: Sequence[int], members: set[int]) -> int:
    holding = [number for number, clique in enumerate(cliques) if members <= set(clique.scope)]
    return min(holding, key=lambda number: count[number])


def _strides(sizes: Sequence[int], scope: Scope) -> dict[int, int]:
    return {v: prod(sizes[w] for w in scope[place + 1 :]) for place, v in enumerate(scope)}


def _cells_of(sizes: Sequence[int], scope: Scope, strides: dict[int, int]) -> Indices:
    """For every cell of a clique, the cell of something that has some of its variables."""
    total = np.zeros([sizes[v] for v in scope], dtype=np.int64)
    for axis, v in enumerate(scope):
        shape = [-1 if other == axis else 1 for other in range(len(scope))]
        total = total + (strides.get(v, 0) * np.arange(sizes[v])).reshape(shape)
    return total.ravel()


def _post_order(children: Sequence[Sequence[int]], root: int) -> list[int]:
    found, waiting = [], [root]
    while waiting:
        number = waiting.pop()
        found.append(number)
        waiting.extend(children[number])
    return found[::-1]


def _operations(
    cliques: Sequence[_Clique], children: Sequence[Sequence[int]], asked: Sequence[Sequence[int]], root: int
) -> list[tuple[int, int, int]]:
    """From the root through the whole tree and back: updates of CPTs, and messages on the way."""
    found: list[tuple[int, int, int]] = [(UPDATE, root, family) for family in asked[root]]
    path: list[tuple[int, int]] = [(root, 0)]  # a clique, and which of its children comes next
    while path:
        number, place = path.pop()
        if place < len(children[number]):
            child = children[number][place]
            path += [(number, place + 1), (child, 0)]
            found.append((SEND, number, 2 * child + 1))
            found += [(UPDATE, child, family) for family in asked[child]]
        elif cliques[number].parent >= 0:
            found.append((SEND, number, 2 * number))
    return found


def _rows(lists: Sequence[Sequence[tuple[int, int]]]) -> tuple[Indices, Indices]:
    """Lists of pairs as starts and one array of pairs."""
    starts = np.cumsum([0, *(len(each) for each in lists)]).astype(np.int64)
    assert all(a <= b for a, b in pairwise(starts.tolist()))
    return starts, np.array([pair for each in lists for pair in each], dtype=np.int64).reshape(-1, 2)

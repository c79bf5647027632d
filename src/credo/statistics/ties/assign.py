"""One state for each row, the most probable that its ties allow: rows that share one, rows that differ.

    max Σ_groups log P(label)   s.t.  the labels of groups that differ are different

Groups that differ from none take their most probable state. The others are coloured: the surest first, each with its
most probable state that no neighbour has, going back where none is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Indices, Numbers
from credo.model.graphs import connected_components

MOST_TRIES = 100_000  # of one set of groups that differ, before the search gives up


class NoAssignment(Exception):
    """No labels keep all groups apart that differ; `groups` are those that hang together."""

    def __init__(self, groups: Sequence[int]) -> None:
        super().__init__()
        self.groups = tuple(groups)


def assign(probabilities: Numbers, pairs: Indices) -> tuple[Indices, bool]:
    """A state for each group, (groups,), and whether all pairs (n, 2) that differ do: the search can give up.

    `probabilities` are (groups, states).
    """
    labels: Indices = probabilities.argmax(axis=1).astype(np.int64)
    if not len(pairs):
        return labels, True
    neighbours: dict[int, list[int]] = {}
    for left, right in pairs.tolist():
        neighbours.setdefault(left, []).append(right)
        neighbours.setdefault(right, []).append(left)
    complete = True
    for groups in _parts(pairs, len(probabilities)):
        found = _colour(probabilities, neighbours, groups)
        if found is None:
            complete = False
        else:
            labels[list(found)] = list(found.values())
    return labels, complete


def _parts(pairs: Indices, groups: int) -> list[list[int]]:
    """Groups that hang together through pairs that differ."""
    label = connected_components(pairs[:, 0], pairs[:, 1], groups)
    inside: NDArray[np.int64] = np.unique(pairs)
    order = inside[np.argsort(label[inside], kind="stable")]
    return [part.tolist() for part in np.split(order, np.flatnonzero(np.diff(label[order])) + 1)]


def _colour(probabilities: Numbers, neighbours: dict[int, list[int]], groups: list[int]) -> dict[int, int] | None:
    """Depth first, the surest group first; None where the search gives up."""
    order = sorted(groups, key=lambda group: (-len(neighbours[group]), -probabilities[group].max(), group))
    wishes = {group: np.argsort(-probabilities[group], kind="stable").tolist() for group in groups}
    chosen: dict[int, int] = {}
    turn = [0] * len(order)  # which wish of each group comes next
    depth = tries = 0
    while 0 <= depth < len(order):
        group = order[depth]
        chosen.pop(group, None)
        taken = {chosen[other] for other in neighbours[group] if other in chosen}
        while turn[depth] < len(wishes[group]) and wishes[group][turn[depth]] in taken:
            turn[depth] += 1
        tries += 1
        if tries > MOST_TRIES:
            return None
        if turn[depth] == len(wishes[group]):
            turn[depth] = 0
            depth -= 1
        else:
            chosen[group] = wishes[group][turn[depth]]
            turn[depth] += 1
            depth += 1
    if depth < 0:
        raise NoAssignment(groups)
    return chosen

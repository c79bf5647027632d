"""What hangs together in a graph: ancestors, connected components, and the CPTs that an answer depends on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from credo.types import Indices


def connected_components(tails: Indices, heads: Indices, size: int) -> Indices:
    """The number of each node's component, from 0, in a graph of `size` nodes with edges from `tails` to `heads`."""
    label = np.arange(size)  # of each node: another one in its component, with a smaller number or its own
    while True:
        least = np.minimum(label[tails], label[heads])
        before = label.copy()
        np.minimum.at(label, before[tails], least)
        np.minimum.at(label, before[heads], least)
        label = label[label]
        if (label == before).all():
            return np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.int64)


def ancestors(parents: Mapping[str, Sequence[str]], names: Iterable[str], cut: Collection[str] = ()) -> set[str]:
    """These variables and all of their ancestors; what is beyond a variable in `cut` is left out."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            if name not in cut:
                waiting.extend(parents.get(name, ()))
    return found


def reached_families(
    parents: Mapping[str, Sequence[str]], starts: Collection[str], named: Iterable[str], known: Collection[str]
) -> set[str]:
    """The variables whose CPTs make up the distribution of `starts`, where `known` variables have one state.

    Of the CPTs of all `named` variables and their ancestors these hang together with a start through variables that are
    not known; the others are d-separated from it.
    """
    families: dict[str, list[str]] = {}
    for name in ancestors(parents, named):
        for member in (*parents[name], name):
            families.setdefault(member, []).append(name)
    reached, waiting, seen = set[str](), list(starts), set(starts)
    while waiting:
        for family in families[waiting.pop()]:
            if family not in reached:
                reached.add(family)
                fresh = {*parents[family], family}.difference(known, seen)
                seen |= fresh
                waiting.extend(fresh)
    return reached

"""Variables whose CPTs are nearly the same: what each learns from the others, as cases that are added to its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from credo.knowledge.knowledge import Knowledge
from credo.knowledge.shared_cpt import SharedCPT, aligned_parents
from credo.model.layout import Layout
from credo.model.network import Network
from credo.statistics.counts import Counts, empty
from credo.statistics.pooling import pooled_cases, strength_chances
from credo.types import Numbers


def near_cases(knowledge: Knowledge, counts: Counts) -> Counts | None:
    """The cases that variables with nearly the same CPT are worth to each other; None where there are none."""
    network = knowledge.network
    added = empty(counts.layout)
    for names in _groups(knowledge, counts.layout):
        axes = [_axes(network, names[0], name) for name in names]
        own = [
            counts.of(name).reshape(network.shape(name)).transpose(order)
            for name, order in zip(names, axes, strict=True)
        ]
        cases = np.stack([each.reshape(-1, each.shape[-1]) for each in own])
        pooled = pooled_cases(cases, strength_chances([cases])[0])
        for name, order, borrowed in zip(names, axes, pooled, strict=True):
            shape = [network.shape(name)[axis] for axis in order]
            turned: Numbers = borrowed.reshape(shape).transpose(np.argsort(order))
            view = counts.layout.view(added.dense, name)
            view += turned.reshape(view.shape)
    return added if added.dense.any() else None


def _groups(knowledge: Knowledge, layout: Layout) -> Iterator[Sequence[str]]:
    for statement in knowledge.statements:
        if isinstance(statement, SharedCPT) and statement.is_near:
            names = tuple(map(str, statement.variables))
            if all(name in layout for name in names):
                yield names


def _axes(network: Network, first: str, name: str) -> list[int]:
    """The axes of a CPT in the order of those of the first of its group."""
    own = network.parents[name]
    return [*(own.index(parent) for parent in aligned_parents(network, first, name)), len(own)]

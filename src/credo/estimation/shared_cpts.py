"""CPTs that several variables share: nearly, so that each learns from the cases of the others; or as one.

What was learned of one CPT is given to each of its variables, so that whoever asks later need not know of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from credo.knowledge.knowledge import Knowledge
from credo.knowledge.shared_cpt import SharedCPT, aligned_parents
from credo.model.expansion import Expansion, expand
from credo.model.layout import Layout
from credo.model.network import Network
from credo.posterior.draws import PosteriorResult
from credo.statistics.counts import Counts, empty
from credo.statistics.pooling import borrowed_cases, common_cpts
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
        common = common_cpts([cases])[0]
        pooled = np.zeros(cases.shape)
        pooled[:, common.seen] = borrowed_cases(cases[:, common.seen], common.strengths, common.means)
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


def unshared(posterior: PosteriorResult, expansion: Expansion) -> PosteriorResult:
    """The draws with a CPT for each variable, in the order of parents that the user's network has."""
    shared = {name: owner for name, owner in expansion.network.shared.items() if owner in posterior.names}
    if not shared:
        return posterior
    network = expand(expansion.original).network
    names = {*posterior.names, *shared}
    layout = Layout.of(network, without=[name for name in network.names if name not in names])

    def of_each(values: Mapping[str, Numbers]) -> dict[str, Numbers]:
        return {name: expansion.unaligned(name, values[shared.get(name, name)]) for name in layout.names}

    def flat(cells: Numbers) -> Numbers:
        """Arrays whose last axis are the cells of all CPTs."""
        batch, parts = cells.ndim - 1, []
        for name in layout.names:
            own = posterior.layout.slice_of(shared.get(name, name))
            whole = cells[..., own].reshape(*cells.shape[:-1], *expansion.network.shape(name))
            parts.append(expansion.unaligned(name, whole, batch).reshape(*cells.shape[:-1], -1))
        return np.concatenate(parts, axis=-1)

    return replace(
        posterior,
        layout=layout,
        means=of_each(posterior.means),
        deviations=of_each(posterior.deviations),
        errors=of_each(posterior.errors),
        effective_sizes=flat(posterior.effective_sizes),
        r_hat=flat(posterior.r_hat),
        draws=flat(posterior.draws),
        limits=None if posterior.limits is None else flat(posterior.limits),
    )

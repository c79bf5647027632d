"""What was learned of a CPT that several variables share, for each of them: whoever asks later need not know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from credo.model.expansion import Expansion, expand
from credo.model.layout import Layout
from credo.posterior.draws import PosteriorResult
from credo.types import Numbers


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

"""The M-step that only counts, for maximum likelihood and for map: all tables at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.arrays import Numbers
from credo.estimation.em.steps import MStep
from credo.statistics.counts import Counts
from credo.statistics.inference.expected_counts import Prepared
from credo.statistics.prior import Priors, pseudo_counts


def counting_step(prepared: Prepared, prior: Priors, free: Sequence[str] | None = None) -> MStep:
    """θ = (N + α) / Σ (N + α), the uniform where that is 0/0; its term of the objective is Σ α log θ [guo, eq. 2].

    With α = 0 that maximises the likelihood; with pseudo-counts it is the mode of a Dirichlet(α + 1) posterior.
    """
    layout, network = prepared.layout, prepared.layout.network
    pseudo = np.zeros(layout.size)
    for name in network.names if free is None else free:
        cells = layout.slice_of(name)
        states = len(network.states(name))
        pseudo[cells] = np.broadcast_to(
            pseudo_counts(prior, network, name), (network.configurations(name), states)
        ).ravel()
    believed = np.flatnonzero(pseudo)
    starts = layout.distribution_starts()
    lengths = np.diff(starts, append=layout.size)

    def m_step(counts: Counts) -> tuple[dict[str, Numbers], float]:
        weights = _in_layout(prepared, counts) + pseudo
        sums = np.add.reduceat(weights, starts)
        nothing = sums == 0
        if nothing.any():
            weights[np.repeat(nothing, lengths)] = 1.0
            sums[nothing] = lengths[nothing]
        theta = weights / np.repeat(sums, lengths)
        penalty = float(pseudo[believed] @ np.log(theta[believed]))
        return layout.unpack(theta), penalty

    return m_step


def _in_layout(prepared: Prepared, counts: Counts) -> Numbers:
    if not prepared.count_layout.left_out:
        return counts.dense
    return np.concatenate([counts.of(name).ravel() for name in prepared.layout.network.names])

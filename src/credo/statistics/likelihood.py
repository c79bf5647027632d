"""The log-likelihood of data: Σ count · log θ over the cells of complete families, and exact inference in the gaps."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.io.dataset import extended
from credo.io.tables import stream_table
from credo.model.expansion import expand
from credo.model.network import Network
from credo.statistics.counts import Counts, count, layout_for_counts
from credo.statistics.inference.expected_counts import log_likelihood_of, prepare


def log_likelihood(network: Network, data: Any, memory_limit: int | None = None) -> float:
    """The log-likelihood of what a table holds, in nats; minus infinity where a row is impossible."""
    whole = expand(network).network
    count_layout, total = layout_for_counts(whole), 0.0
    for part in stream_table(data, network):
        part = extended(part, whole)
        if part.is_complete:
            total += log_likelihood_of_counts(whole, count(count_layout, part))
        else:
            prepared = prepare(count_layout, part, memory_limit)
            total += log_likelihood_of(prepared, prepared.layout.pack(whole.cpts))
    return total


def log_likelihood_of_counts(network: Network, counts: Counts) -> float:
    """Σ over count_layout of Σ count · log θ [guo, eq. 1]."""
    total = 0.0
    for name in network.names:
        seen = counts.of(name)
        cells = seen > 0
        with np.errstate(divide="ignore"):
            total += float(np.sum(seen[cells] * np.log(network.cpt_array(name).reshape(seen.shape)[cells])))
    return total

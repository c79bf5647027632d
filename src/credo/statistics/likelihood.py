"""The log-likelihood of data: Σ count · log θ where rows are complete, exact inference where values are missing."""

from __future__ import annotations

import numpy as np

from credo.io.dataset import extended
from credo.io.tables import stream_table
from credo.model.expansion import expand
from credo.model.network import Network
from credo.statistics.counts import Counts, count, layout_for_counts
from credo.statistics.inference.expected_counts import log_likelihood_of, prepare
from credo.types import TableLike


def log_likelihood(network: Network, data: TableLike, memory_limit: int | None = None) -> float:
    """The log-likelihood of data, with the natural logarithm; minus infinity if a row is impossible."""
    expanded = expand(network).network
    count_layout, total = layout_for_counts(expanded), 0.0
    for part in stream_table(network, data):
        part = extended(part, expanded)
        if part.is_complete:
            total += log_likelihood_of_counts(expanded, count(count_layout, part))
        else:
            prepared = prepare(count_layout, part, memory_limit)
            total += log_likelihood_of(prepared, prepared.layout.pack(expanded.cpts))
    return total


def log_likelihood_of_counts(network: Network, counts: Counts) -> float:
    """Σ count · log θ over all parameters [guo, eq. 1]."""
    total = 0.0
    for name in network.names:
        seen = counts.of(name)
        cells = seen > 0
        with np.errstate(divide="ignore"):
            total += float(np.sum(seen[cells] * np.log(network.cpt_array(name).reshape(seen.shape)[cells])))
    return total

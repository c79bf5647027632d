"""The log-likelihood of complete data: Σ count · log θ over all cells of all families."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.errors import IncompleteDataError, listing
from credo.io.tables import stream_table
from credo.network import Network
from credo.statistics.counts import Counts, count_all
from credo.statistics.families import Families


def log_likelihood(network: Network, data: Any) -> float:
    """The log-likelihood of a table whose rows are complete, in nats; minus infinity where a row is impossible."""
    counts = count_all(Families.of(network), stream_table(data, network))
    require_complete(counts)
    return log_likelihood_of_counts(network, counts)


def log_likelihood_of_counts(network: Network, counts: Counts) -> float:
    """Σ over families of Σ count · log θ [guo, eq. 1]."""
    total = 0.0
    for name in network.names:
        seen = counts.table(name)
        cells = seen > 0
        with np.errstate(divide="ignore"):
            total += float(np.sum(seen[cells] * np.log(network.table(name).reshape(seen.shape)[cells])))
    return total


def require_complete(counts: Counts) -> None:
    """Refuse data with gaps: leaving rows out would bias every number, in silence."""
    gaps = counts.gaps()
    if gaps:
        raise IncompleteDataError(
            f"The data are incomplete: values are missing in the families of {listing(list(gaps))}. "
            "This method needs a value of every variable in every row."
        )

"""What is measured: the divergence of each row of each table from the truth, averaged over all rows.

    (1 / rows) Σ_i Σ_j Σ_k θ_ijk log(θ_ijk / θ'_ijk)

Every row of every table counts alike, whether data ever reach it or not. An estimate of zero where the truth has
none would make the mean infinite, so that estimates below 1e-6 count as 1e-6 (and the row is scaled to one again);
the paper does not say what it did there.
"""

from __future__ import annotations

import numpy as np

from credo.model.network import Network

SMALLEST = 1e-6


def mean_row_divergence(truth: Network, estimate: Network) -> float:
    """The mean over all rows of all tables, in nats."""
    total, rows = 0.0, 0
    for name in truth.names:
        states = len(truth.states(name))
        true = truth.cpt_array(name).reshape(-1, states)
        found = np.maximum(estimate.cpt_array(name).reshape(-1, states), SMALLEST)
        found = found / found.sum(axis=1, keepdims=True)
        seen = true > 0
        total += float((true[seen] * np.log(true[seen] / found[seen])).sum())
        rows += len(true)
    return total / rows

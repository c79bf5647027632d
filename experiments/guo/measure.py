"""The measure: the divergence of each conditional distribution from the truth, averaged over all configurations.

    (1 / configurations) Σ_i Σ_j Σ_k θ_ijk log(θ_ijk / θ'_ijk)

All configurations have the same weight, whether or not the data contain them. An estimate of zero for a positive
probability would make the mean infinite. Estimates below 1e-6 are therefore replaced by 1e-6 and the distribution is
normalised; the paper does not say how it treats this case.
"""

from __future__ import annotations

import numpy as np

from credo.model.network import Network

SMALLEST = 1e-6


def mean_divergence(truth: Network, estimate: Network) -> float:
    """The mean divergence over all configurations of all CPTs, in nats."""
    total, configurations = 0.0, 0
    for name in truth.names:
        states = len(truth.states(name))
        true = truth.cpt_array(name).reshape(-1, states)
        estimated = np.maximum(estimate.cpt_array(name).reshape(-1, states), SMALLEST)
        estimated = estimated / estimated.sum(axis=1, keepdims=True)
        positive = true > 0
        total += float((true[positive] * np.log(true[positive] / estimated[positive])).sum())
        configurations += len(true)
    return total / configurations

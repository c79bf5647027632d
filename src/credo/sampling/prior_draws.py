"""CPTs drawn from the prior of `posterior.py`, without data and statements: what its intervals are calibrated for.

Simulations draw truths from here, so that a change of the prior is a change of the truths. Statements are conditioned
on by drawing again until they hold (`experiments/calibration`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.model.network import Network
from credo.sampling.distributions import Hyperparameters
from credo.types import Numbers

LEAST = 1e-12  # of the shape of a distribution, so that it is one


def draw_from_prior(
    network: Network,
    names: Sequence[str],
    rng: np.random.Generator,
    hyperparameters: Hyperparameters | None = None,
    *,
    seen: bool = True,
) -> dict[str, Numbers]:
    """One draw of the CPTs of `names`, (parents…, child), whose distributions all have data, or none.

    w ~ Dirichlet(1), π_i ~ Dirichlet(κ·w), m_i ~ Dirichlet(c), z_j ~ π_i, θ_j ~ Dirichlet(s_z · b_z).
    """
    chosen = hyperparameters or Hyperparameters()
    strengths, uniform = chosen.strengths()[int(seen)], len(chosen.uniform_strengths)
    pool = rng.dirichlet(np.ones(len(strengths)))
    found = {}
    for name in names:
        *configurations, states = network.shape(name)
        weights = rng.dirichlet(chosen.pooling_concentration * pool + LEAST)
        mean = rng.dirichlet(np.full(states, chosen.mean_concentration))
        components = rng.choice(len(strengths), size=configurations, p=weights)
        cpt = np.empty((*configurations, states))
        for place in np.ndindex(*configurations):
            base = np.full(states, 1.0 / states) if components[place] < uniform else mean
            cpt[place] = rng.dirichlet(strengths[components[place]] * base)
        found[name] = cpt
    return found

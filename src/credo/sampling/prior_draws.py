"""CPTs drawn from the prior of `posterior.py`, without data and statements: what its intervals are calibrated for.

Simulations draw truths from here, so that a change of the prior is a change of the truths. Distributions without data
have another prior than those with data, and which these are is known only when there are data: then the former are
drawn once more. What configurations predict for each other depends on the counts, so that there is
no truth to be drawn from it: truths come from the other components. Statements are conditioned on by drawing again
until they hold (`experiments/calibration`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.model.network import Network
from credo.sampling.distributions import Hyperparameters
from credo.types import Flags, Numbers

WITHOUT_PREDICTIONS = Hyperparameters(predicts=False)
LEAST = 1e-12  # of the shape of a distribution, so that it is one


@dataclass(frozen=True, slots=True, eq=False)
class PriorDraw:
    """One draw of CPTs, (parents…, child), and of what they were drawn from."""

    cpts: Mapping[str, Numbers]
    means: Mapping[str, Numbers]  # m, (states,)
    weights: Mapping[str, Numbers]  # π, (components,)


def draw_from_prior(
    network: Network, names: Sequence[str], rng: np.random.Generator, hyperparameters: Hyperparameters | None = None
) -> PriorDraw:
    """One draw of the CPTs of `names`, all of whose distributions have data.

    w ~ Dirichlet(1), π_i ~ Dirichlet(κ·w), m_i ~ Dirichlet(c), z_j ~ π_i, θ_j ~ Dirichlet(s_z · b_z).
    """
    chosen = hyperparameters or WITHOUT_PREDICTIONS
    pool = rng.dirichlet(np.ones(chosen.strengths().shape[1]))
    means, weights, cpts = {}, {}, {}
    for name in names:
        weights[name] = rng.dirichlet(chosen.pooling_concentration * pool + LEAST)
        means[name] = rng.dirichlet(np.full(len(network.states(name)), chosen.mean_concentration))
        cpts[name] = _draw_cpt(network, name, means[name], weights[name], True, chosen, rng)
    return PriorDraw(cpts, means, weights)


def with_unseen(
    network: Network,
    draw: PriorDraw,
    unseen: Mapping[str, Flags],
    rng: np.random.Generator,
    hyperparameters: Hyperparameters | None = None,
) -> PriorDraw:
    """The same with other distributions where there are no data, (configurations,), drawn as such."""
    chosen, cpts = hyperparameters or WITHOUT_PREDICTIONS, {}
    for name, cpt in draw.cpts.items():
        other = _draw_cpt(network, name, draw.means[name], draw.weights[name], False, chosen, rng)
        cpts[name] = np.where(unseen[name].reshape(*cpt.shape[:-1], 1), other, cpt)
    return replace(draw, cpts=cpts)


def _draw_cpt(
    network: Network,
    name: str,
    mean: Numbers,
    weights: Numbers,
    seen: bool,
    hyperparameters: Hyperparameters,
    rng: np.random.Generator,
) -> Numbers:
    strengths, uniform = hyperparameters.strengths()[int(seen)], len(hyperparameters.uniform_strengths)
    *configurations, states = network.shape(name)
    components = rng.choice(len(strengths), size=configurations, p=weights)
    cpt = np.empty((*configurations, states))
    for place in np.ndindex(*configurations):
        base = np.full(states, 1.0 / states) if components[place] < uniform else mean
        cpt[place] = rng.dirichlet(strengths[components[place]] * base)
    return cpt

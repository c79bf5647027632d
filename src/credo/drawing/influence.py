"""Whether a parent raises or lowers its child, by the learned table."""

from __future__ import annotations

import numpy as np

from credo.knowledge.state_order import state_order
from credo.model.network import Network

LARGE = 1_000_000  # numbers of a table that is not looked at


def influence(network: Network, parent: str, child: str) -> str:
    """ "raises" or "lowers" where it does so in every context, else "neutral"."""
    if child not in network.cpts or network.cpts[child].size > LARGE:
        return "neutral"
    table = network.cpt_array(child)
    low_to_high = [network.states(child).index(state) for state in state_order(network.variable(child)).states]
    axis = network.parents[child].index(parent)
    steps = [network.states(parent).index(state) for state in state_order(network.variable(parent)).states]
    cumulative = np.cumsum(table[..., low_to_high], axis=-1)[..., :-1]
    change = np.diff(cumulative.take(steps, axis=axis), axis=axis)
    if (change <= 1e-9).all() and (change < -1e-6).any():
        return "raises"
    return "lowers" if (change >= -1e-9).all() and (change > 1e-6).any() else "neutral"

"""The oracle of ties: the constrained log-likelihood by summing over everything that tied rows could hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.constraints.constraint_set import RowTie
from credo.model.network import Network
from credo.types import Codes
from tests.helpers.enumeration import given, joint


def log_joint(network: Network, codes: Codes, ties: Sequence[RowTie], merged: bool = False) -> float:
    """log P(data, ties): rows are summed down to their tied values, and these over all that the ties allow."""
    everything, sizes = joint(network), [len(network.states(name)) for name in network.names]
    members = sorted(
        {(row - 1, network.names.index(name)) for tie in ties for name in tie.variables for row in tie.rows}
    )
    letter = {member: i for i, member in enumerate(members)}
    operands: list[object] = []
    for row in range(len(codes)):
        own = [position for r, position in members if r == row]
        away = tuple(i for i in range(len(network)) if i not in own)
        operands += [given(everything, codes[row]).sum(axis=away), [letter[row, position] for position in own]]
    for tie in ties:
        for name in tie.variables:
            position, states = network.names.index(name), np.eye(sizes[network.names.index(name)])
            rows = [row - 1 for row in tie.rows]
            for i, first in enumerate(rows):
                for second in rows[i + 1 :]:
                    table = 1 - states if tie.differ else states
                    operands += [table, [letter[first, position], letter[second, position]]]
            if merged:
                for row in rows[1:]:
                    operands += [1 / network.cpt_array(name), [letter[row, position]]]
    return float(np.log(np.einsum(*operands, [], optimize="greedy")))


def constrained(network: Network, codes: Codes, ties: Sequence[RowTie]) -> float:
    """log P(data | ties)."""
    return log_joint(network, codes, ties) - log_joint(network, np.full_like(codes, -1), ties)

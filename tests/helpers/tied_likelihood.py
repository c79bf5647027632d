"""The oracle of ties: the constrained log-likelihood by summing over everything that tied rows could hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo import Dataset, Network, TieReading
from credo.constraints.constraint_set import RowTie
from credo.statistics.counts import layout_for_counts
from credo.statistics.ties.likelihood import TiedData, tie_rows
from credo.types import Codes
from tests.helpers.enumeration import given, joint, random_network, random_rows


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


def a_case(
    generator: np.random.Generator, rows: int = 4, several: bool = False
) -> tuple[Network, np.ndarray, list[RowTie]]:
    """A network, incomplete rows, and ties that these rows can satisfy: at most one a row, or several."""
    network = random_network(generator, most=4)
    codes = random_rows(generator, network, rows, 0.5)
    ties: list[RowTie] = []
    free = list(range(1, rows + 1))
    for _ in range(3 if several else 2):
        name = network.names[generator.integers(len(network))]
        chosen = generator.permutation(free)[: generator.integers(2, 4)]
        if len(chosen) < 2:
            break
        differ = len(network.states(name)) > 1 and generator.random() < 0.3
        chosen = sorted(chosen[:2] if differ else chosen)
        if any(name in tie.variables and len(set(tie.rows) & set(chosen)) for tie in ties):
            continue
        codes[np.array(chosen) - 1, network.names.index(name)] = -1
        ties.append(RowTie((name,), None, tuple(int(row) for row in chosen), 0, differ))
        if not several:
            free = [row for row in free if row not in chosen]
    return network, codes, ties


def tied(network: Network, codes: np.ndarray, ties: list[RowTie], **options: TieReading) -> TiedData:
    """The rows with their ties, prepared."""
    return tie_rows(layout_for_counts(network), ties, Dataset(network.names, codes), **options)


def evaluate(network: Network, rows: TiedData):
    """Expected counts and log-likelihood at the network's own CPTs."""
    theta = rows.prepared.layout.pack(network.cpts)
    return rows.expected(theta, rows.start())

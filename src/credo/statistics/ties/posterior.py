"""How probable each state of a variable is in each row, given what the row and all rows tied to it hold.

The messages that a tied value settles with are soft evidence on it: with them a row speaks for itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credo.arrays import Numbers
from credo.model.network import Network
from credo.statistics.counts import layout_for_counts
from credo.statistics.predict import posterior
from credo.statistics.ties.likelihood import TiedData


def tied_posterior(network: Network, tied: TiedData, name: str, memory_limit: int | None = None) -> Numbers:
    """P(name | the data, the ties), (rows, states), under the tables of the network.

    Exact where the likelihood is: where rows and ties form no cycle.
    """
    dataset, count_layout = replace(tied.prepared.dataset, weights=None), layout_for_counts(network)
    found = tied.expected(tied.prepared.layout.pack(network.cpts), tied.start())
    members = tied.seen.members
    touched = np.zeros(len(dataset), dtype=bool)
    touched[members.row] = True
    place = np.cumsum(touched) - 1
    soft = {}
    for position in np.unique(members.variable).tolist():
        states = len(network.variables[position].states)
        columns = np.flatnonzero(members.variable == position)
        at = tied.seen.offsets[columns][:, None] + np.arange(states)
        logs = np.zeros((int(touched.sum()), states))
        np.add.at(logs, place[members.row[columns]], np.log(found.evidence[at]))  # a value may be in several ties
        soft[network.names[position]] = np.exp(logs - logs.max(axis=1, keepdims=True))
    table = np.empty((len(dataset), len(network.states(name))))
    for rows, evidence in ((touched, soft), (~touched, {})):
        if rows.any():
            table[rows] = posterior(count_layout, dataset.rows(rows), name, evidence, memory_limit)
    return table

"""The paper's own iteration, to see whether it ends where credo's does [yao, algorithm 1].

Messages are updated and settle; then every table by equation 6. Rows of tables, which do not sum to one afterwards, are
scaled.
"""

from __future__ import annotations

import numpy as np

import credo
from credo.arrays import Numbers
from credo.estimation.em.starts import first_start, nth_start
from credo.model.network import Network
from credo.statistics.ties.likelihood import TiedData
from credo.statistics.ties.relaxation import TOLERANCE
from experiments.yao.learners import LAPLACE, tied_data
from experiments.yao.tables import TiedTable

MOST_UPDATES, STILL = 500, 1e-5  # probabilities that move by less stand still


def learn_by_equation_6(structure: Network, table: TiedTable, starts: int, seed: int) -> tuple[Network, bool, bool]:
    """The best of several starts, which are those of the other learners."""
    rows = tied_data(credo.Knowledge(structure, table.statements), table.rows)
    around = first_start(structure, rows.prepared, structure.names, own=False)
    ends = []
    for number in range(starts):
        theta = nth_start(structure, rows.prepared, around, structure.names, seed, number)
        ends.append(update_until_still(rows, theta))
    theta, _, settled = max(ends, key=lambda end: end[1])
    return structure.with_cpts(rows.prepared.layout.unpack(theta)), settled, rows.is_exact


def update_until_still(rows: TiedData, theta: Numbers) -> tuple[Numbers, float, bool]:
    """Where the updates end, the objective there, and whether messages settled."""
    beginnings = rows.prepared.layout.distribution_starts()
    lengths = np.diff(beginnings, append=len(theta))

    def sums(cells: Numbers) -> Numbers:
        return np.repeat(np.add.reduceat(cells, beginnings), lengths)

    evidence = rows.start()
    for _ in range(MOST_UPDATES):
        found = rows.expected(theta, evidence, TOLERANCE)
        evidence, seen, chance = found.evidence, found.seen + LAPLACE, found.chance
        updated = (seen + theta * sums(chance)) / (chance + theta * sums(seen)) * theta
        before, theta = theta, updated / sums(updated)
        if np.abs(theta - before).max() < STILL:
            break
    found = rows.expected(theta, rows.start(), TOLERANCE)
    return theta, found.log_likelihood + LAPLACE * float(np.log(theta).sum()), found.converged

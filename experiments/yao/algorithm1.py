"""The paper's own iteration [yao, algorithm 1], to test whether it ends at the same point as credo's.

Messages are passed until they converge; then every CPT is updated by equation 6. Its distributions, which do not sum
to one afterwards, are normalised.
"""

from __future__ import annotations

import numpy as np

import credo
from credo.estimation.em.starts import first_start, nth_start
from credo.model.network import Network
from credo.statistics.ties.likelihood import TiedData
from credo.statistics.ties.relaxation import TOLERANCE
from credo.types import Numbers
from experiments.yao.learners import LAPLACE, tied_data
from experiments.yao.tables import TiedTable

MOST_UPDATES, TOLERANCE_OF_CPTS = 500, 1e-5


def learn_by_equation_6(structure: Network, table: TiedTable, starts: int, seed: int) -> tuple[Network, bool, bool]:
    """The best of several starts, which are the same as for the other learners."""
    rows = tied_data(credo.Knowledge(structure, table.statements), table.rows)
    around = first_start(structure, rows.prepared, structure.names, own=False)
    ends = []
    for number in range(starts):
        theta = nth_start(structure, rows.prepared, around, structure.names, seed, number)
        ends.append(iterate(rows, theta))
    theta, _, settled = max(ends, key=lambda end: end[1])
    return structure.with_cpts(rows.prepared.layout.unpack(theta)), settled, rows.is_exact


def iterate(rows: TiedData, theta: Numbers) -> tuple[Numbers, float, bool]:
    """The last CPTs, the objective there, and whether the messages converged."""
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
        if np.abs(theta - before).max() < TOLERANCE_OF_CPTS:
            break
    found = rows.expected(theta, rows.start(), TOLERANCE)
    return theta, found.log_likelihood + LAPLACE * float(np.log(theta).sum()), found.converged

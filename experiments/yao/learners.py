"""What is compared in section 7.1: EM, the constrained likelihood, and one that takes ties for observations."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

import credo
from credo.constraints.lower import lower
from credo.estimators.iterations.count_step import counting_step
from credo.estimators.iterations.em import run_em
from credo.io.dataset import concatenate
from credo.network import Network
from credo.statistics.engine.layout import Numbers, pack
from credo.statistics.families import Families
from credo.statistics.known_columns import read_for
from credo.statistics.prior import as_prior
from credo.statistics.ties.likelihood import TiedData, tie_rows
from credo.statistics.ties.relaxation import TOLERANCE, Relaxation
from experiments.running import Line
from experiments.yao.tables import TiedTable

LAPLACE = 1  # pseudo-counts of one


def compare(truth: Network, table: TiedTable, names: tuple[str, ...], starts: int, seed: int) -> list[Line]:
    """A line for each learner, all from the same rows and starts; `settled` says it of messages, at the end."""
    lines: list[Line] = []
    for name in names:
        start = time.perf_counter()
        learned, settled, exact = LEARNERS[name](truth.without_tables(), table, starts, seed)
        seconds = time.perf_counter() - start
        kl = truth.kl(learned)
        lines.append({"learner": name, "kl": kl, "settled": settled, "exact": exact, "seconds": seconds})
    return lines


def learn_em(structure: Network, table: TiedTable, starts: int, seed: int) -> tuple[Network, bool, bool]:
    """Without the ties."""
    fit = credo.fit(structure, table.rows, method="map", prior=LAPLACE, starts=starts, seed=seed)
    return fit.network, True, True


def learn_cll(structure: Network, table: TiedTable, starts: int, seed: int) -> tuple[Network, bool, bool]:
    """log P(data | ties) [yao, eq. 3]."""
    known = credo.Knowledge(table.statements, structure)
    fit = credo.fit(structure, table.rows, known, method="cmap", prior=LAPLACE, starts=starts, seed=seed)
    return fit.network, fit.tied is None or fit.tied.settled, fit.tied is None or fit.tied.is_exact


def learn_joint(structure: Network, table: TiedTable, starts: int, seed: int) -> tuple[Network, bool, bool]:
    """log P(data, ties): its first term alone, as if nobody had looked for rows that agree."""
    rows = tied_data(credo.Knowledge(table.statements, structure), table.rows)
    step = Joint(rows.seen)
    m_step = counting_step(rows.prepared, as_prior(LAPLACE, structure))
    result = run_em(structure, rows.prepared, m_step, e_step=step, starts=starts, seed=seed)
    last, _ = rows.seen.settle(pack(rows.prepared.layout, result.tables), step.start(), TOLERANCE)
    return structure.with_tables(result.tables), last.converged, rows.seen.is_exact


def tied_data(known: credo.Knowledge, rows: pl.DataFrame) -> TiedData:
    """Rows and their ties, ready to be evaluated."""
    dataset = concatenate(list(read_for(known, rows, None)))
    return tie_rows(Families.of(known.network), lower(known).ties, dataset)


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """The E-step of log P(data, ties)."""

    ties: Relaxation

    @property
    def is_bound(self) -> bool:
        """Where messages are exact it is plain EM."""
        return self.ties.is_exact

    def start(self) -> Numbers:
        """Messages that say nothing."""
        return self.ties.start()

    def __call__(self, theta: Numbers, memory: Numbers) -> tuple[Numbers, float, Numbers]:
        """Expected counts, the logarithm, and the messages."""
        settled, _ = self.ties.settle(theta, memory, TOLERANCE)
        return settled.counts, settled.log_z, settled.evidence


LEARNERS: dict[str, Callable[[Network, TiedTable, int, int], tuple[Network, bool, bool]]] = {
    "EM": learn_em,
    "CLL": learn_cll,
    "joint": learn_joint,
}

"""The learners of section 7.1: EM, the constrained likelihood, and the joint likelihood of data and ties."""

from __future__ import annotations

import time
from collections.abc import Callable

import polars as pl

import credo
from credo.constraints.lower import lower
from credo.io.dataset import concatenate
from credo.model.network import Network
from credo.statistics.counts import layout_for_counts
from credo.statistics.tied_columns import stream_with_ties
from credo.statistics.ties.likelihood import TiedData, tie_rows
from experiments.running import Record
from experiments.yao.tables import TiedTable

LAPLACE = 1  # pseudo-counts of one


Learner = Callable[[Network, TiedTable, int, int], tuple[Network, bool, bool]]


def compare(truth: Network, table: TiedTable, learners: dict[str, Learner], starts: int, seed: int) -> list[Record]:
    """A record for each learner, with the same rows and starts; `settled`: whether messages converged at the end."""
    records: list[Record] = []
    for name, learn in learners.items():
        start = time.process_time()
        learned, settled, exact = learn(truth.without_cpts(), table, starts, seed)
        seconds = time.process_time() - start
        kl = truth.kl(learned)
        records.append({"learner": name, "kl": kl, "settled": settled, "exact": exact, "seconds": seconds})
    return records


def learn_em(structure: Network, table: TiedTable, starts: int, seed: int) -> tuple[Network, bool, bool]:
    """Without the ties."""
    fit = credo.fit(structure, table.rows, method="map", prior=LAPLACE, seed=seed, em=credo.EMOptions(starts=starts))
    return fit.network, True, True


def learn_cll(structure: Network, table: TiedTable, starts: int, seed: int) -> tuple[Network, bool, bool]:
    """log P(data | ties) [yao, eq. 3]."""
    return _learn_tied(structure, table, starts, seed, "selected")


def learn_joint(structure: Network, table: TiedTable, starts: int, seed: int) -> tuple[Network, bool, bool]:
    """log P(data, ties), the first term of the constrained likelihood: rows were found to agree."""
    return _learn_tied(structure, table, starts, seed, "joint")


def _learn_tied(structure: Network, table: TiedTable, starts: int, seed: int, ties: str) -> tuple[Network, bool, bool]:
    knowledge = credo.Knowledge(structure, table.statements)
    fit = credo.fit(
        structure,
        table.rows,
        knowledge,
        method="cmap",
        prior=LAPLACE,
        seed=seed,
        em=credo.EMOptions(starts=starts, tie_reading=ties),
    )
    return fit.network, fit.tied is None or fit.tied.converged, fit.tied is None or fit.tied.is_exact


def tied_data(knowledge: credo.Knowledge, rows: pl.DataFrame) -> TiedData:
    """Rows and their ties, prepared for evaluation."""
    dataset = concatenate(list(stream_with_ties(knowledge, rows, None)))
    return tie_rows(layout_for_counts(knowledge.network), lower(knowledge).ties, dataset)


LEARNERS: dict[str, Learner] = {
    "EM": learn_em,
    "CLL": learn_cll,
    "joint": learn_joint,
}

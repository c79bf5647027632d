"""`python -m experiments.yao clustering`: naive Bayes clustering with rows known to share a class [section 7.2].

As in the paper, the rows are divided at random into five parts, a share of each part is selected, and selected rows of
one part and class are tied. Each larger share includes the smaller ones.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

import credo
from credo.clustering import Clustering, cluster
from credo.knowledge import same
from credo.options import EMOptions
from credo.statistics.ties.posterior import tied_posterior
from experiments.running import SHARED, Job, Record, add_options, require, run_jobs
from experiments.yao.clustering_report import write_clustering
from experiments.yao.labelled import Labelled, read_labelled
from experiments.yao.learners import tied_data
from experiments.yao.pairs import Labels, pairwise_f

RESULTS = Path(__file__).resolve().parent / "results"
TABLES = (
    "lymphography", "primary_tumor", "credit_g", "credit_approval", "vote", "soybean", "zoo", "iris", "glass",
    "heart_cleveland",
)  # fmt: skip
PARTS = 5
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of selected rows
KEY = ("table", "draw", "starts", "learner")


def main(arguments: list[str]) -> None:
    """Run the remaining jobs and write the report."""
    parser = argparse.ArgumentParser(prog="experiments.yao clustering", description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="of parts, selections and starts")
    parser.add_argument("--starts", type=int, default=5, help="of EM; the same for all learners")
    parser.add_argument("--tables", nargs="+", default=TABLES)
    add_options(parser, RESULTS)
    chosen = parser.parse_args(arguments)
    require(SHARED / "tables", "The published tables are")
    jobs = [
        (name, draw, chosen.starts, learner)
        for draw in range(chosen.draws)
        for name in chosen.tables
        for learner in LEARNERS
    ]
    file = chosen.out / "clustering.csv"
    found = run_jobs(run_draw, jobs, KEY, file, processes=chosen.processes, minutes=chosen.minutes)
    print(write_clustering(found.filter(pl.col("starts") == chosen.starts), chosen.out))


def run_draw(job: Job) -> list[Record]:
    """One learner on one table, with an increasing number of ties."""
    name, draw, starts, learner = job
    data = read_labelled(SHARED / "tables" / f"{name}.csv")
    given = dict(zip(KEY, job, strict=True))
    return [{**given, **record} for record in measure(data, learner, starts, draw)]


def measure(data: Labelled, learner: str, starts: int, seed: int) -> Iterator[Record]:
    """F of a learner for each share of selected rows, over all pairs and over pairs that are not tied."""
    for share in SHARES:
        ties = tied_rows(data.labels, share, seed)
        start = time.process_time()
        found = LEARNERS[learner](data, ties, starts, seed)
        seconds = time.process_time() - start
        f, untied = pairwise_f(found, data.labels), pairwise_f(found, data.labels, ties)
        yield {"share": share, "f": f, "f_untied": untied, "seconds": seconds}


def find_by_em(data: Labelled, ties: Labels, starts: int, seed: int) -> Labels:
    """Without the ties."""
    return cluster(data.features, data.classes, em=EMOptions(starts=starts), seed=seed).labels


def find_merged(data: Labelled, ties: Labels, starts: int, seed: int) -> Labels:
    """Each tie is one draw of the cluster [shental et al., 2003]."""
    return _merged(data, ties, starts, seed).labels


def find_conditioned(data: Labelled, ties: Labels, starts: int, seed: int) -> Labels:
    """log P(data | ties), from its own starts."""
    merged = _merged(data, ties, 1, seed)
    return _conditioned(data, ties, merged.fit.network.without_cpts(), merged.cluster, starts, seed)


def find_refined(data: Labelled, ties: Labels, starts: int, seed: int) -> Labels:
    """log P(data | ties), started only from the result of `merged`."""
    merged = _merged(data, ties, starts, seed)
    return _conditioned(data, ties, merged.fit.network, merged.cluster, 1, seed)


def _conditioned(data: Labelled, ties: Labels, start: credo.Network, name: str, starts: int, seed: int) -> Labels:
    """The most probable cluster of each row, given all rows tied to it."""
    column = pl.Series("tie", ties)
    rows = data.features.with_columns(column.set(column < 0, None))
    knowledge = credo.Knowledge(start, [same(name, by="tie")])
    fit = credo.fit(start, rows, knowledge, method="cmap", prior=1, seed=seed, em=credo.EMOptions(starts=starts))
    return tied_posterior(fit.network, tied_data(knowledge, rows), name).argmax(axis=1).astype(np.int64)


LEARNERS: dict[str, Callable[[Labelled, Labels, int, int], Labels]] = {
    "EM": find_by_em,
    "merged": find_merged,
    "CLL": find_conditioned,
    "CLL after merged": find_refined,
}


def _merged(data: Labelled, ties: Labels, starts: int, seed: int) -> Clustering:
    return cluster(
        data.features, data.classes, ties=tie_lists(ties), merged=True, em=EMOptions(starts=starts), seed=seed
    )


def tie_lists(ties: Labels) -> list[list[int]]:
    """The numbers of the rows of each tie, from 1."""
    return [(np.flatnonzero(ties == tie) + 1).tolist() for tie in range(int(ties.max(initial=-1)) + 1)]


def tied_rows(classes: Labels, share: float, seed: int) -> Labels:
    """The number of each row's tie, or -1: selected rows of one part and class are tied.

    A selected row that is alone in its part and class is not tied.
    """
    order = np.random.default_rng([seed, len(classes)]).permutation(len(classes))
    ties: Labels = np.full(len(classes), -1, dtype=np.int64)
    count = 0
    for part in np.array_split(order, PARTS):
        selected = part[: round(share * len(part))]
        for label in np.unique(classes[selected]):
            rows = selected[classes[selected] == label]
            if len(rows) > 1:
                ties[rows] = count
                count += 1
    return ties

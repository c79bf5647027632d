"""`python -m experiments.yao synthetic`: hidden values of Alarm and Win95pts, some tied in pairs [section 7.1].

`variables` (figure 5) varies the number of tied variables, `rows` (figure 6) the number of rows. The other studies are
not in the paper: `drawn` draws tied rows from the distribution that the constrained likelihood assumes; `picked` ties
as many rows, but among rows that were drawn before; both in all variables and in five. `update` compares credo's
iteration with the paper's.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import credo
from credo.testing import with_missing_values
from experiments.running import SHARED, Job, Record, add_options, require, run_jobs
from experiments.yao.algorithm1 import learn_by_equation_6
from experiments.yao.learners import LEARNERS, Learner, compare
from experiments.yao.synthetic_report import write_synthetic
from experiments.yao.tables import TiedTable, drawn_ties, found_ties, picked_ties

RESULTS = Path(__file__).resolve().parent / "results"
NAMES = ("alarm", "win95pts")
ROWS, HIDDEN = 512, 0.4  # figure 5
SHARES = (0.2, 0.4, 0.6, 0.8)  # of the hidden values of a variable
SIZES, MISSING, TIED, COVERED = (128, 256, 512, 1024, 2048, 4096), (0.2, 0.4, 0.6), 20, 0.5  # figure 6
DRAWN = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of the rows
PAPER = {"variables": 30, "rows": 120}  # datasets
PAIRED = ("drawn", "picked", "drawn in 5", "picked in 5")
OURS = {**dict.fromkeys(PAIRED, 10), "update": 3}
DATA_SEED, MISSING_SEED, TIE_SEED = 40_000, 50_000, 60_000
KEY = ("study", "network", "draw", "x", "starts")


def main(arguments: list[str]) -> None:
    """Run the remaining jobs and write the report."""
    parser = argparse.ArgumentParser(prog="experiments.yao synthetic", description=__doc__)
    parser.add_argument("--datasets", type=int, default=5, help="for figures 5 and 6; the other studies are quick")
    parser.add_argument("--starts", type=int, default=5, help="the same for all learners; 5 in the paper")
    parser.add_argument("--all", action="store_true", help="as many datasets as in the paper: 30 and 120")
    parser.add_argument("--networks", nargs="+", default=NAMES, choices=NAMES)
    add_options(parser, RESULTS)
    chosen = parser.parse_args(arguments)
    require(SHARED / "networks", "The published networks are")
    datasets = (PAPER if chosen.all else dict.fromkeys(PAPER, chosen.datasets)) | OURS
    found = run_jobs(
        run_cell,
        cells(datasets, chosen.networks, chosen.starts),
        KEY,
        chosen.out / "synthetic.csv",
        processes=chosen.processes,
        minutes=float("inf") if chosen.all else chosen.minutes,
    )
    print(write_synthetic(found.filter(pl.col("starts") == chosen.starts), chosen.out))


def cells(datasets: dict[str, int], networks: tuple[str, ...], starts: int) -> Iterator[Job]:
    """All cells; the first data sets of all studies come first."""
    sizes = {name: len(credo.read_network(SHARED / "networks" / f"{name}.bif")) for name in networks}
    for draw in range(max(datasets.values())):
        for name in networks:
            axes = {"variables": counts_of_variables(sizes[name]), "rows": SIZES, **dict.fromkeys(PAIRED, DRAWN)}
            axes["update"] = (TIED,)
            for study, axis in axes.items():
                for x in axis:
                    if draw < datasets[study]:
                        yield study, name, draw, float(x), starts


def counts_of_variables(most: int) -> tuple[int, ...]:
    """The numbers of constrained variables: from none to all, about eight values."""
    step = 5 if most < 40 else 10
    return (*range(0, most - step // 2, step), most)


def run_cell(job: Job) -> list[Record]:
    """All learners in all settings at one point of the horizontal axis."""
    study, name, draw, x, starts = job
    truth = credo.read_network(SHARED / "networks" / f"{name}.bif")
    given = dict(zip(KEY, job, strict=True))
    records = []
    for hidden, share, table in TABLES[study](truth, draw, x):
        for record in compare(truth, table, learners_of(study, x), starts, draw):
            records.append({**given, "hidden": hidden, "share": share, "ties": table.ties, **record})
    return records


def learners_of(study: str, x: float) -> dict[str, Learner]:
    """The learners compared in a study."""
    if study == "update":
        return {"CLL": LEARNERS["CLL"], "equation 6": learn_by_equation_6}
    if study != "variables":
        return LEARNERS
    # EM does not use the ties, so one record serves all shares.
    return {name: LEARNERS[name] for name in (("EM", "CLL") if x == 0 else ("CLL", "joint"))}


def tables_of_variables(truth: credo.Network, draw: int, x: float) -> Iterator[tuple[float, float, TiedTable]]:
    """Figure 5: `x` variables are tied, with each of the shares."""
    complete, rows = _rows(truth, ROWS, HIDDEN, draw)
    for share in SHARES if x else (0.0,):
        yield HIDDEN, share, found_ties(complete, rows, tied_variables(truth, int(x), draw), share, (TIE_SEED, draw))


def tables_of_sizes(truth: credo.Network, draw: int, x: float) -> Iterator[tuple[float, float, TiedTable]]:
    """Figure 6: `x` rows, with each share of hidden values."""
    for hidden in MISSING:
        complete, rows = _rows(truth, int(x), hidden, draw)
        yield hidden, COVERED, found_ties(complete, rows, tied_variables(truth, TIED, draw), COVERED, (TIE_SEED, draw))


def tables_of_pairs(
    tie: Callable[..., TiedTable], variables: int | None, truth: credo.Network, draw: int, x: float
) -> Iterator[tuple[float, float, TiedTable]]:
    """Not in the paper: a share `x` of the rows are in pairs, each tied in one variable."""
    names = truth.names if variables is None else tied_variables(truth, variables, draw)
    yield HIDDEN, x, tie(truth, ROWS, HIDDEN, names, x, DATA_SEED + draw)


TABLES: dict[str, Callable[[credo.Network, int, float], Iterator[tuple[float, float, TiedTable]]]] = {
    "variables": tables_of_variables,
    "rows": tables_of_sizes,
    "drawn": partial(tables_of_pairs, drawn_ties, None),
    "picked": partial(tables_of_pairs, picked_ties, None),
    "drawn in 5": partial(tables_of_pairs, drawn_ties, 5),
    "picked in 5": partial(tables_of_pairs, picked_ties, 5),
    "update": tables_of_variables,
}


def _rows(truth: credo.Network, rows: int, hidden: float, draw: int):
    complete = truth.sample(rows, seed=DATA_SEED + draw)
    return complete, with_missing_values(complete, hidden, MISSING_SEED + draw)


def tied_variables(truth: credo.Network, count: int, draw: int) -> list[str]:
    """The constrained variables; a larger number includes those of a smaller one."""
    order = np.random.default_rng([TIE_SEED, draw]).permutation(len(truth))
    return [truth.names[i] for i in order[:count]]

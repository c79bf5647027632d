"""`python -m experiments.liao.missing`: the error of EM by the share of missing values, and what knowledge adds.

Values drawn from published networks are deleted at random. `map` learns by EM from the remaining values; `cmap` learns
by EM whose M-step satisfies a share of true statements. The default (ten draws of 500 rows, one start of EM) takes a
few minutes; `--help` lists the options.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl

import credo
from credo.knowledge.statements import Statement
from credo.model.network import Network
from credo.testing import true_statements, with_missing_values
from experiments.liao.missing_report import write_missing
from experiments.running import SHARED, Job, Record, add_options, require, run_jobs

NETWORKS = SHARED / "networks"
RESULTS = Path(__file__).resolve().parent / "results"
NAMES = ("child", "alarm")
FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SHARES = (10, 30, 100)  # percent of the statements
STATEMENTS = 30  # for each variable, at most
STATEMENT_SEED, DATA_SEED, MISSING_SEED = 300, 900, 1_500


def main() -> None:
    """Run all draws in parallel, save the results as they come, and write the report; an interrupted run continues."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--starts", type=int, default=1, help="of EM; the best is kept")
    add_options(parser, RESULTS)
    arguments = parser.parse_args()
    require(NETWORKS, "The published networks are")
    jobs = [
        (name, draw, fraction)
        for draw in range(arguments.draws)
        for name in arguments.networks
        for fraction in FRACTIONS
    ]
    found = run_jobs(
        partial(run_cell, rows=arguments.rows, starts=arguments.starts), jobs, ("network", "draw", "fraction"),
        arguments.out / "missing.csv", processes=arguments.processes, minutes=arguments.minutes,
    )  # fmt: skip
    print(write_missing(found.sort("network", "draw", "fraction", "share"), arguments.out))


def run_cell(job: Job, rows: int, starts: int) -> list[Record]:
    """All learners on one incomplete table."""
    name, draw, fraction = job
    truth = credo.read_network(NETWORKS / f"{name}.bif")
    statements = true_statements(truth, STATEMENTS, seed=STATEMENT_SEED + draw)
    frame = with_missing_values(truth.sample(rows, seed=DATA_SEED + draw), fraction, MISSING_SEED + draw)
    records = compare(truth, statements, frame, starts, draw)
    return [{"network": name, "draw": draw, "fraction": fraction, **record} for record in records]


def compare(
    truth: Network, statements: tuple[Statement, ...], frame: pl.DataFrame, starts: int, seed: int
) -> Iterator[dict[str, object]]:
    """EM without knowledge, and with each share of it; no start uses the true CPTs."""
    structure = truth.without_cpts()
    for share in (0, *SHARES):
        kept = [statement for i, statement in enumerate(statements) if i % STATEMENTS < STATEMENTS * share / 100]
        knowledge = credo.Knowledge(structure, kept)
        start = time.process_time()
        fit = credo.fit(
            structure, frame, knowledge, method="cmap" if kept else "map", seed=seed, em=credo.EMOptions(starts=starts)
        )
        seconds = time.process_time() - start
        yield {"share": share, "kl": truth.kl(fit.network), "seconds": seconds, "status": fit.status.name.lower()}


if __name__ == "__main__":
    main()

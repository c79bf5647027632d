"""`python -m experiments.prior`: the prior on all published networks that can be run; `--help` lists the options.

The first draws of all networks come first, without statements and small networks before others. An interrupted run
continues.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from experiments.prior.report import write_report
from experiments.prior.trials import KEY, NETWORKS, ROWS, SHARES, run_trial
from experiments.running import SHARED, Job, add_options, require, run_jobs

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "prior.md"


def main() -> None:
    """Run all trials, save the results as they come, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, choices=NETWORKS)
    parser.add_argument("--shares", nargs="+", type=int, default=SHARES, choices=SHARES)
    add_options(parser, HERE / "results")
    given = parser.parse_args()
    require(SHARED / "networks", "The published networks are")
    file = given.out / "kl.csv"
    results = run_jobs(run_trial, _jobs(given), KEY, file, processes=given.processes, minutes=given.minutes)
    print(write_report(results, PAGE if given.out == HERE / "results" else given.out / "prior.md"))


def _jobs(given: argparse.Namespace) -> Iterator[Job]:
    for draw in range(given.draws):
        for share in given.shares:
            for name in given.networks:
                for rows in ROWS:
                    yield name, rows, share, draw


if __name__ == "__main__":
    main()

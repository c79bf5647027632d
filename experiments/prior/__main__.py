"""`python -m experiments.prior`: the prior on all published networks that can be run; `--help` lists the options.

Small networks come before others, which take most of the time: without statements, with all and with some of them. The
smallest have more draws. An interrupted run continues.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from experiments.prior.report import write_report
from experiments.prior.trials import GROWING, KEY, LARGE, NETWORKS, ROWS, SHARES, SMALL, draws_of, methods_of, run_trial
from experiments.running import SHARED, Job, add_options, require, run_jobs

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "prior.md"
ORDER = (0, 100, 25)  # of the shares of statements: first what tells most
GROWING_DRAWS = 3


def main() -> None:
    """Run all trials, save the results as they come, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, help="of each cell; if not given 10 of small networks, 3 of others")
    parser.add_argument("--networks", nargs="+", default=NETWORKS, choices=NETWORKS)
    parser.add_argument("--shares", nargs="+", type=int, default=SHARES, choices=SHARES)
    add_options(parser, HERE / "results")
    given = parser.parse_args()
    require(SHARED / "networks", "The published networks are")
    file = given.out / "kl.csv"
    results = run_jobs(run_trial, _jobs(given), KEY, file, processes=given.processes, minutes=given.minutes)
    print(write_report(results, PAGE if given.out == HERE / "results" else given.out / "prior.md"))


def _jobs(given: argparse.Namespace) -> Iterator[Job]:
    for cell in _cells(given):
        for method in methods_of(cell[1], cell[2]):
            yield *cell, method


def _cells(given: argparse.Namespace) -> Iterator[tuple[str, int, int, int]]:
    for name in given.networks:
        if name in SMALL and 0 in given.shares:
            for draw, rows in product(range(GROWING_DRAWS), GROWING):
                yield name, rows, 0, draw
    for large in (False, True):
        for share in sorted(given.shares, key=ORDER.index):
            for name in given.networks:
                if (name in LARGE) == large:
                    for draw, rows in product(range(given.draws or draws_of(name, share)), ROWS):
                        yield name, rows, share, draw


if __name__ == "__main__":
    main()

"""`python -m experiments.general`: what prevalences and diagnostic values are worth.

Trials that are already in the results are not repeated. `--network` and `--draws` choose a part.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.general.report import write_report
from experiments.general.trials import KINDS, run_trial
from experiments.running import add_options, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"
NAMES = ("asia", "sachs", "child", "alarm", "win95pts")
ROWS, METHODS = (50, 200), ("cmap", "posterior")
KEY = ("network", "draw", "rows", "knowledge", "method")


def main() -> None:
    """Run all trials, save them as they come, and write the report; an interrupted run continues."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, RESULTS)
    parser.add_argument("--draws", type=int, default=5, help="of data and statements")
    parser.add_argument("--network", action="append", choices=NAMES, help="one of the networks; all if not given")
    parser.add_argument("--method", action="append", choices=METHODS, help="one of the methods; both if not given")
    arguments = parser.parse_args()
    jobs = [
        (name, draw, rows, kind, method)
        for draw in range(arguments.draws)
        for name in arguments.network or NAMES
        for rows in ROWS
        for method in arguments.method or METHODS
        for kind in KINDS
    ]
    file = arguments.out / "trials.csv"
    found = run_jobs(run_trial, jobs, KEY, file, processes=arguments.processes, minutes=arguments.minutes)
    print(write_report(found, arguments.out))


if __name__ == "__main__":
    main()

"""`python -m experiments.classifier`: the classifier beside its rivals on 29 tables; `--quick` makes two splits.

Needs the packages of `pip install 'credo[experiments,rivals]'`. Trials that are already in the results are not
repeated, split after split, so that a partial run is balanced; `--again "credo"` repeats a learner after a change.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

from experiments.classifier.learners import LEARNERS
from experiments.classifier.report import write_report
from experiments.classifier.trials import ALL_TABLES, run_trial
from experiments.running import add_options, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    """Run all trials, save them as they come, and write the report; an interrupted run continues."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, RESULTS)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="two splits")
    parser.add_argument(
        "--table", action="append", choices=list(ALL_TABLES), help="one of the tables; all if not given"
    )
    parser.add_argument("--learner", action="append", choices=list(LEARNERS), help="one of them; all if not given")
    parser.add_argument("--again", action="append", default=[], help="forget the results of this learner first")
    arguments = parser.parse_args()
    file = arguments.out / "trials.csv"
    if arguments.again and file.exists():
        pl.read_csv(file).filter(~pl.col("learner").is_in(arguments.again)).write_csv(file)
    jobs = [
        (split, table, learner)
        for split in range(2 if arguments.quick else arguments.splits)
        for table in arguments.table or ALL_TABLES
        for learner in arguments.learner or LEARNERS
    ]
    found = run_jobs(
        run_trial, jobs, ("split", "table", "learner"), file, processes=arguments.processes, minutes=arguments.minutes
    )
    print(write_report(found, arguments.out))


if __name__ == "__main__":
    main()

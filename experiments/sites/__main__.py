"""`python -m experiments.sites`: sites that are more or less alike; `--help` lists the options.

Results are saved as they come: an interrupted run continues.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.running import add_options, require, run_jobs
from experiments.sites.report import write_report
from experiments.sites.trials import ALIKE, FOLDER, KEY, NETWORKS, run_trial

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    """Run all trials, and write the report of those that are done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, RESULTS)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    given = parser.parse_args()
    require(FOLDER, "The published networks are")
    jobs = [(name, alike, draw) for draw in range(given.draws) for name in given.networks for alike in ALIKE]
    file = given.out / "trials.csv"
    results = run_jobs(run_trial, jobs, KEY, file, processes=given.processes, minutes=given.minutes)
    print(write_report(results, given.out))


if __name__ == "__main__":
    main()

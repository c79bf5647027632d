"""`python -m experiments.questions`: interviews with simulated experts; `--help` lists the options.

Results are saved as they come: an interrupted run continues. `--aside` takes networks that played no part in building.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from experiments.questions.report import write_report
from experiments.questions.trials import ANSWERS, ASIDE, EXPERTS, FOLDER, KEY, NETWORKS, STRATEGIES, TARGETS, run_trial
from experiments.running import add_options, require, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    """Run all interviews, and write the report of those that are done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, RESULTS)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=[*NETWORKS, *ASIDE])
    parser.add_argument("--experts", nargs="+", default=list(EXPERTS), choices=list(EXPERTS))
    parser.add_argument("--targets", nargs="+", default=list(TARGETS), choices=TARGETS)
    parser.add_argument(
        "--answers", type=int, default=ANSWERS, help="of each interview; other results need another --out"
    )
    parser.add_argument("--aside", action="store_true")
    given = parser.parse_args()
    require(FOLDER, "The published networks are")
    jobs = [
        (name, target, expert, draw, strategy)
        for expert in given.experts
        for draw in range(given.draws)
        for name in (ASIDE if given.aside else given.networks)
        for target in given.targets
        for strategy in STRATEGIES
    ]
    file = given.out / ("aside.csv" if given.aside else "answers.csv")
    results = run_jobs(
        partial(run_trial, most=given.answers), jobs, KEY, file, processes=given.processes, minutes=given.minutes
    )
    print(write_report(results, given.out))


if __name__ == "__main__":
    main()

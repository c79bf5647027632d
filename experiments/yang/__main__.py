"""`python -m experiments.yang`: eleven domains, with and without knowledge and noisy-OR; `--help` lists the options.

Repeated ten-fold cross-validation (figure 3), and learning curves (figure 4). Jobs that are already in the results are
not repeated. The default takes about an hour and a half on two cores, nearly all of it for `posterior`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.running import add_options, run_jobs
from experiments.yang.domains import DOMAINS
from experiments.yang.learners import GROUPS
from experiments.yang.report import write_report
from experiments.yang.trials import run_curve, run_folds

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    """Run all jobs and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="of cross-validation")
    parser.add_argument("--draws", type=int, default=10, help="of the learning curves")
    parser.add_argument("--domains", nargs="+", default=tuple(DOMAINS), choices=tuple(DOMAINS))
    parser.add_argument("--groups", nargs="+", default=GROUPS, choices=GROUPS, help="of learners")
    add_options(parser, RESULTS)
    arguments = parser.parse_args()
    studies = (("folds", run_folds, "repeat", arguments.repeats), ("curves", run_curve, "draw", arguments.draws))
    results = {}
    for name, run, counted, times in studies:
        jobs = [
            (domain, group, number)
            for number in range(times)
            for domain in arguments.domains
            for group in arguments.groups
        ]
        results[name] = run_jobs(
            run,
            jobs,
            ("domain", "group", counted),
            arguments.out / f"{name}.csv",
            processes=arguments.processes,
            minutes=arguments.minutes,
        )
    print(write_report(results["folds"], results["curves"], arguments.out))


if __name__ == "__main__":
    main()

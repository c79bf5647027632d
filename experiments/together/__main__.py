"""`python -m experiments.together`: learn from everything at once; `--help` lists the options.

Results are saved as they come: an interrupted run continues.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.running import add_options, run_jobs
from experiments.together.report import write_report
from experiments.together.trials import TREATMENTS, run_trial

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    """Run all trials, and write the report of those that are done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, RESULTS)
    parser.add_argument("--draws", type=int, default=4)
    arguments = parser.parse_args()
    jobs = [(draw, treatment) for draw in range(arguments.draws) for treatment in TREATMENTS]
    trials = run_jobs(
        run_trial,
        jobs,
        ("draw", "treatment"),
        arguments.out / "trials.csv",
        processes=arguments.processes,
        minutes=arguments.minutes,
    )
    print(write_report(trials, arguments.out))


if __name__ == "__main__":
    main()

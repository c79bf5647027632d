"""`python -m experiments.calibration`: how often credible intervals hold the truth, case by case.

`--quick` makes ten trials of each case, which takes a few minutes. Trials that are already in the results are not
repeated: delete `results/trials.csv` after a change of the prior or of the sampler.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.calibration.cases import EVERY
from experiments.calibration.report import write_report
from experiments.calibration.trials import run_trial
from experiments.running import add_options, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    """Run all trials, save them as they come, and write the report; an interrupted run continues."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, RESULTS)
    parser.add_argument("--trials", type=int, default=200, help="of each case")
    parser.add_argument("--case", action="append", choices=list(EVERY), help="one of the cases; all if not given")
    parser.add_argument("--quick", action="store_true", help="ten trials of each case")
    arguments = parser.parse_args()
    trials = 10 if arguments.quick else arguments.trials
    jobs = [(case, trial) for trial in range(trials) for case in arguments.case or EVERY]
    found = run_jobs(
        run_trial, jobs, ("case", "trial"), arguments.out / "trials.csv", processes=arguments.processes,
        minutes=arguments.minutes,
    )  # fmt: skip
    print(write_report(found, arguments.out))


if __name__ == "__main__":
    main()

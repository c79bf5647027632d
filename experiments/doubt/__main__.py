"""`python -m experiments.doubt`: learn from statements some of which are wrong; `--help` lists the options.

Results are saved as they come: an interrupted run continues.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments.doubt.report import write_report
from experiments.doubt.trials import EXPERTS, TREATMENTS, run_experts, run_trial
from experiments.guo.draws import NETWORKS
from experiments.running import add_options, require, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"
DRAWS = {"asia": 5, "alarm": 3, "win95pts": 3, "andes": 1}
EXPERT_DRAWS = {"asia": 3, "alarm": 1}
SHARES = (10, 20, 0, 5)  # first what tells most


def main() -> None:
    """Run all trials, and write the report of those that are done."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, RESULTS)
    parser.add_argument("--networks", nargs="+", default=list(DRAWS), choices=list(DRAWS))
    parser.add_argument("--treatments", nargs="+", default=list(TREATMENTS), choices=TREATMENTS)
    parser.add_argument("--wrong", nargs="+", type=int, default=SHARES, choices=SHARES, help="percent of statements")
    parser.add_argument("--draws", type=int, default=max(DRAWS.values()), help="of a network, at most")
    arguments = parser.parse_args()
    require(NETWORKS, "The published networks are")
    options = {"processes": arguments.processes, "minutes": arguments.minutes}
    jobs = [
        (name, draw, share, treatment)
        for draw in range(max(DRAWS.values()))
        for name in arguments.networks
        if draw < min(DRAWS[name], arguments.draws)
        for share in arguments.wrong
        for treatment in arguments.treatments
    ]
    key = ("network", "draw", "wrong", "treatment")
    trials = run_jobs(run_trial, jobs, key, arguments.out / "trials.csv", **options)
    jobs = [
        (name, draw, treatment)
        for treatment in EXPERTS
        for name, draws in EXPERT_DRAWS.items()
        if name in arguments.networks
        for draw in range(min(draws, arguments.draws))
    ]
    experts = run_jobs(run_experts, jobs, ("network", "draw", "treatment"), arguments.out / "experts.csv", **options)
    print(write_report(trials, experts, arguments.out))


if __name__ == "__main__":
    main()

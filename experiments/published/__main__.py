"""`python -m experiments.published`: credo and its rivals on published networks; `--help` lists the options.

Every method's result is saved at once, and the same command continues where the last run ended. `--quick` runs a few
small networks. Where there is no folder of published networks, random ones stand in.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

from experiments.published.networks import (
    HALVES,
    MOST_CELLS,
    half_of,
    in_order,
    is_small_enough,
    network_files,
    true_network,
)
from experiments.published.packages import PYTHON, R, installed
from experiments.published.report import beside, read_trials, write_page, write_summary
from experiments.published.trials import CONDITIONS, KEY, MAIN_CONDITIONS, METHODS, methods_of, run_trial
from experiments.running import ROOT, add_options, require, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"
SIDE_BY_SIDE = "side_by_side.csv"  # of the comparison with NumPyro
QUICK_RESULTS = Path("quick-experiments") / "published"
PAGE, METHOD = ROOT / "docs" / "published.md", ROOT / "docs" / "method.md"
ROWS = (30, 100, 300)
QUICK_NETWORKS, QUICK_CELLS = 4, 100


def main() -> None:
    """Run the trials that are not there yet, and print a table for each condition."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", help="by name; if not given all that are small enough")
    parser.add_argument("--half", choices=HALVES, help="of the families; if not given both")
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--conditions", nargs="+", default=MAIN_CONDITIONS, choices=list(CONDITIONS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--cells", type=int, default=MOST_CELLS, help="of all CPTs, of the largest network")
    parser.add_argument(
        "--quick", action="store_true", help=f"four small networks, 30 rows, one draw, into {QUICK_RESULTS}"
    )
    parser.add_argument("--report", action="store_true", help="write the page of stored results again, and run nothing")
    parser.add_argument("--against", type=Path, help="the --out of another run: its rivals, and its credo as `before`")
    add_options(parser, RESULTS)
    given = parser.parse_args()
    if given.quick:
        given.out = QUICK_RESULTS if given.out == RESULTS else given.out
        given.rows, given.draws, given.cells = (30,), 1, min(given.cells, QUICK_CELLS)
    if unknown := set(given.networks or ()) - set(network_files()):
        parser.error(f"there is no network {min(unknown)}; there are: {', '.join(network_files())}")
    names = _names(given)
    jobs = [
        (name, rows, draw, condition, method)
        for draw in range(given.draws)
        for name, rows, condition in product(names, given.rows, given.conditions)
        for method in methods_of(condition)
        if method in given.methods
    ]
    file = given.out / "trials.csv"
    if given.report:
        results = read_trials(require(file, "Results of trials"))
    else:
        print(f"{len(names)} networks, {len(jobs)} jobs.")
        if missing := [method for method in (*PYTHON, *R) if method in given.methods and method not in installed()]:
            print(f"Not run, because a package is not installed: {', '.join(missing)}.")
        run_jobs(run_trial, jobs, KEY, file, processes=given.processes, minutes=given.minutes)
        results = read_trials(file)
    if given.against:
        results = beside(results, read_trials(require(given.against / file.name, "Results of another run")))
    page = write_page(results, PAGE if given.out == RESULTS else given.out / PAGE.name, given.out / SIDE_BY_SIDE)
    if given.out == RESULTS:
        write_summary(results, METHOD)
    print(page)


def _names(given: argparse.Namespace) -> list[str]:
    """The networks of this run, the first of every family first."""
    asked = given.networks or [name for name in network_files() if is_small_enough(true_network(name), given.cells)]
    names = in_order(name for name in asked if given.half in (None, half_of(name)))
    return names[:QUICK_NETWORKS] if given.quick and not given.networks else names


if __name__ == "__main__":
    main()

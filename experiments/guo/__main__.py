"""`python -m experiments.guo`: rerun tables 2 to 5 and report which rankings held; `--help` lists the options.

Each draw consists of a data set and at most thirty true statements for each variable; all methods learn from the same
draw. Cells `rows=…` use all statements (tables 2 and 3); cells `share=…` use fifty rows (tables 4 and 5).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from credo.estimation.methods import METHODS
from experiments.guo.draws import COMPARED, NAMES, NETWORKS, run_draw
from experiments.guo.report import write_report
from experiments.running import note_version, require, results_of

RESULTS = Path(__file__).resolve().parent / "results"


def main() -> None:
    """Run all draws in parallel, save the results as they come, and write the report; an interrupted run continues."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--networks", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--methods", nargs="+", default=[name for name in COMPARED if name in METHODS])
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    require(NETWORKS, "The published networks are")
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "kl.csv"
    done = pl.read_csv(file) if file.exists() else None
    frames = [] if done is None else [done]
    jobs = list(_jobs(arguments, done))
    for records in results_of(run_draw, jobs, arguments.processes):
        frames.append(pl.DataFrame(records))
        pl.concat(frames).write_csv(file)
        note_version(file)
    results = pl.concat(frames).sort("network", "cell", "method", "draw")
    results.write_csv(file)
    print(write_report(results, arguments.out))
    if jobs:
        note_version(arguments.out / "summary.csv")


def _jobs(arguments: argparse.Namespace, done: pl.DataFrame | None) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """The draws that are not complete yet; the first draws of all networks come first."""
    for draw in range(arguments.draws):
        for name in arguments.networks:
            found: set[str] = set()
            if done is not None:
                found = set(done.filter((pl.col("network") == name) & (pl.col("draw") == draw))["method"])
            missing = tuple(method for method in arguments.methods if method not in found)
            if missing:
                yield name, draw, missing


if __name__ == "__main__":
    main()

"""`python -m experiments.liao`: recognise action units from measurements and report which claims held.

A draw takes two or three minutes on one core. Draws that are already in the results are not repeated: with other
numbers of rows, starts or iterations, use another folder.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import polars as pl

from experiments.liao.draws import run_draw
from experiments.liao.report import write_report
from experiments.running import note_version, results_of

RESULTS = Path(__file__).resolve().parent / "results"
ROWS = 8_000  # as in the paper


def main() -> None:
    """Run all draws in parallel, save the results as they come, and write the report; an interrupted run continues."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, default=ROWS, help="of a data set; four fifths are for training")
    parser.add_argument("--starts", type=int, default=5, help="of EM; the best is kept")
    parser.add_argument("--iterations", type=int, default=1_000, help="of EM, for each start, at most")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    files = {name: arguments.out / f"{name}.csv" for name in ("fits", "units")}
    found = {name: [pl.read_csv(file)] if file.exists() else [] for name, file in files.items()}
    done = {draw for frames in found.values() for frame in frames for draw in frame["draw"]}
    jobs = [
        (draw, arguments.rows, arguments.starts, arguments.iterations)
        for draw in range(arguments.draws)
        if draw not in done
    ]
    for both in results_of(run_draw, jobs, arguments.processes):
        for name, records in zip(files, both, strict=True):
            found[name].append(pl.DataFrame(records))
            pl.concat(found[name]).write_csv(files[name])
    if jobs:
        for file in files.values():
            note_version(file)
    fits, units = (pl.concat(frames).sort("draw", maintain_order=True) for frames in found.values())
    print(write_report(fits, units, arguments.out))


if __name__ == "__main__":
    main()

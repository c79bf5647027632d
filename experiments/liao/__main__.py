"""`python -m experiments.liao`: recognise action units from measurements, and say which claims held; `--help` for more.

A draw takes two or three minutes on one core. Draws that are in the results already are not run again: other rows,
starts or iterations need another folder.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from pathlib import Path

import polars as pl

from experiments.liao.draws import run_draw
from experiments.liao.story import write_story

RESULTS = Path(__file__).resolve().parent / "results"
ROWS = 8_000  # as in the paper


def main() -> None:
    """Run all draws, several at a time, and write the results as they come; a run that was stopped goes on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, default=ROWS, help="of a table; four fifths are learned from")
    parser.add_argument("--starts", type=int, default=5, help="of EM; the best is kept")
    parser.add_argument("--iterations", type=int, default=1_000, help="of EM, at most, a start")
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
    started = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        for number, lines in enumerate(pool.imap_unordered(run_draw, jobs), start=1):
            for name, own in zip(files, lines, strict=True):
                found[name].append(pl.DataFrame(own))
                pl.concat(found[name]).write_csv(files[name])
            print(f"\r{number} of {len(jobs)} draws, {time.perf_counter() - started:.0f} s", end="", flush=True)
    print()
    fits, units = (pl.concat(frames).sort("draw", maintain_order=True) for frames in found.values())
    print(write_story(fits, units, arguments.out))


if __name__ == "__main__":
    main()

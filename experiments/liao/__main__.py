"""`python -m experiments.liao`: recognise action units from measurements, and say which claims held; `--help` for more.

A draw takes about a minute on one core. Twenty draws say more than the three of the default.
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
    """Run all draws, several at a time, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--rows", type=int, default=ROWS, help="of a table; four fifths are learned from")
    parser.add_argument("--starts", type=int, default=5, help="of EM; the best is kept")
    parser.add_argument("--iterations", type=int, default=1_000, help="of EM, at most, a start")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    jobs = [(draw, arguments.rows, arguments.starts, arguments.iterations) for draw in range(arguments.draws)]
    started = time.perf_counter()
    fits, units = [], []
    with multiprocessing.get_context("spawn").Pool(min(arguments.processes, len(jobs))) as pool:
        for number, (of_fits, of_units) in enumerate(pool.imap_unordered(run_draw, jobs), start=1):
            fits, units = fits + of_fits, units + of_units
            print(f"\r{number} of {len(jobs)} draws, {time.perf_counter() - started:.0f} s", end="", flush=True)
    print()
    print(write_story(pl.DataFrame(fits).sort("draw"), pl.DataFrame(units).sort("draw"), arguments.out))


if __name__ == "__main__":
    main()

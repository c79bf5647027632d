"""`python -m experiments.guo`: rerun tables 2 to 5, print and write what held; `--help` for more.

For every draw a data set and a knowledge of at most thirty true statements a node are drawn; all methods learn from the
same of both. Cells `rows=…` use all statements (tables 2 and 3), cells `share=…` fifty rows (tables 4 and 5).
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from credo.estimation.methods import METHODS
from experiments.guo.draws import NETWORKS, run_draw
from experiments.guo.story import write_story

RESULTS = Path(__file__).resolve().parent / "results"
NAMES = ("asia", "alarm", "win95pts", "andes")
COMPARED = ("ml", "me", "map", "co", "cml", "cme", "qmap", "qmapc", "posterior")


def main() -> None:
    """Run all cells, several at a time, and write the results as they come; a run that was stopped goes on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--networks", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--methods", nargs="+", default=[name for name in COMPARED if name in METHODS])
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if not NETWORKS.is_dir():
        raise SystemExit(f"The published networks are expected in {NETWORKS}.")
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "kl.csv"
    done = pl.read_csv(file) if file.exists() else None
    jobs = list(_jobs(arguments, done))
    started = time.perf_counter()
    frames = [] if done is None else [done]
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        for number, rows in enumerate(pool.imap_unordered(run_draw, jobs), start=1):
            frames.append(pl.DataFrame(rows))
            pl.concat(frames).write_csv(file)
            print(f"\r{number} of {len(jobs)} draws, {time.perf_counter() - started:.0f} s", end="", flush=True)
    print()
    results = pl.concat(frames).sort("network", "cell", "method", "draw")
    results.write_csv(file)
    print(write_story(results, arguments.out))


def _jobs(arguments: argparse.Namespace, done: pl.DataFrame | None) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Draws that are not complete yet; the first draws of all networks come first."""
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

"""`python -m experiments.liao.missing`: how far EM is from the truth with more and more gaps, and what knowledge adds.

Values of published networks are deleted at random; `map` learns by EM from what is left, `cmap` by EM whose M-step
holds to true statements, of which it is given a share. The default (ten draws of 500 rows, one start of EM) takes a
few minutes; `--help` for more.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import credo
from credo.knowledge.statements import Statement
from credo.model.network import Network
from credo.options import EMOptions
from credo.testing import true_statements, with_missing_values
from experiments.liao.missing_story import write_missing

NETWORKS = Path(__file__).resolve().parents[2] / ".." / "shared" / "networks"
RESULTS = Path(__file__).resolve().parent / "results"
NAMES = ("child", "alarm")
FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SHARES = (10, 30, 100)  # percent of the statements
STATEMENTS = 30  # a node, at most
STATEMENT_SEED, DATA_SEED, GAP_SEED = 300, 900, 1_500


def main() -> None:
    """Run all draws, several at a time, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--starts", type=int, default=1, help="of EM; the best is kept")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if not NETWORKS.is_dir():
        raise SystemExit(f"The published networks are expected in {NETWORKS}.")
    arguments.out.mkdir(parents=True, exist_ok=True)
    jobs = [
        (name, draw, arguments.rows, fraction, arguments.starts)
        for draw in range(arguments.draws)
        for name in arguments.networks
        for fraction in FRACTIONS
    ]
    started, found = time.perf_counter(), []
    with multiprocessing.get_context("spawn").Pool(arguments.processes) as pool:
        for number, rows in enumerate(pool.imap_unordered(run_cell, jobs), start=1):
            found += rows
            print(f"\r{number} of {len(jobs)} cells, {time.perf_counter() - started:.0f} s", end="", flush=True)
    print()
    print(write_missing(pl.DataFrame(found).sort("network", "draw", "fraction", "share"), arguments.out))


def run_cell(job: tuple[str, int, int, float, int]) -> list[dict[str, object]]:
    """All learners on one table with gaps."""
    name, draw, rows, fraction, starts = job
    truth = credo.read_network(NETWORKS / f"{name}.bif")
    statements = true_statements(truth, STATEMENTS, seed=STATEMENT_SEED + draw)
    frame = with_missing_values(truth.sample(rows, seed=DATA_SEED + draw), fraction, GAP_SEED + draw)
    lines = compare(truth, statements, frame, starts, draw)
    return [{"network": name, "draw": draw, "fraction": fraction, **line} for line in lines]


def compare(
    truth: Network, statements: tuple[Statement, ...], frame: pl.DataFrame, starts: int, seed: int
) -> Iterator[dict[str, object]]:
    """EM without knowledge, and with each share of it; never from the truth's tables, a start that nobody has."""
    structure = truth.without_cpts()
    for share in (0, *SHARES):
        kept = [each for i, each in enumerate(statements) if i % STATEMENTS < STATEMENTS * share / 100]
        knowledge = credo.Knowledge(structure, kept)
        start = time.perf_counter()
        fit = credo.fit(
            structure, frame, knowledge, method="cmap" if kept else "map", seed=seed, em=EMOptions(starts=starts)
        )
        seconds = time.perf_counter() - start
        yield {"share": share, "kl": truth.kl(fit.network), "seconds": seconds, "status": fit.status.name.lower()}


if __name__ == "__main__":
    main()

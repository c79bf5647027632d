"""One draw of data and knowledge, learned from by every method."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.statements import true_statements

import credo
from experiments.guo.measure import mean_row_divergence

NETWORKS = Path(__file__).resolve().parents[2] / ".." / "shared" / "networks"
STATEMENTS = 30  # a node, at most


def run_draw(job: tuple[str, str, int, tuple[str, ...]]) -> list[dict[str, object]]:
    """One draw of data and knowledge, learned from by every method."""
    name, cell, draw, methods = job
    truth = credo.read_network(NETWORKS / f"{name}.bif")
    kind, _, value = cell.partition("=")
    rows, share = (int(value), 100) if kind == "rows" else (50, int(value))
    statements = true_statements(truth, STATEMENTS, seed=draw)
    kept = [each for i, each in enumerate(statements) if i % STATEMENTS < STATEMENTS * share / 100]
    knowledge = credo.Knowledge(kept, truth)
    frame = truth.sample(rows, seed=1000 + draw)
    structure = truth.without_tables()
    found = []
    for method in methods:
        start = time.perf_counter()
        fit = credo.fit(structure, frame, knowledge, method=method, seed=draw)
        seconds = time.perf_counter() - start
        violated = sum(each.amount > 1e-6 for each in fit.violations())
        divergence = mean_row_divergence(truth, fit.network)
        found.append(
            {
                "network": name,
                "cell": cell,
                "draw": draw,
                "method": method,
                "kl": divergence,
                "seconds": seconds,
                "violated": violated,
            }
        )
    return found

"""`python -m experiments.guo.wrong`: what wrong statements do to each method, and what the check wins back.

A share of the true statements is turned round (≤ becomes ≥). Then, on the same data:

- `as given`: all statements hard; only what cannot hold together is left out (all members of each clash);
- `checked`: what the data contradict, by the check's own verdict, is left out first;
- `unsure`: all statements kept, each with confidence 0.8, learned with cmap and soft rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import credo
from credo.estimation.methods import METHODS
from credo.explain.plausibility import Verdict
from credo.knowledge.comparison import Relation
from credo.knowledge.statements import Comparison, Statement
from credo.model.network import Network
from credo.testing import true_statements
from experiments.guo.draws import NETWORKS, STATEMENTS
from experiments.guo.measure import mean_row_divergence

RESULTS = Path(__file__).resolve().parent / "results"
SHARES = (0, 5, 10, 20)
COMPARED = ("co", "cml", "cmap", "cme", "qmap", "qmapc", "posterior")
TURNED: dict[Relation, Relation] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
CONFIDENCE = 0.8


def main() -> None:
    """Run all draws, write a table and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--networks", nargs="+", default=("asia", "alarm"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    found: list[dict[str, object]] = []
    for name in arguments.networks:
        truth = credo.read_network(NETWORKS / f"{name}.bif")
        for draw in range(arguments.draws):
            for share in SHARES:
                started = time.perf_counter()
                for row in run(truth, draw, share, arguments.rows):
                    found.append({"network": name, "draw": draw, "wrong": share, **row})
                print(f"{name}, draw {draw}, {share}% wrong: {time.perf_counter() - started:.1f} s", flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = pl.DataFrame(found)
    results.write_csv(arguments.out / "wrong.csv")
    text = story(results, arguments.rows)
    (arguments.out / "wrong.md").write_text(text, encoding="utf-8")
    print(text)


def run(truth: Network, draw: int, share: int, rows: int) -> Iterable[dict[str, object]]:
    """One draw of data and statements under each way of dealing with wrong ones."""
    structure, frame = truth.without_cpts(), truth.sample(rows, seed=1000 + draw)
    statements = with_wrong_ones(true_statements(truth, STATEMENTS, seed=draw), share, seed=draw)
    given = consistent(structure, statements)
    verdicts = credo.check(structure, credo.Knowledge(structure, statements), data=frame).statements
    doubtful = {
        each.statement.number
        for each in verdicts
        if each.plausibility is not None and each.plausibility.verdict is Verdict.CONTRADICTED
    }
    checked = consistent(structure, [each for i, each in enumerate(statements) if i not in doubtful])
    unsure = [replace(each, confidence=CONFIDENCE) for each in statements]
    ways = [("as given", given, method) for method in COMPARED] + [("checked", checked, method) for method in COMPARED]
    for way, kept, method in [*ways, ("unsure", unsure, "cmap")]:
        if method in METHODS:
            fit = credo.fit(structure, frame, credo.Knowledge(structure, kept), method=method, seed=draw)
            divergence = mean_row_divergence(truth, fit.network)
            yield {"way": way, "method": method, "kl": divergence, "statements": len(kept)}


def with_wrong_ones(statements: Iterable[Statement], share: int, seed: int) -> list[Statement]:
    """The statements with `share` percent of those that can be turned round turned round."""
    statements = list(statements)
    turnable = [i for i, each in enumerate(statements) if isinstance(each, Comparison) and len(each.sides) == 2]
    chosen = np.random.default_rng(seed).choice(turnable, round(len(statements) * share / 100), replace=False)
    for i in chosen:
        statement = statements[i]
        assert isinstance(statement, Comparison)
        statements[i] = replace(statement, relations=(TURNED[statement.relations[0]],))
    return statements


def consistent(network: Network, statements: list[Statement]) -> list[Statement]:
    """What is left when the members of every clash are taken out, until none is left."""
    while True:
        check = credo.check(network, credo.Knowledge(network, statements))
        if check.feasible:
            return statements
        statements = [each for i, each in enumerate(statements) if i not in check.conflicting]


def story(results: pl.DataFrame, rows: int) -> str:
    """A table a network: one line a way and method, one column a share of wrong statements."""
    parts = [
        "# Wrong statements\n",
        f"Mean divergence of table rows (nats) from {rows} rows of data; a share of the statements is turned round. "
        "The paper's conclusion (2) is that wrong constraints hurt. `as given` leaves out only what cannot hold "
        "together, `checked` also what the data contradict, `unsure` keeps all with confidence 0.8.\n",
    ]
    for (network,), own in results.group_by("network", maintain_order=True):
        shares = sorted(own["wrong"].unique())
        parts += [f"\n## {network}\n", "| way | method | " + " | ".join(f"{share}% wrong" for share in shares) + " |"]
        parts.append("|---|---|" + "---|" * len(shares))
        for (way, method), line in own.group_by("way", "method", maintain_order=True):
            means = dict(line.group_by("wrong").agg(pl.col("kl").mean()).iter_rows())
            parts.append(f"| {way} | {method} | " + " | ".join(f"{means[share]:.4f}" for share in shares) + " |")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    main()

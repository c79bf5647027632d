"""`python -m experiments.guo.wrong`: how wrong statements affect each method, and how much the check repairs.

A share of the true statements is reversed (≤ becomes ≥). On the same data, three treatments are compared:

- `as given`: all statements are hard; only statements in conflict are left out (all members of each conflict);
- `checked`: statements that the check reports as contradicted by the data are left out first;
- `unsure`: all statements are kept with confidence 0.8 and learned with cmap as soft statements.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
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
from experiments.guo.draws import NAMES, NETWORKS, STATEMENTS
from experiments.guo.measure import mean_divergence
from experiments.guo.report import number_of_draws
from experiments.running import Job, Record, add_options, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"
SHARES = (0, 5, 10, 20)
COMPARED = ("co", "cml", "cmap", "cme", "qmap", "qmapc", "posterior")
REVERSED: dict[Relation, Relation] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}
CONFIDENCE = 0.8


def main() -> None:
    """Run all draws, save the results as they come, and print a table; an interrupted run continues."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--networks", nargs="+", default=NAMES, choices=NAMES)
    add_options(parser, RESULTS)
    arguments = parser.parse_args()
    jobs = [(name, draw, share) for draw in range(arguments.draws) for name in arguments.networks for share in SHARES]
    results = run_jobs(
        partial(run_share, rows=arguments.rows), jobs, ("network", "draw", "wrong"), arguments.out / "wrong.csv",
        processes=arguments.processes, minutes=arguments.minutes,
    )  # fmt: skip
    text = report(results, arguments.rows)
    (arguments.out / "wrong.md").write_text(text, encoding="utf-8")
    print(text)


def run_share(job: Job, rows: int) -> list[Record]:
    """All treatments of one draw with one share of wrong statements."""
    name, draw, share = job
    truth = credo.read_network(NETWORKS / f"{name}.bif")
    return [{"network": name, "draw": draw, "wrong": share, **record} for record in run(truth, draw, share, rows)]


def run(truth: Network, draw: int, share: int, rows: int) -> Iterable[dict[str, object]]:
    """Learn from one draw of data and statements under each treatment of wrong statements."""
    structure, frame = truth.without_cpts(), truth.sample(rows, seed=1000 + draw)
    statements = reverse_some(true_statements(truth, STATEMENTS, seed=draw), share, seed=draw)
    given = consistent(structure, statements)
    checked_statements = credo.check(structure, credo.Knowledge(structure, statements), data=frame).statements
    contradicted = {
        result.statement.number
        for result in checked_statements
        if result.plausibility is not None and result.plausibility.verdict is Verdict.CONTRADICTED
    }
    checked = consistent(structure, [statement for i, statement in enumerate(statements) if i not in contradicted])
    unsure = [replace(statement, confidence=CONFIDENCE) for statement in statements]
    treatments = [("as given", given, method) for method in COMPARED] + [
        ("checked", checked, method) for method in COMPARED
    ]
    for treatment, kept, method in [*treatments, ("unsure", unsure, "cmap")]:
        if method in METHODS:
            fit = credo.fit(structure, frame, credo.Knowledge(structure, kept), method=method, seed=draw)
            divergence = mean_divergence(truth, fit.network)
            yield {"treatment": treatment, "method": method, "kl": divergence, "statements": len(kept)}


def reverse_some(statements: Iterable[Statement], share: int, seed: int) -> list[Statement]:
    """The statements with `share` percent of them reversed, chosen among the inequalities."""
    statements = list(statements)
    reversible = [i for i, each in enumerate(statements) if isinstance(each, Comparison) and len(each.sides) == 2]
    chosen = np.random.default_rng(seed).choice(reversible, round(len(statements) * share / 100), replace=False)
    for i in chosen:
        statement = statements[i]
        assert isinstance(statement, Comparison)
        statements[i] = replace(statement, relations=(REVERSED[statement.relations[0]],))
    return statements


def consistent(network: Network, statements: list[Statement]) -> list[Statement]:
    """The statements without the members of any conflict."""
    while True:
        check = credo.check(network, credo.Knowledge(network, statements))
        if check.feasible:
            return statements
        conflicting = {statement.number for conflict in check.conflicts for statement in conflict.statements}
        statements = [statement for i, statement in enumerate(statements) if i not in conflicting]


def report(results: pl.DataFrame, rows: int) -> str:
    """One table for each network: a line for each treatment and method, a column for each share of wrong statements."""
    parts = [
        "# Wrong statements\n",
        f"Mean divergence of the conditional distributions in nats, learned from {rows} rows. A share of the "
        "statements is reversed. The paper's conclusion (2) is that wrong constraints do harm. `as given` leaves out "
        "only statements in conflict, `checked` also those that the data contradict; `unsure` keeps all with "
        f"confidence 0.8. Draws: {number_of_draws(results)}.\n",
    ]
    for (network,), own in results.group_by("network", maintain_order=True):
        shares = sorted(own["wrong"].unique())
        parts += [
            f"\n## {network}\n",
            "| treatment | method | " + " | ".join(f"{share}% wrong" for share in shares) + " |",
        ]
        parts.append("|---|---|" + "---|" * len(shares))
        for (treatment, method), line in own.group_by("treatment", "method", maintain_order=True):
            means = dict(line.group_by("wrong").agg(pl.col("kl").mean()).iter_rows())
            parts.append(f"| {treatment} | {method} | " + " | ".join(f"{means[share]:.4f}" for share in shares) + " |")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    main()

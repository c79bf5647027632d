"""`python -m experiments.guo.more`: the tables of Guo for nine networks that the paper does not have.

Data, statements, cells and methods are those of `python -m experiments.guo`; there are no published figures to compare
with. Small networks come first, and an interrupted run continues.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import polars as pl

from credo.estimation.methods import METHODS
from experiments.guo.draws import COMPARED, NETWORKS, run_draw
from experiments.guo.report import in_cells, network_table, number_of_draws, posterior_table, times_table
from experiments.running import Job, Record, add_options, require, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"
NAMES = ("cancer", "earthquake", "survey", "sachs", "child", "hailfinder", "pigs", "link", "diabetes")
LARGE = (
    "A draw of Pigs (eight cells, nine methods, 13,000 statements) was stopped after 20 minutes; "
    "[the prior](../../../docs/prior.md) has single cells of Pigs and Link."
)


def main() -> None:
    """Run all draws, save the results as they come, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--networks", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--methods", nargs="+", default=[name for name in COMPARED if name in METHODS])
    add_options(parser, RESULTS)
    arguments = parser.parse_args()
    require(NETWORKS, "The published networks are")
    jobs = [(name, draw) for draw in range(arguments.draws) for name in arguments.networks]
    results = run_jobs(
        partial(run_all, methods=tuple(arguments.methods)), jobs, ("network", "draw"), arguments.out / "more.csv",
        processes=arguments.processes, minutes=arguments.minutes,
    )  # fmt: skip
    text = report(results)
    (arguments.out / "more.md").write_text(text, encoding="utf-8")
    print(text)


def run_all(job: Job, methods: tuple[str, ...]) -> list[Record]:
    """All cells of one draw, by each of the methods."""
    name, draw = job
    return run_draw((name, draw, methods))


def report(results: pl.DataFrame) -> str:
    """The tables of every network that was run."""
    names = [name for name in NAMES if name in results["network"].unique()]
    cells = in_cells(results)
    missing = ", ".join(name for name in NAMES if name not in names)
    return "\n".join(
        [
            "# Guo: the same tables for more networks\n",
            "Mean divergence of all conditional distributions, in nats, ± standard deviation over draws, as in "
            "[the paper's networks](README.md). `python -m experiments.guo.more` makes this page.\n",
            f"Draws: {number_of_draws(results)}.{f' Not run: {missing}. {LARGE}' if missing else ''}\n",
            *(network_table(cells, name) for name in names),
            posterior_table(results),
            times_table(cells),
        ]
    )


if __name__ == "__main__":
    main()

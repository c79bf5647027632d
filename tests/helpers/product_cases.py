"""A variable with two parents whose data contradict a product synergy."""

from __future__ import annotations

import polars as pl

from credo import Network

FOUR = Network({"a": ("n", "y"), "b": ("n", "y"), "c": ("n", "y")}, parents={"c": ["a", "b"]})
COUNTS = {("n", "n"): (2, 8), ("n", "y"): (8, 2), ("y", "n"): (8, 2), ("y", "y"): (2, 8)}
SYNERGY = "P(c=y | a=n, b=n) * P(c=y | a=y, b=y) <= P(c=y | a=n, b=y) * P(c=y | a=y, b=n)"


def frame(counts: dict[tuple[str, str], tuple[int, int]]) -> pl.DataFrame:
    """Rows with these counts of c for each configuration."""
    rows = [
        (a, b, c) for (a, b), numbers in counts.items() for c, n in zip("ny", numbers, strict=True) for _ in range(n)
    ]
    return pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")

"""Rows that were run again are compared with the rows of the same trials."""

from __future__ import annotations

import polars as pl
from experiments.reruns import Results, comparison


def test_rows_of_the_same_trial_are_compared() -> None:
    results = Results("liao/results/fits.csv", ("draw", "learner"), ("error",))
    published = pl.DataFrame({"draw": [0, 0, 1, 1], "learner": ["a", "b", "a", "b"], "error": [0.1, 0.2, 0.3, 0.4]})
    rerun = pl.DataFrame({"draw": [1, 0], "learner": ["a", "b"], "error": [0.3, 0.4]})
    (line,) = comparison(results, published, rerun)
    assert line == "| liao/fits.csv | error | 2 of 4 | 0.2500 | 0.3500 | 1 | 1.0e-01 |"

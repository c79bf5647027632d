"""A CPT with many configurations and few rows gets the suggestion of a form, which can be pasted."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import credo


def suggested(fit: credo.Fit) -> list[str]:
    return [str(each) for each in fit.findings if each.kind == "large CPT"]


def table(states: list[str], parents: int, rows: int = 40) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    codes = rng.integers(len(states), size=(rows, parents))
    weights = np.array([4.0, -1.0, *[0.5] * (parents - 2)])
    score = codes @ weights + rng.normal(0, 0.3, rows)
    child = np.searchsorted(np.quantile(score, np.linspace(0, 1, len(states) + 1)[1:-1]), score)
    columns = {f"x{n}": np.array(states)[codes[:, n]] for n in range(parents)}
    return pl.DataFrame({**columns, "y": np.array(states)[child]})


@pytest.mark.parametrize(
    ("states", "words"), [(["low", "medium", "high"], "weighted mean"), (["no", "yes"], "noisy-or")]
)
def test_the_suggested_line_is_read_and_removes_the_finding(states: list[str], words: str) -> None:
    parents = 5 if len(states) == 3 else 8
    rows = table(states, parents)
    names = ", ".join(f"x{n}" for n in range(parents))
    text = f"variables {names}, y: {', '.join(states)}\ny depends on {names}\n"
    (message,) = suggested(credo.fit(text, rows, method="map"))
    line = re.search("`(.*?)`", message)[1]
    assert words in line
    if words == "weighted mean":
        assert "x0 (5), not x1" in line
    assert not suggested(credo.fit(text + line, rows, method="map"))


def test_enough_rows_or_few_configurations_need_no_form() -> None:
    text = "variables x0, x1, y: low, medium, high\ny depends on x0, x1"
    assert not suggested(credo.fit(text, table(["low", "medium", "high"], 2), method="map"))

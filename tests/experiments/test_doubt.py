"""The experiment on wrong statements: which are wrong, how they are ranked, and what the report makes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from experiments.doubt.report import write_report
from experiments.doubt.trials import _reached, _true, area_under_curve
from experiments.guo.wrong import reverse_some

import credo
from credo.testing import random_network, true_statements

TRUTH = random_network({"a": 2, "b": 3, "c": 2}, {"b": ("a",), "c": ("a", "b")}, seed=3)


def test_reversed_statements_are_the_wrong_ones() -> None:
    statements = true_statements(TRUTH, 20, seed=1)
    assert _true(TRUTH, statements).all()
    reversed_ones = reverse_some(statements, 20, seed=1)
    changed = np.array([one != other for one, other in zip(statements, reversed_ones, strict=True)])
    assert changed.sum() == 12
    assert (~_true(TRUTH, reversed_ones) == changed).all()


def test_statements_about_configurations_without_data_are_not_reached() -> None:
    rows = pl.DataFrame({"a": ["s0"] * 3, "b": ["s0"] * 3, "c": ["s1"] * 3})
    statements = credo.Knowledge(TRUTH, ["P(b=s0 | a=s0) >= 0.1", "P(b=s0 | a=s0) <= P(b=s0 | a=s1)"]).statements
    assert _reached(TRUTH.without_cpts(), rows, statements).tolist() == [True, False]


def test_the_area_under_the_curve_counts_pairs() -> None:
    said, true = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    assert area_under_curve(said, true) == (4 - 0.5) / 4
    assert area_under_curve(said, true | True) is None


def test_the_report_has_a_table_for_everything(tmp_path: Path) -> None:
    doubted = {"auc": 0.99, "auc_reached": 0.98, "reliability": 0.9, "low": 0.8, "high": 0.95, "right": 0.9}
    bins = {"said": ";".join(["0.5"] * 10), "held": ";".join(["1"] * 10), "counted": ";".join(["2"] * 10)}
    job = {"network": "asia", "draw": 0, "wrong": 10, "kl": 0.01, "seconds": 3.0}
    trials = [
        {**job, "treatment": "doubt", **doubted, "r_hat": 1.01, **bins},
        {**job, "treatment": "left out", **dict.fromkeys((*doubted, "r_hat", *bins))},
        {**job, "draw": 1, "treatment": "left out", "kl": 9.0, **dict.fromkeys((*doubted, "r_hat", *bins))},
        {**job, "treatment": "checked", "kl": 0.04, **dict.fromkeys((*doubted, "r_hat", *bins))},
    ]
    learned = {
        f"{name}_{each}": 0.6 for name in ("first", "second") for each in ("right", "reliability", "low", "high")
    }
    experts = [{"network": "asia", "draw": 0, "treatment": "both", "kl": 0.02, "seconds": 1.0, **learned}]
    text = write_report(pl.DataFrame(trials), pl.DataFrame(experts), tmp_path)
    assert "| doubt | 0.0100 | 3 |" in text
    assert "| left out | 0.0100 | 3 |" in text  # in the same draws
    assert "| asia | 10% | 1 | 1.00 | 0.25 (0.25) |" in text
    assert "| asia | 10% | 0.990 (0.980) | 0.900 (0.800 to 0.950) | 0.900 | 1.01 |" in text
    assert "| 80 to 90% | 2 | 25.0% | 50.0% |" in text
    assert "| asia | both | 1 | 0.0200 |" in text
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text

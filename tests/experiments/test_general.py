"""The experiment on prevalences and diagnostic values: what is stated is true, trials run, and the report adds up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.general import trials
from experiments.general.report import write_report

import credo
from credo.testing import random_network

NETWORK = random_network(dict.fromkeys("abcd", 2), {"b": ("a",), "c": ("a", "b"), "d": ("c",)}, seed=1)


def test_statements_are_true_and_about_several_cpts() -> None:
    rng = np.random.default_rng(1)
    knowledge = credo.Knowledge(
        NETWORK, [trials.general_statement(NETWORK, trials.general_query(NETWORK, rng), rng) for _ in range(30)]
    )
    from credo.constraints.lower import lower
    from credo.explain.violations import violations_of

    assert not violations_of(NETWORK, knowledge)
    assert len(lower(knowledge).network_statements) + len(lower(knowledge).always_true) >= 30


def test_a_trial_runs_and_the_report_shows_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "NETWORKS", tmp_path)
    credo.write_network(NETWORK, tmp_path / "small.bif")
    records = [record for kind in trials.KINDS for record in trials.run_trial(("small", 0, 50, kind, "cmap"))]
    assert [record["violated"] for record in records] == [0] * 4
    text = write_report(pl.DataFrame(records), tmp_path)
    assert "| small, 50 (1) | CPTs |" in text
    assert (tmp_path / "README.md").read_text() == text

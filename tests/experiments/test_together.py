"""The experiment with everything at once: what is stated is true, tables have all parts, and the report adds up."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from experiments.together import trials
from experiments.together.report import write_report

import credo
from credo.explain.violations import violations_of


def test_statements_are_true_but_for_experts() -> None:
    truth, stated = trials.true_network(1), trials.lines_of(trials.true_network(1), 1)
    for part in ("statements", "confidences", "any probability"):
        assert not violations_of(truth, credo.Knowledge(truth, "\n".join(stated[part])))
    everything = credo.Knowledge(truth, "\n".join(line for lines in stated.values() for line in lines))
    wrong = [each for each in violations_of(truth, everything) if "|" in each.statement.text]
    assert 1 <= len(wrong) <= 12


def test_tables_have_missing_values_weights_and_twins() -> None:
    table = trials.table_of(trials.true_network(0), 0)
    assert "severity" not in table.columns
    assert table["weight"].max() > 3
    assert table["twins"].drop_nulls().n_unique() == trials.TWINS
    assert table["weight"].sum() == trials.ROWS + trials.REGISTERED + 2 * trials.TWINS
    assert table["flu"].null_count() > 5


def test_the_report_compares_within_draws(tmp_path: Path) -> None:
    rows = [
        {
            "draw": draw, "treatment": treatment, "kl": kl, "status": "AVERAGED", "drawn": True, "violated": 0,
            "careful": 0.95, "careless": 0.6, "seconds": 3.0,
        }
        for draw, treatment, kl in ((0, "everything", 0.1), (0, "without ties", 0.2), (1, "without ties", 0.3))
    ]  # fmt: skip
    text = write_report(pl.DataFrame(rows), tmp_path)
    assert "| without ties | 2 | 0.2500 | 2.00 | 3 |" in text
    assert "the careful expert is found to be right in 95%" in text
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == text


@pytest.mark.slow
def test_a_trial_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "OPTIONS", credo.PosteriorOptions(draws=40, warmup=40, max_draws=40))
    (record,) = trials.run_trial((0, "everything"))
    assert record["drawn"]
    assert record["violated"] == 0
    assert 0.0 < record["kl"] < 0.3  # type: ignore[operator]

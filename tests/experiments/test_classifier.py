"""The comparison of classifiers, on made-up rows and with learners that every machine has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credo

pytest.importorskip("sklearn")

from experiments.classifier import coverage
from experiments.classifier.learners import Tuned
from experiments.classifier.package_tables import PACKAGE_TABLES, read_package_table
from experiments.classifier.report import balanced, lead, ranks, write_report
from experiments.classifier.tables import TABLES, design_tables, signs, statements
from experiments.classifier.tan import TreeAugmentedBayes
from experiments.classifier.trials import ALL, ALL_TABLES, measures, trial
from experiments.yang.domain_data import Rows
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression


def made_up(rows: int = 90, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    raw = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.integers(0, 2, rows).astype(float)})
    target = (raw["a"] + raw["b"] + 0.5 * rng.normal(size=rows) > 0.5).astype(int).to_numpy()
    return Rows((raw > 0).astype(int), raw, target)


def results() -> pl.DataFrame:
    """Two splits of all tables: credo is best, a rival second; the third split is incomplete."""
    records = []
    for split in (2, 3, 4):
        for place, table in enumerate(TABLES):
            means = {"credo, no statements": 0.95, "logistic regression": 0.85, "coin": 0.5}
            for learner, auc in {"credo": 0.9 + 0.001 * place, **means}.items():
                if split == 4 and place > 3:
                    continue
                for size in ("20", "40", "80", ALL):
                    found = {"auc": auc + 0.01 * (size == ALL and learner != "credo"), "log_loss": 1 - auc}
                    found |= {"brier": 1 - auc, "calibration": 0.1, "seconds": 0.2}
                    records.append({"split": split, "table": table, "learner": learner, "size": size, **found})
    return pl.DataFrame(records)


def test_every_learner_gets_the_same_growing_training_sets() -> None:
    rows = made_up()
    seen: list[int] = []
    records = trial(rows, lambda size: seen.append(size) or LogisticRegression(), split=1)
    assert seen == [20, 40, len(rows) - 27]
    assert [record["size"] for record in records] == ["20", "40", ALL]
    assert all(record["auc"] > 0.7 for record in records)
    assert records == [
        {**again, "seconds": record["seconds"]}
        for record, again in zip(records, trial(rows, lambda size: LogisticRegression(), split=1), strict=True)
    ]


def test_measures_by_hand() -> None:
    found = measures(np.array([0, 1, 1, 0]), np.array([0.0, 1.0, 0.5, 0.5]))
    assert found["auc"] == pytest.approx(0.875)
    assert found["log_loss"] == pytest.approx((-2 * np.log(0.999) + 2 * np.log(2)) / 4, abs=1e-6)
    assert found["brier"] == pytest.approx((2 * 0.001**2 + 2 * 0.25) / 4, abs=1e-6)
    constant = trial(made_up(), lambda size: DummyClassifier(), split=0)
    assert {record["auc"] for record in constant} == {0.5}


@pytest.mark.parametrize("name", ALL_TABLES)
def test_statements_of_every_table_can_be_read(name: str) -> None:
    table = ALL_TABLES[name]
    names = [feature.name for feature in table.features]
    assert len(set(names)) == len(names) == len(signs(table))
    network = credo.Network({each: ["0", "1"] for each in (*names, table.target)}, {table.target: names})
    known = credo.Knowledge(network, statements(table))
    assert len(known.statements) == sum(sign != 0 for sign in signs(table))
    assert all(feature.why for feature in table.features if feature.effect)


def test_tables_for_design_are_few_and_fixed() -> None:
    assert len(design_tables()) == 5
    assert set(design_tables()) < set(TABLES)


@pytest.mark.parametrize("name", [name for name, each in PACKAGE_TABLES.items() if each.table.startswith("sklearn:")])
def test_tables_of_packages_are_read(name: str) -> None:
    table = PACKAGE_TABLES[name]
    rows = read_package_table(table)
    assert list(rows.raw.columns) == [feature.name for feature in table.features]
    assert 0.2 < rows.target.mean() < 0.5
    assert not rows.raw.isna().any(axis=None)


def test_a_tuned_learner_takes_what_predicts_best() -> None:
    rows = made_up(120)
    tuned = Tuned(LogisticRegression, [{"C": 1e-6}, {"C": 1.0}]).fit(rows.raw, rows.target)
    assert tuned.model_.C == 1.0
    np.testing.assert_array_equal(tuned.classes_, [0, 1])
    assert measures(rows.target, tuned.predict_proba(rows.raw)[:, 1])["auc"] > 0.85


def test_smoothed_trees_predict() -> None:
    rows = made_up(200)
    model = TreeAugmentedBayes().fit(rows.raw, rows.target)
    chances = model.predict_proba(rows.raw)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert measures(rows.target, chances[:, 1])["auc"] > 0.8


def test_the_page_reports_ranks_and_goals(tmp_path: Path) -> None:
    found = balanced(results())
    assert sorted(found["split"].unique().to_list()) == [2, 3]
    assert "credo, no statements" not in ranks(found, "auc")["learner"]
    found_lead = lead(found, "auc", "40")
    assert (found_lead.rival, found_lead.other) == ("logistic regression", pytest.approx(0.85))
    assert found_lead.ahead == pytest.approx(0.05 + 0.001 * 8)
    assert found_lead.error == pytest.approx(0.001 * np.std(np.arange(17), ddof=1) / 17**0.5)
    assert lead(found, "log_loss", "40").ahead == pytest.approx(found_lead.ahead)
    goals = write_report(results(), tmp_path)
    assert "**no**" not in goals
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "2 splits" in page
    assert write_report(results().filter(pl.col("split") == 2), tmp_path).startswith("Only the splits")
    assert "| Heart Disease |" in page


def test_coverage_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "BOOTSTRAPS", 3)
    records = coverage.run_trial(("prior", 20, 0))
    assert [each["learner"] for each in records] == list(coverage.LEARNERS)
    for each in records:
        assert 0 <= each["within 50%"] <= each["within 80%"] <= each["within 95%"] <= coverage.TEST
    assert "| **all** |" in coverage.write_coverage(pl.DataFrame(records), tmp_path)


def test_calibration_error_by_hand() -> None:
    sums = {f"{name} {i}": 0.0 for i in range(10) for name in ("predicted", "true")}
    cell = pl.DataFrame([{**sums, "points": 4, "predicted 1": 0.3, "true 1": 0.5, "predicted 9": 1.9, "true 9": 1.5}])
    assert coverage.calibration_error(cell) == pytest.approx((0.2 + 0.4) / 4)


@pytest.mark.parametrize("case", coverage.CASES)
def test_truths_are_probabilities(case: str) -> None:
    rng = np.random.default_rng(1)
    truth = coverage.CASES[case][1](rng)
    values = truth.probability(coverage._features(truth, 50, rng))
    assert values.shape == (50,)
    assert (values >= 0.0).all()
    assert (values <= 1.0).all()
    assert len(truth.signs) == coverage.FEATURES

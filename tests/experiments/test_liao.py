"""The experiment on action units and the study of missing values, on tables small enough for a test."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from experiments.liao.draws import learners, mean_absolute_error, run_draw, unit_rates
from experiments.liao.faces import DETECTORS, UNITS, detector, faces, reliable_detectors
from experiments.liao.knowledge import calibrated_confidence, equal_confidence, expert_statements
from experiments.liao.missing import STATEMENTS, compare
from experiments.liao.missing_report import write_missing
from experiments.liao.report import write_report
from experiments.liao.starts import PAIRS, STARTS, mostly_right, run_start, write_starts

import credo
from credo.explain.violations import violations_of
from credo.testing import true_statements, with_missing_values
from tests.helpers.problems import known_network


def test_fourteen_units_with_a_detector_each() -> None:
    assert len(faces()) == 28
    assert set(DETECTORS) == set(UNITS)
    assert 14 <= sum(len(parents) for parents, _ in UNITS.values()) <= 18
    # From the best to the worst in both rates: there is one ranking.
    for rates in zip(*DETECTORS.values(), strict=True):
        assert list(rates) == sorted(rates, reverse=True)
    assert reliable_detectors(faces()).cpt_array("O2")[1, 1] == pytest.approx(0.8)


@pytest.mark.parametrize("seed", range(3))
def test_true_statements_hold_and_wrong_ones_do_not(seed: int) -> None:
    truth = faces()
    statements = expert_statements(truth, seed)
    assert violations_of(truth, credo.Knowledge(truth, equal_confidence(statements, 0.0, seed))) == ()
    assert len(violations_of(truth, credo.Knowledge(truth, equal_confidence(statements, 1.0, seed)))) == len(statements)


def test_a_calibrated_expert_has_less_confidence_in_wrong_statements() -> None:
    truth = faces()
    statements = expert_statements(truth, 0)
    wrong = violations_of(truth, credo.Knowledge(truth, calibrated_confidence(statements, 0.3, 0)))
    assert len(wrong) == round(0.3 * len(statements))
    assert all(each.confidence is not None and each.confidence <= 0.3 for each in wrong)


def test_the_truth_recognises_units() -> None:
    rates = unit_rates(faces(), faces().sample(500, 1))
    assert set(rates) == set(UNITS)
    assert sum(positive > alarm + 0.15 for positive, alarm in rates.values()) >= 12
    assert mean_absolute_error(faces(), faces()) == 0.0


@pytest.mark.parametrize(("rows", "iterations"), [(100, 2), pytest.param(500, 8, marks=pytest.mark.slow)])
def test_a_small_draw_is_learned_and_reported(tmp_path: Path, rows: int, iterations: int) -> None:
    pytest.importorskip("matplotlib")
    fits, units = run_draw((0, rows, 1, iterations))
    names = [learner.name for learner in learners(faces(), 4 * rows // 5, 1, 0)]
    assert [each["learner"] for each in fits] == names
    assert len(units) == len(names) * len(UNITS)
    text = write_report(pl.DataFrame(fits), pl.DataFrame(units), tmp_path)
    assert "CEM performs similarly to MLE" in text
    figures = {"rates.png", "wrong.png"}
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "fits.csv", "units.csv"} | figures


def test_the_requested_share_of_values_is_missing() -> None:
    truth, _ = known_network()
    frame = truth.sample(2_000, 1)
    few, many = (with_missing_values(frame, fraction, 3) for fraction in (0.1, 0.4))
    nulls = [sum(part.null_count().row(0)) / (2_000 * len(truth)) for part in (few, many)]
    assert nulls == pytest.approx([0.1, 0.4], abs=0.02)
    for name in truth.names:
        assert (few[name].is_null() <= many[name].is_null()).all()
        assert (few[name].is_null() | (few[name] == frame[name])).all()


def test_a_small_study_of_missing_values_is_run_and_reported(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    truth, _ = known_network()
    statements = true_statements(truth, STATEMENTS, seed=1)
    records = []
    for fraction in (0.1, 0.5):
        frame = with_missing_values(truth.sample(60, 2), fraction, 3)
        records += [
            {"network": "small", "draw": 0, "fraction": fraction, **record}
            for record in compare(truth, statements, frame, 1, 0)
        ]
    by_share = {(row["fraction"], row["share"]): row["kl"] for row in records}
    assert by_share[0.5, 100] < by_share[0.5, 0]
    assert "More knowledge is better" in write_missing(pl.DataFrame(records), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"missing.md", "missing.csv", "missing.png"}


def test_a_start_with_three_wrong_detectors() -> None:
    start = mostly_right(faces(), 0)
    right = [start.cpt_array(detector(unit))[1, 1] > 0.5 for unit in UNITS]
    assert right.count(False) == 3
    assert mostly_right(faces(), 1) != start


def test_starts_are_compared_and_reported(tmp_path: Path) -> None:
    records = [
        run_start((0, learner, start, 200))[0]
        for learner, start in PAIRS
        if start in ("1 random", STARTS[0]) and learner != "CEM"
    ]
    text = write_starts(pl.DataFrame(records), tmp_path)
    assert "| exact | 1 random |" in text
    assert records[0]["failing"] == len(str(records[0]["units"]).split())

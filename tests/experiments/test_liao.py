"""The pieces of the experiment on action units and of the study of gaps, on tables small enough for a test."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from experiments.liao.draws import learners, run_draw, table_error, unit_rates
from experiments.liao.faces import DETECTORS, UNITS, faces, trusting
from experiments.liao.knowledge import equally_sure, knowingly_unsure, sayings
from experiments.liao.missing import STATEMENTS, compare
from experiments.liao.missing_story import write_missing
from experiments.liao.story import write_story

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
    assert trusting(faces()).cpt_array("O2")[1, 1] == pytest.approx(0.8)


@pytest.mark.parametrize("seed", range(3))
def test_true_statements_hold_and_wrong_ones_do_not(seed: int) -> None:
    truth = faces()
    said = sayings(truth, seed)
    assert violations_of(truth, credo.Knowledge(truth, equally_sure(said, 0.0, seed))) == ()
    assert len(violations_of(truth, credo.Knowledge(truth, equally_sure(said, 1.0, seed)))) == len(said)


def test_an_expert_who_knows_what_they_know_doubts_what_is_wrong() -> None:
    truth = faces()
    said = sayings(truth, 0)
    wrong = violations_of(truth, credo.Knowledge(truth, knowingly_unsure(said, 0.3, 0)))
    assert len(wrong) == round(0.3 * len(said))
    assert all(each.confidence is not None and each.confidence <= 0.3 for each in wrong)


def test_the_truth_recognises_units() -> None:
    rates = unit_rates(faces(), faces().sample(500, 1))
    assert set(rates) == set(UNITS)
    assert sum(positive > alarm + 0.15 for positive, alarm in rates.values()) >= 12
    assert table_error(faces(), faces()) == 0.0


def test_a_small_draw_from_beginning_to_end(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    fits, units = run_draw((0, 500, 1, 8))
    names = [learner.name for learner in learners(faces(), 400, 1, 0)]
    assert [each["learner"] for each in fits] == names
    assert len(units) == len(names) * len(UNITS)
    text = write_story(pl.DataFrame(fits), pl.DataFrame(units), tmp_path)
    assert "CEM performs similarly to MLE" in text
    pictures = {"rates.png", "wrong.png"}
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "fits.csv", "units.csv"} | pictures


def test_gaps_are_those_that_were_asked_for() -> None:
    truth, _ = known_network()
    frame = truth.sample(2_000, 1)
    few, many = (with_missing_values(frame, fraction, 3) for fraction in (0.1, 0.4))
    nulls = [sum(part.null_count().row(0)) / (2_000 * len(truth)) for part in (few, many)]
    assert nulls == pytest.approx([0.1, 0.4], abs=0.02)
    for name in truth.names:
        assert (few[name].is_null() <= many[name].is_null()).all()
        assert (few[name].is_null() | (few[name] == frame[name])).all()


def test_a_small_study_of_gaps_from_beginning_to_end(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    truth, _ = known_network()
    statements = true_statements(truth, STATEMENTS, seed=1)
    rows = []
    for fraction in (0.1, 0.5):
        frame = with_missing_values(truth.sample(60, 2), fraction, 3)
        rows += [
            {"network": "small", "draw": 0, "fraction": fraction, **line}
            for line in compare(truth, statements, frame, 1, 0)
        ]
    by_share = {(row["fraction"], row["share"]): row["kl"] for row in rows}
    assert by_share[0.5, 100] < by_share[0.5, 0]
    assert "More knowledge is better" in write_missing(pl.DataFrame(rows), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"missing.md", "missing.csv", "missing.png"}

"""The experiment on calibration: truths satisfy the statements, and a trial of each kind runs and is reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.calibration.report import coverage, write_report
from experiments.calibration.trials import CASES, draw_truth, run_trial

from credo.estimation.prepare import prepare_model
from credo.knowledge import knowledge_for


def test_truths_satisfy_the_statements() -> None:
    case = CASES["40% missing, statements"]
    model = prepare_model(knowledge_for(case.network, case.knowledge))
    for seed in range(5):
        truth = draw_truth(model, np.random.default_rng(seed))
        assert truth["b"][1, 1] >= truth["b"][0, 1] - 1e-9
        assert truth["d"][1, 0, 1] <= 0.5 + 1e-9


@pytest.mark.parametrize("case", ["noisy-or", *(pytest.param(name, marks=pytest.mark.slow) for name in CASES)])
def test_a_trial_says_how_many_probabilities_were_held(tmp_path: Path, case: str) -> None:
    (record,) = run_trial((case, 1))
    assert 0 <= record["within 50%"] <= record["within 95%"] <= record["probabilities"]  # type: ignore[operator]
    trials = pl.DataFrame([record])
    share, _ = coverage(trials, case, 0.95)
    assert 0.0 <= share <= 1.0
    assert f"| {case} | 1 |" in write_report(trials, tmp_path)

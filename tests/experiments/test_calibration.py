"""The experiment on calibration: truths satisfy the statements, trials of each kind run, and the report sees faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.calibration.cases import CASES, EVERY
from experiments.calibration.report import coverage, share, smallest_p, write_report
from experiments.calibration.trials import draw_truth, redrawn, run_trial, truth_and_rows
from scipy import stats

from credo.estimation.prepare import PreparedModel, prepare_model
from credo.knowledge import knowledge_for
from tests.helpers.amounts import amounts

QUICK = ("noisy-or of two sets", "ties, merged", "three states, nine configurations, statements")


def model_of(case: str) -> PreparedModel:
    return prepare_model(knowledge_for(EVERY[case].network, EVERY[case].knowledge))


def test_truths_satisfy_the_statements() -> None:
    model = model_of("40% missing, statements")
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = draw_truth(model, rng)
        unseen = {name: np.ones(cpt[..., 0].size, dtype=np.bool_) for name, cpt in truth.cpts.items()}
        truths = (truth.cpts, redrawn(model, truth, unseen, rng).cpts)
        assert (truths[0]["b"] != truths[1]["b"]).any()
        for cpts in truths:
            assert cpts["b"][1, 1] >= cpts["b"][0, 1] - 1e-9
            assert cpts["d"][1, 0, 1] <= 0.5 + 1e-9


@pytest.mark.parametrize("case", ["ties", "ties, joint", "ties, merged"])
def test_tied_pairs_do_not_show_what_they_share(case: str) -> None:
    own = EVERY[case]
    _, rows = truth_and_rows(own, model_of(case), np.random.default_rng(2))
    tied = rows.filter(pl.col("pair").is_not_null())
    assert tied.height == 2 * own.pairs
    assert tied[own.shared].is_null().all()
    assert set(tied["pair"].value_counts()["count"]) == {2}


@pytest.mark.parametrize(
    "case", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in EVERY if name not in QUICK)]
)
def test_a_trial_says_how_many_numbers_were_held(tmp_path: Path, case: str) -> None:
    (record,) = run_trial((case, 1))
    assert 0 <= record["within 50%"] <= record["within 95%"] <= record["probabilities"]  # type: ignore[operator]
    assert 0 <= record["answers within 95%"] <= record["answers"]  # type: ignore[operator]
    trials = pl.DataFrame([record])
    if case in CASES and CASES[case].named:
        assert 0.0 <= coverage(trials, case, 0.95)[0] <= 1.0
    assert f"| {case} | 1 |" in write_report(trials, tmp_path)


def test_a_sampler_whose_draws_are_too_narrow_is_noticed() -> None:
    """Places of truths under the exact posterior, and under one with three quarters of its deviation."""
    truths = np.random.default_rng(0).standard_normal((200, 10))
    found = []
    for deviation in (1.0, 0.75):
        places = stats.norm.cdf(truths / deviation)
        texts = [" ".join(f"{place:.3f}" for place in row) for row in places]
        found.append(smallest_p(pl.DataFrame({"case": ["any"] * 200, "places": texts}), "any"))
    assert found[0][0] > 0.01
    assert found[1][0] < 0.001
    assert found[0][1] == 10


def test_numbers_of_one_data_set_count_as_dependent() -> None:
    held, of = pl.Series([10, 0, 10, 10]), pl.Series([10, 10, 10, 10])
    found, error = share(held, of)
    assert found == 0.75
    assert error == pytest.approx(np.sqrt(0.75 * 0.25 / 4))


@pytest.mark.parametrize("sets", amounts(6, 40))
def test_a_variable_that_is_hardly_ever_seen_has_wide_intervals(sets: int) -> None:
    """11 of 40, when expected counts were taken as observed. Where 95% is true, two or fewer of six are 9e-5."""
    records = [run_trial(("a → b → c, b in 20 of 400 rows, c nearly useless", trial))[0] for trial in range(sets)]
    assert sum(int(str(record["answers within 95%"])) for record in records) >= {6: 3, 40: 31}[sets]


@pytest.mark.slow
@pytest.mark.parametrize("case", list(CASES))
def test_intervals_and_places_are_calibrated(case: str) -> None:
    """Forty data sets: 4.5 standard errors, and a p that chance makes as small in one of a hundred thousand runs.

    Noisy families had 0.77 in place of 0.95, when the expected counts of their effects were taken as observed.
    """
    trials = pl.DataFrame([record for trial in range(40) for record in run_trial((case, trial))])
    if CASES[case].named:
        for level in (0.5, 0.8, 0.95):
            found, error = coverage(trials, case, level)
            assert found == pytest.approx(level, abs=4.5 * max(error, 0.01))
        assert smallest_p(trials, case)[0] > 1e-5
    for kind in ("answers", "predictions"):
        found, error = share(trials[f"{kind} within 95%"], trials[kind])
        assert found == pytest.approx(0.95, abs=4.5 * max(error, 0.012))

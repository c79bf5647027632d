"""How well held-out observations are predicted, against learning anew without each of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo.explain.held_out import FOLDS, cross_validate, leave_one_out, random_folds
from tests.helpers.clinic import CLINIC, COIN, STATEMENTS, counted, patients

HARD = "\n".join(text for text in STATEMENTS if "confidence" not in text)


def test_one_observation_at_a_time_is_one_fit_at_a_time() -> None:
    data = patients(14, seed=4)
    fit = credo.fit(CLINIC, data, HARD, method="cmap", prior=1)
    assert fit._problem is not None
    comparison = leave_one_out(fit._problem)
    assert comparison is not None
    gain = 0.0
    for place in range(len(data)):
        others, row = pl.concat([data[:place], data[place + 1 :]]), data[place : place + 1]
        with_it = credo.fit(CLINIC, others, HARD, method="cmap", prior=1).network.log_likelihood(row)
        without = credo.fit(CLINIC, others, method="map", prior=1).network.log_likelihood(row)
        gain += with_it - without
    assert comparison.gain == pytest.approx(gain, abs=1e-3)


def test_a_range_by_hand() -> None:
    """Of 3 yes and 1 no with a half more of each, P(yes) <= 0.6 predicts each yes by 0.6, the no by 0.4."""
    fit = credo.fit(COIN, counted(3, 1), "P(a=yes) <= 0.6", method="cmap", prior=0.5)
    assert fit._problem is not None
    (score,) = leave_one_out(fit._problem).scores  # type: ignore[union-attr]
    assert score.without_knowledge == pytest.approx(3 * np.log(2.5 / 4) + np.log(0.5 / 4))
    assert score.with_knowledge == pytest.approx(3 * np.log(0.6) + np.log(0.4))


def test_folds_share_out_all_observations() -> None:
    counts = np.array([0.0, 3.0, 1000.0, 2.5])
    folds = random_folds(counts, np.random.default_rng(0))
    assert len(folds) == FOLDS
    assert sum(folds) == pytest.approx(counts)
    assert all((fold >= 0).all() for fold in folds)
    assert np.std([fold[2] for fold in folds]) < 40


def test_tenths_and_ones_agree_on_whether_it_helped() -> None:
    for text, sign in (("P(a=yes) <= 0.2", -1), ("0.59 <= P(a=yes) <= 0.595", 1)):
        fit = credo.fit(COIN, counted(60, 40), text, method="cmap")
        assert fit._problem is not None
        one_by_one, in_tenths = leave_one_out(fit._problem), cross_validate(fit._problem)
        assert one_by_one is not None
        assert np.sign(one_by_one.gain) == np.sign(in_tenths.gain) == sign
        assert in_tenths.gain == pytest.approx(one_by_one.gain, abs=max(0.5, 0.05 * abs(one_by_one.gain)))


def test_the_harmful_statement_is_named() -> None:
    wrong = "P(lung=yes | age=old, smoke=yes) <= 0.05"
    text = f"smoke raises lung\nP(lung=yes | age=young, smoke=no) <= 0.2\n{wrong}"
    explanation = credo.fit(CLINIC, patients(300, seed=5), text, method="cmap").explain()
    assert explanation.leave_one_out is not None
    assert explanation.leave_one_out.gain < 0
    (sentence,) = [each for each in explanation.summary if "The knowledge did harm" in each]
    assert f"most of all because of “{wrong}” (line 3)" in sentence


def test_helpful_knowledge_is_reported() -> None:
    explanation = credo.fit(COIN, counted(60, 40), "0.59 <= P(a=yes) <= 0.595", method="cmap").explain()
    assert any(
        "The knowledge helped: observations that were held out are predicted better" in each
        for each in explanation.summary
    )

"""Intervals of probabilities end at 0 or 1 where the draws cannot tell them from that."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import credo
from credo.posterior.draws import interval_ends, probability_intervals

RNG = np.random.default_rng(0)


def test_inside_they_leave_the_same_on_both_sides() -> None:
    draws = RNG.beta(5.0, 7.0, size=(4000, 3))
    assert probability_intervals(draws, 0.95) == pytest.approx(interval_ends(draws, 0.95))
    rates = 1e-6 * np.exp(0.7 * RNG.normal(size=4000))  # small, and known within a factor
    assert probability_intervals(rates, 0.95) == pytest.approx(interval_ends(rates, 0.95))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_at_the_edge_only_the_far_end_leaves_draws_out(level: float) -> None:
    draws = RNG.beta(0.02, 5.0, size=20_000)
    low, high = probability_intervals(draws, level)
    assert low == 0.0
    assert np.mean(draws <= high) == pytest.approx((1.0 + level) / 2.0, abs=1e-3)
    assert probability_intervals(1.0 - draws, level) == pytest.approx([1.0 - high, 1.0])


def test_both_edges_are_everything() -> None:
    draws = (RNG.random(4000) < 0.5).astype(float)
    assert probability_intervals(draws, 0.95).tolist() == [0.0, 1.0]


def test_draws_without_a_probability_are_left_out() -> None:
    draws = RNG.beta(5.0, 7.0, size=4000)
    with_gaps = np.concatenate((draws, np.full(100, np.nan)))
    assert probability_intervals(with_gaps, 0.9) == pytest.approx(probability_intervals(draws, 0.9))


def test_what_was_never_seen_may_be_impossible() -> None:
    network = credo.Network({"x": ["often", "seldom", "never"]})
    table = pd.DataFrame({"x": ["often"] * 190 + ["seldom"] * 10})
    low, high = credo.fit(network, table, method="posterior").interval_arrays("x")
    assert low[2] == 0.0 or low[2] > 1e-3 * high[2]
    assert 0.0 < low[1] < 0.05 < high[1]

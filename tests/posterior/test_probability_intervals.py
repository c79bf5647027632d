"""Intervals of probabilities end at 0 or 1 where the draws cannot tell them from that."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
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


@pytest.mark.parametrize(("level", "share"), [(0.5, 0.5), (0.8, 0.8), (0.95, 0.975)])
@pytest.mark.parametrize("slope", [0.2, 1.0])
def test_it_ends_at_the_limit_of_a_statement_where_draws_reach_it(level: float, share: float, slope: float) -> None:
    limits = np.array([0.4, 0.9])
    draws = 0.4 + 0.5 * RNG.beta(1.0, 1.0 + 5.0 * slope, size=20_000)  # most of them next to 0.4
    low, high = probability_intervals(draws, level, limits)
    assert low == 0.4
    assert np.mean(draws <= high) == pytest.approx(share, abs=2e-3)
    turned = probability_intervals(1.3 - draws, level, limits)
    assert turned == pytest.approx([1.3 - high, 0.9])


def test_it_ends_where_draws_do_if_these_do_not_reach_the_limit() -> None:
    draws = 0.4 + 0.5 * RNG.beta(6.0, 6.0, size=20_000)
    for level in (0.5, 0.8, 0.95):
        ends = probability_intervals(draws, level, np.array([0.4, 0.9]))
        assert ends == pytest.approx(interval_ends(draws, level))


def test_draws_all_over_a_range_fill_it_and_half_of_them_leave_one_end_out() -> None:
    draws, limits = RNG.uniform(0.4, 0.5, size=20_000), np.array([0.4, 0.5])
    assert probability_intervals(draws, 0.95, limits).tolist() == [0.4, 0.5]
    low, high = probability_intervals(draws, 0.5, limits)
    assert (low == 0.4) != (high == 0.5)
    assert np.mean((draws >= low) & (draws <= high)) == pytest.approx(0.5, abs=2e-3)


def test_a_truth_at_the_end_of_a_range_is_in_the_interval_of_its_cpt_and_of_answers() -> None:
    network = credo.Network({"x": ["y", "n"], "y": ["y", "n"]}, {"y": ["x"]})
    table = pd.DataFrame({"x": list("yyyn") * 5, "y": list("yyny") * 5})
    text = "0.3 <= P(y=y | x=y) <= 0.4\nP(x=y) <= 0.5"
    fit = credo.fit(network, table, text, method="posterior", seed=0)
    low, high = fit.interval_arrays("y")
    assert high[0, 0] == pytest.approx(0.4)
    assert low[0, 1] == pytest.approx(0.6)
    assert fit.query("P(y=y | x=y)").interval == pytest.approx((low[0, 0], high[0, 0]))
    assert fit.query("P(x=n)").interval[0] == pytest.approx(0.5)
    shown = fit.marginals().filter(pl.col("variable") == "x")
    assert shown["high"][0] == pytest.approx(0.5)

"""Rules for cut points: quantiles, equal widths, a decision tree, and round numbers."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import CutPoints, MissingExtraError
from credo.io.cut_rules import (
    SLACK,
    equal_width_points,
    quantile_points,
    roundest,
    supervised_points,
)

NUMBERS = st.lists(st.floats(-1e6, 1e6) | st.integers(-5, 5).map(float), min_size=2, max_size=40)


def test_quantiles_of_a_hundred_numbers() -> None:
    assert quantile_points(np.arange(100.0), 4) == [25, 50, 75]
    assert quantile_points(np.arange(100.0), 1) == []


def test_quantiles_where_many_rows_hold_one_number() -> None:
    numbers = np.array([0.0] * 60 + [1.0] * 20 + [2.0] * 20)
    assert quantile_points(numbers, 4) == [1, 2]  # 60%, 20% and 20% of the rows: as even as it gets
    assert quantile_points(np.zeros(5), 3) == []


def test_weights_count_rows() -> None:
    numbers, weights = np.array([1.0, 2.0, 3.0, 10.0]), np.array([1.0, 1.0, 1.0, 3.0])
    repeated = np.repeat(numbers, weights.astype(int))
    assert quantile_points(numbers, 2, weights) == quantile_points(repeated, 2) == [10]
    assert quantile_points(numbers, 2) == [3]  # the roundest between 2 and 3, of which 3 belongs to the second state


def test_missing_numbers_do_not_count() -> None:
    assert quantile_points(np.array([1.0, np.nan, 2.0, np.nan]), 2) == [2]


@settings(max_examples=50)
@given(NUMBERS, st.integers(2, 6), st.sampled_from([0.0, SLACK]))
def test_quantiles_increase_and_leave_no_state_empty(values: list[float], bins: int, slack: float) -> None:
    numbers = np.array(values)
    points = quantile_points(numbers, bins, slack=slack)
    assert len(points) < bins
    if len(set(values)) > 1:
        assert points
    if points:
        rows = np.bincount(CutPoints(tuple(points)).codes(numbers), minlength=len(points) + 1)
        assert rows.min() > 0


@settings(max_examples=50)
@given(NUMBERS, st.integers(2, 6))
def test_equal_widths_leave_no_state_empty(values: list[float], bins: int) -> None:
    numbers = np.array(values)
    points = equal_width_points(numbers, bins)
    width = (numbers.max() - numbers.min()) / bins
    if points:
        rows = np.bincount(CutPoints(tuple(points)).codes(numbers), minlength=len(points) + 1)
        assert rows.min() > 0
        steps = (np.array(points) - numbers.min()) / width
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)


def test_equal_widths_of_numbers_with_a_gap() -> None:
    assert equal_width_points(np.array([0.0, 1.0, 2.0, 10.0]), 5) == [2, 4]
    assert equal_width_points(np.arange(9.0), 4) == [2, 4, 6]


def test_rounded_quantiles_stay_near_their_shares() -> None:
    numbers = np.random.default_rng(0).normal(130, 15, 2000)
    exact, rounded = quantile_points(numbers, 3), quantile_points(numbers, 3, slack=SLACK)
    assert rounded == [125, 135]
    shares = np.bincount(CutPoints(tuple(rounded)).codes(numbers)) / len(numbers)
    assert np.abs(np.cumsum(shares)[:-1] - [1 / 3, 2 / 3]).max() <= SLACK / 3
    assert exact != rounded


@pytest.mark.parametrize(
    ("above", "up_to", "near", "found"),
    [
        (38.4, 45.6, 42, 40),
        (62.0, 69.6, 66, 65),
        (41.2, 41.4, 41.37, 41.4),
        (0.12, 0.19, 0.16, 0.15),
        (-3, 5, 1, 0),
        (-45.6, -38.4, -42, -40),
        (0.00123, 0.00139, 0.0013, 0.0013),
        (48, 68, 58, 60),
        (480, 680, 583, 600),
        (1010, 1016, 1013, 1015),
        (3, 12, 7, 10),
        (0.5, 8, 5.2, 5),
        (1e300, 3e300, 2e300, 2e300),
        (1.0, np.nextafter(1.0, 2.0), 1.0, np.nextafter(1.0, 2.0)),
        (-5e-324, 5e-324, 0, 0),
    ],
)
def test_the_roundest_number(above: float, up_to: float, near: float, found: float) -> None:
    assert roundest(above, up_to, near) == found


@settings(max_examples=50)
@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.floats(0, 1))
def test_the_roundest_number_is_inside(one: float, other: float, share: float) -> None:
    above, up_to = min(one, other), max(one, other)
    if above < up_to:
        near = above + share * (up_to - above)
        assert above < roundest(above, up_to, near) <= up_to


def test_a_tree_finds_where_the_target_changes() -> None:
    numbers = np.arange(100.0)
    target = np.where(numbers < 30, 0, np.where(numbers < 80, 1, 0))
    assert supervised_points(numbers, target, 4) == [30, 80]
    assert supervised_points(numbers, target, 2) == [30] or supervised_points(numbers, target, 2) == [80]
    assert supervised_points(numbers, np.zeros(100, dtype=int), 4) == []
    assert supervised_points(np.ones(100), target, 4) == []
    assert supervised_points(numbers, np.arange(100) % 2, 4) == []  # no split is worth its two numbers


def test_a_tree_sees_numbers_that_32_bits_cannot_tell_apart() -> None:
    numbers = 1 + np.arange(100) * 1e-12
    points = supervised_points(numbers, (np.arange(100) >= 40).astype(int), 2)
    assert CutPoints(tuple(points)).codes(numbers).tolist() == [0] * 40 + [1] * 60


def test_a_tree_leaves_missing_values_out() -> None:
    numbers = np.array([1.0, 2.0, np.nan, 3.0, 4.0, 9.0])
    numbers, target = np.tile(numbers, 5), np.tile([0, 0, 1, 1, 1, -1], 5)
    assert supervised_points(numbers, target, 2) == [3]


def test_a_tree_needs_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(MissingExtraError, match=r"by a decision tree needs the package scikit-learn.*credo\[sklearn\]"):
        supervised_points(np.arange(4.0), np.array([0, 0, 1, 1]), 2)

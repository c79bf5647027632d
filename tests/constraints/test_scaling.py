"""Constraints in any unit: the same statement with numbers of 1e-300 or 1e300 means the same."""

from __future__ import annotations

import numpy as np
import pytest

import credo
from credo import Network
from credo.constraints.constraint_set import LinearConstraint, LinearConstraints, with_fixed
from credo.constraints.lower import lower
from credo.knowledge import knowledge_for

NET = Network({"a": ("n", "y"), "b": ("n", "y")}, parents={"b": ["a"]})
UNITS = pytest.mark.parametrize("unit", [1e-300, 1e-15, 1e-9, 1e9, 1e15, 1e300])
LOUD = {"divide": "raise", "over": "raise", "invalid": "raise"}


def test_by_hand() -> None:
    rows = LinearConstraints.of(
        [
            LinearConstraint((0, 1), (4.0, -2.0), 1.0, 0),
            LinearConstraint((), (), -0.1, 1),
            LinearConstraint((1,), (-1e-9,), -5e-10, 2),
        ]
    )
    scaled = rows.scaled()
    assert scaled[0] == LinearConstraint((0, 1), (1.0, -0.5), 0.25, 0, scale=4.0)
    assert scaled[1] == LinearConstraint((), (), -0.1, 1)
    assert scaled.bounds[2] == pytest.approx(-0.5)
    assert scaled.scales[2] == 1e-9
    assert scaled.scaled() is scaled
    theta = np.array([0.7, 0.3])
    np.testing.assert_allclose(scaled.excess(theta) * scaled.scales, rows.excess(theta))


def test_a_bound_that_no_number_can_hold_stays_false() -> None:
    """1e-300·P ≥ 1e300."""
    scaled = LinearConstraints.of([LinearConstraint((0,), (-1e-300,), -1e300, 0)]).scaled()
    assert np.isfinite(scaled.bounds).all()
    assert (scaled.excess(np.array([1.0])) > 1e6).all()


@UNITS
def test_a_conflict_is_found_in_any_unit(unit: float) -> None:
    text = f"{unit!r}*P(b=y | a=y) >= {0.5 * unit!r}\n{unit!r}*P(b=y | a=y) <= {0.3 * unit!r}"
    with np.errstate(**LOUD):
        found = credo.check(NET, text)
    assert not found.feasible
    assert len(found.conflicts) == 1


@UNITS
def test_consistent_statements_are_consistent_in_any_unit(unit: float) -> None:
    text = f"{unit!r}*P(b=y | a=y) >= {0.3 * unit!r}\n{unit!r}*P(b=y | a=y) <= {unit!r}*P(b=y | a=n)"
    with np.errstate(**LOUD):
        found = credo.check(NET, text)
    assert found.feasible


@UNITS
def test_numbers_that_differ_by_many_orders(unit: float) -> None:
    """unit·P ≤ P' leaves P nothing, or everything."""
    with np.errstate(**LOUD):
        assert credo.check(NET, f"{unit!r}*P(b=y | a=y) <= P(b=y | a=n)").feasible


@UNITS
def test_terms_that_cancel_are_compared_with_each_other(unit: float) -> None:
    """Neither is a small statement taken for nothing, nor are its remains taken for a statement."""
    small = lower(knowledge_for(NET, f"{unit!r}*P(b=y | a=y) <= {0.3 * unit!r}"))
    assert len(small.linear) == 1
    parts = f"{0.1 * unit!r}*P(b=y | a=y) + {0.2 * unit!r}*P(b=y | a=y)"
    same = lower(knowledge_for(NET, f"{parts} <= {0.3 * unit!r}*P(b=y | a=y)"))
    assert len(same.linear) == 0


@UNITS
def test_products_in_any_unit(unit: float) -> None:
    """unit·P·P' ≤ unit·P'·P'' loses P' and is linear; a factor too large for a number is divided by."""
    left = f"{unit!r}*P(b=y | a=n)*P(a=y)"
    same = lower(knowledge_for(NET, f"{left} <= {unit!r}*P(b=y | a=y)*P(a=y)"))
    assert [row.coefficients for row in same.linear] == [(1.0, -1.0)]
    other = lower(knowledge_for(NET, f"{left} <= {1 / unit!r}*P(b=y | a=y)*P(a=y)"))
    assert np.abs(other.linear.coefficients).max() == 1.0


def test_what_is_left_beside_fixed_cpts_is_scaled_again() -> None:
    """1e-6·P(b=y|a=y) ≤ P(a=y) − 0.4999999 with P(a=y) = 1/2: P(b=y|a=y) ≤ 0.1."""
    constraints = lower(knowledge_for(NET, "1e-6*P(b=y | a=y) + 0.4999999 <= P(a=y)"))
    left = with_fixed(constraints, {"a": np.array([0.5, 0.5])})
    (row,) = left.linear
    assert row.coefficients == (1.0,)
    assert row.bound == pytest.approx(0.1, abs=1e-6)
    assert row.scale == pytest.approx(1e-6)


def test_products_beside_fixed_cpts_are_linear_where_one_factor_is_left() -> None:
    """P(b=y|a=y)·P(a=y) ≤ 0.2 with P(a=y) = 1/2: P(b=y|a=y) ≤ 0.4; with P(a=y) = 0 it holds, and says nothing."""
    constraints = lower(knowledge_for(NET, "P(b=y | a=y)*P(a=y) <= 0.2"))
    assert len(constraints.products) == 1
    (row,) = with_fixed(constraints, {"a": np.array([0.5, 0.5])}).linear
    assert row.bound == pytest.approx(0.4)
    with np.errstate(all="raise"):
        nothing = with_fixed(constraints, {"a": np.array([1.0, 0.0])})
    assert not nothing.products
    assert not len(nothing.linear)


def test_a_fixed_zero_on_the_right_makes_the_left_vanish() -> None:
    """P(b=y|a=n)·P(b=y|a=y) ≤ P(a=y) = 0."""
    constraints = lower(knowledge_for(NET, "P(b=y | a=n)*P(b=y | a=y) <= 1.0*P(a=y)*P(b=n | a=n)"))
    (product,) = with_fixed(constraints, {"a": np.array([1.0, 0.0])}).products
    assert product.log_bound == -np.inf
    assert product.exponents == (1.0, 1.0)

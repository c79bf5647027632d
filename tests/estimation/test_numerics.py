"""Numbers of any size: units of statements, weights of rows, priors; and nothing to learn at all."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo import Network
from credo.estimation.methods import METHODS
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import lower_bound, relative_gap
from tests.helpers.blocks import at_most, block_of

NET = Network({"a": ("n", "y"), "b": ("n", "y")}, parents={"b": ["a"]})
DATA = pl.DataFrame({"a": ["n"] * 10 + ["y"] * 10, "b": ["n", "y"] * 10})
EVERY = pytest.mark.parametrize("method", METHODS)
INFORMED = pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.uses_knowledge])
LOUD = {"divide": "raise", "over": "raise", "invalid": "raise"}
pytestmark = pytest.mark.filterwarnings("error")


@INFORMED
@pytest.mark.parametrize("confidence", ["", " with confidence 0.9"])
def test_the_unit_of_a_statement_changes_nothing(method: str, confidence: str) -> None:
    def learned(unit: float) -> credo.Fit:
        text = f"{unit!r}*P(b=y | a=y) <= {0.25 * unit!r}*P(b=y | a=n) + {0.05 * unit!r}{confidence}"
        with np.errstate(**LOUD):
            return credo.fit(NET, DATA, text, method=method)

    plain = learned(1.0)
    for unit in (2.0**-50, 2.0**30):  # powers of two: not a bit differs
        other = learned(unit)
        np.testing.assert_array_equal(other.network.cpt_array("b"), plain.network.cpt_array("b"))
        assert other.status is plain.status
        assert other.violations().height == plain.violations().height
        if plain.binding().height:
            gain = plain.binding()["gain_per_point"][0]
            assert other.binding()["gain_per_point"][0] * unit == pytest.approx(gain)


@pytest.mark.parametrize("tiny", ["1e-8", "1e-9", "1e-10"])
def test_what_is_below_the_precision_of_a_program_moves_nothing_else(tiny: str) -> None:
    """Nearly an equality: P(b=y | a=y) is 1, and P(b=y | a=n), of which a trace is left in it, is free."""
    with np.errstate(**LOUD):
        found = credo.fit(NET, DATA, f"{tiny}*P(b=y | a=n) + P(b=y | a=y) >= 1", method="posterior")
        other = credo.fit(NET, DATA, f"P(b=n | a=y) <= {tiny}*P(b=n | a=n)", method="posterior")
    for each in (found, other):
        assert each.network.cpt_array("b")[1, 1] == pytest.approx(1.0, abs=1e-7)
        assert 0.3 < each.network.cpt_array("b")[0, 1] < 0.7
    wide = credo.fit(NET, DATA, "P(b=y | a=y) >= P(b=y | a=n)\nP(b=y | a=y) - P(b=y | a=n) <= 1e-7", method="posterior")
    assert 0.3 < wide.network.cpt_array("b")[0, 1] < 0.7


def test_multipliers_are_those_of_the_bound_as_it_is_written() -> None:
    """max 5 log p + 5 log(1 − p) s.t. 3p ≤ 0.9: (5/0.3 − 5/0.7)/3 a unit of 0.9."""
    fit = credo.fit(NET, DATA, "3*P(b=y | a=y) <= 0.9", method="cml")
    assert fit.multipliers[0] == pytest.approx((5 / 0.3 - 5 / 0.7) / 3)


@EVERY
def test_everything_is_fixed(method: str) -> None:
    fixed = NET.with_cpts({"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]})
    with np.errstate(**LOUD):
        fit = credo.fit(fixed, DATA, "P(b=y | a=y) >= 0.3", method=method, fixed=["a", "b"])
        assert str(fit)
        assert fit.explain(progress=False).summary
    np.testing.assert_array_equal(fit.network.cpt_array("b"), fixed.cpt_array("b"))


@pytest.mark.parametrize("method", ["ml", "map", "cml", "cmap"])
@pytest.mark.parametrize("trainer", ["em", "gradient"])
def test_everything_is_fixed_and_values_are_missing(method: str, trainer: str) -> None:
    fixed = NET.with_cpts({"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]})
    holed = DATA.with_columns(a=pl.when(pl.int_range(20) == 3).then(None).otherwise(pl.col("a")))
    with np.errstate(**LOUD):
        fit = credo.fit(
            fixed, holed, "P(b=y | a=y) >= 0.3", method=method, fixed=["a", "b"], em=credo.EMOptions(trainer=trainer)
        )
    np.testing.assert_array_equal(fit.network.cpt_array("b"), fixed.cpt_array("b"))


@EVERY
@pytest.mark.parametrize("weight", [1e-12, 1e9, 1e15])
def test_weights_of_any_size(method: str, weight: float) -> None:
    prior = 1e-9 if METHODS[method].takes_prior and method != "posterior" else None
    with np.errstate(**LOUD):
        fit = credo.fit(NET, DATA, "P(b=y | a=y) <= 0.3", method=method, weights=np.full(20, weight), prior=prior)
    table = fit.network.cpt_array("b")
    assert np.isfinite(table).all()
    np.testing.assert_allclose(table.sum(axis=-1), 1.0, atol=1e-12)
    if METHODS[method].uses_knowledge and method not in ("qmap", "cem"):
        assert table[1, 1] <= 0.3 + 1e-6
    if weight >= 1e9 and method in ("cml", "cmap"):
        assert table[1, 1] == pytest.approx(0.3, abs=1e-6)
        assert fit.status is credo.Status.OPTIMAL


@pytest.mark.parametrize("weight", [1e-12, 1e-3, 1.0])
@pytest.mark.parametrize("price", [1.0, 1e9, 1e15])
def test_the_dual_bound_of_small_weights_beside_large_multipliers(weight: float, price: float) -> None:
    """min −w log θ₀ − w log θ₁ + price·θ₀ on a simplex: θ₀ = w/(u + price), θ₁ = w/u, u ≈ w for a large price."""
    block = block_of((2,), [at_most({0: 1.0}, 0.0)])
    task = Task(block, np.array([weight, weight]))
    with np.errstate(**LOUD):
        found = lower_bound(task, np.array([price]))
    # Σ w/(u + d) = 1 is u² + (price − 2w)·u − w·price = 0.
    half = 0.5 * (price - 2.0 * weight)
    level = weight * price / (half + np.sqrt(half**2 + weight * price))
    theta = weight / (level + price), weight / level
    assert found == pytest.approx(price * theta[0] - weight * np.log(theta[0] * theta[1]), rel=1e-9)


def test_a_gap_that_is_no_number_proves_nothing() -> None:
    assert relative_gap(3.0, float("nan"), 1.0) == float("inf")
    assert relative_gap(float("inf"), 1.0, 1.0) == float("inf")
    assert relative_gap(3.0, 1.5, 4.0) == pytest.approx(0.5)
    assert relative_gap(1e-3, 0.0, 1e12) == pytest.approx(1e-9)


def test_a_range_that_begins_at_minus_zero() -> None:
    """0.1 − 0.1 ≤ P, written as −P ≤ 0, has the end −0.0, where no weight is divided by it."""
    data = pl.DataFrame({"a": ["n"] * 6, "b": ["n"] + ["y"] * 5})
    with np.errstate(**LOUD):
        fit = credo.fit(NET, data, "P(b=y | a=n) ≈ 0.1 within 0.1", method="cml")
    assert fit.status is credo.Status.OPTIMAL
    assert fit.network.cpt_array("b")[0] == pytest.approx([0.8, 0.2])

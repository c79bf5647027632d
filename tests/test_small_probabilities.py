"""Probabilities of 1e-9 keep their digits: at the optimum, in draws, in the check and in what is reported."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

import credo
from credo.posterior.draws import cpt_draws

FEW = credo.PosteriorOptions(draws=300, max_draws=300, chains=3)
AND = "variables top, a, b: no, yes\ntop is and of a, b\n"
OR = "variables top, a, b, c: no, yes\ntop is or of a, b, c\n"
CHAIN = "variables a, top: no, yes\ntop depends on a\n"


def learned(text: str, **options: object) -> credo.Fit:
    return credo.fit(text, seed=1, posterior=FEW, **options)  # type: ignore[arg-type]


def number(fit: credo.Fit, name: str) -> np.ndarray:
    """P(name=yes) in each draw, of a variable without parents."""
    assert fit.posterior is not None
    return cpt_draws(fit.posterior, name)[:, 1]


@pytest.mark.parametrize("value", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("text", [AND, OR, CHAIN])
def test_an_optimum_has_the_value_to_eight_digits(text: str, value: float) -> None:
    fit = learned(f"{text}P(top=yes) is {value:g}", method="cmap")
    assert fit.status.name == "LOCAL"
    assert float(fit.query("P(top=yes)")) == pytest.approx(value, rel=2e-8)
    assert not len(fit.violations())


def test_equal_components_share_the_rate_at_the_optimum() -> None:
    fit = learned(f"{AND}P(top=yes) is 1e-9", method="cmap")
    assert float(fit.query("P(a=yes)")) == pytest.approx(np.sqrt(1e-9), rel=1e-6)


def test_draws_are_within_a_hundredth_of_a_small_probability() -> None:
    fit = learned(f"{OR}P(top=yes) is 1e-9")
    a, b, c = (number(fit, name) for name in "abc")
    top = a + b + c  # to the ninth digit
    assert abs(top / 1e-9 - 1.0).max() < 0.0101
    assert a.std() > 1e-10  # which component it is stays open
    low, high = fit.query("P(top=yes)").interval
    assert 0.98e-9 < low < high < 1.02e-9
    cpts = [fit.network.cpt_array(name) for name in "abc"]
    assert sum(each[..., 1].item() for each in cpts) == pytest.approx(1e-9, rel=1e-7)


def test_a_ratio_of_small_rates_holds_in_every_draw() -> None:
    text = "variables a, b: no, yes\nP(b=yes) is between 1e-7 and 1e-6\nP(a=yes) = 2*P(b=yes)"
    fit = learned(text)
    a, b = number(fit, "a"), number(fit, "b")
    assert abs(a / (2 * b) - 1.0).max() < 0.011
    assert np.quantile(b, 0.05) < 3e-7 < 8e-7 < np.quantile(b, 0.95)


def test_a_ratio_of_small_derived_probabilities_holds_in_every_draw() -> None:
    more = "variables u, d, e: no, yes\nu is or of d, e\nP(u=yes) is between 1e-7 and 1e-6\nP(top=yes) = 2*P(u=yes)"
    fit = learned(f"{OR}{more}")
    top, u = (sum(number(fit, name) for name in names) for names in ("abc", "de"))
    assert abs(top / (2 * u) - 1.0).max() < 0.011
    assert np.quantile(u, 0.05) < 4e-7 < 7e-7 < np.quantile(u, 0.95)


def test_a_small_upper_bound_is_no_contradiction() -> None:
    fit = learned(f"{AND}P(top=yes) <= 1e-9")
    assert (number(fit, "a") * number(fit, "b")).max() <= 1e-9 * (1 + 1e-9)


def test_what_is_nearly_certain_counts_by_what_it_lacks() -> None:
    fit = learned(f"{OR}P(top=no) is 99.9999999%")
    assert abs(sum(number(fit, name) for name in "abc") / 1e-9 - 1.0).max() < 0.0101
    assert not credo.check(f"{AND}P(top=no) >= 0.999999999").conflicts


def test_rows_contradict_a_rate_that_is_much_too_small() -> None:
    data = pl.DataFrame({"a": ["no"] * 997 + ["yes"] * 3})
    (stated,) = credo.check("variables a: no, yes\nP(a=yes) is 1e-9", data=data).statements
    found = stated.plausibility
    assert found is not None
    assert found.after_data is not None
    assert found.equality_tolerance == pytest.approx(1e-9)
    assert found.before_data.value == pytest.approx(2e-9)
    assert found.after_data.value == pytest.approx(beta(4, 998).cdf(2e-9), rel=1e-6)
    assert found.verdict is not None
    assert found.verdict.value == "contradict it"
    (stated,) = credo.check("variables a: no, yes\nP(a=yes) is 0.003", data=data).statements
    assert stated.plausibility is not None
    assert stated.plausibility.verdict is not None
    assert stated.plausibility.verdict.value == "support it"


def test_rows_contradict_a_derived_rate_that_is_much_too_small() -> None:
    data = pl.DataFrame({"a": ["no", "yes"] * 500, "top": ["no"] * 997 + ["yes"] * 3})
    (stated,) = credo.check(f"{CHAIN}P(top=yes) is 1e-9", data=data).statements
    assert stated.plausibility is not None
    assert stated.plausibility.verdict is not None
    assert stated.plausibility.verdict.value == "contradict it"

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


@pytest.mark.parametrize(
    "line",
    [
        "variables a: no, yes\nP(a=yes) is 1e-9 with confidence 0.8",
        "variables a: no, yes\nexpert e with reliability 0.8:\n    P(a=yes) is 1e-9",
        "variables a: no, yes\nP(a=no) is 99.9999999% with confidence 0.8",
        "variables a: no, yes\nP(a=yes) <= 1e-8 with confidence 0.8",
        "variables a: no, yes\nP(a=yes) is 1e-12 with confidence 0.8",
    ],
)
def test_a_doubted_rate_stays_as_believed_without_rows_and_keeps_its_digits(line: str) -> None:
    fit = credo.fit(line, seed=1)
    assert fit.status.name == "AVERAGED"
    (found,) = fit.statements().to_dicts()
    assert found["probability"] == pytest.approx(0.8, abs=0.08)
    a = number(fit, "a")
    if "<=" in line:
        assert (a <= 1e-8).mean() == pytest.approx(found["probability"], abs=1e-9)
    else:
        value = 1e-12 if "1e-12" in line else 1e-9
        inside = abs(a / value - 1.0) < 0.0101
        assert inside.mean() == pytest.approx(found["probability"], abs=0.002)
        assert a[inside].std() / value > 0.003  # all of its width


def test_a_doubted_rate_is_as_probable_as_bayes_theorem_makes_it() -> None:
    """Odds of its confidence, times the density of log P(a) at 1e-9 without it, times its width and w."""
    rows = pl.DataFrame({"a": ["no"] * 50})
    many = credo.PosteriorOptions(draws=4000, max_draws=4000)
    plain = credo.fit("variables a: no, yes", rows, seed=1, posterior=many)
    share = (abs(np.log(number(plain, "a") / 1e-9)) < 2.0).mean() * 0.01 / 2.0
    fit = credo.fit("variables a: no, yes\nP(a=yes) is 1e-9 with confidence 0.3", rows, seed=1)
    assert fit.posterior is not None
    assert fit.posterior.doubt is not None
    before = np.mean([beta(k, k).cdf(1.01e-9) - beta(k, k).cdf(0.99e-9) for k in (0.1, 0.5, 1.0)])
    correction = fit.posterior.doubt.log_prior_correction[0]
    assert correction == pytest.approx(np.log((1.0 - before) / before), abs=1e-6)
    odds = 0.3 / 0.7 * np.exp(correction) * share
    assert fit.statements()["probability"][0] == pytest.approx(odds / (1.0 + odds), abs=0.06)


def test_rows_make_a_doubted_rate_false() -> None:
    rows = pl.DataFrame({"a": ["no"] * 997 + ["yes"] * 3})
    fit = credo.fit("variables a: no, yes\nP(a=yes) is 1e-9 with confidence 0.99", rows, seed=1)
    assert fit.statements()["probability"][0] < 1e-3
    assert float(fit.query("P(a=yes)")) == pytest.approx(0.003, abs=0.001)


def test_a_doubted_ratio_of_rates_holds_in_the_draws_where_it_is_true() -> None:
    text = "variables a, b: no, yes\nP(b=yes) is between 1e-7 and 1e-6\nP(a=yes) = 2*P(b=yes) with confidence 0.9"
    fit = credo.fit(text, seed=1)
    (found,) = fit.statements().to_dicts()
    inside = abs(number(fit, "a") / (2 * number(fit, "b")) - 1.0) < 0.0102
    assert inside.mean() == pytest.approx(found["probability"], abs=0.01)


def test_a_doubted_derived_rate_holds_in_the_draws_where_it_is_true() -> None:
    fit = credo.fit(f"{AND}P(top=yes) is 1e-9 with confidence 0.9", seed=1)
    (found,) = fit.statements().to_dicts()
    inside = abs(number(fit, "a") * number(fit, "b") / 1e-9 - 1.0) < 0.0101
    assert inside.mean() == pytest.approx(found["probability"], abs=0.002)
    assert 0.5 < found["probability"] < 0.99


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

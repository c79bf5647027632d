"""Plausibility against exact Beta probabilities, symmetric cases and plain enumeration of draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from credo import Knowledge, Network
from credo.constraints.lower import lower
from credo.explain.beta_probabilities import difference_probability
from credo.explain.plausibility import (
    Plausibility,
    Verdict,
    bayes_factor_error,
    plausibilities,
)
from credo.tolerances import EQUALITY_WIDTH

NET = Network(
    {"b": ["no", "yes"], "c": ["no", "yes"], "a": ["no", "yes"], "t": ["x", "y", "z"]},
    parents={"a": ["b", "c"], "t": ["b"]},
)
COUNTS = {
    "b": [[12, 8]],
    "c": [[0, 0]],
    "a": [[20, 2], [15, 5], [9, 11], [2, 18]],
    "t": [[10, 5, 1], [3, 3, 9]],
}


def counts_of(name: str, row: int) -> np.ndarray:
    return np.array(COUNTS[name][row], dtype=float)


def found(text: str, draws: int = 40_000, seed: int = 1) -> list[Plausibility]:
    constraints = lower(Knowledge(NET, text))
    return list(plausibilities(constraints, counts_of, draws=draws, seed=seed).values())


def test_ranges_are_exact_betas() -> None:
    one, two, three = found("P(b=yes) >= 0.5\n0.1 <= P(t=z | b=no) <= 0.3\nP(t in {x, y} | b=yes) <= 0.4")
    posterior = beta(9, 13)
    assert one.after_data is not None
    assert one.after_data.is_exact
    assert one.after_data.value == pytest.approx(posterior.sf(0.5))
    assert one.before_data.value == pytest.approx(0.5)
    assert one.bayes_factor == pytest.approx(posterior.sf(0.5) / 0.5)
    assert two.before_data.value == pytest.approx(beta(1, 2).cdf(0.3) - beta(1, 2).cdf(0.1))
    assert two.after_data is not None
    assert two.after_data.value == pytest.approx(beta(2, 17).cdf(0.3) - beta(2, 17).cdf(0.1))
    assert three.after_data is not None
    assert three.after_data.value == pytest.approx(beta(8, 10).cdf(0.4))


def test_relations_between_two_configurations_are_exact() -> None:
    less, margin, about = found(
        "P(a=yes | b=no, c=no) <= P(a=yes | b=no, c=yes)\n"
        "P(a=yes | b=no, c=no) >= P(a=yes | b=no, c=yes) by at least 0.1\n"
        "P(a=yes | b=no, c=no) ~ P(a=yes | b=no, c=yes) within 0.05"
    )
    low, high = beta(3, 21), beta(6, 16)

    def integral(shift: float) -> float:
        return float(quad(lambda x: low.cdf(x + shift) * high.pdf(x), 0, 1, epsabs=1e-12)[0])

    assert less.after_data is not None
    assert less.after_data.is_exact
    assert less.after_data.value == pytest.approx(integral(0.0), rel=1e-8)
    assert less.before_data.value == pytest.approx(0.5, rel=1e-10)
    assert margin.after_data is not None
    assert margin.after_data.value == pytest.approx(1 - integral(0.1), rel=1e-6)
    assert margin.before_data.value == pytest.approx(0.9**2 / 2, rel=1e-6)
    assert about.after_data is not None
    assert about.after_data.value == pytest.approx(integral(0.05) - integral(-0.05), rel=1e-6)


def test_sampling_agrees_with_what_is_known() -> None:
    (one,) = found("P(t=x | b=no) <= P(t=y | b=no)")
    assert not one.before_data.is_exact
    assert abs(one.before_data.value - 0.5) < 4 * one.before_data.error
    assert one.after_data is not None
    assert abs(one.after_data.value - beta(11, 6).cdf(0.5)) < 4 * one.after_data.error  # x / (x + y) is a Beta
    assert bayes_factor_error(one) == pytest.approx(
        one.bayes_factor * one.after_data.error / one.after_data.value, rel=0.1
    )


@pytest.mark.parametrize("size", [1, 10, 1_000, 100_000])
def test_difference_of_betas_keeps_its_digits(size: int) -> None:
    first, second = (1 + 0.3 * size, 1 + 0.7 * size), (1 + 0.31 * size, 1 + 0.69 * size)
    there, back = difference_probability(first, second, -1.0, 0.0), difference_probability(second, first, -1.0, 0.0)
    assert there + back == pytest.approx(1.0, abs=1e-9)
    exact = quad(lambda x: beta(*first).cdf(x) * beta(*second).pdf(x), 0, 1, points=[0.3, 0.31], limit=500)[0]
    assert there == pytest.approx(exact, rel=1e-6)


def test_left_out_parents_multiply_over_independent_blocks() -> None:
    whole, first, second = found(
        "P(a=yes | b=no, each c) <= P(a=yes | b=yes, each c)\n"
        "P(a=yes | b=no, c=no) <= P(a=yes | b=yes, c=no)\n"
        "P(a=yes | b=no, c=yes) <= P(a=yes | b=yes, c=yes)"
    )
    assert first.after_data is not None
    assert second.after_data is not None
    assert whole.after_data is not None
    assert whole.after_data.value == pytest.approx(first.after_data.value * second.after_data.value)
    assert whole.before_data.value == pytest.approx(0.25, abs=0.02)


def test_equalities_are_read_with_a_region_that_is_named() -> None:
    (one,) = found("P(b=yes) = 0.4")
    assert one.equality_tolerance == EQUALITY_WIDTH
    assert one.before_data.value == pytest.approx(2 * EQUALITY_WIDTH)
    assert one.after_data is not None
    low, high = beta(9, 13).cdf([0.4 - EQUALITY_WIDTH, 0.4 + EQUALITY_WIDTH])
    assert one.after_data.value == pytest.approx(high - low)


def test_products_and_influences_are_just_evaluated() -> None:
    raises, product = found("b raises a\nP(a=yes | b=no, c=no) * P(a=yes | b=no, c=yes) <= P(a=yes | b=yes, c=no)")
    assert raises.verdict is Verdict.SUPPORTED
    assert product.after_data is not None
    rng = np.random.default_rng(0)
    x, y, z = rng.beta(3, 21, 100_000), rng.beta(6, 16, 100_000), rng.beta(12, 10, 100_000)
    assert product.after_data.value == pytest.approx((x * y <= z).mean(), abs=0.01)
    assert product.before_data.value == pytest.approx(0.75, abs=0.02)


def test_what_no_draw_fulfils_is_below_one_in_so_many() -> None:
    text = "P(a=yes | b=no, c=no) - P(a=yes | b=yes, c=yes) >= P(a=yes | b=no, c=yes) + 0.1\nb raises a"
    wrong, fine = found(text, draws=1_000)
    assert wrong.after_data is not None
    assert wrong.after_data.value == 0.0
    assert wrong.after_data.upper_bound == pytest.approx(1e-3)
    assert wrong.is_upper_bound
    assert wrong.bayes_factor is not None
    assert wrong.verdict is Verdict.CONTRADICTED
    assert not fine.is_upper_bound


def test_without_data_there_is_the_volume_and_the_seed_decides() -> None:
    constraints = lower(Knowledge(NET, "b raises a\nP(c=no) <= 0.2"))
    one, two = (plausibilities(constraints, seed=3) for _ in range(2))
    assert one == two
    assert one[0].after_data is None
    assert one[0].verdict is None
    assert one[1].before_data.value == pytest.approx(0.2)


def test_a_configuration_without_data_leaves_the_verdict_open() -> None:
    (one,) = found("P(c=yes) >= 0.5")
    assert one.verdict is Verdict.INCONCLUSIVE
    assert one.bayes_factor == pytest.approx(1.0)


def test_differences_without_bounds_are_certain_and_beyond_them_impossible() -> None:
    assert difference_probability((2.0, 3.0), (1.0, 1.0), -2.0, 1.5) == pytest.approx(1.0)
    assert difference_probability((2.0, 3.0), (1.0, 1.0), -2.0, -1.5) == 0.0
    assert difference_probability((2.0, 3.0), (1.0, 1.0), 1.5, 2.0) == 0.0
    assert difference_probability((2.0, 3.0), (1.0, 1.0), 0.2, 0.1) == 0.0

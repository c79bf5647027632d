"""Beta distributions between two ends: probabilities against thirty digits, draws against quadrature."""

from __future__ import annotations

import numpy as np
import pytest

from credo.kernels.cut_beta import draw_between, log_between
from credo.sampling.region import seeded

CASES = [
    (2.0, 3.0, 0.3, 0.9),
    (1.0, 1.0, 0.3, 1.0),
    (0.1, 0.1, 0.0, 0.3),
    (0.1, 0.1, 0.2, 0.7),
    (0.01, 60.0, 0.1, 1.0),
    (40.0, 2.0, 0.0, 0.5),
    (40.0, 2.0, 0.1, 0.3),
    (30.0, 30.0, 0.9, 1.0),
    (1e-5, 30.0, 0.3, 1.0),
    (15.0, 15.0, 0.5, 0.5 + 1e-9),
    (0.1, 0.1, 1.0 - 1e-9, 1.0),
    (0.1, 0.1, 0.2, 0.2 + 1e-9),
    (0.2, 30.0, 1e-9, 2e-9),
    (200.0, 3.0, 0.9, 0.95),
    (1e6, 3e6, 0.3, 0.3 + 1e-9),
    (1e6, 3e6, 0.25, 0.2501),
    (1e6, 3e6, 0.2, 0.21),
    (1e6, 1.0, 0.0, 0.5),
]


@pytest.mark.parametrize("case", [*CASES, (1e-40, 30.0, 0.01, 0.5), (1e-12, 1e-12, 0.01, 0.9), (1e-9, 2.0, 0.1, 1.0)])
def test_probabilities_to_ten_digits(case: tuple[float, float, float, float]) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(30):
        a, b, low, high = (mpmath.mpf(value) for value in case)
        # In the log-odds nothing is singular; from the end at which the density is largest, in steps of its decay.
        left, right = (
            mpmath.log(value / (1 - value)) if 0 < value < 1 else mpmath.mpf(-3000 if value == 0 else 3000)
            for value in (low, high)
        )
        top = min(max(mpmath.log(a / b), left), right)

        def log_density(x: object) -> object:
            return a * x - (a + b) * mpmath.log1p(mpmath.exp(x))

        scale = 1 / mpmath.sqrt(a * b / (a + b) + 1)
        places = sorted(
            {left, right, top}
            | {x for k in range(-12, 12) for sign in (-1, 1) if left < (x := top + sign * scale * 2**k) < right}
        )
        total = mpmath.quad(lambda x: mpmath.exp(log_density(x) - log_density(top)), places)
        norm = mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)
        exact = float(norm + log_density(top) + mpmath.log(total))
    assert log_between(*case) == pytest.approx(exact, rel=1e-10, abs=2e-8 if max(case) > 1e5 else 1e-10)


def test_all_and_nothing() -> None:
    assert log_between(0.3, 5.0, 0.0, 1.0) == 0.0
    assert log_between(0.3, 5.0, 0.4, 0.4) == -np.inf


@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_distribution(case: tuple[float, float, float, float]) -> None:
    """Of thousands of draws, shares below inner points are the probabilities of these parts."""
    a, b, low, high = case
    generator = seeded(3, int(a))
    draws = np.array([draw_between(a, b, low, high, generator) for _ in range(3000)])
    assert (draws[:, 0] >= low).all()
    assert (draws[:, 0] <= high).all()
    assert np.allclose(draws.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
    assert (draws > 0.0).all()
    total = log_between(a, b, low, high)
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        place = float(np.quantile(draws[:, 0], share))
        if low < place < high:
            exact = np.exp(log_between(a, b, low, place) - total)
            found = float((draws[:, 0] <= place).mean())
            assert found == pytest.approx(exact, abs=4.5 * np.sqrt(exact * (1 - exact) / len(draws)) + 1e-6)


def test_a_seed_fixes_the_draws() -> None:
    first, second = (draw_between(0.3, 2.0, 0.1, 0.9, seeded(1)) for _ in range(2))
    assert first == second

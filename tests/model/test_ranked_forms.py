"""Ranked nodes and InterBeta against independent implementations of their published formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

from credo.model.ranked_nodes import fitted_beta, interpolated_cpt, ranked_cpt


def truncated(mean: float, spread: float, states: int) -> np.ndarray:
    low, high = -mean / spread, (1 - mean) / spread
    return np.diff(stats.truncnorm.cdf(np.linspace(0, 1, states + 1), low, high, loc=mean, scale=spread))


def expected_mean(kind: str, weights: tuple[float, ...], values: tuple[float, ...]) -> float:
    if kind == "mean":
        return sum(w * x for w, x in zip(weights, values, strict=True)) / sum(weights)
    each = [
        (w * x + sum(values) - x) / (w + len(values) - 1) for w, x in zip(weights, values, strict=True)
    ]  # Fenton, Neil and Caballero (2007), equations of WMAX and WMIN
    return max(each) if kind == "max" else min(each)


@pytest.mark.parametrize("kind", ["mean", "max", "min"])
def test_a_ranked_node_averages_truncated_normals_over_the_sample_points(kind: str) -> None:
    weights, sizes, states, spread = (3.0, 1.0), (3, 5), 4, 0.1
    cpt = ranked_cpt(kind, weights, sizes, states, spread)
    points = (np.arange(5) + 0.5) / 5
    for configuration in product(range(3), range(5)):
        masses = [
            truncated(
                expected_mean(kind, weights, ((configuration[0] + a) / 3, (configuration[1] + b) / 5)), spread, states
            )
            for a in points
            for b in points
        ]
        assert np.allclose(cpt[configuration], np.mean(masses, axis=0), atol=1e-12)


def test_the_sample_points_are_close_to_the_integral() -> None:
    cpt = ranked_cpt("mean", (2.0, 1.0), (3, 3), 3, 0.2)
    for configuration in ((0, 0), (1, 2), (2, 1)):
        for state in range(3):
            value, _ = integrate.dblquad(
                lambda b, a, c=configuration, k=state: truncated((2 * (c[0] + a) / 3 + (c[1] + b) / 3) / 3, 0.2, 3)[k],
                0, 1, 0, 1, epsabs=1e-5,
            )  # fmt: skip
            assert cpt[(*configuration, state)] == pytest.approx(value, abs=2e-3)


def test_ranked_nodes_have_the_symmetry_and_the_order_of_their_means() -> None:
    cpt = ranked_cpt("mean", (3.0, 1.0, 1.0), (5, 5, 5), 5, 0.1)
    assert np.allclose(cpt, cpt[::-1, ::-1, ::-1, ::-1], atol=1e-12)
    assert np.allclose(cpt, cpt.transpose(0, 2, 1, 3))
    tails = cpt[..., ::-1].cumsum(axis=-1)
    assert (np.diff(tails, axis=0) >= -1e-12).all()
    strong = np.abs(np.diff(cpt @ np.arange(5), axis=0)).mean()
    assert strong > 2.5 * np.abs(np.diff(cpt @ np.arange(5), axis=1)).mean()
    low, high = (ranked_cpt(kind, (3.0, 1.0), (3, 3), 3, 0.05) @ np.arange(3) for kind in ("min", "max"))
    assert (low <= high + 1e-9).all()
    assert low[0, 2] < high[0, 2] - 0.3


def test_interbeta_interpolates_the_parameters_of_beta_distributions() -> None:
    worst, best = (np.diff(stats.beta.cdf(np.linspace(0, 1, 5), *ab)) for ab in ((2.0, 8.0), (9.0, 3.0)))
    assert fitted_beta(worst) == pytest.approx((2.0, 8.0), rel=1e-4)
    cpt = interpolated_cpt((3.0, 1.0), (3, 2), worst, best)
    assert np.allclose(cpt[0, 0], worst)
    assert np.allclose(cpt[2, 1], best)
    for configuration in product(range(3), range(2)):
        share = (3 * configuration[0] / 2 + configuration[1]) / 4
        alpha, beta = (1 - share) * 2 + share * 9, (1 - share) * 8 + share * 3
        assert np.allclose(cpt[configuration], np.diff(stats.beta.cdf(np.linspace(0, 1, 5), alpha, beta)), atol=1e-4)


def test_two_states_interpolate_between_two_probabilities() -> None:
    cpt = interpolated_cpt((1.0, 1.0), (2, 2), np.array([0.9, 0.1]), np.array([0.2, 0.8]))
    assert cpt[0, 0, 1] == pytest.approx(0.1)
    assert cpt[1, 1, 1] == pytest.approx(0.8)
    assert 0.1 < cpt[0, 1, 1] < 0.8
    assert cpt[0, 1, 1] == pytest.approx(cpt[1, 0, 1])

"""Ranked nodes and InterBeta against independent implementations of their published formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

import credo
from credo.model.ranked_nodes import fitted_beta, interpolated_cpt, mean_of, ranked_cpt


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


# Published examples ---------------------------------------------------------------------------------------------------


def integrated(mean: Callable[..., np.ndarray], spread: float, intervals: Sequence[tuple[int, int]], states: int):
    """The masses of a truncated normal, averaged over the parents' intervals (state, states) by Gauss and Legendre."""
    nodes, shares = np.polynomial.legendre.leggauss(60)
    axes = [(state + (nodes + 1) / 2) / count for state, count in intervals]
    values = np.meshgrid(*axes, indexing="ij")
    weights = np.prod(np.meshgrid(*[shares / 2] * len(axes), indexing="ij"), axis=0)
    middle = mean(*values)
    edges = stats.norm.cdf((np.linspace(0, 1, states + 1)[(...,) + (None,) * middle.ndim] - middle) / spread)
    masses = np.diff(edges, axis=0) / (edges[-1] - edges[0])
    return (masses * weights).reshape(states, -1).sum(axis=1)


def test_the_modes_of_the_service_time_of_a_machine() -> None:
    """[Laitila and Virtanen, 2022, figure 1 and table 2]: WMAX with weights 1 of price and 5 of weekly usage.

    A price of 2100 and 80 hours a week stand at 1 and 0 of the unit scale, 49 and 97 months at 1/2 and 5/6.
    """
    found = mean_of("max", np.array([1.0, 5.0]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    months = np.interp(found, np.linspace(0, 1, 4), [1, 25, 73, 121])
    assert months == pytest.approx([49, 97])


def test_the_service_time_of_a_machine_is_near_the_integral() -> None:
    """[Laitila and Virtanen, 2022, section 4.1]: variance 0.001, three states; the mode at equal ranks is that rank."""
    text = """
variables price, leisure, service: low, medium, high
service is a weighted max of price (1), leisure (5) with spread 0.0316227766
"""
    cpt = credo.fit(text, method="cmap").network.cpt_array("service")

    def highest(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.maximum((a + b) / 2, (5 * b + a) / 6)

    for configuration in product(range(3), repeat=2):
        expected = integrated(highest, np.sqrt(0.001), [(state, 3) for state in configuration], 3)
        assert cpt[configuration] == pytest.approx(expected, abs=0.02)  # five points stand for each interval
    assert cpt[0, 0].argmax() == 0
    assert cpt[1, 1].argmax() == 1
    assert cpt[2, 2].argmax() == 2


def test_the_maintainability_of_a_car_is_near_the_integral() -> None:
    """AgenaRisk's tutorial of the costs of a car: TNormal(wmean(2, type, 1, reliability), 0.01, 0, 1)."""
    text = """
variables type, reliability, maintainability: low, medium, high
maintainability is a weighted mean of type (2), reliability (1) with spread 0.1
"""
    fit = credo.fit(text, method="cmap")
    cpt = fit.network.cpt_array("maintainability")
    for configuration in product(range(3), repeat=2):
        expected = integrated(lambda a, b: (2 * a + b) / 3, 0.1, [(state, 3) for state in configuration], 3)
        assert cpt[configuration] == pytest.approx(expected, abs=0.006)
    known = fit.query("P(maintainability=high | type=high)")
    assert float(known) == pytest.approx(cpt[2, :, 2].mean())


# The probabilities of high maintainability that AgenaRisk computes for that tutorial, in its file CarCosts.cmpx.
MAINTAINABILITY = {
    "high": [
        0.89074457, 0.6566733, 0.34204516, 0.34204516, 0.10768213, 0.017084148, 0.017084148, 0.0011542491, 2.923331e-05,
    ],
    "medium": [
        0.109226204, 0.34217244, 0.6408707, 0.6408707, 0.7846357, 0.6408707, 0.6408707, 0.34217244, 0.109226204,
    ],
}  # fmt: skip


def test_the_numbers_of_agenarisk_for_the_maintainability_of_a_car() -> None:
    """They are those of the formulas at five points, ends of intervals among them; ours are nearer to the integral.

    A small car with a high reliability comes first; the reliability changes fastest.
    """
    own = ranked_cpt("mean", (2.0, 1.0), (3, 3), 3, 0.1)
    points = np.linspace(0.0, 1.0, 5)
    for place, (kind, reliability) in enumerate(product((2, 1, 0), repeat=2)):
        means = [mean_of("mean", np.array([2.0, 1.0]), np.array([[kind + a, reliability + b]]) / 3)[0]
                 for a in points for b in points]  # fmt: skip
        at_points = np.mean([truncated(mean, 0.1, 3) for mean in means], axis=0)
        exact = integrated(lambda a, b: (2 * a + b) / 3, 0.1, [(kind, 3), (reliability, 3)], 3)
        high, medium = (MAINTAINABILITY[state][place] for state in ("high", "medium"))
        agenarisk = np.array([1.0 - high - medium, medium, high])
        assert at_points == pytest.approx(agenarisk, abs=2e-7)
        assert own[kind, reliability] == pytest.approx(agenarisk, abs=0.042)
        assert np.abs(own[kind, reliability] - exact).max() < np.abs(agenarisk - exact).max()


@pytest.mark.parametrize("kind", ["mean", "max", "min"])
@pytest.mark.parametrize("variance", [1e-4, 5e-3, 0.1])
def test_parents_of_equal_rank_give_that_rank(kind: str, variance: float) -> None:
    """[Laitila and Virtanen, 2022, property 1]: whatever the weights and the variance."""
    rng = np.random.default_rng(5)
    for states, parents in ((3, 2), (5, 3), (7, 2)):
        weights = 1.0 + 9.0 * rng.random(parents)
        cpt = ranked_cpt(kind, tuple(weights), (states,) * parents, states, np.sqrt(variance))
        for rank in range(states):
            own = cpt[(rank,) * parents]
            assert own[rank] == pytest.approx(own.max(), abs=1e-9)

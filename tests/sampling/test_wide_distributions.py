"""Wide distributions: the exact updates by themselves, against integrals, and chains that they make mix."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import beta as beta_function
from scipy.special import gammaln
from scipy.stats import beta

import credo
from credo.constraints.constraint_set import LinearConstraint
from credo.kernels.sampler_arrays import ChainState, DistributionArrays
from credo.sampling.region import region_of
from credo.sampling.wide_distributions import component_logs, cut_beta, log_gammas, update_wide, wide_distributions
from tests.helpers.block_tasks import at_most, make_block


@pytest.mark.parametrize(
    ("a", "b", "low", "high"), [(2.0, 3.0, 0.3, 0.9), (0.01, 60.0, 0.1, 1.0), (40.0, 2.0, 0.0, 0.5)]
)
def test_a_beta_variate_between_two_ends(a: float, b: float, low: float, high: float) -> None:
    """In the middle, and far out in both tails; the mean by quadrature."""
    rng = np.random.default_rng(1)
    draws = np.array([cut_beta(a, b, low, high, rng) for _ in range(4_000)], dtype=float)
    assert low <= draws.min()
    assert draws.max() <= high
    points = low + (high - low) * (np.arange(200_000) + 0.5) / 200_000
    density = np.exp(beta.logpdf(points, a, b) - beta.logpdf(points, a, b).max())
    mean = float(points @ density / density.sum())
    assert draws.mean() == pytest.approx(mean, abs=4 * draws.std() / np.sqrt(len(draws)))


def test_nothing_between_the_ends() -> None:
    assert cut_beta(2.0, 2.0, 0.5, 0.5, np.random.default_rng(0)) is None


def test_gamma_variates_of_tiny_shapes_do_not_underflow() -> None:
    logs = log_gammas(np.full(2_000, 1e-5), np.random.default_rng(0))
    assert np.isfinite(logs).all()
    assert logs.mean() == pytest.approx(-1e5, rel=0.1)  # E log G(a) = ψ(a), about −1/a
    assert log_gammas(np.full(4_000, 3.0), np.random.default_rng(0)).mean() == pytest.approx(0.9228, abs=0.05)


def test_components_with_shares_summed_over() -> None:
    """Two states that are not named and one that is: the integral over their split, by hand."""
    theta, counts = np.array([0.3, 0.5, 0.2]), np.array([4.0, 1.0, 2.0])
    shapes = np.array([[0.5, 0.7, 0.8], [3.0, 2.0, 5.0]])
    found = component_logs(theta, counts, shapes, np.array([1, 2]), np.array([0]))
    for (first, second, third), log in zip(shapes, found, strict=True):
        norm = gammaln(first + second + third) - gammaln([first, second, third]).sum()
        a, b = second + 1.0, third + 2.0
        by_hand = norm + (first - 1.0) * np.log(0.3) + (a + b - 1.0) * np.log(0.7) + np.log(beta_function(a, b))
        assert log == pytest.approx(by_hand)


def test_the_updates_alone_draw_from_the_posterior() -> None:
    """One state of sixty is at least 0.1; its mean is a mixture of cut-off Beta distributions."""
    size, bound = 60, 0.1
    strengths, weights = np.array([0.2, 1.0, 30.0]), np.array([0.3, 0.3, 0.4])
    counts = np.zeros(size)
    counts[[0, 3, 4, 9]] = [1.0, 3.0, 2.0, 1.0]
    arrays = DistributionArrays(
        np.array([0, size]), np.array([0]), counts, np.array([True]), np.array([False]), np.array([1]),
        np.array([0, size]), np.array([1]), np.stack((strengths, strengths)), np.array([3]), np.array([3]),
        np.full(size, 1 / size), np.zeros((1, 0)),
    )  # fmt: skip
    region = region_of([make_block([size], [at_most([0], [-1.0], -bound)])])
    (wide,) = wide_distributions(region, arrays)
    assert wide.named.tolist() == [0]
    theta = np.full(size, 0.8 / (size - 1))
    theta[0] = 0.2
    state = ChainState(theta, np.zeros(1, np.int64), np.full(size, 1 / size), weights[None], weights.copy())
    rng = np.random.default_rng(2)
    draws, components = np.empty(1_500), np.zeros(3)
    for k in range(len(draws)):
        update_wide((wide,), arrays, state, rng)
        draws[k] = state.theta[0]
        components[state.component[0]] += 1 / len(draws)
    assert state.theta.sum() == pytest.approx(1.0)
    expected, chances = 0.0, np.zeros(3)
    points = bound + (1 - bound) * (np.arange(20_000) + 0.5) / 20_000
    for g, strength in enumerate(strengths):
        shape = strength / size + counts
        evidence = gammaln(strength) - size * gammaln(strength / size) + gammaln(shape).sum() - gammaln(shape.sum())
        density = beta.pdf(points, shape[0], shape[1:].sum()) * (1 - bound) / len(points)
        chances[g] = weights[g] * np.exp(evidence) * density.sum()
        expected += weights[g] * np.exp(evidence) * (points @ density)
    expected /= chances.sum()
    np.testing.assert_allclose(components, chances / chances.sum(), atol=0.05)
    assert draws.mean() == pytest.approx(expected, abs=0.015)


def test_other_blocks_are_left_to_other_moves() -> None:
    arrays = DistributionArrays(
        np.array([0, 60]), np.array([0]), np.zeros(60), np.array([True]), np.array([False]), np.array([1]),
        np.array([0, 60]), np.array([1]), np.ones((2, 1)), np.array([1]), np.array([1]),
        np.full(60, 1 / 60), np.zeros((1, 0)),
    )  # fmt: skip
    equal = LinearConstraint((0,), (1.0,), 0.2, 0, equality=True)
    many = [at_most([k], [1.0], 0.5) for k in range(20)]
    for constraints in ([equal], many):
        assert not wide_distributions(region_of([make_block([60], constraints)]), arrays)


@pytest.mark.slow
def test_a_wide_variable_under_one_bound_mixes() -> None:
    rng = np.random.default_rng(0)
    network = credo.Network({"x": [f"s{k}" for k in range(300)]})
    rows = pl.DataFrame({"x": [f"s{k}" for k in rng.integers(0, 300, 50)]})
    options = credo.PosteriorOptions(draws=120, warmup=60)
    fit = credo.fit(network, rows, "P(x=s0) >= 0.1", method="posterior", posterior=options, seed=0)
    assert fit.status is credo.Status.AVERAGED
    assert fit.posterior is not None
    assert fit.posterior.draws[..., 0].min() >= 0.1 - 1e-12
    assert 0.1 < float(fit.network.cpt_array("x")[0]) < 0.2

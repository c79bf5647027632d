"""Effective sample size and R-hat: on chains whose autocorrelation is known, and against ArviZ on random chains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from arviz_stats.base import array_stats

from credo.posterior.convergence import (
    effective_sizes,
    r_hat,
    split,
)

QUANTITIES = 10
SHAPES = [(1, 8), (1, 40), (1, 41), (2, 9), (2, 1001), (3, 64), (4, 100), (4, 101), (8, 250)]  # chains, draws
CHAINS: dict[str, Callable[[np.random.Generator, tuple[int, int, int]], np.ndarray]] = {
    "independent": lambda rng, shape: rng.standard_normal(shape),
    "far from zero": lambda rng, shape: 1000.0 + rng.standard_normal(shape),
    "skewed": lambda rng, shape: rng.beta(0.3, 4.0, shape),
    "heavy tailed": lambda rng, shape: rng.standard_cauchy(shape),
    "discrete": lambda rng, shape: rng.integers(0, 4, shape).astype(float),
    "random walk": lambda rng, shape: rng.standard_normal(shape).cumsum(axis=1),
    "moving average": lambda rng, shape: smoothed(rng.standard_normal(shape), 5),
    "alternating": lambda rng, shape: np.diff(rng.standard_normal((shape[0], shape[1] + 1, shape[2])), axis=1),
    "drifting": lambda rng, shape: rng.standard_normal(shape) + np.linspace(0.0, 3.0, shape[1])[:, None],
    "unmixed": lambda rng, shape: rng.standard_normal(shape) + 5.0 * np.arange(shape[0])[:, None, None],
    "unequal variances": lambda rng, shape: rng.standard_normal(shape) * 3.0 ** np.arange(shape[0])[:, None, None],
}


def smoothed(noise: np.ndarray, width: int) -> np.ndarray:
    """Means of `width` draws in a row; the chains begin with fewer."""
    total = noise.cumsum(axis=1)
    return np.concatenate((total[:, :width], total[:, width:] - total[:, :-width]), axis=1) / width


def random_chains(kind: str, shape: tuple[int, int]) -> np.ndarray:
    """Chains of one kind, (chains, draws, quantities)."""
    seed = [list(CHAINS).index(kind), *shape]
    return CHAINS[kind](np.random.default_rng(seed), (*shape, QUANTITIES))


def autoregressive(correlation: float, chains: int, draws: int, seed: int = 0) -> np.ndarray:
    """x_t = ρ·x_{t−1} + √(1 − ρ²)·noise, started in its stationary law; (chains, draws, 1)."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((chains, draws))
    values = np.empty((chains, draws))
    values[:, 0] = noise[:, 0]
    for t in range(1, draws):
        values[:, t] = correlation * values[:, t - 1] + np.sqrt(1.0 - correlation**2) * noise[:, t]
    return values[:, :, None]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.97])
def test_an_autoregressive_chain_is_worth_what_theory_says(correlation: float) -> None:
    """Σ ρ^t gives n·(1 − ρ) / (1 + ρ) independent draws."""
    draws = autoregressive(correlation, 4, 20_000)
    exact = draws.shape[0] * draws.shape[1] * (1.0 - correlation) / (1.0 + correlation)
    assert effective_sizes(draws)[0] == pytest.approx(exact, rel=0.15)
    assert r_hat(draws)[0] < 1.02


def test_alternating_chains_are_worth_more_than_their_length() -> None:
    draws = autoregressive(-0.5, 4, 20_000)
    assert effective_sizes(draws)[0] == pytest.approx(3 * 80_000, rel=0.15)


def test_chains_apart_are_seen() -> None:
    draws = autoregressive(0.0, 4, 1000)
    draws[0] += 3.0
    assert r_hat(draws)[0] > 1.3
    assert effective_sizes(draws)[0] < 20


def test_a_drift_within_one_chain_is_seen() -> None:
    draws = autoregressive(0.0, 1, 1000) + np.linspace(0.0, 4.0, 1000)[None, :, None]
    assert r_hat(draws)[0] > 1.3


def test_quantities_are_taken_one_by_one() -> None:
    fast, slow = autoregressive(0.0, 2, 2000, seed=1), autoregressive(0.9, 2, 2000, seed=2)
    both = np.concatenate((fast, slow), axis=2)
    assert effective_sizes(both) == pytest.approx([effective_sizes(fast)[0], effective_sizes(slow)[0]])
    assert r_hat(both) == pytest.approx([r_hat(fast)[0], r_hat(slow)[0]])


def test_constants_and_short_chains() -> None:
    constant = np.full((4, 100, 1), 0.3)
    assert r_hat(constant)[0] == 1.0
    assert effective_sizes(constant)[0] == 400
    stuck = np.repeat([[0.1], [0.2]], 100, axis=1)[:, :, None]
    assert r_hat(stuck)[0] > 1e6
    assert effective_sizes(np.zeros((2, 6, 3))).shape == (3,)
    assert split(np.zeros((2, 7, 3))).shape == (4, 3, 3)


def effective_size(halves: np.ndarray, *, as_stan: bool) -> float:
    """The effective sample size of one quantity, one lag after another; `halves` is (chains, draws), already split.

    With W = mean of s_m² and var⁺ = (n−1)/n·W + B/n, the published estimator is
    ρ_t = 1 − (W − mean of s_m²·ρ_{t,m}) / var⁺, P_k = ρ_2k + ρ_{2k+1} and τ = −1 + 2·Σ P_k, summed while P_k > 0 with
    each P_k at most the one before [Vehtari and others, 2021, eq. 10 to 13; Stan Reference Manual, Effective sample
    size].

    The code of Stan, posterior and ArviZ differs from it in two ways, which vanish as chains grow longer. It takes the
    autocovariance with divisor n for s_m²·ρ_{t,m}, whose divisor is n − 1. And the last pair that it looks at, which is
    the first that is not positive or else the last before lag n − 1, counts as ρ_2k instead of 2·P_k; as 0 if neither
    the pair nor ρ_2k is positive.
    """
    chains, length = halves.shape
    variances = halves.var(axis=1, ddof=1)
    autocovariances = array_stats.autocov(halves, axis=1)
    if not as_stan:
        autocovariances = variances[:, None] * autocovariances / autocovariances[:, :1]
    pooled = (length - 1) / length * variances.mean() + halves.mean(axis=1).var(ddof=1)
    correlations = 1.0 - (variances.mean() - autocovariances.mean(axis=0)) / pooled
    correlations[0] = 1.0
    last_lag = length - 2 if as_stan else length - 1
    pairs: list[float] = []
    rest = 0.0
    for lag in range(0, last_lag, 2):
        even, pair = correlations[lag], correlations[lag] + correlations[lag + 1]
        if as_stan and (pair <= 0 or lag + 3 > last_lag):
            rest = even if pair > 0 else max(0.0, even)
            break
        if pair <= 0:
            break
        pairs.append(min([pair, *pairs[-1:]]))
    time = -1.0 + 2.0 * sum(pairs) + rest
    return chains * length / max(time, 1.0 / np.log10(chains * length))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", CHAINS)
def test_r_hat_is_the_split_r_hat_of_arviz(kind: str, shape: tuple[int, int]) -> None:
    draws = random_chains(kind, shape)
    # ArviZ refuses a single chain, whose halves can be compared all the same: they are given to it as chains.
    expected = array_stats.rhat(split(draws), chain_axis=0, draw_axis=1, method="identity")
    assert r_hat(draws) == pytest.approx(expected, rel=1e-10)
    if shape[0] > 1:
        assert r_hat(draws) == pytest.approx(array_stats.rhat(draws, 0, 1, method="split"), rel=1e-10)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", CHAINS)
def test_effective_sizes_are_the_published_estimator_whose_variant_arviz_computes(
    kind: str, shape: tuple[int, int]
) -> None:
    draws = random_chains(kind, shape)
    halves = np.moveaxis(split(draws), 2, 0)
    arviz = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")
    assert [effective_size(each, as_stan=True) for each in halves] == pytest.approx(arviz, rel=1e-10)
    published = [effective_size(each, as_stan=False) for each in halves]
    assert effective_sizes(draws) == pytest.approx(published, rel=1e-10)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_effective_sizes_of_long_chains_are_those_of_arviz(correlation: float) -> None:
    draws = np.concatenate([autoregressive(correlation, 4, 5000, seed=seed) for seed in range(5)], axis=2)
    arviz = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")
    assert effective_sizes(draws) == pytest.approx(arviz, rel=0.02)


def test_constants_against_arviz() -> None:
    """The effective size is the number of draws in both; R-hat is 0/0, for which we say 1 and ArviZ says NaN."""
    constant = np.full((4, 100, 1), 0.25)
    assert effective_sizes(constant) == array_stats.ess(constant, chain_axis=0, draw_axis=1, method="mean")
    with np.errstate(invalid="ignore"):
        assert np.isnan(array_stats.rhat(constant, chain_axis=0, draw_axis=1, method="split")).all()
    assert (r_hat(constant) == 1.0).all()


def test_chains_that_are_stuck_apart_against_arviz() -> None:
    stuck = np.repeat([[0.25], [0.5], [1.0]], 100, axis=1)[:, :, None]
    with np.errstate(divide="ignore"):
        assert np.isinf(array_stats.rhat(stuck, chain_axis=0, draw_axis=1, method="split")).all()
    assert np.isinf(r_hat(stuck)).all()
    arviz = array_stats.ess(stuck, chain_axis=0, draw_axis=1, method="mean")
    assert effective_size(split(stuck)[:, :, 0], as_stan=True) == pytest.approx(arviz[0], rel=1e-10)
    # Every ρ_t is 1, so τ = −1 + 2·50: about one draw a chain.
    assert effective_sizes(stuck) == pytest.approx([300 / 99], rel=1e-10)


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
def test_units_do_not_matter(scale: float) -> None:
    """ArviZ calls draws within 1e-15 of each other constant; small probabilities are not."""
    draws = random_chains("moving average", (4, 100))
    assert r_hat(scale * draws) == pytest.approx(r_hat(draws), rel=1e-10)
    assert effective_sizes(scale * draws) == pytest.approx(effective_sizes(draws), rel=1e-10)


def test_nothing_finite_is_no_agreement() -> None:
    draws = np.random.default_rng(0).standard_normal((4, 100, 3))
    draws[2, 50, 1] = np.nan
    for found in (r_hat(draws), effective_sizes(draws)):
        assert np.isnan(found).tolist() == [False, True, False]


@pytest.mark.parametrize("count", [1, 4, 7])
def test_chains_too_short_to_judge(count: int) -> None:
    """ArviZ answers NaN for fewer than four draws; halves of chains need four each. A constant is what it is."""
    draws = np.random.default_rng(0).standard_normal((4, count, 2))
    draws[:, :, 1] = 0.25
    assert np.isnan([r_hat(draws)[0], effective_sizes(draws)[0]]).all()
    assert r_hat(draws)[1] == 1.0
    assert effective_sizes(draws)[1] == 4 * count

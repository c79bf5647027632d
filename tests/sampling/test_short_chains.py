"""Diagnostics of hundreds of short chains, on chains whose law is known."""

from __future__ import annotations

import numpy as np
import pytest

from credo.posterior.convergence import effective_sizes_of_short_chains, nested_r_hat, r_hat


def autoregressive(correlation: float, draws: int, starts: np.ndarray, seed: int = 0) -> np.ndarray:
    """x_t = ρ·x_{t−1} + √(1 − ρ²)·noise from given starts; (chains, draws, 1)."""
    rng = np.random.default_rng(seed)
    values, now = np.empty((len(starts), draws)), starts
    for t in range(draws):
        now = correlation * now + np.sqrt(1.0 - correlation**2) * rng.standard_normal(len(starts))
        values[:, t] = now
    return values[:, :, None]


def stationary(seed: int, chains: int = 256) -> np.ndarray:
    return np.random.default_rng([seed, 1]).standard_normal(chains)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("length", [8, 16, 64])
def test_short_chains_are_worth_what_theory_says(correlation: float, length: int) -> None:
    """The variance of a chain's mean is Σ_t (1 − |t|/n) ρ^|t| / n; it is estimated to √(2/256), here 16 times."""
    lags = np.arange(1, length)
    variance = (1.0 + 2.0 * ((1.0 - lags / length) * correlation**lags).sum()) / length
    sizes = [
        effective_sizes_of_short_chains(autoregressive(correlation, length, stationary(seed), seed))[0]
        for seed in range(16)
    ]
    assert np.mean(sizes) == pytest.approx(256 / variance, rel=0.08)


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_nested_r_hat_is_near_one_where_r_hat_of_short_chains_is_not(correlation: float) -> None:
    draws = autoregressive(correlation, 8, stationary(1))
    assert nested_r_hat(draws, 16)[0] < 1.04
    if correlation == 0.9:
        assert r_hat(draws)[0] > 1.3


def test_nested_r_hat_is_its_formula() -> None:
    """Two superchains of two chains of two draws, by hand: B = 2, between chains 0.5, within chains 2."""
    draws = np.array([[0.0, 2.0], [1.0, 3.0], [2.0, 4.0], [3.0, 5.0]])[:, :, None]
    assert nested_r_hat(draws, 2)[0] == pytest.approx(np.sqrt(1.0 + 2.0 / (0.5 + 2.0)))


def test_starting_points_that_still_matter_are_seen() -> None:
    """Sixteen chains from each of sixteen points: after few steps of a slow chain their means still differ."""
    points = 3.0 * np.random.default_rng(2).standard_normal(16)
    slow = autoregressive(0.95, 8, np.repeat(points, 16))
    assert nested_r_hat(slow, 16)[0] > 1.5
    long_after = autoregressive(0.95, 108, np.repeat(points, 16))[:, 100:]
    assert nested_r_hat(long_after, 16)[0] < 1.04


def test_constants() -> None:
    constant = np.full((32, 4, 1), 0.3)
    assert nested_r_hat(constant, 8)[0] == 1.0
    assert effective_sizes_of_short_chains(constant)[0] == 128
    stuck = np.repeat(np.arange(8.0), 4)[:, None, None].repeat(4, axis=1)
    assert nested_r_hat(stuck, 8)[0] == np.inf
    assert nested_r_hat(np.zeros((32, 4, 0)), 8).shape == (0,)

"""Effective sample size and R-hat, on chains whose autocorrelation is known."""

from __future__ import annotations

import numpy as np
import pytest

from credo.sampling.convergence import effective_sizes, r_hat, split


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

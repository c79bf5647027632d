"""Whether Markov chains have converged: effective sample size and R-hat.

Each chain is split in halves, so that one that drifts differs from itself. Numbers that are not finite, and chains too
short to judge, give NaN: nobody may take that for agreement.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from credo.types import Flags, Numbers

LARGEST_R_HAT = 1.05  # above which a number is reported as uncertain
LEAST_HALF = 4  # draws of half a chain, fewer of which show no autocorrelation
_CELLS = 1_000_000  # numbers transformed at a time


def split(draws: Numbers) -> Numbers:
    """Each chain as two, (2·chains, draws // 2, …): a chain that drifts then differs from itself.

    Less the first draw, which changes no variance, and leaves none by rounding where nothing varies.
    """
    half = draws.shape[1] // 2
    halves: Numbers = np.concatenate((draws[:, :half], draws[:, draws.shape[1] - half :]))
    return np.asarray(halves - draws[0, 0], dtype=np.float64)


def r_hat(draws: Numbers) -> Numbers:
    """√(var⁺/W) of split chains, var⁺ = (n−1)/n·W + B/n [Gelman and others, 2013, eq. 11.4]; 1 for a constant.

    `draws` is (chains, draws, quantities); the result (quantities,).
    """
    if draws.shape[1] < 2 * LEAST_HALF:
        return np.where(_constant(draws), 1.0, np.nan)
    ratio = np.empty(draws.shape[2])
    for piece in _pieces(draws):
        within, pooled = _variances(split(draws[:, :, piece]))
        own = np.ones_like(within)
        np.divide(pooled, within, out=own, where=~(within <= 0))
        own[(within <= 0) & (pooled > 0)] = np.inf
        ratio[piece] = own
    return np.sqrt(ratio)


def effective_sizes(draws: Numbers) -> Numbers:
    """How many independent draws the chains are worth: n·m / (1 + 2·Σ ρ_t) over split chains.

    ρ_t = 1 − (W − mean autocovariance at t) / var⁺, summed over pairs of lags while the pairs are positive, each pair
    at most the one before [Geyer, 1992; Vehtari and others, 2021, eq. 10–13]. A constant has as many as there are
    draws; chains of fewer than eight draws show nothing. `draws` is (chains, draws, quantities); the result
    (quantities,).
    """
    if draws.shape[1] < 2 * LEAST_HALF:
        return np.where(_constant(draws), float(len(draws) * draws.shape[1]), np.nan)
    sizes = np.empty(draws.shape[2])
    for piece in _pieces(draws):
        sizes[piece] = _effective_sizes(split(draws[:, :, piece]))
    return sizes


def _constant(draws: Numbers) -> Flags:
    """Which quantities have one value in all draws; (quantities,)."""
    if not draws.shape[1]:
        return np.zeros(draws.shape[2], dtype=np.bool_)
    return np.asarray((draws == draws[:1, :1]).all(axis=(0, 1)), dtype=np.bool_)


def _pieces(draws: Numbers) -> Iterator[slice]:
    """Quantities in parts, so that what is computed from them takes little memory."""
    step = max(1, _CELLS // (2 * max(1, draws.shape[0] * draws.shape[1])))
    return (slice(start, start + step) for start in range(0, draws.shape[2], step))


def _effective_sizes(parts: Numbers) -> Numbers:
    chains, length, _ = parts.shape
    total = float(chains * length)
    within, pooled = _variances(parts)
    covariance = _autocovariances(parts)  # (lags, quantities)
    varies = ~(pooled <= 0)
    correlation = np.zeros_like(covariance)
    scale = length / (length - 1.0)  # within variances divide by n − 1, autocovariances by n
    correlation[:, varies] = 1.0 - (within[varies] - scale * covariance[:, varies]) / pooled[varies]
    correlation[0] = 1.0
    pairs = correlation[: length // 2 * 2].reshape(length // 2, 2, -1).sum(axis=1)  # (pairs of lags, quantities)
    pairs = np.minimum.accumulate(pairs, axis=0)
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    time = -1.0 + 2.0 * np.where(positive, pairs, 0.0).sum(axis=0)
    # Antithetic chains can be worth more than independent draws, but how much more is not known well.
    time = np.maximum(time, 1.0 / np.log10(total))
    return np.where(np.isfinite(pooled), np.where(varies, total / time, total), np.nan)


def _variances(parts: Numbers) -> tuple[Numbers, Numbers]:
    """The mean variance within chains, and the variance that both within and between make plausible."""
    length = parts.shape[1]
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1) if len(parts) > 1 else np.zeros_like(within)
    return within, (length - 1.0) / length * within + between


def _autocovariances(parts: Numbers) -> Numbers:
    """The mean covariance of chains with themselves at every lag, by the fast Fourier transform; (lags, …)."""
    from scipy.fft import irfft, next_fast_len, rfft

    length = parts.shape[1]
    padded = next_fast_len(2 * length - 1, real=True)
    waves = rfft(parts - parts.mean(axis=1, keepdims=True), padded, axis=1)
    power = (waves.real**2 + waves.imag**2).mean(axis=0)
    return np.asarray(irfft(power, padded, axis=0)[:length] / length, dtype=np.float64)

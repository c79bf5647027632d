"""Probabilities of Beta variables: that one lies in an interval, and that two differ by no more than something."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from credo.types import Numbers

Beta = tuple[float, float]

_PANEL_NODES, _PANEL_WEIGHTS = np.polynomial.legendre.leggauss(16)


def interval_probability(beta: Beta, low: float, high: float) -> float:
    """P(low ≤ X ≤ high)."""
    from scipy.special import betainc, betaincc

    low, high = max(low, 0.0), min(high, 1.0)
    if low > high:
        return 0.0
    if high >= 1.0:  # from above, so that a small probability keeps its digits
        return float(betaincc(*beta, low))
    return float(betainc(*beta, high) - betainc(*beta, low))


@lru_cache(maxsize=100_000)
def difference_probability(first: Beta, second: Beta, low: float, high: float) -> float:
    """P(low ≤ X − Y ≤ high) = ∫ f_Y(y) · [F_X(y + high) − F_X(y + low)] dy.

    With y = sin²φ the ends of the unit interval get as much room as its middle; panels of Gauss-Legendre nodes are
    as many as the narrower of the two needs (a Beta of n counts is about 1/√n wide in φ).
    """
    from scipy.special import betainc, betaln, xlogy

    counts = max(sum(first), sum(second))
    kinks = tuple(edge for edge in (-low, 1.0 - low, -high, 1.0 - high) if 0.0 < edge < 1.0)
    phi, weights = _panels(int(np.clip(np.sqrt(counts), 12, 400)), kinks)
    y, rest = np.sin(phi) ** 2, np.cos(phi) ** 2
    log_density = xlogy(second[0] - 1.0, y) + xlogy(second[1] - 1.0, rest) - betaln(*second)
    measure = weights * np.exp(log_density) * np.sin(2.0 * phi)
    upper = betainc(*first, np.clip(y + high, 0.0, 1.0)) if high < 1.0 else 1.0
    lower = betainc(*first, np.clip(y + low, 0.0, 1.0)) if low > -1.0 else 0.0
    return float(np.clip(np.sum(measure * (upper - lower)), 0.0, 1.0)) if high >= low else 0.0


def _panels(count: int, kinks: tuple[float, ...]) -> tuple[Numbers, Numbers]:
    """Nodes and weights on (0, π/2), with panels that end where y meets a kink."""
    edges = np.sort(np.concatenate((np.linspace(0.0, np.pi / 2, count + 1), np.arcsin(np.sqrt(kinks)))))
    half = np.diff(edges)[:, None] / 2
    nodes = edges[:-1, None] + half * (1.0 + _PANEL_NODES)
    return nodes.ravel(), (half * _PANEL_WEIGHTS).ravel()

"""Probabilities as text: a small one is not rounded to zero, nor one near certainty to one."""

from __future__ import annotations

from math import floor, log10

LEAST_DECIMAL = 1e-6  # smaller probabilities are written with a power of ten
MOST_DECIMALS = 8


def probability_digits(value: float, usual: int) -> str:
    """A probability with the usual number of decimals, and more where fewer than two digits of it would be seen."""
    if 0.0 < value < LEAST_DECIMAL:
        return f"{value:.1e}"
    return f"{value:.{max(usual, _decimals_needed(value))}f}"


def percent_digits(value: float, usual: int = 1) -> str:
    """The same as a percentage: `33.1%`, `0.095%`."""
    if 0.0 < value < LEAST_DECIMAL:
        return f"{100.0 * value:.2g}%"
    return f"{value:.{max(usual, _decimals_needed(value) - 2)}%}"


def _decimals_needed(value: float) -> int:
    """For two digits of a small probability, and for one of what another lacks to one."""
    if not 0.0 < value < 1.0:
        return 0
    needed = max(1 - floor(log10(value)), -floor(log10(1.0 - value)))
    return min(needed, MOST_DECIMALS)

"""Probabilities as text: a small one is not rounded to zero, nor one near certainty to one."""

from __future__ import annotations

from math import floor, log10

LEAST_DECIMAL = 1e-6  # smaller probabilities are written with a power of ten, and so much below one as a bound
LEAST_END = 1e-4  # an end of an interval that is nearer to 0 or 1 is not known more precisely


def probability_digits(value: float, usual: int) -> str:
    """A probability with the usual number of decimals, and more where fewer than two digits of it would be seen."""
    if 0.0 < value < LEAST_DECIMAL:
        return f"{value:.1e}"
    if 1.0 - LEAST_DECIMAL < value < 1.0:
        return ">0.999999"
    return f"{value:.{max(usual, _decimals_needed(value))}f}"


def percent_digits(value: float, usual: int = 1) -> str:
    """The same as a percentage: `33.1%`, `0.095%`."""
    if 0.0 < value < LEAST_DECIMAL:
        return f"{100.0 * value:.2g}%"
    if 1.0 - LEAST_DECIMAL < value < 1.0:
        return ">99.9999%"
    return f"{value:.{max(usual, _decimals_needed(value) - 2)}%}"


def interval_digits(low: float, high: float) -> tuple[str, str]:
    """The ends of an interval with two decimals, and more where they would be rounded to 0 or 1: `<0.0001`, `0.35`."""
    below, above = "<0.0001", ">0.9999"
    return _end(low, below, above, probability_digits(low, 2)), _end(high, below, above, probability_digits(high, 2))


def interval_percents(low: float, high: float) -> tuple[str, str]:
    """The same as percentages: `<0.01%`, `35.0%`."""
    below, above = "<0.01%", ">99.99%"
    return _end(low, below, above, percent_digits(low)), _end(high, below, above, percent_digits(high))


def belief_digits(value: float) -> str:
    """How probable a statement is, as a share of draws, of which two decimals are known: `<0.01`, `0.87`, `>0.99`."""
    if value < 0.005:
        return "<0.01"
    return ">0.99" if value > 0.995 else f"{value:.2f}"


def _end(value: float, below: str, above: str, otherwise: str) -> str:
    if 0.0 < value < LEAST_END:
        return below
    return above if 1.0 - LEAST_END < value < 1.0 else otherwise


def _decimals_needed(value: float) -> int:
    """For two digits of a small probability, and for one of what another lacks to one."""
    if not 0.0 < value < 1.0:
        return 0
    return max(1 - floor(log10(value)), -floor(log10(1.0 - value)))

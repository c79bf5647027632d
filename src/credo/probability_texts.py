"""Probabilities as text, the same everywhere: a small one is not rounded to zero, nor one near certainty to one."""

from __future__ import annotations

from math import floor, log10

LEAST_DECIMAL = 1e-4  # smaller probabilities are written with a power of ten: 1.1e-6
ALL_SMALL = 0.01  # where an interval is below it, powers of ten are read as easily as percentages
LEAST_SHOWN = 1e-12  # what is smaller is rounding
LEAST_BELOW_ONE = 1e-6  # so much below one is a bound: >99.9999%
LEAST_END = 1e-4  # an end of an interval that is nearer to 1 is not known more precisely


def probability_digits(value: float, usual: int) -> str:
    """A probability with the usual number of decimals, and more where fewer than two digits of it would be seen."""
    if 0.0 < value < LEAST_DECIMAL:
        return _scientific(value, 2)
    if 1.0 - LEAST_BELOW_ONE < value < 1.0:
        return ">0.999999"
    return f"{value:.{max(usual, _decimals_needed(value))}f}"


def percent_digits(value: float, usual: int = 1) -> str:
    """The same as a percentage: `33.1%`, `0.095%`; a small probability is no percentage: `1.1e-6`."""
    if 0.0 < value < LEAST_DECIMAL:
        return _scientific(value, 2)
    if 1.0 - LEAST_BELOW_ONE < value < 1.0:
        return ">99.9999%"
    return f"{value:.{max(usual, _decimals_needed(value) - 2)}%}"


def interval_digits(low: float, high: float) -> tuple[str, str]:
    """The ends of an interval with two decimals, and more where they would be rounded to 0 or 1: `4e-7`, `0.35`."""
    return _end(low, ">0.9999", probability_digits(low, 2)), _end(high, ">0.9999", probability_digits(high, 2))


def percents_with_ends(value: float, low: float, high: float) -> tuple[str, str, str]:
    """A probability and the ends of its interval as percentages; small ones with powers of ten: `9.6e-5`, `1.5e-4`."""
    if high < ALL_SMALL and any(0.0 < each < LEAST_DECIMAL for each in (value, low, high)):
        first, second = (_scientific(end, 2) if end > 0.0 else "0" for end in (low, high))
        return _scientific(value, 2) if value > 0.0 else "0", first, second
    return (
        percent_digits(value),
        _end(low, ">99.99%", percent_digits(low)),
        _end(high, ">99.99%", percent_digits(high)),
    )


def short_percent(value: float) -> str:
    """A percentage where there is little room: `35%`, `3.1%`, `0.02%`, `9.5e-7`."""
    if 0.0 < value < LEAST_DECIMAL:
        return _scientific(value, 2)
    if value < 0.0005:
        return f"{value:.2%}" if value else "0%"
    if 0.9995 <= value < 1.0:
        return ">99.9%"
    return f"{value:.1%}" if value < 0.0995 or 0.99 < value < 1.0 else f"{value:.0%}"


def belief_digits(value: float | None) -> str:
    """How probable a statement is, as a share of draws, of which two decimals are known: `<0.01`, `0.87`, `>0.99`."""
    if value is None:
        return "not known"
    if value < 0.005:
        return "<0.01"
    return ">0.99" if value > 0.995 else f"{value:.2f}"


def count_digits(count: float) -> str:
    """How often something was observed; an expected count has as many digits as matter: `12`, `0.03`, `1,204`."""
    if count == int(count) or count >= 100.0:
        return f"{count:,.0f}"
    if count >= 10.0:
        return f"{count:.1f}"
    return f"{count:.2g}" if count >= 0.01 else "<0.01"


def four_digits(value: float) -> str:
    """Any number with four digits at most: `12.5`, `1.007e-9`."""
    number, power_sign, power = f"{value:.4g}".partition("e")
    return f"{number}e{int(power)}" if power_sign else number


def _end(value: float, above: str, otherwise: str) -> str:
    """An end of an interval; one that is nearer to one than is known is a bound."""
    if 0.0 < value < LEAST_DECIMAL:
        return _scientific(value, 2)
    return above if 1.0 - LEAST_END < value < 1.0 else otherwise


def _scientific(value: float, digits: int) -> str:
    """`1.1e-6`, without the zeros that Python writes."""
    if value < LEAST_SHOWN:
        return "<1e-12"
    number, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{number.removesuffix('.0')}e{int(power)}"


def _decimals_needed(value: float) -> int:
    """For two digits of a small probability, and for one of what another lacks to one."""
    if not 0.0 < value < 1.0:
        return 0
    return max(1 - floor(log10(value)), -floor(log10(1.0 - value)))

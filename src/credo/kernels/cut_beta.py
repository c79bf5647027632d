"""Beta distributions between two ends: how probable these are, and a draw from between them, however far out.

In the log-odds x of a Beta(a, b) variate its log density is a·x − (a + b)·log(1 + eˣ), concave for all a and b.
"""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.polytope_moves import FARTHEST, log_split, uniform
from credo.kernels.sampler_arrays import BORROWING

NARROW = 1.0  # the width in log-odds, and
LEVEL = 6.0  # the difference of log densities, up to which a short quadrature is exact
TINY = 1e-300
MOST_OUTSIDE = 0.999  # of the probability, from which one less it is not exact enough
MOST_TERMS = 20_000  # of a continued fraction, which needs about √(a + b)
MOST_TRIALS = 10_000
# Gauss and Legendre: half of the 16 nodes in (−1, 1), which are symmetric, and their weights.
NODES = np.polynomial.legendre.leggauss(16)[0][8:]
WEIGHTS = np.polynomial.legendre.leggauss(16)[1][8:]


# Probabilities --------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def continued_fraction(a: float, b: float, x: float) -> float:
    """The fraction of the incomplete Beta function [DLMF, 8.17.22], quick for x < (a + 1)/(a + b + 2)."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > TINY else TINY)
    value = d
    for m in range(1, MOST_TERMS):
        for odd in range(2):
            if odd:
                term = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
            else:
                term = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > TINY else TINY)
            c = 1.0 + term / c
            c = c if abs(c) > TINY else TINY
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


@compiled(**BORROWING)
def log_tail(a: float, b: float, x: float, rest: float) -> float:
    """log P(T < x) of a Beta(a, b) variate T, for x below (a + 1)/(a + b + 2); `rest` is 1 − x."""
    if x <= 0.0:
        return -np.inf
    norm = lgamma(a + b) - lgamma(a) - lgamma(b)
    return norm + a * np.log(x) + b * np.log(rest) + np.log(continued_fraction(a, b, x)) - np.log(a)


@compiled(**BORROWING)
def odds_of(value: float) -> float:
    """log(value/(1 − value)), infinite at the ends."""
    return -np.inf if value <= 0.0 else np.inf if value >= 1.0 else np.log(value) - np.log1p(-value)


@compiled(**BORROWING)
def log_by_quadrature(a: float, b: float, low: float, high: float, panels: int) -> float:
    """log P(low < T < high) by sixteen points in each panel of the log-odds; 0 < low < high < 1."""
    left, right = odds_of(low), odds_of(high)
    top = log_split(a, b, min(max(np.log(a) - np.log(b), left), right))
    half = 0.5 * np.log1p((high - low) / (low * (1.0 - high))) / panels
    total = 0.0
    for panel in range(panels):
        middle = left + (2 * panel + 1) * half
        for k in range(len(NODES)):
            below, above = middle - half * NODES[k], middle + half * NODES[k]
            total += WEIGHTS[k] * (np.exp(log_split(a, b, below) - top) + np.exp(log_split(a, b, above) - top))
    return lgamma(a + b) - lgamma(a) - lgamma(b) + top + np.log(total * half)


@compiled(**BORROWING)
def log_between(a: float, b: float, low: float, high: float) -> float:
    """log P(low < T < high) of a Beta(a, b) variate T."""
    if low <= 0.0 and high >= 1.0:
        return 0.0
    if not low < high:
        return -np.inf
    left, right = odds_of(low), odds_of(high)
    if right - left < NARROW:
        top = log_split(a, b, min(max(np.log(a) - np.log(b), left), right))
        if top - min(log_split(a, b, left), log_split(a, b, right)) < LEVEL:
            return log_by_quadrature(a, b, low, high, 1)
    pivot = (a + 1.0) / (a + b + 2.0)
    if high <= pivot:
        outer, inner = log_tail(a, b, high, 1.0 - high), log_tail(a, b, low, 1.0 - low)
        return outer + np.log1p(-np.exp(inner - outer))
    if low >= pivot:
        outer, inner = log_tail(b, a, 1.0 - low, low), log_tail(b, a, 1.0 - high, high)
        return outer + np.log1p(-np.exp(inner - outer))
    outside = np.exp(log_tail(a, b, low, 1.0 - low)) + np.exp(log_tail(b, a, 1.0 - high, high))
    if outside < MOST_OUTSIDE:
        return np.log1p(-outside)
    # Nearly everything is outside, in corners: between them the density is smooth.
    if low <= 0.0:
        return log_tail(a, b, high, 1.0 - high)
    if high >= 1.0:
        return log_tail(b, a, 1.0 - low, low)
    return log_by_quadrature(a, b, low, high, int(right - left) + 1)


# Draws ----------------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def slope(a: float, b: float, odds: float) -> float:
    """The derivative of the log density, a·(1 − t) − b·t."""
    small = np.exp(-abs(odds))
    return (a * small - b if odds > 0.0 else a - b * small) / (1.0 + small)


@compiled(**BORROWING)
def exponential_mass(rate: float, width: float) -> float:
    """The integral of exp(−rate·u) over 0 < u < width."""
    return width if rate * width < 1e-9 else -np.expm1(-rate * width) / rate


@compiled(**BORROWING)
def exponential_draw(rate: float, width: float, generator: Any) -> float:
    """A draw with density exp(−rate·u) over 0 < u < width."""
    share = uniform(generator)
    if rate * width < 1e-9:
        return share * width
    return min(-np.log1p(share * np.expm1(-rate * width)) / rate, width)


@compiled(**BORROWING)
def odds_between(a: float, b: float, left: float, right: float, generator: Any) -> float:
    """The log-odds of a Beta(a, b) variate between two ends, which may be infinite.

    By rejection from the exponentials that touch the density where it is largest and where it has fallen to about a
    third on either side [Gilks and Wild, 1992]: two of three trials are accepted, wherever the ends are.
    """
    top = min(max(np.log(a) - np.log(b), left), right)
    level, here = log_split(a, b, top), slope(a, b, top)
    here = 0.0 if left < top < right else here
    small = np.exp(-abs(top))
    curvature = max((a + b) * small / (1.0 + small) ** 2, 1e-300)
    step = 2.0 / (abs(here) + np.sqrt(here * here + 2.0 * curvature))
    # Everything from here on is counted from `top`: pieces (…, low), (low, high), (high, …).
    low, high, mass_left, mass_right, slope_left, slope_right = left - top, right - top, 0.0, 0.0, 0.0, 0.0
    left_level = right_level = 0.0  # of the hat, at `low` and at `high`
    if here >= 0.0 and low < -step:
        slope_left = slope(a, b, top - step)
        if slope_left - here > 1e-9 * slope_left:
            fallen = log_split(a, b, top - step) - level
            low = min(max(-(fallen + slope_left * step) / (slope_left - here), -step), 0.0)
            left_level = here * low
            mass_left = np.exp(left_level) * exponential_mass(slope_left, low - (left - top))
    if here <= 0.0 and high > step:
        slope_right = slope(a, b, top + step)
        if here - slope_right > -1e-9 * slope_right:
            fallen = log_split(a, b, top + step) - level
            high = max(min((fallen - slope_right * step) / (here - slope_right), step), 0.0)
            right_level = here * high
            mass_right = np.exp(right_level) * exponential_mass(-slope_right, (right - top) - high)
    # The middle falls from its higher end, at which its level is zero: that is `top`, or beside it.
    mass = np.exp(max(here * low, here * high) if here != 0.0 else 0.0) * exponential_mass(abs(here), high - low)
    odds = top
    for _ in range(MOST_TRIALS):
        share = uniform(generator) * (mass_left + mass + mass_right)
        if share < mass:
            far = exponential_draw(abs(here), high - low, generator)
            odds = high - far if here > 0.0 else low + far
            hat = here * odds
        elif share < mass + mass_left:
            far = exponential_draw(slope_left, low - (left - top), generator)
            odds, hat = low - far, left_level - slope_left * far
        else:
            far = exponential_draw(-slope_right, (right - top) - high, generator)
            odds, hat = high + far, right_level + slope_right * far
        odds += top
        if np.log(uniform(generator)) < log_split(a, b, odds) - level - hat:
            break
    return min(max(odds, left), right)


@compiled(**BORROWING)
def draw_between(a: float, b: float, low: float, high: float, generator: Any) -> Any:
    """A Beta(a, b) variate between two ends, and one less it."""
    odds = min(max(odds_between(a, b, odds_of(low), odds_of(high), generator), -FARTHEST), FARTHEST)
    value, rest = 1.0 / (1.0 + np.exp(-odds)), 1.0 / (1.0 + np.exp(odds))
    if value < low or value > high:  # by rounding
        value = min(max(value, low), high)
        rest = 1.0 - value
    return value, rest

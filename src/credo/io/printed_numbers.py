"""Numbers as files print them: texts to arrays and back, and what the rounding of printed digits explains.

A file with six digits holds distributions that sum to 0.999999. The numbers are then right as far as they go: such a
distribution is divided by its sum, and the reader says so.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from credo.errors import NetworkError, RoundedNumbersWarning, counted, readable_count
from credo.io.files import warn_caller
from credo.tolerances import SUM_TOLERANCE
from credo.types import Numbers, PathLike

# Nothing is tried twice (`++`), so that a text of many digits is refused as quickly as it is read.
NUMBER = re.compile(r"[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")

# A distribution with fewer digits than this that does not sum to one is a mistake rather than rounded.
FEWEST_DIGITS = 3
LARGEST_ROUNDING = 0.5 * 10.0**-FEWEST_DIGITS  # of a number below one
LARGEST_BELOW_ZERO = 1e-6  # of a number that rounding made negative: several units of single precision

_DIGITS = re.compile(r"([0-9]*)\.?([0-9]*)(?:[eE]([-+]?[0-9]+))?")


# Texts to arrays ------------------------------------------------------------------------------------------------------


def parse_numbers(text: str) -> Numbers | None:
    """Numbers separated by blanks, each read to the last bit; None if anything else is among them."""
    values = _parse_plain(text)
    if values is None:  # a mistake, or blanks that only Python knows
        words = text.split()
        if not all(NUMBER.fullmatch(word) for word in words):
            return None
        values = np.array([float(word) for word in words])
    return values


def _parse_plain(text: str) -> Numbers | None:
    """The same without an object for each number; None where something is not plain."""
    if not text.isascii() or re.search(r"[^-+.0-9eE \t\r\n]", text):
        return None
    blank = np.frombuffer(text.encode("ascii"), dtype=np.uint8) <= ord(" ")
    count = int((~blank[1:] & blank[:-1]).sum() + (~blank[:1]).sum())  # of words
    if count == 0:
        return np.zeros(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy only warns where a word is not a number
            values: Numbers = np.fromstring(text, dtype=np.float64, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    # `0.10.9` gives two numbers: each word has to give one.
    return values if len(values) == count else None


def numbers_of(text: str, shape: tuple[int, ...], what: str) -> Numbers:
    """Numbers separated by blanks, as an array of this shape."""
    values = parse_numbers(text)
    if values is None:
        wrong = next(word for word in text.split() if not NUMBER.fullmatch(word))
        raise NetworkError(f"{what} has `{wrong[:40]}` where a number is expected.")
    if len(values) != prod(shape):
        raise NetworkError(f"{what} has {counted(len(values), 'number')}; it needs {readable_count(prod(shape))}.")
    return values.reshape(shape)


def number_text(values: Numbers) -> str:
    """The numbers of an array, each as the shortest text that reads back as the same float."""
    return " ".join(map(repr, values.ravel().tolist()))


# What rounding explains -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class RoundedSums:
    """The distributions of one file or object that do not sum to one because their digits are rounded."""

    found: list[tuple[str, float]] = field(default_factory=list)  # the variable and the sum of each
    below_zero: list[str] = field(default_factory=list)  # the variable of each that had a number just below zero

    def normalised(self, name: str, cpt: Numbers) -> Numbers:
        """The CPT with such distributions divided by their sums.

        These are the distributions whose sum is off by more than `SUM_TOLERANCE`, but by no more than rounding
        explains, and those with a number just below zero, which becomes zero. All others stay as they are, to the last
        bit.
        """
        if not cpt.size:
            return cpt
        distributions = cpt.reshape(-1, cpt.shape[-1])
        if distributions.min() < 0.0:
            distributions = self._without_negative(name, distributions)
            cpt = distributions.reshape(cpt.shape)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused later, with its place
            sums = distributions.sum(axis=1)
            errors = np.abs(sums - 1)
            if errors.max() <= SUM_TOLERANCE:
                return cpt
            off = np.flatnonzero((errors > SUM_TOLERANCE) & (errors < LARGEST_ROUNDING * (cpt.shape[-1] + 10)))
        explained = [place for place in off.tolist() if errors[place] <= rounding(distributions[place].tolist())]
        if not explained:
            return cpt
        changed: Numbers = distributions.copy()
        changed[explained] /= sums[explained, None]
        self.found += [(name, float(sums[place])) for place in explained]
        return changed.reshape(cpt.shape)

    def _without_negative(self, name: str, distributions: Numbers) -> Numbers:
        """The distributions with zeros for what a subtraction in single precision leaves of zero."""
        positive = np.maximum(distributions, 0.0)
        sums = positive.sum(axis=1)
        is_small = (distributions >= -LARGEST_BELOW_ZERO).all(axis=1) & (distributions < 0.0).any(axis=1)
        small = np.flatnonzero(is_small & (np.abs(sums - 1.0) <= 10.0 * LARGEST_BELOW_ZERO))
        changed: Numbers = distributions.copy()
        changed[small] = positive[small] / sums[small, None]
        self.below_zero += [name] * len(small)
        return changed

    def warn(self, source: PathLike) -> None:
        """Warn of the distributions that were changed, if there are any."""
        if self.below_zero:
            warn_caller(
                f"{os.fspath(source)}: {counted(len(self.below_zero), 'distribution')} had a number just below zero, "
                f"because digits are rounded, the first of {self.below_zero[0]}. It is read as zero.",
                RoundedNumbersWarning,
            )
        if not self.found:
            return
        name, total = max(self.found, key=lambda found: abs(found[1] - 1))
        several = f"{len(self.found):,} distributions do" if len(self.found) > 1 else "One distribution does"
        warn_caller(
            f"{os.fspath(source)}: {several} not sum to 1, because digits are rounded; the worst, of {name}, sums to "
            f"{total:.9g}. Each is divided by its sum. Save the network with more digits to avoid this.",
            RoundedNumbersWarning,
        )


def rounding(distribution: Sequence[float]) -> float:
    """How far the sum of a distribution can be off because its numbers are rounded to the digits that they have.

    A number x is off by at most half a unit of its last digit. Programs drop zeros at the end, so the last digit is
    that of the number as it is printed, or a later one: that of the longest number of the distribution, by decimals or
    by significant digits, whichever comes first.
    """
    printed = [_decimals_and_digits(text) for text in _texts(distribution)]
    longest = max(decimals for decimals, _, _ in printed)
    digits = max(FEWEST_DIGITS, *(digits for _, digits, _ in printed))
    if longest < FEWEST_DIGITS:
        return 0.0
    units = (
        min(10.0**-decimals, max(10.0 ** (exponent - digits), 10.0**-longest)) for decimals, _, exponent in printed
    )
    return sum(units) / 2 + 1e-12


def _texts(distribution: Sequence[float]) -> Iterator[str]:
    """Each number as the shortest text: as a single-precision number if all of them are."""
    with np.errstate(over="ignore"):
        single = np.array(distribution, dtype=np.float32)
    if (single == np.array(distribution)).all():
        return iter(map(str, single))
    return map(repr, distribution)


def _decimals_and_digits(text: str) -> tuple[int, int, int]:
    """How many decimals and significant digits a number has, and the power of ten above its first digit."""
    match = _DIGITS.match(text.lstrip("-"))
    if match is None or not (match[1] or match[2]):  # nan, inf
        return 0, 0, 0
    whole, fraction, exponent = match[1].lstrip("0"), match[2].rstrip("0"), int(match[3] or 0)
    decimals = max(0, len(fraction) - exponent)
    digits = len((whole + fraction).lstrip("0"))
    above = len(whole) + exponent if whole else exponent - (len(fraction) - len(fraction.lstrip("0")))
    return decimals, digits, above

"""Cut points: where the numbers of a measured variable are divided into its states."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credo.errors import NetworkError
from credo.model.state_texts import number_text
from credo.types import MISSING, Indices

FEWEST_DIGITS = 4  # that a label keeps of a number
MOST_DIGITS = 17  # that tell every number from every other


@dataclass(frozen=True, slots=True)
class CutPoints:
    """Where a measured variable is cut into states: state k holds the numbers from points[k-1] to below points[k].

    The first state holds everything below the first point, the last one everything from the last point on. So
    `CutPoints((40, 60))` makes three states, and 40 belongs to the second.

    Parameters
    ----------
    points : sequence of float
        The cut points, increasing.
    lowest, highest : float, optional
        The smallest and the largest number seen when the cut points were chosen or the network was learned, if that is
        known. They belong to no comparison: cut points are equal if their points are.

    Raises
    ------
    NetworkError
        If there is no point, a point is not a finite number, or the points do not increase.

    Examples
    --------
    >>> CutPoints((40, 60)).codes([39.9, 40, 75, float("nan")]).tolist()
    [0, 1, 2, -1]
    """

    points: tuple[float, ...]
    lowest: float | None = field(default=None, compare=False)
    highest: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        given: Any = self.points
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise NetworkError(f"Cut points are a list of numbers, not {given!r}.")
        points = tuple(_finite(point) for point in given)
        if not points:
            raise NetworkError("At least one cut point is needed: none was given.")
        for low, high in pairwise(points):
            if not low < high:
                raise NetworkError(f"Cut points increase, but {number_text(low)} comes before {number_text(high)}.")
        object.__setattr__(self, "points", points)
        for end in ("lowest", "highest"):
            if (value := getattr(self, end)) is not None:
                object.__setattr__(self, end, _finite(value))
        if self.lowest is not None and self.highest is not None and self.lowest > self.highest:
            raise NetworkError(
                f"The lowest number, {number_text(self.lowest)}, is above the highest, {number_text(self.highest)}."
            )

    def __str__(self) -> str:
        return ", ".join(number_text(point) for point in self.points)

    def codes(self, numbers: ArrayLike) -> Indices:
        """The number of the state that each number is in.

        Parameters
        ----------
        numbers : array_like
            Numbers; NaN is a missing value.

        Returns
        -------
        ndarray of int
            State numbers, from 0; -1 for NaN.
        """
        values = np.asarray(numbers, dtype=np.float64)
        return np.where(np.isnan(values), MISSING, np.searchsorted(self.points, values, side="right"))

    def code(self, number: float) -> int:
        """The number of the state that one number is in.

        Parameters
        ----------
        number : float
            A number; NaN is a missing value.

        Returns
        -------
        int
            The state's number, from 0; -1 for NaN.
        """
        return MISSING if math.isnan(number) else bisect_right(self.points, number)

    def same_range(self, other: CutPoints | None) -> bool:
        """Whether other cut points were made from the same range of numbers.

        Parameters
        ----------
        other : CutPoints or None
            Cut points of another variable or table.

        Returns
        -------
        bool
            False also for None.
        """
        return other is not None and (self.lowest, self.highest) == (other.lowest, other.highest)

    def with_range(self, lowest: float | None, highest: float | None) -> CutPoints:
        """The same cut points with another range of numbers seen.

        Parameters
        ----------
        lowest, highest : float or None
            The range; None where it is not known.

        Returns
        -------
        CutPoints
            New cut points.
        """
        return CutPoints(self.points, lowest, highest)


def default_labels(points: Sequence[float]) -> tuple[str, ...]:
    """Names of the states between cut points: `<40`, `40-60`, `60+`.

    Long numbers are rounded, as far as they stay different; `-5 to -2` has a word where a minus sign would be unclear.
    """
    words = _words(points)
    joint = " to " if any("-" in word for word in words) else "-"
    between = [f"{low}{joint}{high}" for low, high in pairwise(words)]
    return (f"<{words[0]}", *between, f"{words[-1]}+")


def _words(points: Sequence[float]) -> list[str]:
    """The points as short texts that all differ and increase."""
    for digits in range(FEWEST_DIGITS, MOST_DIGITS):
        rounded = [float(f"{point:.{digits}g}") for point in points]
        if all(low < high for low, high in pairwise(rounded)):
            # Whole numbers are never rounded: 20251 is not 20250.
            return [
                number_text(exact if float(exact).is_integer() else short)
                for exact, short in zip(points, rounded, strict=True)
            ]
    return [number_text(point) for point in points]


def _finite(value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
        raise NetworkError(f"A cut point is a finite number, not {value!r}.")
    if float(value) != value:
        raise NetworkError(f"The cut point {value} is not exact: whole numbers are, up to {2**53}.")
    return float(value)

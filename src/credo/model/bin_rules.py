"""How a user says where numbers are cut: cut points, or a rule that finds them in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo.errors import OptionError
from credo.model.cut_points import CutPoints

MOST_BINS = 1000  # that a rule may make: no table has rows enough for more


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Cut points with about as many rows in each state.

    Parameters
    ----------
    bins : int
        The number of states; there are fewer where many rows hold the same number.
    rounded : bool, default False
        Whether to move each cut point to the roundest number near it, such as 40 instead of 41.37. A state may so
        gain or lose a fifth of its rows at either end.
    """

    bins: int
    rounded: bool = False

    def __post_init__(self) -> None:
        _check_bins(self.bins, "Quantiles")


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Cut points at equal distances between the smallest and the largest number.

    Parameters
    ----------
    bins : int
        The number of states; ranges that hold no row are joined with the next one.
    """

    bins: int

    def __post_init__(self) -> None:
        _check_bins(self.bins, "EqualWidth")


@dataclass(frozen=True, slots=True)
class Supervised:
    """Cut points that tell the states of another variable apart, found by a decision tree of scikit-learn.

    The tree sees which states of the target occur with which numbers. Cut points found in the same rows that a network
    is learned from make the two variables look a little more related than they are.

    Parameters
    ----------
    target : str
        The variable whose states the cut points should distinguish.
    most : int, default 4
        The largest number of states.
    """

    target: str
    most: int = 4

    def __post_init__(self) -> None:
        _check_bins(self.most, "Supervised")


BinRule = int | Sequence[float] | CutPoints | Quantiles | EqualWidth | Supervised


def as_rule(name: str, rule: object) -> CutPoints | Quantiles | EqualWidth | Supervised:
    """What a user gave for a column as one of the kinds of rule: a number means quantiles, a list cut points."""
    if isinstance(rule, CutPoints | Quantiles | EqualWidth | Supervised):
        return rule
    if isinstance(rule, int | np.integer) and not isinstance(rule, bool):
        return Quantiles(int(rule))
    if isinstance(rule, Sequence | np.ndarray) and not isinstance(rule, str | bytes):
        return CutPoints(tuple(rule))
    raise OptionError(
        f"The cut points of {name} are a list of numbers, a number of states, Quantiles, EqualWidth or Supervised; "
        f"not {rule!r}."
    )


def _check_bins(bins: object, rule: str) -> None:
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 2 <= bins <= MOST_BINS:
        raise OptionError(f"{rule} needs a number of states, from 2 to {MOST_BINS:,}, not {bins!r}.")

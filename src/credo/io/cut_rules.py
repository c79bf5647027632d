"""Rules that choose cut points from the numbers in a column: quantiles, equal widths, a decision tree, or round numbers.

Every rule leaves at least one number in each state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo.errors import MissingExtraError, OptionError
from credo.model.cut_points import CutPoints
from credo.types import Codes, Numbers

SLACK = 0.2  # of the rows of a state, that round cut points may move
FEWEST_ROWS = 0.05  # of all rows, in a state that a decision tree makes


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
        The variable whose states are told apart.
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
    if hasattr(rule, "__index__") and not isinstance(rule, bool | np.bool_):
        return Quantiles(int(rule))  # type: ignore[call-overload, no-any-return]
    if isinstance(rule, Sequence | np.ndarray) and not isinstance(rule, str | bytes):
        return CutPoints(tuple(rule))
    raise OptionError(
        f"The cut points of {name} are a list of numbers, a number of states, Quantiles, EqualWidth or Supervised; "
        f"not {rule!r}."
    )


def quantile_points(numbers: Numbers, bins: int, weights: Numbers | None = None, slack: float = 0.0) -> list[float]:
    """Cut points with about the same weight in each state; a row of weight two is two rows.

    Each is the roundest number among those that divide the rows in the same way; with `slack`, among those that shift
    at most this share of a state's weight.
    """
    distinct, share = _shares(numbers, weights)
    points: list[float] = []
    for k in range(1, bins):
        # The first number below which the wanted share lies; sums are rounded.
        place = int(np.searchsorted(share, k / bins - 1e-12)) + 1
        if place >= len(distinct):
            break
        first, last = place, place
        if slack:
            first = min(place, int(np.searchsorted(share, (k - slack) / bins - 1e-12)) + 1)
            last = min(max(place, int(np.searchsorted(share, (k + slack) / bins + 1e-12))), len(distinct) - 1)
        point = roundest(distinct[first - 1], distinct[last], _between(distinct[place - 1], distinct[place]))
        if not points or point > points[-1]:
            points.append(point)
    return points


def equal_width_points(numbers: Numbers, bins: int) -> list[float]:
    """Cut points at equal distances; those that would leave a state without a row are left out."""
    distinct, _ = _shares(numbers, None)
    edges = np.linspace(distinct[0], distinct[-1], bins + 1)[1:-1]
    kept: list[float] = []
    below = distinct[0]
    for edge in edges.tolist():
        after = distinct[np.searchsorted(distinct, edge) :]
        if len(after) and (np.searchsorted(distinct, edge) > np.searchsorted(distinct, below)):
            kept.append(edge)
            below = edge
    return kept


def supervised_points(numbers: Numbers, target: Codes, most: int) -> list[float]:
    """The thresholds of a decision tree that predicts the target from the numbers; none if it finds nothing."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingExtraError("scikit-learn", "sklearn", "to choose cut points by a decision tree") from None
    both = ~np.isnan(numbers) & (target >= 0)
    distinct, ranks = np.unique(numbers[both], return_inverse=True)  # the tree rounds numbers, but not ranks
    if len(distinct) < 2:
        return []
    fewest = max(2, math.ceil(FEWEST_ROWS * both.sum()))
    tree = DecisionTreeClassifier(max_leaf_nodes=most, min_samples_leaf=fewest, random_state=0)
    tree.fit(ranks.reshape(-1, 1), target[both])
    found = tree.tree_.threshold[tree.tree_.feature >= 0]
    places = sorted({int(each) for each in found})
    return [
        roundest(distinct[place], distinct[place + 1], _between(distinct[place], distinct[place + 1]))
        for place in places
    ]


def roundest(above: float, up_to: float, near: float) -> float:
    """The roundest number in (above, up_to]: the multiple of the largest 1, 2 or 5 times a power of ten, near `near`.

    Examples
    --------
    >>> roundest(38.4, 45.6, 42.0)
    40.0
    >>> roundest(0.0, 0.2, 0.1), roundest(62.0, 69.6, 66.0)
    (0.1, 65.0)
    """
    if not above < up_to:
        return up_to
    power = math.floor(math.log10(max(abs(above), abs(up_to)))) + 1
    while power > -320:
        for lead in (5, 2, 1):
            point = _multiple(lead, power, near)
            for step in (0, 1, -1):
                candidate = _times(point + step, lead, power)
                if above < candidate <= up_to:
                    return candidate
        power -= 1
    return up_to


def _multiple(lead: int, power: int, near: float) -> int:
    return round(near / _times(1, lead, power))


def _times(count: int, lead: int, power: int) -> float:
    """Count times lead times ten to the power, rounded once."""
    return float(f"{count * lead}e{power}")


def _between(low: float, high: float) -> float:
    """A number that is above the one and not above the other, in the middle where that exists."""
    middle = low / 2 + high / 2
    return float(middle) if low < middle <= high else float(high)


def _shares(numbers: Numbers, weights: Numbers | None) -> tuple[Numbers, Numbers]:
    """The distinct numbers, and which share of the weight is up to each."""
    seen = ~np.isnan(numbers)
    distinct, which = np.unique(numbers[seen], return_inverse=True)
    weight = np.bincount(which, weights=None if weights is None else weights[seen])
    return distinct, np.cumsum(weight) / weight.sum()


def _check_bins(bins: object, rule: str) -> None:
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 2:
        raise OptionError(f"{rule} needs a number of states, at least 2, not {bins!r}.")

"""How cut points are chosen from the numbers in a column: quantiles, equal widths, or a decision tree; round numbers.

Every rule leaves at least one number in each state.
"""

from __future__ import annotations

import math

import numpy as np

from credo.errors import MissingExtraError
from credo.types import Codes, Numbers

SLACK = 0.2  # of the rows of a state, that round cut points may move
FEWEST_ROWS = 0.05  # of all rows, in a state that a decision tree makes


def quantile_points(numbers: Numbers, bins: int, weights: Numbers | None = None, slack: float = 0.0) -> list[float]:
    """Cut points with about the same weight in each state; a row of weight two is two rows.

    Each is the roundest number among those that divide the rows in the same way; with `slack`, among those that shift
    at most this share of a state's weight.
    """
    distinct, share = _shares(numbers, weights)
    points: list[float] = []
    for k in range(1, bins) if len(distinct) > 1 else ():
        place = int(np.abs(share[:-1] - k / bins).argmin())  # the last number below the cut
        first = min(place, int(np.searchsorted(share, (k - slack) / bins - 1e-12)))  # sums are rounded
        last = max(place, min(int(np.searchsorted(share, (k + slack) / bins + 1e-12)), len(distinct) - 1) - 1)
        if not slack:
            first = last = place
        if points:  # some number belongs to the state between this point and the one before
            first = max(first, int(np.searchsorted(distinct, points[-1])))
        if first <= last:
            points.append(roundest(distinct[first], distinct[last + 1], _between(distinct[place], distinct[place + 1])))
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
    """The thresholds of a decision tree that predicts the target from the numbers.

    A split is kept if it raises the log-likelihood of the target by more than the penalty of the BIC: there may be
    none.
    """
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingExtraError("scikit-learn", "sklearn", "to choose cut points by a decision tree") from None
    both = ~np.isnan(numbers) & (target >= 0)
    distinct, ranks = np.unique(numbers[both], return_inverse=True)  # the tree rounds numbers, but not ranks
    if len(distinct) < 2:
        return []
    rows = int(both.sum())
    states = len(np.unique(target[both]))
    # A split has a threshold and states - 1 probabilities more: the penalty of the BIC, in bits a row.
    least = states * math.log2(rows) / (2 * rows)
    tree = DecisionTreeClassifier(
        criterion="entropy",
        max_leaf_nodes=most,
        min_samples_leaf=max(2, math.ceil(FEWEST_ROWS * rows)),
        min_impurity_decrease=least,
        random_state=0,
    )
    tree.fit(ranks.reshape(-1, 1), target[both])
    found = tree.tree_.threshold[tree.tree_.feature >= 0]
    places = sorted({int(each) for each in found})
    return [
        roundest(distinct[place], distinct[place + 1], _between(distinct[place], distinct[place + 1]))
        for place in places
    ]


def roundest(above: float, up_to: float, near: float) -> float:
    """The number in (above, up_to] with the fewest digits; among these one that ends in 5, then the one near `near`.

    Examples
    --------
    >>> roundest(38.4, 45.6, 42.0)
    40.0
    >>> roundest(62.0, 69.6, 66.0), roundest(0.12, 0.19, 0.16)
    (65.0, 0.15)
    """
    if above < 0 <= up_to:
        return 0.0
    if not above < up_to:
        return up_to
    first = math.floor(math.log10(max(abs(above), abs(up_to))))
    steps = [(1, first), *((lead, power) for power in range(first - 1, first - 18, -1) for lead in (5, 1))]
    for lead, power in steps:
        step = float(f"{lead}e{power}")
        if step == 0 or not math.isfinite(near / step):
            break
        count = round(near / step)
        for each in (count, count + 1, count - 1):
            candidate = float(f"{each * lead}e{power}")  # rounded once
            if above < candidate <= up_to:
                return candidate
    return up_to


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

"""Coordinates in which numbers that constraints keep tiny are of order one: P(failure) ≤ 1e-8 is not P(failure) ≤ 0.

Linear programs are exact to about 1e-9, so that in θ itself a tiny number looks like zero. Ranges of numbers that
follow from one constraint after the other have no such errors [Savelsbergh, 1994]. With θ = σ·φ, σ the largest
value that a tiny number can have, φ is between 0 and 1. Where a number is almost one, the others of its distribution
are tiny, and it is replaced by one minus their sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.types import Indices, Numbers

TINY = 1e-4  # a largest value below this has a scale of its own
SMALLEST = 1e-200  # what is below is zero
ROUNDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """The hard constraints of a block in other coordinates."""

    linear: LinearConstraints
    scales: Numbers  # (parameters,) σ


def scaled(block: Block, members: Numbers) -> Scaled | None:
    """The hard constraints of a block for θ/σ, each divided by its largest coefficient; None where nothing is tiny.

    Each parameter stands for so many equal `members`.
    """
    low, high = ranges(block, members)
    scales = np.where((high < TINY) & (high > SMALLEST), high, 1.0)
    if (scales == 1.0).all():
        return None
    linear = _without_dominating(block, members, low)
    coefficients = linear.coefficients * scales[linear.indices]
    largest = np.zeros(len(linear))
    np.maximum.at(largest, linear.entry_constraints, np.abs(coefficients))
    largest[largest == 0.0] = 1.0
    linear = replace(
        linear, coefficients=coefficients / largest[linear.entry_constraints], bounds=linear.bounds / largest
    )
    return Scaled(linear, scales)


def ranges(block: Block, members: Numbers) -> tuple[Numbers, Numbers]:
    """The smallest and the largest value of each parameter that follow from one constraint after the other."""
    low, high = np.zeros(block.size), np.ones(block.size)
    constraints = _constraints_of(block, members)
    for _ in range(ROUNDS):
        for columns, values, bound in constraints:
            least = np.where(values > 0.0, values * low[columns], values * high[columns])
            room = bound - (least.sum() - least)  # for each one, if all others are as small as they can be
            with np.errstate(divide="ignore", over="ignore"):
                limits = room / values
            up, down = values > 0.0, values < 0.0
            np.minimum.at(high, columns[up], limits[up])
            np.maximum.at(low, columns[down], limits[down])
        np.clip(low, 0.0, 1.0, out=low)
        np.clip(high, 0.0, 1.0, out=high)
    return low, high


def _constraints_of(block: Block, members: Numbers) -> list[tuple[Indices, Numbers, float]]:
    """Every constraint as Σ a·θ ≤ b, equalities and the sums of distributions in both directions."""
    linear, found = block.linear, list[tuple[Indices, Numbers, float]]()
    for (start, stop), bound, is_equality in zip(
        pairwise(linear.starts.tolist()), linear.bounds.tolist(), linear.equality.tolist(), strict=True
    ):
        columns = linear.indices[start:stop]
        values = linear.coefficients[start:stop] * members[columns]
        found.append((columns, values, bound))
        if is_equality:
            found.append((columns, -values, -bound))
    for start, stop in pairwise(block.distributions.tolist()):
        columns = np.arange(start, stop)
        found += [(columns, members[columns], 1.0), (columns, -members[columns], -1.0)]
    return found


def _without_dominating(block: Block, members: Numbers, low: Numbers) -> LinearConstraints:
    """The constraints, weighted by members, with 1 − Σ others in the place of every parameter that is almost one."""
    from scipy.sparse import coo_array, csr_array

    linear = block.linear
    linear = replace(linear, coefficients=linear.coefficients * members[linear.indices])
    dominating = np.flatnonzero(low > 1.0 - TINY)
    if not np.isin(linear.indices, dominating).any():
        return linear
    kept = np.setdiff1d(np.arange(block.size), dominating)
    entries = [(kept, kept, np.ones(len(kept)))]
    for place in dominating.tolist():
        owner = int(block.distribution_of[place])
        others = np.arange(block.distributions[owner], block.distributions[owner + 1])
        others = others[others != place]
        entries.append((np.full(len(others), place), others, -members[others]))
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    replaced = coo_array((values, (rows, columns)), shape=(block.size, block.size))
    matrix = csr_array(linear.matrix(block.size) @ replaced.tocsr())
    matrix.eliminate_zeros()
    constants = np.isin(np.arange(block.size), dominating).astype(np.float64)
    return replace(
        linear,
        starts=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(np.int64),
        coefficients=np.asarray(matrix.data, dtype=np.float64),
        bounds=linear.bounds - linear.values(constants),
    )

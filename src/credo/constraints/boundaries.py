"""Inequalities that hold only where their left side is as small as it can be: P(…) ≤ 0, P(…) ≥ 1.

Like an equality, such a statement leaves a set without volume: its probability is zero before and after any data, and
no draw satisfies it. Where statements are compared with data or doubted, they are read like equalities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credo.types import Flags

if TYPE_CHECKING:
    from credo.constraints.constraint_set import GeneralConstraint, LinearConstraints
    from credo.model.layout import Layout

ROOM = 1e-12  # a difference from the smallest value that is rounding


def without_room(linear: LinearConstraints, layout: Layout) -> Flags:
    """Which constraints hold only at the smallest value of Σ c·θ: the sum of min c over each distribution.

    States that a constraint does not mention have c = 0.
    """
    if not len(linear.indices):
        return np.zeros(len(linear), dtype=np.bool_)
    starts = layout.distribution_starts()
    sizes = np.diff(starts, append=layout.size)
    owners = layout.distribution_of(linear.indices)
    order = np.lexsort((owners, linear.entry_constraints))
    constraints, owners, values = linear.entry_constraints[order], owners[order], linear.coefficients[order]
    is_first = np.append(True, (np.diff(constraints) != 0) | (np.diff(owners) != 0))
    firsts = np.flatnonzero(is_first)
    smallest = np.minimum.reduceat(values, firsts)
    mentioned = np.diff(firsts, append=len(values))
    smallest = np.where(mentioned < sizes[owners[firsts]], np.minimum(smallest, 0.0), smallest)
    least = np.bincount(constraints[firsts], smallest, len(linear))
    can_vary = np.bincount(constraints[firsts], sizes[owners[firsts]] > 1, len(linear)) > 0.0
    return np.asarray((linear.bounds <= least + ROOM) & can_vary, dtype=np.bool_)


def general_without_room(constraint: GeneralConstraint) -> bool:
    """The same of a constraint on any probability, where all of its terms can be as small as possible at once."""
    coefficients = [coefficient for coefficient, _ in constraint.terms] + list(constraint.coefficients)
    return constraint.bound <= sum(min(value, 0.0) for value in coefficients) + ROOM

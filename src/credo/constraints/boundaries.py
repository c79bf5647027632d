"""Inequalities that hold only where their left side is as small as it can be: P(…) ≤ 0, P(…) ≥ 1.

Like an equality, such a statement leaves a set without volume: its probability is zero before and after any data, and
no draw satisfies it. Where statements are compared with data or doubted, they are read like equalities. But what they
leave no probability at all must not have been observed, not once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from credo.constraints.blocks import Block
    from credo.constraints.constraint_set import LinearConstraints, NetworkConstraint
    from credo.model.layout import Layout

ROOM = 1e-15  # a difference from the smallest value that is rounding


def without_room(linear: LinearConstraints, layout: Layout) -> Flags:
    """Which constraints hold only at the smallest value of Σ c·θ: the sum of min c over each distribution.

    States that a constraint does not mention have c = 0.
    """
    if not len(linear.indices):
        return np.zeros(len(linear), dtype=np.bool_)
    sizes = np.diff(layout.distribution_starts(), append=layout.size)
    return _without_room(linear, _smallest(linear, layout.distribution_of(linear.indices), sizes))


def rules_out(block: Block, observed: Numbers, least: float) -> Flags:
    """Which linear constraints leave no probability to something of which more than `least` was observed.

    They hold only at the smallest value of Σ c·θ, equalities also at the largest: there all states are zero but those
    with the smallest, or largest, c of their distribution.
    """
    linear = block.linear
    found = np.zeros(len(linear), dtype=np.bool_)
    if not len(linear.indices):
        return found
    owners, sizes = block.distribution_of[linear.indices], np.diff(block.distributions)
    totals = np.add.reduceat(observed, block.distributions[:-1])
    counts = observed[linear.indices]
    for sign in (1.0, -1.0):
        turned = replace(linear, coefficients=sign * linear.coefficients, bounds=sign * linear.bounds)
        low = _smallest(turned, owners, sizes)
        own = low.group_of_entries
        beyond = np.bincount(own, counts * (turned.coefficients > low.values[own] + ROOM), len(low.values))
        others = totals[low.owners] - np.bincount(own, counts, len(low.values))
        beyond += np.where(low.values < -ROOM, others, 0.0)
        excluded = np.bincount(low.constraints, beyond, len(linear)) > least
        found |= excluded & _without_room(turned, low) & (linear.equality | (sign > 0.0))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Smallest:
    """The smallest c of every constraint in every distribution that it mentions: a group of its entries."""

    group_of_entries: Indices  # (entries of the constraints,)
    constraints: Indices  # (groups,)
    owners: Indices  # (groups,) the distributions
    values: Numbers  # (groups,)
    can_vary: Flags  # (groups,) whether the distribution has more than one state


def _smallest(linear: LinearConstraints, owners: Indices, sizes: Indices) -> _Smallest:
    order = np.lexsort((owners, linear.entry_constraints))
    constraints, sorted_owners, values = linear.entry_constraints[order], owners[order], linear.coefficients[order]
    is_first = np.append(True, (np.diff(constraints) != 0) | (np.diff(sorted_owners) != 0))
    firsts = np.flatnonzero(is_first)
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.cumsum(is_first) - 1
    smallest = np.minimum.reduceat(values, firsts)
    mentioned, own = np.diff(firsts, append=len(values)), sorted_owners[firsts]
    smallest = np.where(mentioned < sizes[own], np.minimum(smallest, 0.0), smallest)
    return _Smallest(groups, constraints[firsts], own, smallest, sizes[own] > 1)


def _without_room(linear: LinearConstraints, smallest: _Smallest) -> Flags:
    least = np.bincount(smallest.constraints, smallest.values, len(linear))
    can_vary = np.bincount(smallest.constraints, smallest.can_vary, len(linear)) > 0.0
    return np.asarray((linear.bounds <= least + ROOM) & can_vary, dtype=np.bool_)


def network_constraint_without_room(constraint: NetworkConstraint) -> bool:
    """The same of a constraint on any probability, where all of its terms can be as small as possible at once."""
    coefficients = [coefficient for coefficient, _ in constraint.terms] + list(constraint.coefficients)
    return constraint.bound <= sum(min(value, 0.0) for value in coefficients) + ROOM

"""Constraints whose coefficients differ so much that one tolerance cannot hold them: each becomes two.

All tolerances are in units of a constraint's largest coefficient. With L for the entries near it and S for those far
below it, what S means would vanish in them: 1e10·P(a) + P(b) ≥ 1e10 + 0.5 says that P(b) ≥ 0.5. From

    Σ_L c·θ + Σ_S c·θ ≤ b   follow   Σ_S c·θ ≤ b − min Σ_L c·θ   and   Σ_L c·θ ≤ b − min Σ_S c·θ,

where minima are over all distributions. The first is added. Where all of S is below the tolerance, the second takes the
place of the whole, which then is missed by less than the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from credo.constraints.constraint_set import LinearConstraint, LinearConstraints, joined
from credo.model.layout import Layout
from credo.types import Flags, Indices, Numbers

SMALL = 1e-6  # of the largest coefficient, for all small ones together
TOLERANCE = 1e-8  # by which statements may be missed

Ends = tuple[float, float]  # the least and the most that a sum can be


def separated(linear: LinearConstraints, layout: Layout) -> LinearConstraints:
    """The constraints, hard ones with small coefficients beside large ones as those that follow from them."""
    wide = _wide(linear)
    if not wide.any():
        return linear
    starts, parts, kept = layout.distribution_starts(), [], 0
    for number in np.flatnonzero(wide).tolist():
        parts.append(linear.take(np.arange(kept, number)))
        parts.append(LinearConstraints.of(_parts(linear[number], starts, layout.size)))
        kept = number + 1
    return joined((*parts, linear.take(np.arange(kept, len(linear)))))


def _wide(linear: LinearConstraints) -> Flags:
    """The hard constraints that have small coefficients beside large ones."""
    found = np.zeros(len(linear), dtype=np.bool_)
    full = linear.lengths > 0
    if full.any():
        sizes, places = np.abs(linear.coefficients), linear.starts[:-1][full]
        smallest = np.minimum.reduceat(sizes, places)
        found[full] = smallest * linear.lengths[full] <= SMALL * np.maximum.reduceat(sizes, places)
    return found & linear.hard


def _parts(whole: LinearConstraint, starts: Indices, size: int) -> Iterator[LinearConstraint]:
    indices, coefficients = np.array(whole.indices), np.array(whole.coefficients)
    sizes = np.abs(coefficients)
    is_small = sizes * len(sizes) <= SMALL * sizes.max()
    small, large = (indices[is_small], coefficients[is_small]), (indices[~is_small], coefficients[~is_small])
    of_small, of_large = _ends(*small, starts, size), _ends(*large, starts, size)
    room = TOLERANCE * float(sizes.max())
    if sizes[is_small].sum() > room:
        yield whole
        yield from _implied(whole, *small, of_small, of_large)
        return
    if whole.equality:
        yield _part(whole, *large, whole.bound - 0.5 * sum(of_small), equality=True)
    else:
        bound = whole.bound - of_small[0]
        if of_large[0] <= bound <= of_large[0] + room:
            bound = of_large[0]  # there is no more room than tolerances have
        yield _part(whole, *large, bound)
    yield from _implied(whole, *small, of_small, of_large)


def _implied(
    whole: LinearConstraint, indices: Indices, coefficients: Numbers, ends: Ends, others: Ends
) -> Iterator[LinearConstraint]:
    """What a constraint says about these entries, where all others together are between two numbers."""
    if ends[1] > whole.bound - others[0]:
        yield _part(whole, indices, coefficients, whole.bound - others[0])
    if whole.equality and ends[0] < whole.bound - others[1]:
        yield _part(whole, indices, -coefficients, others[1] - whole.bound)


def _ends(indices: Indices, coefficients: Numbers, starts: Indices, size: int) -> Ends:
    """The least and the most that Σ c·θ can be: one state has all the probability in each distribution."""
    least = most = 0.0
    distributions = np.searchsorted(starts, indices, side="right") - 1
    lengths = np.diff(starts, append=size)
    for distribution in np.unique(distributions):
        own = coefficients[distributions == distribution]
        others = () if len(own) == lengths[distribution] else (0.0,)
        least, most = least + min(*own, *others, own[0]), most + max(*own, *others, own[0])
    return float(least), float(most)


def _part(
    whole: LinearConstraint, indices: Indices, coefficients: Numbers, bound: float, equality: bool = False
) -> LinearConstraint:
    return LinearConstraint(
        tuple(indices.tolist()), tuple(coefficients.tolist()), bound, whole.statement, equality, scale=whole.scale
    )

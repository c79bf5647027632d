"""Constraints whose coefficients differ so much that one tolerance cannot hold them: each becomes two.

All tolerances are in units of a constraint's largest coefficient. With L for the entries near it and S for those far
below it, what S means would vanish in them: 1e10·P(a) + P(b) ≥ 1e10 + 0.5 says that P(b) ≥ 0.5. From

    Σ_L c·θ + Σ_S c·θ ≤ b   follow   Σ_S c·θ ≤ b − min Σ_L c·θ   and   Σ_L c·θ ≤ b − min Σ_S c·θ,

where minima are over all distributions. The first is added. Where all of S is below the tolerance, the second takes the
place of the whole, which then is missed by less than the tolerance. The same holds of probabilities that depend on
several CPTs, each between 0 and 1.

Soft constraints stay whole: they are not held, but weighed, with their violation in units of the largest coefficient.
What is far below it has no weight beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from credo.constraints.constraint_set import (
    LinearConstraint,
    LinearConstraints,
    NetworkConstraint,
    NetworkProbability,
    joined,
)
from credo.model.layout import Layout
from credo.model.network import Network
from credo.types import Flags, Indices, Numbers

SMALL = 1e-6  # of the largest coefficient, for all small ones together
TOLERANCE = 1e-8  # by which statements may be missed
MOST_CELLS = 4096  # joint states of the variables of an event that are enumerated

Ends = tuple[float, float]  # the least and the most that a sum can be


class Part(NamedTuple):
    """sign · Σ c·θ ≤ bound (or = bound), over these entries of a constraint."""

    entries: Flags
    sign: float
    bound: float
    equality: bool


def separated(linear: LinearConstraints, layout: Layout) -> LinearConstraints:
    """The constraints, hard ones with small coefficients beside large ones as those that follow from them."""
    wide = _wide(linear)
    if not wide.any():
        return linear
    starts, parts, kept = layout.distribution_starts(), [], 0
    for number in np.flatnonzero(wide).tolist():
        parts.append(linear.take(np.arange(kept, number)))
        parts.append(LinearConstraints.of(_linear_parts(linear[number], starts, layout.size)))
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


def separated_network_constraint(
    whole: NetworkConstraint, layout: Layout, network: Network
) -> Iterator[NetworkConstraint]:
    """A constraint about any probability whose numbers are those of the statement, or what follows from it."""
    coefficients = np.array([*(coefficient for coefficient, _ in whole.terms), *whole.coefficients])
    is_small = _small(coefficients)
    if whole.confidence is not None or not is_small.any():
        yield whole
        return
    starts, count = layout.distribution_starts(), len(whole.terms)

    def ends(chosen: Flags) -> Ends:
        terms = [term for term, is_chosen in zip(whole.terms, chosen[:count].tolist(), strict=True) if is_chosen]
        own = chosen[count:]
        entries = _ends(np.array(whole.indices, dtype=np.int64)[own], coefficients[count:][own], starts, layout.size)
        of_terms = _term_ends(terms, network)
        return entries[0] + of_terms[0], entries[1] + of_terms[1]

    for part in _parts(coefficients, whole.bound, whole.equality, is_small, ends(is_small), ends(~is_small)):
        own = np.flatnonzero(part.entries)
        yield replace(
            whole,
            terms=tuple((part.sign * whole.terms[k][0], whole.terms[k][1]) for k in own[own < count].tolist()),
            indices=tuple(whole.indices[k] for k in (own[own >= count] - count).tolist()),
            coefficients=tuple((part.sign * coefficients[own[own >= count]]).tolist()),
            bound=part.bound,
            equality=part.equality,
        )


def _linear_parts(whole: LinearConstraint, starts: Indices, size: int) -> Iterator[LinearConstraint]:
    indices, coefficients = np.array(whole.indices), np.array(whole.coefficients)
    is_small = _small(coefficients)
    of_small, of_large = (_ends(indices[own], coefficients[own], starts, size) for own in (is_small, ~is_small))
    for part in _parts(coefficients, whole.bound, whole.equality, is_small, of_small, of_large):
        own, signed = indices[part.entries], part.sign * coefficients[part.entries]
        yield LinearConstraint(
            tuple(own.tolist()), tuple(signed.tolist()), part.bound, whole.statement, part.equality, scale=whole.scale
        )


def _small(coefficients: Numbers) -> Flags:
    """Those that are far below the largest, even all together."""
    sizes = np.abs(coefficients)
    return np.asarray(sizes * len(sizes) <= SMALL * sizes.max(), dtype=np.bool_)


def _parts(
    coefficients: Numbers, bound: float, equality: bool, is_small: Flags, of_small: Ends, of_large: Ends
) -> Iterator[Part]:
    """What follows from a constraint whose small and large entries have sums between these ends."""
    sizes = np.abs(coefficients)
    room = TOLERANCE * float(sizes.max())
    if sizes[is_small].sum() > room:
        yield Part(np.ones(len(sizes), dtype=np.bool_), 1.0, bound, equality)
    elif equality:
        yield Part(~is_small, 1.0, bound - 0.5 * sum(of_small), True)
    else:
        rest = bound - of_small[0]
        if of_large[0] <= rest <= of_large[0] + room:
            rest = of_large[0]  # there is no more room than tolerances have
        yield Part(~is_small, 1.0, rest, False)
    if of_small[1] > bound - of_large[0]:
        yield Part(is_small, 1.0, bound - of_large[0], False)
    if equality and of_small[0] < bound - of_large[1]:
        yield Part(is_small, -1.0, of_large[1] - bound, False)


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


def _term_ends(terms: Sequence[tuple[float, NetworkProbability]], network: Network) -> Ends:
    """The least and the most that Σ c·P(events | conditions) can be, where other variables or conditions are free."""
    groups: dict[tuple[object, ...], list[tuple[float, NetworkProbability]]] = {}
    for coefficient, asked in terms:
        key = (tuple(name for name, _ in asked.events), asked.conditions)
        groups.setdefault(key, []).append((coefficient, asked))
    least = most = 0.0
    for group in groups.values():
        names = [name for name, _ in group[0][1].events]
        sizes = [len(network.states(name)) for name in names]
        if prod(sizes) > MOST_CELLS:
            least += sum(min(coefficient, 0.0) for coefficient, _ in group)
            most += sum(max(coefficient, 0.0) for coefficient, _ in group)
            continue
        values = [  # where one joint state of these variables has all the probability
            sum(c for c, asked in group if all(k in own for k, (_, own) in zip(cell, asked.events, strict=True)))
            for cell in product(*map(range, sizes))
        ]
        least, most = least + min(values), most + max(values)
    return least, most

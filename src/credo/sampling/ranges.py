"""Distributions that a range of one sum of states bounds, and nothing else: they are drawn exactly, without moves.

"P(fever=yes | flu=no) ≤ 0.2" leaves a distribution a Beta variate that is cut off, and nothing to explore. Those that
are equal in counts and range form classes; large classes are summed over where the CPT's mean and weights are drawn
(`kernels/collapsed.py`), because thousands of equal distributions would hold these in their place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from credo.constraints.blocks import Block
from credo.kernels.sampler_arrays import DistributionArrays, Ranges
from credo.sampling.directions import Directions
from credo.sampling.region import Region
from credo.sampling.wide_distributions import WIDE
from credo.types import Flags, Indices, Numbers

LEAST_SHARED = 4  # members of a class, from which it is summed over
MOST_SHARED = 64  # such classes of a CPT: each costs as much as a few parameters
MOST_JUDGED = 32  # members of a shared class whose draws are looked at, to see whether all of them have mixed
_ZERO = 1e-12

Range = tuple[Flags, float, float]  # which states are summed, and between which values their sum is
Key = tuple[int, bytes, float, float, bytes, int]  # family, states, range, counts, whether it has data


def ranges_of(
    region: Region, arrays: DistributionArrays, counts_change: bool = False, elsewhere: Flags | None = None
) -> Ranges:
    """The classes of all such distributions; with `counts_change`, as where values are missing, each is one by itself.

    Distributions of no block have no bounds, and are classes only where these are large. Groups that are updated
    `elsewhere` are in no class, and need no moves.
    """
    known: dict[int, Range | None] = {}
    classes: dict[Key, list[int]] = {}
    named = np.zeros(int(arrays.starts[-1]), dtype=np.bool_)
    closed = np.zeros(len(region.blocks), dtype=np.bool_)
    number = 0
    for group, (block, part) in enumerate(zip(region.blocks, region.parts, strict=True)):
        if id(part) not in known:  # blocks of one shape share their directions
            known[id(part)] = range_of(block, part)
        found = known[id(part)]
        if elsewhere is not None and elsewhere[group]:
            closed[group] = True
        elif found is not None and arrays.informative[number]:
            closed[group] = True
            start, stop = int(arrays.starts[number]), int(arrays.starts[number + 1])
            named[start:stop] = found[0]
            own = number if counts_change else int(arrays.seen[number])
            key = (
                int(arrays.families[number]),
                found[0].tobytes(),
                *found[1:],
                arrays.counts[start:stop].tobytes(),
                own,
            )
            classes.setdefault(key, []).append(number)
        number += len(block.configurations)
    if not counts_change:
        for number in range(int(arrays.constrained[0]), len(arrays.families)):
            start, stop = int(arrays.starts[number]), int(arrays.starts[number + 1])
            named[start] = True
            counts = arrays.counts[start:stop].tobytes()
            key = (int(arrays.families[number]), b"", 0.0, 1.0, counts, int(arrays.seen[number]))
            classes.setdefault(key, []).append(number)
    return _in_arrays(classes, arrays, named, closed, counts_change)


def range_of(block: Block, part: Directions) -> Range | None:
    """The range of one sum of states that is all a block says; None for every other block."""
    if len(block.configurations) > 1 or part.equalities.shape[0] or part.extras.shape[0]:
        return None
    if not part.moves.shape[0]:
        return None  # other updates have the block
    forms = part.inequalities.matrix(block.size).toarray()
    bounds = part.inequalities.bounds - forms[:, -1]
    forms = forms - forms[:, -1:]  # the states sum to one: the last needs no coefficient
    low, high = 0.0, 1.0
    states = np.abs(forms) > _ZERO
    first = states[0] if len(states) else np.arange(block.size) == 0
    if block.size >= WIDE and block.size - int(first.sum()) >= WIDE:
        return None  # `wide_distributions` draws these
    for form, own, bound in zip(forms, states, bounds.tolist(), strict=True):
        value = float(form[own][0]) if own.any() else 0.0
        if (own != first).any() or not own.any() or np.ptp(form[own]) > _ZERO * abs(value):
            return None
        low, high = (low, min(high, bound / value)) if value > 0.0 else (max(low, bound / value), high)
    return (first, low, high) if low < high else None


def _in_arrays(
    classes: dict[Key, list[int]], arrays: DistributionArrays, named: Flags, closed: Flags, counts_change: bool
) -> Ranges:
    edge, families, components = int(arrays.constrained[0]), len(arrays.cells) - 1, arrays.strengths.shape[1]
    # Where no base is drawn, what a component adds is known once for all, for each distribution by itself.
    each = arrays.first_predicted[0] == arrays.uniform_components[0] and not counts_change
    shared = set() if each else _shared(classes)
    kept = sorted((key for key, members in classes.items() if key in shared or members[0] < edge), key=lambda k: k[0])
    lengths = [len(classes[key]) for key in kept]
    numbers = np.array([number for key in kept for number in classes[key]], dtype=np.int64)
    flags = np.array([key in shared for key in kept], dtype=np.bool_)
    owners = np.array([key[0] for key in kept], dtype=np.int64)
    class_of = np.full(len(arrays.families), -1, dtype=np.int64)
    class_of[numbers] = np.repeat(np.arange(len(kept)), lengths)
    summed_over = np.zeros(len(arrays.families), dtype=np.bool_)
    summed_over[numbers[np.repeat(flags, lengths)]] = True
    given, starts, uninformative = _given(arrays, summed_over)
    alone = each & ((class_of[given] >= 0) | (given >= edge))
    summed_over[given[alone]] = True
    found = Ranges(
        numbers,
        _starts(np.array(lengths, dtype=np.int64)),
        np.array([key[2] for key in kept], dtype=np.float64),
        np.array([key[3] for key in kept], dtype=np.float64),
        flags | each,
        named,
        _starts(np.bincount(owners, minlength=families)),
        np.bincount(owners, flags, families) > 0.0,
        summed_over,
        closed,
        given,
        starts,
        uninformative,
        np.zeros((len(kept), components)),
        alone,
        np.zeros((len(given), components)),
    )
    if flags.any() or alone.any():
        from credo.kernels.range_classes import set_fixed_logs, set_given_values

        means = np.ones(int(arrays.cells[-1]))
        if each:
            set_given_values(arrays, found, class_of[given], means)
        else:
            set_fixed_logs(arrays, found, means)
    return found


def _given(arrays: DistributionArrays, summed_over: Flags) -> tuple[Indices, Indices, Indices]:
    """The distributions that no class stands for where m and π are drawn, CPT by CPT; and those of no matter there."""
    numbers = np.flatnonzero(arrays.informative & ~summed_over)
    owners = arrays.families[numbers]
    starts = _starts(np.bincount(owners, minlength=len(arrays.cells) - 1))
    return numbers[np.argsort(owners, kind="stable")], starts, np.flatnonzero(~arrays.informative)


def _shared(classes: dict[Key, list[int]]) -> set[Key]:
    """The classes that are summed over: of each CPT the largest, if large enough."""
    chosen: set[Key] = set()
    count: Counter[int] = Counter()
    for key in sorted(classes, key=lambda key: -len(classes[key])):
        if len(classes[key]) >= LEAST_SHARED and count[key[0]] < MOST_SHARED:
            count[key[0]] += 1
            chosen.add(key)
    return chosen


def _starts(lengths: Indices) -> Indices:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def judged(
    measure: Callable[[Numbers], Numbers], draws: Numbers, ranges: Ranges, arrays: DistributionArrays
) -> Numbers:
    """A measure of draws, (chains, draws, parameters), for each parameter.

    The members of a shared class mix alike, as their draws given m and π are independent. The median over some is a
    better estimate than any one of thousands, the least of which is small by chance.
    """
    wanted = np.ones(draws.shape[2], dtype=np.bool_)
    pooled: list[tuple[Indices, int]] = []
    for which in np.flatnonzero(ranges.shared & (np.diff(ranges.class_starts) > MOST_JUDGED)).tolist():
        members = ranges.numbers[ranges.class_starts[which] : ranges.class_starts[which + 1]]
        if arrays.starts[members[0] + 1] <= draws.shape[2]:
            states = int(arrays.starts[members[0] + 1] - arrays.starts[members[0]])
            places = (arrays.starts[members][:, None] + np.arange(states)).ravel()
            wanted[places[MOST_JUDGED * states :]] = False
            pooled.append((places, states))
    if not pooled:
        return measure(draws)
    found = np.empty(draws.shape[2])
    found[wanted] = measure(draws[:, :, wanted])
    for places, states in pooled:
        some = found[places[: MOST_JUDGED * states]].reshape(MOST_JUDGED, states)
        found[places] = np.tile(np.median(some, axis=0), len(places) // states)
    return found

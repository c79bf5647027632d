"""Which parameters of a block are updated jointly: those that statements hold close, and each on its own.

Distributions that are "about the same" have modes in common: all in one corner, all in the other, all near their base.
Between modes there is next to no probability, and the more distributions are tied, the less: moves that go there step
by step never arrive. A joint update proposes all of them, one after the other, each within what the statements leave
it, given those before; so they end up in another mode together, however far away it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from credo.arrays import Flags, Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.kernels.sampler_arrays import JointUpdates
from credo.sampling.directions import CLOSE, Directions, close_forms, starts_of

WIDTHS = (CLOSE, 0.15)  # parameters are tied where bounds hold them this close: loosely, and closely
CORRELATIONS = (0.5, 0.9)  # and where draws are correlated so much
ALONE = 0.5  # how likely a sweep updates a parameter on its own
PASSES = 4  # over all constraints, to find what they leave to each parameter
ROUNDING = 1e-12
MOST_TIED = 12  # parameters of an update at most: of more, one is rejected nearly always

Update = tuple[int, ...]  # parameters in the order in which they are proposed, one of a distribution
Pairs = list[tuple[int, int]]
Share = dict[int, tuple[float, float]]  # of each distribution, the least and the most that it adds to a constraint


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """Where the statements let the parameters of a block be, and what they tie together."""

    block: Block
    singles: tuple[int, ...]  # the parameters that can be updated: of two states the first, none beside a zero
    ties: tuple[Pairs, ...]  # for each of `WIDTHS`
    sums: Pairs  # any two parameters of a sum that is held closely
    low: Numbers  # (parameters,)
    high: Numbers  # (parameters,)
    bounds: Numbers  # (constraints,)
    shares: list[Share]  # of each constraint
    touching: list[list[int]]  # of each distribution, the constraints on its states
    touching_extras: list[list[int]]
    extras: int  # how many there are


def supports_of(blocks: Sequence[Block], parts: Sequence[Directions], start: Numbers) -> list[Support]:
    """One for each block; `start` says which parameters can be other than zero."""
    ends = np.cumsum([block.size for block in blocks], dtype=np.int64).tolist()
    return [
        _support(block, part, start[end - block.size : end] > 0.0)
        for block, part, end in zip(blocks, parts, ends, strict=True)
    ]


def joint_updates_of(supports: Sequence[Support], draws: Numbers | None = None) -> JointUpdates:
    """The joint updates of all blocks in one.

    `draws`, (draws, parameters), show which parameters are correlated; without them, statements alone tie parameters.
    """
    found: list[Update] = []
    checks: list[list[tuple[int, float]]] = []  # of each step: constraints, and what later steps add at least
    extras: list[list[int]] = []  # of each update
    first = first_constraint = first_extra = 0
    for support in supports:
        block = support.block
        for update in _updates(support, None if draws is None else draws[:, first : first + block.size]):
            steps = [int(block.distribution_of[i]) for i in update]
            for bounding in _checks(support, steps):
                checks.append([(first_constraint + constraint, least) for constraint, least in bounding])
            extras.append(sorted({first_extra + extra for d in steps for extra in support.touching_extras[d]}))
            found.append(tuple(first + i for i in update))
        first += block.size
        first_constraint += len(support.bounds)
        first_extra += support.extras
    return JointUpdates(
        starts_of([len(update) for update in found]),
        _flat(found),
        starts_of([len(step) for step in checks]),
        _flat([[constraint for constraint, _ in step] for step in checks]),
        np.array([least for step in checks for _, least in step], dtype=np.float64),
        np.concatenate([np.zeros(0), *(support.low for support in supports)]),
        np.concatenate([np.zeros(0), *(support.high for support in supports)]),
        starts_of([len(touched) for touched in extras]),
        _flat(extras),
        _chances(np.array([len(update) for update in found], dtype=np.int64)),
    )


def _chances(sizes: Indices) -> Numbers:
    """How likely a sweep makes each: those of several parameters propose, together, as many as those of one."""
    alone, steps = int((sizes == 1).sum()), int(sizes[sizes > 1].sum())
    return np.where(sizes == 1, ALONE, min(1.0, ALONE * alone / max(1, steps)))


def _flat(lists: Sequence[Sequence[int]]) -> Indices:
    return np.array([i for each in lists for i in each], dtype=np.int64)


def _touching(block: Block, starts: Indices, indices: Indices) -> list[list[int]]:
    """Of each distribution the constraints on its states."""
    found: list[dict[int, None]] = [{} for _ in block.configurations]
    for constraint in range(len(starts) - 1):
        for d in block.distribution_of[indices[starts[constraint] : starts[constraint + 1]]].tolist():
            found[d][constraint] = None
    return [list(each) for each in found]


def _ends(block: Block, linear: LinearConstraints) -> tuple[Numbers, Numbers]:
    """Between which values constraints leave each parameter, as far as one constraint after the other shows it."""
    low, high = np.zeros(block.size), np.ones(block.size)
    owners, numbers, values = linear.entry_constraints, linear.indices, linear.coefficients
    for _ in range(PASSES):
        least = np.minimum(values * low[numbers], values * high[numbers])
        spare = linear.bounds - np.bincount(owners, least, len(linear))
        limits = (spare[owners] + least) / values
        np.minimum.at(high, numbers[values > 0.0], limits[values > 0.0])
        np.maximum.at(low, numbers[values < 0.0], limits[values < 0.0])
        lows, highs = (np.add.reduceat(ends, block.distributions[:-1])[block.distribution_of] for ends in (low, high))
        low, high = np.maximum(low, 1.0 - (highs - high)), np.minimum(high, 1.0 - (lows - low))
    # Rounding must not exclude the point where a chain is.
    return np.maximum(low - ROUNDING, 0.0), np.minimum(high + ROUNDING, 1.0)


def _shares(block: Block, linear: LinearConstraints, low: Numbers, high: Numbers) -> list[Share]:
    """What distributions can add to each constraint: Σ c·θ at the ends of its parameters, at most max c."""
    sizes = np.diff(block.distributions)
    owners = block.distribution_of[linear.indices].tolist()
    at_low, at_high = linear.coefficients * low[linear.indices], linear.coefficients * high[linear.indices]
    least, most, values = np.minimum(at_low, at_high), np.maximum(at_low, at_high), linear.coefficients
    found = []
    for start, stop in zip(linear.starts[:-1].tolist(), linear.starts[1:].tolist(), strict=True):
        entries: dict[int, list[int]] = {}
        for e in range(start, stop):
            entries.setdefault(owners[e], []).append(e)
        share = {}
        for d, own in entries.items():
            corners = [*values[own], *([0.0] if len(own) < sizes[d] else ())]
            share[d] = max(least[own].sum(), min(corners)), min(most[own].sum(), max(corners))
        found.append(share)
    return found


def _checks(support: Support, steps: Sequence[int]) -> Iterator[list[tuple[int, float]]]:
    """For each step the constraints that can bound it, with the least that distributions drawn later add to them."""
    order = {d: step for step, d in enumerate(steps)}
    for step, d in enumerate(steps):
        found = []
        for constraint in support.touching[d]:
            later = most = 0.0
            for other, (least, greatest) in support.shares[constraint].items():
                if order.get(other, -1) > step:
                    later += least
                else:
                    most += greatest
            if later + most > support.bounds[constraint]:
                found.append((constraint, later))
        yield found


def _support(block: Block, part: Directions, possible: Flags) -> Support:
    inequalities = part.inequalities
    sizes = np.diff(block.distributions)
    complete = np.logical_and.reduceat(possible, block.distributions[:-1])  # distributions without a zero
    singles = [
        i
        for i in range(block.size)
        if complete[d := block.distribution_of[i]] and (sizes[d] > 2 or (sizes[d] == 2 and i == block.distributions[d]))
    ]
    forms = {width: [[i for i, _ in form] for form in close_forms(block, inequalities, width)] for width in WIDTHS}
    low, high = _ends(block, inequalities)
    return Support(
        block,
        () if part.equalities.shape[0] else tuple(singles),
        tuple([(form[0], form[1]) for form in forms[width] if len(form) == 2] for width in WIDTHS),
        [pair for form in forms[CLOSE] if len(form) > 2 for pair in combinations(form, 2)],
        low,
        high,
        inequalities.bounds,
        _shares(block, inequalities, low, high),
        _touching(block, inequalities.starts, inequalities.indices),
        _touching(block, part.extras.indptr, part.extras.indices),
        part.extras.shape[0],
    )


def _updates(support: Support, draws: Numbers | None) -> list[Update]:
    """Every parameter on its own; then what is tied, more and more closely."""
    updates: dict[frozenset[int], Update] = {frozenset((i,)): (i,) for i in support.singles}
    for pairs in (*support.ties, *(_correlated(draws) if draws is not None else ())):
        tied: dict[int, list[int]] = {i: [] for i in support.singles}
        for i, j in pairs:
            if i in tied and j in tied:
                tied[i].append(j)
                tied[j].append(i)
        # Where a sum is held, no parameter can move alone, but two of it can, with what each is tied to.
        for numbers in (*((i,) for i in support.singles), *support.sums):
            together = [j for i in numbers if i in tied for j in _connected(i, tied)]
            update = _one_each(support.block, together)
            if 1 < len(update) <= MOST_TIED:
                updates.setdefault(frozenset(update), update)
    return list(updates.values())


def _correlated(draws: Numbers) -> Iterator[Pairs]:
    """Pairs of correlated parameters: what several statements tie, and modes that chains are caught in."""
    centred = draws - draws.mean(axis=0)
    scaled = centred / np.maximum(np.sqrt((centred**2).sum(axis=0)), 1e-12)
    correlation = np.abs(scaled.T @ scaled)
    for least in CORRELATIONS:
        yield list(zip(*np.nonzero(np.triu(correlation, 1) >= least), strict=True))


def _connected(start: int, tied: dict[int, list[int]]) -> list[int]:
    """What is tied to a parameter, nearest first."""
    found = {start: None}
    for i in (queue := [start]):
        for j in tied[i]:
            if j not in found:
                found[j] = None
                queue.append(j)
    return list(found)


def _one_each(block: Block, numbers: list[int]) -> Update:
    """The first parameter of each distribution: two of one cannot both be raised at the cost of all others."""
    first: dict[int, int] = {}
    for i in numbers:
        first.setdefault(int(block.distribution_of[i]), i)
    return tuple(first.values())

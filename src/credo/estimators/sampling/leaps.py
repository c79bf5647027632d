"""Which numbers of a block leap together: those that statements hold close, and each on its own.

Rows that are "about the same" have modes in common: all in one corner, all in the other, all near their base. Between
modes lies next to nothing, and the more rows are tied, the less: moves that go there step by step never arrive. A leap
draws all of them anew, one after the other, each within what the statements leave it, given those before; so they end
up in a mode together, however far away it is (`leap_kernel.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.rows import Flags, Indices, Numbers
from credo.estimators.sampling.directions import CLOSE, Directions, close_forms
from credo.estimators.sampling.leap_kernel import Leaps
from credo.estimators.sampling.polytope_rows import starts_of

WIDTHS = (CLOSE, 0.15)  # numbers are tied where their bounds are this close: loosely, and closely
CORRELATIONS = (0.5, 0.9)  # and where draws show them to go together so much
ALONE = 0.5  # how likely a sweep lets a number leap on its own
MOST_TIED = 12  # numbers that leap together at most: of more, one is refused nearly always

Leap = tuple[int, ...]  # parameters in the order in which they are drawn, one of a distribution


def leaps_of(
    blocks: Sequence[Block], parts: Sequence[Directions], start: Numbers, draws: Numbers | None = None
) -> Leaps:
    """The leaps of all blocks in one; `start` says which parameters can be other than zero.

    `draws`, (draws, parameters), show what goes together; without them, statements alone say it.
    """
    found: list[Leap] = []
    checks: list[list[int]] = []  # of each step of each leap: rows whose last number it draws
    extras: list[list[int]] = []  # of each leap
    first = first_row = first_extra = 0
    for block, part in zip(blocks, parts, strict=True):
        place = slice(first, first + block.size)
        shown = None if draws is None else draws[:, place]
        own = [] if part.equalities.shape[0] else _leaps(block, part, start[place] > 0.0, shown)
        touching = _touching(block, part.inequalities.starts, part.inequalities.indices)
        touching_extras = _touching(block, part.extras.indptr, part.extras.indices)
        for leap in own:
            steps = [int(block.distribution_of[i]) for i in leap]
            last = {row: step for step, d in enumerate(steps) for row in touching[d]}
            checks += [[first_row + row for row, at in last.items() if at == step] for step in range(len(steps))]
            extras.append(sorted({first_extra + extra for d in steps for extra in touching_extras[d]}))
            found.append(tuple(first + i for i in leap))
        first += block.size
        first_row += len(part.inequalities)
        first_extra += part.extras.shape[0]
    return Leaps(
        starts_of([len(leap) for leap in found]),
        _flat(found),
        starts_of([len(rows) for rows in checks]),
        _flat(checks),
        starts_of([len(rows) for rows in extras]),
        _flat(extras),
        _chances(np.array([len(leap) for leap in found], dtype=np.int64)),
    )


def _chances(sizes: Indices) -> Numbers:
    """How likely a sweep makes each: those of several numbers draw, together, as many as those of one."""
    alone, steps = int((sizes == 1).sum()), int(sizes[sizes > 1].sum())
    return np.where(sizes == 1, ALONE, min(1.0, ALONE * alone / max(1, steps)))


def _flat(lists: Sequence[Sequence[int]]) -> Indices:
    return np.array([i for each in lists for i in each], dtype=np.int64)


def _touching(block: Block, starts: Indices, indices: Indices) -> list[list[int]]:
    """Of each distribution the rows that name one of its states."""
    found: list[dict[int, None]] = [{} for _ in block.table_rows]
    for row in range(len(starts) - 1):
        for d in block.distribution_of[indices[starts[row] : starts[row + 1]]].tolist():
            found[d][row] = None
    return [list(each) for each in found]


def _leaps(block: Block, part: Directions, possible: Flags, draws: Numbers | None) -> list[Leap]:
    """Every number on its own, of two states the first; then what is tied, more and more closely."""
    sizes = np.diff(block.distributions)
    whole = np.logical_and.reduceat(possible, block.distributions[:-1])  # distributions without a zero
    singles = [
        i
        for i in range(block.size)
        if whole[d := block.distribution_of[i]] and (sizes[d] > 2 or i == block.distributions[d])
    ]
    leaps: dict[frozenset[int], Leap] = {frozenset((i,)): (i,) for i in singles}
    forms = {width: [[i for i, _ in form] for form in close_forms(block, part.inequalities, width)] for width in WIDTHS}
    said = [[(form[0], form[1]) for form in forms[width] if len(form) == 2] for width in WIDTHS]
    for pairs in (*said, *(_shown(draws) if draws is not None else ())):
        tied: dict[int, list[int]] = {i: [] for i in singles}
        for i, j in pairs:
            if i in tied and j in tied:
                tied[i].append(j)
                tied[j].append(i)
        # Where a sum is held, no number can leap alone, but two of it can, with what each is tied to.
        sums = [pair for form in forms[CLOSE] if len(form) > 2 for pair in combinations(form, 2)]
        for numbers in (*((i,) for i in singles), *sums):
            together = [j for i in numbers if i in tied for j in _connected(i, tied)]
            leap = _one_each(block, together)
            if 1 < len(leap) <= MOST_TIED:
                leaps.setdefault(frozenset(leap), leap)
    return list(leaps.values())


def _shown(draws: Numbers) -> Iterator[list[tuple[int, int]]]:
    """Pairs of numbers that go together in draws: what several statements tie, and modes that chains are caught in."""
    centred = draws - draws.mean(axis=0)
    scaled = centred / np.maximum(np.sqrt((centred**2).sum(axis=0)), 1e-12)
    correlation = np.abs(scaled.T @ scaled)
    for least in CORRELATIONS:
        yield list(zip(*np.nonzero(np.triu(correlation, 1) >= least), strict=True))


def _connected(start: int, tied: dict[int, list[int]]) -> list[int]:
    """What is tied to a number, nearest first."""
    found = {start: None}
    for i in (queue := [start]):
        for j in tied[i]:
            if j not in found:
                found[j] = None
                queue.append(j)
    return list(found)


def _one_each(block: Block, numbers: list[int]) -> Leap:
    """The first number of each distribution: two of one cannot both be raised at the cost of all others."""
    first: dict[int, int] = {}
    for i in numbers:
        first.setdefault(int(block.distribution_of[i]), i)
    return tuple(first.values())

"""Grouping in plain NumPy: components for all rows with the same missing values at once."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.io.dataset import distinct_rows
from credo.model.layout import Layout
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    pass

# Kinds of incomplete rows times variables up to which grouping takes at most 0.1 s.
PLAIN_PATTERNS = 2**12

Component = tuple[tuple[int, ...], tuple[int, ...]]  # hidden variables, and the families that touch them


# Grouping -------------------------------------------------------------------------------------------------------------


def group_plain(
    layout: Layout, codes: NDArray[np.signedinteger], weights: Numbers, asked: int
) -> tuple[Any, ...] | None:
    """What `kernels.components` finds, in the same order: the fields of `Groups`.

    None where there are too many kinds of incomplete rows.
    """
    used = np.flatnonzero(weights != 0)
    first, which = distinct_rows(codes[used])
    total = np.bincount(which, weights[used], len(first))
    rows = codes[used[first]]
    examples, pattern_of = distinct_rows(rows < 0)
    patterns = rows[examples] < 0
    if patterns.size > PLAIN_PATTERNS:
        return None
    barren, pieces = np.zeros(len(layout.backward)), 0
    answers = np.full(len(rows), -1, dtype=np.int64)  # for now the place of the asked component in `found`
    found: dict[Component, list[tuple[Indices, Indices]]] = {}  # rows, and their cells (rows, families)
    firsts: dict[Component, tuple[int, int]] = {}  # the first row that has it, and its place there
    for number, pattern in enumerate(patterns):
        own = np.flatnonzero(pattern_of == number)
        components, cut = _components(layout, pattern)
        barren[cut] += total[own].sum()
        pieces += len(own) * len(components)
        for place, component in enumerate(components):
            found.setdefault(component, []).append((own, _first_cells(layout, component[1], rows[own])))
            firsts[component] = min(firsts.get(component, (len(rows), 0)), (int(own[0]), place))
    parts: list[tuple[Indices, Indices, Numbers, Indices]] = []
    order, done = sorted(found, key=firsts.__getitem__), 0
    for number, component in enumerate(order):
        having = np.concatenate([own for own, _ in found[component]])
        cells = np.concatenate([part for _, part in found[component]])
        by_row = np.argsort(having)
        having, cells = having[by_row], cells[by_row]
        begin, evaluation = distinct_rows(cells)
        weight = np.bincount(evaluation, total[having], len(begin)).astype(np.float64)
        parts.append((np.full(len(begin), number), cells[begin].ravel(), weight, used[first[having[begin]]]))
        if asked in component[1]:
            answers[having] = done + evaluation
        done += len(begin)
    keys = [np.array([len(variables), *variables, *families]) for variables, families in order]
    lengths = [len(order[k][1]) for own, *_ in parts for k in own.tolist()]
    by_original_row = np.full(len(codes), -1, dtype=np.int64)
    by_original_row[used] = answers[which]
    return (
        _joined([key.astype(np.int64) for key in keys]),
        np.cumsum([0, *(len(key) for key in keys)], dtype=np.int64),
        _joined([own for own, *_ in parts]),
        _joined([cells for _, cells, _, _ in parts]),
        np.cumsum([0, *lengths], dtype=np.int64),
        np.concatenate([np.zeros(0), *(weight for _, _, weight, _ in parts)]),
        _joined([row for *_, row in parts]),
        by_original_row,
        barren,
        len(first),
        pieces,
    )  # fmt: skip


def _joined(parts: list[Indices]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


def _components(layout: Layout, hidden: Flags) -> tuple[list[Component], list[int]]:
    """The components of rows in which these variables are missing, and the hidden variables that are barren."""
    families = [
        layout.members[start:stop].tolist()
        for start, stop in zip(layout.member_starts[:-1], layout.member_starts[1:], strict=True)
    ]
    live: set[int] = set()
    barren: list[int] = []
    for v in layout.backward.tolist():
        if hidden[v] and v not in live:
            barren.append(v)
        else:
            live.update(families[v])
    group = {v: {v} for v in sorted(live) if hidden[v]}
    touching = {v: [member for member in families[v] if hidden[member]] for v in sorted(live)}
    for members in touching.values():
        for one, other in pairwise(members):
            small, large = sorted((group[one], group[other]), key=len)
            if small is not large:
                large |= small
                group.update(dict.fromkeys(small, large))
    found: list[Component] = []
    for v, connected in group.items():
        if v == min(connected):
            touched = tuple(family for family, own in touching.items() if own and own[0] in connected)
            found.append((tuple(sorted(connected)), touched))
    return found, barren


def _first_cells(layout: Layout, families: tuple[int, ...], rows: NDArray[np.signedinteger]) -> Indices:
    """The first cell of each family's slice in each row, (rows, families): its hidden members in their first state."""
    cells = np.empty((len(rows), len(families)), dtype=np.int64)
    for column, family in enumerate(families):
        own = slice(int(layout.member_starts[family]), int(layout.member_starts[family + 1]))
        states = np.maximum(rows[:, layout.members[own]], 0).astype(np.int64)
        cells[:, column] = layout.cell_starts[family] + states @ layout.strides[own]
    return cells

"""Inference in plain NumPy: what small problems are solved by, and the reference of the compiled loops.

`group_plain` finds components for all rows with the same missing values at once. `Terms` is enumeration: every joint
state s of the hidden variables of every evaluation e is a term, a product of one cell for each family,

    P(e, s) = Π_f θ[cell(e, f) + offset(f, s)],    Z(e) = Σ_s P(e, s),    log L = Σ_e w_e log Z(e),

and the expected count of a cell is the sum of w_e P(e, s) / Z(e) over the terms that it is a factor of.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.io.dataset import distinct_rows
from credo.model.layout import Layout
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from credo.statistics.inference.components import Groups

# Factors of all terms up to which enumeration takes at most 2 ms; the compiled loops take 10 s to compile.
PLAIN_FACTORS = 2**17
# Kinds of incomplete rows times variables up to which grouping takes at most 0.1 s.
PLAIN_PATTERNS = 2**12
TINY = 1e-200  # a sum below this may have lost terms: it is computed again with logarithms

Component = tuple[tuple[int, ...], tuple[int, ...]]  # hidden variables, and the families that touch them


# Enumeration ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """All terms of all evaluations; terms with fewer factors than others have the cell behind the last one, a one."""

    cells: Indices  # (terms, factors)
    evaluation: Indices  # (terms,)

    @classmethod
    def of(cls, layout: Layout, groups: Groups) -> Terms:
        """The terms of these evaluations."""
        most = max((len(groups.families(c)) for c in range(len(groups.key_starts) - 1)), default=0)
        cells, evaluations = [np.zeros((0, most), dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for component in np.unique(groups.component).tolist():
            own = np.flatnonzero(groups.component == component)
            families = groups.families(component)
            offsets = _offsets(layout, groups.variables(component), families)  # (states, families)
            firsts = groups.cell_starts[own][:, None] + np.arange(len(families))
            found = np.full((len(own), len(offsets), most), layout.size, dtype=np.int64)
            found[:, :, : len(families)] = groups.cells[firsts][:, None, :] + offsets
            cells.append(found.reshape(-1, most))
            evaluations.append(np.repeat(own, len(offsets)))
        return cls(np.concatenate(cells), np.concatenate(evaluations))


def _offsets(layout: Layout, variables: Indices, families: Indices) -> Indices:
    """What each joint state of hidden variables adds to the first cell of each family, (states, families)."""
    sizes = layout.sizes[variables]
    states = np.array(np.unravel_index(np.arange(int(sizes.prod())), sizes.tolist()), dtype=np.int64)
    place = {variable: number for number, variable in enumerate(variables.tolist())}
    offsets = np.zeros((states.shape[1], len(families)), dtype=np.int64)
    for column, family in enumerate(families.tolist()):
        for i in range(layout.member_starts[family], layout.member_starts[family + 1]):
            if int(layout.members[i]) in place:
                offsets[:, column] += layout.strides[i] * states[place[int(layout.members[i])]]
    return offsets


def can_enumerate(layout: Layout, groups: Groups) -> bool:
    """Whether all terms have so few factors together that enumeration is quick."""
    evaluations, factors = np.bincount(groups.component, minlength=len(groups.key_starts) - 1), 0
    most = max((len(groups.families(c)) for c in range(len(evaluations))), default=0)
    for component, count in enumerate(evaluations.tolist()):
        factors += most * count * prod(layout.sizes[groups.variables(component)].tolist())
        if factors > PLAIN_FACTORS:
            return False
    return True


def enumerate_terms(
    layout: Layout, groups: Groups, terms: Terms, theta: Numbers, backward: bool
) -> tuple[Numbers, float, int]:
    """Expected counts of all cells, the log-likelihood, and the evaluation of probability zero that comes first."""
    count = len(groups.component)
    factors = np.append(theta, 1.0)[terms.cells]
    products = factors.prod(axis=1)
    sums = np.bincount(terms.evaluation, products, count)
    log_scale = np.zeros(count)
    if sums.min(initial=1.0) < TINY:
        with np.errstate(divide="ignore"):
            logs = np.log(factors).sum(axis=1)
        log_scale = np.full(count, -np.inf)
        np.maximum.at(log_scale, terms.evaluation, logs)
        impossible = np.flatnonzero(log_scale == -np.inf)
        if impossible.size:
            return np.zeros(layout.size), 0.0, int(impossible[np.argmin(groups.rows[impossible])])
        products = np.exp(logs - log_scale[terms.evaluation])
        sums = np.bincount(terms.evaluation, products, count)
    log_likelihood = float(groups.weights @ (np.log(sums) + log_scale))
    if not backward:
        return np.zeros(0), log_likelihood, -1
    shares = products * (groups.weights / sums)[terms.evaluation]
    spread = np.repeat(shares, terms.cells.shape[1])
    counts = np.bincount(terms.cells.ravel(), spread, layout.size + 1)[:-1].astype(np.float64)
    return counts, log_likelihood, -1


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

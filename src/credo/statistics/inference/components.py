"""From incomplete rows to what has to be computed: components of hidden variables, each distinct one once.

The hidden variables of a row are neighbours when a family holds both; what is connected is a component, and components
are independent given the row. A hidden variable with no observed descendant is barren: its family sums to one and is
cut. Rows in which a component sees the same values share one evaluation, whatever else they hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.components import group_components, unique_rows
from credo.model.layout import Layout
from credo.types import Indices, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Distinct components, and distinct evaluations of them, sorted by component."""

    keys: Indices  # of each component: how many hidden variables, these, then the families that touch them
    key_starts: Indices  # (components + 1,)
    component: Indices  # (evaluations,)
    cells: Indices  # where the slice of each family begins, evaluation after evaluation
    cell_starts: Indices  # (evaluations + 1,)
    weights: Numbers  # (evaluations,) of all rows that share it
    rows: Indices  # (evaluations,) the first row that needs it
    answers: Indices  # (rows,) the evaluation of the family that was asked for; -1 where nothing is missing in it
    barren: Numbers  # (variables,) the weight of the rows in which a variable was cut
    parts: Indices  # the evaluations that each distinct row needs, row after row
    part_starts: Indices  # (distinct rows + 1,)
    distinct: Indices  # (rows,) which of the distinct rows each is; -1 where its weight is zero

    @property
    def distinct_rows(self) -> int:
        """How many rows there are that differ."""
        return len(self.part_starts) - 1

    @property
    def pieces(self) -> int:
        """How many components all distinct rows have together, before sharing."""
        return len(self.parts)

    def variables(self, component: int) -> Indices:
        """The hidden variables of a component."""
        start = self.key_starts[component] + 1
        return self.keys[start : start + self.keys[start - 1]]

    def families(self, component: int) -> Indices:
        """The families that touch a component, as the positions of their children."""
        start = self.key_starts[component]
        return self.keys[start + 1 + self.keys[start] : self.key_starts[component + 1]]


def group_rows(
    layout: Layout, codes: NDArray[np.signedinteger], weights: Numbers | None = None, asked: int = -1
) -> Groups:
    """The components and evaluations of rows of state numbers; `asked` is a family to find for each row."""
    each = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    first, total, which = unique_rows(codes, each)
    shape = layout.members, layout.strides, layout.member_starts, layout.first_cells, layout.backward
    keys, key_starts, cells, starts, weight, row, answers, barren, parts, part_starts = group_components(
        codes, first, total, *shape, asked
    )
    component = cells[starts[:-1]]
    order = np.argsort(component, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    lengths = np.diff(starts)[order] - 1  # without the component's number
    cell_starts = np.concatenate([[0], np.cumsum(lengths)])
    within = np.arange(cell_starts[-1]) - np.repeat(cell_starts[:-1], lengths)
    cells = cells[np.repeat(starts[order] + 1, lengths) + within]
    found = np.full(len(codes), -1, dtype=np.int64)
    if asked >= 0:
        known = np.flatnonzero(which >= 0)
        known = known[answers[which[known]] >= 0]
        found[known] = place[answers[which[known]]]
    return Groups(
        keys, key_starts, component[order], cells, cell_starts, weight[order], row[order],
        found, barren, place[parts], part_starts, which,
    )  # fmt: skip

"""The E-step of rows in parts: each part expects its own counts, and these are added up in a fixed order.

A part keeps what `Prepared` keeps of incomplete rows: the distinct evaluations of components, with weights, and the
programs that evaluate them. Complete families are counted once, for all parts together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from credo.distributed.executor import Executor, Parts
from credo.errors import ImpossibleRowError
from credo.model.layout import Layout
from credo.statistics.counts import Counts
from credo.statistics.inference.components import Groups, group_rows
from credo.statistics.inference.elimination import Plans, cut_pieces, execute, make_plans
from credo.types import Codes, Flags, Indices, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Evaluations:
    """What one part evaluates; None everywhere where no value of it is missing."""

    groups: Groups | None = None
    plans: Plans | None = None
    cuts: Indices | None = None


class RowInPart(NamedTuple):
    """An impossible row: its part, its number there, from 0, and the variables that it is about."""

    part: int
    row: int
    variables: tuple[int, ...]


class Expected(NamedTuple):
    """What a part, or several, expect: counts of all cells, the log-likelihood, and the first impossible row."""

    counts: Numbers
    log_likelihood: float
    impossible: RowInPart | None = None


def evaluations_of(
    layout: Layout, codes: Codes, weights: Numbers | None, memory_limit: int | None = None
) -> Evaluations:
    """Group the rows of a part, and plan how to sum over what is missing in them."""
    groups = group_rows(layout, codes, weights)
    none = np.zeros(0, dtype=np.int64)
    groups = replace(groups, answers=none, parts=none, part_starts=none, distinct=none)  # a number per row each
    plans = make_plans(layout, groups, memory_limit)
    return Evaluations(groups, plans, cut_pieces(layout, groups, plans))


def expect(part: Evaluations, number: int, layout: Layout, theta: Numbers, backward: bool = True) -> Expected:
    """The E-step of one part."""
    if part.groups is None or part.plans is None or part.cuts is None or not len(part.groups.component):
        return Expected(np.zeros(layout.size if backward else 0), 0.0)
    counts, log_likelihood, impossible = execute(layout, part.groups, part.plans, part.cuts, theta, backward)
    if impossible < 0:
        return Expected(counts, log_likelihood)
    seen: dict[int, None] = {}
    for family in part.groups.families(int(part.groups.component[impossible])):
        for member in layout.members[layout.member_starts[family] : layout.member_starts[family + 1]]:
            seen[int(member)] = None
    row = RowInPart(number, int(part.groups.rows[impossible]), tuple(sorted(seen)))
    return Expected(np.zeros(layout.size if backward else 0), 0.0, row)


def add(left: Expected, right: Expected) -> Expected:
    """What two parts that follow each other expect."""
    return Expected(
        left.counts + right.counts, left.log_likelihood + right.log_likelihood, left.impossible or right.impossible
    )


@dataclass(frozen=True, eq=False)
class PreparedParts:
    """The same as `Prepared`, for rows in parts."""

    executor: Executor
    parts: Parts
    count_layout: Layout
    layout: Layout
    observed: Counts  # of complete families
    observed_cells: Indices
    observed_counts: Numbers
    seen: Flags  # (variables,) which some row observes
    barren_weights: Numbers  # (variables,)
    evaluations: int  # of all parts
    identity: Any  # what the rows are, for checkpoints
    firsts: tuple[int, ...]  # how many rows come before each part
    describe: Callable[[RowInPart], ImpossibleRowError]
    first_with: Callable[[Numbers], ImpossibleRowError]  # the first row with a complete family of probability zero

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to expect."""
        return self.evaluations == 0

    def barren(self) -> dict[str, float]:
        """The weight of the rows that say nothing about a variable's table; variables without such are left out."""
        pairs = zip(self.layout.network.names, self.barren_weights, strict=True)
        return {name: float(weight) for name, weight in pairs if weight}

    @cached_property
    def shared_layout(self) -> Any:
        """The layout, where the parts are."""
        return self.executor.share(self.layout)

    def evaluate(self, theta: Numbers, backward: bool = True) -> tuple[Numbers, float, ImpossibleRowError | None]:
        """Expected counts of incomplete families, their log-likelihood, and why that is minus infinity."""
        found = self.executor.map_reduce(expect, self.parts, add, self.shared_layout, theta, backward)
        error = None if found.impossible is None else self.describe(found.impossible)
        return found.counts, found.log_likelihood, error

"""Missing values of rows in parts, drawn given CPTs: each part completes its own rows, and counts are added up.

What a part draws depends on the seed of the sweep and on the number of the part, so that completed counts are the same
whoever works.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.errors import SamplingError
from credo.model.layout import Layout
from credo.statistics.inference.draw_missing import draw_evaluations, fractional_evaluation
from credo.statistics.inference.elimination import visited_cells
from credo.statistics.inference.expected_counts_of_parts import Evaluations, PreparedParts
from credo.types import Numbers

LARGEST_SEED = 2**62


class Figures(NamedTuple):
    """How much work it is to complete the rows of some parts once, and whether they can be completed."""

    parts: int
    cells: float  # that are visited
    rows: float  # with missing values
    fractional: tuple[int, int, float] | None  # part, row from 1, weight: see `fractional_rows`


def figures_of(prepared: PreparedParts) -> Figures:
    """The figures of all parts."""
    return prepared.executor.map_reduce(_figures, prepared.parts, _add_figures)


def _figures(part: Evaluations, number: int) -> Figures:
    if part.groups is None or part.plans is None:
        return Figures(1, 0.0, 0.0, None)
    fractional = fractional_evaluation(part.groups)
    cells = float(visited_cells(part.groups, part.plans).sum())
    where = None if fractional is None else (number, *fractional)
    return Figures(1, cells, float(part.groups.weights.sum()), where)


def _add_figures(left: Figures, right: Figures) -> Figures:
    return Figures(
        left.parts + right.parts,
        left.cells + right.cells,
        left.rows + right.rows,
        left.fractional or right.fractional,
    )


@dataclass(frozen=True, slots=True, eq=False)
class PartDraws:
    """Draws of what is missing in all parts."""

    prepared: PreparedParts
    figures: Figures
    seeded: Callable[..., NDArray[np.uint64]]  # a generator of the compiled loops

    def draw(self, theta: Numbers, rng: np.random.Generator) -> Numbers:
        """Counts of all cells in completed incomplete families, (cells,), given CPTs `theta`, (cells,)."""
        rows, seed = self.prepared, int(rng.integers(LARGEST_SEED))
        found: Numbers = rows.executor.map_reduce(
            _draw, rows.parts, np.add, rows.shared_layout, theta, seed, self.seeded
        )
        return found


def _draw(
    part: Evaluations, number: int, layout: Layout, theta: Numbers, seed: int, seeded: Callable[..., Any]
) -> Numbers:
    if part.groups is None or part.plans is None:
        return np.zeros(layout.size)
    counts, impossible = draw_evaluations(layout, part.groups, part.plans, theta, seeded(seed, number))
    if impossible >= 0:
        raise SamplingError(f"A row of partition {number} became impossible while missing values were drawn.")
    return counts

"""Missing values drawn given CPTs: completed counts, exactly distributed, of all incomplete rows at once.

n rows that share an evaluation are one multinomial split of n over the joint states s of its hidden variables, with
chances P(e, s) / Z(e). The programs of EM are run forward for the sums, and n is split backward, bucket by bucket
(`core/elimination.py`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from credo.core.elimination import Evaluator
from credo.errors import SamplingError
from credo.model.layout import Layout
from credo.statistics.inference.components import Groups
from credo.statistics.inference.elimination import Plans, visited_cells
from credo.statistics.inference.expected_counts import Prepared, impossible_evaluation
from credo.statistics.inference.expected_counts_of_parts import Evaluations, PreparedParts
from credo.types import Numbers

WHOLE = 1e-9  # how far a sum of whole weights may be from a whole number
LARGEST_SEED = 2**62


def seeded(*seed: int) -> NDArray[np.uint64]:
    """The state of a generator of the compiled loops, that of `core/variates.pxd`."""
    return np.random.SeedSequence(seed).generate_state(4, np.uint64).astype(np.uint64)


def fractional_rows(prepared: Prepared) -> tuple[int, float] | None:
    """The first of incomplete rows that share an evaluation and whose weights add up to no whole number, and their sum.

    Rows are counted from 1; None where there are no such. Their likelihood is Z^w: for a whole w it is that of w rows,
    whatever the weight of each; a part of a row has no value that could be drawn.
    """
    return fractional_evaluation(prepared.groups)


def fractional_evaluation(groups: Groups) -> tuple[int, float] | None:
    """The same for groups of rows."""
    weights = groups.weights
    found = np.flatnonzero(np.abs(weights - np.round(weights)) > WHOLE * np.maximum(weights, 1.0))
    if not len(found):
        return None
    first = found[np.argmin(groups.rows[found])]
    return int(groups.rows[first]) + 1, float(weights[first])


def draw_missing(prepared: Prepared, theta: Numbers, generator: NDArray[np.uint64]) -> Numbers:
    """Counts of all cells in completed incomplete families given CPTs `theta`, (cells,) or (cells, chains).

    Counts of complete families are not in them. `generator` is made by `seeded`.
    """
    counts, impossible = draw_evaluations(prepared.layout, prepared.groups, prepared.plans, theta, generator)
    if impossible >= 0:
        raise impossible_evaluation(prepared.layout, prepared.groups, prepared.dataset.codes, impossible)
    return counts


def draw_evaluations(
    layout: Layout, groups: Groups, plans: Plans, theta: Numbers, generator: NDArray[np.uint64]
) -> tuple[Numbers, int]:
    """The same counts, and an evaluation of probability zero (-1: none)."""
    chains = np.ascontiguousarray(theta.T).reshape(-1, layout.size)
    counts = np.zeros((len(chains), layout.size))
    if len(groups.component):
        evaluator = Evaluator(groups, plans)
        for own, drawn in zip(chains, counts, strict=True):
            evaluator.draw(own, generator, drawn)
            if evaluator.impossible >= 0:
                return counts.T.reshape(theta.shape), int(evaluator.impossible)
    return counts.T.reshape(theta.shape), -1


# Rows in parts --------------------------------------------------------------------------------------------------------
#
# Each part completes its own rows, and counts are added up. What it draws depends on the seed of the sweep and on the
# number of the part, so that completed counts are the same whoever works.


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


def draw_in_parts(prepared: PreparedParts, theta: Numbers, rng: np.random.Generator) -> Numbers:
    """Counts of all cells in completed incomplete families, (cells,), given CPTs `theta`, (cells,)."""
    seed = int(rng.integers(LARGEST_SEED))
    found: Numbers = prepared.executor.map_reduce(_draw, prepared.parts, np.add, prepared.shared_layout, theta, seed)
    return found


def _draw(part: Evaluations, number: int, layout: Layout, theta: Numbers, seed: int) -> Numbers:
    if part.groups is None or part.plans is None:
        return np.zeros(layout.size)
    counts, impossible = draw_evaluations(layout, part.groups, part.plans, theta, seeded(seed, number))
    if impossible >= 0:
        raise SamplingError(f"A row of partition {number} became impossible while missing values were drawn.")
    return counts

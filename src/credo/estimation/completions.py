"""Incomplete rows as the posterior's chains need them: their likelihood, and draws of what is missing.

A step of a chain draws the missing values of all rows given the CPTs, exactly, and everything else given the counts of
the completed rows [Tanner and Wong, 1987]. Rows in one place that no tie joins also have a likelihood of their own, on
which CPTs move far at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from credo.estimation.method import Incomplete
from credo.estimation.problem import Problem
from credo.posterior.chains import CompleteRows
from credo.posterior.relabelling import renaming_of_draws
from credo.posterior.sampler import IncompleteRows
from credo.statistics.inference.draw_missing import draw_missing, seeded
from credo.statistics.inference.draw_parts import PartDraws, figures_of
from credo.statistics.inference.expected_counts import Prepared, expected_cells
from credo.statistics.inference.expected_counts_of_parts import PreparedParts
from credo.statistics.ties.draw_tied import draw_tied, tied_draws
from credo.types import Indices, Numbers

LEAST = 1e-300


def incomplete_rows(problem: Problem, rows: Incomplete) -> IncompleteRows:
    """The likelihood of incomplete rows, with its derivatives, and how their missing values are drawn."""
    prepared, added, tied = rows.prepared, problem.pseudo_counts(), rows.tied
    own = prepared.layout
    places = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(np.arange(own.size)[own.slice_of(name)] for name in problem.layout.names)]
    )
    known = own.pack(
        {
            name: problem.model.network.cpt_array(name)
            if name in problem.model.kept
            else np.full(problem.model.network.shape(name), 1.0 / len(problem.model.network.states(name)))
            for name in own.names
        }
    )

    def whole(theta: Numbers) -> Numbers:
        cells = known.copy()
        cells[places] = theta
        return cells

    def likelihood(theta: Numbers) -> tuple[float, Numbers]:
        expected, value = expected_cells(prepared, whole(theta))
        return value + float(added @ np.log(np.maximum(theta, LEAST))), expected[places] + added

    reached = expected_cells(prepared, known)[0] > 0.0
    if tied is not None:
        found = tied.expected(known, tied.start())
        reached |= (found.seen > 0.0) | (found.chance > 0.0)
    return IncompleteRows(
        likelihood if isinstance(prepared, Prepared) and tied is None else None,
        lambda chain: _completing(problem, rows, whole, places, chain),
        reached[places],
        (rows.expected if rows.start is None else rows.start)[places] + added,
        renaming_of_draws(
            problem.layout,
            problem.model.names,
            {n: rows.exchanges.groups[n] for n in rows.exchanges.variables},
            rows.cpts,
        ),
    )


def _completing(
    problem: Problem, rows: Incomplete, whole: Callable[[Numbers], Numbers], places: Indices, chain: int
) -> CompleteRows:
    """What completes the rows of one chain: from θ to the counts of families that were incomplete."""
    generator, random = seeded(problem.settings.seed, chain), np.random.default_rng([problem.settings.seed, chain, 5])
    prepared, tied = rows.prepared, rows.tied
    if isinstance(prepared, PreparedParts):
        parts = PartDraws(prepared, figures_of(prepared), seeded)
        return lambda theta: parts.draw(whole(theta), random)[places]
    if tied is None:
        assert isinstance(prepared, Prepared)
        return lambda theta: draw_missing(prepared, whole(theta), generator)[places]
    ties = tied_draws(tied)

    def complete(theta: Numbers) -> Numbers:
        cells = whole(theta)
        drawn = draw_missing(tied.seen.rest, cells, generator)
        drawn += draw_tied(ties, cells[:, None], generator, random)[:, 0]
        return (drawn - ties.copies)[places]

    return complete

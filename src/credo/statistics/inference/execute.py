"""Run the plans of all evaluations on all cores; the number of cores changes nothing in the result."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from credo.arrays import Indices, Numbers
from credo.model.layout import Layout
from credo.statistics.inference.components import Groups
from credo.statistics.inference.plain import Terms, enumerate_terms
from credo.statistics.inference.plan import Plans

# Work is cut into pieces of which each sums on its own, and sums are added in the order of the pieces.
MOST_PIECES = 8
SMALL_PIECE = 100_000  # cells that are not worth a piece of their own
LARGE_CLIQUES = 2**24  # cells from which one thread works alone, so that memory is needed once and not for each core
MOST_COUNTS = 2**23  # cells of counts that all pieces together may hold (64 MB)


def cut_pieces(layout: Layout, groups: Groups, plans: Plans | None) -> Indices | Terms:
    """Where each piece of the evaluations begins and ends, all of about equal cost; without plans, all terms."""
    if plans is None:
        return Terms.of(layout, groups)
    cost = (plans.input_cells + 2 * plans.clique_cells)[groups.component].astype(np.float64)
    total = float(cost.sum())
    fitting = MOST_COUNTS // max(1, layout.size)
    worth = total // (SMALL_PIECE + 2 * layout.size)  # each piece has counts of its own, cleared and added up
    pieces = int(max(1, min(MOST_PIECES, fitting, worth)))
    cuts = np.searchsorted(np.cumsum(cost), total * np.arange(1, pieces) / pieces)
    return np.concatenate([[0], cuts, [len(cost)]]).astype(np.int64)


def execute(
    layout: Layout,
    groups: Groups,
    plans: Plans | None,
    cuts: Indices | Terms,
    theta: Numbers,
    backward: bool = True,
) -> tuple[Numbers, float, int]:
    """Expected counts of all cells, the log-likelihood, and an evaluation of probability zero (-1: none).

    Of several such evaluations it is the one whose row comes first.
    """
    if not len(groups.component):
        return np.zeros(layout.size), 0.0, -1
    if plans is None or isinstance(cuts, Terms):
        assert isinstance(cuts, Terms)
        return enumerate_terms(layout, groups, cuts, theta, backward)
    from credo.kernels.elimination import run

    clique_cells, message_cells = int(plans.clique_cells.max()), int(plans.message_cells.max())

    def run_piece(piece: int) -> tuple[Numbers, float, int]:
        counts = np.zeros(layout.size if backward else 0)
        tables, messages, marginals = np.empty(clique_cells), np.empty(message_cells), np.zeros(message_cells)
        maps = np.concatenate([plans.maps, np.empty(plans.map_cells.max(), dtype=np.uint32)])
        log_likelihood, impossible = run(
            cuts[piece], cuts[piece + 1], groups.component, groups.cells, groups.cell_starts, groups.weights,
            groups.rows, plans.program, plans.starts, maps, len(plans.maps), plans.shapes, plans.shape_starts, theta,
            backward, tables, messages, marginals, counts,
        )  # fmt: skip
        return counts, log_likelihood, impossible

    pieces = range(len(cuts) - 1)
    alone = len(pieces) == 1 or clique_cells > LARGE_CLIQUES
    results = [run_piece(piece) for piece in pieces] if alone else list(_pool().map(run_piece, pieces))
    counts, log_likelihood, _ = results[0]
    for more, likelihood, _ in results[1:]:
        counts += more
        log_likelihood += likelihood
    zeros = [impossible for _, _, impossible in results if impossible >= 0]
    return counts, float(log_likelihood), int(min(zeros, key=lambda e: groups.rows[e], default=-1))


@cache
def _pool() -> ThreadPoolExecutor:
    """One for the process: starting threads takes as long as a small E-step."""
    return ThreadPoolExecutor(os.cpu_count() or 1)


if hasattr(os, "register_at_fork"):  # a forked process has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)

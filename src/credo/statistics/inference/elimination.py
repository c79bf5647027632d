"""In which order the hidden variables of a component are summed out, and what that costs.

Greedy orders by fewest new edges and by smallest clique are both tried, and the one with fewer cells is kept. A
component whose cliques do not fit is refused before anything is allocated for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.core.elimination import Evaluator
from credo.core.elimination_plan import write_plans
from credo.errors import TooLargeError, listing, readable_bytes
from credo.memory import memory_limit_or_default
from credo.model.layout import Layout
from credo.statistics.inference.components import Groups
from credo.threads import map_in_threads
from credo.types import Indices, Numbers

# Plans ----------------------------------------------------------------------------------------------------------------


# A cell of a clique is kept once as a number and, for about three inputs, as four bytes of a map; messages are smaller.
BYTES_PER_CELL = 24
# Programs number cells with 32 bits.
MOST_CELLS = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Plans:
    """A program for each component; `core/elimination_plan.py` says how it is written."""

    program: NDArray[np.int32]
    starts: Indices  # (components + 1,)
    clique_cells: Indices  # (components,)
    message_cells: Indices  # (components,)
    input_cells: Indices  # (components,) cells of cliques, once for each input
    map_cells: Indices  # (components,) of maps that are not kept
    maps: NDArray[np.uint32]  # those that are kept
    shapes: Indices  # of all maps, one after the other
    shape_starts: Indices  # (maps + 1,)


def make_plans(layout: Layout, groups: Groups, memory_limit: int | None = None) -> Plans:
    """The plans of all components, or an error with the estimate in bytes where one needs too much memory."""
    memory_limit = memory_limit_or_default(memory_limit)
    most = min(float(MOST_CELLS), memory_limit / BYTES_PER_CELL)
    shape = layout.sizes, layout.members, layout.strides, layout.member_starts
    program, starts, figures, *maps, cells, clique = write_plans(groups.keys, groups.key_starts, *shape, most)
    if cells > 0:
        names = [layout.network.names[v] for v in sorted(clique)]
        needed = int(BYTES_PER_CELL * cells)
        raise TooLargeError(
            f"Exact inference would need {readable_bytes(needed)} for one group of hidden variables; "
            f"{readable_bytes(memory_limit)} are allowed. It needs a table over {len(names)} of them at once: "
            f"{listing(names)}. Observe some of them, give variables fewer parents, or raise memory_limit.",
            needed,
        )
    return Plans(program, starts, *figures.T.copy(), *maps)


# Execution ------------------------------------------------------------------------------------------------------------


# Work is cut into pieces of which each sums on its own, and sums are added in the order of the pieces.
MOST_PIECES = 8
SMALL_PIECE = 100_000  # cells that are not worth a piece of their own
LARGE_CLIQUES = 2**24  # cells from which one thread works alone, so that memory is needed once and not for each core
MOST_COUNTS = 2**23  # cells of counts that all pieces together may hold (64 MB)


def visited_cells(groups: Groups, plans: Plans) -> Numbers:
    """How many cells of cliques each evaluation visits, (evaluations,)."""
    return np.asarray((plans.input_cells + 2 * plans.clique_cells)[groups.component], dtype=np.float64)


def cut_pieces(layout: Layout, groups: Groups, plans: Plans) -> Indices:
    """Where each piece of the evaluations begins and ends, all of about equal cost."""
    cost = visited_cells(groups, plans)
    total = float(cost.sum())
    fitting = MOST_COUNTS // max(1, layout.size)
    useful = total // (SMALL_PIECE + 2 * layout.size)  # each piece has counts of its own, cleared and added up
    pieces = int(max(1, min(MOST_PIECES, fitting, useful)))
    cuts = np.searchsorted(np.cumsum(cost), total * np.arange(1, pieces) / pieces)
    return np.concatenate([[0], cuts, [len(cost)]]).astype(np.int64)


def execute(
    layout: Layout, groups: Groups, plans: Plans, cuts: Indices, theta: Numbers, backward: bool = True
) -> tuple[Numbers, float, int]:
    """Expected counts of all cells, the log-likelihood, and an evaluation of probability zero (-1: none).

    Of several such evaluations it is the one whose row comes first.
    """
    if not len(groups.component):
        return np.zeros(layout.size), 0.0, -1

    def run_piece(piece: int) -> tuple[Numbers, float, int]:
        counts = np.zeros(layout.size if backward else 0)
        evaluator = Evaluator(groups, plans)
        log_likelihood = evaluator.expect(theta, cuts[piece], cuts[piece + 1], counts if backward else None)
        return counts, log_likelihood, evaluator.impossible

    pieces = range(len(cuts) - 1)
    single_threaded = plans.clique_cells.max() > LARGE_CLIQUES
    results = map_in_threads(run_piece, pieces, threads=1 if single_threaded else None)
    counts, log_likelihood, _ = results[0]
    for more, likelihood, _ in results[1:]:
        counts += more
        log_likelihood += likelihood
    zeros = [impossible for _, _, impossible in results if impossible >= 0]
    return counts, float(log_likelihood), int(min(zeros, key=lambda e: groups.rows[e], default=-1))

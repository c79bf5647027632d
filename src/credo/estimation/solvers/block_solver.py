"""The optimum of each task by the compiled solver, on all cores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from os import cpu_count

from credo.core.block_solver import BlockBatch, BlockSolver
from credo.estimation.solvers.tasks import Point, Task
from credo.threads import map_in_threads

SHARED_WORK = 20_000  # unknowns, of half a microsecond each, from which a second thread saves more than its start costs
CORES = cpu_count() or 1  # asking takes as long as a small block
MOST_IDLE = 8
_idle: list[BlockSolver] = []  # those not in use; a solver's memory takes longer to make than a small block to solve


def solve_tasks(
    tasks: Sequence[Task], *, closed_forms: bool = True, in_rounds: bool = True, most_entropic: bool = False
) -> list[Point]:
    """The optimum of each task, in closed form where there is one, unless that is switched off.

    Blocks are solved in rounds, unless all their constraints are known to matter. If that is asked for, distributions
    without data are put at maximum entropy afterwards.
    """
    if not tasks:
        return []
    batch, how = BlockBatch(tasks), (closed_forms, in_rounds, most_entropic)
    if CORES == 1 or batch.count == 1 or batch.unknowns < SHARED_WORK:
        with idle_solver() as solver:
            solver.solve(batch, 0, batch.count, *how)
    else:
        _solve_in_threads(batch, *how)
    return [Point(*found) for found in batch.results()]


def _solve_in_threads(batch: BlockBatch, *how: bool) -> None:
    """Solve pieces of about equal work on all cores: blocks share nothing."""

    def run(piece: tuple[int, int]) -> None:
        with idle_solver() as solver:
            solver.solve(batch, *piece, *how)

    cuts = [0, *(batch.block_at(batch.unknowns * i // CORES) + 1 for i in range(1, CORES)), batch.count]
    map_in_threads(run, [(a, b) for a, b in pairwise(cuts) if a < b])


@contextmanager
def idle_solver() -> Iterator[BlockSolver]:
    """A solver that no other thread uses meanwhile."""
    try:
        solver = _idle.pop()
    except IndexError:
        solver = BlockSolver()
    yield solver
    if len(_idle) < MOST_IDLE:
        _idle.append(solver)

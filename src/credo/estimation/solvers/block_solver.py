"""The optimum of each task by the compiled solver, on all cores; large blocks in rounds.

In a round a large block is solved under the constraints that matter so far; those that this violates are added.
Thousands of true statements leave most constraints slack, and it is constraints that fill the factors in: of 9,944 on
2,046 distributions 1,894 are ever needed, and factors with these take 0.1 million operations, with all 2,000 million.
Nothing is lost: a constraint that was left out and holds has the multiplier zero, with which the dual bound of the few
is that of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from os import cpu_count

import numpy as np

from credo.constraints.blocks import Block
from credo.core.block_solver import BlockSolver
from credo.estimation.solvers.tasks import Point, Task, unknowns
from credo.threads import map_in_threads
from credo.types import Flags, Numbers

LARGE_SYSTEM = 400  # unknowns from which a block is solved in rounds
SHARED_WORK = 20_000  # unknowns, of half a microsecond each, from which a second thread saves more than its start costs
CORES = cpu_count() or 1  # asking takes as long as a small block
ROUNDS = 12  # after which all constraints are taken
HELD = 1e-10  # by how much a constraint that was left out may be violated
MOST_IDLE = 8
_idle: list[BlockSolver] = []  # those not in use; a solver's memory takes longer to make than a small block to solve


def solve_tasks(tasks: Sequence[Task], *, closed_forms: bool = True, in_rounds: bool = True) -> list[Point]:
    """The optimum of each task, in closed form where there is one, unless that is switched off.

    Large blocks are solved in rounds, unless all their constraints are known to matter.
    """
    chosen = {k: _first_constraints(task) for k, task in enumerate(tasks) if in_rounds and is_large(task.block)}
    waiting = {k: _with_constraints(task, chosen[k]) if k in chosen else task for k, task in enumerate(tasks)}
    points: dict[int, Point] = {}

    def run(piece: Sequence[tuple[int, Task]]) -> None:
        with idle_solver() as solver:
            for k, task in piece:
                block, objective = task.block, (task.weights, task.entropies, task.costs, task.soft_weight)
                points[k] = Point(*solver.solve(block.distributions, block.linear, *objective, closed_forms))

    for number in range(ROUNDS + 1):
        map_in_threads(run, _pieces(list(waiting.items())))  # tasks share nothing, so that they run on all cores
        waiting = {}
        for k, kept in list(chosen.items()):
            points[k] = _of_all_constraints(tasks[k], kept, points[k])
            violated = _violated(tasks[k], points[k].theta)
            if not points[k].converged or not (violated & ~kept).any():
                del chosen[k]
                continue
            chosen[k] = kept | violated if number + 1 < ROUNDS else np.ones_like(kept)
            waiting[k] = _with_constraints(tasks[k], chosen[k])
        if not waiting:
            break
    return [points[k] for k in range(len(tasks))]


def is_large(block: Block) -> bool:
    """Whether a block is solved in rounds."""
    return unknowns(block) >= LARGE_SYSTEM


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


def _pieces(tasks: Sequence[tuple[int, Task]]) -> list[Sequence[tuple[int, Task]]]:
    """The tasks in parts of about equal work."""
    work = np.cumsum([unknowns(task.block) for _, task in tasks]) if CORES > 1 and len(tasks) > 1 else np.zeros(1)
    if work[-1] < SHARED_WORK:
        return [tasks]
    cuts = [0, *(int(np.searchsorted(work, work[-1] * i / CORES)) + 1 for i in range(1, CORES)), len(tasks)]
    return [tasks[a:b] for a, b in pairwise(cuts) if a < b]


# Constraints that matter ----------------------------------------------------------------------------------------------


def _first_constraints(task: Task) -> Flags:
    """Equalities, and what the optimum without constraints violates: shares of the weights, or all states alike."""
    of = task.block.distribution_of
    totals, sizes = np.bincount(of, task.weights)[of], np.bincount(of)[of]
    free = np.divide(task.weights, totals, out=1.0 / sizes, where=totals > 0)
    return np.asarray(task.block.linear.equality | _violated(task, free))


def _violated(task: Task, theta: Numbers) -> Flags:
    return np.asarray(_excess(task, theta) > HELD)


def _excess(task: Task, theta: Numbers) -> Numbers:
    linear = task.block.linear
    return np.asarray(linear.values(theta) - linear.bounds)


def _with_constraints(task: Task, chosen: Flags) -> Task:
    block = task.block
    return replace(
        task,
        block=replace(block, linear=block.linear.take(chosen), constraint_numbers=block.constraint_numbers[chosen]),
    )


def _of_all_constraints(task: Task, kept: Flags, point: Point) -> Point:
    """The point found under a few constraints, for all: the others have no multiplier, but their violation counts."""
    multipliers = np.zeros(len(kept))
    multipliers[kept] = point.multipliers
    left_out = ~kept & task.block.linear.hard
    excess = float(_excess(task, point.theta)[left_out].max(initial=0.0))
    return replace(point, multipliers=multipliers, violation=max(point.violation, excess))

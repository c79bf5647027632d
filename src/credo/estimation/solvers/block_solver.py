"""Tasks: the problem of a block, its equal states merged, and its optimum by the compiled solver, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from os import cpu_count
from typing import NamedTuple

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.merged_states import MergedStates, merged_states
from credo.core.block_solver import BlockBatch, BlockSolver
from credo.threads import map_in_threads
from credo.types import Indices, Numbers

MERGED_STATES = 50  # of the widest distribution of a block, from which equal columns are merged


class Task(NamedTuple):
    """One block: min Σ −w log θ + e θ log θ + c θ under its constraints, plus (W/2)·C·violation² for each soft one."""

    block: Block
    weights: Numbers  # (parameters,) w ≥ 0
    entropies: Numbers | None = None  # (parameters,) e ≥ 0; None for zeros
    soft_weight: float = 0.0  # W
    costs: Numbers | None = None  # (parameters,) c; None for zeros


class Point(NamedTuple):
    """Where a solver ended: parameters, a multiplier for each linear constraint, and how well that is proved."""

    theta: Numbers  # (parameters,)
    multipliers: Numbers  # (constraints,) ≥ 0 for inequalities
    iterations: int
    converged: bool  # by the solver's own criterion
    violation: float  # of hard constraints and sums, see `blocks.py`
    gap: float  # between the objective and its dual bound, relatively
    shape: int  # which closed form was taken, see `core/closed_forms.py`
    unseen: Indices  # distributions with no weight at all


def widest_of(block: Block) -> int:
    """The most states that a distribution has."""
    if block.size < MERGED_STATES:  # the quick answer for most blocks
        return block.size
    return int(np.diff(block.distributions).max())


# Wide variables, with states merged that no constraint distinguishes --------------------------------------------------
#
# With T the sum of a class of n states, Σ w log θ is largest at θ = T·w/W, W = Σ w, and then W·log T plus a constant;
# Σ θ log θ is least at θ = T/n, and then T·log T − T·log n. So the task in T has the weights W and the costs −e·log n.


def merged_task(task: Task) -> tuple[Task, MergedStates] | None:
    """The task in the sums of classes; None where no variable is wide, and where every state is a class of its own."""
    if task.costs is not None or widest_of(task.block) < MERGED_STATES or _entropies_differ(task):
        return None
    merged = merged_states(task.block)
    if merged is None:
        return None
    weights: Numbers = np.bincount(merged.class_of, task.weights, merged.block.size).astype(np.float64)
    if task.entropies is None:
        return task._replace(block=merged.block, weights=weights), merged
    entropies = np.zeros(merged.block.size)
    entropies[merged.class_of] = task.entropies
    costs = -entropies * np.log(merged.sizes)
    return task._replace(block=merged.block, weights=weights, entropies=entropies, costs=costs), merged


def _entropies_differ(task: Task) -> bool:
    """Whether states of one distribution have different ones, or weights too: they share nothing equally."""
    if task.entropies is None:
        return False
    first = task.entropies[task.block.distributions[:-1]][task.block.distribution_of]
    return bool((task.entropies != first).any() or (task.weights * task.entropies).any())


def merged_tasks(tasks: Sequence[Task]) -> tuple[list[Task], Callable[[int, Numbers], Numbers]]:
    """Every task, merged where it can be; and θ of the k-th original from θ of the k-th merged one."""
    found = [merged_task(task) if task.block.size >= MERGED_STATES else None for task in tasks]

    def expanded(number: int, theta: Numbers) -> Numbers:
        own = found[number]
        return theta if own is None else own[1].shared(theta, tasks[number].weights)

    return [task if own is None else own[0] for task, own in zip(tasks, found, strict=True)], expanded


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

"""Large blocks in rounds: solve under the rows that matter, look which others that breaks, and add them.

Thousands of true statements leave most rows slack, and it is rows that fill the factors in: of 9,944 on 2,046
distributions 1,894 are ever needed, and factors with these take 0.1 million operations, with all 2,000 million.
Nothing is lost: a row that was left out and holds has the multiplier zero, with which the dual bound of the few rows
is that of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from credo.arrays import Flags, Numbers
from credo.estimation.solvers.interior_point import LARGE_SYSTEM, Point, Task, solve_tasks, unknowns

ROUNDS = 12  # after which all rows are taken
HELD = 1e-10  # by how much a row that was left out may be off


def solve_in_rounds(tasks: Sequence[Task]) -> list[Point]:
    """The optimum of each task, as `solve_tasks` finds it; large ones under as few rows as it takes."""
    kept = {k: _first_rows(task) for k, task in enumerate(tasks) if unknowns(task.block) >= LARGE_SYSTEM}
    points = solve_tasks([_with_rows(task, kept[k]) if k in kept else task for k, task in enumerate(tasks)])
    rounds = 0
    while kept:
        rounds += 1
        for k, rows in kept.items():
            points[k] = _of_all_rows(tasks[k], rows, points[k])
        broken = {k: _broken(tasks[k], points[k].theta) for k in kept if points[k].converged}
        kept = {
            k: kept[k] | rows if rounds < ROUNDS else np.ones_like(rows)
            for k, rows in broken.items()
            if (rows & ~kept[k]).any()
        }
        again = solve_tasks([_with_rows(tasks[k], rows) for k, rows in kept.items()])
        for k, point in zip(kept, again, strict=True):
            points[k] = point
    return points


def _first_rows(task: Task) -> Flags:
    """Equalities, and what the optimum without rows breaks: shares of the weights, or all states alike."""
    of = task.block.distribution_of
    totals, sizes = np.bincount(of, task.weights)[of], np.bincount(of)[of]
    free = np.divide(task.weights, totals, out=1.0 / sizes, where=totals > 0)
    return np.asarray(task.block.linear.equality | _broken(task, free))


def _broken(task: Task, theta: Numbers) -> Flags:
    return np.asarray(_excess(task, theta) > HELD)


def _excess(task: Task, theta: Numbers) -> Numbers:
    rows = task.block.linear
    return np.asarray(rows.values(theta) - rows.bounds)


def _with_rows(task: Task, rows: Flags) -> Task:
    block = task.block
    return replace(
        task, block=replace(block, linear=block.linear.take(rows), constraint_numbers=block.constraint_numbers[rows])
    )


def _of_all_rows(task: Task, kept: Flags, point: Point) -> Point:
    """What was found under a few rows, told of all: the others have no multiplier, but count as far as they break."""
    multipliers = np.zeros(len(kept))
    multipliers[kept] = point.multipliers
    left_out = ~kept & task.block.linear.hard
    excess = float(_excess(task, point.theta)[left_out].max(initial=0.0))
    return replace(point, multipliers=multipliers, violation=max(point.violation, excess))

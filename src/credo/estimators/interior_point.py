"""The interior point for blocks: packs them, runs the compiled loop on all cores, and certifies what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from os import cpu_count

import numpy as np
from numpy.typing import NDArray

from credo.constraints.blocks import Block
from credo.constraints.rows import Indices, LinearRows, Numbers

TOLERANCE = 2e-16  # of the compiled loop, with weights scaled to a sum of one
LARGE_SYSTEM = 400  # unknowns from which a library orders the elimination


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One block: min Σ −w log θ + e θ log θ under its rows, plus (W/2)·C·violation² for each soft row."""

    block: Block
    weights: Numbers  # (parameters,) w ≥ 0
    entropies: Numbers | None = None  # (parameters,) e ≥ 0; None for zeros
    soft_weight: float = 0.0  # W


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where the loop ended: parameters, a multiplier for each linear row, and whether it says that it converged."""

    theta: Numbers  # (parameters,)
    multipliers: Numbers  # (rows,) ≥ 0 for inequalities
    iterations: int
    converged: bool
    shape: int = 0  # which closed form was taken, see `closed_form_kernel`


def solve_tasks(tasks: Sequence[Task], closed_forms: bool = True) -> list[Point]:
    """The optimum of each task; tasks share nothing, so that they run on all cores.

    Blocks with the shape of a closed form are solved by it, unless that is switched off.
    """
    if not tasks:
        return []
    from credo.estimators.interior_kernel import SOLVED, solve_blocks

    packed = _Packed.of(tasks)
    theta, multipliers = packed.start.copy(), np.zeros(packed.rows)
    iterations, status, shapes = np.zeros((3, len(tasks)), dtype=np.int64)

    def run(piece: tuple[int, int]) -> None:
        solve_blocks(*piece, *packed.arrays, TOLERANCE, theta, multipliers, iterations, status, shapes, closed_forms)

    pieces = packed.pieces(cpu_count() or 1)
    if len(pieces) == 1:
        run(pieces[0])
    else:
        with ThreadPoolExecutor(len(pieces)) as pool:
            list(pool.map(run, pieces))
    points = []
    for k, task in enumerate(tasks):
        own = slice(packed.parameter_starts[k], packed.parameter_starts[k + 1])
        rows = slice(packed.row_starts[k], packed.row_starts[k + 1])
        scale = packed.scales[k] / packed.row_norms[rows]
        points.append(
            Point(
                normalised(theta[own], task.block),
                multipliers[rows] * scale,
                int(iterations[k]),
                bool(status[k] == SOLVED),
                int(shapes[k]),
            )
        )
    return points


def normalised(theta: Numbers, block: Block) -> Numbers:
    """The same with every distribution summing to one to the last bit that rounding allows."""
    theta = np.maximum(theta, 0.0)
    sums = np.add.reduceat(theta, block.distributions[:-1])
    return np.asarray(theta / sums[block.distribution_of], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Packed:
    """All tasks in one set of arrays, as the compiled loop takes them; weights and rows are scaled to about one."""

    parameter_starts: Indices
    row_starts: Indices
    arrays: tuple[NDArray[np.generic], ...]
    start: Numbers  # (parameters of all,)
    scales: Numbers  # (tasks,) what the weights were divided by
    row_norms: Numbers  # (rows of all,)

    @property
    def rows(self) -> int:
        return len(self.row_norms)

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> _Packed:
        blocks = [task.block for task in tasks]
        linear = [block.linear for block in blocks]
        parameter_starts = _starts([block.size for block in blocks])
        row_starts = _starts([len(rows) for rows in linear])
        entry_starts = np.concatenate(
            [np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([rows.lengths for rows in linear]))]
        ).astype(np.int64)
        weights = np.concatenate([task.weights for task in tasks])
        sums = np.add.reduceat(weights, parameter_starts[:-1])
        scales = np.where(sums > 0, sums, 1.0)
        task_of = np.repeat(np.arange(len(tasks)), np.diff(parameter_starts))
        entropies = np.concatenate([_entropies(task) for task in tasks]) / scales[task_of]
        coefficients = np.concatenate([rows.coefficients for rows in linear])
        norms = _row_norms(coefficients, entry_starts)
        bounds = np.concatenate([rows.bounds for rows in linear]) / norms
        softness = np.concatenate([_softness(task.block.linear, task.soft_weight) for task in tasks])
        softness *= np.repeat(scales, np.diff(row_starts)) / norms**2
        distributions = np.array([len(block.distributions) - 1 for block in blocks], dtype=np.int64)
        arrays = (
            parameter_starts,
            row_starts,
            distributions,
            weights / scales[task_of],
            entropies,
            np.concatenate([block.distribution_of for block in blocks]),
            entry_starts,
            np.concatenate([rows.indices for rows in linear]),
            coefficients / np.repeat(norms, np.diff(entry_starts)),
            bounds,
            np.concatenate([rows.equality for rows in linear]),
            softness,
        )
        start = np.concatenate([_start(task) for task in tasks])
        return cls(parameter_starts, row_starts, arrays, start, scales, norms)

    def pieces(self, threads: int) -> list[tuple[int, int]]:
        """Ranges of tasks of about equal work."""
        count = len(self.scales)
        work = np.cumsum(np.diff(self.parameter_starts) + np.diff(self.row_starts))
        if threads < 2 or work[-1] < 400:
            return [(0, count)]
        cuts = [0, *(int(np.searchsorted(work, work[-1] * i / threads)) + 1 for i in range(1, threads)), count]
        return [(a, b) for a, b in pairwise(cuts) if a < b]


def _starts(sizes: Sequence[int]) -> Indices:
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _entropies(task: Task) -> Numbers:
    return np.zeros(task.block.size) if task.entropies is None else task.entropies


def _row_norms(coefficients: Numbers, entry_starts: Indices) -> Numbers:
    if len(entry_starts) == 1:
        return np.zeros(0)
    return np.asarray(np.maximum.reduceat(np.abs(coefficients), entry_starts[:-1]), dtype=np.float64)


def _softness(rows: LinearRows, soft_weight: float) -> Numbers:
    """1 / (W·C) of a soft row, 0 of a hard one; soft rows that cost nothing are to be taken out before."""
    with np.errstate(divide="ignore"):
        return np.where(rows.hard, 0.0, 1.0 / (soft_weight * np.nan_to_num(rows.confidences, nan=1.0)))


def _start(task: Task) -> Numbers:
    """Near the estimate without rows, but inside: pseudo-counts of a half, or of a fiftieth of the distribution."""
    block = task.block
    totals = np.add.reduceat(task.weights, block.distributions[:-1])[block.distribution_of]
    sizes = np.diff(block.distributions)[block.distribution_of]
    pseudo = np.maximum(0.5, 0.02 * totals)
    return np.asarray((task.weights + pseudo) / (totals + sizes * pseudo), dtype=np.float64)

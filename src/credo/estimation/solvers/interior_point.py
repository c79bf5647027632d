"""The optimum of each task: small problems by plain NumPy, others by the compiled loops on all cores.

The choice depends on the size of the problem alone, and both give the same certified optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from os import cpu_count
from typing import TYPE_CHECKING

import numpy as np

from credo.constraints.blocks import Block, starts_of
from credo.estimation.solvers.certificate import certify
from credo.estimation.solvers.plain_closed_forms import closed_form
from credo.estimation.solvers.plain_interior_point import Manner, has_one_optimum, interior_points, padded_size
from credo.estimation.solvers.ranges import has_ranges_only, solve_ranges
from credo.estimation.solvers.tasks import Point as Point
from credo.estimation.solvers.tasks import Task as Task
from credo.estimation.solvers.tasks import normalised, scale_of, unknowns
from credo.kernels.closed_forms import GENERAL
from credo.kernels.threads import map_in_threads
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from credo.kernels.blocks import Blocks

# Plain NumPy takes about 2 ms for each shape of blocks and 0.03 ms an unknown; the compiled loops take 2 µs an unknown,
# but compiling them takes half a minute. From 100 unknowns of a block on, libraries solve dense systems with several
# threads, which on busy cores wait for each other.
PLAIN_UNKNOWNS, PLAIN_PADDING = 1_500, 32
MANY_RANGES = 1_000  # tasks from which they are solved together, beside others that are compiled anyway
TOLERANCE = 2e-16  # of the compiled loop, with weights scaled to a sum of one
LARGE_SYSTEM = 400  # unknowns from which a library orders the elimination
SHARED_WORK = 400  # parameters and constraints from which a second thread is worth its start
CORES = cpu_count() or 1  # asking takes as long as a small block
NO_ORDER: Indices = np.empty(0, dtype=np.int64)


def solve_tasks(tasks: Sequence[Task], closed_forms: bool = True, repetitions: int = 1) -> list[Point]:
    """The optimum of each task.

    Blocks with the shape of a closed form are solved by it, unless that is switched off. `repetitions` says about how
    often problems of this size will be solved: what EM solves a hundred times is no small work.
    """
    others = [task for task in tasks if not has_ranges_only(task)] if closed_forms else tasks
    if len(tasks) - len(others) < MANY_RANGES and not is_small(others, repetitions):
        return solve_compiled(tasks, closed_forms)
    found = solve_ranges(tasks) if closed_forms else {}
    if len(found) == len(tasks):
        return [found[k] for k in range(len(tasks))]
    left = [task for k, task in enumerate(tasks) if k not in found] if found else tasks
    solve = solve_plain if is_small(left, repetitions) else solve_compiled
    solved = iter(solve(left, closed_forms))
    return [found[k] if k in found else next(solved) for k in range(len(tasks))]


def is_small(tasks: Sequence[Task], repetitions: int = 1) -> bool:
    """Whether plain code solves these tasks, so often, before anybody notices."""
    if repetitions * sum(unknowns(task.block) for task in tasks) > PLAIN_UNKNOWNS:
        return False
    return all(padded_size(task.block) <= PLAIN_PADDING for task in tasks)


def solve_plain(tasks: Sequence[Task], closed_forms: bool = True) -> list[Point]:
    """The optimum of each task by plain NumPy."""
    found: dict[int, Point] = {}
    shapes = [GENERAL] * len(tasks)
    for number, task in enumerate(tasks):
        if closed_forms:
            shapes[number], optimum = closed_form(task)
            if optimum is not None:
                found[number] = _certified_point(task, *optimum, 0, True, shapes[number])
    for manner in Manner:
        left = [k for k in range(len(tasks)) if k not in found or not found[k].converged]
        if manner is Manner.QUICK:
            left = [k for k in left if has_one_optimum(tasks[k])]
        for number, end in zip(left, interior_points([tasks[k] for k in left], manner), strict=True):
            found[number] = _certified_point(
                tasks[number], end.theta, end.multipliers, end.iterations, end.converged, shapes[number]
            )
    return [found[number] for number in range(len(tasks))]


def _certified_point(
    task: Task, theta: Numbers, multipliers: Numbers, iterations: int, converged: bool, shape: int
) -> Point:
    theta = normalised(theta, task.block)
    certificate = certify(task, theta, multipliers)
    return Point(theta, multipliers, iterations, converged, certificate.violation, certificate.gap, shape)


def solve_compiled(tasks: Sequence[Task], closed_forms: bool = True) -> list[Point]:
    """The optimum of each task by compiled loops; tasks share nothing, so that they run on all cores."""
    if not tasks:
        return []
    from credo.kernels.blocks import (
        Ends,
        certify_blocks,
        solve_dense_blocks,
        solve_in_closed_form,
        solve_sparse_blocks,
    )
    from credo.kernels.interior_point import OPEN, SOLVED
    from credo.kernels.newton_systems import SMALL

    packed = _Packed.of(tasks)
    theta, multipliers = packed.start, np.zeros(packed.constraint_count)
    iterations, status, shapes = np.zeros((3, len(tasks)), dtype=np.int64)
    violations, gaps = np.zeros((2, len(tasks)))
    status[:], shapes[:] = OPEN, GENERAL
    ends = Ends(theta, multipliers, iterations, status, shapes, violations, gaps)
    free = np.diff(packed.parameter_starts) - packed.blocks.distribution_counts

    def run(piece: tuple[int, int]) -> None:
        """Each kernel is called only if some block needs it: a call compiles it."""
        own = slice(*piece)
        if closed_forms:
            solve_in_closed_form(*piece, packed.blocks, ends)
        for kernel, wanted in ((solve_dense_blocks, free[own] <= SMALL), (solve_sparse_blocks, free[own] > SMALL)):
            if (wanted & (status[own] == OPEN)).any():
                kernel(*piece, packed.blocks, TOLERANCE, ends)
        certify_blocks(*piece, packed.blocks, ends)

    map_in_threads(run, packed.pieces(CORES))
    multipliers *= np.repeat(packed.scales, np.diff(packed.constraint_starts)) / packed.constraint_norms
    parts = zip(
        pairwise(packed.parameter_starts.tolist()),
        pairwise(packed.constraint_starts.tolist()),
        iterations.tolist(),
        (status == SOLVED).tolist(),
        violations.tolist(),
        gaps.tolist(),
        shapes.tolist(),
        strict=True,
    )
    return [
        Point(theta[first:last], multipliers[begin:end], *numbers) for (first, last), (begin, end), *numbers in parts
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Packed:
    """All tasks in one set of arrays for the compiled loop; weights and constraints are scaled to about one."""

    parameter_starts: Indices
    constraint_starts: Indices
    blocks: Blocks
    start: Numbers  # (parameters of all,)
    scales: Numbers  # (tasks,) what the weights were divided by
    constraint_norms: Numbers  # (constraints of all,)

    @property
    def constraint_count(self) -> int:
        return len(self.constraint_norms)

    @classmethod
    def of(cls, tasks: Sequence[Task]) -> _Packed:
        blocks = [task.block for task in tasks]
        from credo.kernels.blocks import Blocks

        linear = [block.linear for block in blocks]
        parameter_starts = starts_of([block.size for block in blocks])
        constraint_starts = starts_of([len(each) for each in linear])
        distributions = np.array([len(block.distributions) - 1 for block in blocks], dtype=np.int64)
        distribution_of = np.concatenate([block.distribution_of for block in blocks])
        entry_starts = starts_of(np.diff(np.concatenate([each.starts for each in linear]))[_inside(constraint_starts)])
        weights = np.concatenate([task.weights for task in tasks])
        scales = _scales(tasks, weights, parameter_starts)
        task_of = np.repeat(np.arange(len(tasks)), np.diff(parameter_starts))
        task_of_constraint = np.repeat(np.arange(len(tasks)), np.diff(constraint_starts))
        start = _start(weights, distribution_of + starts_of(distributions)[task_of])
        scale_of_parameter = scales[task_of]
        coefficients = np.concatenate([each.coefficients for each in linear])
        norms = _constraint_norms(coefficients, entry_starts)
        confidences = np.concatenate([each.confidences for each in linear])
        soft_weights = np.array([task.soft_weight for task in tasks])[task_of_constraint]
        orders = [_elimination_order(block) for block in blocks]
        arrays = Blocks(
            parameter_starts,
            constraint_starts,
            distributions,
            weights / scale_of_parameter,
            _joined([task.entropies for task in tasks], parameter_starts) / scale_of_parameter,
            _joined([task.costs for task in tasks], parameter_starts) / scale_of_parameter,
            distribution_of,
            entry_starts,
            np.concatenate([each.indices for each in linear]),
            coefficients / np.repeat(norms, np.diff(entry_starts)),
            np.concatenate([each.bounds for each in linear]) / norms,
            np.concatenate([each.equality for each in linear]),
            _softness(confidences, soft_weights) * scales[task_of_constraint] / norms**2,
            norms,
            scales,
            starts_of([len(order) for order in orders]),
            np.concatenate(orders),
        )
        return cls(parameter_starts, constraint_starts, arrays, start, scales, norms)

    def pieces(self, threads: int) -> list[tuple[int, int]]:
        """Ranges of tasks of about equal work."""
        count = len(self.scales)
        work = np.cumsum(np.diff(self.parameter_starts) + np.diff(self.constraint_starts))
        if threads < 2 or work[-1] < SHARED_WORK:
            return [(0, count)]
        cuts = [0, *(int(np.searchsorted(work, work[-1] * i / threads)) + 1 for i in range(1, threads)), count]
        return [(a, b) for a, b in pairwise(cuts) if a < b]


def _inside(constraint_starts: Indices) -> Indices:
    """Where, among the differences of all blocks' starts put together, those within a block stand."""
    constraints = np.diff(constraint_starts)
    return np.arange(constraint_starts[-1]) + np.repeat(np.arange(len(constraints)), constraints)


def _scales(tasks: Sequence[Task], weights: Numbers, parameter_starts: Indices) -> Numbers:
    """`scale_of` of every task; of those without soft constraints for all at once."""
    totals = np.add.reduceat(weights, parameter_starts[:-1])
    scales = np.where(totals > 0.0, totals, 1.0)
    for k, task in enumerate(tasks):
        if task.soft_weight > 0.0:
            scales[k] = scale_of(task)
    return scales


def _joined(parts: Sequence[Numbers | None], starts: Indices) -> Numbers:
    """Numbers for the parameters of every task, zero where a task has none."""
    joined = np.zeros(starts[-1])
    for part, start in zip(parts, starts.tolist(), strict=False):
        if part is not None:
            joined[start : start + len(part)] = part
    return joined


def _constraint_norms(coefficients: Numbers, entry_starts: Indices) -> Numbers:
    if len(entry_starts) == 1:
        return np.zeros(0)
    return np.asarray(np.maximum.reduceat(np.abs(coefficients), entry_starts[:-1]), dtype=np.float64)


def _softness(confidences: Numbers, soft_weights: Numbers) -> Numbers:
    """1 / (W·C) of a soft constraint, 0 of a hard one; soft constraints that cost nothing must not be among them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isnan(confidences), 0.0, 1.0 / (soft_weights * confidences))


def _start(weights: Numbers, distribution: Indices) -> Numbers:
    """Near the unconstrained estimate, but inside: pseudo-counts of a half, or of a fiftieth of the distribution."""
    totals, sizes = np.bincount(distribution, weights)[distribution], np.bincount(distribution)[distribution]
    pseudo = np.maximum(0.5, 0.02 * totals)
    return np.asarray((weights + pseudo) / (totals + sizes * pseudo), dtype=np.float64)


def _elimination_order(block: Block) -> Indices:
    """The elimination order of parameters, constraints and sums of a large block; empty for small ones.

    It depends on which parameters the constraints have alone, and steps solve the same ones again and again.
    """
    if unknowns(block) < LARGE_SYSTEM:
        return NO_ORDER
    arrays = block.linear.starts, block.linear.indices, block.distribution_of
    return _order_of(*(each.astype(np.int64, copy=False).tobytes() for each in arrays))


@lru_cache(maxsize=8)
def _order_of(constraint_starts: bytes, entries: bytes, distribution_of: bytes) -> Indices:
    """The order for these arrays of integers, by SuperLU's minimum degree: our own takes the square of their size."""
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import spilu

    starts, indices, distributions = (
        np.frombuffer(part, dtype=np.int64) for part in (constraint_starts, entries, distribution_of)
    )
    size, constraints = len(distributions), len(starts) - 1
    count = size + constraints + int(distributions.max()) + 1
    above = np.concatenate((indices, np.arange(size)))
    owners = np.repeat(np.arange(constraints), np.diff(starts))
    beside = np.concatenate((size + owners, size + constraints + distributions))
    own = np.arange(count)
    pattern = csc_matrix(
        (
            np.concatenate((np.full(2 * len(above), 1e-3 / count), np.ones(count))),
            (np.concatenate((above, beside, own)), np.concatenate((beside, above, own))),
        ),
        shape=(count, count),
    )
    factors = spilu(
        pattern, drop_tol=1.0, fill_factor=1.0,  # only the order is wanted, so that factors may be left out
        permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True},
    )  # fmt: skip
    order = np.argsort(factors.perm_c).astype(np.int64)
    order.flags.writeable = False  # it is kept
    return order

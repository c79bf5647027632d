"""The interior point in plain NumPy: the reference of the compiled one, and what solves small problems.

It is Mehrotra's predictor-corrector method for the conditions that `kernels/interior_point.py` writes down. Parameters
and slacks are one vector p = (θ, s) ≥ 0, with q = (v, z) beside it and targets t = (w, 0); constraints and sums are the
rows of one matrix E, with multipliers λ = (z, y):

    E p − c λ = r,    Eᵀλ − q + e (log p + 1) + a = 0,    p q = t,    E = ⎡ A  1 ⎤
                                                                     ⎣ 1  0 ⎦

With D = p/(q + e), a Newton step solves (E D Eᵀ + c) Δλ = E D (missing/p − dual) − primal for the multipliers; all else
follows from them. This is quick, but D can span thirty orders of magnitude where parameters must be zero or have no
data. What does not converge is solved once more with parameters and multipliers in one system:

    ⎡ 1/D_θ          Gᵀ         ⎤ ⎡ Δθ ⎤   ⎡ missing/θ − dual                  ⎤
    ⎣   G    −diag(D_s + c, 0)  ⎦ ⎣ Δλ ⎦ = ⎣ primal − D_s (missing/s − dual)   ⎦      with G = (A, 1) of E.

All blocks of about one size are solved at once: arrays have the block as their first axis, and are padded. What a
block is padded to depends on its own size alone, so that its answer does not depend on the company it is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from credo.constraints.blocks import Block
from credo.estimation.solvers.tasks import Task, scale_of
from credo.types import Flags, Indices, Numbers

QUICK_ITERATIONS, ITERATIONS = 20, 100
SMALLEST_PADDING = 4
QUICK_REFINEMENTS, REFINEMENTS = 1, 2
# Of matrices whose entries are at most one; constraints that repeat others make them singular.
QUICK_REGULARISATION, REGULARISATION = 1e-13, 1e-11
TO_BOUNDARY, CAUTIOUS_TO_BOUNDARY = 0.995, 0.9
CENTRALITY = 0.1
SHORT_STEP = 0.1
TINY_STEP, MOST_TINY_STEPS = 1e-3, 5
RESIDUAL, GAP = 1e-13, 2e-16  # of the equations, and of complementarity, for weights scaled to a sum of one
PATIENCE = 6  # steps that halve nothing, after which an acceptable point is taken
ACCEPTABLE = 1e-9  # where rounding ends progress, this will do


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """Where the iterations for one task ended."""

    theta: Numbers
    multipliers: Numbers
    iterations: int
    converged: bool


class Manner(Enum):
    """How to go about it; each takes longer than the one before, and solves more."""

    QUICK = 0  # by the small system; for tasks with one optimum
    THOROUGH = 1  # by the large one
    CAUTIOUS = 2  # the same from the middle, and further away from the boundary


def interior_points(tasks: Sequence[Task], manner: Manner = Manner.THOROUGH) -> list[Solved]:
    """The optimum of each task."""
    found: dict[int, Solved] = {}
    classes: dict[tuple[int, int, int], list[int]] = {}
    for number, task in enumerate(tasks):
        classes.setdefault(_padded_shape(task.block), []).append(number)
    for shape, numbers in classes.items():
        batch = [tasks[number] for number in numbers]
        found.update(zip(numbers, _solve(batch, Systems.of(batch, *shape), manner), strict=True))
    return [found[number] for number in range(len(tasks))]


def has_one_optimum(task: Task) -> bool:
    """Whether every distribution has a weight or an entropy; else rounding decides where the quick manner ends."""
    parts = task.weights if task.entropies is None else task.weights + task.entropies
    return bool((np.add.reduceat(parts, task.block.distributions[:-1]) > 0.0).all())


def padded_size(block: Block) -> int:
    """The parameters or constraints that a block is padded to, whichever are more."""
    return max(_padded_shape(block)[:2])


def _padded_shape(block: Block) -> tuple[int, int, int]:
    """The parameters, constraints and sums that a block is padded to, powers of two."""
    sizes = block.size, len(block.linear), len(block.distributions) - 1
    n, m, d = (1 << (max(size, SMALLEST_PADDING) - 1).bit_length() for size in sizes)
    return n, m, d


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """The problems of a batch; weights are scaled to a sum of one, constraints to a largest coefficient of one.

    Pairs (p, q) that are padding, or belong to an equality, which has no slack, are one and have the target one.
    """

    rows: Numbers  # (blocks, constraints + sums, pairs) E
    columns: Numbers  # (blocks, pairs, constraints + sums) Eᵀ
    right: Numbers  # (blocks, constraints + sums) r; 0 where padded
    softness: Numbers  # (blocks, constraints + sums) c; 0 where hard
    ballast: Numbers  # (blocks, constraints + sums) c, and one where padded
    real: Numbers  # (blocks, pairs) 1; 0 where there is none
    target: Numbers  # (blocks, pairs) t
    entropies: Numbers  # (blocks, parameters) e
    costs: Numbers  # (blocks, pairs) a
    pairs: Numbers  # (blocks,) how many are real
    totals: Numbers  # (blocks, parameters) the weight of the parameter's distribution
    sizes: Numbers  # (blocks, parameters) the number of states of the parameter's distribution
    scales: Numbers  # (blocks,) what weights were divided by
    norms: Numbers  # (blocks, constraints) what constraints were divided by
    entropic: bool  # whether any entropy is above zero

    @classmethod
    def of(cls, tasks: Sequence[Task], n: int, m: int, d: int) -> Systems:
        """The problems of tasks, padded to so many parameters, constraints and sums."""
        count = len(tasks)
        rows, right, softness = np.zeros((count, m + d, n + m)), np.zeros((count, m + d)), np.zeros((count, m + d))
        padding, real, target = np.ones((count, m + d)), np.zeros((count, n + m)), np.ones((count, n + m))
        entropies, totals, sizes = np.zeros((count, n)), np.ones((count, n)), np.ones((count, n))
        costs = np.zeros((count, n + m))
        scales, norms = np.ones(count), np.ones((count, m))
        for k, task in enumerate(tasks):
            block, linear, of = task.block, task.block.linear, task.block.distribution_of
            own, some, sums = block.size, len(linear), len(block.distributions) - 1
            at = np.arange(own)
            if some:
                np.add.at(rows[k], (linear.entry_constraints, linear.indices), linear.coefficients)
                norms[k, :some] = np.maximum(np.abs(rows[k, :some]).max(axis=1), 1e-300)
                rows[k, :some] /= norms[k, :some, None]
                right[k, :some] = linear.bounds / norms[k, :some]
                slack = np.flatnonzero(~linear.equality)
                rows[k, slack, n + slack] = 1.0
                real[k, n + slack], target[k, n + slack] = 1.0, 0.0
            rows[k, m + of, at] = 1.0
            right[k, m : m + sums] = 1.0
            padding[k, :some] = padding[k, m : m + sums] = 0.0
            real[k, :own] = 1.0
            scales[k] = scale_of(task)
            target[k, :own] = task.weights / scales[k]
            if task.entropies is not None:
                entropies[k, :own] = task.entropies / scales[k]
            if task.costs is not None:
                costs[k, :own] = task.costs / scales[k]
            soft = np.flatnonzero(~linear.hard)
            if len(soft):
                cost = task.soft_weight * linear.confidences[soft] * norms[k, soft] ** 2
                softness[k, soft] = scales[k] / cost
            totals[k, :own] = np.bincount(of, target[k, :own])[of]
            sizes[k, :own] = np.diff(block.distributions)[of]
        columns = np.ascontiguousarray(rows.swapaxes(1, 2))
        return cls(
            rows, columns, right, softness, softness + padding, real, target, entropies, costs, real.sum(axis=1),
            totals, sizes, scales, norms, bool(entropies.any()),
        )  # fmt: skip

    def take(self, kept: Flags) -> Systems:
        """Some of the blocks."""
        return Systems(*_taken(self, kept))


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where each block of a batch is."""

    p: Numbers  # (blocks, pairs) parameters and slacks
    q: Numbers  # (blocks, pairs) of p ≥ 0
    multipliers: Numbers  # (blocks, constraints + sums) λ
    tiny_steps: Indices  # (blocks,) how many of the last steps were tiny
    idle: Indices  # (blocks,) steps since the error was halved
    least: Numbers  # (blocks,) the least error so far

    def take(self, kept: Flags) -> State:
        """Some of the blocks."""
        return State(*_taken(self, kept))


class Residuals(NamedTuple):
    """How far a state is from the conditions of an optimum."""

    dual: Numbers  # (blocks, pairs) of Eᵀλ − q + e (log p + 1) + a
    primal: Numbers  # (blocks, constraints + sums) what is missing in E p − c λ
    excess: Numbers  # (blocks, pairs) p q − t
    equations: Numbers  # (blocks,) the largest of primal and of dual · p
    gap: Numbers  # (blocks,) Σ |p q − t|
    mean: Numbers  # (blocks,) complementarity that is left, a pair


class _Change(NamedTuple):
    """A direction."""

    p: Numbers
    q: Numbers
    multipliers: Numbers


def _taken(batch: Systems | State, kept: Flags) -> Iterable[Any]:
    values = (getattr(batch, field.name) for field in fields(batch))
    return (value[kept] if isinstance(value, np.ndarray) else value for value in values)


def _solve(tasks: Sequence[Task], systems: Systems, manner: Manner) -> list[Solved]:
    found: dict[int, Solved] = {}
    numbers, state = np.arange(len(tasks)), _start(systems, manner is Manner.CAUTIOUS)
    scales, norms = systems.scales, systems.norms
    most = QUICK_ITERATIONS if manner is Manner.QUICK else ITERATIONS
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for iteration in range(most + 1):
            residuals = _residuals(systems, state)
            idle, least, solved, ended = _judged(state, residuals, manner)
            over = solved | ended if iteration < most else np.ones_like(ended)
            if over.any():
                for k in np.flatnonzero(over):
                    number, task = int(numbers[k]), tasks[numbers[k]]
                    count = len(task.block.linear)
                    multipliers = state.multipliers[k, :count] * scales[number] / norms[number, :count]
                    found[number] = Solved(state.p[k, : task.block.size], multipliers, iteration, bool(solved[k]))
                left = ~over
                if not left.any():
                    break
                systems, state, numbers, idle, least = (
                    systems.take(left), state.take(left), numbers[left], idle[left], least[left]
                )  # fmt: skip
                residuals = Residuals(*(each[left] for each in residuals))
            way, step = _direction(systems, state, residuals, manner)
            along = step[:, None]
            state = State(
                state.p + along * way.p,
                state.q + along * way.q,
                state.multipliers + along * way.multipliers,
                np.where(step < TINY_STEP, state.tiny_steps + 1, 0),
                idle,
                least,
            )
    return [found[number] for number in range(len(tasks))]


def _start(systems: Systems, cautious: bool) -> State:
    """θ near the estimate without constraints but inside, with multipliers that fit; or the middle of everything."""
    n, m = systems.entropies.shape[1], systems.norms.shape[1]
    real, slack = systems.real[:, :n] > 0.0, systems.real[:, n:] > 0.0
    weights, totals = (each * systems.scales[:, None] for each in (systems.target[:, :n], systems.totals))
    rows, sums = systems.rows[:, :m, :n], systems.rows[:, m:, :n]
    held = 1.0 - systems.ballast[:, m:]  # 1 where there is a sum
    lowest = 0.01 / np.maximum(held.sum(axis=1, keepdims=True), 1.0)
    y = held * np.maximum(_times(sums, np.where(real, systems.target[:, :n], 0.0)), lowest)
    own = np.where(real, (y[:, None, :] @ sums)[:, 0], 1.0)  # y of each parameter's distribution
    if cautious:
        theta, v = 1.0 / systems.sizes, np.where(real, systems.sizes, 1.0)
        s = np.maximum(systems.right[:, :m] - _times(rows, theta), 1.0)
        z = np.ones_like(s)
    else:
        pseudo = np.maximum(0.5, 0.02 * totals)
        theta = np.where(real, (weights + pseudo) / (totals + systems.sizes * pseudo), 1.0)
        s = np.maximum(systems.right[:, :m] - _times(rows, theta), 0.05)
        z = 0.1 * np.where(rows != 0.0, own[:, None, :], 1.0).min(axis=2, initial=1.0)
        pull = (np.where(slack, z, 0.0)[:, None, :] @ rows)[:, 0]
        v = np.where(real, np.maximum(own + pull, 0.1 * own), 1.0)
    count = len(theta)
    none = np.zeros(count, dtype=np.int64)
    return State(
        np.concatenate((theta, np.where(slack, s, 1.0)), axis=1),
        np.concatenate((v, np.where(slack, z, 1.0)), axis=1),
        np.concatenate((np.where(slack, z, 0.0), y), axis=1),
        none,
        none,
        np.full(count, np.inf),
    )


def _residuals(systems: Systems, state: State) -> Residuals:
    p, q = state.p, state.q
    dual = (_times(systems.columns, state.multipliers) - q + systems.costs) * systems.real
    if systems.entropic:
        n = systems.entropies.shape[1]
        dual[:, :n] += systems.entropies * (np.log(p[:, :n]) + 1.0)
    primal = systems.right - _times(systems.rows, p) + systems.softness * state.multipliers
    excess = p * q - systems.target
    gap = np.abs(excess).sum(axis=1)
    equations = np.maximum(np.abs(primal).max(axis=1), (np.abs(dual) * p).max(axis=1))
    return Residuals(dual, primal, excess, equations, gap, 0.5 * (gap + excess.sum(axis=1)) / systems.pairs)


def _judged(state: State, residuals: Residuals, manner: Manner) -> tuple[Indices, Numbers, Flags, Flags]:
    """The record of progress; which blocks are solved, and which end without that."""
    error = np.maximum(residuals.equations, residuals.gap)
    idle = np.where(error < 0.5 * state.least, 0, state.idle + 1)
    solved = (residuals.equations <= RESIDUAL) & (residuals.gap <= GAP)
    if manner is Manner.QUICK:  # what gets stuck is left to others
        return idle, np.fmin(state.least, error), solved, ~np.isfinite(error) | (idle >= PATIENCE)
    good = error <= ACCEPTABLE
    ended = ~np.isfinite(error) | (state.tiny_steps >= MOST_TINY_STEPS) | ((idle >= PATIENCE) & good)
    return idle, np.fmin(state.least, error), solved | (ended & good), ended


def _direction(systems: Systems, state: State, residuals: Residuals, manner: Manner) -> tuple[_Change, Numbers]:
    """Where to go, and how far: the predictor says how much can be gained, the corrector takes it.

    Where that gets stuck, the way to the middle is taken instead.
    """
    newton: _QuickNewton | _Newton = (_QuickNewton if manner is Manner.QUICK else _Newton).of(systems, state, residuals)
    mean, inverse_p, inverse_q = residuals.mean, newton.inverse_p, 1.0 / state.q
    # Near the optimum a step may go nearly all the way, so that the last steps converge faster than linearly.
    to_boundary = np.maximum(TO_BOUNDARY, 1.0 - residuals.gap)
    if manner is Manner.CAUTIOUS:
        to_boundary = np.full_like(to_boundary, CAUTIOUS_TO_BOUNDARY)

    def reach(way: _Change) -> Numbers:
        fastest = np.minimum(way.p * inverse_p, way.q * inverse_q).min(axis=1)
        return np.asarray(to_boundary / np.maximum(to_boundary, -fastest))

    predictor = newton.solve(-residuals.excess, refined=False)
    step = reach(predictor)
    along = step[:, None]
    excess = (state.p + along * predictor.p) * (state.q + along * predictor.q) - systems.target
    after = np.maximum(excess, 0.0).sum(axis=1) / systems.pairs
    centre = (np.fmin(np.fmax((after / mean) ** 3, (1.0 - step) ** 3), 1.0) * mean)[:, None]
    # Towards the target t + centre, less the curvature that the predictor found.
    missing = centre * systems.real - residuals.excess
    chosen = newton.solve(missing - along**2 * predictor.p * predictor.q)
    step = _central(systems, state, chosen, reach(chosen), centre)
    if not step.min() >= SHORT_STEP:
        stuck = ~(step >= SHORT_STEP)
        middle = newton.solve(mean[:, None] * systems.real - residuals.excess)
        chosen = _Change(*(np.where(stuck[:, None], other, one) for one, other in zip(chosen, middle, strict=True)))
        step = np.where(stuck, _central(systems, state, middle, reach(middle), mean[:, None]), step)
    return chosen, step


def _central(systems: Systems, state: State, way: _Change, step: Numbers, centre: Numbers) -> Numbers:
    """The step, shortened where a product θ v would fall far below its target: Newton's next steps would be tiny."""
    n = systems.entropies.shape[1]
    p, q, change_p, change_q = (each[:, :n] for each in (state.p, state.q, way.p, way.q))
    least = np.minimum(p * q, CENTRALITY * (systems.target[:, :n] + centre))
    for _ in range(40):
        along = step[:, None]
        short = ((p + along * change_p) * (q + along * change_q) < least).any(axis=1)
        if not short.any():
            break
        step = np.where(short, 0.8 * step, step)
    return step


class _QuickNewton(NamedTuple):
    """The system for the multipliers, scaled to a diagonal of ones."""

    systems: Systems
    state: State
    residuals: Residuals
    inverse_p: Numbers
    spread: Numbers  # (blocks, pairs) D
    inverse: Numbers  # (blocks, constraints + sums, constraints + sums) of E D Eᵀ + c

    @classmethod
    def of(cls, systems: Systems, state: State, residuals: Residuals) -> _QuickNewton:
        spread = _spread(systems, state)
        matrix = (systems.rows * spread[:, None, :]) @ systems.columns
        diagonal = matrix.reshape(len(matrix), -1)[:, :: matrix.shape[1] + 1]
        diagonal += systems.ballast
        scale = 1.0 / np.sqrt(diagonal)
        scales = scale[:, :, None] * scale[:, None, :]
        matrix *= scales
        diagonal += QUICK_REGULARISATION
        return cls(systems, state, residuals, 1.0 / state.p, spread, _inverse(matrix) * scales)

    def solve(self, missing: Numbers, refined: bool = True) -> _Change:
        """The change that makes up for what is missing in complementarity, and for the residuals."""
        rows, columns, softness = self.systems.rows, self.systems.columns, self.systems.softness
        freely = self.spread * (missing * self.inverse_p - self.residuals.dual)
        multipliers = _times(self.inverse, _times(rows, freely) - self.residuals.primal)
        p = freely - self.spread * _times(columns, multipliers)
        for _ in range(QUICK_REFINEMENTS if refined else 0):
            left = _times(rows, p) - softness * multipliers - self.residuals.primal
            multipliers = multipliers + _times(self.inverse, left)
            p = freely - self.spread * _times(columns, multipliers)
        return _Change(p, (missing - self.state.q * p) * self.inverse_p, multipliers)


class _Newton(NamedTuple):
    """The system for parameters and multipliers: rows and columns are scaled so that no entry is above one."""

    systems: Systems
    state: State
    residuals: Residuals
    inverse_p: Numbers
    slack_spread: Numbers  # (blocks, constraints) D of slacks
    matrix: Numbers  # (blocks, unknowns, unknowns) scaled
    scale: Numbers  # (blocks, unknowns)

    @classmethod
    def of(cls, systems: Systems, state: State, residuals: Residuals) -> _Newton:
        n, m = systems.entropies.shape[1], systems.norms.shape[1]
        spread = _spread(systems, state)
        slack_spread = spread[:, n:] * systems.real[:, n:]
        diagonal = np.concatenate((1.0 / spread[:, :n], -systems.ballast), axis=1)
        diagonal[:, n : n + m] -= slack_spread
        scale = 1.0 / np.sqrt(np.maximum(np.abs(diagonal), 1.0))
        size, at = diagonal.shape[1], np.arange(diagonal.shape[1])
        matrix = np.zeros((len(diagonal), size, size))
        matrix[:, n:, :n] = systems.rows[:, :, :n] * scale[:, n:, None] * scale[:, None, :n]
        matrix[:, :n, n:] = matrix[:, n:, :n].swapaxes(1, 2)
        matrix[:, at, at] = diagonal * scale**2
        return cls(systems, state, residuals, 1.0 / state.p, slack_spread, matrix, scale)

    def solve(self, missing: Numbers, refined: bool = True) -> _Change:
        """The change that makes up for what is missing in complementarity, and for the residuals."""
        n, m = self.systems.entropies.shape[1], self.systems.norms.shape[1]
        pull = missing * self.inverse_p - self.residuals.dual
        freely = self.slack_spread * pull[:, n:]
        right = np.concatenate((pull[:, :n], self.residuals.primal), axis=1)
        right[:, n : n + m] -= freely
        right *= self.scale
        at = np.arange(self.matrix.shape[1])
        regular = self.matrix.copy()  # constraints may repeat each other
        regular[:, at, at] += np.where(at < n, REGULARISATION, -REGULARISATION)
        solution = np.zeros_like(right)
        for _ in range(1 + REFINEMENTS if refined else 1):
            left = right - _times(self.matrix, solution)
            solution += _solution(regular, left)
        solution *= self.scale
        theta, multipliers = solution[:, :n], solution[:, n:]
        p = np.concatenate((theta, freely - self.slack_spread * multipliers[:, :m]), axis=1)
        return _Change(p, (missing - self.state.q * p) * self.inverse_p, multipliers)


def _spread(systems: Systems, state: State) -> Numbers:
    """D = p/(q + e)."""
    if not systems.entropic:
        return state.p / state.q
    curved = state.q.copy()
    curved[:, : systems.entropies.shape[1]] += systems.entropies
    return np.asarray(state.p / curved)


def _times(matrices: Numbers, vectors: Numbers) -> Numbers:
    """A x of each block."""
    product: Numbers = (matrices @ vectors[:, :, None])[:, :, 0]
    return product


def _inverse(matrices: Numbers) -> Numbers:
    """The inverse of each; of one that has none, no numbers, so that its block ends here and is left to others."""
    try:
        return np.asarray(np.linalg.inv(matrices))
    except np.linalg.LinAlgError:
        found = np.full_like(matrices, np.nan)
        for k, matrix in enumerate(matrices):
            with suppress(np.linalg.LinAlgError):
                found[k] = np.linalg.inv(matrix)
        return found


def _solution(matrices: Numbers, right: Numbers) -> Numbers:
    """The solution of each system; as `_inverse` for one that has none."""
    try:
        return np.asarray(np.linalg.solve(matrices, right[:, :, None])[:, :, 0])
    except np.linalg.LinAlgError:
        found = np.full_like(right, np.nan)
        for k, matrix in enumerate(matrices):
            with suppress(np.linalg.LinAlgError):
                found[k] = np.linalg.solve(matrix, right[k])
        return found

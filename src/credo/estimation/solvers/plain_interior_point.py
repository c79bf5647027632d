"""The interior point in plain NumPy: the reference of the compiled one, and what solves small problems.

It is Mehrotra's predictor-corrector method for the conditions that `kernels/interior_point.py` writes down,

    Aᵀz + y − v + e (log θ + 1) = 0,    Aθ + s − c z = b,    Σ θ = 1,    s z = 0,    θ v = w.

With G the constraints A above the sums and λ = (z, y), a Newton step solves

    ⎡ (v + e)/θ         Gᵀ        ⎤ ⎡ Δθ ⎤
    ⎣     G      −diag(s/z + c, 0) ⎦ ⎣ Δλ ⎦ = what is missing in these conditions.

All blocks of about one size are solved at once: arrays have the block as their first axis, and are padded. What a
block is padded to depends on its own size alone, so that its answer does not depend on the company it is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.constraints.blocks import Block
from credo.estimation.solvers.tasks import Task
from credo.types import Flags, Indices, Numbers

ITERATIONS = 100
SMALLEST_PADDING = 8
REFINEMENTS = 2
REGULARISATION = 1e-11  # of a matrix whose entries are at most one; constraints that repeat others make it singular
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


def interior_points(tasks: Sequence[Task], cautious: bool = False) -> list[Solved]:
    """The optimum of each task; `cautious` starts in the middle, and keeps further away from the boundary."""
    found: dict[int, Solved] = {}
    classes: dict[int, list[int]] = {}
    for number, task in enumerate(tasks):
        classes.setdefault(padded_size(task.block), []).append(number)
    for size, numbers in classes.items():
        batch = [tasks[number] for number in numbers]
        found.update(zip(numbers, _solve(batch, Systems.of(batch, size), cautious), strict=True))
    return [found[number] for number in range(len(tasks))]


def padded_size(block: Block) -> int:
    """The parameters and constraints that a block is padded to, a power of two; its sums are padded to half of it."""
    largest = max(block.size, len(block.linear), 2 * (len(block.distributions) - 1), SMALLEST_PADDING)
    return 1 << (largest - 1).bit_length()


@dataclass(frozen=True, slots=True, eq=False)
class Systems:
    """The problems of a batch; weights are scaled to a sum of one, constraints to a largest coefficient of one."""

    matrix: Numbers  # (blocks, constraints + sums, parameters) G
    right: Numbers  # (blocks, constraints + sums) bounds, and ones for sums; 0 where padded
    softness: Numbers  # (blocks, constraints) c, 0 where hard
    slack: Flags  # (blocks, constraints) which have a slack: inequalities
    padding: Numbers  # (blocks, constraints + sums) 1 where there is none
    real: Flags  # (blocks, parameters)
    weights: Numbers  # (blocks, parameters)
    entropies: Numbers  # (blocks, parameters)
    totals: Numbers  # (blocks, parameters) the weight of the parameter's distribution
    sizes: Numbers  # (blocks, parameters) the number of states of the parameter's distribution
    scales: Numbers  # (blocks,) what weights were divided by
    norms: Numbers  # (blocks, constraints) what constraints were divided by

    @classmethod
    def of(cls, tasks: Sequence[Task], size: int) -> Systems:
        """The problems of tasks, padded to this size."""
        n, m, d, count = size, size, size // 2, len(tasks)
        matrix, right, padding = np.zeros((count, m + d, n)), np.zeros((count, m + d)), np.ones((count, m + d))
        softness, slack, norms = np.zeros((count, m)), np.zeros((count, m), dtype=np.bool_), np.ones((count, m))
        real, weights, entropies = np.zeros((count, n), dtype=np.bool_), np.zeros((count, n)), np.zeros((count, n))
        totals, sizes, scales = np.ones((count, n)), np.ones((count, n)), np.ones(count)
        for k, task in enumerate(tasks):
            block, linear = task.block, task.block.linear
            own, constraints, sums = block.size, len(linear), len(block.distributions) - 1
            np.add.at(matrix[k], (linear.entry_constraints, linear.indices), linear.coefficients)
            norms[k, :constraints] = np.maximum(np.abs(matrix[k, :constraints]).max(axis=1, initial=0.0), 1e-300)
            matrix[k, :constraints] /= norms[k, :constraints, None]
            matrix[k, m + block.distribution_of, np.arange(own)] = 1.0
            right[k, :constraints], right[k, m : m + sums] = linear.bounds / norms[k, :constraints], 1.0
            padding[k, :constraints] = padding[k, m : m + sums] = 0.0
            slack[k, :constraints], real[k, :own] = ~linear.equality, True
            total = float(task.weights.sum())
            scales[k] = total if total > 0 else 1.0
            weights[k, :own] = task.weights / scales[k]
            if task.entropies is not None:
                entropies[k, :own] = task.entropies / scales[k]
            soft = ~linear.hard
            softness[k, :constraints][soft] = scales[k] / (task.soft_weight * linear.confidences[soft])
            softness[k, :constraints] /= norms[k, :constraints] ** 2
            totals[k, :own] = np.bincount(block.distribution_of, weights[k, :own])[block.distribution_of]
            sizes[k, :own] = np.bincount(block.distribution_of)[block.distribution_of]
        return cls(
            matrix, right, softness, slack, padding, real, weights, entropies, totals, sizes, scales, norms
        )  # fmt: skip

    def take(self, kept: Flags) -> Systems:
        """Some of the blocks."""
        return Systems(*_taken(self, kept))


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where each block of a batch is."""

    theta: Numbers  # (blocks, parameters)
    v: Numbers  # (blocks, parameters) of θ ≥ 0
    s: Numbers  # (blocks, constraints) slacks
    z: Numbers  # (blocks, constraints) multipliers of constraints
    y: Numbers  # (blocks, sums) multipliers of sums
    tiny_steps: Indices  # (blocks,) how many of the last steps were tiny
    idle: Indices  # (blocks,) steps since the error was halved
    least: Numbers  # (blocks,) the least error so far

    def take(self, kept: Flags) -> State:
        """Some of the blocks."""
        return State(*_taken(self, kept))


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """How far a state is from the conditions of an optimum."""

    dual: Numbers  # (blocks, parameters)
    linear: Numbers  # (blocks, constraints + sums) what is missing in Gθ + s − c z = right
    primal: Numbers  # (blocks,) the largest of these
    worst: Numbers  # (blocks,) of dual · θ
    mean: Numbers  # (blocks,) complementarity that is left, a pair
    gap: Numbers  # (blocks,) all of it


def _taken(batch: Systems | State, kept: Flags) -> Iterable[NDArray[Any]]:
    return (getattr(batch, field.name)[kept] for field in fields(batch))


def _solve(tasks: Sequence[Task], systems: Systems, cautious: bool) -> list[Solved]:
    found: dict[int, Solved] = {}
    numbers, state = np.arange(len(tasks)), _start(systems, cautious)
    scales, norms = systems.scales, systems.norms
    to_boundary = CAUTIOUS_TO_BOUNDARY if cautious else TO_BOUNDARY
    for iteration in range(ITERATIONS + 1):
        residuals = _residuals(systems, state)
        state, solved, ended = _judged(state, residuals)
        if iteration == ITERATIONS:
            ended = np.ones_like(ended)
        for k in np.flatnonzero(solved | ended):
            number, task = int(numbers[k]), tasks[numbers[k]]
            count = len(task.block.linear)
            multipliers = state.z[k, :count] * scales[number] / norms[number, :count]
            found[number] = Solved(state.theta[k, : task.block.size], multipliers, iteration, bool(solved[k]))
        left = ~(solved | ended)
        if not left.any():
            break
        if not left.all():
            systems, state, numbers = systems.take(left), state.take(left), numbers[left]
            residuals = _residuals(systems, state)
        state = _step(systems, state, residuals, to_boundary)
    return [found[number] for number in range(len(tasks))]


def _start(systems: Systems, cautious: bool) -> State:
    """θ near the estimate without constraints but inside, with multipliers that fit; or the middle of everything."""
    m = systems.slack.shape[1]
    counts = systems.weights * systems.scales[:, None]
    totals = systems.totals * systems.scales[:, None]
    pseudo = np.maximum(0.5, 0.02 * totals)
    theta = np.where(systems.real, (counts + pseudo) / (totals + systems.sizes * pseudo), 1.0)
    linear, sums = systems.matrix[:, :m], systems.matrix[:, m:]
    distributions = (1.0 - systems.padding[:, m:]).sum(axis=1, keepdims=True)
    y = np.maximum((sums * systems.weights[:, None, :]).sum(axis=2), 0.01 / np.maximum(distributions, 1.0))
    y *= 1.0 - systems.padding[:, m:]
    own = np.where(systems.real, (y[:, :, None] * sums).sum(axis=1), 1.0)  # y of each parameter's distribution
    if cautious:
        theta = 1.0 / systems.sizes
        v = np.where(systems.real, systems.sizes, 1.0)
        s = np.maximum(systems.right[:, :m] - _product(linear, theta), 1.0)
        z = np.ones_like(s)
    else:
        s = np.maximum(systems.right[:, :m] - _product(linear, theta), 0.05)
        z = 0.1 * np.where(linear != 0.0, own[:, None, :], 1.0).min(axis=2, initial=1.0)
        z = np.where(systems.slack, z, 0.0)
        v = np.where(systems.real, np.maximum(own + _transposed(linear, z), 0.1 * own), 1.0)
    s, z = np.where(systems.slack, s, 0.0), np.where(systems.slack, z, 0.0)
    count = len(theta)
    none = np.zeros(count, dtype=np.int64)
    return State(theta, v, s, z, y, none, none, np.full(count, np.inf))


def _residuals(systems: Systems, state: State) -> Residuals:
    m = systems.slack.shape[1]
    multipliers = np.concatenate((state.z, state.y), axis=1)
    dual = _transposed(systems.matrix, multipliers) - state.v
    dual += systems.entropies * (np.log(state.theta) + 1.0)
    dual = np.where(systems.real, dual, 0.0)
    linear = systems.right - _product(systems.matrix, state.theta)
    linear[:, :m] += systems.softness * state.z - state.s
    linear *= 1.0 - systems.padding
    excess = np.where(systems.real, state.theta * state.v - systems.weights, 0.0)
    over = np.maximum(excess, 0.0).sum(axis=1) + (state.s * state.z).sum(axis=1)
    short = np.maximum(-excess, 0.0).sum(axis=1)
    pairs = systems.real.sum(axis=1) + systems.slack.sum(axis=1)
    return Residuals(
        dual,
        linear,
        np.abs(linear).max(axis=1, initial=0.0),
        (np.abs(dual) * state.theta).max(axis=1, initial=0.0),
        over / pairs,
        over + short,
    )


def _judged(state: State, residuals: Residuals) -> tuple[State, Flags, Flags]:
    """The state with its record of progress; which blocks are solved, and which end without that."""
    equations = np.maximum(residuals.primal, residuals.worst)
    error = np.maximum(equations, residuals.gap)
    solved = (equations <= RESIDUAL) & (residuals.gap <= GAP)
    idle = np.where(error < 0.5 * state.least, 0, state.idle + 1)
    state = replace(state, idle=idle, least=np.fmin(state.least, error))
    ended = ~np.isfinite(error) | (state.tiny_steps >= MOST_TINY_STEPS) | ((idle >= PATIENCE) & (error <= ACCEPTABLE))
    return state, solved | (ended & (error <= ACCEPTABLE)), ended


def _step(systems: Systems, state: State, residuals: Residuals, to_boundary: float) -> State:
    """One step: the predictor says how much can be gained, the corrector takes it; where it gets stuck, recentre."""
    newton = _Newton.of(systems, state)
    mean = residuals.mean[:, None]

    def change(centring: Numbers, bend_theta: Numbers, bend_slack: Numbers, refinements: int) -> _Change:
        """Towards the target w + σ·mean, less the curvature that the predictor found."""
        target = np.where(systems.real, systems.weights + centring[:, None] * mean, 1.0)
        missing_theta = np.where(systems.real, target - state.theta * state.v - bend_theta, 0.0)
        missing_slack = np.where(systems.slack, centring[:, None] * mean - state.s * state.z - bend_slack, 0.0)
        return newton.solve(residuals, missing_theta, missing_slack, refinements)

    def reach(way: _Change) -> Numbers:
        return np.asarray(to_boundary / np.maximum(to_boundary, way.fastest(newton)))

    none = np.zeros(1)
    predictor = change(np.zeros(len(mean)), none, none, 0)
    step = reach(predictor)
    after = predictor.complementarity(systems, state, step)
    pairs = systems.real.sum(axis=1) + systems.slack.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        hoped = np.where(residuals.mean > 0.0, (after / pairs / residuals.mean) ** 3, 0.0)
    centring = np.minimum(np.maximum(hoped, (1.0 - step) ** 3), 1.0)
    bend = (step**2)[:, None]
    chosen = change(centring, bend * predictor.theta * predictor.v, bend * predictor.s * predictor.z, REFINEMENTS)
    step = _central(systems, state, chosen, reach(chosen), centring[:, None] * mean)
    stuck = step < SHORT_STEP
    if stuck.any():
        centred = change(np.ones(len(mean)), none, none, REFINEMENTS)
        chosen = _Change(*(np.where(stuck[:, None], other, one) for one, other in zip(chosen, centred, strict=True)))
        step = np.where(stuck, _central(systems, state, centred, reach(centred), mean), step)
    along = step[:, None]
    return State(
        state.theta + along * chosen.theta,
        state.v + along * chosen.v,
        state.s + along * chosen.s,
        state.z + along * chosen.z,
        state.y + along * chosen.y,
        np.where(step < TINY_STEP, state.tiny_steps + 1, 0),
        state.idle,
        state.least,
    )


def _central(systems: Systems, state: State, way: _Change, step: Numbers, centre: Numbers) -> Numbers:
    """The step, shortened where a product θ v would fall far below its target: Newton's next steps would be tiny."""
    least = np.minimum(state.theta * state.v, CENTRALITY * (systems.weights + centre))
    for _ in range(40):
        along = step[:, None]
        central = ((state.theta + along * way.theta) * (state.v + along * way.v) >= least) | ~systems.real
        if central.all():
            break
        step = np.where(central.all(axis=1), step, 0.8 * step)
    return step


class _Change(tuple[Numbers, Numbers, Numbers, Numbers, Numbers]):
    """Directions of θ, v, s, z and y."""

    def __new__(cls, theta: Numbers, v: Numbers, s: Numbers, z: Numbers, y: Numbers) -> _Change:
        return super().__new__(cls, (theta, v, s, z, y))

    theta = property(lambda self: self[0])
    v = property(lambda self: self[1])
    s = property(lambda self: self[2])
    z = property(lambda self: self[3])
    y = property(lambda self: self[4])

    def fastest(self, newton: _Newton) -> Numbers:
        """How fast the fastest of all numbers that stay positive goes to zero, in shares of itself."""
        shares = np.concatenate(
            (
                -self.theta * newton.inverse_theta,
                -self.v * newton.inverse_v,
                -self.s * newton.inverse_s,
                -self.z * newton.inverse_z,
            ),
            axis=1,
        )
        return np.asarray(shares.max(axis=1))

    def complementarity(self, systems: Systems, state: State, step: Numbers) -> Numbers:
        """What is left of it after a step of this length."""
        along = step[:, None]
        products = (state.theta + along * self.theta) * (state.v + along * self.v) - systems.weights
        slacks = (state.s + along * self.s) * (state.z + along * self.z)
        return np.asarray(np.maximum(np.where(systems.real, products, 0.0), 0.0).sum(axis=1) + slacks.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Newton:
    """The linear system of one iteration: rows and columns are scaled so that no entry is above one."""

    systems: Systems
    state: State
    matrix: Numbers  # (blocks, unknowns, unknowns) scaled
    scale: Numbers  # (blocks, unknowns)
    inverse_theta: Numbers
    inverse_v: Numbers
    inverse_s: Numbers  # 0 where there is no slack
    inverse_z: Numbers

    @classmethod
    def of(cls, systems: Systems, state: State) -> _Newton:
        inverse_theta, inverse_v = 1.0 / state.theta, 1.0 / state.v
        with np.errstate(divide="ignore"):
            inverse_s = np.where(systems.slack, 1.0 / state.s, 0.0)
            inverse_z = np.where(systems.slack, 1.0 / state.z, 0.0)
        n, m = state.theta.shape[1], state.z.shape[1]
        size = n + systems.right.shape[1]
        diagonal = np.zeros((len(state.theta), size))
        diagonal[:, :n] = (state.v + systems.entropies) * inverse_theta
        diagonal[:, n : n + m] = -(state.s * inverse_z + systems.softness)
        diagonal[:, n:] -= systems.padding
        scale = 1.0 / np.sqrt(np.maximum(np.abs(diagonal), 1.0))
        matrix = np.zeros((len(state.theta), size, size))
        matrix[:, n:, :n] = systems.matrix * scale[:, n:, None] * scale[:, None, :n]
        matrix[:, :n, n:] = matrix[:, n:, :n].swapaxes(1, 2)
        at = np.arange(size)
        matrix[:, at, at] = diagonal * scale**2
        return cls(systems, state, matrix, scale, inverse_theta, inverse_v, inverse_s, inverse_z)

    def solve(self, residuals: Residuals, missing_theta: Numbers, missing_slack: Numbers, refinements: int) -> _Change:
        """The change that makes up for all that is missing; refined with the system itself."""
        n, m = missing_theta.shape[1], missing_slack.shape[1]
        right = np.concatenate((missing_theta * self.inverse_theta - residuals.dual, residuals.linear), axis=1)
        right[:, n : n + m] -= missing_slack * self.inverse_z
        right *= self.scale
        solution = self._regular(right)
        for _ in range(refinements):
            solution += self._regular(right - _product(self.matrix, solution))
        solution *= self.scale
        theta, z, y = solution[:, :n], solution[:, n : n + m], solution[:, n + m :]
        v = (missing_theta - self.state.v * theta) * self.inverse_theta
        s = (missing_slack - self.state.s * z) * self.inverse_z
        return _Change(theta, v, s, z, y)

    def _regular(self, right: Numbers) -> Numbers:
        """The solution of the system moved away from singularity: constraints may repeat each other."""
        n, at = self.state.theta.shape[1], np.arange(self.matrix.shape[1])
        matrix = self.matrix.copy()
        matrix[:, at, at] += np.where(at < n, REGULARISATION, -REGULARISATION)
        return np.asarray(np.linalg.solve(matrix, right[:, :, None])[:, :, 0])


def _product(matrices: Numbers, vectors: Numbers) -> Numbers:
    """A x of each block."""
    return np.asarray((matrices @ vectors[:, :, None])[:, :, 0])


def _transposed(matrices: Numbers, vectors: Numbers) -> Numbers:
    """Aᵀ x of each block."""
    return np.asarray((vectors[:, None, :] @ matrices)[:, 0, :])

"""The centroid of a polytope {x : Gx ≤ h}, h > 0, by coordinate steps in coordinates in which it is round; compiled.

The inverse root of the curvature of −Σ log(h − Gx) at its minimum makes a first round shape of it, the spread of the
first draws a better one. In such coordinates uniform draws one by one [smith 1984] mix within few sweeps. Instead of
what is drawn, the mean of what could have been is added up, and sweeps go on until batches of them agree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.polytope_moves import uniform

CENTRED = 1e-3  # Newton's decrement at the minimum
NEWTON_STEPS = 200
ROUNDINGS = 2
FLATTEST = 1e-6  # a variance, where the curvature expects about one
BURN_IN, BATCHES = 10, 32
FIRST_BATCH, LAST_BATCH = 4, 4096  # sweeps


@compiled
def decompose(matrix: Any, least: float) -> None:  # pragma: no cover
    """The lower triangle of a positive matrix becomes its Cholesky factor, no pivot of which is below the least."""
    for j in range(len(matrix)):
        for i in range(j, len(matrix)):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = np.sqrt(max(value, least)) if i == j else value / matrix[j, j]


@compiled
def set_curvature(constraints: Any, slack: Any, matrix: Any) -> None:  # pragma: no cover
    """Gᵀ diag(1/slack²) G, decomposed."""
    matrix[:] = 0.0
    for r in range(len(slack)):
        for i in range(len(matrix)):
            scaled = constraints[r, i] / (slack[r] * slack[r])
            if scaled != 0.0:
                for j in range(i + 1):
                    matrix[i, j] += scaled * constraints[r, j]
    decompose(matrix, 1e-300)


@compiled
def centre(constraints: Any, point: Any, slack: Any, matrix: Any) -> None:  # pragma: no cover
    """Move to the minimum of −Σ log slack by Newton's damped steps; the curvature there is left in `matrix`."""
    size = len(point)
    gradient, step = np.empty(size), np.empty(size)
    for _ in range(NEWTON_STEPS):
        set_curvature(constraints, slack, matrix)
        for i in range(size):
            gradient[i] = 0.0
            for r in range(len(slack)):
                gradient[i] -= constraints[r, i] / slack[r]
            step[i] = gradient[i]
            for k in range(i):
                step[i] -= matrix[i, k] * step[k]
            step[i] /= matrix[i, i]
        for i in range(size - 1, -1, -1):
            for k in range(i + 1, size):
                step[i] -= matrix[k, i] * step[k]
            step[i] /= matrix[i, i]
        square = 0.0
        for i in range(size):
            square += gradient[i] * step[i]
        decrement = np.sqrt(max(square, 0.0))
        length = 1.0 / (1.0 + decrement)
        for i in range(size):
            point[i] += length * step[i]
            for r in range(len(slack)):
                slack[r] -= length * step[i] * constraints[r, i]
        if decrement < CENTRED:
            break
    set_curvature(constraints, slack, matrix)


@compiled
def set_axes(constraints: Any, factor: Any, axes: Any, changes: Any) -> None:  # pragma: no cover
    """Columns of the factor's inverse, transposed, as axes; and what they change."""
    size = len(axes)
    for j in range(size):
        for i in range(size - 1, -1, -1):
            value = 1.0 if i == j else 0.0
            for k in range(i + 1, size):
                value -= factor[k, i] * axes[j, k]
            axes[j, i] = value / factor[i, i]
    set_changes(constraints, axes, changes)


@compiled
def set_changes(constraints: Any, axes: Any, changes: Any) -> None:  # pragma: no cover
    """How a step along each axis changes every constraint."""
    for j in range(len(axes)):
        for r in range(len(constraints)):
            changes[j, r] = 0.0
            for i in range(len(axes)):
                changes[j, r] += constraints[r, i] * axes[j, i]


@compiled(error_model="numpy", fastmath={"nnan", "nsz", "reassoc"})
def reach(change: Any, slack: Any) -> tuple[float, float]:  # pragma: no cover
    """How far a step can go back and forth; the flags let the compiler look at several constraints at a time."""
    low, high = -np.inf, np.inf
    for r in range(len(slack)):
        limit = slack[r] / change[r]
        high = min(high, limit if change[r] > 0.0 else np.inf)
        low = max(low, limit if change[r] < 0.0 else -np.inf)
    return min(low, 0.0), max(high, 0.0)


@compiled
def sweep(changes: Any, slack: Any, place: Any, total: Any, generator: Any) -> None:  # pragma: no cover
    """A uniform draw along every axis; the middle of what it was drawn from is added to `total`."""
    for j in range(len(place)):
        low, high = reach(changes[j], slack)
        total[j] += place[j] + 0.5 * (low + high)
        step = low + uniform(generator) * (high - low)
        place[j] += step
        for r in range(len(slack)):
            slack[r] -= step * changes[j, r]


@compiled
def make_rounder(constraints: Any, axes: Any, changes: Any, slack: Any, generator: Any) -> None:  # pragma: no cover
    """Draw, and take the root of the draws' covariance for axes instead."""
    size = len(axes)
    place, total, mean, spread = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros((size, size))
    sweeps = 20 + 10 * size
    for _ in range(sweeps):
        sweep(changes, slack, place, total, generator)
        for i in range(size):
            mean[i] += place[i] / sweeps
            for j in range(i + 1):
                spread[i, j] += place[i] * place[j] / sweeps
    for i in range(size):
        for j in range(i + 1):
            spread[i, j] -= mean[i] * mean[j]
    decompose(spread, FLATTEST)
    old = axes.copy()
    for j in range(size):
        for i in range(size):
            axes[j, i] = 0.0
            for k in range(j, size):
                axes[j, i] += spread[k, j] * old[k, i]
    set_changes(constraints, axes, changes)


@compiled
def set_mean(changes: Any, slack: Any, tolerance: float, generator: Any, mean: Any) -> None:  # pragma: no cover
    """The mean along the axes, to a standard error below the tolerance, as batches of sweeps tell it."""
    size = len(changes)
    place, batches, length, kept = np.zeros(size), np.zeros((BATCHES, size)), FIRST_BATCH, 0
    for _ in range(BURN_IN + size):
        sweep(changes, slack, place, batches[0], generator)
    batches[0] = 0.0
    while True:
        for batch in range(kept, BATCHES):
            for _ in range(length):
                sweep(changes, slack, place, batches[batch], generator)
        square = 0.0
        for j in range(size):
            mean[j] = 0.0
            for batch in range(BATCHES):
                mean[j] += batches[batch, j] / (BATCHES * length)
            for batch in range(BATCHES):
                square += (batches[batch, j] / length - mean[j]) ** 2
        if square <= tolerance * tolerance * size * BATCHES * (BATCHES - 1) or length >= LAST_BATCH:
            return
        kept = BATCHES // 2
        for batch in range(BATCHES):
            for j in range(size):
                joined = batches[2 * batch, j] + batches[2 * batch + 1, j] if batch < kept else 0.0
                batches[batch, j] = joined
        length *= 2


@compiled
def centroid(constraints: Any, bounds: Any, tolerance: float, generator: Any) -> Any:  # pragma: no cover
    """The mean of the uniform distribution on {x : matrix·x ≤ bounds}, where all bounds are above zero.

    The tolerance is in units of the standard deviation, in the square mean over all directions.
    """
    size = constraints.shape[1]
    point, slack, factor, mean = np.zeros(size), bounds.copy(), np.empty((size, size)), np.empty(size)
    axes, changes = np.empty((size, size)), np.empty((size, len(constraints)))
    centre(constraints, point, slack, factor)
    set_axes(constraints, factor, axes, changes)
    for _ in range(ROUNDINGS):
        make_rounder(constraints, axes, changes, slack.copy(), generator)
    set_mean(changes, slack.copy(), tolerance, generator, mean)
    # All draws are inside, but middles of where they were drawn from need not be, each by itself.
    while not inside(changes, slack, mean):
        for j in range(size):
            mean[j] *= 0.5
    for j in range(size):
        for i in range(size):
            point[i] += mean[j] * axes[j, i]
    return point


@compiled
def inside(changes: Any, slack: Any, place: Any) -> bool:  # pragma: no cover
    """Whether every constraint holds at a place along the axes."""
    for r in range(len(slack)):
        left = slack[r]
        for j in range(len(place)):
            left -= changes[j, r] * place[j]
        if left < 0.0:
            return False
    return True

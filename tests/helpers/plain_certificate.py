"""The certificate of a block, straight from its definition: the oracle of the compiled one."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from credo.estimation.solvers.block_solver import Task


def plain_certificate(task: Task, theta: np.ndarray, multipliers: np.ndarray) -> tuple[float, float, float]:
    """The largest violation, the objective, and the lower bound that the multipliers prove."""
    block, linear = task.block, task.block.linear
    entropies = np.zeros(block.size) if task.entropies is None else task.entropies
    violation = value = bound = 0.0
    gradient = np.zeros(block.size) if task.costs is None else task.costs.copy()
    value += float(gradient @ theta)
    for constraint, z in zip(linear, multipliers.tolist(), strict=True):
        indices = list(constraint.indices)
        excess = float(np.dot(constraint.coefficients, theta[indices])) - constraint.bound
        excess = abs(excess) if constraint.equality else max(excess, 0.0)
        multiplier = z if constraint.equality else max(z, 0.0)
        np.add.at(gradient, indices, multiplier * np.array(constraint.coefficients))
        bound -= multiplier * constraint.bound
        if constraint.confidence is None:
            violation = max(violation, excess)
        else:
            cost = task.soft_weight * constraint.confidence
            value += 0.5 * cost * excess**2
            bound -= multiplier**2 / (2.0 * cost)
    for first, last in zip(block.distributions[:-1].tolist(), block.distributions[1:].tolist(), strict=True):
        own, w, e = theta[first:last], task.weights[first:last], entropies[first:last]
        violation = max(violation, abs(float(own.sum()) - 1.0))
        seen, inside = w > 0, (e > 0) & (own > 0)
        value += float(-(w[seen] @ np.log(own[seen])) + e[inside] @ (own[inside] * np.log(own[inside])))
        bound += least_on_simplex(w, e, gradient[first:last])
    return violation, value, bound


def least_on_simplex(w: np.ndarray, e: np.ndarray, g: np.ndarray) -> float:
    """min Σ −w log θ + e θ log θ + g θ over a simplex with weights or one entropy, by bisection for the multiplier."""
    if e.any():
        return float(-e[0] * np.log(np.exp(-g / e[0]).sum()))
    if not w.any():
        return float(g.min())
    seen = w > 0
    lowest = -g[seen].min()

    def left(level: float) -> float:
        return 1.0 - float((w[seen] / (level + g[seen])).sum())

    level = brentq(left, lowest + 1e-12 * w.sum(), lowest + 2.0 * w.sum(), xtol=1e-300, rtol=1e-15, maxiter=1_000)
    level = max(level, float(-g[~seen].min())) if not seen.all() else level
    theta = w[seen] / (level + g[seen])
    rest = 1.0 - float(theta.sum())
    return float(g[seen] @ theta - w[seen] @ np.log(theta)) + (rest * float(g[~seen].min()) if not seen.all() else 0.0)

"""The proof that an estimate is the optimum: no statement violated, and a lower bound that leaves no gap.

For any multipliers z ≥ 0 of the rows, weak duality bounds the optimum from below:

    min Σ_i f_i(θ_i)  ≥  Σ_d min_{θ in simplex d} [Σ f_i(θ_i) + g_i θ_i] − bᵀz − Σ_soft z²/(2·W·C),    g = Aᵀz,

with f_i(θ) = −w_i log θ + e_i θ log θ. The minimum over one simplex is a closed form but for one number, so that the
bound is exact whatever found θ and z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Numbers
from credo.estimation.solvers.interior_point import Task

VIOLATION_LIMIT = 1e-9
GAP_LIMIT = 1e-8


@dataclass(frozen=True, slots=True)
class Certificate:
    """How far a hard row is violated at most, and how far the objective can be from the optimum, relatively."""

    violation: float
    gap: float

    @property
    def holds(self) -> bool:
        """Whether both are as small as promised."""
        return self.violation <= VIOLATION_LIMIT and self.gap <= GAP_LIMIT

    @property
    def badness(self) -> tuple[bool, bool, float]:
        """For comparing two: first whether it holds, then whether the point is feasible, then the gap."""
        return not self.holds, self.violation > VIOLATION_LIMIT, self.gap


def certify(task: Task, theta: Numbers, multipliers: Numbers) -> Certificate:
    """The certificate of a point for a task."""
    value = objective(task, theta)
    gap = max(0.0, value - lower_bound(task, multipliers)) / max(1.0, abs(value))
    return Certificate(hard_violation(task, theta), float(gap))


def hard_violation(task: Task, theta: Numbers) -> float:
    """How far a hard row, or the sum of a distribution, is off at most."""
    rows = task.block.linear
    excess = rows.values(theta) - rows.bounds if len(rows) else np.zeros(0)
    excess = np.where(rows.equality, np.abs(excess), excess)
    sums = np.add.reduceat(theta, task.block.distributions[:-1])
    return float(max(excess[rows.hard].max(initial=0.0), np.abs(sums - 1).max(initial=0.0)))


def objective(task: Task, theta: Numbers) -> float:
    """Σ −w log θ + e θ log θ + Σ_soft (W/2)·C·violation²; infinite where a weight meets a zero."""
    seen = task.weights > 0
    with np.errstate(divide="ignore"):
        value = -float(task.weights[seen] @ np.log(theta[seen]))
    if task.entropies is not None:
        inside = (task.entropies > 0) & (theta > 0)
        value += float(task.entropies[inside] @ (theta[inside] * np.log(theta[inside])))
    return value + soft_cost(task, theta)


def soft_cost(task: Task, theta: Numbers) -> float:
    """What the violated soft rows cost [liao, eq. 5]."""
    rows = task.block.linear
    if not len(rows) or rows.hard.all():
        return 0.0
    excess = rows.values(theta) - rows.bounds
    excess = np.where(rows.equality, excess, np.maximum(excess, 0.0))
    soft = ~rows.hard
    return float(0.5 * task.soft_weight * (rows.confidences[soft] @ excess[soft] ** 2))


def lower_bound(task: Task, multipliers: Numbers) -> float:
    """The dual value of multipliers; those of inequalities are cut off at zero first."""
    rows = task.block.linear
    z = np.where(rows.equality, multipliers, np.maximum(multipliers, 0.0))
    gradient = np.zeros(task.block.size)
    np.add.at(gradient, rows.indices, rows.coefficients * z[rows.entry_constraints])
    entropies = np.zeros(task.block.size) if task.entropies is None else task.entropies
    bound = -float(rows.bounds @ z)
    soft = ~rows.hard
    if soft.any():
        bound -= float((z[soft] ** 2 / (2 * task.soft_weight * rows.confidences[soft])).sum())
    for start, stop in zip(task.block.distributions[:-1], task.block.distributions[1:], strict=True):
        own = slice(int(start), int(stop))
        bound += _least_on_simplex(task.weights[own], entropies[own], gradient[own])
    return bound


def _least_on_simplex(weights: Numbers, entropies: Numbers, gradient: Numbers) -> float:
    """min over one simplex of Σ −w log θ + e θ log θ + g θ; weights and entropies are not mixed in a distribution."""
    if entropies.any():
        lowest = float(gradient.min())
        e = float(entropies[0])  # −e log Σ exp(−g/e), shifted so that nothing overflows
        return lowest - e * float(np.log(np.exp(-(gradient - lowest) / e).sum()))
    seen = weights > 0
    if not seen.any():
        return float(gradient.min())
    w, g = weights[seen], gradient[seen]
    level = _level(w, g)
    unseen = gradient[~seen]
    if unseen.size and level < -unseen.min():
        level = -float(unseen.min())  # a state without weight is cheaper: it takes the mass that is left
    theta = w / (level + g)
    left = 1.0 - float(theta.sum())
    return float(-(w @ np.log(theta)) + g @ theta - left * level)


def _level(weights: NDArray[np.float64], gradient: NDArray[np.float64]) -> float:
    """The y with Σ w / (y + g) = 1 and y + g > 0, by Newton on 1/Σ − 1, which is nearly linear and concave."""
    total = float(weights.sum())
    y = float((weights - gradient).max())  # here Σ ≥ 1: the root is at or above
    for _ in range(200):
        inverse = 1.0 / (y + gradient)
        value = float(weights @ inverse)
        slope = float(weights @ inverse**2)
        step = value * (value - 1.0) / slope  # Newton for 1 − 1/Σ = 0
        y += step
        if abs(step) <= 1e-15 * (abs(y) + total):
            break
    return y

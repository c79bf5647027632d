"""The proof that an estimate is the optimum: no statement violated, and a lower bound that leaves no gap.

For any multipliers z ≥ 0 of the constraints, weak duality bounds the optimum from below:

    min Σ_i f_i(θ_i)  ≥  Σ_d min_{θ in simplex d} [Σ f_i(θ_i) + g_i θ_i] − bᵀz − Σ_soft z²/(2·W·C),    g = Aᵀz,

with f_i(θ) = −w_i log θ + e_i θ log θ + c_i θ. The minimum over one simplex is a closed form except for one number, so
that the bound is exact whatever found θ and z.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from credo.constraints.blocks import Block
from credo.estimation.solvers.tasks import Task
from credo.types import Flags, Indices, Numbers

VIOLATION_LIMIT = 1e-9
GAP_LIMIT = 1e-8
LEAST_TOTAL = 1e-250  # of the weights of a simplex; less is left out, −w log θ ≥ 0, and the bound stays one
LEAST_PER_ROW = 1e-6  # of the objective, to which a gap is compared
NEWTON_STEPS = 200


@dataclass(frozen=True, slots=True)
class Certificate:
    """How far a hard constraint is violated at most, and how far the objective can be from the optimum, relatively.

    Attributes
    ----------
    violation
        How far a hard constraint is violated at most.
    gap
        How far the objective can be from the optimum, relatively.
    """

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
    gap = relative_gap(value, lower_bound(task, multipliers, theta), float(task.weights.sum()))
    return Certificate(hard_violation(task, theta), gap)


def certify_many(
    block: Block,
    weights: Numbers,
    entropies: Numbers,
    theta: Numbers,
    multipliers: Numbers,
    distribution_firsts: Indices,
    constraint_firsts: Indices,
) -> tuple[Numbers, Numbers]:
    """The violation and the gap of each of many tasks that are stacked in one block, all constraints hard.

    `distribution_firsts` and `constraint_firsts` say where the distributions and the constraints of each task start.
    """
    linear, of, starts = block.linear, block.distribution_of, block.distributions[:-1]
    parameter_firsts, firsts = block.distributions[distribution_firsts][:-1], distribution_firsts[:-1]
    owner = np.repeat(np.arange(len(firsts)), np.diff(constraint_firsts))
    z = np.where(linear.equality, multipliers, np.maximum(multipliers, 0.0))
    pulls = np.bincount(linear.indices, linear.coefficients * z[linear.entry_constraints], len(theta))
    gradient = np.asarray(pulls, dtype=np.float64)  # without constraints bincount gives integers
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a weight may meet a zero: no certificate
        logs, mass = np.log(theta), entropies * theta
        costs = np.where(weights > 0.0, -weights * logs, 0.0) + np.where(mass > 0.0, mass * logs, 0.0)
        least = _least_on_simplices(weights, entropies, gradient, starts, of, theta)
        values = np.add.reduceat(costs, parameter_firsts)
        distance = values - np.add.reduceat(least, firsts) + np.bincount(owner, linear.bounds * z, len(firsts))
        totals = np.add.reduceat(weights, parameter_firsts)
        scale = np.maximum(np.maximum(1.0, np.abs(values)), LEAST_PER_ROW * totals)
        gaps = np.where(np.isfinite(distance), np.maximum(0.0, distance) / scale, inf)
    violations = np.maximum.reduceat(np.abs(np.add.reduceat(theta, starts) - 1.0), firsts)
    np.maximum.at(violations, owner, _excess(block, theta))
    return violations, gaps


def relative_gap(value: float, bound: float, total: float) -> float:
    """How far an objective is above its bound, as a share of itself; ∞ where one of them is not a number.

    A sum of −w log θ is exact to about 1e-16 of the total weight. Where that is more than the objective itself, because
    nearly all of very many data are certain, the share is one of the weight: beyond a million rows a row.
    """
    distance = value - bound
    if not isfinite(distance):
        return inf
    return max(0.0, distance) / max(1.0, abs(value), LEAST_PER_ROW * total)


def hard_violation(task: Task, theta: Numbers) -> float:
    """How far a hard constraint, or the sum of a distribution, is off at most."""
    linear = task.block.linear
    sums = np.add.reduceat(theta, task.block.distributions[:-1])
    return float(max(_excess(task.block, theta)[linear.hard].max(initial=0.0), np.abs(sums - 1).max(initial=0.0)))


def _excess(block: Block, theta: Numbers) -> Numbers:
    """By how much each constraint is off: |Aθ − b| of equalities, max(Aθ − b, 0) of inequalities."""
    linear = block.linear
    excess = linear.values(theta) - linear.bounds if len(linear) else np.zeros(0)
    return np.where(linear.equality, np.abs(excess), np.maximum(excess, 0.0))


def objective(task: Task, theta: Numbers) -> float:
    """Σ −w log θ + e θ log θ + c θ + Σ_soft (W/2)·C·violation²; infinite where a weight meets a zero."""
    seen = task.weights > 0
    with np.errstate(divide="ignore"):
        value = -float(task.weights[seen] @ np.log(theta[seen]))
    if task.entropies is not None:
        inside = (task.entropies > 0) & (theta > 0)
        value += float(task.entropies[inside] @ (theta[inside] * np.log(theta[inside])))
    if task.costs is not None:
        value += float(task.costs @ theta)
    return value + soft_cost(task, theta)


def soft_cost(task: Task, theta: Numbers) -> float:
    """The cost of the violated soft constraints [liao, eq. 5]."""
    soft = ~task.block.linear.hard
    if not soft.any():
        return 0.0
    excess = _excess(task.block, theta)[soft]
    return float(0.5 * task.soft_weight * (task.block.linear.confidences[soft] @ excess**2))


def lower_bound(task: Task, multipliers: Numbers, near: Numbers | None = None) -> float:
    """The dual value of multipliers; those of inequalities are cut off at zero first.

    It is computed quicker with a θ `near` the one that belongs to them.
    """
    block, linear = task.block, task.block.linear
    z = np.where(linear.equality, multipliers, np.maximum(multipliers, 0.0))
    costs = np.where(linear.hard, np.inf, task.soft_weight * linear.confidences)  # W·C
    z = np.where(costs > 0.0, z, 0.0)  # a soft constraint that costs nothing has no multiplier
    gradient = np.zeros(block.size) if task.costs is None else task.costs.copy()
    np.add.at(gradient, linear.indices, linear.coefficients * z[linear.entry_constraints])
    entropies = np.zeros(block.size) if task.entropies is None else task.entropies
    soft = ~linear.hard & (costs > 0.0)
    cost = float((z[soft] ** 2 / (2 * costs[soft])).sum())
    least = _least_on_simplices(
        task.weights, entropies, gradient, block.distributions[:-1], block.distribution_of, near
    )
    return float(least.sum() - linear.bounds @ z - cost)


def _least_on_simplices(
    weights: Numbers, entropies: Numbers, gradient: Numbers, starts: Indices, of: Indices, near: Numbers | None
) -> Numbers:
    """min over each simplex of Σ −w log θ + e θ log θ + g θ; weights and entropies are not mixed in one of them.

    With weights, θ = w/(y + g) for the y that makes their sum one; states without weight take what is left where they
    are cheaper. With entropies, it is −e log Σ exp(−g/e). With neither, all is on the cheapest state.

    Gradients are counted from that of the cheapest state with a weight, d = g − g₀ ≥ 0 and u = y + g₀ > 0: a weight far
    smaller than the gradient would be lost in y + g.
    """
    lowest = np.minimum.reduceat(gradient, starts)
    entropic, totals = np.maximum.reduceat(entropies, starts), np.add.reduceat(weights, starts)
    least = lowest.copy()
    if entropic.any():
        e = np.where(entropic > 0, entropic, 1.0)
        mass = np.add.reduceat(np.exp(-(gradient - lowest[of]) / e[of]), starts)  # shifted: nothing overflows
        least = np.where(entropic > 0, lowest - e * np.log(mass), least)
    weighted = (totals > LEAST_TOTAL) & ~(entropic > 0)
    if weighted.any():
        seen = (weights > 0) & weighted[of]
        first = np.where(weighted, np.minimum.reduceat(np.where(seen, gradient, np.inf), starts), 0.0)
        above = gradient - first[of]
        unit = np.where(weighted, totals, 1.0)
        level = unit * _levels(weights / unit[of], above / unit[of], seen, weighted, starts, of, near)
        unseen = np.minimum.reduceat(np.where(seen, np.inf, above), starts)
        level = np.maximum(level, -unseen)  # a state without weight that is cheaper takes the mass that is left
        theta = np.where(seen, weights / np.where(seen, level[of] + above, 1.0), 0.0)
        parts = above * theta - weights * np.log(np.where(theta > 0.0, theta, 1.0))
        left = 1.0 - np.add.reduceat(theta, starts)
        least = np.where(weighted, first + np.add.reduceat(parts, starts) - left * level, least)
    return least


def _levels(
    weights: Numbers, above: Numbers, seen: Flags, weighted: Flags, starts: Indices, of: Indices, near: Numbers | None
) -> Numbers:
    """The u of each simplex with Σ w/(u + d) = 1 and u > 0, by Newton on 1 − 1/Σ, nearly linear and concave.

    Weights sum to one, and the smallest d of a state with weight is zero. It starts where Σ ≥ 1, at or below the root,
    or at the u that belongs to a θ near by, 1 − Σ d θ.
    """
    lowest = np.maximum.reduceat(np.where(seen, weights - above, -np.inf), starts)
    level = lowest = np.where(weighted, lowest, 0.0)
    if near is not None:
        level = np.maximum(level, np.where(weighted, 1.0 - np.add.reduceat(above * near, starts), 0.0))
    moving = weighted
    for _ in range(NEWTON_STEPS):
        inverse = np.where(seen, 1.0 / np.where(seen, level[of] + above, 1.0), 0.0)
        share = weights * inverse
        value = np.where(moving, np.add.reduceat(share, starts), 1.0)
        slope = np.where(moving, np.add.reduceat(share * inverse, starts), 1.0)
        # Where weights are so small that the slope is zero, the level stays as it is.
        step = value * (value - 1.0) / np.where(slope > 0.0, slope, np.inf)
        level = np.maximum(level + step, lowest)
        moving = moving & (np.abs(step) > 4e-15 * level)
        if not moving.any():
            break
    return np.asarray(level)

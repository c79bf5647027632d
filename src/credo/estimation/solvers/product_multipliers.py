"""Blocks with product constraints Σ e log θ ≤ β, by their multipliers: quick, and often with a proof of optimality.

With a multiplier μ ≥ 0 for each product constraint, the Lagrangian of min Σ −w log θ is

    Σ −w log θ + Σ_k μ_k (Σ e_k log θ − β_k)  =  Σ −(w − Σ μ_k e_k) log θ − μᵀβ:

the problem without products, for other weights. Where these are not negative, its optimum θ(μ) is found and proved like
any other, and the dual value g(μ) bounds the objective of everything that satisfies the products, convex or not. If
θ(μ) satisfies them too, and those with a multiplier are tight, then it is the global optimum [everett 1963].

g is concave, with the gradient Σ e log θ(μ) − β, so that Newton's method finds μ. A soft constraint with the cost
(C/2)·violation² adds −μ²/(2C). Where weights would become negative there may be a duality gap: None is returned, and
convex steps from several starts (`products.py`) find what they can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from credo.core.block_program import VIOLATION_LIMIT
from credo.estimation.solvers.block_estimates import BlockEstimate, solve_certified, with_most_entropy
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import (
    Certificate,
    hard_violation,
    lower_bound,
    objective,
    relative_gap,
)
from credo.types import Flags, Numbers

STEPS, HALVINGS = 40, 12
TIGHT = 2e-10  # of a logarithm: where the search ends
TO_BOUNDARY = 0.95  # of the way to a weight of zero
REGULARISATION = 1e-12
LITTLE = 1e-10  # of the total weight
BY_MULTIPLIERS = "Newton's method for the multipliers of products, because its statements compare products"


class Products(Protocol):
    """Product constraints of a block, see `ProductConstraints`."""

    @property
    def exponents(self) -> Numbers: ...
    @property
    def log_bounds(self) -> Numbers: ...
    @property
    def costs(self) -> Numbers: ...
    @property
    def statements(self) -> tuple[int, ...]: ...
    @property
    def vanishing(self) -> tuple[tuple[int, ...], ...]: ...


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """The optimum θ(μ) for the weights that belong to multipliers."""

    multipliers: Numbers  # μ
    estimate: BlockEstimate
    value: float  # g(μ)
    slope: Numbers  # of g

    @property
    def free(self) -> Flags:
        """Which multipliers may change: those at zero only if g rises from there."""
        return np.asarray((self.multipliers > 0.0) | (self.slope > 0.0))

    @property
    def error(self) -> float:
        return float(np.abs(self.slope[self.free]).max(initial=0.0))


def optimum_by_multipliers(relaxed: BlockEstimate, products: Products) -> BlockEstimate | None:
    """The optimum under product constraints, with the proof that no other point is better where there is one.

    None where it is not found so. Factors without data get a little weight: without any, many points may be equally
    good, or there is no multiplier. Then only the optimum without products bounds the objective.
    """
    if products.vanishing or relaxed.task.entropies is not None:
        return None
    task = _with_little(relaxed.task, _used(products))
    current = _trial(task, products, np.zeros(len(products.log_bounds)))
    for _ in range(STEPS):
        if current is None or current.error <= TIGHT:
            break
        current = _step(task, products, current)
    if current is None or current.error > 4.0 * TIGHT:
        return None
    return _proved(relaxed, products, current)


def _used(products: Products) -> Flags:
    """Which parameters are factors of a product."""
    return np.asarray((products.exponents != 0.0).any(axis=0))


def _with_little(task: Task, used: Flags) -> Task:
    """The task with so little weight for factors without any that no objective changes beyond its rounding.

    Where a whole distribution has no data, all its states get it: they share evenly what products leave them.
    """
    starts, of = task.block.distributions[:-1], task.block.distribution_of
    unseen = (np.add.reduceat(task.weights, starts) == 0.0) & np.logical_or.reduceat(used, starts)
    wanted = (task.weights == 0.0) & (used | unseen[of])
    little = LITTLE * max(1.0, float(task.weights.sum()))
    return task._replace(weights=np.where(wanted, little, task.weights)) if wanted.any() else task


def _trial(task: Task, products: Products, multipliers: Numbers) -> _Trial | None:
    weights = task.weights - multipliers @ products.exponents
    if (weights < 0.0).any():
        return None
    (estimate,) = solve_certified([task._replace(weights=weights)])
    used = _used(products)
    if not estimate.certificate.holds or (estimate.theta[used] <= 0.0).any():
        return None
    logs = np.zeros(task.block.size)
    logs[used] = np.log(estimate.theta[used])
    lag = np.where(np.isnan(products.costs), 0.0, multipliers / products.costs)
    slope = products.exponents @ logs - products.log_bounds - lag
    value = objective(estimate.task, estimate.theta) - float(multipliers @ products.log_bounds) - 0.5 * float(
        multipliers @ lag
    )  # fmt: skip
    return _Trial(multipliers, estimate, value, slope)


def _step(task: Task, products: Products, current: _Trial) -> _Trial | None:
    """A projected Newton step, shortened until g rises or its slope gets smaller."""
    free = current.free
    direction = np.zeros(len(free))
    curvature = _curvature(products, current)[np.ix_(free, free)]
    scale = 1.0 / np.sqrt(np.diag(curvature))
    # Products may repeat each other: regularised at the scale of each, or there are many ways to go, and none is found.
    even = curvature * scale[:, None] * scale + REGULARISATION * np.eye(len(scale))
    direction[free] = scale * np.linalg.solve(even, scale * current.slope[free])
    weights = current.estimate.task.weights
    loss = direction @ products.exponents
    falling = loss > 0.0
    share = min(1.0, float((TO_BOUNDARY * weights[falling] / loss[falling]).min(initial=np.inf)))
    for _ in range(HALVINGS):
        other = _trial(task, products, np.maximum(current.multipliers + share * direction, 0.0))
        if other is not None and (
            other.error < 0.9 * current.error or other.value > current.value + 1e-12 * abs(current.value)
        ):
            return other
        share *= 0.5
    return None


def _curvature(products: Products, current: _Trial) -> Numbers:
    """−∇²g = Gᵀ X + 1/C with D X + Bᵀ Y = G and B X = 0.

    G are the gradients of the products, D is the curvature of the objective, and B has the constraints that are tight.
    """
    estimate = current.estimate
    task, block, theta = estimate.task, estimate.block, np.maximum(estimate.theta, 1e-12)
    linear, n = block.linear, block.size
    hard = linear.hard
    matrix = np.zeros((len(linear), n))
    np.add.at(matrix, (linear.entry_constraints, linear.indices), linear.coefficients)
    at_work = linear.equality | (estimate.multipliers > 1e-9 * max(1.0, float(task.weights.sum())))
    sums = (block.distribution_of == np.arange(len(block.distributions) - 1)[:, None]).astype(np.float64)
    tight = np.concatenate((sums, matrix[at_work & hard]))
    soft = matrix[at_work & ~hard]
    curved = np.diag(task.weights / theta**2 + REGULARISATION)
    curved += (soft.T * (task.soft_weight * linear.confidences[at_work & ~hard])) @ soft
    scale = 1.0 / np.sqrt(np.diag(curved))
    m = len(tight)
    system = np.zeros((n + m, n + m))
    system[:n, :n] = curved * scale[:, None] * scale
    system[n:, :n] = tight * scale
    system[:n, n:] = system[n:, :n].T
    system[n:, n:] = -REGULARISATION * np.eye(m)  # constraints may repeat each other
    gradients = (products.exponents / theta * scale).T
    solution = np.linalg.solve(system, np.concatenate((gradients, np.zeros((m, gradients.shape[1])))))
    curvature = gradients.T @ solution[:n]
    soft_part = np.where(np.isnan(products.costs), 0.0, 1.0 / products.costs)
    return np.asarray(curvature + np.diag(soft_part + REGULARISATION))


def _proved(relaxed: BlockEstimate, products: Products, end: _Trial) -> BlockEstimate | None:
    """The estimate with its certificate; None where a constraint is violated."""
    task, soft = relaxed.task, ~np.isnan(products.costs)
    is_same = bool((end.estimate.task.weights == task.weights - end.multipliers @ products.exponents).all())
    if is_same:
        own = end.estimate
        bound = lower_bound(own.task, own.multipliers) - float(end.multipliers @ products.log_bounds)
        bound -= 0.5 * float(end.multipliers[soft] @ (end.multipliers[soft] / products.costs[soft]))
    else:
        bound = lower_bound(task, relaxed.multipliers)
    at_work = (products.exponents[end.multipliers > 0.0] != 0.0).any(axis=0)
    held = np.logical_or.reduceat(at_work, relaxed.block.distributions[:-1])[relaxed.without_data]
    estimate = end.estimate._replace(task=task, without_data=relaxed.without_data[~held])
    for candidate in (*with_most_entropy([estimate]), estimate):
        theta = candidate.theta
        excess = np.maximum(products.exponents @ np.log(np.maximum(theta, 1e-300)) - products.log_bounds, 0.0)
        value = objective(task, theta) + 0.5 * float(products.costs[soft] @ excess[soft] ** 2)
        missed = float(excess[~soft].max(initial=0.0))
        gap = relative_gap(value, bound, float(task.weights.sum()))
        certificate = Certificate(max(hard_violation(task.block, theta), missed), gap)
        if certificate.violation > VIOLATION_LIMIT or (is_same and not certificate.holds):
            continue
        return relaxed._replace(
            theta=theta,
            multipliers=end.estimate.multipliers,
            solver=BY_MULTIPLIERS,
            certificate=certificate,
            local=not certificate.holds,
            product_violation=missed,
            product_multipliers=tuple(zip(products.statements, end.multipliers.tolist(), strict=True)),
        )
    return None

"""The penalised objective of a block in softmax coordinates, and its gradient, in NumPy.

    F(β) = −Σ w log θ + Σ_j p_j max(0, c_j·x − b_j)²,    θ = softmax(β) in each distribution,

where x is θ for linear constraints and log θ for products, and equalities are not cut off at zero. With v = ∂F/∂log θ,
the gradient is v − θ · Σ_d v, d being the distribution. `kernels/penalty.py` has the same for large blocks.
"""

from __future__ import annotations

import numpy as np

from credo.kernels.penalty import PenalisedConstraints
from credo.types import Indices, Numbers

# Parameters and entries of constraints up to which NumPy computes F, in at most 0.1 ms: less than a step of L-BFGS.
PLAIN_SIZE = 512


def log_softmax(constraints: PenalisedConstraints, beta: Numbers) -> Numbers:
    """log θ of θ = softmax(β) in each distribution."""
    starts, of = constraints.distributions[:-1], constraints.distribution_of
    shifted = beta - np.maximum.reduceat(beta, starts)[of]
    return np.asarray(shifted - np.log(np.add.reduceat(np.exp(shifted), starts))[of])


def excesses(constraints: PenalisedConstraints, log_theta: Numbers, theta: Numbers) -> Numbers:
    """By how much the left side of each constraint exceeds its right."""
    entries, count = constraints.starts[constraints.linear], len(constraints.bounds)
    values = constraints.coefficients * theta[constraints.indices]
    values[entries:] = constraints.coefficients[entries:] * log_theta[constraints.indices[entries:]]
    sums = np.bincount(entry_constraints(constraints), values, count)
    return np.asarray(sums - constraints.bounds, dtype=np.float64)


def cost(constraints: PenalisedConstraints, weights: Numbers, omega: float, beta: Numbers) -> tuple[float, Numbers]:
    """F and ∂F/∂β; ω is the penalty of hard constraints, whose own is NaN."""
    if len(beta) + len(constraints.indices) <= PLAIN_SIZE:
        return cost_plain(constraints, weights, omega, beta)
    from credo.kernels.penalty import cost as cost_compiled

    value, gradient = cost_compiled(constraints, weights, omega, beta)
    return value, gradient


def cost_plain(
    constraints: PenalisedConstraints, weights: Numbers, omega: float, beta: Numbers
) -> tuple[float, Numbers]:
    """The same in plain NumPy."""
    log_theta = log_softmax(constraints, beta)
    theta = np.exp(log_theta)
    excess = excesses(constraints, log_theta, theta)
    violation = np.where(constraints.equality, excess, np.maximum(excess, 0.0))
    pull = np.where(np.isnan(constraints.penalties), omega, constraints.penalties) * violation
    value = float(pull @ violation - weights @ log_theta)
    entries = constraints.starts[constraints.linear]
    factors = constraints.coefficients.copy()
    factors[:entries] *= theta[constraints.indices[:entries]]
    slope = np.bincount(constraints.indices, 2.0 * pull[entry_constraints(constraints)] * factors, len(beta)) - weights
    totals = np.add.reduceat(slope, constraints.distributions[:-1])
    return value, np.asarray(slope - theta * totals[constraints.distribution_of])


def entry_constraints(constraints: PenalisedConstraints) -> Indices:
    """The constraint that each entry belongs to."""
    return np.repeat(np.arange(len(constraints.bounds)), np.diff(constraints.starts))

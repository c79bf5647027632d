"""A task as CVXPY sees it: written from the formula, solved by Clarabel, sharing nothing with the code under test."""

from __future__ import annotations

import warnings

import cvxpy
import numpy as np

from credo.estimation.solvers.block_solver import Task


def solve(task: Task) -> tuple[float, np.ndarray] | None:
    """min Σ −w log θ + e θ log θ + Σ_soft (W/2)·C·violation², and where; None where Clarabel gives up.

    The value is scaled back from weights with a sum of one, so that its relative accuracy is the solver's.
    """
    block, constraints = task.block, task.block.linear
    theta = cvxpy.Variable(block.size)
    scale = max(1.0, float(task.weights.sum()))
    seen = task.weights > 0
    terms = []
    if seen.any():
        terms.append(-(task.weights[seen] / scale) @ cvxpy.log(theta[np.flatnonzero(seen)]))
    if task.entropies is not None:
        terms.append(-(task.entropies / scale) @ cvxpy.entr(theta))
    limits = [
        cvxpy.sum(theta[a:b]) == 1 for a, b in zip(block.distributions[:-1], block.distributions[1:], strict=True)
    ]
    limits.append(theta >= 0)
    if len(constraints):
        excess = constraints.matrix(block.size).toarray() @ theta - constraints.bounds
        below, equal = (
            np.flatnonzero(constraints.hard & ~constraints.equality),
            np.flatnonzero(constraints.hard & constraints.equality),
        )
        if below.size:
            limits.append(excess[below] <= 0)
        if equal.size:
            limits.append(excess[equal] == 0)
        for j in np.flatnonzero(~constraints.hard).tolist():
            missed = excess[j] if constraints.equality[j] else cvxpy.pos(excess[j])
            terms.append(0.5 * task.soft_weight * float(constraints.confidences[j]) / scale * cvxpy.square(missed))
    program = cvxpy.Problem(cvxpy.Minimize(sum(terms)), limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the status says so too
        program.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    if program.status != cvxpy.OPTIMAL:
        return None
    return float(program.value) * scale, np.asarray(theta.value)

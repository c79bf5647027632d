"""The same problem for Clarabel, a conic solver: slower, but with other weaknesses than our own interior point."""

from __future__ import annotations

import numpy as np

from credo.core.closed_forms import GENERAL
from credo.estimation.solvers.block_solver import Point, Task
from credo.estimation.solvers.certificate import certify
from credo.types import Indices, Numbers

LEAST_SUM = 0.5  # of a distribution in an answer; each sums to one up to the tolerance of the solver


def solve_with_clarabel(task: Task) -> Point | None:
    """min Σ −w log θ + e θ log θ + soft costs, with an exponential cone for each logarithm.

    (t, 1, θ) in the cone means t ≤ log θ, for a term −w t; (u, θ, 1) means u ≤ −θ log θ, for a term −e u. A soft
    constraint has a violation r of its own, and the cost (W·C/2) r². Variables are θ, then t or u, then r.
    """
    import clarabel
    from scipy import sparse

    block, constraints = task.block, task.block.linear
    entropies = np.zeros(block.size) if task.entropies is None else task.entropies
    logs, entropic = np.flatnonzero(task.weights > 0), np.flatnonzero(entropies > 0)
    soft = np.flatnonzero(~constraints.hard)
    n, terms = block.size, len(logs) + len(entropic)
    size = n + terms + len(soft)
    scale = max(1.0, float(task.weights.sum()))

    def matrix(row: Indices, column: Indices, value: Numbers, height: int) -> sparse.csc_matrix:
        return sparse.csc_matrix((value, (row, column)), shape=(height, size))

    cost = np.zeros(size)
    cost[n : n + len(logs)] = -task.weights[logs] / scale
    cost[n + len(logs) : n + terms] = -entropies[entropic] / scale
    quadratic = np.zeros(size)
    quadratic[n + terms :] = task.soft_weight * constraints.confidences[soft] / scale

    own = constraints.matrix(n).tocoo()
    violation = sparse.csc_matrix(
        (-np.ones(len(soft)), (soft, n + terms + np.arange(len(soft)))), shape=(len(constraints), size)
    )
    linear = matrix(own.coords[0], own.coords[1], own.data, len(constraints)) + violation
    equal, below = np.flatnonzero(constraints.equality), np.flatnonzero(~constraints.equality)
    sums = matrix(block.distribution_of, np.arange(n), np.ones(n), len(block.distributions) - 1)
    positive = matrix(np.arange(n), np.arange(n), -np.ones(n), n)

    coordinate_rows, coordinate_columns = [], []
    constants = np.zeros(3 * terms)
    for k, i in enumerate(logs):
        coordinate_rows += [3 * k, 3 * k + 2]
        coordinate_columns += [n + k, int(i)]
        constants[3 * k + 1] = 1.0
    for k, i in enumerate(entropic, start=len(logs)):
        coordinate_rows += [3 * k, 3 * k + 1]
        coordinate_columns += [n + k, int(i)]
        constants[3 * k + 2] = 1.0
    conic = matrix(
        np.array(coordinate_rows, dtype=int),
        np.array(coordinate_columns, dtype=int),
        -np.ones(len(coordinate_rows)),
        3 * terms,
    )

    constraint = sparse.vstack([sums, linear[equal], linear[below], positive, conic]).tocsc()
    right = np.concatenate(
        [np.ones(sums.shape[0]), constraints.bounds[equal], constraints.bounds[below], np.zeros(n), constants]
    )
    shape = [
        clarabel.ZeroConeT(sums.shape[0] + len(equal)),
        clarabel.NonnegativeConeT(len(below) + n),
        *(clarabel.ExponentialConeT() for _ in range(terms)),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solver = clarabel.DefaultSolver(sparse.diags(quadratic).tocsc(), cost, constraint, right, shape, settings)
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        return None
    theta = np.asarray(solution.x[:n])
    if not (np.add.reduceat(np.maximum(theta, 0.0), block.distributions[:-1]) > LEAST_SUM).all():
        return None  # it says that it is solved, but a distribution is all zeros, or has no numbers
    duals = np.asarray(solution.z) * scale
    multipliers = np.zeros(len(constraints))
    multipliers[equal] = duals[sums.shape[0] : sums.shape[0] + len(equal)]
    multipliers[below] = duals[sums.shape[0] + len(equal) : sums.shape[0] + len(constraints)]
    theta = block.normalised(theta)
    certificate = certify(task, theta, multipliers)
    unseen = np.flatnonzero(np.add.reduceat(task.weights, block.distributions[:-1]) == 0)
    return Point(
        theta,
        multipliers,
        int(solution.iterations),
        True,
        certificate.violation,
        certificate.gap,
        GENERAL,
        unseen,
    )

"""The methods qmap and qmapc: every table between what the data say and the mean of what the knowledge allows [guo]."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from credo.arrays import Numbers
from credo.errors import Status
from credo.estimation.counting import counted
from credo.estimation.problem import Problem
from credo.estimation.qmap import least_correction, qmap_table, qmapc_table
from credo.estimation.soft import soft_statements_ignored
from credo.estimation.solution import Solution
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.findings import Finding
from credo.sampling.centroid import uniform_means


def estimate_qmap(problem: Problem, alpha: Numbers | None = None) -> Solution:
    """θ = (N + A·α) / (N_j + A) [guo, eq. 5]; statements may be violated [guo, theorem 1].

    `alpha` is `allowed_means(problem)`, which depends on the knowledge alone, where it is at hand already.
    """
    alpha = allowed_means(problem) if alpha is None else alpha
    theta = alpha.copy()
    sizes = {name: _one_table(problem, name, theta, alpha, None) for name in problem.names}
    status = Status.AVERAGED if _violation(problem, theta) <= 1e-9 else Status.VIOLATED
    return Solution(problem.cpts(theta), status, (*soft_statements_ignored(problem), _sizes(sizes)))


def estimate_qmapc(problem: Problem, alpha: Numbers | None = None) -> Solution:
    """θ = (N_j·θ' + A·α) / (N_j + A) with the constrained estimate θ' [guo, eq. 11], corrected across rows."""
    alpha = allowed_means(problem) if alpha is None else alpha
    vector = problem.vector(with_prior=False)
    constrained, _ = counted(problem, vector)
    estimates = estimate_blocks(problem.blocks, vector, 0.0)
    for each in estimates:
        constrained[each.block.parameters] = each.theta
    theta = alpha.copy()
    sizes = {name: _one_table(problem, name, theta, alpha, constrained) for name in problem.names}
    findings = [*soft_statements_ignored(problem), _sizes(sizes), *_correct(problem, theta, alpha, estimates)]
    return Solution(problem.cpts(theta), Status.AVERAGED, tuple(findings))


def allowed_means(problem: Problem) -> Numbers:
    """α of every parameter: the uniform where the knowledge says nothing, else the mean of what it allows."""
    alpha, _ = counted(problem, np.ones(problem.layout.size))
    for block, mean in zip(problem.blocks, uniform_means(problem.blocks, seed=problem.seed), strict=True):
        alpha[block.parameters] = mean
    return alpha


def _one_table(problem: Problem, name: str, theta: Numbers, alpha: Numbers, constrained: Numbers | None) -> int:
    """Write the estimate of one table into `theta`; returns the equivalent sample size that was chosen for it."""
    counts = problem.counts.of(name)
    own = problem.layout.slice_of(name)
    folds = np.stack([fold.of(name) for fold in problem.folds])
    mean = alpha[own].reshape(counts.shape)
    if constrained is None:
        table, size = qmap_table(counts, mean, folds)
    else:
        table, size = qmapc_table(counts, constrained[own].reshape(counts.shape), mean, folds)
    theta[own] = table.ravel()
    return size


def _correct(problem: Problem, theta: Numbers, alpha: Numbers, estimates: list[BlockEstimate]) -> Iterable[Finding]:
    """Rows mix with weights of their own, so statements across rows can break; move as little as mends them."""
    moved = 0
    for each in estimates:
        place = each.block.parameters
        # A mean of θ' and α with one weight for the whole block holds every convex statement.
        total = problem.vector(with_prior=False)[place].sum()
        inside = (total * each.theta + len(each.block.distributions) * alpha[place]) / (
            total + len(each.block.distributions)
        )
        theta[place], share = least_correction(each.block, theta[place], inside)
        moved += share > 0
    if moved:
        blocks = "block was" if moved == 1 else "blocks were"
        yield Finding(
            "corrected", f"{moved} {blocks} moved towards the middle, because statements across rows were broken."
        )


def _violation(problem: Problem, theta: Numbers) -> float:
    linear = problem.constraints.linear
    if not len(linear):
        return 0.0
    excess = linear.values(theta) - linear.bounds
    excess = np.where(linear.equality, np.abs(excess), excess)
    return float(excess[linear.hard].max(initial=0.0))


def _sizes(sizes: dict[str, int]) -> Finding:
    low, high = min(sizes.values()), max(sizes.values())
    return Finding("equivalent sample size", f"Cross-validation chose equivalent sample sizes from {low} to {high}.")

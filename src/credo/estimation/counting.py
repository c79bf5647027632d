"""Estimates that only count: maximum likelihood, and the same with a prior's pseudo-counts added."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from credo.arrays import Numbers
from credo.errors import Status
from credo.estimation.problem import Problem
from credo.estimation.solution import Solution, rows_without_data
from credo.findings import Finding
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.statistics.prior import Priors, pseudo_counts


def estimate(problem: Problem) -> Solution:
    """Count; the knowledge is not used, and that is said."""
    solution = estimate_by_counting(problem.network, problem.counts, problem.prior, problem.names)
    return Solution(solution.cpts, solution.status, (*solution.findings, *_not_used(problem)))


def _not_used(problem: Problem) -> Iterable[Finding]:
    if problem.blocks:
        yield Finding("knowledge not used", "This method only counts: the knowledge had no influence on the estimate.")


def estimate_by_counting(network: Network, counts: Counts, prior: Priors, names: tuple[str, ...]) -> Solution:
    """θ = (N + α) / Σ (N + α) for the tables of `names` [guo, section 3.2]; the uniform where that is 0/0.

    With α = 0 this maximises the likelihood. With pseudo-counts α it is the mode of a Dirichlet(α + 1) posterior and
    the mean of a Dirichlet(α) one.
    """
    tables: dict[str, Numbers] = {}
    findings: list[Finding] = []
    for name in names:
        weights = counts.of(name) + pseudo_counts(prior, network, name)  # (configurations, states)
        totals = weights.sum(axis=1, keepdims=True)
        unseen = totals[:, 0] == 0
        if unseen.any():
            weights[unseen], totals[unseen] = 1.0, weights.shape[1]
            findings.append(rows_without_data(network, name, np.flatnonzero(unseen), "the uniform distribution"))
        tables[name] = (weights / totals).reshape(network.shape(name))
    return Solution(tables, Status.EXACT, tuple(findings))


def counted(problem: Problem, vector: Numbers) -> tuple[Numbers, dict[str, list[int]]]:
    """w / Σ w in every row of every table, the uniform where there is nothing to count; and which rows those are."""
    theta, unseen = vector.copy(), {}
    for name in problem.layout.names:
        rows = problem.layout.view(theta, name)
        totals = rows.sum(axis=1, keepdims=True)
        nothing = totals[:, 0] == 0
        rows[nothing], totals[nothing] = 1.0, rows.shape[1]
        rows /= totals
        if nothing.any():
            unseen[name] = np.flatnonzero(nothing).tolist()
    return theta, unseen

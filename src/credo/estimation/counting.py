"""The methods ml and map: counts, and counts with a prior's pseudo-counts added.

    θ_jk = (N_jk + α_jk) / Σ_k (N_jk + α_jk)                                                    [guo, eqs. 1 and 2]

With α = 0 this maximises the likelihood. With pseudo-counts α it is the mode of a Dirichlet(α + 1) posterior and the
mean of a Dirichlet(α) one. Where it is 0/0, the uniform distribution is taken, and a finding says so.
"""

from __future__ import annotations

import numpy as np

from credo.errors import Status
from credo.estimation.em.steps import MStep
from credo.estimation.method import Method
from credo.estimation.problem import Problem
from credo.estimation.solution import UNIFORM, Solution, no_data_finding
from credo.findings import Finding
from credo.model.layout import Layout
from credo.statistics.counts import Counts
from credo.types import Numbers


def estimate(problem: Problem) -> Solution:
    """Count; the knowledge is not used, and a finding says so."""
    theta, unseen = relative_frequencies(problem, problem.vector())
    findings = [
        no_data_finding(problem.model.network, name, unseen[name], UNIFORM)
        for name in problem.model.names
        if name in unseen
    ]
    if problem.model.blocks:
        message = "This method only counts: the knowledge had no influence on the estimate."
        findings.append(Finding("knowledge not used", message))
    return Solution(problem.cpts(theta), Status.EXACT, tuple(findings))


def relative_frequencies(problem: Problem, weights: Numbers) -> tuple[Numbers, dict[str, list[int]]]:
    """w / Σ w in every conditional distribution; and the configurations of each variable that have no weight."""
    theta, unseen = weights.copy(), {}
    for name in problem.layout.names:
        distributions = problem.layout.view(theta, name)
        totals = distributions.sum(axis=1, keepdims=True)
        empty = totals[:, 0] == 0
        distributions[empty], totals[empty] = 1.0, distributions.shape[1]
        distributions /= totals
        if empty.any():
            unseen[name] = np.flatnonzero(empty).tolist()
    return theta, unseen


def counting_m_step(problem: Problem) -> MStep:
    """The M-step of ml and map."""
    return counting_step(problem.layout, problem.pseudo_counts())


def counting_step(layout: Layout, prior: Numbers) -> MStep:
    """The M-step with pseudo-counts α, all CPTs at once; its term of the objective is Σ α log θ [guo, eq. 2]."""
    counted = np.flatnonzero(prior)
    starts = layout.distribution_starts()
    lengths = np.diff(starts, append=layout.size)

    def m_step(counts: Counts) -> tuple[dict[str, Numbers], float]:
        if counts.layout.names == layout.names:
            weights = counts.dense + prior
        else:
            weights = layout.pack({name: counts.of(name) for name in layout.names}) + prior
        sums = np.add.reduceat(weights, starts)
        empty = sums == 0
        if empty.any():
            weights[np.repeat(empty, lengths)] = 1.0
            sums[empty] = lengths[empty]
        theta = weights / np.repeat(sums, lengths)
        return layout.unpack(theta), float(prior[counted] @ np.log(theta[counted]))

    return m_step


ML = Method(
    "ml",
    "maximum likelihood",
    "many data everywhere, no knowledge",
    estimate,
    counting_m_step,
    uses_knowledge=False,
    maximises_likelihood=True,
)
MAP = Method(
    "map",
    "counts and a prior's pseudo-counts",
    "few data, no knowledge but a prior",
    estimate,
    counting_m_step,
    default_prior=1.0,
    takes_prior=True,
    uses_knowledge=False,
    maximises_likelihood=True,
)

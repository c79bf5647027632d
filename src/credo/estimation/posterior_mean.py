"""The method posterior: the mean of what data and knowledge leave, with its uncertainty."""

from __future__ import annotations

from dataclasses import replace

from credo.errors import Status
from credo.estimation import constrained
from credo.estimation.pinned import IMPOSSIBLE
from credo.estimation.problem import Problem
from credo.estimation.soft import choose_soft_weight
from credo.estimation.solution import Solution
from credo.sampling.posterior import posterior

UNMIXED = "not mixed"


def estimate(problem: Problem) -> Solution:
    """Sample, average, and say whether the draws can be trusted."""
    soft_weight, findings = choose_soft_weight(problem, problem.vector())
    result = posterior(
        problem.network,
        problem.names,
        problem.counts,
        problem.blocks,
        prior=problem.prior,
        seed=problem.seed,
        soft_weight=soft_weight or None,
    )
    # A mean leans on no bound; what each statement costs, and what data contradict, is told at the most likely tables.
    likely = constrained.estimate(replace(problem, soft_weight=soft_weight))
    impossible = [finding for finding in likely.findings if finding.kind == IMPOSSIBLE]
    mixed = all(finding.kind != UNMIXED for finding in result.findings)
    status = Status.AVERAGED if mixed else Status.NOT_MIXED
    told = (*findings, *impossible, *result.findings)
    return Solution(result.means, status, told, multipliers=likely.multipliers, posterior=result)

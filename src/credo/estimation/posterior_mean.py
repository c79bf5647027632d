"""The method posterior: the mean of what data and knowledge leave, with its uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.stage_costs import LONG, readable_seconds
from credo.errors import Status
from credo.estimation.general_start import general_region, nearest_cpts
from credo.estimation.general_steps import LIMIT
from credo.estimation.method import Incomplete, Method
from credo.estimation.pinned import contradictions
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import choose_soft_weight
from credo.estimation.solution import Solution, violated_findings
from credo.findings import Finding
from credo.sampling.general_updates import EQUALITY_WIDTH
from credo.sampling.missing_values import MissingValues
from credo.sampling.posterior import PRODUCT_MISSED, PosteriorResult, posterior
from credo.statistics.counts import Counts
from credo.types import Indices

NOT_MIXED = "not mixed"


def estimate(problem: Problem) -> Solution:
    """Sample, average, and report whether the draws can be trusted."""
    return _average(problem, problem.data.counts, None)


def estimate_drawing(problem: Problem, rows: Incomplete) -> Solution:
    """The same with missing values, which are drawn too."""
    exchangeable = {name: rows.exchanges.groups[name] for name in rows.exchanges.variables}
    missing = MissingValues.of(
        problem.model.network,
        problem.model.names,
        rows.prepared,
        rows.expected,
        exchangeable,
        rows.cpts,
        rows.tied,
        rows.start,
    )
    return _average(problem, rows.prepared.observed, missing)


def _average(problem: Problem, counts: Counts, missing: MissingValues | None) -> Solution:
    findings: list[Finding] = []
    soft_weight = 0.0
    if problem.model.doubts is None:
        soft_weight, findings = choose_soft_weight(problem, problem.vector())
    general = general_region(problem) if problem.model.constraints.general else None
    detail = ""

    def announce(seconds: float) -> None:
        nonlocal detail
        detail = f"about {readable_seconds(seconds)} of sampling" if seconds >= LONG else ""

    result = posterior(
        problem.model.network,
        problem.model.names,
        counts,
        problem.model.blocks,
        prior=problem.model.prior,
        seed=problem.settings.seed,
        soft_weight=soft_weight or None,
        options=problem.settings.options.posterior,
        progress=lambda done, total: problem.notify(done, total, detail),
        announce=announce,
        memory_limit=problem.settings.memory_limit,
        missing=missing,
        general=general,
        doubts=problem.model.doubts,
    )
    kinds = {finding.kind for finding in result.findings}
    means, general_missed = result.means, 0.0
    if general is not None:
        means, general_missed = nearest_cpts(problem, means)
        findings = [*findings, *_general_findings(problem, general_missed)]
    # The mean satisfies what each draw does, except statements that compare products: what they allow is not convex.
    theta = problem.layout.pack({**problem.model.network.cpts, **means})
    violated = [] if PRODUCT_MISSED in kinds else violated_findings(problem.model.constraints, theta)
    missed = bool(violated) or PRODUCT_MISSED in kinds or general_missed > LIMIT
    status = Status.VIOLATED if missed else Status.NOT_MIXED if NOT_MIXED in kinds else Status.AVERAGED
    contradicted = contradictions(problem, _pinned_at_zero(problem, result))
    found = (*findings, *violated, *contradicted, *result.findings)
    return Solution(means, status, found, posterior=result, soft_weight=soft_weight)


def _general_findings(problem: Problem, missed: float) -> Iterator[Finding]:
    """What a reader should know of draws under statements about probabilities that depend on several CPTs."""
    if any(each.equality and each.confidence is None for each in problem.model.constraints.general):
        message = (
            f"In the draws, equalities of probabilities that depend on several CPTs hold within {EQUALITY_WIDTH:.1%}; "
            "in the CPTs they hold exactly."
        )
        yield Finding("equality", message)
    if missed > LIMIT:
        message = (
            "The mean of the draws misses a statement about a probability that depends on several CPTs "
            f"by {missed:.2g}."
        )
        yield Finding("violated", message)


def _pinned_at_zero(problem: Problem, result: PosteriorResult) -> Iterator[tuple[Block, Indices]]:
    """The parameters of each block that are zero in every draw: the knowledge leaves them nothing else."""
    zero = np.logical_not(result.draws.any(axis=(0, 1)))
    ends = np.cumsum([0, *(block.size for block in problem.model.blocks)])
    for block, (start, stop) in zip(problem.model.blocks, pairwise(ends.tolist()), strict=True):
        yield block, block.parameters[zero[start:stop]]


POSTERIOR = Method(
    "posterior",
    "the mean of all that data and knowledge leave possible, with intervals",
    "few data and knowledge: the most accurate, and it says how sure each number is",
    estimate,
    estimate_drawing=estimate_drawing,
    takes_prior=True,
    binds_any_probability=True,
    doubts=True,
)

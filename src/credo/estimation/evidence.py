"""Estimates under evidence about probabilities that depend on several CPTs.

Draws without it are weighed by its likelihood, w_i ∝ L(θ_i), and drawn again, which costs next to nothing. How many
that leaves, (Σ w)² / Σ w², is compared with what intervals need. Where too few would be left, chains follow it, and the
trajectories of all CPTs that it reaches are those of its density.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from credo.constraints.evidence import Cases, CountEvidence, EvidenceRecord
from credo.errors import listing
from credo.estimation.problem import Problem
from credo.estimation.solution import Solution
from credo.findings import Finding
from credo.posterior.draws import PosteriorResult
from credo.statistics.evidence import EvidenceDensity
from credo.types import Numbers

ENOUGH = 400.0  # effective draws, from which on the ends of a 95% interval rest on ten draws each
MOST_KEPT = 1000  # draws of a chain that are drawn again
MOST_TIMES = 16  # as many draws where few would be left
MOST_NUMBERS = 20_000_000  # in all draws together, where more are made because few would be left


def with_evidence(
    problem: Problem, records: Sequence[EvidenceRecord], solution: Solution, estimate: Callable[[Problem], Solution]
) -> Solution:
    """The solution, with draws weighed by evidence that counts cannot express, or one whose draws follow it."""
    method = problem.settings.method
    assert method is not None
    others = [record for record in records if not _is_added(record, problem)]
    if not others or not method.uses_knowledge:
        return solution
    statements = listing([f"statement {number + 1}" for number in sorted({each.statement for each in others})])
    if not isinstance(solution.posterior, PosteriorResult):
        message = (
            f"{statements} cannot be counted as cases of one CPT: several CPTs, one of more than two states, or "
            f"studies that vary are involved. The method {method.name} did not use this; the method posterior does."
        )
        return replace(solution, findings=(*solution.findings, Finding("evidence not used", message)))
    density = EvidenceDensity.of(others, problem.layout, problem.model.network, problem.settings.memory_limit)
    weights = log_weights(problem, density, solution.posterior)
    if ENOUGH / MOST_TIMES < (left := effective_draws(weights)) < ENOUGH:
        options = problem.settings.options
        most = max(1, MOST_NUMBERS // max(1, options.posterior.chains * solution.posterior.layout.size))
        draws = max(options.posterior.draws, min(most, round(options.posterior.draws * 2.0 * ENOUGH / left)))
        own = replace(options.posterior, draws=draws, max_draws=max(draws, options.posterior.max_draws))
        solution = estimate(problem.with_settings(options=replace(options, posterior=own)))
        assert isinstance(solution.posterior, PosteriorResult)
        weights = log_weights(problem, density, solution.posterior)
    if effective_draws(weights) < ENOUGH / 2.0:
        return estimate(problem.with_data(evidence=density))
    assert isinstance(solution.posterior, PosteriorResult)
    result = reweighted(solution.posterior, weights, problem.settings.seed)
    return replace(solution, cpts=result.means, posterior=result, findings=_findings(solution, result))


def _is_added(record: EvidenceRecord, problem: Problem) -> bool:
    """Whether evidence is among the counts or the rows already."""
    return isinstance(record, Cases) or (problem.data.added_rows > 0 and can_be_rows(record))


def can_be_rows(record: EvidenceRecord) -> bool:
    """Whether evidence is as many rows in which all else is missing."""
    return isinstance(record, CountEvidence) and record.is_rows


def log_likelihood_of_added(problem: Problem, records: Sequence[EvidenceRecord], cpts: Mapping[str, Numbers]) -> float:
    """The log-likelihood of evidence that was added as rows."""
    added = [record for record in records if isinstance(record, CountEvidence) and record.is_rows]
    if not added or not problem.data.added_rows:
        return 0.0
    theta = problem.layout.pack({**problem.model.network.cpts, **cpts})
    return float(EvidenceDensity.of(added, problem.layout, problem.model.network).log_densities(theta)[0])


def log_weights(problem: Problem, density: EvidenceDensity, result: PosteriorResult) -> Numbers:
    """The log-likelihood of the evidence under each draw, (chains · draws,)."""
    draws = result.draws.reshape(-1, result.layout.size)
    start = problem.layout.pack({**problem.model.network.cpts, **result.means})
    thetas = np.repeat(start[None], len(draws), axis=0)
    for name in result.names:
        thetas[:, problem.layout.slice_of(name)] = draws[:, result.layout.slice_of(name)]
    return density.log_densities(thetas)


def _findings(solution: Solution, result: PosteriorResult) -> tuple[Finding, ...]:
    return (*solution.findings, *(each for each in result.findings if each.kind == "weighed draws"))


def effective_draws(log_weights: Numbers) -> float:
    """(Σ w)² / Σ w²."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def reweighted(result: PosteriorResult, log_weights: Numbers, seed: int) -> PosteriorResult:
    """The draws drawn again in proportion to their weights, by systematic resampling; (chains · draws,) weights."""
    chains, draws, cells = result.draws.shape
    total = chains * draws
    weights = np.exp(log_weights - log_weights.max())
    left = effective_draws(log_weights)
    random = np.random.default_rng([seed, 7])
    kept = min(draws, MOST_KEPT)
    places = (random.random() + np.arange(chains * kept)) / (chains * kept)
    chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), places, side="right").clip(0, total - 1)
    order = random.permutation(chosen)
    again = result.draws.reshape(total, cells)[order].reshape(chains, kept, cells)
    share = left / total
    doubt = result.doubt
    if doubt is not None:
        again_true = doubt.truth.reshape(total, -1)[order].reshape(chains, kept, -1)
        doubt = replace(doubt, truth=again_true)
    mean, deviation = again.mean(axis=(0, 1)), again.std(axis=(0, 1))
    sizes = np.maximum(1.0, result.effective_sizes * share)
    error = deviation / np.sqrt(sizes)
    shapes = {name: result.means[name].shape for name in result.names}

    def by_name(values: Numbers) -> dict[str, Numbers]:
        return {name: values[result.layout.slice_of(name)].reshape(shapes[name]) for name in result.names}

    message = (
        "Studies, and numbers about one state of several or about probabilities that depend on several CPTs, weigh "
        f"the draws: {left:,.0f} of {total:,} draws are left in effect."
    )
    return replace(
        result,
        draws=again,
        means=by_name(mean),
        deviations=by_name(deviation),
        errors=by_name(error),
        effective_sizes=sizes,
        doubt=doubt,
        findings=(*result.findings, Finding("weighed draws", message)),
    )

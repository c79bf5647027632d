"""The method posterior: the mean of what data and knowledge leave, with its uncertainty."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.stage_costs import LONG, readable_seconds
from credo.errors import Status
from credo.estimation.method import Incomplete, Method
from credo.estimation.network_start import nearest_cpts, network_region
from credo.estimation.network_steps import LIMIT
from credo.estimation.pinned import contradictions
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import choose_soft_weight
from credo.estimation.solution import Solution, violated_findings
from credo.findings import Finding
from credo.posterior.chains import CompleteRows
from credo.posterior.draws import PosteriorResult
from credo.posterior.sampler import IncompleteRows, posterior
from credo.sampling.joint_draws import joint_draws
from credo.sampling.missing_values import MissingValues
from credo.sampling.posterior import PRODUCT_MISSED, sample_chains
from credo.statistics.counts import Counts
from credo.statistics.inference.draw_missing import draw_missing
from credo.statistics.inference.expected_counts import Prepared, expected_cells
from credo.tolerances import EQUALITY_WIDTH
from credo.types import Indices, Numbers

NOT_MIXED = "not mixed"


def estimate(problem: Problem) -> Solution:
    """Sample, average, and report whether the draws can be trusted."""
    if _has_influences_alone(problem):
        return _average_hierarchical(problem, problem.vector(), None)
    return _average(problem, problem.data.counts, None)


def estimate_drawing(problem: Problem, rows: Incomplete) -> Solution:
    """The same with missing values, which are drawn too."""
    if _has_influences_alone(problem) and _have_one_likelihood(problem, rows):
        observed = problem.vector(rows.prepared.observed)
        return _average_hierarchical(problem, observed, incomplete_rows(problem, rows))
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


def _has_influences_alone(problem: Problem) -> bool:
    """Whether nothing but influences that must hold is stated, for which the hierarchical prior has its own form.

    What was stated decides, so that a fit that leaves a statement out, to see what it changed, has the same prior.
    """
    constraints = problem.model.stated or problem.model.constraints
    others = constraints.network_constraints or constraints.products
    return problem.model.doubts is None and not others and bool(constraints.linear.hard.all())


def _have_one_likelihood(problem: Problem, rows: Incomplete) -> bool:
    """Whether the rows are in one place, untied, and of hidden states that can be told apart."""
    same = isinstance(rows.prepared, Prepared) and rows.prepared.layout.names == problem.layout.names
    return same and rows.tied is None and not rows.exchanges.variables


def incomplete_rows(problem: Problem, rows: Incomplete) -> IncompleteRows:
    """The likelihood of incomplete rows, with its derivatives, and how their missing values are drawn."""
    prepared, added = rows.prepared, problem.pseudo_counts()
    assert isinstance(prepared, Prepared)

    def likelihood(theta: Numbers) -> tuple[Numbers, float]:
        expected, value = expected_cells(prepared, theta)
        return expected + added, value + float(added @ np.log(theta))

    def complete(chain: int) -> CompleteRows:
        state = np.random.SeedSequence([problem.settings.seed, chain]).generate_state(4, np.uint64)
        generator = state.astype(np.uint64)
        return lambda theta: draw_missing(prepared, theta, generator)

    uniform = problem.layout.pack(
        {
            name: problem.model.network.cpt_array(name)
            if name in problem.model.kept
            else np.full(problem.model.network.shape(name), 1.0 / len(problem.model.network.states(name)))
            for name in problem.layout.names
        }
    )
    reached = expected_cells(prepared, uniform)[0] > 0.0
    return IncompleteRows(likelihood, complete, reached, rows.expected + added)


def _average_hierarchical(problem: Problem, counts: Numbers, incomplete: IncompleteRows | None) -> Solution:
    result = posterior(
        problem.model.network,
        problem.model.names,
        counts,
        problem.model.constraints,
        problem.model.blocks,
        options=problem.settings.options.posterior,
        seed=problem.settings.seed,
        incomplete=incomplete,
        progress=problem.notify,
    )
    kinds = {finding.kind for finding in result.findings}
    theta = problem.layout.pack({**problem.model.network.cpts, **result.means})
    violated = violated_findings(problem.model.constraints, theta)
    status = Status.VIOLATED if violated else Status.NOT_MIXED if NOT_MIXED in kinds else Status.AVERAGED
    return Solution(result.means, status, (*violated, *result.findings), posterior=result, soft_weight=0.0)


def _average(problem: Problem, counts: Counts, missing: MissingValues | None) -> Solution:
    findings: list[Finding] = []
    soft_weight = 0.0
    if problem.model.doubts is None:
        soft_weight, findings = choose_soft_weight(problem, problem.vector())
    general = network_region(problem) if problem.model.constraints.network_constraints else None
    detail = ""

    def announce(seconds: float) -> None:
        nonlocal detail
        detail = f"about {readable_seconds(seconds)} of sampling" if seconds >= LONG else ""

    chains = sample_chains(
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
    result = joint_draws(chains)
    kinds = {finding.kind for finding in result.findings}
    means, network_missed = result.means, 0.0
    if general is not None:
        means, network_missed = nearest_cpts(problem, means)
        findings = [*findings, *_network_findings(problem, network_missed)]
    # The mean satisfies what each draw does, except statements that compare products: what they allow is not convex.
    theta = problem.layout.pack({**problem.model.network.cpts, **means})
    violated = [] if PRODUCT_MISSED in kinds else violated_findings(problem.model.constraints, theta)
    missed = bool(violated) or PRODUCT_MISSED in kinds or network_missed > LIMIT
    status = Status.VIOLATED if missed else Status.NOT_MIXED if NOT_MIXED in kinds else Status.AVERAGED
    contradicted = contradictions(problem, _pinned_at_zero(problem, result))
    found = (*findings, *violated, *contradicted, *result.findings)
    return Solution(means, status, found, posterior=result, soft_weight=soft_weight)


def _network_findings(problem: Problem, missed: float) -> Iterator[Finding]:
    """What a reader should know of draws under statements about probabilities that depend on several CPTs."""
    if any(each.equality and each.confidence is None for each in problem.model.constraints.network_constraints):
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
    for block in problem.model.blocks:
        yield block, block.parameters[zero[result.cells_of(problem.layout, block.parameters)]]


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

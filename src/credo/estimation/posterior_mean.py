"""The method posterior: the mean of what data and knowledge leave, with its uncertainty.

Where values are missing, a step of a chain draws those of all rows given the CPTs, exactly, and everything else given
the counts of the completed rows [Tanner and Wong, 1987]. Rows in one place that no tie joins also have a likelihood of
their own, on which CPTs move far at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import HOLDS_WITHIN
from credo.constraints.stage_costs import Cost, check_memory
from credo.errors import Status, counted
from credo.estimation.method import Incomplete, Method
from credo.estimation.network_start import nearest_cpts, network_region
from credo.estimation.network_steps import LIMIT
from credo.estimation.pinned import contradictions
from credo.estimation.problem import Problem
from credo.estimation.solution import Solution, violated_findings
from credo.estimation.solvers.block_estimates import estimate_blocks
from credo.estimation.solvers.products import with_products
from credo.findings import Finding
from credo.memory import memory_limit_or_default
from credo.posterior.chains import CompleteRows
from credo.posterior.draws import PosteriorResult
from credo.posterior.relabelling import renaming_of_draws
from credo.posterior.sampler import IncompleteRows, posterior
from credo.statistics.inference.draw_missing import draw_in_parts, draw_missing, seeded
from credo.statistics.inference.expected_counts import Prepared, expected_cells
from credo.statistics.inference.expected_counts_of_parts import PreparedParts
from credo.statistics.ties.draw_tied import draw_tied, tied_draws
from credo.tolerances import EQUALITY_SHARE, EQUALITY_WIDTH
from credo.types import Indices, Numbers

LEAST = 1e-300


def incomplete_rows(problem: Problem, rows: Incomplete) -> IncompleteRows:
    """The likelihood of incomplete rows, with its derivatives, and how their missing values are drawn."""
    prepared, added, tied = rows.prepared, problem.pseudo_counts(), rows.tied
    own = prepared.layout
    places = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(np.arange(own.size)[own.slice_of(name)] for name in problem.layout.names)]
    )
    network, learned = problem.model.network, set(problem.model.names)
    known = own.pack(  # what is fixed or follows from a form as it is, such as the gate of a noisy family
        {
            name: network.cpt_array(name)
            if name in network.cpts and name not in learned
            else np.full(network.shape(name), 1.0 / len(network.states(name)))
            for name in own.names
        }
    )

    def whole(theta: Numbers) -> Numbers:
        cells = known.copy()
        cells[places] = theta
        return cells

    def likelihood(theta: Numbers) -> tuple[float, Numbers]:
        expected, value = expected_cells(prepared, whole(theta))
        return value + float(added @ np.log(np.maximum(theta, LEAST))), expected[places] + added

    reached = expected_cells(prepared, known)[0] > 0.0
    if tied is not None:
        found = tied.expected(known, tied.start())
        reached |= (found.seen > 0.0) | (found.chance > 0.0)
    return IncompleteRows(
        likelihood if isinstance(prepared, Prepared) and tied is None else None,
        lambda chain: _completing(problem, rows, whole, places, chain),
        reached[places],
        (rows.expected if rows.start is None else rows.start)[places] + added,
        renaming_of_draws(
            problem.layout,
            problem.model.names,
            {n: rows.exchanges.groups[n] for n in rows.exchanges.variables},
            rows.cpts,
        ),
    )


def _completing(
    problem: Problem, rows: Incomplete, whole: Callable[[Numbers], Numbers], places: Indices, chain: int
) -> CompleteRows:
    """What completes the rows of one chain: from θ to the counts of families that were incomplete."""
    generator, random = seeded(problem.settings.seed, chain), np.random.default_rng([problem.settings.seed, chain, 5])
    prepared, tied = rows.prepared, rows.tied
    if isinstance(prepared, PreparedParts):
        return lambda theta: draw_in_parts(prepared, whole(theta), random)[places]
    if tied is None:
        assert isinstance(prepared, Prepared)
        return lambda theta: draw_missing(prepared, whole(theta), generator)[places]
    ties = tied_draws(tied)

    def complete(theta: Numbers) -> Numbers:
        cells = whole(theta)
        drawn = draw_missing(tied.seen.rest, cells, generator)
        drawn += draw_tied(ties, cells[:, None], generator, random)[:, 0]
        return (drawn - ties.copies)[places]

    return complete


NOT_MIXED = "not mixed"
COPIES = 3  # of the draws that are in memory at once
MOST_NUMBERS = 40_000_000  # up to which chains that have not mixed go on: large networks would take many minutes
FEWER = "Use the method cmap, which needs no draws, ask for fewer draws or chains, or raise memory_limit."


def estimate(problem: Problem, rows: Incomplete | None = None) -> Solution:
    """Sample, average, and report whether the draws can be trusted; missing values of `rows` are drawn too."""
    counts = problem.vector() if rows is None else problem.vector(rows.prepared.observed)
    options, size = (
        problem.settings.options.posterior,
        sum(prod(problem.model.network.shape(n)) for n in problem.model.names),
    )
    cost = Cost(float(COPIES * 8 * options.chains * options.draws * size), 0.0)
    check_memory(cost, problem.settings.memory_limit, f"Drawing {counted(len(problem.model.names), 'CPT')}", FEWER)
    in_memory = memory_limit_or_default(problem.settings.memory_limit) // (COPIES * 8)
    most = int(min(in_memory, MOST_NUMBERS)) // (options.chains * max(1, size))
    options = replace(options, max_draws=max(options.draws, min(options.max_draws, most)))
    result = posterior(
        problem.model.network,
        problem.model.names,
        counts,
        problem.model.constraints,
        problem.model.blocks,
        options=options,
        seed=problem.settings.seed,
        believed=problem.believed(),
        incomplete=None if rows is None else incomplete_rows(problem, rows),
        evidence=problem.data.evidence,
        doubts=problem.model.doubts,
        region=network_region(problem),
        progress=problem.notify,
    )
    kinds = {finding.kind for finding in result.findings}
    findings: list[Finding] = []
    if problem.model.constraints.network_constraints:
        cpts, missed = nearest_cpts(problem, result)
        findings += _network_findings(problem, missed)
    else:
        cpts, missed = _made_exact(problem, result.means), 0.0
    violated = violated_findings(problem.model.constraints, problem.layout.pack({**problem.model.network.cpts, **cpts}))
    failed = bool(violated) or missed > LIMIT
    status = Status.VIOLATED if failed else Status.NOT_MIXED if NOT_MIXED in kinds else Status.AVERAGED
    found = (*findings, *violated, *contradictions(problem, _pinned_at_zero(problem, result)), *result.findings)
    return Solution(cpts, status, found, posterior=result, soft_weight=0.0)


def _made_exact(problem: Problem, means: Mapping[str, Numbers]) -> Mapping[str, Numbers]:
    """The nearest CPTs at which equalities hold exactly, and products, which the mean of draws can miss."""
    theta, constraints = problem.layout.pack({**problem.model.network.cpts, **means}), problem.model.constraints
    hard = constraints.linear.take(constraints.linear.hard)
    missed = set(hard.statements[hard.excess(theta) > HOLDS_WITHIN].tolist())
    missed |= {each.statement for each in constraints.products}
    of_block = [
        {*each.linear.statements.tolist(), *(own.statement for own in each.products)} for each in problem.model.blocks
    ]
    blocks = [each for each, own in zip(problem.model.blocks, of_block, strict=True) if missed & own]
    for found in with_products(estimate_blocks(blocks, theta + 1e-12, 0.0), problem.settings.seed):
        theta[found.block.parameters] = found.theta
    return problem.cpts(theta)


def _network_findings(problem: Problem, missed: float) -> Iterator[Finding]:
    """What a reader should know of draws under statements about probabilities that depend on several CPTs."""
    if any(each.equality and each.confidence is None for each in problem.model.constraints.network_constraints):
        message = (
            "In the draws, equalities of probabilities that depend on several CPTs hold within "
            f"{EQUALITY_SHARE:.0%} of the larger side, and {EQUALITY_WIDTH:.1%} at most; in the CPTs they hold exactly."
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
    estimate_drawing=estimate,
    takes_prior=True,
    binds_any_probability=True,
    doubts=True,
)

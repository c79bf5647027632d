"""The methods cml and cmap: the most probable CPTs under the knowledge, exactly and certified.

    max Σ w log θ   s.t.  A θ ≤ b                                                               [guo, eqs. 8 and 9]

With counts as weights w this is constrained maximum likelihood (cml); with a prior's pseudo-counts added it is cmap.
Configurations that no constraint refers to are solved by counting.

Numbers that hard statements pin at zero need care. Where such a number has a weight, the objective is −∞ for all CPTs
that the knowledge allows, and there is no optimum. A prior's pseudo-counts are spread over all states whatever the
knowledge says, so there they are dropped. Data contradict the knowledge: they are left out as well, and a finding names
the number, how often it was observed, and the statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.errors import Status, counted
from credo.estimation.counting import counting_m_step, relative_frequencies
from credo.estimation.em.steps import MStep, StartingMStep
from credo.estimation.method import Method
from credo.estimation.network_optimum import Wanted, bind_network_constraints
from credo.estimation.network_steps import NetworkSteps, NetworkStepsEnd, StartCounts
from credo.estimation.pinned import contradictions, pinned_at_zero
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT, choose_soft_weight
from credo.estimation.solution import Solution, no_data_findings, where
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import Certificate, soft_cost
from credo.estimation.solvers.products import LIMIT as PRODUCT_LIMIT
from credo.estimation.solvers.products import ProductConstraints, with_products
from credo.findings import Finding
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.statistics.network_statements import NetworkStatements
from credo.types import Numbers

MAX_ENTROPY = "the point of maximum entropy that the knowledge allows"
LEAST_MULTIPLIER = 1e-6  # per row of data; below it a multiplier is rounding


def estimate(problem: Problem, start: Mapping[str, Numbers] | None = None) -> Solution:
    """Solve every block, count the rest, and report how each was solved.

    Statements about any probability of the network are bound by steps; those from `start`, CPTs at which an earlier
    M-step ended, are few and never lead to a worse objective.
    """
    weights = problem.vector()
    soft_weight, findings = choose_soft_weight(problem, weights)
    found = optimum(problem, weights, soft_weight, start)
    theta, unseen, estimates, network_end = found.theta, found.unseen, found.estimates, found.network_end
    by_entropy: dict[str, list[int]] = {}
    for each in estimates:
        for d in each.without_data.tolist():
            name, configuration = each.block.configurations[d]
            by_entropy.setdefault(name, []).append(configuration)
    return Solution(
        problem.cpts(theta),
        status_of(estimates) if network_end is None else _status_of_network_constraints(network_end, estimates),
        (
            *findings,
            *([] if network_end is None else network_findings(network_end)),
            *no_data_findings(problem.model.network, problem.model.names, unseen, by_entropy, MAX_ENTROPY),
            *contradictions(problem, ((each.block, each.impossible) for each in estimates)),
            *solver_findings(problem.model.network, estimates),
        ),
        worst_certificate(estimates),
        multipliers_by_statement(estimates, problem.data.counts.total),
        soft_weight=soft_weight,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Optimum:
    """The most probable CPTs under the knowledge, in one vector, and how they were found."""

    theta: Numbers  # (parameters,)
    unseen: Mapping[str, list[int]]  # configurations without any weight
    estimates: Sequence[BlockEstimate]  # of blocks, those that network constraints join with their tangents
    network_end: (
        NetworkStepsEnd | None
    )  # where steps under network constraints ended; None where these hold by themselves


def optimum(
    problem: Problem,
    weights: Numbers,
    soft_weight: float,
    start: Mapping[str, Numbers] | None = None,
    wanted: Wanted = "optimum",
) -> Optimum:
    """The optimum for these weights; `start` as in `estimate`, `wanted` as in `bind_network_constraints`."""
    estimates = estimate_blocks(problem.model.blocks, weights, soft_weight)
    estimates = without_pinned_prior(problem, weights, estimates, soft_weight)
    estimates = with_products(estimates, problem.settings.seed)
    theta, unseen = relative_frequencies(problem, weights)
    for each in estimates:
        theta[each.block.parameters] = each.theta
    theta = _with_zeros(problem, theta)
    network_end = None
    if problem.model.constraints.network_constraints:
        network_end = _bind_network_constraints(problem, weights, soft_weight, theta, start, wanted)
    if network_end is None:
        return Optimum(theta, unseen, estimates, None)
    return Optimum(network_end.theta, unseen, _joined_estimates(estimates, network_end), network_end)


def _bind_network_constraints(
    problem: Problem,
    weights: Numbers,
    soft_weight: float,
    relaxed: Numbers,
    start: Mapping[str, Numbers] | None,
    wanted: Wanted,
) -> NetworkStepsEnd | None:
    """Where steps under statements about any probability of the network end; None where these hold already."""
    theta = relaxed.copy()
    for name in problem.model.kept:
        theta[problem.layout.slice_of(name)] = problem.model.network.cpt_array(name).ravel()
    steps = network_steps(problem, weights, soft_weight, relaxed)
    whole = None if start is None else problem.layout.pack({**problem.model.network.cpts, **start})
    return bind_network_constraints(steps, theta, whole, wanted)


def network_steps(problem: Problem, weights: Numbers, soft_weight: float, relaxed: Numbers) -> NetworkSteps:
    """Steps under network constraints, for these weights; where `relaxed` is zero, nothing can follow a weight."""

    def solve(blocks: Sequence[Block], own: Numbers, weight: float, in_rounds: bool) -> list[BlockEstimate]:
        found = estimate_blocks(blocks, own, weight, in_rounds=in_rounds)
        found = without_pinned_prior(problem, own, found, weight)
        return with_products(found, problem.settings.seed)

    return NetworkSteps(
        problem,
        NetworkStatements.of(problem.model.constraints, problem.model.network, problem.settings.memory_limit),
        weights,
        (weights > 0.0) & (relaxed > 0.0),
        soft_weight,
        solve,
        lambda point: _soft_cost(problem.model.blocks, point, soft_weight),
    )


def _joined_estimates(estimates: Sequence[BlockEstimate], network_end: NetworkStepsEnd) -> list[BlockEstimate]:
    """The estimates of blocks that no network constraint reaches, and those of the last tangents."""
    taken = {place for each in network_end.estimates for place in each.block.configurations}
    return [*(each for each in estimates if each.block.configurations[0] not in taken), *network_end.estimates]


def without_pinned_prior(
    problem: Problem, weights: Numbers, estimates: Sequence[BlockEstimate], soft_weight: float
) -> list[BlockEstimate]:
    """The estimates, solved again without the weights of numbers that are pinned at zero.

    These make the objective −∞ whatever the CPTs are. What is left of it has an optimum, which satisfies the knowledge.
    """
    data = problem.vector(with_prior=False)
    weights, again = weights.copy(), {}
    for k, each in enumerate(estimates):
        if each.certificate.holds:
            continue  # it has an optimum
        zeros = pinned_at_zero(each)
        dropped = zeros[weights[zeros] > 0.0]
        weights[dropped] = 0.0
        if len(dropped):
            again[k] = dropped[data[dropped] > 0.0]
    solved = list(estimates)
    blocks = [estimates[k].block for k in again]
    for (k, impossible), other in zip(again.items(), estimate_blocks(blocks, weights, soft_weight), strict=True):
        solved[k] = other._replace(impossible=impossible)
    return solved


def _with_zeros(problem: Problem, theta: Numbers) -> Numbers:
    """θ with the numbers that are known to be pinned at exactly zero: solvers leave some of their rounding there."""
    if not len(problem.model.pinned):
        return theta
    theta[problem.model.pinned] = 0.0
    for name in {problem.layout.locate(int(index))[0] for index in problem.model.pinned}:
        distributions = problem.layout.view(theta, name)
        distributions /= distributions.sum(axis=1, keepdims=True)
    return theta


def multipliers_of(problem: Problem) -> Mapping[int, float]:
    """The multiplier of each statement at the most probable CPTs, for methods that have none of their own."""
    weights = problem.vector()
    soft_weight, _ = choose_soft_weight(problem, weights)
    return multipliers_by_statement(optimum(problem, weights, soft_weight).estimates, problem.data.counts.total)


def constrained_m_step(problem: Problem) -> MStep:
    """The M-step of cml and cmap; its term of the objective is Σ α log θ less the cost of violated soft statements."""
    if not problem.model.blocks and not problem.model.constraints.network_constraints:
        return counting_m_step(problem)
    prior = problem.pseudo_counts()
    soft_weight = DEFAULT_WEIGHT if problem.settings.soft_weight is None else problem.settings.soft_weight
    statements = None
    if problem.model.constraints.network_constraints:
        statements = NetworkStatements.of(
            problem.model.constraints, problem.model.network, problem.settings.memory_limit
        )

    def m_step(counts: Counts, start: Mapping[str, Numbers] | None = None) -> tuple[Mapping[str, Numbers], float]:
        own = problem.with_data(counts=counts, folds=()).with_settings(soft_weight=soft_weight)
        cpts = estimate(own, start).cpts
        theta = problem.layout.pack(cpts, missing=0.0)
        counted = (prior > 0) & (theta > 0)  # only numbers that the knowledge pins are at zero
        term = float(prior[counted] @ np.log(theta[counted]))
        term -= _soft_cost(problem.model.blocks, theta, soft_weight)
        if statements is not None:
            whole = problem.layout.pack({**problem.model.network.cpts, **cpts})
            term -= statements.soft_cost(statements.values_at(whole), soft_weight)
        return cpts, term

    return m_step if statements is None else StartingMStep(m_step)


def _soft_cost(blocks: Sequence[Block], theta: Numbers, soft_weight: float) -> float:
    """The cost of the violated soft statements, those that compare products among them."""
    total = 0.0
    for block in blocks:
        own = theta[block.parameters]
        if not block.linear.hard.all():
            total += soft_cost(Task(block, np.zeros(block.size), None, soft_weight), own)
        if any(product.confidence is not None for product in block.products):
            total += ProductConstraints.of(block, soft_weight).soft_cost(own)
    return total


# Reporting ------------------------------------------------------------------------------------------------------------


def solver_findings(network: Network, estimates: Sequence[BlockEstimate]) -> Iterable[Finding]:
    """How many blocks each solver took, and those that are not certified."""
    for solver, count in Counter(each.solver for each in estimates).most_common():
        groups = f"{counted(count, 'group')} of probabilities"
        how = solver if count == 1 else solver.replace("because its", "because their")
        yield Finding("solver", f"{groups} linked by statements {'was' if count == 1 else 'were'} computed by {how}.")
    for each in estimates:
        if each.certificate.holds and not each.local and each.product_violation <= PRODUCT_LIMIT:
            continue
        name, place = each.block.configurations[0][0], where(network, each.block)
        if each.product_violation > PRODUCT_LIMIT:
            message = (
                f"{place}: no probabilities were found at which all statements about products hold; the logarithm of "
                f"one product is off by {each.product_violation:.1e}. Run credo.check on the knowledge."
            )
            yield Finding("violated", message, name)
        elif each.local:
            message = (
                f"{place}: other probabilities may fit the data better, because the statements compare products. "
                f"None can improve the objective by more than a relative {each.certificate.gap:.1e}."
            )
            yield Finding("local optimum", message, name)
        elif not each.certificate.holds:
            message = (
                f"{place}: these probabilities could not be proved to fit the data best. Statements are violated by up "
                f"to {each.certificate.violation:.1e}; the relative duality gap is {each.certificate.gap:.1e}."
            )
            yield Finding("not certified", message, name)


def network_findings(network_end: NetworkStepsEnd) -> Iterator[Finding]:
    """That the optimum is local, or that statements about probabilities of the network do not hold."""
    if network_end.holds:
        message = (
            "Other probabilities may fit the data better: under statements about prevalences, diagnostic values and "
            "other probabilities that depend on several CPTs, only a local optimum can be found."
        )
        yield Finding("local optimum", message + _too_few_starts(network_end.starts))
    else:
        message = (
            "No probabilities were found at which all statements hold; one about a probability that depends on several "
            f"CPTs is missed by {network_end.violation:.2g}. This is no proof that there are none: run credo.check."
        )
        yield Finding("violated", message)


def _too_few_starts(starts: StartCounts | None) -> str:
    """A sentence about starts that were not followed to their end, for time."""
    if starts is None or starts.followed == starts.wanted:
        return ""
    return (
        f" Of {starts.wanted} starts, {starts.followed} {'was' if starts.followed == 1 else 'were'} followed to the "
        f"end: those after the first may take {counted(starts.budget, 'step')} together, to save time."
    )


def _status_of_network_constraints(network_end: NetworkStepsEnd, estimates: Sequence[BlockEstimate]) -> Status:
    """The status where network constraints were bound."""
    if not network_end.holds or status_of(estimates) is Status.VIOLATED:
        return Status.VIOLATED
    return Status.LOCAL


def status_of(estimates: Sequence[BlockEstimate]) -> Status:
    """The status of all blocks together."""
    if any(each.product_violation > PRODUCT_LIMIT for each in estimates):
        return Status.VIOLATED
    if any(each.local for each in estimates):
        return Status.LOCAL
    return Status.OPTIMAL if worst_certificate(estimates).holds else Status.NOT_CERTIFIED


def worst_certificate(estimates: Sequence[BlockEstimate]) -> Certificate:
    """The certificate of all blocks together."""
    return Certificate(
        max((each.certificate.violation for each in estimates), default=0.0),
        max((each.certificate.gap for each in estimates), default=0.0),
    )


def multipliers_by_statement(estimates: Sequence[BlockEstimate], rows: float) -> dict[int, float]:
    """The multipliers of each statement, of linear constraints and of products, of all blocks."""
    parts = [(each.block.linear, np.abs(each.multipliers)) for each in estimates]
    return statement_multipliers(parts, [pair for each in estimates for pair in each.product_multipliers], rows)


def statement_multipliers(
    linear: Iterable[tuple[LinearConstraints, Numbers]], products: Iterable[tuple[int, float]], rows: float
) -> dict[int, float]:
    """The sum of the multipliers of each statement: the gain in log-likelihood per unit of its bound.

    The unit is that in which the statement is written; of one about products, the logarithm of its bound. Multipliers
    that are rounding, for so many rows of data and in units of probability, are zero.
    """
    parts, pairs = list(linear), list(products)
    none, values = np.zeros(0), np.array([multiplier for _, multiplier in pairs], dtype=np.float64)
    statements = np.concatenate(
        [np.zeros(0, np.int64), *(part.statements for part, _ in parts), np.array([n for n, _ in pairs], np.int64)]
    )
    of_probability = np.concatenate([none, *(multipliers for _, multipliers in parts), values])
    scales = np.concatenate([none, *(part.scales for part, _ in parts), np.ones(len(values))])
    numbers, owner = np.unique(statements, return_inverse=True)
    found = np.bincount(owner, of_probability / scales, len(numbers))
    scaled = np.bincount(owner, of_probability, len(numbers))
    least = LEAST_MULTIPLIER * max(1.0, rows)
    return dict(zip(numbers.tolist(), np.where(scaled > least, found, 0.0).tolist(), strict=True))


CML = Method(
    "cml",
    "maximum likelihood under the knowledge",
    "the data should decide wherever the knowledge lets them",
    estimate,
    constrained_m_step,
    maximises_likelihood=True,
    binds_any_probability=True,
)
CMAP = Method(
    "cmap",
    "the same with a prior's pseudo-counts",
    "few data and knowledge: exact, certified, quick",
    estimate,
    constrained_m_step,
    default_prior=1.0,
    takes_prior=True,
    maximises_likelihood=True,
    binds_any_probability=True,
)

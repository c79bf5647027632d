"""The methods me and cme: the CPTs of maximum entropy within the data's imprecise Dirichlet intervals.

N draws from a distribution, N_k of them in state k, leave the interval

    N_k / (N + s) ≤ θ_k ≤ (N_k + s) / (N + s)

with s hidden draws [walley 1996], s = 1 unless something else is said. The lower ends alone leave s / (N + s) to share,
so that the upper ends follow from them. Without knowledge this is `me`, under the knowledge `cme` [campos & ji 2008;
guo, section 2].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block, with_constraints
from credo.constraints.feasibility import NONE, interior_of
from credo.errors import Status
from credo.estimation.constrained import solver_findings, status_of, worst_certificate
from credo.estimation.method import Method
from credo.estimation.pinned import contradictions
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import choose_soft_weight
from credo.estimation.solution import Solution
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.products import with_products
from credo.findings import Finding
from credo.types import Indices, Numbers

NEARLY_ONE = 1e-6  # a share of the interval's lower ends this close to one is one
NEARLY_NOTHING = 1e-6  # a share below this may be zero
MARGIN = 1e-3  # conflicting intervals are widened by so much more, relatively, than is just enough


def estimate_without_knowledge(problem: Problem) -> Solution:
    """`me`: every conditional distribution at its water level; the knowledge is not used, and a finding says so."""
    theta = _water_levels(problem)
    findings = []
    if problem.model.blocks:
        message = "This method looks at the data alone: the knowledge had no influence on the estimate."
        findings.append(Finding("knowledge not used", message))
    return Solution(problem.cpts(theta), Status.EXACT, tuple(findings))


def estimate(problem: Problem) -> Solution:
    """`cme`: the same under the knowledge; intervals that it rules out are widened, and a finding says so."""
    hidden = problem.settings.options.optimiser.hidden_draws
    counts = problem.vector(with_prior=False)
    soft_weight, findings = choose_soft_weight(problem, problem.vector())
    theta = _water_levels(problem)
    intervals = [Interval.of(block, counts[block.parameters], hidden) for block in problem.model.blocks]
    shares, uncertain = _solved_shares(problem.model.blocks, intervals, problem.settings.seed)
    pinned = {k: zeros for k in uncertain if len(zeros := counted_but_pinned(problem.model.blocks[k], counts))}
    for k, zeros in pinned.items():
        counts[zeros] = 0.0
        intervals[k] = Interval.of(problem.model.blocks[k], counts[problem.model.blocks[k].parameters], hidden)
        (shares[k],) = feasible_shares([problem.model.blocks[k]], [intervals[k]], problem.settings.seed)
    blocks = [
        with_lower_ends(block, each.lower * share[block.distribution_of])
        for block, each, share in zip(problem.model.blocks, intervals, shares, strict=True)
    ]
    estimates = with_products(
        solve_certified([entropy_task(block, soft_weight) for block in blocks]), problem.settings.seed
    )
    for each in estimates:
        theta[each.block.parameters] = each.theta
    findings = [
        *findings,
        *contradictions(problem, [(problem.model.blocks[k], zeros) for k, zeros in pinned.items()]),
        *widening_findings(problem.model.blocks, intervals, shares, hidden),
        *solver_findings(problem.model.network, estimates),
    ]
    certificate = worst_certificate(estimates)
    status = status_of(estimates)
    return Solution(problem.cpts(theta), status, tuple(findings), certificate, soft_weight=soft_weight)


def water_level(counts: Numbers, hidden: float = 1.0) -> Numbers:
    """max −Σ θ log θ s.t. θ_k ≥ N_k / (N + s), for counts (distributions, states): θ_k = max(N_k / (N + s), level).

    With the states from the rarest to the commonest, the first j states stand at the level
    (1 − the other lower ends) / j; the right j is the last for which that level reaches the j-th lower end.
    """
    lower = counts / (counts.sum(axis=1, keepdims=True) + hidden)
    ascending = np.sort(lower, axis=1)
    above = ascending.sum(axis=1, keepdims=True) - np.cumsum(ascending, axis=1)
    levels = (1.0 - above) / np.arange(1, lower.shape[1] + 1)
    last = (levels >= ascending).sum(axis=1) - 1  # holds for the first states, then no more
    theta = np.maximum(lower, np.take_along_axis(levels, last[:, None], axis=1))
    return np.asarray(theta / theta.sum(axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """The lower ends of one block's imprecise Dirichlet intervals, and how many draws each distribution has."""

    lower: Numbers  # (parameters,)
    draws: Numbers  # (distributions,)

    @classmethod
    def of(cls, block: Block, counts: Numbers, hidden: float) -> Interval:
        draws = np.add.reduceat(counts, block.distributions[:-1])
        return cls(counts / (draws + hidden)[block.distribution_of], draws)

    def hidden_draws(self, share: Numbers, hidden: float) -> Numbers:
        """The s that leaves this share of the lower ends: N_k / (N + s') = share · N_k / (N + s)."""
        return np.asarray((self.draws + hidden) / share - self.draws, dtype=np.float64)


def feasible_shares(blocks: Sequence[Block], intervals: Sequence[Interval], seed: int = 0) -> list[Numbers]:
    """The shares ρ of the lower ends that the hard constraints allow, one a distribution; all one without a conflict.

    max Σ_d log ρ_d s.t. θ_k ≥ ρ_d · lower_k, 0 < ρ_d ≤ 1, Aθ ≤ b. It is the least widening of the s_d together,
    min Σ log (N_d + s_d); it exists wherever the constraints are feasible, is unique, and has the form of every other
    block: each ρ_d is one state of a distribution with two.
    """
    return _solved_shares(blocks, intervals, seed)[0]


def _solved_shares(
    blocks: Sequence[Block], intervals: Sequence[Interval], seed: int
) -> tuple[list[Numbers], list[int]]:
    """The shares of each block; and the blocks in which one may be zero, for which there is no optimum."""
    tasks = [_share_task(block, each.lower) for block, each in zip(blocks, intervals, strict=True)]
    shares, uncertain = [], []
    for k, solved in enumerate(with_products(solve_certified(tasks), seed)):
        share = np.minimum(solved.theta[blocks[k].size :: 2], 1.0)
        shares.append(np.where(share > 1.0 - NEARLY_ONE, 1.0, share * (1.0 - MARGIN)))
        if not solved.certificate.holds or share.min() < NEARLY_NOTHING:
            uncertain.append(k)
    return shares, uncertain


def counted_but_pinned(block: Block, counts: Numbers) -> Indices:
    """What the data contain although the hard statements leave it nothing but zero: no interval can be kept for it."""
    interior = interior_of(block)
    zeros = NONE if interior is None else block.parameters[interior.zero_parameters]
    return zeros[counts[zeros] > 0]


def with_lower_ends(block: Block, lower: Numbers) -> Block:
    """The block with the constraints θ_k ≥ lower_k added; ends of zero need none."""
    own = np.flatnonzero(lower > 0)
    return with_constraints(block, np.arange(len(own)), own, np.full(len(own), -1.0), -lower[own])


def entropy_task(block: Block, soft_weight: float) -> Task:
    """max −Σ θ log θ under the block's constraints."""
    return Task(block, np.zeros(block.size), np.ones(block.size), soft_weight)


def widening_findings(
    blocks: Sequence[Block], intervals: Sequence[Interval], shares: Sequence[Numbers], hidden: float
) -> list[Finding]:
    """Which CPTs have intervals that the knowledge ruled out, and how far s was raised."""
    widest: dict[str, float] = {}
    counts: dict[str, int] = {}
    for block, interval, share in zip(blocks, intervals, shares, strict=True):
        draws = interval.hidden_draws(share, hidden)
        for d in np.flatnonzero(share < 1.0).tolist():
            name = block.configurations[d][0]
            counts[name] = counts.get(name, 0) + 1
            widest[name] = max(widest.get(name, 0.0), float(draws[d]))
    return [
        Finding(
            "interval widened",
            f"{name}: the knowledge contradicts the data's intervals for {count} of its distributions. There the data "
            f"count less: {widest[name]:.3g} hidden draws instead of {hidden:g}, the least that is feasible.",
            name,
        )
        for name, count in counts.items()
    ]


def _water_levels(problem: Problem) -> Numbers:
    """Every conditional distribution at its water level, in one vector."""
    theta = problem.vector(with_prior=False)
    hidden = problem.settings.options.optimiser.hidden_draws
    for name in problem.layout.names:
        distributions = problem.layout.view(theta, name)
        distributions[:] = water_level(distributions, hidden)
    return theta


def _share_task(block: Block, lower: Numbers) -> Task:
    """The block with a distribution (ρ_d, 1 − ρ_d) for each of its own, and constraints ρ_d · lower_k − θ_k ≤ 0."""
    count = len(block.distributions) - 1
    hard = replace(
        block,
        configurations=block.configurations * 2,
        parameters=np.concatenate((block.parameters, np.full(2 * count, -1))),
        distributions=np.concatenate((block.distributions, block.size + 2 * np.arange(1, count + 1))),
        distribution_of=np.concatenate((block.distribution_of, count + np.repeat(np.arange(count), 2))),
        products=tuple(each for each in block.products if each.confidence is None),
    ).take(block.linear.hard)
    own = np.flatnonzero(lower > 0)
    entries = np.stack((block.size + 2 * block.distribution_of[own], own), axis=1)
    coefficients = np.stack((lower[own], np.full(len(own), -1.0)), axis=1)
    weights = np.concatenate((np.zeros(block.size), np.tile([1.0, 0.0], count)))
    numbers = np.repeat(np.arange(len(own)), 2)
    return Task(with_constraints(hard, numbers, entries.ravel(), coefficients.ravel(), np.zeros(len(own))), weights)


ME = Method(
    "me",
    "maximum entropy within the data's interval",
    "few data, no knowledge; a cautious baseline",
    estimate_without_knowledge,
    uses_knowledge=False,
)
CME = Method(
    "cme",
    "maximum entropy within the data's interval, under the knowledge",
    "few data and much knowledge, and nothing beyond them is to be assumed",
    estimate,
)

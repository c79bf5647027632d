"""Constrained EM by gradient, as [liao] has it: the likelihood less what the violated statements cost.

    J(θ) = L(θ) − (w₁/2) Σ_ranges λ·violation² − (w₂/2) Σ_relations λ·violation²            [liao, eq. 5]

with θ = softmax(β) in each distribution [liao, eq. 6] and λ a statement's confidence, 1 where it carries none. The
M-step starts from the tables that counting gives and climbs J in β, with the E-step's counts for L [liao, table 1].
No statement is held to, so that they need not agree with each other; what is still missed is said at the end.

The published derivatives (eqs. 8 to 12) keep only the diagonal of the softmax's Jacobian: N_ijk (1 − θ_ijk) for the
likelihood, whose zeros are no maxima of it (it is positive wherever anything was counted). Here all of it is used:

    ∂L/∂β_ijk = N_ijk − θ_ijk N_ij,    ∂violation/∂β_ijk = θ_ijk (a_ijk − Σ_k' a_ijk' θ_ijk'),

with a the coefficients of a row; the value and the gradient are those of `penalty.py`. J is concave in θ, so that
where the slope vanishes it is at its maximum (products apart): the same one that `cml` and `cmap` find exactly where
all statements are soft. Statements about products are measured in logarithms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block
from credo.errors import Status
from credo.estimation.counting import counted
from credo.estimation.em.steps import MStep
from credo.estimation.penalty import Penalised
from credo.estimation.problem import Problem
from credo.estimation.softened import PenaltyWeights, softened
from credo.estimation.solution import Solution, rows_without_data
from credo.estimation.solvers.certificate import Certificate, certify
from credo.estimation.solvers.interior_point import Task
from credo.estimation.solvers.lbfgs import minimise
from credo.findings import Finding
from credo.statistics.counts import Counts
from credo.statistics.prior import pseudo_counts

ITERATIONS, ROUNDS = 100, 20  # of L-BFGS: steps in a round, and rounds at most
# The climb ends where no coordinate promises more: J can then rise by about SLOPE²/2 for each, in nats.
SLOPE = 1e-5
FLAT = 1e-2  # above this the climb was cut short
LEAST_CURVATURE = 1e-4
MISSED = 1e-3  # a violation that is worth a word
WHAT_PENALTIES_LEFT = "what the penalties left of the uniform distribution"


def estimate(problem: Problem) -> Solution:
    """Climb once, count what no statement speaks of, and say how far statements are missed."""
    weights = PenaltyWeights.of(problem)
    vector = problem.vector()
    theta, unseen = counted(problem, vector)
    hill = Hill.of(softened(problem, weights))
    top = hill.climb(vector)
    theta[hill.block.parameters] = top.theta
    findings = (
        *_weight_findings(problem, weights),
        *_no_data_findings(problem, unseen),
        *_missed_findings(problem, hill.block, top.theta),
        *_climb_findings(hill, top),
    )
    status = Status.CONVERGED if top.slope <= FLAT else Status.NOT_CONVERGED
    return Solution(problem.cpts(theta), status, findings, _certificate(hill, top, problem, theta))


def gradient_step(problem: Problem) -> MStep:
    """The M-step: tables that maximise J for expected counts, and J less those counts' part of it."""
    hill = Hill.of(softened(problem, PenaltyWeights.of(problem)))
    inside = hill.block.parameters
    believed = np.zeros(problem.layout.size)
    for name in problem.names:
        problem.layout.view(believed, name)[:] = pseudo_counts(problem.prior, problem.network, name)
    # Inside the block the climb's own objective has them.
    believed[inside] = 0.0
    outside = np.flatnonzero(believed)

    def m_step(counts: Counts) -> tuple[Mapping[str, Numbers], float]:
        vector = problem.vector(counts)
        theta, _ = counted(problem, vector)
        top = hill.climb(vector)
        theta[inside] = top.theta
        expected = problem.vector(counts, with_prior=False)[inside]
        term = top.height - float(expected @ np.log(top.theta))
        return problem.cpts(theta), term + float(believed[outside] @ np.log(theta[outside]))

    return m_step


@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """Where a climb ended."""

    theta: Numbers  # (parameters,) of the block
    height: float  # J
    slope: float  # the steepest coordinate left, in units in which J curves by about one
    evaluations: int


@dataclass(frozen=True, slots=True, eq=False)
class Hill:
    """J over the tables' rows that statements speak of, for any counts."""

    block: Block
    penalised: Penalised
    squares: Any  # (rows, parameters) sparse, a²

    @classmethod
    def of(cls, block: Block) -> Hill:
        penalised = Penalised.of(Task(block, np.zeros(block.size), None, 1.0))
        squared = replace(block.linear, coefficients=block.linear.coefficients**2)
        return cls(block, penalised, squared.matrix(block.size))

    def at(self, vector: Numbers) -> Penalised:
        """J for weights that stand in one vector over all parameters."""
        weights = vector[self.block.parameters]
        return replace(self.penalised, task=replace(self.penalised.task, weights=weights))

    def climb(self, vector: Numbers) -> Top:
        """From what counting gives to the top.

        Coordinates are scaled by how J curves in them, so that rows with three data and with three thousand are
        equally steep; in each round anew, because violated rows curve it and others do not.
        """
        if not self.block.size:
            return Top(np.zeros(0), 0.0, 0.0, 0)
        penalised, evaluations = self.at(vector), 0
        beta = np.log(self._start(penalised.task.weights))
        for _ in range(ROUNDS):
            pace = self._pace(penalised, penalised.distributions(beta))

            def depth(point: Numbers, pace: Numbers = pace) -> tuple[float, Numbers]:
                value, slope = penalised.cost(pace * point, 0.0)
                return value, pace * slope

            found = minimise(depth, beta / pace, ITERATIONS, SLOPE)
            beta, evaluations = pace * found.point, evaluations + found.evaluations
            steepest = float(np.abs(found.gradient).max())
            if steepest <= SLOPE:
                break
        # A probability that is too small for a number is no zero yet: its logarithm is asked for.
        theta = np.maximum(penalised.distributions(beta), np.finfo(np.float64).tiny)
        return Top(theta, -found.value, steepest, evaluations)

    def _start(self, weights: Numbers) -> Numbers:
        """What counting gives; with one pseudo-count a row, because nothing leads back from zero."""
        of = self.block.distribution_of
        states = np.diff(self.block.distributions)[of]
        totals = np.add.reduceat(weights, self.block.distributions[:-1])[of]
        return np.asarray((weights + 1.0 / states) / (totals + 1.0), dtype=np.float64)

    def _pace(self, penalised: Penalised, theta: Numbers) -> Numbers:
        """One over the root of the curvature of J in β: of the likelihood, and of what is violated."""
        totals = np.add.reduceat(penalised.task.weights, self.block.distributions[:-1])[self.block.distribution_of]
        violated = np.abs(penalised.multipliers(theta, 0.0)) > 0
        linear, width = self.block.linear, theta * (1.0 - theta)
        steep = self.squares.T @ np.where(violated, linear.confidences, 0.0)
        return np.asarray(1.0 / np.sqrt(totals * width + steep * width**2 + LEAST_CURVATURE), dtype=np.float64)


def _certificate(hill: Hill, top: Top, problem: Problem, theta: Numbers) -> Certificate:
    """How far hard statements are missed, and how far J can be from its maximum, relatively; products count for 0."""
    linear = problem.constraints.linear
    excess = linear.values(theta) - linear.bounds if len(linear) else np.zeros(0)
    excess = np.where(linear.equality, np.abs(excess), excess)[linear.hard]
    if not hill.block.size:
        return Certificate(0.0, 0.0)
    task = hill.at(problem.vector()).task
    gap = certify(task, top.theta, hill.penalised.multipliers(top.theta, 0.0)).gap
    return Certificate(float(excess.max(initial=0.0)), gap)


def _weight_findings(problem: Problem, weights: PenaltyWeights) -> Iterable[Finding]:
    if problem.blocks:
        yield Finding(
            "penalty weights",
            f"A violated range costs {weights.ranges:g}/2·λ·violation², a violated relation {weights.relations:g}/2·λ·"
            "violation², in nats; λ is the statement's confidence, 1 where it has none.",
        )
    if problem.constraints.products:
        yield Finding("products", "Violations of statements about products are measured in logarithms.")


def _missed_findings(problem: Problem, block: Block, theta: Numbers) -> Iterable[Finding]:
    """How far statements are missed, rows that weigh nothing apart."""
    linear, amounts = block.linear, dict[int, float]()
    excess = linear.values(theta) - linear.bounds if len(linear) else np.zeros(0)
    excess = np.where(linear.equality, np.abs(excess), excess)
    logarithms = np.log(theta)
    products = [
        float(np.array(row.exponents) @ logarithms[list(row.indices)]) - row.log_bound for row in block.products
    ]
    statements = [*linear.statements.tolist(), *(row.statement for row in block.products)]
    for statement, amount in zip(statements, (*excess.tolist(), *products), strict=True):
        amounts[statement] = max(amounts.get(statement, 0.0), amount)
    missed = {statement: amount for statement, amount in amounts.items() if amount > MISSED}
    if missed:
        worst = max(missed, key=lambda statement: missed[statement])
        yield Finding(
            "missed",
            f"{len(missed)} of {len(amounts)} statements are missed by more than {MISSED:g}; the most is statement "
            f"{worst + 1}, by {missed[worst]:.3f}. The violations of the fit list them.",
        )
    elif amounts:
        yield Finding("missed", f"None of {len(amounts)} statements is missed by more than {MISSED:g}.")


def _climb_findings(hill: Hill, top: Top) -> Iterable[Finding]:
    if hill.block.size:
        yield Finding("training", f"The gradient was followed for {top.evaluations} evaluations.")


def _no_data_findings(problem: Problem, unseen: dict[str, list[int]]) -> Iterable[Finding]:
    spoken_of = problem.rows_in_blocks()
    for name in problem.names:
        rows, inside = set(unseen.get(name, [])), set(spoken_of.get(name, []))
        for part, instead in ((rows - inside, "the uniform distribution"), (rows & inside, WHAT_PENALTIES_LEFT)):
            if part:
                yield rows_without_data(problem.network, name, np.array(sorted(part)), instead)

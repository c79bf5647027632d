"""The methods co and cem: published baselines that train with penalties instead of constraints.

co [altendorf 2005; yang, section 3] raises the penalty ω until no violation is above 1e-6, each time from the last
optimum; the first time from the uniform distribution, or from near the optimum of a large block. It approaches the
feasible set from outside, so that small violations remain. It proves no optimum, but 2ω·violation are multipliers, and
their dual value bounds the distance to it.

cem [liao, eq. 5] makes every statement a penalty with a weight by its confidence,

    J(θ) = L(θ) − (w₁/2) Σ_ranges λ·violation² − (w₂/2) Σ_relations λ·violation²,

so that statements need not agree with each other. The published derivatives (eqs. 8 to 12) keep only the diagonal of
the softmax's Jacobian, N_ijk (1 − θ_ijk) for the likelihood, which does not vanish at any maximum. Here all of it is
used: ∂L/∂β_ijk = N_ijk − θ_ijk N_ij. J is concave in θ, so that a stationary point is its maximum (products apart): the
one that cml and cmap find exactly where all statements are soft.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo.constraints.block_findings import conflicts_behind
from credo.constraints.blocks import Block
from credo.errors import Status, counted
from credo.estimation.counting import relative_frequencies
from credo.estimation.em.steps import MStep
from credo.estimation.method import Method
from credo.estimation.papers.lbfgs import minimise
from credo.estimation.papers.penalised_statements import PenaltyWeights, soft_block
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import choose_soft_weight
from credo.estimation.solution import Solution, no_data_findings, where
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import Certificate, certify
from credo.estimation.solvers.penalised import FEASIBLE, PenalisedObjective, TrainedBlock, train
from credo.findings import Finding
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.types import Numbers

AFTER_PENALTIES = "what the penalties left of the uniform distribution"

# co -------------------------------------------------------------------------------------------------------------------


def estimate_co(problem: Problem) -> Solution:
    """Train every block, count the rest, and report which statements are still violated."""
    weights = problem.vector()
    soft_weight, findings = choose_soft_weight(problem, weights)
    theta, unseen = relative_frequencies(problem, weights)
    trained = [train(Task(block, weights[block.parameters], None, soft_weight)) for block in problem.model.blocks]
    for each in trained:
        theta[each.block.parameters] = each.theta
    findings = [
        *findings,
        *_no_data_findings(problem, unseen),
        *_violated_findings(problem.model.network, trained),
        *_training_findings(problem.model.network, trained),
    ]
    certificate = Certificate(
        max((each.certificate.violation for each in trained), default=0.0),
        max((each.certificate.gap for each in trained), default=0.0),
    )
    return Solution(problem.cpts(theta), _co_status(trained), tuple(findings), certificate, soft_weight=soft_weight)


def _co_status(trained: Sequence[TrainedBlock]) -> Status:
    if any(each.certificate.violation > FEASIBLE for each in trained):
        return Status.VIOLATED
    if not all(each.converged for each in trained):
        return Status.NOT_CONVERGED
    return Status.NOT_CERTIFIED if trained else Status.EXACT


def _violated_findings(network: Network, trained: Sequence[TrainedBlock]) -> Iterable[Finding]:
    for each in trained:
        if each.certificate.violation > FEASIBLE:
            message = (
                f"{where(network, each.block)}: a statement is violated by {each.certificate.violation:.1e}. "
                "The method cmap satisfies all statements."
            )
            yield Finding("violated", message, each.block.configurations[0][0])


def _training_findings(network: Network, trained: Sequence[TrainedBlock]) -> Iterable[Finding]:
    for each in trained:
        if not each.converged:
            message = f"{where(network, each.block)}: the training ended before its optimum. cml solves this exactly."
            yield Finding("not converged", message, each.block.configurations[0][0])
    if trained:
        worst = max(each.certificate.gap for each in trained)
        evaluations = sum(each.evaluations for each in trained)
        yield Finding(
            "training",
            f"{len(trained)} {'group' if len(trained) == 1 else 'groups'} of probabilities linked by statements "
            f"{'was' if len(trained) == 1 else 'were'} learned by following the gradient. "
            f"After {evaluations} evaluations the objective is at most {worst:.1e} (relatively) from the optimum.",
        )


# cem ------------------------------------------------------------------------------------------------------------------

LBFGS_STEPS, LBFGS_ROUNDS = 100, 20  # in a round, and rounds at most
# Training ends where no coordinate promises more: J can then rise by about GRADIENT²/2 for each, in nats.
GRADIENT = 1e-5
M_STEP_GRADIENT = 1e-8  # of the steps of EM: an M-step that stops early lowers the objective near the end
STATIONARY = 1e-2  # above this the training was cut short
LEAST_CURVATURE = 1e-4
NOTABLE = 1e-3  # a violation that is reported


def estimate_cem(problem: Problem) -> Solution:
    """Maximise J once, count what no statement refers to, and report how far statements are violated."""
    weights = PenaltyWeights.of(problem)
    vector = problem.vector()
    theta, unseen = relative_frequencies(problem, vector)
    objective = SoftObjective.of(soft_block(problem, weights))
    optimum = objective.maximise(vector)
    theta[objective.block.parameters] = optimum.theta
    findings = (
        *_weight_findings(problem, weights),
        *_no_data_findings(problem, unseen),
        *_violation_findings(objective.block, optimum.theta),
        *_conflict_findings(problem, theta),
        *_evaluation_findings(objective, optimum),
    )
    status = Status.CONVERGED if optimum.gradient <= STATIONARY else Status.NOT_CONVERGED
    return Solution(problem.cpts(theta), status, findings, _certificate(objective, optimum, problem, theta))


def cem_m_step(problem: Problem) -> MStep:
    """The M-step: CPTs that maximise J for expected counts, and J less those counts' part of it [liao, table 1]."""
    objective = SoftObjective.of(soft_block(problem, PenaltyWeights.of(problem)))
    inside = objective.block.parameters
    prior = problem.pseudo_counts()
    prior[inside] = 0.0  # there J itself has them
    outside = np.flatnonzero(prior)

    def m_step(counts: Counts) -> tuple[Mapping[str, Numbers], float]:
        vector = problem.vector(counts)
        theta, _ = relative_frequencies(problem, vector)
        optimum = objective.maximise(vector, M_STEP_GRADIENT)
        theta[inside] = optimum.theta
        expected = problem.vector(counts, with_prior=False)[inside]
        term = optimum.value - float(expected @ np.log(optimum.theta))
        return problem.cpts(theta), term + float(prior[outside] @ np.log(theta[outside]))

    return m_step


@dataclass(frozen=True, slots=True, eq=False)
class SoftOptimum:
    """Where the maximisation of J ended."""

    theta: Numbers  # (parameters,) of the block
    value: float  # J
    gradient: float  # its largest coordinate, in units in which J curves by about one
    evaluations: int


@dataclass(frozen=True, slots=True, eq=False)
class SoftObjective:
    """J over the configurations that statements refer to, for any counts."""

    block: Block
    penalised: PenalisedObjective
    squares: Any  # (constraints, parameters) sparse, a²

    @classmethod
    def of(cls, block: Block) -> SoftObjective:
        penalised = PenalisedObjective.of(Task(block, np.zeros(block.size), None, 1.0))
        squared = replace(block.linear, coefficients=block.linear.coefficients**2)
        return cls(block, penalised, squared.matrix(block.size))

    def with_weights(self, vector: Numbers) -> PenalisedObjective:
        """J for weights in one vector over all parameters."""
        weights = vector[self.block.parameters]
        return replace(self.penalised, task=self.penalised.task._replace(weights=weights))

    def maximise(self, vector: Numbers, tolerance: float = GRADIENT) -> SoftOptimum:
        """The maximum of J, starting from relative frequencies.

        Coordinates are scaled by the curvature of J, so that distributions with three data and with three thousand
        are equally steep; in each round, because violated constraints curve it and others do not.
        """
        if not self.block.size:
            return SoftOptimum(np.zeros(0), 0.0, 0.0, 0)
        penalised, evaluations = self.with_weights(vector), 0
        beta, least = np.log(self._start(penalised.task.weights)), np.inf
        for _ in range(LBFGS_ROUNDS):
            scale = self._scale(penalised, penalised.distributions(beta))

            def cost(point: Numbers, scale: Numbers = scale) -> tuple[float, Numbers]:
                value, gradient = penalised.cost(scale * point, 0.0)
                return value, scale * gradient

            found = minimise(cost, beta / scale, LBFGS_STEPS, tolerance)
            beta, evaluations = scale * found.point, evaluations + found.evaluations
            gradient = float(np.abs(found.gradient).max())
            if gradient <= tolerance or not found.value < least:
                break
            least = found.value
        # A probability that underflows is not a zero: its logarithm is needed.
        theta = np.maximum(penalised.distributions(beta), np.finfo(np.float64).tiny)
        optimum = SoftOptimum(theta, -found.value, gradient, evaluations)
        return optimum if gradient <= STATIONARY else self._exact(penalised, optimum)

    def _exact(self, penalised: PenalisedObjective, ended: SoftOptimum) -> SoftOptimum:
        """The maximum as cmap finds it, where the gradient was lost among steep penalties; products have none."""
        if self.block.products:
            return ended
        (solved,) = solve_certified([penalised.task._replace(weights=penalised.weights)])
        theta = np.maximum(solved.theta, np.finfo(np.float64).tiny)
        value = -penalised.cost(np.log(theta), 0.0)[0]
        gradient = 0.0 if solved.certificate.holds else ended.gradient
        return SoftOptimum(theta, value, gradient, ended.evaluations) if value >= ended.value else ended

    def _start(self, weights: Numbers) -> Numbers:
        """Relative frequencies with one pseudo-count a distribution, because a softmax cannot leave zero."""
        states = np.diff(self.block.distributions)[self.block.distribution_of]
        return np.asarray((weights + 1.0 / states) / (self.block.totals(weights) + 1.0), dtype=np.float64)

    def _scale(self, penalised: PenalisedObjective, theta: Numbers) -> Numbers:
        """One over the root of the curvature of J in β: of the likelihood, and of violated constraints."""
        totals = self.block.totals(penalised.task.weights)
        violated = np.abs(penalised.multipliers(theta, 0.0)) > 0
        linear, width = self.block.linear, theta * (1.0 - theta)
        steep = self.squares.T @ np.where(violated, linear.confidences, 0.0)
        return np.asarray(1.0 / np.sqrt(totals * width + steep * width**2 + LEAST_CURVATURE), dtype=np.float64)


def _certificate(objective: SoftObjective, optimum: SoftOptimum, problem: Problem, theta: Numbers) -> Certificate:
    """How far hard statements are violated, and J's relative distance to its maximum; products are left out."""
    linear = problem.model.constraints.linear
    excess = linear.values(theta) - linear.bounds if len(linear) else np.zeros(0)
    excess = np.where(linear.equality, np.abs(excess), excess)[linear.hard]
    if not objective.block.size:
        return Certificate(0.0, 0.0)
    task = objective.with_weights(problem.vector()).task
    gap = certify(task, optimum.theta, objective.penalised.multipliers(optimum.theta, 0.0)).gap
    return Certificate(float(excess.max(initial=0.0)), gap)


def _weight_findings(problem: Problem, weights: PenaltyWeights) -> Iterable[Finding]:
    if problem.model.blocks:
        yield Finding(
            "penalty weights",
            f"A violated range lowers the log-likelihood by {weights.ranges:g}/2·λ·violation², a violated relation by "
            f"{weights.relations:g}/2·λ·violation². λ is the statement's confidence, 1 where it has none.",
        )
    if problem.model.constraints.products:
        yield Finding("products", "Violations of statements about products are measured in logarithms.")


def _violation_findings(block: Block, theta: Numbers) -> Iterable[Finding]:
    """How far statements are violated; constraints that weigh nothing are left out."""
    linear, amounts = block.linear, dict[int, float]()
    excess = linear.values(theta) - linear.bounds if len(linear) else np.zeros(0)
    excess = np.where(linear.equality, np.abs(excess), excess)
    logarithms = np.log(theta)
    products = [
        float(np.array(each.exponents) @ logarithms[list(each.indices)]) - each.log_bound for each in block.products
    ]
    statements = [*linear.statements.tolist(), *(each.statement for each in block.products)]
    for statement, amount in zip(statements, (*excess.tolist(), *products), strict=True):
        amounts[statement] = max(amounts.get(statement, 0.0), amount)
    violated = {statement: amount for statement, amount in amounts.items() if amount > NOTABLE}
    if violated:
        worst = max(violated, key=lambda statement: violated[statement])
        yield Finding(
            "missed",
            f"{len(violated):,} of {counted(len(amounts), 'statement')} {'is' if len(violated) == 1 else 'are'} "
            f"violated by more than {NOTABLE:g}; most of all statement {worst + 1}, by {violated[worst]:.3f}. "
            "fit.violations() lists them.",
        )
    elif amounts:
        yield Finding("missed", f"No statement is violated by more than {NOTABLE:g}.")


def _conflict_findings(problem: Problem, theta: Numbers) -> Iterable[Finding]:
    """Which statements without a confidence contradict each other, so that the result can only weigh them."""
    for conflicts in conflicts_behind(problem.model.blocks, theta).values():
        for conflict in conflicts:
            *others, last = [str(number + 1) for number in conflict.statements]
            several = f"Statements {', '.join(others)} and {last} cannot all hold"
            which = several if others else f"Statement {last} cannot hold"
            yield Finding("conflict", f"{which}: the result is a compromise.")


def _evaluation_findings(objective: SoftObjective, optimum: SoftOptimum) -> Iterable[Finding]:
    if objective.block.size:
        yield Finding("training", f"The gradient was followed for {counted(optimum.evaluations, 'evaluation')}.")


def _no_data_findings(problem: Problem, unseen: Mapping[str, list[int]]) -> Iterable[Finding]:
    constrained = problem.constrained_configurations()
    both = {name: set(unseen.get(name, ())) & set(own) for name, own in constrained.items()}
    return no_data_findings(problem.model.network, problem.model.names, unseen, both, AFTER_PENALTIES)


CO = Method(
    "co",
    "gradient with a penalty on what the knowledge forbids",
    "comparing with published results; cml solves the same problem exactly, and faster",
    estimate_co,
)
CEM = Method(
    "cem",
    "gradient with a penalty for every statement, by its confidence",
    "comparing with published results, or knowledge that contradicts itself; cmap with confidences is quicker",
    estimate_cem,
    cem_m_step,
    takes_prior=True,
    weighs_all_statements=True,
)

"""Training by gradient with an exterior penalty, as [altendorf 2005] and [yang, section 3] train: the baseline `co`.

θ = softmax(β) in each distribution needs no constraint of its own; what the statements ask for is bought:

    max_β  Σ w log θ − ω Σ_j max(0, violation_j)²,

with ω raised until no violation is above 1e-6, each time from where the last round ended; the first starts from the
uniform. A round goes by Newton's steps, where others go by the gradient alone, to the same optimum. It comes from
outside, so that what is left of a violation is small but not zero. It proves no optimum, but 2ω·violation are
multipliers, and their dual value bounds how far off it is. `cml` solves the same problem exactly; this one is here to
be compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.errors import Status
from credo.estimation.counting import counted
from credo.estimation.problem import Problem
from credo.estimation.soft import choose_soft_weight
from credo.estimation.solution import Solution, rows_without_data
from credo.estimation.solvers.certificate import Certificate, certify
from credo.estimation.solvers.interior_point import Task
from credo.estimation.solvers.lbfgs import minimise
from credo.findings import Finding
from credo.kernels.penalty import PricedRows, cost, newton, set_distributions, set_excess

FEASIBLE = 1e-6  # a violation that ends the training
FIRST_PENALTY, PENALTY_GROWTH, ROUNDS = 1.0, 10.0, 12  # ω, in units of the block's number of data
SLOPE = 1e-9  # where each round ends
LARGE = 500  # free numbers, from which Newton's matrix costs more than L-BFGS's many steps
NEWTON_STEPS, ITERATIONS = 100, 1_000  # at most, of each
SMOOTHING = 1e-6  # pseudo-counts a state: at zero a softmax has no slope, and nothing would lead back from there
NOTHING = -30.0  # a product that has to vanish has to fall below e⁻³⁰
WHAT_TRAINING_LEFT = "what the penalties left of the uniform distribution"


def estimate(problem: Problem) -> Solution:
    """Train every block, count the rest, and say which statements are still violated."""
    vector = problem.vector()
    soft_weight, findings = choose_soft_weight(problem, vector)
    theta, unseen = counted(problem, vector)
    trained = [train(Task(block, vector[block.parameters], None, soft_weight)) for block in problem.blocks]
    for each in trained:
        theta[each.block.parameters] = each.theta
    violated = list(_violated_findings(trained))
    findings = [*findings, *_no_data_findings(problem, unseen), *violated, *_gap_findings(trained)]
    certificate = Certificate(
        max((each.certificate.violation for each in trained), default=0.0),
        max((each.certificate.gap for each in trained), default=0.0),
    )
    status = Status.VIOLATED if violated else Status.NOT_CERTIFIED if trained else Status.EXACT
    return Solution(problem.cpts(theta), status, tuple(findings), certificate)


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """Where the training of one block ended: its point, and how far from feasible and from the optimum it can be."""

    block: Block
    theta: Numbers  # (parameters,)
    certificate: Certificate  # `violation` is the largest of linear rows (in θ) and products (in logarithms)
    evaluations: int


def train(task: Task) -> Trained:
    """Maximise with a penalty that grows until the rows hold; where none can, that is said instead."""
    penalised = Penalised.of(task)
    beta, evaluations = np.zeros(task.block.size), 0
    for number in range(ROUNDS):
        omega = FIRST_PENALTY * PENALTY_GROWTH**number
        beta, spent = penalised.descend(beta, omega)
        theta, evaluations = penalised.distributions(beta), evaluations + spent
        violation = penalised.violation(theta)
        if violation <= FEASIBLE:
            break
    else:
        if interior_of(task.block) is None:
            raise InfeasibleError  # no penalty would ever do
    certificate = certify(task, theta, penalised.multipliers(theta, omega))
    return Trained(task.block, theta, Certificate(max(certificate.violation, violation), certificate.gap), evaluations)


@dataclass(frozen=True, slots=True, eq=False)
class Penalised:
    """The penalised objective of one block as a function of β; per datum, so that ω means the same everywhere."""

    task: Task
    scale: float  # what the objective is divided by
    rows: PricedRows

    @classmethod
    def of(cls, task: Task) -> Penalised:
        block, linear, products = task.block, task.block.linear, task.block.products
        scale = max(1.0, float(task.weights.sum()))
        confidences = [np.nan if row.confidence is None else row.confidence for row in products]
        rows = PricedRows(
            block.distributions,
            block.distribution_of,
            np.cumsum([0, *linear.lengths, *(len(row.indices) for row in products)], dtype=np.int64),
            np.array([*linear.indices, *(index for row in products for index in row.indices)], dtype=np.int64),
            np.array([*linear.coefficients, *(value for row in products for value in row.exponents)], dtype=np.float64),
            np.array([*linear.bounds, *(max(row.log_bound, NOTHING) for row in products)], dtype=np.float64),
            np.array([*linear.equality, *(False for _ in products)], dtype=np.bool_),
            0.5 * task.soft_weight / scale * np.concatenate((linear.confidences, confidences)),
            len(linear),
        )
        return cls(task, scale, rows)

    @property
    def weights(self) -> Numbers:
        """Of log θ: above zero everywhere."""
        return (self.task.weights + SMOOTHING) / self.scale

    def distributions(self, beta: Numbers) -> Numbers:
        """θ = softmax(β) in each distribution."""
        theta = np.empty(len(beta))
        set_distributions(self.rows, beta, np.empty(len(beta)), theta)
        return theta

    def cost(self, beta: Numbers, omega: float) -> tuple[float, Numbers]:
        """What is minimised, −(Σ w log θ)/scale + ω Σ violation² + soft costs, and its gradient in β."""
        value, slope = cost(self.rows, self.weights, omega, beta)
        return value, slope

    def descend(self, beta: Numbers, omega: float) -> tuple[Numbers, int]:
        """The minimum for one ω, from β on, and how often the objective was worked out."""
        if len(beta) - len(self.rows.distributions) < LARGE:
            point = beta.copy()
            return point, newton(self.rows, self.weights, omega, point, NEWTON_STEPS, SLOPE)
        found = minimise(partial(self.cost, omega=omega), beta, ITERATIONS, SLOPE)
        return found.point, found.evaluations

    def violation(self, theta: Numbers) -> float:
        """The largest violation of a hard row."""
        return float(np.abs(self._missed(theta))[np.isnan(self.rows.prices)].max(initial=0.0))

    def multipliers(self, theta: Numbers, omega: float) -> Numbers:
        """What the penalty pulls at each linear row with: 2ω·violation."""
        prices = np.where(np.isnan(self.rows.prices), omega, self.rows.prices)
        return np.asarray((2.0 * self.scale * prices * self._missed(theta))[: self.rows.linear], dtype=np.float64)

    def _missed(self, theta: Numbers) -> Numbers:
        excess = np.empty(len(self.rows.bounds))
        set_excess(self.rows, np.log(np.maximum(theta, np.exp(2 * NOTHING))), theta, excess)
        return np.where(self.rows.equality, excess, np.maximum(excess, 0.0))


def _violated_findings(trained: Sequence[Trained]) -> Iterable[Finding]:
    for each in trained:
        if each.certificate.violation > FEASIBLE:
            name, row = each.block.configurations[0]
            message = f"The block of {name} (row {row + 1}) ended with a violation of {each.certificate.violation:.1e}."
            yield Finding("violated", message, name)


def _gap_findings(trained: Sequence[Trained]) -> Iterable[Finding]:
    if trained:
        worst = max(each.certificate.gap for each in trained)
        evaluations = sum(each.evaluations for each in trained)
        yield Finding(
            "training",
            f"{len(trained)} blocks were trained by gradient, {evaluations} evaluations in all; "
            f"the objective is at most {worst:.1e} (relatively) from the optimum.",
        )


def _no_data_findings(problem: Problem, unseen: dict[str, list[int]]) -> Iterable[Finding]:
    spoken_of = problem.rows_in_blocks()
    for name in problem.names:
        rows, inside = set(unseen.get(name, [])), set(spoken_of.get(name, []))
        for part, instead in ((rows - inside, "the uniform distribution"), (rows & inside, WHAT_TRAINING_LEFT)):
            if part:
                yield rows_without_data(problem.network, name, np.array(sorted(part)), instead)

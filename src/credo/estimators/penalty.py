"""Training by gradient with an exterior penalty, as [altendorf 2005] and [yang, section 3] train: the baseline `co`.

θ = softmax(β) in each distribution needs no constraint of its own; what the statements ask for is bought:

    max_β  Σ w log θ − ω Σ_j max(0, violation_j)²,

with ω raised until no violation is above 1e-6, each time from where the last round ended; the first starts from the
uniform. It comes from outside, so that what is left of a violation is small but not zero. It proves no optimum, but
2ω·violation are multipliers, and their dual value bounds how far off it is. `cml` solves the same problem exactly;
this one is here to be compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.feasibility import interior_of
from credo.constraints.rows import Numbers
from credo.errors import Status
from credo.estimators.counting import counted
from credo.estimators.problem import Problem
from credo.estimators.soft import choose_soft_weight
from credo.estimators.solution import Finding, Solution, rows_without_data
from credo.estimators.solvers.block_estimates import Infeasible
from credo.estimators.solvers.certificate import Certificate, certify
from credo.estimators.solvers.interior_point import Task
from credo.estimators.solvers.quasi_newton import minimise

FEASIBLE = 1e-6  # a violation that ends the training
FIRST_PENALTY, PENALTY_GROWTH, ROUNDS = 1.0, 10.0, 12  # ω, in units of the block's number of data
ITERATIONS, SLOPE = 1_000, 1e-9  # where L-BFGS ends each round
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
    return Solution(problem.tables(theta), status, tuple(findings), certificate)


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
        found = minimise(partial(penalised.cost, omega=omega), beta, ITERATIONS, SLOPE)
        beta, evaluations = found.point, evaluations + found.evaluations
        theta = penalised.distributions(beta)
        if penalised.violation(theta) <= FEASIBLE:
            break
        if number == 1 and interior_of(task.block) is None:
            raise Infeasible  # no penalty would ever do
    certificate = certify(task, theta, penalised.multipliers(theta, omega))
    worst = max(certificate.violation, penalised.violation(theta))
    return Trained(task.block, theta, Certificate(worst, certificate.gap), evaluations)


@dataclass(frozen=True, slots=True, eq=False)
class Penalised:
    """The penalised objective of one block as a function of β, with its gradient; per datum, so that ω means the same.

    Gradients are taken in log θ first; the softmax's full Jacobian then makes v − θ · Σ_d v of them, d being the
    distribution. For the likelihood alone that is N_k − θ_k N.
    """

    task: Task
    scale: float  # what the objective is divided by
    coefficients: Numbers  # (rows, parameters)
    exponents: Numbers  # (products, parameters)
    log_bounds: Numbers  # (products,)
    product_confidences: Numbers  # (products,) NaN where hard

    @classmethod
    def of(cls, task: Task) -> Penalised:
        products = task.block.products
        exponents = np.zeros((len(products), task.block.size))
        for number, row in enumerate(products):
            np.add.at(exponents[number], list(row.indices), row.exponents)
        return cls(
            task,
            max(1.0, float(task.weights.sum())),
            task.block.linear.matrix(task.block.size),
            exponents,
            np.maximum([row.log_bound for row in products], NOTHING),
            np.array([np.nan if row.confidence is None else row.confidence for row in products]),
        )

    def distributions(self, beta: Numbers) -> Numbers:
        """θ = softmax(β) in each distribution."""
        return np.asarray(np.exp(self._log_distributions(beta)), dtype=np.float64)

    def _log_distributions(self, beta: Numbers) -> Numbers:
        first, of = self.task.block.distributions[:-1], self.task.block.distribution_of
        shifted = beta - np.maximum.reduceat(beta, first)[of]
        return np.asarray(shifted - np.log(np.add.reduceat(np.exp(shifted), first))[of], dtype=np.float64)

    def cost(self, beta: Numbers, omega: float) -> tuple[float, Numbers]:
        """What is minimised, −(Σ w log θ)/scale + ω Σ violation² + soft costs, and its gradient in β."""
        block, weights = self.task.block, (self.task.weights + SMOOTHING) / self.scale
        log_theta = self._log_distributions(beta)
        theta = np.exp(log_theta)
        missed, product_missed = self._missed(theta), self._product_missed(log_theta)
        price, product_price = self._prices(omega)
        value = -weights @ log_theta + price @ missed**2 + product_price @ product_missed**2
        slope = -weights + theta * (self.coefficients.T @ (2.0 * price * missed))
        slope += (2.0 * product_price * product_missed) @ self.exponents
        totals = np.add.reduceat(slope, block.distributions[:-1])[block.distribution_of]
        return float(value), np.asarray(slope - theta * totals, dtype=np.float64)

    def violation(self, theta: Numbers) -> float:
        """The largest violation of a hard row."""
        rows = self.task.block.linear
        with np.errstate(divide="ignore"):
            products = self._product_missed(np.maximum(np.log(theta), 2 * NOTHING))
        linear = np.abs(self._missed(theta)[rows.hard]).max(initial=0.0)
        return float(max(linear, products[np.isnan(self.product_confidences)].max(initial=0.0)))

    def multipliers(self, theta: Numbers, omega: float) -> Numbers:
        """What the penalty pulls at each linear row with: 2ω·violation."""
        return np.asarray(2.0 * self.scale * self._prices(omega)[0] * self._missed(theta), dtype=np.float64)

    def _missed(self, theta: Numbers) -> Numbers:
        rows = self.task.block.linear
        excess = self.coefficients @ theta - rows.bounds
        return np.asarray(np.where(rows.equality, excess, np.maximum(excess, 0.0)), dtype=np.float64)

    def _product_missed(self, log_theta: Numbers) -> Numbers:
        return np.maximum(self.exponents @ log_theta - self.log_bounds, 0.0)

    def _prices(self, omega: float) -> tuple[Numbers, Numbers]:
        """What a unit of squared violation costs: ω of a hard row, (W/2)·C of a soft one."""
        confidences = self.task.block.linear.confidences
        half = 0.5 * self.task.soft_weight / self.scale
        soft = half * np.nan_to_num(confidences), half * np.nan_to_num(self.product_confidences)
        return (
            np.where(np.isnan(confidences), omega, soft[0]),
            np.where(np.isnan(self.product_confidences), omega, soft[1]),
        )


def _violated_findings(trained: Sequence[Trained]) -> Iterable[Finding]:
    for each in trained:
        if each.certificate.violation > FEASIBLE:
            name, row = each.block.table_rows[0]
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

"""The optimum with constraints as costs and distributions as softmax, which also guides what has products.

    max_β  Σ w log θ − ω Σ_hard max(0, violation)² − (W/2) Σ_soft C·max(0, violation)²,     θ = softmax(β)

in each conditional distribution, which needs no constraint of its own [liao, eqs. 5 and 6; yang, algorithm 1].
Violations of statements about products are measured in logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.core.softmax_penalty import SoftmaxPenalty
from credo.estimation.solvers.block_solver import Task, solve_tasks
from credo.estimation.solvers.certificate import Certificate, certify
from credo.types import Flags, Numbers

FEASIBLE = 1e-6  # a violation that ends the rounds of a growing ω
FIRST_PENALTY, PENALTY_GROWTH, ROUNDS = 1.0, 10.0, 12  # ω, in units of the number of data
GRADIENT_TOLERANCE = 1e-9  # where each round ends
STATIONARY = 1e-6  # a gradient above this, in nats a datum, is that of a training that was cut short
NEWTON_STEPS = 100  # at most, in a round
SMALLEST_START = 1e-12  # θ: from zero there is no way back
LARGE = 96  # free states, above which training begins near the optimum
SMOOTHING = 1e-6  # pseudo-counts a state: a softmax cannot leave zero
LOG_ZERO = -30.0  # a product that has to vanish has to fall below e⁻³⁰


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedObjective:
    """The objective of one block as a function of β, divided by the number of data so that ω means the same for all."""

    task: Task
    scale: float
    program: SoftmaxPenalty  # linear constraints first, then products
    penalties: Numbers  # (constraints,) of soft ones; NaN of hard ones, whose penalty is ω
    equality: Flags  # (constraints,)

    @classmethod
    def of(cls, task: Task) -> PenalisedObjective:
        block, linear, products = task.block, task.block.linear, task.block.products
        scale = max(1.0, float(task.weights.sum()))
        confidences = [np.nan if each.confidence is None else each.confidence for each in products]
        penalties = 0.5 * task.soft_weight / scale * np.concatenate((linear.confidences, confidences))
        equality = np.concatenate((linear.equality, np.zeros(len(products), dtype=np.bool_)))
        starts = np.cumsum([0, *linear.lengths, *(len(each.indices) for each in products)], dtype=np.int64)
        program = SoftmaxPenalty(
            block.distributions,
            starts,
            np.array([*linear.indices, *(index for each in products for index in each.indices)], dtype=np.int64),
            np.array([*linear.coefficients, *(value for each in products for value in each.exponents)], dtype=float),
            np.array([*linear.bounds, *(max(each.log_bound, LOG_ZERO) for each in products)], dtype=np.float64),
            equality,
            penalties,
            len(linear),
        )
        return cls(task, scale, program, penalties, equality)

    @property
    def weights(self) -> Numbers:
        """Of log θ: above zero everywhere."""
        return (self.task.weights + SMOOTHING) / self.scale

    def distributions(self, beta: Numbers) -> Numbers:
        """θ = softmax(β) in each conditional distribution."""
        return np.asarray(self.program.distributions_of(beta), dtype=np.float64)

    def cost(self, beta: Numbers, omega: float) -> tuple[float, Numbers]:
        """What is minimised, −(Σ w log θ)/scale + ω Σ violation² + soft costs, and its gradient in β."""
        return self.cost_with(self.weights, beta, omega)

    def cost_with(self, weights: Numbers, beta: Numbers, omega: float) -> tuple[float, Numbers]:
        """The same with other weights of log θ."""
        value, gradient = self.program.cost(weights, omega, beta)
        return value, gradient

    def minimise(self, beta: Numbers, omega: float) -> tuple[Numbers, int]:
        """The minimum for one ω, starting at β, and the number of evaluations."""
        if self.task.block.size == len(self.task.block.distributions) - 1:
            return beta, 0  # every variable has one state
        point, evaluations = self.program.minimise(self.weights, omega, beta, NEWTON_STEPS, GRADIENT_TOLERANCE)
        return point, evaluations

    def start(self, omega: float) -> Numbers:
        """Where the first round starts: at the uniform distribution.

        Large blocks without products have one minimum only, and the interior point, to which the penalties are soft
        constraints, is the quickest way to its neighbourhood.
        """
        task, linear = self.task, self.task.block.linear
        free = task.block.size - len(task.block.configurations)
        if task.block.products or free <= LARGE:
            return np.zeros(task.block.size)
        penalties = np.where(linear.hard, omega, self.penalties[: len(linear)])
        block = replace(task.block, linear=replace(linear, confidences=2.0 * penalties)).take(penalties > 0.0)
        (point,) = solve_tasks([Task(block, self.weights, None, 1.0)])
        return np.log(np.maximum(point.theta, SMALLEST_START)) if point.converged else np.zeros(task.block.size)

    def violation(self, theta: Numbers) -> float:
        """The largest violation of a hard constraint."""
        return float(np.abs(self._violations(theta))[np.isnan(self.penalties)].max(initial=0.0))

    def multipliers(self, theta: Numbers, omega: float) -> Numbers:
        """The multiplier that the penalty gives each linear constraint: 2ω·violation."""
        penalties = np.where(np.isnan(self.penalties), omega, self.penalties)
        found = (2.0 * self.scale * penalties * self._violations(theta))[: len(self.task.block.linear)]
        return np.asarray(found, dtype=np.float64)

    def _violations(self, theta: Numbers) -> Numbers:
        excess = self.program.excess_at(np.log(np.maximum(theta, np.exp(2 * LOG_ZERO))), theta)
        return np.asarray(np.where(self.equality, excess, np.maximum(excess, 0.0)), dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedBlock:
    """Where the training of one block ended, and how far from feasible and from the optimum it can be."""

    block: Block
    theta: Numbers  # (parameters,)
    certificate: Certificate  # `violation` is the largest of linear constraints (in θ) and products (in logarithms)
    evaluations: int
    converged: bool  # whether the last round reached its optimum


def train(task: Task) -> TrainedBlock:
    """Maximise with a penalty that grows until the constraints hold; an error where they cannot."""
    objective = PenalisedObjective.of(task)
    beta, evaluations = objective.start(FIRST_PENALTY), 0
    for number in range(ROUNDS):
        omega = FIRST_PENALTY * PENALTY_GROWTH**number
        beta, spent = objective.minimise(beta, omega)
        theta, evaluations = objective.distributions(beta), evaluations + spent
        violation = objective.violation(theta)
        if violation <= FEASIBLE:
            break
    else:
        if interior_of(task.block) is None:
            raise InfeasibleError  # no penalty would ever be enough
    certificate = certify(task, theta, objective.multipliers(theta, omega))
    certificate = Certificate(max(certificate.violation, violation), certificate.gap)
    _, slope = objective.cost(beta, omega)
    return TrainedBlock(task.block, theta, certificate, evaluations, bool(np.abs(slope).max() <= STATIONARY))

"""The penalised objective that co, cem and the gradient trainer share: constraints as costs, distributions as softmax.

    max_β  Σ w log θ − ω Σ_hard max(0, violation)² − (W/2) Σ_soft C·max(0, violation)²,     θ = softmax(β)

in each conditional distribution, which needs no constraint of its own [liao, eqs. 5 and 6; yang, algorithm 1].
Violations of statements about products are measured in logarithms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import ProductConstraint, joined
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.estimation.problem import Problem
from credo.estimation.solvers.active_constraints import solve_in_rounds
from credo.estimation.solvers.certificate import Certificate, certify
from credo.estimation.solvers.interior_point import Task
from credo.estimation.solvers.penalty_newton import newton_plain
from credo.estimation.solvers.softmax_penalty import cost, excesses, log_softmax
from credo.estimation.solvers.tasks import unknowns
from credo.options import check_weight
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from credo.kernels.penalty import PenalisedConstraints

FEASIBLE = 1e-6  # a violation that ends the rounds of a growing ω
FIRST_PENALTY, PENALTY_GROWTH, ROUNDS = 1.0, 10.0, 12  # ω, in units of the number of data
GRADIENT_TOLERANCE = 1e-9  # where each round ends
STATIONARY = 1e-6  # a gradient above this, in nats a datum, is that of a training that was cut short
NEWTON_STEPS = 100  # at most, in a round
# A block trained by plain NumPy takes about 30 ms and 0.7 ms an unknown; compiled steps take a hundredth of that, but
# compiling them takes a quarter of a minute. Together, small blocks take a second at most.
PLAIN_WORK, WORK_PER_BLOCK = 1_400, 40  # unknowns; what a block costs besides its own
LARGE = 500  # free parameters, from which plain code with its sparse matrices is the quicker one
SMALLEST_START = 1e-12  # θ: from zero there is no way back
SMOOTHING = 1e-6  # pseudo-counts a state: a softmax cannot leave zero
LOG_ZERO = -30.0  # a product that has to vanish has to fall below e⁻³⁰
FULL_CONFIDENCE = 1.0  # λ of a statement without a confidence
# W for each row of data, where none is given. A unit of squared violation then costs as much as ten rows for every row
# of data say: a statement without a confidence yields to data only where those contradict it clearly.
WEIGHT_PER_ROW = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedObjective:
    """The objective of one block as a function of β, divided by the number of data so that ω means the same for all."""

    task: Task
    scale: float
    constraints: PenalisedConstraints  # flat arrays for the compiled loops; linear constraints first, then products

    @classmethod
    def of(cls, task: Task) -> PenalisedObjective:
        from credo.kernels.penalty import PenalisedConstraints

        block, linear, products = task.block, task.block.linear, task.block.products
        scale = max(1.0, float(task.weights.sum()))
        confidences = [np.nan if each.confidence is None else each.confidence for each in products]
        arrays = PenalisedConstraints(
            block.distributions,
            block.distribution_of,
            np.cumsum([0, *linear.lengths, *(len(each.indices) for each in products)], dtype=np.int64),
            np.array([*linear.indices, *(index for each in products for index in each.indices)], dtype=np.int64),
            np.array([*linear.coefficients, *(value for each in products for value in each.exponents)], dtype=float),
            np.array([*linear.bounds, *(max(each.log_bound, LOG_ZERO) for each in products)], dtype=np.float64),
            np.array([*linear.equality, *(False for _ in products)], dtype=np.bool_),
            0.5 * task.soft_weight / scale * np.concatenate((linear.confidences, confidences)),
            len(linear),
        )
        return cls(task, scale, arrays)

    @property
    def weights(self) -> Numbers:
        """Of log θ: above zero everywhere."""
        return (self.task.weights + SMOOTHING) / self.scale

    def distributions(self, beta: Numbers) -> Numbers:
        """θ = softmax(β) in each conditional distribution."""
        return np.asarray(np.exp(log_softmax(self.constraints, beta)))

    def cost(self, beta: Numbers, omega: float) -> tuple[float, Numbers]:
        """What is minimised, −(Σ w log θ)/scale + ω Σ violation² + soft costs, and its gradient in β."""
        return self.cost_with(self.weights, beta, omega)

    def cost_with(self, weights: Numbers, beta: Numbers, omega: float) -> tuple[float, Numbers]:
        """The same with other weights of log θ."""
        return cost(self.constraints, weights, omega, beta)

    @property
    def is_large(self) -> bool:
        """Whether a dense matrix over the free parameters is too much."""
        return self.task.block.size - len(self.task.block.distributions) >= LARGE

    def minimise(self, beta: Numbers, omega: float, plain: bool = True) -> tuple[Numbers, int]:
        """The minimum for one ω, starting at β, and the number of evaluations."""
        if self.task.block.size == len(self.task.block.distributions) - 1:
            return beta, 0  # every variable has one state
        arguments = self.constraints, self.weights, omega, beta, NEWTON_STEPS, GRADIENT_TOLERANCE
        if plain or self.is_large:
            return newton_plain(*arguments)
        from credo.kernels.penalty import newton

        point, evaluations = newton(*arguments)
        return point, evaluations

    def start(self, omega: float) -> Numbers:
        """Where the first round starts: at the uniform distribution.

        Large blocks without products have one minimum only, and the interior point, to which the penalties are soft
        constraints, is the quickest way to its neighbourhood.
        """
        task, linear = self.task, self.task.block.linear
        if task.block.products or not self.is_large:
            return np.zeros(task.block.size)
        penalties = np.where(linear.hard, omega, self.constraints.penalties[: len(linear)])
        some = penalties > 0.0
        linear = replace(linear, confidences=2.0 * penalties).take(some)
        block = replace(task.block, linear=linear, constraint_numbers=task.block.constraint_numbers[some])
        (point,) = solve_in_rounds([Task(block, self.weights, None, 1.0)])
        return np.log(np.maximum(point.theta, SMALLEST_START)) if point.converged else np.zeros(task.block.size)

    def violation(self, theta: Numbers) -> float:
        """The largest violation of a hard constraint."""
        return float(np.abs(self._violations(theta))[np.isnan(self.constraints.penalties)].max(initial=0.0))

    def multipliers(self, theta: Numbers, omega: float) -> Numbers:
        """The multiplier that the penalty gives each linear constraint: 2ω·violation."""
        penalties = np.where(np.isnan(self.constraints.penalties), omega, self.constraints.penalties)
        found = (2.0 * self.scale * penalties * self._violations(theta))[: self.constraints.linear]
        return np.asarray(found, dtype=np.float64)

    def _violations(self, theta: Numbers) -> Numbers:
        excess = excesses(self.constraints, np.log(np.maximum(theta, np.exp(2 * LOG_ZERO))), theta)
        return np.where(self.constraints.equality, excess, np.maximum(excess, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class TrainedBlock:
    """Where the training of one block ended, and how far from feasible and from the optimum it can be."""

    block: Block
    theta: Numbers  # (parameters,)
    certificate: Certificate  # `violation` is the largest of linear constraints (in θ) and products (in logarithms)
    evaluations: int
    converged: bool  # whether the last round reached its optimum


def is_small(blocks: Sequence[Block]) -> bool:
    """Whether plain code trains all of these blocks before anybody notices."""
    return sum(WORK_PER_BLOCK + unknowns(block) for block in blocks) <= PLAIN_WORK


def train(task: Task, plain: bool = True) -> TrainedBlock:
    """Maximise with a penalty that grows until the constraints hold; an error where they cannot.

    `plain` says whether NumPy does this, or compiled code; both end at the same point.
    """
    objective = PenalisedObjective.of(task)
    beta, evaluations = objective.start(FIRST_PENALTY), 0
    for number in range(ROUNDS):
        omega = FIRST_PENALTY * PENALTY_GROWTH**number
        beta, spent = objective.minimise(beta, omega, plain)
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


# All statements as penalties ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PenaltyWeights:
    """w₁ of ranges, which bound one parameter, and w₂ of relations, which compare several [liao, eq. 5]."""

    ranges: float
    relations: float

    @classmethod
    def of(cls, problem: Problem) -> PenaltyWeights:
        """The user's weights; where they are not given, W for both, which grows with the data.

        More data then do not make the same statement count for less.
        """
        if problem.soft_weight is None:
            both = WEIGHT_PER_ROW * max(1, problem.counts.rows)
        else:
            both = check_weight("soft_weight", problem.soft_weight)
        given = problem.options.penalty
        return cls(
            both if given.range_weight is None else given.range_weight,
            both if given.relation_weight is None else given.relation_weight,
        )


def soft_block(problem: Problem, weights: PenaltyWeights) -> Block:
    """All blocks as one with soft constraints only."""
    return softened(joined_block(problem.blocks), weights)


def softened_problem(problem: Problem) -> Problem:
    """The problem with soft constraints only, all with their weights: what cem solves, for what else is asked of it."""
    weights = PenaltyWeights.of(problem)
    return replace(problem, blocks=tuple(softened(block, weights) for block in problem.blocks), soft_weight=1.0)


def softened(block: Block, weights: PenaltyWeights) -> Block:
    """The block with soft constraints only: (1/2)·confidence·violation², the confidence being λ·w.

    Constraints that weigh nothing are left out.
    """
    linear = block.linear
    confidences = np.where(linear.hard, FULL_CONFIDENCE, linear.confidences)
    confidences *= np.where(linear.lengths == 1, weights.ranges, weights.relations)
    positive = confidences > 0
    products = tuple(_soft_product(each, weights.relations) for each in block.products) if weights.relations else ()
    return replace(
        block,
        linear=replace(linear, confidences=confidences).take(positive),
        constraint_numbers=block.constraint_numbers[positive],
        products=products,
    )


def joined_block(blocks: Sequence[Block]) -> Block:
    """Blocks side by side as one: one gradient for all of them takes little longer than that of the largest."""
    firsts = np.cumsum([0, *(block.size for block in blocks)])[:-1].tolist()
    sizes = [np.diff(block.distributions) for block in blocks]
    return Block(
        tuple(each for block in blocks for each in block.configurations),
        _joined_indices([block.parameters for block in blocks]),
        np.concatenate(([0], np.cumsum(_joined_indices(sizes)))).astype(np.int64),
        np.repeat(np.arange(sum(map(len, sizes))), _joined_indices(sizes)),
        joined([block.linear for block in blocks], firsts),
        _joined_indices([block.constraint_numbers for block in blocks]),
        tuple(
            replace(each, indices=tuple(index + first for index in each.indices))
            for block, first in zip(blocks, firsts, strict=True)
            for each in block.products
        ),
    )


def _soft_product(product: ProductConstraint, weight: float) -> ProductConstraint:
    confidence = FULL_CONFIDENCE if product.confidence is None else product.confidence
    return replace(product, confidence=confidence * weight)


def _joined_indices(parts: Sequence[Indices]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

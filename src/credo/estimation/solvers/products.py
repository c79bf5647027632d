"""Blocks with product constraints, Σ e log θ ≤ log bound [guo, table 1, type 8]: local optima by convex steps.

Such a constraint is not convex in θ, but it is the difference of two convex functions. At a point θ⁰ its concave part
lies below its tangent, Σ_{e>0} e (log θ⁰ + (θ − θ⁰)/θ⁰). With the tangent in its place, what is left,

    Σ_{e>0} e (θ/θ⁰ − 1 + log θ⁰) − Σ_{e<0} |e| log θ ≤ log bound,

is convex and never weaker than the constraint itself: whatever satisfies it satisfies the constraint. Solving under
it, and again from there, the objective falls and every point is feasible [yuille & rangarajan 2003]. The logarithms
that remain are bounded from outside by tangents, added where they cut off the last point [kelley 1960], so that each
problem has linear constraints only. A soft product constraint costs (W/2)·C·(violation of its logarithm)², and is a
soft linear constraint at θ⁰.

It starts from several points and goes on from the best end. The optimum without product constraints is a lower bound.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block, with_constraints
from credo.constraints.feasibility import InfeasibleError, Interior, interior_of
from credo.constraints.product_feasibility import product_finding
from credo.constraints.program import Program
from credo.estimation.solvers.block_estimates import BlockEstimate, solve_certified
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import Certificate, certify, lower_bound, objective, relative_gap
from credo.estimation.solvers.penalised import train
from credo.estimation.solvers.product_multipliers import optimum_by_multipliers
from credo.types import Numbers

STARTS = 8
STEPS, CUTS = 60, 40
HOLDS = 1e-9  # of a product constraint, in logarithms: where cutting ends
LIMIT = 1e-8  # a product constraint that misses by more is violated
SMALLEST = 1e-6  # where tangents of logarithms are taken at least; steeper ones would drown the other factors
ROUGH_PROGRESS = 1e-5  # relative; where the steps from several starts end
PROGRESS = 1e-10  # where those from the best of their ends do
FILL = 1e-5  # entropy of distributions without data: among what is equally likely, the most even
LOCAL = "convex steps from several starts, because its statements compare products"


def with_products(estimates: Sequence[BlockEstimate], seed: int) -> list[BlockEstimate]:
    """The same, with the product constraints of the blocks; where these hold already, the estimate stays optimal."""
    return [_with_products(each, seed) if each.block.products else each for each in estimates]


def _with_products(relaxed: BlockEstimate, seed: int) -> BlockEstimate:
    products = ProductConstraints.of(relaxed.block, relaxed.task.soft_weight)
    if products.missed(relaxed.theta).max(initial=0.0) <= HOLDS:
        return relaxed
    proved = optimum_by_multipliers(relaxed, products)
    if proved is not None:
        return proved
    interior = interior_of(relaxed.block)
    if interior is None:
        raise InfeasibleError
    task = _filled(relaxed.task)
    bound = lower_bound(relaxed.task, relaxed.multipliers)
    starts = list(_starts(relaxed, interior, products, seed))
    descents = [descend(task, products, start, at_zero, ROUGH_PROGRESS) for start, at_zero in starts]
    ends = list(zip(descend_together(descents), starts, strict=True))
    found = [(end, at_zero) for end, (_, at_zero) in ends if end is not None]
    if not found:
        if product_finding(relaxed.block, interior, Program(relaxed.block)).conflict is not None:
            raise InfeasibleError
        missed = float(products.missed(relaxed.theta)[products.hard].max())
        return relaxed._replace(certificate=replace(relaxed.certificate, violation=missed), product_violation=missed)
    best, at_zero = min(found, key=lambda pair: pair[0].value)
    (finished,) = descend_together([descend(task, products, best.theta, at_zero)])
    best = best if finished is None or finished.value > best.value else finished
    certificate = certify(relaxed.task, best.theta, best.multipliers)
    missed = float(products.missed(best.theta)[products.hard].max(initial=0.0))
    value = objective(relaxed.task, best.theta) + products.soft_cost(best.theta)
    gap = relative_gap(value, bound, float(relaxed.task.weights.sum()))
    return relaxed._replace(
        theta=best.theta,
        multipliers=best.multipliers,
        solver=LOCAL,
        certificate=Certificate(max(certificate.violation, missed), gap),
        local=True,
        product_violation=missed,
        product_multipliers=tuple(zip(products.statements, best.product_multipliers.tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ProductConstraints:
    """All product constraints of a block as a matrix over log θ; those with a bound of −∞ say that a factor is zero."""

    exponents: Numbers  # (constraints, parameters)
    log_bounds: Numbers  # (constraints,)
    costs: Numbers  # (constraints,) W·C of soft ones, NaN where hard
    statements: tuple[int, ...]  # of each constraint
    vanishing: tuple[tuple[int, ...], ...]  # factors one of which is zero

    @classmethod
    def of(cls, block: Block, soft_weight: float) -> ProductConstraints:
        wanted = [each for each in block.products if each.confidence is None or soft_weight > 0]
        kept = [each for each in wanted if np.isfinite(each.log_bound)]
        exponents = np.zeros((len(kept), block.size))
        for number, each in enumerate(kept):
            np.add.at(exponents[number], list(each.indices), each.exponents)
        confidences = np.array([np.nan if each.confidence is None else each.confidence for each in kept])
        vanishing = [
            tuple(index for index, exponent in zip(each.indices, each.exponents, strict=True) if exponent > 0)
            for each in wanted
            if each.log_bound == -np.inf and each.confidence is None
        ]
        bounds = np.array([each.log_bound for each in kept])
        statements = tuple(each.statement for each in kept)
        return cls(exponents, bounds, soft_weight * confidences, statements, tuple(vanishing))

    @property
    def hard(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which constraints are hard; those that say that a factor is zero come last."""
        return np.concatenate((np.isnan(self.costs), np.ones(len(self.vanishing), dtype=np.bool_)))

    def missed(self, theta: Numbers) -> Numbers:
        """How far each constraint is from holding: in logarithms, or the smallest factor where one must be zero."""
        logs = np.log(np.maximum(theta, 1e-300))
        excess = np.maximum(self.exponents @ logs - self.log_bounds, 0.0)
        return np.concatenate((excess, [min(theta[list(factors)]) for factors in self.vanishing]))

    def soft_cost(self, theta: Numbers) -> float:
        """(W/2)·C·violation² of the soft constraints."""
        soft = ~np.isnan(self.costs)
        return float(0.5 * self.costs[soft] @ self.missed(theta)[: len(self.costs)][soft] ** 2)

    def tangents(self, above: Numbers, below: Numbers) -> tuple[Numbers, Numbers]:
        """Coefficients (constraints, parameters) and bounds, with the tangent of log θ in its place.

        The tangent is taken at `above` where e > 0, and at `below` where e < 0.
        """
        point = np.maximum(np.where(self.exponents > 0, above, below), SMALLEST)
        coefficients = self.exponents / point
        return coefficients, self.log_bounds - (self.exponents * (np.log(point) - 1.0)).sum(axis=1)

    def missed_convex(self, theta: Numbers, above: Numbers) -> Numbers:
        """How far θ is from the convex constraints that have their tangents at `above`."""
        up, down = np.maximum(self.exponents, 0.0), np.minimum(self.exponents, 0.0)
        base = np.maximum(above, SMALLEST)
        value = up @ (theta / base - 1.0 + np.log(base))
        return np.asarray(value + down @ np.log(np.maximum(theta, 1e-300)) - self.log_bounds, dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """Where the steps from one start ended."""

    theta: Numbers
    value: float  # objective and soft costs
    multipliers: Numbers  # of the block's linear constraints
    product_multipliers: Numbers  # (finite product constraints,) per unit of the logarithm of the bound


# What asks for the optimum of one task after another, is answered (None: infeasible), and returns its result.
Descent = Generator[Task, BlockEstimate | None, "End | None"]


def descend_together(descents: Sequence[Descent]) -> list[End | None]:
    """Run descents side by side, so that their tasks are solved in one call."""
    ends: list[End | None] = [None] * len(descents)
    answers: dict[int, BlockEstimate | None] = dict.fromkeys(range(len(descents)))
    while answers:
        asked: dict[int, Task] = {}
        for number, answer in answers.items():
            try:
                asked[number] = descents[number].send(answer)
            except StopIteration as stop:
                ends[number] = stop.value
        answers = dict(zip(asked, _solved(list(asked.values())), strict=True))
    return ends


def _solved(tasks: list[Task]) -> list[BlockEstimate | None]:
    """The optimum of each task, None where it is infeasible."""
    try:
        return list(solve_certified(tasks))
    except InfeasibleError:
        if len(tasks) == 1:
            return [None]
        return [answer for task in tasks for answer in _solved([task])]


def descend(
    task: Task, products: ProductConstraints, start: Numbers, at_zero: Sequence[int] = (), progress: float = PROGRESS
) -> Descent:
    """Convex steps from a point, feasible or not; None where the constraints around it leave nothing."""
    task = task._replace(block=_with_zeros(task.block, at_zero))
    point, value, end = start, np.inf, None
    for _ in range(STEPS):
        found = yield from _step(task, products, point)
        if found is None:
            break
        theta, reached = found.theta, found.value
        if end is not None and not np.isnan(products.costs).all():
            # Tangents of soft constraints hold only nearby: go as far as it helps. All on the way is feasible.
            share = 1.0
            while reached > value and share > 1e-3:
                share *= 0.5
                theta = (1.0 - share) * point + share * found.theta
                reached = objective(task, theta) + products.soft_cost(theta)
        if reached >= value - progress * max(1.0, abs(value)):
            if reached < value or end is None:
                end = replace(found, theta=theta, value=reached)
            break
        point, value = theta, reached
        end = replace(found, theta=theta, value=reached)
    if end is None:
        return None
    count = len(task.block.linear) - len(at_zero)
    return replace(end, multipliers=end.multipliers[:count])


def _step(task: Task, products: ProductConstraints, above: Numbers) -> Descent:
    """The minimum under the constraints made convex at `above`; tangents are added until none is missed."""
    hard = np.isnan(products.costs)
    block, count = task.block, len(task.block.linear)
    coefficients, bounds = products.tangents(above, above)
    which = np.arange(len(bounds))
    confidences = np.where(hard, np.nan, products.costs / max(task.soft_weight, 1e-300))
    block, scales = _with_tangents(block, coefficients, bounds, confidences)
    for left in reversed(range(CUTS)):
        answer = yield task._replace(block=block)
        if answer is None:
            return None
        found = answer
        missed = np.where(hard, products.missed_convex(found.theta, above), 0.0)
        if missed.max(initial=0.0) <= HOLDS or left == 0:
            break
        cut = np.flatnonzero(missed > 0.0)
        coefficients, bounds = products.tangents(above, found.theta)
        block, more = _with_tangents(block, coefficients[cut], bounds[cut] - 0.5 * HOLDS, np.full(len(cut), np.nan))
        which, scales = np.concatenate((which, cut)), np.concatenate((scales, more))
    if found.certificate.violation > HOLDS or products.missed(found.theta)[: len(hard)][hard].max(initial=0.0) > LIMIT:
        return None
    product_multipliers = np.zeros(len(hard))
    np.add.at(product_multipliers, which, found.multipliers[count:] / scales)
    value = objective(task, found.theta) + products.soft_cost(found.theta)
    return End(found.theta, value, found.multipliers[:count], product_multipliers)


def _with_tangents(block: Block, coefficients: Numbers, bounds: Numbers, confidences: Numbers) -> tuple[Block, Numbers]:
    """The block with these constraints, and what hard ones were divided by, so that violations are those of θ."""
    largest = np.abs(coefficients).max(axis=1, initial=0.0)
    scales = np.where(np.isnan(confidences), largest, 1.0)
    places, columns = np.nonzero(coefficients)
    values = (coefficients / scales[:, None])[places, columns]
    return with_constraints(block, places, columns, values, bounds / scales, confidences), scales


def _with_zeros(block: Block, at_zero: Sequence[int]) -> Block:
    count = len(at_zero)
    return with_constraints(block, np.arange(count), np.array(at_zero, dtype=np.int64), np.ones(count), np.zeros(count))


def _filled(task: Task) -> Task:
    """A little entropy for distributions without data, which would else end anywhere."""
    if task.entropies is not None:
        return task
    totals = np.add.reduceat(task.weights, task.block.distributions[:-1])
    return task._replace(entropies=np.where(totals == 0, FILL, 0.0)[task.block.distribution_of])


def _starts(
    relaxed: BlockEstimate, interior: Interior, products: ProductConstraints, seed: int
) -> Iterator[tuple[Numbers, tuple[int, ...]]]:
    """Where a growing penalty leads to; then points within the linear constraints: the optimum without products, one
    inside, one where products hold, and others.

    With each goes a choice of factors for the products that vanish: the least seen first.
    """
    block = relaxed.block
    generator = np.random.default_rng([seed, block.size, int(block.parameters[0])])
    program = Program(block)
    points = [train(relaxed.task).theta, 0.9 * relaxed.theta + 0.1 * interior.point, interior.point]
    held = product_finding(block, interior, program).point
    if held is not None:
        points.append(held)
    while len(points) < STARTS:
        corner = program.maximise(generator.normal(size=block.size))
        share = generator.random()
        points.append(interior.point if corner is None else share * interior.point + (1.0 - share) * corner.point)
    for number, point in enumerate(points):
        least = [sorted(factors, key=lambda k: relaxed.task.weights[k]) for factors in products.vanishing]
        yield point, tuple(factors[number % len(factors)] for factors in least)

"""The trainer that follows the gradient, as [yang, algorithm 1] trains noisy families: the second one beside EM.

With θ = softmax(β) in each distribution, what the rows say is climbed directly, their gaps summed out, and what the
statements forbid is bought:

    max_β  log P(rows | θ) + Σ α log θ − ω Σ_j max(0, violation_j)²,

with ω raised until no hard row is violated by more than 1e-6. The derivative of the first term with respect to log θ is
the expected count of each cell, so that with N = expected counts + α

    ∂/∂β_ijk = N_ijk − θ_ijk N_ij − ω ∂penalty/∂β_ijk.

The paper has, beside the table of each set of causes, the chance q that its effect is not inhibited. Only the product
of both shows in the child, so that q is part of the small table here, and one gradient does for both of the paper's
steps. EM climbs the same likelihood, and ends where every statement holds; this one is here to be compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.errors import ImpossibleRowError, OptionError, Status
from credo.estimation.em.driver import Progress, check_options, found_by_em, gap_findings
from credo.estimation.em.starts import LEAST, first_start, nth_start
from credo.estimation.exchangeable import order_findings
from credo.estimation.methods import Method
from credo.estimation.penalty import FEASIBLE, PENALTY_GROWTH, ROUNDS, Penalised
from credo.estimation.problem import Problem
from credo.estimation.soft import DEFAULT
from credo.estimation.softened import joined
from credo.estimation.solution import Solution, rows_without_data
from credo.estimation.solvers.interior_point import Task
from credo.estimation.solvers.lbfgs import minimise
from credo.findings import Finding
from credo.io.dataset import Dataset
from credo.kernels.penalty import cost
from credo.statistics.inference.expected_counts import (
    Prepared,
    as_counts,
    expected_cells,
    log_likelihood_of,
    prepare,
    require_data,
)
from credo.statistics.prior import pseudo_counts

METHODS = ("ml", "map", "cml", "cmap")  # that maximise, and so can be trained by gradient
FIRST_PENALTY = 1.0  # ω, in units of the number of data
SLOPE = 1e-8  # of the objective for each datum: where a round of one ω ends
UNIFORM = "the uniform distribution"


@dataclass(frozen=True, slots=True, eq=False)
class Climb:
    """The objective of one estimation over β, the numbers of all learned tables one after the other."""

    problem: Problem
    prepared: Prepared
    cells: Indices  # (numbers,) where they lie in the layout
    starts: Indices  # (distributions,) where distributions begin among them
    believed: Numbers  # (numbers,) pseudo-counts α
    places: Indices  # (block,) which of the numbers the statements speak of
    priced: Penalised  # those statements, with their prices
    scale: float  # what the objective is divided by, so that ω means the same for few data and many

    @classmethod
    def of(cls, problem: Problem, prepared: Prepared) -> Climb:
        layout, network = prepared.layout, problem.network
        stretches = {name: layout.slice_of(name) for name in problem.names}
        sizes = [stretches[name].stop - stretches[name].start for name in problem.names]
        states = np.repeat(
            [len(network.states(name)) for name in problem.names],
            [network.configurations(name) for name in problem.names],
        )
        firsts = dict(zip(problem.names, np.cumsum([0, *sizes]).tolist(), strict=False))
        own = np.full(problem.layout.size, -1)  # parameter → which of the numbers
        for name, size in zip(problem.names, sizes, strict=True):
            own[problem.layout.slice_of(name)] = np.arange(firsts[name], firsts[name] + size)
        believed = [
            np.broadcast_to(
                pseudo_counts(problem.prior, network, name), (network.configurations(name), len(network.states(name)))
            ).ravel()
            for name in problem.names
        ]
        block = joined(problem.blocks)
        scale = max(1.0, prepared.observed.total)
        weight = DEFAULT if problem.soft_weight is None else problem.soft_weight
        # The block's own weights are those of the likelihood, which is added here: it has none.
        priced = Penalised.of(Task(block, np.zeros(block.size), None, weight / scale))
        return cls(
            problem,
            prepared,
            np.concatenate([np.arange(each.start, each.stop) for each in stretches.values()]).astype(np.int64),
            np.concatenate(([0], np.cumsum(states)[:-1])).astype(np.int64),
            np.concatenate(believed),
            own[block.parameters],
            priced,
            scale,
        )

    @property
    def lengths(self) -> Indices:
        """How many numbers each distribution has."""
        return np.diff(self.starts, append=len(self.cells))

    def cpts(self, around: Numbers, beta: Numbers) -> Numbers:
        """All tables in one array: θ = softmax(β) where they are learned, else as they are."""
        highest = np.repeat(np.maximum.reduceat(beta, self.starts), self.lengths)
        powers = np.exp(beta - highest)
        theta = around.copy()
        theta[self.cells] = powers / np.repeat(np.add.reduceat(powers, self.starts), self.lengths)
        return theta

    def cost(self, beta: Numbers, around: Numbers, omega: float) -> tuple[float, Numbers]:
        """What is minimised, for each datum, and its gradient; infinite where a row has become impossible."""
        theta = np.maximum(self.cpts(around, beta), np.finfo(np.float64).tiny)
        try:
            counts, log_likelihood = expected_cells(self.prepared, theta)
        except ImpossibleRowError:
            return np.inf, np.zeros(len(beta))
        own = theta[self.cells]
        weights = counts[self.cells] + self.believed
        totals = np.repeat(np.add.reduceat(weights, self.starts), self.lengths)
        value = -(log_likelihood + float(self.believed @ np.log(own))) / self.scale
        slope = -(weights - own * totals) / self.scale
        if len(self.places):
            price, pull = cost(self.priced.rows, np.zeros(len(self.places)), omega, beta[self.places])
            value += price
            np.add.at(slope, self.places, pull)
        return value, slope

    def objective(self, theta: Numbers) -> float:
        """log P(rows | θ) + Σ α log θ, what EM's history holds too where no statement is soft."""
        with np.errstate(divide="ignore"):
            counted = self.believed > 0
            prior = float(self.believed[counted] @ np.log(theta[self.cells][counted]))
        return log_likelihood_of(self.prepared, theta) + prior

    def violation(self, theta: Numbers) -> float:
        """The largest violation of a hard row."""
        return self.priced.violation(theta[self.cells][self.places]) if len(self.places) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Ended:
    """Where one start ended."""

    theta: Numbers  # (cells,) all tables
    objective: float
    violation: float
    omega: float
    slope: float  # the steepest coordinate that is left
    evaluations: int
    history: tuple[float, ...]  # the objective after each round

    @property
    def badness(self) -> tuple[bool, float]:
        """For choosing among starts: first whether the statements hold, then the objective."""
        return self.violation > FEASIBLE, -self.objective


def estimate_by_gradient(
    method: Method,
    problem: Problem,
    dataset: Dataset,
    *,
    starts: int,
    max_iterations: int,
    report: Callable[[Progress], None] | None = None,
    memory_limit: int | None = None,
) -> Solution:
    """Train from several starts, those of EM, and keep the best; `max_iterations` is of each round of each start."""
    if method.name not in METHODS:
        raise OptionError(f"The gradient trains {', '.join(METHODS)}, not {method.name}. Leave the trainer to em.")
    check_options(starts, max_iterations)
    prepared = prepare(problem.counts.layout, dataset, memory_limit)
    require_data(prepared)
    if not method.uses_knowledge:
        problem = replace(problem, blocks=(), constraints=Constraints(problem.constraints.layout))
    climb = Climb.of(problem, prepared)
    around = first_start(problem.network, prepared, problem.names, own=True)
    if prepared.is_complete:
        starts = 1  # nothing is hidden: one top
    done = []
    for number in range(starts):
        start = nth_start(problem.network, prepared, around, problem.names, problem.seed, number)
        tell = None if report is None else partial(_tell, report, number, starts)
        done.append(_train(climb, start, max_iterations, tell))
        if number == 0 and done[0].violation > FEASIBLE and any(interior_of(block) is None for block in problem.blocks):
            raise InfeasibleError  # no penalty would ever do
    best = min(done, key=lambda each: each.badness)
    return _solution(climb, best, done)


def _train(
    climb: Climb, start: Numbers, max_iterations: int, tell: Callable[[int, float], None] | None = None
) -> Ended:
    """From one start to a top at which the statements hold: rounds with a growing ω."""
    counts, _ = expected_cells(climb.prepared, start)  # says which row a start makes impossible
    beta = np.log(_interior(climb, start, counts))
    omega, evaluations, history = FIRST_PENALTY, 0, list[float]()
    for number in range(ROUNDS):
        omega = FIRST_PENALTY * PENALTY_GROWTH**number
        found = minimise(partial(climb.cost, around=start, omega=omega), beta, max_iterations, SLOPE)
        beta, evaluations = found.point, evaluations + found.evaluations
        theta = np.maximum(climb.cpts(start, beta), np.finfo(np.float64).tiny)
        history.append(climb.objective(theta))
        if tell is not None:
            tell(evaluations, history[-1])
        if climb.violation(theta) <= FEASIBLE:
            break
    steepest = float(np.abs(found.gradient).max(initial=0.0))
    return Ended(theta, history[-1], climb.violation(theta), omega, steepest, evaluations, tuple(history))


def _interior(climb: Climb, start: Numbers, counts: Numbers) -> Numbers:
    """A start at which every state has some probability; uniform where nothing is ever counted."""
    own = np.maximum(start[climb.cells], LEAST)
    own /= np.repeat(np.add.reduceat(own, climb.starts), climb.lengths)
    seen = np.repeat(np.add.reduceat(counts[climb.cells] + climb.believed, climb.starts) > 0, climb.lengths)
    return np.where(seen, own, 1.0 / np.repeat(climb.lengths, climb.lengths))


def _tell(report: Callable[[Progress], None], number: int, starts: int, evaluations: int, objective: float) -> None:
    report(Progress(number, starts, evaluations, objective, objective))


def _solution(climb: Climb, best: Ended, done: Sequence[Ended]) -> Solution:
    tables = climb.prepared.layout.unpack(best.theta)
    violated = best.violation > FEASIBLE
    flat = best.slope <= np.sqrt(SLOPE)
    return Solution(
        {name: tables[name] for name in climb.problem.names},
        Status.VIOLATED if violated else Status.CONVERGED if flat else Status.NOT_CONVERGED,
        tuple(_findings(climb, best, done)),
        multipliers=_prices(climb, best),
        log_likelihood=log_likelihood_of(climb.prepared, best.theta),
        history=best.history,
        expected=as_counts(climb.prepared, expected_cells(climb.prepared, best.theta)[0]),
    )


def _findings(climb: Climb, best: Ended, done: Sequence[Ended]) -> Iterable[Finding]:
    ends = ", ".join(f"{each.objective:.4f}" for each in done)
    tries = "1 start" if len(done) == 1 else f"{len(done)} starts"
    spent = sum(each.evaluations for each in done)
    yield Finding(
        "iterations", f"The gradient took {spent} evaluations from {tries}, which ended at {ends}; the best was taken."
    )
    if len(climb.places):
        message = (
            f"The penalty came to weigh {best.omega:g} for each row of data; "
            f"statements are violated by at most {best.violation:.1e}."
        )
        yield Finding("violated" if best.violation > FEASIBLE else "training", message)
    yield from gap_findings(climb.prepared)
    yield from order_findings(climb.problem, found_by_em(climb.prepared))
    counts, _ = expected_cells(climb.prepared, best.theta)
    problem, network = climb.problem, climb.problem.network
    totals = np.add.reduceat(counts[climb.cells] + climb.believed, climb.starts)
    first = 0
    for name in problem.names:
        rows = np.flatnonzero(totals[first : first + network.configurations(name)] == 0)
        first += network.configurations(name)
        if len(rows):
            yield rows_without_data(network, name, rows, UNIFORM)


def _prices(climb: Climb, best: Ended) -> dict[int, float]:
    """What the log-likelihood would gain per unit of each statement's bound: what the penalty pulls with."""
    found: dict[int, float] = {}
    if len(climb.places):
        pulls = climb.scale * np.abs(climb.priced.multipliers(best.theta[climb.cells][climb.places], best.omega))
        statements = climb.priced.task.block.linear.statements.tolist()
        for statement, pull in zip(statements, pulls.tolist(), strict=True):
            found[statement] = found.get(statement, 0.0) + pull
    return found

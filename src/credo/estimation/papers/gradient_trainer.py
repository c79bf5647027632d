"""The gradient trainer, an alternative to EM for incomplete rows, as [yang, algorithm 1] trains noisy families.

With θ = softmax(β) in each distribution, the likelihood of the rows is maximised directly, missing values summed out,
with a penalty on what the statements forbid:

    max_β  log P(rows | θ) + Σ α log θ − ω Σ_j max(0, violation_j)²,

where ω is raised until no hard constraint is violated by more than 1e-6. The derivative of the first term with respect
to log θ is the expected count of each cell, so that with N = expected counts + α

    ∂/∂β_ijk = N_ijk − θ_ijk N_ij − ω ∂penalty/∂β_ijk.

The paper has, beside the CPT of each set of causes, the probability q that its effect is not inhibited. Only the
product of both is identified, so that q is part of the small CPT here, and one gradient does both of the paper's steps.
EM maximises the same likelihood and satisfies every statement; this trainer is here for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.errors import ImpossibleRowError, OptionError, Status, counted
from credo.estimation.constrained import statement_multipliers
from credo.estimation.em.driver import Iteration, found_by_em, hidden_variable_findings
from credo.estimation.em.starts import LEAST, first_start, nth_start
from credo.estimation.exchangeable import exchange_findings, exchanges_of
from credo.estimation.method import Method
from credo.estimation.papers.lbfgs import minimise
from credo.estimation.papers.penalised_statements import joined_block
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT
from credo.estimation.solution import UNIFORM, Solution, no_data_finding
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.penalised import FEASIBLE, PENALTY_GROWTH, ROUNDS, PenalisedObjective
from credo.findings import Finding
from credo.io.dataset import Dataset
from credo.statistics.inference.expected_counts import (
    PreparedRows,
    as_counts,
    expected_cells,
    log_likelihood_of,
    require_data,
)
from credo.statistics.partitioned_rows import PartitionedRows, prepare_rows
from credo.types import Indices, Numbers

FIRST_PENALTY = 1.0  # ω, in units of the number of data
GRADIENT = 1e-8  # of the objective for each datum: where a round of one ω ends
STATIONARY = 1e-4  # what may be left of the gradient where rounding ends progress, as it does under a large ω


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """The objective of one estimation over β, the parameters of all learned CPTs one after the other."""

    problem: Problem
    prepared: PreparedRows
    cells: Indices  # (parameters,) where they are in the layout of inference
    starts: Indices  # (distributions,) where distributions begin among them
    prior: Numbers  # (parameters,) pseudo-counts α
    constrained: Indices  # (block,) which of the parameters the constraints refer to
    penalised: PenalisedObjective  # the constraints
    scale: float  # what the objective is divided by, so that ω means the same for few data and many

    @classmethod
    def of(cls, problem: Problem, prepared: PreparedRows) -> Objective:
        layout, network, names = prepared.layout, problem.model.network, problem.model.names
        slices = [layout.slice_of(name) for name in names]
        states = np.repeat(
            [len(network.states(name)) for name in names], [network.configurations(name) for name in names]
        )
        order = np.concatenate([np.arange(own.start, own.stop) for own in map(problem.layout.slice_of, names)])
        position = np.full(problem.layout.size, -1)  # of each parameter among the learned ones
        position[order] = np.arange(len(order))
        block = joined_block(problem.model.blocks)
        scale = max(1.0, prepared.observed.total)
        weight = DEFAULT_WEIGHT if problem.settings.soft_weight is None else problem.settings.soft_weight
        # The block's own weights are those of the likelihood, which is added here: it has none.
        penalised = PenalisedObjective.of(Task(block, np.zeros(block.size), None, weight / scale))
        return cls(
            problem,
            prepared,
            np.concatenate([np.arange(own.start, own.stop) for own in slices]).astype(np.int64),
            np.concatenate(([0], np.cumsum(states)[:-1])).astype(np.int64),
            problem.pseudo_counts()[order],
            position[block.parameters],
            penalised,
            scale,
        )

    @property
    def lengths(self) -> Indices:
        """How many parameters each distribution has."""
        return np.diff(self.starts, append=len(self.cells))

    def cpts(self, around: Numbers, beta: Numbers) -> Numbers:
        """All CPTs in one array: θ = softmax(β) where they are learned, else as they are."""
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
        weights = counts[self.cells] + self.prior
        totals = np.repeat(np.add.reduceat(weights, self.starts), self.lengths)
        value = -(log_likelihood + float(self.prior @ np.log(own))) / self.scale
        gradient = -(weights - own * totals) / self.scale
        if len(self.constrained):
            penalty, own_gradient = self.penalised.cost_with(
                np.zeros(len(self.constrained)), beta[self.constrained], omega
            )
            value += penalty
            np.add.at(gradient, self.constrained, own_gradient)
        return value, gradient

    def objective(self, theta: Numbers) -> float:
        """log P(rows | θ) + Σ α log θ, as in EM's history where no statement is soft."""
        with np.errstate(divide="ignore"):
            counted = self.prior > 0
            prior = float(self.prior[counted] @ np.log(theta[self.cells][counted]))
        return log_likelihood_of(self.prepared, theta) + prior

    @property
    def tolerance(self) -> float:
        """The violation of a constraint up to which statements hold: zeros of several states add up in one of them."""
        return FEASIBLE / int(self.lengths.max(initial=1))

    def violation(self, theta: Numbers) -> float:
        """The largest violation of a hard constraint."""
        return self.penalised.violation(theta[self.cells][self.constrained]) if len(self.constrained) else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class TrainedStart:
    """Where one start ended."""

    theta: Numbers  # (cells,) all CPTs
    objective: float
    violation: float
    is_violated: bool
    omega: float
    is_stationary: bool  # the last round ended by itself, and not at the limit of iterations
    evaluations: int
    history: tuple[float, ...]  # the objective after each round

    @property
    def sort_key(self) -> tuple[bool, float]:
        """For choosing among starts: first whether the statements hold, then the objective."""
        return self.is_violated, -self.objective


def estimate_by_gradient(
    method: Method,
    problem: Problem,
    dataset: Dataset | PartitionedRows,
    progress: Callable[[Iteration], None] | None = None,
) -> Solution:
    """Train from several starts, those of EM, and keep the best; `max_iterations` is of each round of each start."""
    if not method.maximises_likelihood:
        raise OptionError(
            f"The gradient trainer maximises a likelihood: it works for ml, map, cml and cmap, not for {method.name}. "
            "Leave the trainer at em."
        )
    options = problem.settings.options.em
    prepared = prepare_rows(problem.data.counts.layout, dataset, problem.settings.memory_limit)
    require_data(prepared)
    if not method.uses_knowledge:
        problem = problem.with_model(blocks=(), constraints=Constraints(problem.layout))
    if not problem.model.names:
        return _nothing_to_learn(problem, prepared)
    if any(interior_of(block) is None for block in problem.model.blocks):
        raise InfeasibleError  # no penalty would ever be enough
    objective = Objective.of(problem, prepared)
    around = first_start(problem.model.network, prepared, problem.model.names, own=True)
    starts = 1 if prepared.is_complete else options.starts  # nothing is hidden: one optimum
    done = []
    for number in range(starts):
        start = nth_start(problem.model.network, prepared, around, problem.model.names, problem.settings.seed, number)

        def after(evaluations: int, value: float, number: int = number) -> None:
            if progress is not None:
                progress(Iteration(number, starts, evaluations, value, value))

        done.append(_train(objective, start, options.max_iterations, after))
    best = min(done, key=lambda each: each.sort_key)
    return _solution(objective, best, done)


def _nothing_to_learn(problem: Problem, prepared: PreparedRows) -> Solution:
    theta = prepared.layout.pack(problem.model.network.cpts)
    cells, log_likelihood = expected_cells(prepared, theta)
    return Solution({}, Status.EXACT, log_likelihood=log_likelihood, expected=as_counts(prepared, cells))


def _train(
    objective: Objective, start: Numbers, max_iterations: int, after: Callable[[int, float], None]
) -> TrainedStart:
    """From one start to an optimum at which the statements hold: rounds with a growing ω."""
    counts, _ = expected_cells(objective.prepared, start)  # an error names a row that the start makes impossible
    beta = np.log(_interior(objective, start, counts))
    omega, evaluations, history = FIRST_PENALTY, 0, list[float]()
    for number in range(ROUNDS):
        omega = FIRST_PENALTY * PENALTY_GROWTH**number
        found = minimise(partial(objective.cost, around=start, omega=omega), beta, max_iterations, GRADIENT)
        beta, evaluations = found.point, evaluations + found.evaluations
        theta = np.maximum(objective.cpts(start, beta), np.finfo(np.float64).tiny)
        history.append(objective.objective(theta))
        after(evaluations, history[-1])
        if objective.violation(theta) <= objective.tolerance:
            break
    is_stationary = found.is_stationary and bool(np.abs(found.gradient).max(initial=0.0) <= STATIONARY)
    violation = objective.violation(theta)
    is_violated = violation > objective.tolerance
    return TrainedStart(theta, history[-1], violation, is_violated, omega, is_stationary, evaluations, tuple(history))


def _interior(objective: Objective, start: Numbers, counts: Numbers) -> Numbers:
    """A start at which every state has some probability; uniform where nothing is ever counted."""
    own = np.maximum(start[objective.cells], LEAST)
    own /= np.repeat(np.add.reduceat(own, objective.starts), objective.lengths)
    seen = np.repeat(
        np.add.reduceat(counts[objective.cells] + objective.prior, objective.starts) > 0, objective.lengths
    )
    return np.where(seen, own, 1.0 / np.repeat(objective.lengths, objective.lengths))


def _solution(objective: Objective, best: TrainedStart, done: Sequence[TrainedStart]) -> Solution:
    cpts = objective.prepared.layout.unpack(best.theta)
    return Solution(
        {name: cpts[name] for name in objective.problem.model.names},
        Status.VIOLATED if best.is_violated else Status.CONVERGED if best.is_stationary else Status.NOT_CONVERGED,
        tuple(_findings(objective, best, done)),
        multipliers=_multipliers(objective, best),
        log_likelihood=log_likelihood_of(objective.prepared, best.theta),
        history=best.history,
        expected=as_counts(objective.prepared, expected_cells(objective.prepared, best.theta)[0]),
    )


def _findings(objective: Objective, best: TrainedStart, done: Sequence[TrainedStart]) -> Iterable[Finding]:
    ends = ", ".join(f"{each.objective:.4f}" for each in done)
    starts = counted(len(done), "start")
    spent = sum(each.evaluations for each in done)
    yield Finding(
        "iterations",
        f"The gradient was followed for {counted(spent, 'evaluation')} from {starts}; the objective ended at {ends}, "
        "of which the best was taken.",
    )
    if len(objective.constrained):
        message = (
            f"Statements are violated by at most {best.violation:.1e}; the penalty's weight reached {best.omega:g} for "
            "each row of data."
        )
        yield Finding("violated" if best.is_violated else "training", message)
    yield from hidden_variable_findings(objective.prepared)
    yield from exchange_findings(objective.problem, exchanges_of(objective.problem, found_by_em(objective.prepared)))
    counts, _ = expected_cells(objective.prepared, best.theta)
    problem, network = objective.problem, objective.problem.model.network
    totals = np.add.reduceat(counts[objective.cells] + objective.prior, objective.starts)
    first = 0
    for name in problem.model.names:
        unseen = np.flatnonzero(totals[first : first + network.configurations(name)] == 0)
        first += network.configurations(name)
        if len(unseen):
            yield no_data_finding(network, name, unseen.tolist(), UNIFORM)


def _multipliers(objective: Objective, best: TrainedStart) -> dict[int, float]:
    """The gain in log-likelihood per unit of each statement's bound, from the penalty's multipliers."""
    if not len(objective.constrained):
        return {}
    by_penalty = objective.scale * np.abs(
        objective.penalised.multipliers(best.theta[objective.cells][objective.constrained], best.omega)
    )
    linear = objective.penalised.task.block.linear
    return statement_multipliers([(linear, by_penalty)], (), objective.problem.data.counts.total)

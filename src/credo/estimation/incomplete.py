"""Every method for rows with gaps: EM towards the most probable tables, and what a method makes of its counts.

Methods that maximise something (ml, map, cml, cmap; cem by gradient) are M-steps, exact at each iteration, so that
their objective never falls. The others are given the expected counts that the EM of cmap ends with, as if they had
been counted. Where knowledge ties rows together, the E-step is that of `tied`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from credo.arrays import Numbers
from credo.constraints.constraint_set import Constraints
from credo.errors import OptionError, Status, suggestion
from credo.estimation import cem, constrained
from credo.estimation.em.count_step import counting_step
from credo.estimation.em.driver import EMResult, Progress, found_by_em, run_em
from credo.estimation.em.steps import Ended, Independent, MStep
from credo.estimation.exchangeable import order_findings
from credo.estimation.gradient import estimate_by_gradient
from credo.estimation.methods import METHODS, Method
from credo.estimation.problem import Problem
from credo.estimation.soft import DEFAULT
from credo.estimation.softened import default_weight
from credo.estimation.solution import Solution
from credo.estimation.solvers.certificate import soft_cost
from credo.estimation.solvers.interior_point import Task
from credo.estimation.tied import Tied, likelihood_of, story, tied_step
from credo.findings import Finding
from credo.io.dataset import Dataset
from credo.statistics.counts import Counts
from credo.statistics.inference.expected_counts import Prepared, as_counts, log_likelihood_of, prepare
from credo.statistics.prior import pseudo_counts
from credo.statistics.ties.likelihood import Reading, tie_rows

TRAINERS = ("em", "gradient")
COUNTING, MAXIMISING, BY_GRADIENT = ("ml", "map"), ("cml", "cmap"), ("cem",)
STATUS = {Ended.CONVERGED: Status.CONVERGED, Ended.LIMIT: Status.NOT_CONVERGED, Ended.FELL: Status.NOT_CONVERGED}


@dataclass(frozen=True, slots=True)
class Iterations:
    """How EM is run, or the gradient that can take its place."""

    starts: int = 5
    max_iterations: int = 1000
    tolerance: float = 1e-8
    accelerate: bool = True
    checkpoint: str | Path | None = None
    report: Callable[[Progress], None] | None = None
    trainer: str = "em"


def estimate_incomplete(
    method: Method,
    problem: Problem,
    dataset: Dataset,
    iterations: Iterations,
    memory_limit: int | None = None,
    reading: Reading = Reading.CLL,
) -> Solution:
    """Run EM for a method, and say how it went; `reading` says how rows that are tied together came about."""
    if iterations.trainer == "gradient":
        return _by_gradient(method, problem, dataset, iterations, memory_limit)
    count_layout, ties = problem.counts.layout, problem.constraints.ties if method.uses_knowledge else ()
    rows = prepare(count_layout, dataset, memory_limit)
    e_step: Independent | Tied = (
        tied_step(count_layout, ties, dataset, reading, memory_limit) if ties else Independent(rows)
    )
    weight = default_weight(problem) if method.name in BY_GRADIENT else DEFAULT
    inner = problem if problem.soft_weight is not None else replace(problem, soft_weight=weight)
    em_method = method if method.name in (*COUNTING, *MAXIMISING, *BY_GRADIENT) else METHODS["cmap"]
    result = run_em(
        problem.network,
        e_step.prepared,
        _m_step(em_method, inner, e_step.prepared),
        e_step=e_step if ties else None,
        free=problem.names,
        starts=iterations.starts,
        max_iterations=iterations.max_iterations,
        tolerance=iterations.tolerance,
        accelerate=iterations.accelerate,
        seed=problem.seed,
        checkpoint=iterations.checkpoint,
        label=f"{em_method.name} {inner.prior} {inner.soft_weight} {ties} {reading}",
        progress=iterations.report,
    )
    cells, _, _ = e_step(rows.layout.pack(result.cpts), e_step.start())
    expected = as_counts(e_step.prepared, cells)
    last = method.estimate(replace(inner, counts=expected, folds=_fold_counts(method, expected)))
    tables = {name: result.cpts[name] for name in problem.names} if em_method is method else last.cpts
    theta = rows.layout.pack({**result.cpts, **tables})
    likelihood, told = None, list(_story(result))
    if isinstance(e_step, Tied):
        conditioned = e_step.rows
        if reading is not Reading.CLL:
            conditioned = tie_rows(count_layout, ties, dataset, memory_limit=memory_limit)
        likelihood = likelihood_of(conditioned, theta)
        told.append(story(conditioned, likelihood))
    # EM stands still also where its M-step only stopped near the optimum.
    unproved = result.converged and last.status is Status.NOT_CERTIFIED
    said = inner if em_method.uses_knowledge else replace(inner, constraints=Constraints(inner.constraints.layout))
    told += [*result.findings, *order_findings(said, found_by_em(e_step.prepared))]
    return replace(
        last,
        cpts=tables,
        status=last.status if unproved or em_method is not method else STATUS[result.ended],
        findings=(*told, *last.findings),
        log_likelihood=log_likelihood_of(rows, theta),
        history=result.history,
        tied=likelihood,
        expected=expected,
    )


def checked_trainer(trainer: str) -> str:
    """What learns from rows with gaps, if there is such a trainer."""
    if trainer not in TRAINERS:
        raise OptionError(f'There is no trainer "{trainer}".{suggestion(trainer, TRAINERS)}')
    return trainer


def _by_gradient(
    method: Method, problem: Problem, dataset: Dataset, iterations: Iterations, memory_limit: int | None
) -> Solution:
    if problem.constraints.ties and method.uses_knowledge:
        raise OptionError("Rows that are tied together are learned by EM alone: leave the trainer to em.")
    if iterations.checkpoint is not None:
        raise OptionError("The gradient keeps no checkpoint: leave it out, or leave the trainer to em.")
    return estimate_by_gradient(
        method,
        problem,
        dataset,
        starts=iterations.starts,
        max_iterations=iterations.max_iterations,
        report=iterations.report,
        memory_limit=memory_limit,
    )


def _m_step(method: Method, problem: Problem, prepared: Prepared) -> MStep:
    nothing_said = not problem.blocks and method.name in MAXIMISING
    if method.name in COUNTING or nothing_said:
        return counting_step(prepared, problem.prior, problem.names)
    if method.name in BY_GRADIENT:
        return cem.gradient_step(problem)
    believed = {name: pseudo_counts(problem.prior, problem.network, name) for name in problem.names}

    def m_step(counts: Counts) -> tuple[Mapping[str, Numbers], float]:
        tables = constrained.estimate(replace(problem, counts=counts, folds=())).cpts
        term = -_soft_cost(problem, tables)
        for name, pseudo in believed.items():
            rows = tables[name].reshape(-1, len(problem.network.states(name)))
            weight = np.broadcast_to(pseudo, rows.shape)
            counted = (weight > 0) & (rows > 0)  # at zero is only what the knowledge pins there
            term += float((weight[counted] * np.log(rows[counted])).sum())
        return tables, term

    return m_step


def _soft_cost(problem: Problem, tables: Mapping[str, Numbers]) -> float:
    if problem.constraints.linear.hard.all():
        return 0.0
    theta = problem.layout.pack(tables, missing=0.0)
    weight = DEFAULT if problem.soft_weight is None else problem.soft_weight
    return sum(
        soft_cost(Task(block, np.zeros(block.size), None, weight), theta[block.parameters])
        for block in problem.blocks
        if not block.linear.hard.all()
    )


def _fold_counts(method: Method, expected: Counts) -> tuple[Counts, ...]:
    """Folds of expected counts, for methods that cross-validate: each cell is spread evenly over them."""
    if not method.cross_validates:
        return ()
    folds = 10
    share = replace(
        expected,
        dense=expected.dense / folds,
        sparse={name: (keys, values / folds) for name, (keys, values) in expected.sparse.items()},
    )
    return (share,) * folds


def _story(result: EMResult) -> list[Finding]:
    ends = ", ".join(f"{start.objective:.4f}" for start in result.starts)
    tries = "1 start" if len(result.starts) == 1 else f"{len(result.starts)} starts"
    message = f"EM took {result.iterations} steps from {tries}, which ended at {ends}; the best was taken."
    return [Finding("iterations", message)]

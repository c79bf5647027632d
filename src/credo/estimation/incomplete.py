"""Every method for incomplete or tied rows: EM, and what a method makes of its expected counts.

Methods with an exact M-step (ml, map, cml, cmap, cem) are what EM iterates, so that their objective never falls. A
method that draws missing values starts from where EM ended. The others are given the expected counts that EM ends with,
as if they had been observed. Where knowledge ties rows together, the E-step is that of `tied`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import NONE
from credo.errors import ImpossibleRowError, OptionError, Status, counted
from credo.estimation.constrained import CMAP
from credo.estimation.counting import MAP
from credo.estimation.em.driver import EMResult, Iteration, found_by_em, run_em
from credo.estimation.em.starts import with_zeros
from credo.estimation.em.steps import Ended, Independent
from credo.estimation.exchangeable import exchange_findings, exchanges_of
from credo.estimation.method import Incomplete, Method
from credo.estimation.missing_draws import ExaminedRows, why_not_drawn
from credo.estimation.papers.gradient_trainer import estimate_by_gradient
from credo.estimation.pinned import contradiction_of, pinned_cells, pinned_parameters
from credo.estimation.problem import Fold, Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT, choose_soft_weight
from credo.estimation.solution import Solution
from credo.estimation.tied import TiedEStep, is_far_off, tie_finding, tied_e_step, tied_likelihood, tied_rows
from credo.findings import Finding
from credo.io.dataset import Dataset
from credo.io.folds import folds_of_rows
from credo.model.network import Network
from credo.options import EMOptions, TieReading
from credo.statistics.inference.expected_counts import (
    PreparedRows,
    as_counts,
    expected_cells,
    has_data,
    log_likelihood_of,
    prepare,
)
from credo.statistics.partitioned_rows import PartitionedRows, prepare_rows
from credo.statistics.ties.tied_parts import TiedParts
from credo.tolerances import FOLDS
from credo.types import Numbers

STATUS = {Ended.CONVERGED: Status.CONVERGED, Ended.LIMIT: Status.NOT_CONVERGED, Ended.FELL: Status.NOT_CONVERGED}
NOT_DRAWN = "Missing values were not drawn; the expected counts of EM were taken as if they had been observed"
PROOFS = ("local optimum", "not certified", "training")  # kinds of findings that say how far an optimum can be off
_SAME_OBJECTIVE = 1e-5  # a relative difference of objectives below which two starts found the same result
# The EM of a fold starts where that of all rows ended, and needs only a few iterations from there.
FOLD_OPTIONS = EMOptions(starts=1, max_iterations=100, tolerance=1e-6)


def estimate_incomplete(problem: Problem, examined: ExaminedRows | None = None) -> Solution:
    """Run EM for the problem's method, and report how it went; `examined` rows need not be prepared again."""
    method, dataset = problem.settings.method, problem.data.dataset
    assert method is not None
    assert dataset is not None
    if problem.settings.options.em.trainer == "gradient":
        return _by_gradient(method, problem, dataset)
    ties = problem.model.constraints.ties if method.uses_knowledge else ()
    if examined is None or examined.tied is not None:
        prepared = prepare_rows(problem.data.counts.layout, dataset, problem.settings.memory_limit)
    else:
        prepared = examined.prepared
    e_step: Independent | TiedEStep = Independent(prepared)
    if ties:
        known = None if examined is None else examined.tied
        e_step = tied_e_step(
            problem.data.counts.layout, ties, dataset, problem.data.reading, problem.settings.memory_limit, known
        )
    em_method = method if method.m_step is not None else CMAP if method.uses_knowledge else MAP
    if em_method.keeps_hard_statements:
        problem = problem.with_model(pinned=pinned_parameters(problem.model.blocks))
    used = problem if em_method.uses_knowledge else problem.with_model(constraints=Constraints(problem.layout))
    if examined is not None and examined.constraints is used.model.constraints:
        exchanges = examined.exchanges
    else:
        exchanges = exchanges_of(used, found_by_em(e_step.prepared))
    draw = method.estimate_drawing
    tied = e_step.rows if isinstance(e_step, TiedEStep) else None
    not_drawn = why_not_drawn(prepared if tied is None else tied, exchanges) if draw is not None else ""
    drawn = draw is not None and not not_drawn
    options = problem.settings.options.em
    if drawn and not ties and options.starts == EMOptions().starts and _mostly_observed(dataset):
        options = replace(options, starts=1)  # draws leave any optimum by themselves: this is where they begin
    try:
        inner, weight_findings = _with_soft_weight(method, em_method, problem, prepared)
        result = _run(em_method, inner, e_step, bool(ties), options)
    except ImpossibleRowError as error:
        raise contradiction_of(problem, error) from None
    cells, _, _ = e_step(prepared.layout.pack(result.cpts), e_step.start())
    expected = as_counts(e_step.prepared, cells)
    folds: tuple[Fold, ...] = ()
    fold_findings: list[Finding] = []
    if method.cross_validates:
        folds, fold_findings = _folds(em_method, inner, prepared, result, bool(ties))
    is_em = em_method is method
    completed = inner.with_data(counts=expected, folds=folds)
    completed = completed if is_em else completed.with_model(pinned=NONE)
    if draw is not None and drawn:
        start = None
        assert not isinstance(tied, TiedParts)
        if tied is not None:  # the counts of an M-step for ties are not those that are expected
            start, cells = cells, tied.expected(prepared.layout.pack(result.cpts), tied.start()).seen
        last = draw(completed, Incomplete(e_step.prepared, cells, result.cpts, exchanges, tied, start))
    else:
        last = method.estimate(completed)
    cpts = {name: result.cpts[name] for name in problem.model.names} if is_em else last.cpts
    theta = prepared.layout.pack({**result.cpts, **cpts})
    findings, likelihood = [_em_finding(result), *weight_findings, *fold_findings], None
    if not_drawn:
        findings.append(Finding("not drawn", f"{NOT_DRAWN}: {not_drawn}. There are no intervals."))
    if isinstance(e_step, TiedEStep):
        conditioned = e_step.rows
        if problem.data.reading is not TieReading.SELECTED:
            conditioned = tied_rows(
                problem.data.counts.layout, ties, dataset, memory_limit=problem.settings.memory_limit
            )
        likelihood = tied_likelihood(conditioned, theta, problem.settings.seed)
        findings.append(tie_finding(conditioned, likelihood))
    findings += [*result.findings, *exchange_findings(used, exchanges)]
    if drawn:
        findings += map(_renamed_finding, exchanges.variables)
    status = last.status if drawn else _status(result, last.status, is_em)
    if status is Status.CONVERGED and likelihood is not None and not likelihood.is_exact and is_far_off(likelihood):
        status = Status.NOT_CERTIFIED
    return replace(
        last,
        cpts=cpts,
        status=status,
        certificate=None,  # that of `last` is about complete data with the expected counts, a problem nobody asked for
        findings=(*findings, *(last.findings if drawn else map(_about_expected_counts, last.findings))),
        log_likelihood=log_likelihood_of(prepared, theta),
        history=result.history,
        tied=likelihood,
        soft_weight=inner.settings.soft_weight,
        expected=expected,
        no_interval=f"There is no interval: {not_drawn}." if not_drawn else "",
    )


def _mostly_observed(rows: Dataset | PartitionedRows) -> bool:
    """Whether half of the values of every variable, or more, are there."""
    total = rows.all_rows if isinstance(rows, Dataset) else len(rows)
    return all(2 * missing <= total for missing in rows.missing().values())


def _status(result: EMResult, last: Status, is_em: bool) -> Status:
    """How EM ended, unless what its last counts led to has something worse, or something else, to report.

    An optimum for expected counts is none for the data: EXACT and OPTIMAL become how EM ended.
    """
    if is_em:
        # EM also stops where its M-step only came close to the optimum.
        worse = last is Status.VIOLATED or (result.converged and last is Status.NOT_CERTIFIED)
        return last if worse else STATUS[result.ended]
    if last in (Status.EXACT, Status.OPTIMAL) or (not result.converged and last is Status.AVERAGED):
        return STATUS[result.ended]
    return last


def _about_expected_counts(finding: Finding) -> Finding:
    """What was proved of an estimate from complete data is proved of the last step of EM only."""
    if finding.kind not in PROOFS:
        return finding
    return replace(finding, message=f"For the expected counts that EM ended with: {finding.message}")


def _run(
    method: Method,
    problem: Problem,
    e_step: Independent | TiedEStep,
    tied: bool,
    options: EMOptions,
) -> EMResult:
    assert method.m_step is not None
    others = replace(problem.settings.options, em=EMOptions())
    shaping = problem.with_settings(options=others, memory_limit=None, not_posterior="", progress=None, refuse=None)
    return run_em(
        problem.model.network,
        e_step.prepared,
        method.m_step(problem),
        options,
        e_step=e_step if tied else None,
        free=problem.model.names,
        zeros=pinned_cells(problem),
        seed=problem.settings.seed,
        identity=() if options.checkpoint is None else (method, shaping),
        progress=reporter(problem),
    )


def _with_soft_weight(
    method: Method,
    em_method: Method,
    problem: Problem,
    prepared: PreparedRows,
) -> tuple[Problem, list[Finding]]:
    """The problem with a weight for its soft statements: given, or chosen on folds completed by a first EM."""
    if method.ignores_soft_statements:
        return problem.with_settings(soft_weight=0.0), []
    if problem.settings.soft_weight is not None or method.weighs_all_statements or not method.uses_knowledge:
        return problem, []
    if not problem.has_soft_statements or problem.model.doubts is not None:  # draws weigh what is doubted
        return problem.with_settings(soft_weight=DEFAULT_WEIGHT), []
    first = problem.with_settings(soft_weight=DEFAULT_WEIGHT)
    options = replace(problem.settings.options.em, starts=1, checkpoint=None)
    result = _run(em_method, first, Independent(prepared), False, options)
    folds, _ = _folds(em_method, first, prepared, result, False)
    expected = as_counts(prepared, expected_cells(prepared, prepared.layout.pack(result.cpts))[0])
    completed = problem.with_data(counts=expected, folds=folds)
    weight, findings = choose_soft_weight(completed, completed.vector())
    return problem.with_settings(soft_weight=weight), findings


def _folds(
    method: Method, problem: Problem, prepared: PreparedRows, result: EMResult, tied: bool
) -> tuple[tuple[Fold, ...], list[Finding]]:
    """Folds of the rows: each is predicted by the EM of the others, which also completes its missing values."""
    dataset, layout = problem.data.dataset, problem.data.counts.layout
    assert dataset is not None
    folds = min(FOLDS, len(dataset))
    if folds < 2:
        whole = as_counts(prepared, expected_cells(prepared, prepared.layout.pack(result.cpts))[0])
        message = "There is only one row: cross-validation predicts it from itself."
        return (Fold(whole, whole),), [Finding("folds", message)]

    def prepared_fold(fold: int, is_held_out: bool) -> PreparedRows:
        if isinstance(dataset, PartitionedRows):
            return dataset.fold(fold, folds, is_held_out).prepared()
        chosen = (folds_of_rows(problem.settings.seed, folds, 0, len(dataset), len(dataset)) == fold) == is_held_out
        rows = dataset.rows(chosen)
        if not is_held_out:  # rows that are only counted are learned from, and never predicted
            rows = replace(rows, counted=dataset.counted)
        return prepare(layout, rows, problem.settings.memory_limit)

    without_zeros = _without_zeros(result.cpts, problem.model.names)
    start = problem.with_model(network=problem.model.network.with_cpts(without_zeros))
    found = []
    for fold in range(folds):
        training = prepared_fold(fold, is_held_out=False)
        cpts = _uniform(problem.model.network, problem.model.names)  # where the rows of all other folds show nothing
        if has_data(training):
            cpts = _run(method, start, Independent(training), False, FOLD_OPTIONS).cpts
        theta = training.layout.pack(cpts)
        held_out = prepared_fold(fold, is_held_out=True)
        smoothed = held_out.layout.pack({**cpts, **_without_zeros(cpts, problem.model.names)})
        smoothed = with_zeros(held_out, smoothed, pinned_cells(problem))
        found.append(
            Fold(
                as_counts(training, expected_cells(training, theta)[0]),
                as_counts(held_out, expected_cells(held_out, smoothed)[0]),
            )
        )
    ties = " Ties between rows were left out of it." if tied else ""
    message = (
        f"Cross-validation used {folds} folds of the rows; the missing values of each were completed by EM on the "
        f"other rows.{ties}"
    )
    return tuple(found), [Finding("folds", message)]


def _without_zeros(cpts: Mapping[str, Numbers], names: tuple[str, ...]) -> dict[str, Numbers]:
    """CPTs under which no held-out row is impossible, except for numbers that are pinned at zero."""
    found = {}
    for name in names:
        cpt = np.maximum(cpts[name], 1e-9)
        found[name] = cpt / cpt.sum(axis=-1, keepdims=True)
    return found


def _uniform(network: Network, names: tuple[str, ...]) -> Mapping[str, Numbers]:
    """All CPTs of a network, with uniform distributions in those of these names."""
    uniform = {name: np.full(network.shape(name), 1.0 / len(network.states(name))) for name in names}
    return {**network.cpts, **uniform}


def _by_gradient(method: Method, problem: Problem, dataset: Dataset | PartitionedRows) -> Solution:
    if problem.model.constraints.ties and method.uses_knowledge:
        raise OptionError("The gradient trainer takes rows one by one, and cannot tie them: leave the trainer at em.")
    if problem.model.constraints.network_constraints and method.uses_knowledge:
        raise OptionError(
            "The gradient trainer penalises statements about single CPTs, and cannot bind those about probabilities "
            "that depend on several CPTs: leave the trainer at em."
        )
    return estimate_by_gradient(method, problem, dataset, reporter(problem))


def reporter(problem: Problem) -> Callable[[Iteration], None]:
    """Reports each iteration as a share of all starts."""
    most = problem.settings.options.em.max_iterations

    def after(iteration: Iteration) -> None:
        detail = f"start {iteration.start + 1} of {iteration.starts}, iteration {iteration.iteration}"
        problem.notify(iteration.start + min(1.0, iteration.iteration / most), iteration.starts, detail)

    return after


def _renamed_finding(name: str) -> Finding:
    message = (
        f"In each draw, the states of {name} were named so that they are nearest to what EM found: intervals about "
        "them assume these names."
    )
    return Finding("renamed", message, name)


def _em_finding(result: EMResult) -> Finding:
    ends = [start.objective for start in result.starts]
    best = max(ends)
    as_good = sum(best - end <= _SAME_OBJECTIVE * max(1.0, abs(best)) for end in ends)
    starts = "from 1 start" if len(ends) == 1 else f"from {len(ends)} starts, {as_good} of which found the best result"
    message = f"EM took {counted(result.iterations, 'iteration')} {starts}."
    return Finding("iterations", message)

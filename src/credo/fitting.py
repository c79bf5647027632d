"""Learning: network, knowledge and table are prepared once, estimated, and reported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from credo._version import __version__
from credo.checking.check import check, require_consistent
from credo.constraints.feasibility import InfeasibleError, NoStartError
from credo.constraints.joint_conflicts import provable_conflicts
from credo.constraints.noisy_families import collapsed, with_stated_forms
from credo.constraints.stage_costs import REDUCE_CONSTRAINTS, announce, check_memory, estimating
from credo.distributed.dask_executor import executor_for
from credo.errors import (
    CredoError,
    ImpossibleRowError,
    MissingCodeWarning,
    OptionError,
    SamplingError,
    Status,
    counted,
    listing,
)
from credo.estimation.certain_zeros import with_certain_zeros
from credo.estimation.evidence import can_be_rows, log_likelihood_of_added, with_evidence
from credo.estimation.incomplete import estimate_incomplete
from credo.estimation.methods import choose_method
from credo.estimation.prepare import prepare, prepare_model
from credo.estimation.problem import Problem
from credo.estimation.shared_cpts import unshared
from credo.estimation.solution import Solution, hidden_findings, impossible_data_findings, outside_findings
from credo.explain.contradictions import contradiction_findings, contradictions
from credo.explain.doubting import (
    contradicted_experts,
    doubted_experts,
    doubted_numbers,
    doubted_statements,
    is_doubt_asked_for,
    undoubted_findings,
    unseen_cells,
    with_prior_correction,
)
from credo.explain.form_suggestions import form_suggestions
from credo.explain.orders_used import order_findings
from credo.explain.statement_references import StatementReference, references_to, with_places
from credo.explain.violations import only_checked
from credo.findings import Finding
from credo.io.column_values import DOUBTFUL
from credo.io.complete_rows import MISSING_VALUES, missing_value_findings
from credo.io.complete_rows import complete_rows as only_complete_rows
from credo.io.dataset import Dataset, Tables, no_data
from credo.io.dialects import USUAL, format_of
from credo.io.excel import rows_as_in_excel
from credo.io.files import warn_caller
from credo.io.missing_codes import SUSPECTED, seen_code_findings
from credo.io.network_files import NetworkLike
from credo.io.number_columns import with_ranges
from credo.io.origin import origin_of
from credo.io.partitions import PartitionedTable, has_partitions, in_partitions
from credo.io.several_tables import counting_through, gathered, tables_of
from credo.knowledge import Knowledge, KnowledgeSource
from credo.knowledge.declared_network import knowledge_about, without_declared_codes
from credo.knowledge.site import declared_site
from credo.knowledge.statements import Gate, Statement, TiedRows
from credo.model.network import Network
from credo.model.network_validation import is_list
from credo.options import (
    EMOptions,
    OptimiserOptions,
    Options,
    PosteriorOptions,
    TableFormat,
    arguments_moved,
    resolve_seed,
)
from credo.posterior.draws import PosteriorResult
from credo.progress import ESTIMATING, READING_DATA, ProgressEvent, ProgressLike, ProgressListener, reporting, shares_of
from credo.results.audit import Request, Step, TableRecord
from credo.results.fit_results import Fit
from credo.statistics.counts import less
from credo.statistics.counts_file import table_of_states, with_counts
from credo.statistics.expert_weights import weighed
from credo.statistics.likelihood import log_likelihood_of_counts
from credo.statistics.partitioned_rows import PartitionedRows
from credo.statistics.prior import PriorLike, as_prior
from credo.types import Indices, Seed, TableLike, Weights

if TYPE_CHECKING:
    from dask.distributed import Client

SITES_TOGETHER = "sites"  # the kind of the finding that all sites were learned together
NO_DATA = Finding("no data", "There are no data: the result is what the statements and the prior leave possible.")


@arguments_moved(
    complete_rows="em=EMOptions(complete_rows=True)",
    tie_reading="em=EMOptions(tie_reading=…)",
    soft_weight="optimiser=OptimiserOptions(soft_weight=…)",
    penalty="optimiser=OptimiserOptions(range_weight=…, relation_weight=…)",
    entropy="optimiser=OptimiserOptions(hidden_draws=…)",
    trust="doubt=0.1 where it was trust=0.9, and doubt=True where it was learned",
    verbose="progress=True or progress=False",
)
def fit(
    network: NetworkLike | KnowledgeSource,
    data: TableLike | Sequence[TableLike] | None = None,
    knowledge: KnowledgeSource | None = None,
    *,
    method: str = "auto",
    prior: PriorLike | None = None,
    fixed: Sequence[str] = (),
    weights: Weights | None = None,
    table_format: TableFormat | None = None,
    seed: Seed = 0,
    doubt: bool | float = False,
    em: EMOptions | None = None,
    posterior: PosteriorOptions | None = None,
    optimiser: OptimiserOptions | None = None,
    memory_limit: int | None = None,
    executor: Client | None = None,
    progress: ProgressLike = None,
) -> Fit:
    """Learn the CPTs of a network from data and knowledge.

    Parameters
    ----------
    network : Network, path, or an object of pgmpy or pyAgrum; or knowledge
        The structure to learn; CPTs that it has are where EM starts. Knowledge that declares its variables (a file
        whose name ends in `.credo`, text, or a list of statements) needs no network: states that it does not declare
        are taken from the data, and `findings` say so.
    data : path, glob, frame, or a list of these, optional
        CSV, Parquet, Excel, a folder or a glob of Parquet files, which may be remote (`"s3://bucket/*.parquet"`); a
        frame of pandas, polars, pyarrow, Dask, …; or what `credo.partitioned` made. The rows of a list, or of a glob of
        CSV files, are learned from together. Cells may be empty, and variables without a column are hidden. Without
        data, the result is what the knowledge leaves possible.
    knowledge : Knowledge, text, path or statements, optional
        What experts know.
    method : str
        One of `credo methods`. "auto" is the posterior mean; cmap where a prior is given that is no network, and where
        missing values cannot be drawn or would take more than about a minute.
    prior : number, str, Network, prior, or mapping, optional
        Pseudo-counts: a number, "k2", "bdeu:10", another network, or a mapping from variables to these. A network is
        as many cases as it weighs, so that "auto" keeps its intervals.
    fixed : sequence of str
        Variables whose CPTs stay as they are.
    weights : str or array, optional
        The column, or the numbers, that say how often each row counts.
    table_format : TableFormat, optional
        How the file of the data is written, where it is not as usual: separator, decimal mark, encoding, sheet.
    seed : int or numpy.random.Generator
        The same integer gives the same result.
    doubt : bool or float
        Whether statements may be wrong that have no confidence and no expert with a reliability: they may then
        contradict each other and the data, and `fit.statements()` says how probable each is. How often they are right
        is learned, or a number is the probability that one of them is wrong: `doubt=0.1`.
    em, posterior, optimiser : EMOptions, PosteriorOptions, OptimiserOptions, optional
        How incomplete and tied rows are learned from; how many draws `posterior` makes; and what the methods take that
        maximise an objective.
    memory_limit : int, optional
        How many bytes CPTs, inference and draws of the posterior may take; half of the machine's memory if not given.
        Files whose rows would take much of it are read in partitions, and what is prepared of these is kept on disk
        where it does not fit.
    executor : dask.distributed.Client, optional
        A cluster whose workers read the data and keep them, partition by partition; without it this machine does. The
        result depends on how the data are cut (`credo.partitioned`), and not on the number of workers.
    progress : bool or callable, optional
        Whether to show progress on stderr; if not given, where that is a terminal or a notebook. A function is called
        with a `ProgressEvent` now and then instead.

    Returns
    -------
    Fit
        The learned network, how it was found, and what a reader should know.

    Raises
    ------
    ConflictError
        Where the statements contradict each other.
    CredoError
        Where the network, the data, the knowledge or an option cannot be used; the message says why.

    Examples
    --------
    >>> import credo, polars as pl
    >>> net = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, parents={"lung": ["smoke"]})
    >>> rows = pl.DataFrame({"smoke": ["no", "no", "yes"], "lung": ["no", "no", "yes"]})
    >>> fit = credo.fit(net, rows, "smoke raises lung", method="cmap")
    >>> fit.status.name
    'OPTIMAL'
    """
    started = perf_counter()
    if data is None:
        _require_nothing_about_rows(weights=weights, table_format=table_format, executor=executor)
    others = (weights,) if isinstance(weights, str) else ()
    with rows_as_in_excel(data, table_format):
        source = None if data is None else gathered(data, table_format)
        with counting_through(source):
            known, taken = knowledge_about(
                network, knowledge, None if has_partitions(source) else table_of_states(source), others
            )
    _warn_of_codes(taken)
    request = Request(
        method,
        None if prior is None else as_prior(prior, known.network),
        tuple(fixed) if is_list(fixed) else fixed,  # type: ignore[arg-type]
        weights if isinstance(weights, str) else "",
        resolve_seed(seed),
        doubt is not False,
        None if isinstance(doubt, bool) else doubt,
        Options(em or EMOptions(), posterior or PosteriorOptions(), optimiser or OptimiserOptions()),
        memory_limit,
    )
    trail = (first_step(source, known, request),)
    with rows_as_in_excel(data, table_format):
        return learn(
            known, source, request, taken, trail, weights=weights, executor=executor, progress=progress, started=started
        )


def _sites_together(column: str) -> Finding:
    message = (
        f"All rows were learned from together, as if sites ({column}) did not differ. `credo sites`, and "
        "`credo.fit_sites` in Python, learn each site."
    )
    return Finding(SITES_TOGETHER, message)


def _warn_of_codes(findings: Iterable[Finding]) -> None:
    """Warn of values that may be codes for missing ones, before anything is learned from them."""
    for finding in findings:
        if finding.kind in (SUSPECTED, DOUBTFUL):
            warn_caller(str(finding), MissingCodeWarning)


def learn(
    known: Knowledge,
    source: TableLike | None,
    request: Request,
    taken: Sequence[Finding] = (),
    trail: tuple[Step, ...] = (),
    *,
    weights: Weights | None = None,
    executor: Client | None = None,
    progress: ProgressLike = None,
    started: float | None = None,
) -> Fit:
    """Learn from rows and knowledge that are there; `taken` are findings so far, `trail` ends with this step."""
    started = perf_counter() if started is None else started
    origin, memory_limit, doubt = origin_of(source), request.memory_limit, request.doubt
    source, of_counts = with_counts(source, known.network)
    taken = (*taken, *of_counts)
    if source is None:
        source, taken = no_data(known.network), (*taken, NO_DATA)
    elif not has_partitions(source):
        source = without_declared_codes(source, known.declarations)
    source = in_partitions(known.network, source, executor is not None, memory_limit)
    if request.options.em.complete_rows and not isinstance(source, PartitionedTable | Dataset):
        source, left_out = complete_rows_of(known, source, weights)
        taken = (*taken, *left_out)
    if (declared := declared_site(known.declarations)) is not None:
        taken = (*taken, _sites_together(str(declared.column)))
    references = references_to(known.statements)
    with _naming(references, known.statements), reporting(progress) as notify:
        samples = choose_method(request.method, request.prior is not None).doubts
        which = partial(doubted_numbers, known, doubt=doubt, samples=samples)
        model = prepare_model(known, request.fixed, memory_limit, which)
        doubts = None
        if len(model.doubted):
            doubts = doubted_statements(known, model.stated, model.doubted, doubt, model.expansion.network, model.kept)
        doubted = doubted_experts(known, doubt)
        for add_rows in (False, True):  # as rows, some evidence needs no luck with draws, and mixes slowly
            problem, table = prepare(
                model, source, method=request.method, prior=request.prior, weights=weights, seed=request.seed,
                options=request.options, memory_limit=memory_limit, progress=shares_of(READING_DATA, notify),
                doubts=doubts, must_doubt=is_doubt_asked_for(known, doubt), add_rows=add_rows,
                executor=executor_for(executor, memory_limit), doubted_experts=doubted,
            )  # fmt: skip
            if (own := problem.model.doubts) is not None:
                own = with_prior_correction(own, model.stated, model.expansion.network, unseen_cells(problem))
                problem = problem.with_model(doubts=own)
            evidence = weighed(model.stated.evidence, doubted, problem.data.expert_weights)
            if not any(finding.kind == SUSPECTED for finding in taken):
                _warn_of_codes(coded := seen_code_findings(table.numbers))
                taken = (*taken, *coded)
            notify(ProgressEvent(ESTIMATING))
            _check_memory(problem, notify)
            refuse = partial(_require_no_proof, problem, known, problem.model.doubted)
            problem, zeros = with_certain_zeros(problem)
            problem = problem.with_settings(progress=notify, refuse=refuse)
            assert problem.settings.method is not None
            estimate = problem.settings.method.estimate
            if problem.data.dataset is not None:
                estimate = partial(estimate_incomplete, examined=table.examined)
            with _explaining(problem, known):
                try:
                    solution = with_evidence(problem, evidence, estimate(problem), estimate)
                except SamplingError:
                    if add_rows or not any(map(can_be_rows, evidence)):
                        raise
                    continue
                is_hard = any(each.confidence is None for each in problem.model.constraints.network_constraints)
                if solution.status is Status.VIOLATED and is_hard and problem.binds_any_probability:
                    require_consistent(check(known.network, known))
            break
        problem = problem.with_settings(progress=None, refuse=None)

    if isinstance(solution.posterior, PosteriorResult):
        solution = replace(solution, posterior=unshared(solution.posterior, model.expansion))
    whole = problem.model.network.with_cpts(solution.cpts)
    log_likelihood = solution.log_likelihood
    if log_likelihood is None:
        of_rows = problem.data.counts if problem.data.of_rows is None else problem.data.of_rows
        log_likelihood = log_likelihood_of_counts(whole, of_rows)
    else:
        log_likelihood -= log_likelihood_of_added(problem, evidence, whole.cpts)
    if solution.log_likelihood is not None and problem.data.of_rows is not None:  # of rows and cases together
        log_likelihood -= log_likelihood_of_counts(whole, less(problem.data.counts, problem.data.of_rows))
    learned = collapsed(model.expansion, whole.cpts, problem.model.constraints, rescale=solution.posterior is None)
    contradicted = contradictions(known, model.stated, problem.data.counts, problem.settings.seed)
    unsure = set(problem.model.doubted.tolist())  # how probable these are is said elsewhere
    contradicted = tuple(each for each in contradicted if each.statement.number not in unsure)
    learned = with_ranges(learned, table.numbers)
    assert problem.settings.method is not None
    findings = (
        *contradiction_findings(contradicted),
        *contradicted_experts(problem.data.expert_weights),
        *only_checked(learned, known, problem.binds_any_probability, model.stated),
        *(each for each in taken if each.kind != MISSING_VALUES),  # once, of the rows that are learned from
        *table.findings,
        *_missing_values(table.dataset, known.network),
        *hidden_findings(table.columns),
        *outside_findings(known.network, table.numbers),
        *_method_findings(problem),
        *(
            replace(each, message=with_places(each.message, references))
            for each in (*undoubted_findings(model.stated, problem.model.doubted), *zeros, *solution.findings)
        ),
        *impossible_data_findings(whole, problem.data.counts, problem.model.kept),
        *order_findings(known),
        *form_suggestions(known, problem.data.counts, problem.model.names),
        *_without_arrows(known.network),
    )
    extra, gates = set(model.expansion.extra), set(model.expansion.steps)
    return Fit(
        network=learned,
        knowledge=known,
        method=problem.settings.method.name,
        status=Status.LOCAL if zeros and solution.status is Status.OPTIMAL else solution.status,
        log_likelihood=log_likelihood,
        rows=problem.data.counts.rows,
        seconds=perf_counter() - started,
        findings=tuple(
            each
            for each in findings
            if each.variable not in extra and not (each.variable in gates and each.kind in ("hidden", "one value"))
        ),
        history=solution.history or (log_likelihood,),
        certificate=solution.certificate,
        multipliers=solution.multipliers,
        posterior=solution.posterior,
        tied=solution.tied,
        _problem=_learned_from(problem, solution),
        is_incomplete=solution.expected is not None,
        no_interval=solution.no_interval,
        row_sample=table.sample,
        origin=origin,
        trail=_with_rows(trail, problem.data.counts.rows),
        without_column=tuple(name for name in known.network.names if name in table.columns.hidden),
        _request=request,
    )


def first_step(source: TableLike | None, known: Knowledge, request: Request, who: str = "") -> Step:
    """The step of the audit trail that learns from this table now."""
    tables = () if source is None else tuple(map(_record, tables_of(source)))
    date = datetime.now(UTC).isoformat(timespec="seconds")
    if not isinstance(who, str):
        raise OptionError(f"who is a name, not {who!r}.")
    return Step(date, tables, 0, len(known), version=__version__, seed=request.seed, who=who)


def _record(table: TableLike) -> TableRecord:
    found, declared = origin_of(table), format_of(table)  # type: ignore[arg-type]
    return TableRecord(found.table, found.fingerprint, None if declared == USUAL else declared)


def _with_rows(trail: tuple[Step, ...], rows: int) -> tuple[Step, ...]:
    """The trail whose last step adds the rows that the steps before did not have."""
    *before, last = trail
    return (*before, replace(last, rows=rows - sum(step.rows for step in before)))


def _require_nothing_about_rows(**given: object) -> None:
    """Refuse arguments that describe rows, where there are none."""
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise OptionError(
            f"There is no table, but {listing(named)} {'describes' if len(named) == 1 else 'describe'} one."
        )


def _learned_from(problem: Problem, solution: Solution) -> Problem:
    """The problem as a fit keeps it: with the counts that EM expected, and the weight that was chosen."""
    rows = None if isinstance(problem.data.dataset, PartitionedRows) else problem.data.dataset  # workers forget them
    problem = problem.with_data(dataset=rows)
    if solution.expected is not None:
        problem = problem.with_data(counts=solution.expected, observed=problem.data.counts)
    if solution.soft_weight is not None:
        problem = problem.with_settings(soft_weight=solution.soft_weight)
    return problem


def _without_arrows(network: Network) -> list[Finding]:
    """The finding that variables stand by themselves, so that evidence about them changes nothing else."""
    connected = {name for child in network.names if network.parents[child] for name in (child, *network.parents[child])}
    alone = [name for name in network.names if name not in connected]
    if not alone or len(network) < 2:
        return []
    first, second = (alone[0], next(name for name in network.names if name != alone[0]))
    message = (
        f"No arrow leads to or from {listing(alone)}: what is known there says nothing about other variables, and "
        f"P({second} | {first}) is P({second}). If it should, write for instance: {second} depends on {first}"
    )
    return [Finding("no arrows", message)]


def complete_rows_of(
    knowledge: Knowledge, data: TableLike, weights: Weights | None
) -> tuple[TableLike, Sequence[Finding]]:
    """The complete rows of the data; refused where rows are meant by their numbers, which would change."""
    if weights is not None and not isinstance(weights, str):
        raise OptionError("With complete_rows, weights are the name of a column: rows are left out.")
    if any(isinstance(statement, TiedRows) and statement.rows for statement in knowledge.statements):
        raise OptionError("With complete_rows, no statement can tie rows by their numbers: rows are left out.")
    found: list[Finding] = []

    def leave_out(table: TableLike) -> TableLike:
        frame, findings = only_complete_rows(table, knowledge.network.names)
        found.extend(findings)
        return frame

    return Tables(tables_of(data)).map(leave_out), found


def _missing_values(rows: Dataset | PartitionedRows | None, network: Network) -> list[Finding]:
    """The finding that values are missing, in variables with a column; complete rows are not kept."""
    if rows is None:
        return []
    missing = rows.missing()
    return missing_value_findings(
        {name: missing.get(name, 0) for name in network.names if name not in rows.hidden},
        rows.all_rows if isinstance(rows, Dataset) else len(rows),
    )


@contextmanager
def _naming(references: Sequence[StatementReference], statements: Sequence[Statement]) -> Iterator[None]:
    """Errors about statements that estimators know by number say where these were written."""
    try:
        yield
    except OptionError as error:
        error.args = (with_places(str(error), references), *error.args[1:])
        raise
    except ImpossibleRowError as error:
        numbers = [*error.statements, *_gate_statements(statements, error.gates)]
        words = [references[number - 1].quoted for number in numbers]
        raise ImpossibleRowError(error.row, error.values, numbers, words, error.place, error.gates) from None


def _gate_statements(statements: Sequence[Statement], gates: Collection[str]) -> list[int]:
    """The numbers, from 1, of the statements that state these gates."""
    return [n for n, stated in enumerate(statements, start=1) if isinstance(stated, Gate) and stated.child in gates]


def _check_memory(problem: Problem, notify: ProgressListener) -> None:
    """Refuse what does not fit into memory, and tell how long the rest will take."""
    assert problem.settings.method is not None
    if problem.settings.method.uses_knowledge and problem.model.blocks:
        cost = estimating(problem.model.blocks)
        count = sum(len(block.linear) + len(block.products) for block in problem.model.blocks)
        check_memory(
            cost, problem.settings.memory_limit, f"Learning under {counted(count, 'constraint')}", REDUCE_CONSTRAINTS
        )
        announce(cost, ESTIMATING, notify)


def _require_no_proof(problem: Problem, knowledge: Knowledge, doubted: Indices) -> None:
    """Refuse statements about any probability of which it is known without a search that they contradict others."""
    if not problem.model.constraints.network_constraints:
        return
    numbers, network = problem.model.constraints.network_statements, with_stated_forms(knowledge)
    certain = set(range(len(knowledge.statements))) - set(doubted.tolist())
    if provable_conflicts(knowledge.statements, numbers, network, certain):
        kept = [knowledge.statements[number] for number in sorted(certain)]
        require_consistent(check(knowledge.network, Knowledge(knowledge.network, (*knowledge.declarations, *kept))))


def _method_findings(problem: Problem) -> list[Finding]:
    """The finding that `auto` took another method than the posterior, and why."""
    if not problem.settings.not_posterior:
        return []
    assert problem.settings.method is not None
    message = (
        f"The method is {problem.settings.method.name}, which gives no intervals: {problem.settings.not_posterior}"
    )
    return [Finding("method", message)]


@contextmanager
def _explaining(problem: Problem, knowledge: Knowledge) -> Iterator[None]:
    """Statements that contradict each other or the data become an error that names them."""
    assert problem.settings.method is not None
    try:
        yield
    except NoStartError:
        require_consistent(check(knowledge.network, knowledge))
        raise
    except InfeasibleError:
        require_consistent(check(knowledge.network, knowledge))
        if problem.model.kept:
            raise OptionError(
                f"The knowledge contradicts the fixed CPTs ({listing(problem.model.kept)}). Let one of them be "
                "learned, or give the statements about them a confidence."
            ) from None
        raise CredoError(
            f"The method {problem.settings.method.name} found no CPTs that satisfy every statement, although the "
            "statements do not contradict each other. Give one of them a confidence, or use another method."
        ) from None

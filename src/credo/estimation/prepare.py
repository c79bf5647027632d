"""From a network, a table and knowledge to the prepared problem, in one pass: nothing here is computed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import Constraints, with_confidence, with_fixed
from credo.constraints.feasibility import NONE
from credo.constraints.lower import lower
from credo.constraints.noisy_families import with_stated_forms
from credo.constraints.stage_costs import require_small_cpts
from credo.distributed.executor import Executor
from credo.errors import (
    DataError,
    MissingColumnError,
    NetworkError,
    OptionError,
    listing,
)
from credo.estimation.doubted_forms import doubted_forms
from credo.estimation.learned_forms import forms_of, learned_findings, learned_form
from credo.estimation.method import Method
from credo.estimation.methods import METHODS, choose_method
from credo.estimation.missing_draws import ExaminedRows, automatic
from credo.estimation.problem import Data, Fold, Model, Problem, Settings
from credo.estimation.shared_cpts import near_cases
from credo.findings import Finding
from credo.io.complete_rows import rows_left_out
from credo.io.dataset import Dataset, concatenate
from credo.io.folds import folds_of_rows
from credo.io.gate_rows import gate_steps, with_gates
from credo.io.number_columns import NumbersSeen, merged
from credo.io.partitions import PartitionedTable
from credo.io.row_sample import RowSample, with_rows
from credo.knowledge import Knowledge, KnowledgeError, check_columns
from credo.knowledge.ranked_family import InterpolatedFamily, RankedFamily, form_cpt
from credo.knowledge.statements import TiedRows
from credo.model.expansion import Expansion
from credo.model.layout import Layout, check_size
from credo.model.network_validation import is_list
from credo.options import Options, TieReading
from credo.posterior.beliefs import StatementBelief
from credo.posterior.doubted_statements import DoubtedStatements
from credo.statistics.counts import Counts, count, empty, layout_for_counts, less, merge, merge_all
from credo.statistics.evidence import believed_cases, cases_as_counts, evidence_as_rows
from credo.statistics.expert_weights import DoubtedNumbers, expert_weights, weighed
from credo.statistics.partitioned_rows import PartitionedRows, Reading, read_partitions
from credo.statistics.prior import NetworkPrior, PriorLike, Priors, as_prior, expand_prior, prior_vector
from credo.statistics.tied_columns import stream_with_ties
from credo.tolerances import FOLDS
from credo.types import Indices, TableLike, Weights

# Rows are kept while a table is read, in case a value turns out to be missing; complete ones are dropped from here on.
KEPT_BYTES = 2**26


@dataclass(frozen=True, slots=True, eq=False)
class PreparedModel:
    """What does not depend on data: the expanded network, the constraints, and what is to be learned."""

    knowledge: Knowledge
    expansion: Expansion
    stated: Constraints  # as the statements have them
    constraints: Constraints  # with the numbers of kept CPTs substituted
    kept: tuple[str, ...]  # variables whose CPTs stay as they are
    names: tuple[str, ...]  # variables whose CPTs are learned
    doubted: Indices = field(default_factory=lambda: NONE)  # statements that may be wrong
    form_priors: Mapping[str, NetworkPrior] = field(default_factory=dict)  # of ranked and interpolated families


@dataclass(frozen=True, slots=True, eq=False)
class PreparedData:
    """What was read of a table."""

    counts: Counts
    fold_counts: tuple[Counts, ...]
    dataset: Dataset | PartitionedRows | None  # the rows, where some are incomplete or all were asked for
    columns: Dataset  # the first part, for what it says of columns
    numbers: Mapping[str, NumbersSeen]  # in the columns of variables with cut points
    sample: RowSample | None = None  # some of the rows
    findings: tuple[Finding, ...] = ()
    examined: ExaminedRows | None = None  # the rows prepared for inference, where the choice of a method needed them


def prepare_model(
    knowledge: Knowledge,
    fixed: Sequence[str] = (),
    memory_limit: int | None = None,
    doubted: Callable[[Constraints], Indices] | None = None,
) -> PreparedModel:
    """Lower the knowledge, and find out which CPTs are learned; `doubted` says which statements may be wrong."""
    require_small_cpts(
        with_stated_forms(knowledge), fixed if is_list(fixed) else ()
    )  # what else it may be is said later
    stated = lower(knowledge)
    expansion = stated.expansion
    assert expansion is not None
    kept, names = _kept_and_learned(expansion, fixed)
    check_size(expansion.network, memory_limit)
    may_be_wrong = NONE if doubted is None else doubted(stated)
    softened = with_confidence(stated, may_be_wrong)
    constraints = with_fixed(softened, {name: expansion.network.cpt_array(name) for name in kept})
    forms = form_priors(knowledge, forms_of(knowledge))
    return PreparedModel(knowledge, expansion, stated, constraints, kept, names, may_be_wrong, forms)


def prepare(
    model: PreparedModel,
    data: TableLike,
    *,
    method: str = "auto",
    prior: PriorLike | None = None,
    weights: Weights | None = None,
    seed: int = 0,
    options: Options | None = None,
    memory_limit: int | None = None,
    progress: Callable[[float], None] | None = None,
    doubts: DoubtedStatements | None = None,
    must_doubt: bool = True,
    executor: Executor | None = None,
    add_rows: bool = False,
    doubted_experts: DoubtedNumbers | None = None,
) -> tuple[Problem, PreparedData]:
    """Read and count the table, choose the method, and put everything together.

    `doubted_experts` are those whose numbers may be wrong: rows decide how far these count.

    With `add_rows`, evidence given nothing is rows in which all else is missing, for methods that draw as well.

    `executor` works on tables in partitions. `must_doubt` says that statements without a confidence are among the
    doubted ones, so that another method than one that weighs them is an error; else `auto` may choose one, for which a
    confidence is a cost.
    """
    options = Options() if options is None else options
    soft_weight, tie_reading = options.optimiser.soft_weight, TieReading(options.em.tie_reading)
    named = None if method == "auto" else choose_method(method)
    is_known = named is None and doubts is None and not model.names
    if is_known:  # nothing to draw
        named = choose_method("auto", True)
    if named is not None and not named.uses_knowledge:
        doubts = None
    if doubts is not None and (must_doubt or named is not None):
        named = _doubting(named)
    _prior_for(named or choose_method("auto", prior is not None), prior, model)  # an error before reading
    constraints = model.constraints
    soft = (doubts is None or named is None) and not constraints.linear.hard.all()
    uses_knowledge = named is None or named.uses_knowledge
    folds = FOLDS if (named and named.cross_validates) or (soft and uses_knowledge and soft_weight is None) else 0
    needs_rows = bool(constraints.ties and uses_knowledge) or options.em.trainer != "em"
    if isinstance(data, PartitionedTable):
        assert executor is not None
        common = _reading(model, weights, seed, memory_limit, options.em.complete_rows)
        table = read_partitioned_table(model, data, common, executor, folds, needs_rows, progress)
    else:
        table = read_table_once(model, data, weights, folds, seed, needs_rows, progress)
    prior, cases = _as_cases(named, prior, model, table.counts.layout)
    believed = cases
    doubted_experts = doubted_experts or DoubtedNumbers()
    own_weights = expert_weights(
        model.stated.evidence, doubted_experts, table.counts, model.expansion.network, model.kept
    )
    evidence = weighed(model.stated.evidence, doubted_experts, own_weights)
    if uses_knowledge:
        cases = _added(cases, cases_as_counts(evidence, table.counts.layout))
        believed = _added(believed, believed_cases(evidence, table.counts.layout))
    together = table.counts if cases is None else merge(table.counts, cases)
    forms = forms_of(model.knowledge)
    learned = tuple(learned_form(each, model.knowledge, together) for each in forms)
    if learned != forms:
        model = replace(model, form_priors=form_priors(model.knowledge, learned))
        table = replace(table, findings=(*table.findings, *learned_findings(forms, learned)))
    beliefs: tuple[StatementBelief, ...] = ()
    if uses_knowledge:
        doubted = doubted_forms(model.knowledge, learned, together)
        cases = _added(_added(cases, near_cases(model.knowledge, together)), doubted.cases)
        table = replace(table, findings=(*table.findings, *doubted.findings))
        beliefs = doubted.beliefs
    rows_alone = None
    if cases is not None:
        rows_alone, table = table.counts, _with_cases(table, cases)
    added = None
    if uses_knowledge and (add_rows or (named or choose_method("auto", prior is not None)).estimate_drawing is None):
        added = evidence_as_rows(evidence, model.expansion.network)
    read_rows = table.dataset
    if added is not None:
        complete = (table.counts,) if rows_alone is None or cases is None else (rows_alone, cases)
        table = replace(table, dataset=_with_added(table, added, complete))
    chosen = named or choose_method("auto", prior is not None)
    problem = Problem(
        Model(
            model.expansion.network,
            model.names,
            _prior_for(chosen, prior, model),
            constraints,
            blocks_of(constraints),
            model.kept,
            doubts=doubts,
            doubted=model.doubted,
            stated=model.stated,
        ),
        Data(
            table.counts,
            _complete_folds(table.counts, table.fold_counts),
            table.dataset,
            tie_reading,
            added_rows=0 if added is None else len(added),
            of_rows=rows_alone,
            believed=believed,
            expert_weights=own_weights if uses_knowledge else {},
            form_beliefs=beliefs,
        ),
        Settings(chosen, soft_weight, seed, options, memory_limit),
    )
    if named is None and prior is None and table.dataset is not None:
        found = automatic(problem)
        chosen, table = found.method, replace(table, examined=found.rows)
        own_prior = _prior_for(chosen, prior, model)
        problem = problem.with_model(prior=own_prior).with_settings(method=chosen, not_posterior=found.not_posterior)
        if not chosen.doubts:
            problem = problem.with_model(doubts=None, doubted=NONE)
    if is_known:
        problem = problem.with_settings(not_posterior="Every CPT is fixed, so that nothing is learned.")
    if problem.model.constraints.network_constraints and not chosen.binds_any_probability:
        problem = problem.with_model(constraints=replace(problem.model.constraints, network_constraints=()))
    return problem, replace(table, dataset=read_rows)


def _with_added(table: PreparedData, added: Dataset, complete: tuple[Counts, ...]) -> Dataset:
    """The rows that were read, or their counts where they are complete, and rows that statements add."""
    if isinstance(table.dataset, PartitionedRows):
        raise OptionError("Studies are not added to rows with missing values in partitions: read them in one piece.")
    if table.dataset is None:
        return replace(added, counted=complete)
    return concatenate([table.dataset, replace(added, hidden=table.dataset.hidden)])


def _as_cases(
    named: Method | None, prior: PriorLike | None, model: PreparedModel, layout: Layout
) -> tuple[PriorLike | None, Counts | None]:
    """The prior, or the cases that it is where it comes from networks: so `auto` draws, and there are intervals."""
    found = None if prior is None or named is not None else as_prior(prior, model.expansion.original)
    several = found.values() if isinstance(found, Mapping) else () if found is None else (found,)
    if not several or not all(isinstance(each, NetworkPrior) for each in several):
        return prior, None
    assert found is not None
    learned = [name for name in model.names if name in layout]
    vector = prior_vector(expand_prior(found, model.expansion), layout, learned)
    return None, replace(empty(layout), dense=vector)


def _added(first: Counts | None, second: Counts | None) -> Counts | None:
    return second if first is None else first if second is None else merge(first, second)


def _with_cases(table: PreparedData, cases: Counts) -> PreparedData:
    """What was read, together with cases that statements add to it."""
    dataset = table.dataset
    if isinstance(dataset, PartitionedRows):
        raise OptionError(
            "Numbers and studies that weigh like cases are not added to rows with missing values in partitions. Read "
            "the table in one piece, with a larger memory_limit."
        )
    dataset = None if dataset is None else replace(dataset, counted=(*dataset.counted, cases))
    return replace(table, counts=merge(table.counts, cases), dataset=dataset)


def _doubting(named: Method | None) -> Method:
    """The method that weighs statements which may be wrong; an error where another one is asked for."""
    able = [each for each in METHODS.values() if each.doubts]
    if named is not None and not named.doubts:
        raise OptionError(
            f"The method {named.name} cannot weigh statements that may be wrong, because it makes no draws. Use "
            f"{listing([each.name for each in able])}."
        )
    return named or able[0]


def read_table_once(
    model: PreparedModel,
    data: TableLike,
    weights: Weights | None = None,
    folds: int = 0,
    seed: int = 0,
    needs_rows: bool = False,
    progress: Callable[[float], None] | None = None,
) -> PreparedData:
    """Count a table while it is read, and keep its rows where they will be needed."""
    layout = layout_for_counts(model.expansion.network)
    own_generator = np.random.default_rng([seed, 2])
    sample: RowSample | None = None
    parts: list[Dataset] = []
    columns: Dataset | None = None  # of all parts, without their rows
    numbers: dict[str, NumbersSeen] = {}
    counts = [empty(layout) for _ in range(max(1, folds))]
    unfolded = empty(layout)  # of rows that are only counted, and not divided into folds: never held out
    incomplete, dropped, kept_bytes, read = needs_rows, False, 0, 0
    for part in _read(model, data, weights, progress):
        header = part.rows(np.zeros(len(part), dtype=np.bool_))
        columns = header if columns is None else concatenate([columns, header])
        numbers = merged([numbers, part.numbers])
        sample = with_rows(sample, part, own_generator)
        are_folds = len(part.counted) == len(counts)
        for fold, rows in enumerate(_split(part, folds, seed, read)):
            counted_rows = part.counted[fold : fold + 1] if are_folds else ()
            counts[fold] = merge(counts[fold], count(layout, replace(rows, counted=counted_rows)))
        if not are_folds:
            unfolded = merge_all([unfolded, *(replace(each, layout=layout) for each in part.counted)])
        read += len(part) + sum(each.rows for each in part.counted)
        incomplete = incomplete or any(each.missing() for each in counts)
        if not dropped:
            parts.append(part)
            kept_bytes += part.codes.nbytes
            if kept_bytes > KEPT_BYTES and not incomplete:
                parts, dropped = [], True
    assert columns is not None
    if incomplete and dropped:
        parts = list(_read(model, data, weights, None))
    dataset = concatenate(parts) if incomplete and read else None
    total = merge_all([unfolded, *counts])
    return PreparedData(total, tuple(counts) if folds else (), dataset, columns, numbers, sample)


def _split(part: Dataset, folds: int, seed: int, rows_before: int) -> Iterator[Dataset]:
    """A random division of the rows into folds of about equal size."""
    if not folds:
        yield replace(part, counted=())
        return
    number = folds_of_rows(seed, folds, rows_before, len(part))
    for fold in range(folds):
        yield part.rows(number == fold)


def _reading(
    model: PreparedModel, weights: Weights | None, seed: int, memory_limit: int | None, complete_rows: bool
) -> Reading:
    """What is the same for every partition that is read."""
    if weights is not None and not isinstance(weights, str):
        raise OptionError("The weights of a table in partitions are the name of a column, not an array.")
    network = model.knowledge.network
    if weights is not None and weights in network:
        raise DataError(f"The column {weights} cannot hold the weights: it is a variable of the network.")
    ties = [statement for statement in model.knowledge.statements if isinstance(statement, TiedRows)]
    if any(tie.rows for tie in ties):
        raise OptionError("Rows of a table in partitions are not tied by their numbers: tie them by a column.")
    columns = tuple(dict.fromkeys(tie.by for tie in ties if tie.by is not None))
    layout = layout_for_counts(model.expansion.network.without_cpts())
    steps = gate_steps(model.expansion)
    return Reading(network.without_cpts(), layout, weights, columns, seed, memory_limit, complete_rows, steps=steps)


def read_partitioned_table(
    model: PreparedModel,
    data: PartitionedTable,
    reading: Reading,
    executor: Executor,
    folds: int = 0,
    needs_rows: bool = False,
    progress: Callable[[float], None] | None = None,
) -> PreparedData:
    """The same for a table in partitions, each of which is read, counted and prepared by whoever works on it."""
    items = data.items(reading.network, reading.weights, reading.others)

    def notify(done: int) -> None:
        if progress is not None and data.partitions:
            progress(done / len(data.partitions))

    try:
        rows = read_partitions(executor, items, reading, notify)
    except MissingColumnError as error:
        ties = [statement for statement in model.knowledge.statements if isinstance(statement, TiedRows)]
        if mistakes := check_columns(ties, error.columns):
            raise KnowledgeError(mistakes) from None
        raise
    rows.require_gates(model.expansion.network)
    summary = rows.summary
    assert summary.columns is not None
    counts = replace(summary.counts, layout=layout_for_counts(model.expansion.network))
    fold_counts = rows.fold_counts(folds) if folds else ()
    is_incomplete = needs_rows or bool(counts.missing())
    found = rows_left_out(summary.left_out, len(rows), summary.incomplete_variables) if reading.complete_rows else ()
    return PreparedData(
        counts, fold_counts, rows if is_incomplete else None, summary.columns, summary.numbers, summary.sample, found
    )


def _complete_folds(counts: Counts, fold_counts: Sequence[Counts]) -> tuple[Fold, ...]:
    return tuple(Fold(less(counts, held_out), held_out) for held_out in fold_counts)


def _read(
    model: PreparedModel, data: TableLike, weights: Weights | None, progress: Callable[[float], None] | None
) -> Iterator[Dataset]:
    """The table in parts, with a column for each variable of the expanded network."""
    steps, rows = gate_steps(model.expansion), 0
    for part in stream_with_ties(model.knowledge, data, weights, progress):
        yield with_gates(part, model.expansion.network, steps, rows)
        rows += len(part)


def _prior_for(method: Method, prior: PriorLike | None, model: PreparedModel) -> Priors:
    if prior is not None and not method.takes_prior:
        takers = [each.name for each in METHODS.values() if each.takes_prior]
        raise OptionError(
            f"The method {method.name} takes no prior: pseudo-counts have no place in what it computes. Use "
            f"{listing(takers)}, or give none."
        )
    original = model.expansion.original
    given = as_prior(method.default_prior if prior is None else prior, original)
    if model.form_priors:
        every = given if isinstance(given, Mapping) else dict.fromkeys(original.names, given)
        given = {**every, **model.form_priors}
    return expand_prior(given, model.expansion)


def form_priors(knowledge: Knowledge, forms: Sequence[RankedFamily | InterpolatedFamily]) -> dict[str, NetworkPrior]:
    """The CPTs that ranked and interpolated families stand for, each distribution counting as some cases.

    Those that may be wrong are no priors: `doubted_forms` says how many cases they are worth.
    """
    found = {}
    orders = {name: tuple(map(str, order.states)) for name, order in knowledge.orders.items()}
    for statement in forms:
        if statement.is_doubted:
            continue
        child = str(statement.child)
        cpt = form_cpt(statement, knowledge.network, orders)
        found[child] = NetworkPrior(knowledge.network.with_cpts({child: cpt}), statement.cases)
    return found


def _kept_and_learned(expansion: Expansion, fixed: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables whose CPTs stay as they are, and those whose CPTs are learned."""
    if isinstance(fixed, str):
        raise OptionError(f"fixed is a list of names, not the text {fixed!r}.")
    if not isinstance(fixed, Iterable):
        raise OptionError(f"fixed is a list of names, not {fixed!r}.")
    kept: dict[str, None] = {}
    for name in fixed:
        expansion.original.variable(name)
        owner = expansion.network.shared.get(name, name)
        group = [owner, *(each for each, other in expansion.network.shared.items() if other == owner)]
        if left := [each for each in group if each not in fixed]:
            raise OptionError(f"{name} has one CPT with {listing(left)}: fix all of them, or none.")
        for own in expansion.effects.get(name, (name,)):
            if own not in expansion.network.cpts:
                why = "the network has no CPT for it"
                if name in expansion.effects:
                    kind = expansion.original.forms[name].kind
                    why = f"{name} is {kind}, and the network has no small CPTs for it"
                raise NetworkError(f"The CPT of {name} is fixed, but {why}.")
            kept[own] = None
    without = {*kept, *expansion.winners, *expansion.aligned}
    learned = tuple(name for name in expansion.network.names if name not in without)
    return tuple(name for name in kept if name not in expansion.aligned), learned

"""The check: can all statements hold together, what follows from them, and how well do they agree with the data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from time import perf_counter

import numpy as np

from credo.checking.blocks import BlockSummary, add_search, summarise_blocks
from credo.checking.check_cache import CheckCache
from credo.constraints.blocks import blocks_of
from credo.constraints.conflicts import ConflictError, MinimalConflict, fewest_to_drop
from credo.constraints.consequences import equation
from credo.constraints.constraint_set import Constraints
from credo.constraints.joint_conflicts import provable_conflicts
from credo.constraints.lower import lower
from credo.constraints.noisy_families import expanded_orders, with_stated_forms
from credo.constraints.stage_costs import announce, check_memory, checking, require_small_cpts
from credo.errors import ROWS_FROM_1, ImpossibleRowError, OptionError, counted, listing
from credo.estimation.network_feasibility import search_network_constraints
from credo.explain.contradictions import Contradiction, contradictions_among
from credo.explain.orders_used import orders_used
from credo.explain.plausibility import Plausibility
from credo.explain.statement_references import StatementReference, references_to
from credo.io.excel import rows_as_in_excel
from credo.io.network_files import NetworkLike
from credo.io.several_tables import gathered
from credo.knowledge import Knowledge, KnowledgeSource, kind_of, to_text, words_of
from credo.knowledge.declared_network import knowledge_about, without_declared_codes
from credo.knowledge.evidence import Evidence, curve, understood
from credo.knowledge.sources import is_knowledge
from credo.knowledge.statements import Gate, Influence, Statement, Synergy
from credo.knowledge.verbal_statements import is_verbal
from credo.options import TableFormat, resolve_seed
from credo.progress import (
    CHECKING_KNOWLEDGE,
    COMPARING_WITH_DATA,
    ProgressEvent,
    ProgressLike,
    ProgressListener,
    reporting,
)
from credo.results.check_results import (
    Check,
    Conflict,
    DataUse,
    DeterminedProbability,
    ExcludedStatement,
    ForcedEquality,
    OrderUsed,
    RedundantStatement,
    Resolution,
    StatementCheck,
    VacuousStatement,
    expert_curves,
)
from credo.statistics.counts import Counts
from credo.types import Seed, TableLike

_FEW_CONFLICTS = 12  # in the message of an error
_MANY_CONFLICTS = 500  # from here on, the fewest statements to drop are not sought
_MAX_EXAMPLE_PROBABILITIES = 12  # shown to prove that a conflict is as small as can be

Refer = Callable[[Iterable[int]], tuple[StatementReference, ...]]


def check(
    network: NetworkLike | KnowledgeSource,
    knowledge: KnowledgeSource | None = None,
    *,
    data: TableLike | None = None,
    table_format: TableFormat | None = None,
    seed: Seed = 0,
    progress: ProgressLike = None,
) -> Check:
    """Check whether knowledge can hold, what follows from it, and how well it agrees with data.

    Parameters
    ----------
    network
        A `Network`, or whatever `read_network` takes; or knowledge that declares its variables, as `fit` takes it.
    knowledge
        A `Knowledge`, or text or statements to make one of. Not needed where the first argument is knowledge.
    data
        A path or a frame. Each statement is then compared with the data on its own.
    table_format
        How the file of the data is written, where it is not as usual: separator, decimal mark, encoding, sheet.
    seed
        An integer or a NumPy `Generator`, for the random draws behind probabilities that have no closed form.
    progress
        Whether to show progress on the error stream; None shows it on a terminal and in a notebook. A function receives
        a `ProgressEvent` at every step instead.

    Returns
    -------
    Check
        Print it, or look into `feasible`, `conflicts`, `redundant`, `statements` and the rest.

    Raises
    ------
    KnowledgeError
        If a statement has a mistake. Knowledge that contradicts itself raises nothing here: `feasible` is False.

    Examples
    --------
    >>> import credo
    >>> network = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, parents={"lung": ["smoke"]})
    >>> found = credo.check(network, "P(lung=yes | smoke=yes) >= 30%\\nP(lung=yes | smoke=yes) <= 20%")
    >>> found.feasible
    False
    >>> [statement.line for statement in found.conflicts[0].statements]
    [1, 2]
    """
    if isinstance(network, Knowledge):
        raise OptionError("The network comes first, then the knowledge: check(network, knowledge).")
    if knowledge is None and not is_knowledge(network):
        raise OptionError("There is no knowledge to check: check(network, knowledge), or check(knowledge).")
    seed = resolve_seed(seed)
    with rows_as_in_excel(data, table_format), reporting(progress) as notify:
        table = None if data is None else gathered(data, table_format)
        known, taken = knowledge_about(network, knowledge, table)
        found = _check(known, without_declared_codes(table, known.declarations), seed, notify)
    return replace(found, from_table=tuple(map(str, taken)))


def check_again(knowledge: Knowledge, data: TableLike | None, cache: CheckCache, mark: object = None) -> Check:
    """The check of knowledge that is being edited: to the last bit what `check` finds, without what is known already.

    `mark` stands for the content of the data: with another one, they are read again.
    """
    if cache.mark != mark:
        cache.counted, cache.mark = None, mark
    with reporting(False, None) as notify:
        return _check(knowledge, data, 0, notify, cache)


def _check(
    knowledge: Knowledge,
    data: TableLike | None,
    seed: int,
    notify: ProgressListener,
    cache: CheckCache | None = None,
) -> Check:
    started = perf_counter()
    cache = CheckCache() if cache is None else cache
    notify(ProgressEvent(CHECKING_KNOWLEDGE))
    stated = with_stated_forms(knowledge)
    require_small_cpts(stated, [name for name in stated.names if name in stated.cpts])
    constraints = lower(knowledge, cache=cache.lowering)
    blocks = blocks_of(constraints)
    cost = checking(blocks)
    check_memory(cost, None, "This check", "State less about the variables with the largest CPTs.")
    announce(cost, CHECKING_KNOWLEDGE, notify)
    references = references_to(knowledge.statements)

    def refer(numbers: Iterable[int]) -> tuple[StatementReference, ...]:
        return tuple(references[number] for number in sorted(set(numbers)))

    summary = summarise_blocks(constraints, blocks, cache.blocks, notify)
    assert constraints.expansion is not None
    orders = expanded_orders(knowledge.orders, constraints.expansion)
    network_statements = sorted({*(each.statement for each in constraints.unlowered), *constraints.network_statements})
    for conflict in provable_conflicts(knowledge.statements, network_statements, with_stated_forms(knowledge)):
        summary.add_conflict(conflict)
    search = None
    if any(each.confidence is None for each in constraints.network_constraints) and not summary.conflicts:
        search = search_network_constraints(constraints, constraints.expansion.network)
    add_search(summary, constraints, search)
    conflicts = summary.conflicts
    has_all_conflicts = not summary.is_cut_short
    read = None if data is None else cache.read(knowledge, data, notify)
    counts, hidden = (None, ()) if read is None else (read.counts, read.hidden)
    notify(ProgressEvent(CHECKING_KNOWLEDGE if counts is None else COMPARING_WITH_DATA))
    comparison = cache.compared(knowledge, constraints, counts, seed)
    plausible = comparison.plausible
    contradicted = () if counts is None else contradictions_among(plausible, knowledge, constraints, counts)
    if read is not None and read.impossible is not None:
        contradicted = (*_contradicted_gates(read.impossible, knowledge, references), *contradicted)
    named = {name for block in blocks for name, _ in block.configurations}
    data_use = () if counts is None else _data_use(counts, hidden, named)
    constraint_counts = _constraint_counts(constraints, len(references))
    vacuous = _vacuous(summary, constraints, knowledge.statements, constraint_counts)
    vacuous_numbers = {number for number, _ in vacuous}
    return Check(
        feasible=not conflicts,
        conflicts=tuple(_conflict(conflict, refer, constraints) for conflict in conflicts),
        has_all_conflicts=has_all_conflicts,
        fewest_to_drop=refer(_fewest_to_drop(conflicts)) if has_all_conflicts else (),
        unresolved=refer(summary.not_decided),
        redundant=tuple(
            RedundantStatement(references[number], refer(sources))
            for number, sources in sorted(summary.redundant(constraints).items())
            if number not in vacuous_numbers
        ),
        determined=tuple(
            DeterminedProbability(constraints.layout.describe(pin.parameter), pin.value, refer(pin.statements))
            for pin in sorted(summary.pins, key=lambda pin: pin.parameter)
        ),
        vacuous=tuple(VacuousStatement(references[number], reason) for number, reason in vacuous),
        forced_equalities=tuple(
            ForcedEquality(equation(forced, constraints.layout, orders), refer(forced.statements))
            for forced in summary.forced
        ),
        excluded=tuple(
            ExcludedStatement(references[number], refer(others)) for number, others in sorted(summary.excluded.items())
        ),
        statements=_statement_checks(knowledge, constraints, references, constraint_counts, plausible),
        contradicted=contradicted,
        orders=tuple(
            OrderUsed(str(each.variable), tuple(map(str, each.states)), each.reason) for each in orders_used(knowledge)
        ),
        readings=tuple(
            f"{words_of(each)}: {_understood(each) if isinstance(each, Evidence) else to_text(each)}"
            for each in knowledge.statements
            if isinstance(each, Evidence) or is_verbal(each)
        ),
        curves=expert_curves(knowledge.statements),
        notes=tuple(f"{references[number].subject} {sentence}" for number, sentence in summary.notes),
        not_checked=(
            *_not_checked(summary, constraints, references),
            *(
                f"{references[number].subject} became so many constraints that its probability is too small to "
                "compute: it was not compared with the data."
                for number in sorted(comparison.too_small)
            ),
            *map(str, data_use),
        ),
        hidden=hidden,
        data_use=data_use,
        constraints=len(constraints.linear) + len(constraints.products) + len(constraints.network_constraints),
        blocks=len(blocks),
        with_data=data is not None,
        seconds=perf_counter() - started,
        suspected=refer(summary.suspected),
    )


CHANGE_OR_DOUBT = (
    "Change one of them; or let statements be wrong: --doubt on the command line, doubt=True in Python, or a line such "
    "as `expert radiology:` above those of someone who may be."
)


def require_consistent(found: Check) -> None:
    """Raise a ConflictError, with the conflicts in their author's words, where the knowledge contradicts itself."""
    if found.suspected:
        lines = ["No probabilities were found at which all statements hold. These do not seem to go together:"]
        lines += [f"  {statement}" for statement in found.suspected]
        lines.append(f"This is what a search found, and no proof. {CHANGE_OR_DOUBT}")
        raise ConflictError("\n".join(lines))
    if found.feasible:
        return
    lines = ["The knowledge contradicts itself."]
    for conflict in found.conflicts[:_FEW_CONFLICTS]:
        lines.append("These statements cannot all hold:" if len(conflict.statements) > 1 else "This cannot hold:")
        lines += [f"  {statement}" for statement in conflict.statements]
    if len(found.conflicts) > _FEW_CONFLICTS:
        more = counted(len(found.conflicts) - _FEW_CONFLICTS, "more conflict")
        lines.append(f"The check lists {more}.")
    lines.append(CHANGE_OR_DOUBT)
    raise ConflictError("\n".join(lines), found.conflicts)


def _statement_checks(
    knowledge: Knowledge,
    constraints: Constraints,
    references: tuple[StatementReference, ...],
    constraint_counts: list[int],
    plausible: Mapping[int, Plausibility],
) -> tuple[StatementCheck, ...]:
    reasons = {unlowered.statement: unlowered.reason for unlowered in constraints.unlowered}
    numbers = _number_counts(constraints)
    checks = []
    for reference, statement in zip(references, knowledge.statements, strict=True):
        kind = kind_of(statement, knowledge.network)
        checks.append(
            StatementCheck(
                reference,
                kind.name,
                kind.guo_type,
                constraint_counts[reference.number],
                getattr(statement, "confidence", None),
                plausible.get(reference.number),
                reasons.get(reference.number, ""),
                numbers.get(reference.number, 0),
            )
        )
    return tuple(checks)


def _number_counts(constraints: Constraints) -> dict[int, int]:
    """How many numbers of CPTs the constraints of each statement are about."""
    linear = constraints.linear
    pairs = np.stack((linear.statements[linear.entry_constraints], linear.indices))
    pairs = pairs[:, linear.coefficients != 0.0]
    products = [(each.statement, index) for each in constraints.products for index in each.indices]
    together = np.concatenate((pairs.T, np.array(products, dtype=np.int64).reshape(-1, 2)))
    statements, counts = np.unique(np.unique(together, axis=0)[:, 0], return_counts=True)
    return dict(zip(statements.tolist(), counts.tolist(), strict=True))


def _data_use(counts: Counts, hidden: Collection[str], variables: Collection[str]) -> tuple[DataUse, ...]:
    """Of these variables, those that could not be compared with every row, in the order of the network."""
    network = counts.layout.network
    return tuple(
        DataUse(
            name,
            max(0.0, counts.total - missing),
            counts.total,
            tuple(member for member in (name, *network.parents[name]) if member in hidden),
        )
        for name, missing in counts.missing().items()
        if name in variables
    )


def _conflict(conflict: MinimalConflict, refer: Refer, constraints: Constraints) -> Conflict:
    linear = constraints.linear
    named = np.unique(linear.take(np.isin(linear.statements, conflict.statements)).indices)
    resolutions = []
    for witness in conflict.witnesses:
        shown = np.flatnonzero(np.isin(witness.parameters, named))[:_MAX_EXAMPLE_PROBABILITIES]
        probabilities = tuple(
            (
                constraints.layout.describe(int(witness.parameters[place])),
                round(float(witness.point[place]), 9) + 0.0,
            )
            for place in shown
        )
        resolutions.append(Resolution(refer([witness.left_out])[0], probabilities))
    statements = refer(conflict.statements)
    slack = conflict.relaxation if isfinite(conflict.relaxation) else None
    configurations = tuple(_configurations_of(statement.number, constraints) for statement in statements)
    return Conflict(statements, slack, tuple(resolutions), configurations)


def _fewest_to_drop(conflicts: Sequence[MinimalConflict]) -> tuple[int, ...]:
    """The smallest set of statements without which no conflict is left; nothing where there are very many conflicts."""
    return fewest_to_drop([each.statements for each in conflicts]) if 0 < len(conflicts) <= _MANY_CONFLICTS else ()


def _configurations_of(statement: int, constraints: Constraints) -> tuple[str, ...]:
    """The conditional distributions that a statement is about, in words."""
    layout, linear = constraints.layout, constraints.linear
    indices = set(linear.take(linear.statements == statement).indices.tolist())
    indices |= {index for each in constraints.products if each.statement == statement for index in each.indices}
    places = dict.fromkeys(layout.locate(index)[:2] for index in sorted(indices))
    return tuple(layout.network.describe(*place) for place in places)


def _contradicted_gates(
    found: ImpossibleRowError, knowledge: Knowledge, references: Sequence[StatementReference]
) -> Iterator[Contradiction]:
    """The gates that a row contradicts."""
    for number, stated in enumerate(knowledge.statements):
        if isinstance(stated, Gate) and stated.child in found.gates:
            evidence = f"{found.place or 'row ' + str(found.row)} has {listing(found.values)}. {ROWS_FROM_1}"
            yield Contradiction(references[number], evidence, stated.child)


def _constraint_counts(constraints: Constraints, statements: int) -> list[int]:
    """How many constraints each statement became."""
    counts = np.bincount(constraints.linear.statements, minlength=statements)
    for others in (constraints.products, constraints.network_constraints):
        counts += np.bincount(np.array([each.statement for each in others], dtype=np.int64), minlength=statements)
    return [int(each) for each in counts]


def _vacuous(
    summary: BlockSummary, constraints: Constraints, statements: Iterable[Statement], constraint_counts: list[int]
) -> list[tuple[int, str]]:
    elsewhere = {*(each.statement for each in constraints.unlowered), *constraints.network_statements}
    found = []
    for number, statement in enumerate(statements):
        if number in elsewhere or number in summary.conflicting:
            continue
        if not constraint_counts[number] and isinstance(statement, Influence | Synergy):
            found.append((number, "one of its variables has a single state, so there is nothing to compare"))
        elif not constraint_counts[number] and constraints.always_true.get(number):
            found.append((number, "it compares probabilities with themselves, and always holds"))
        elif constraint_counts[number] and number not in summary.varying:
            by_sums = not any(summary.follows.get(number, []))
            reason = "probabilities sum to one, and so it" if by_sums else "other statements settle its values: it"
            found.append((number, f"{reason} always holds"))
    return found


def _not_checked(
    summary: BlockSummary, constraints: Constraints, references: tuple[StatementReference, ...]
) -> tuple[str, ...]:
    sentences = []
    conflicting = {number for conflict in summary.conflicts for number in conflict.statements}
    for number in sorted(summary.unresolved - conflicting):
        sentences.append(
            f"{references[number].subject} is about probabilities that other statements conflict over: whether it is "
            "part of a conflict is not known."
        )
    for number in sorted(summary.open_products - conflicting - summary.unresolved):
        sentences.append(
            f"{references[number].subject} compares products, which is not convex. The ranges of its factors leave "
            "room for it, but no CPTs were found where it holds with all the others: whether it can is not known."
        )
    for number in sorted({product.statement for product in constraints.products}):
        sentences.append(
            f"{references[number].subject} compares products: whether it follows from others was not checked."
        )
    for number, sentence in sorted(summary.open_network_constraints.items()):
        if number not in conflicting:
            sentences.append(f"{references[number].subject} {sentence}")
    for unlowered in constraints.unlowered:
        if unlowered.statement in conflicting:
            continue
        subject = references[unlowered.statement].subject
        sentences.append(f"{subject} was not checked against the others, since {unlowered.reason}.")
    for form in constraints.forms:
        sentences.append(
            f"{references[form.statement].subject} makes {form.child} a {form.kind}. Statements about {form.child} "
            "were checked on the small CPTs of its causes, with which the data cannot be compared directly."
        )
    for tie in constraints.ties:
        sentences.append(
            f"{references[tie.statement].subject} ties rows of the data: there are no probabilities to check."
        )
    for number in sorted(summary.undecided - summary.conflicting):
        sentences.append(
            f"{references[number].subject} became so many constraints that whether it follows was not checked."
        )
    for number in sorted(summary.unexplored):
        sentences.append(
            f"{references[number].subject} can hold, but whether it determines a probability was not computed."
        )
    return tuple(sentences)


def _understood(statement: Evidence) -> str:
    """What was understood of a number, and its curve."""
    return "; ".join(filter(None, (understood(statement), curve(statement))))

"""The network that the knowledge declares: what it does not say about states is taken from a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from credo.errors import CredoError, OptionError, closest, listing
from credo.findings import Finding
from credo.io.categories import declared_categories, read_frame
from credo.io.excel import rows_as_in_excel
from credo.io.missing_codes import without_codes
from credo.io.network_files import NetworkLike, read_network
from credo.io.network_from_table import NetworkFromTable, network_of_columns, require_separated
from credo.knowledge.declarations import DECLARATIONS, CutDeclaration, MissingValuesDeclaration, VariableDeclaration
from credo.knowledge.everyday import with_own_words
from credo.knowledge.knowledge import (
    Knowledge,
    KnowledgeSource,
    described_elsewhere,
    items_of,
    knowledge_for,
    raise_mistakes,
)
from credo.knowledge.names import mistake_at, name_text, state_text
from credo.knowledge.parse import Parsed
from credo.knowledge.site import SiteDeclaration
from credo.knowledge.sources import FILE_ENDING, is_knowledge, is_knowledge_file, read_sources, with_structures
from credo.knowledge.state_order import LISTED, natural_order, state_order
from credo.knowledge.statement_base import FamilyStatement, Reported
from credo.knowledge.statements import (
    Order,
    Statement,
    TiedRows,
    check_statements,
    mentions_in,
    ordered_variables,
    to_text,
)
from credo.knowledge.structure import Structure, structure_of
from credo.model.bin_rules import BinRule, EqualWidth, Quantiles
from credo.model.cut_points import CutPoints, default_labels
from credo.model.network import Network, Variable
from credo.model.noisy import NoisyForm
from credo.types import TableLike

NOT_USED = "columns not used"  # the kind of the finding

# Words for what statements are mostly about, in suggestions: the state that is to be the high one.
_EVENT = re.compile(
    r"(?i)fail|fault|broke|defect|degrad|damag|error|dead|died|death|sick|ill$|disease|alarm|down$|bad$|worse"
)

Mentions = Mapping[str, Sequence[tuple[Any, str]]]  # a variable → the statements that name it, and the name there


class KnowledgeWithNetwork(NamedTuple):
    """Knowledge about a network that was given or declared, and what was taken from the table."""

    knowledge: Knowledge
    findings: tuple[Finding, ...] = ()


def declared_network(knowledge: KnowledgeSource, *, data: TableLike | None = None) -> NetworkFromTable:
    """The network that the knowledge declares.

    Its variables are those that declarations and statements name. States and cut points that are not declared are taken
    from the table.

    Parameters
    ----------
    knowledge : str, path, statement, or an iterable of these
        The knowledge, such as a file whose name ends in `.credo`.
    data : path or frame, optional
        The data. Not needed where all states are declared.

    Returns
    -------
    NetworkFromTable
        The network, without CPTs, and findings: what was taken from the data.

    Raises
    ------
    KnowledgeError
        If a line cannot be read, declarations contradict each other, a name is neither declared nor a column, or states
        are not known.
    DataError
        If a column cannot become a variable.

    Examples
    --------
    >>> import credo
    >>> text = '''
    ... variables smoke, lung: no, yes
    ... lung depends on smoke
    ... smoke raises lung
    ... '''
    >>> print(credo.declared_network(text).network)
    Network 'network': 2 variables, 1 arc, 0 CPTs
      smoke: no, yes; from low to high
      lung: no, yes; from low to high; parents: smoke
    """
    items = items_of(knowledge)
    parsed = _read(with_structures(items), data)
    return _declared(parsed, without_declared_codes(data, parsed.declarations), _name(items))


def without_declared_codes(table: Any, declarations: Iterable[object]) -> Any:
    """The table in which the codes that declarations name are missing values; the table itself if they name none."""
    codes: list[str] = []
    codes_of: dict[str, list[str]] = {}
    for each in declarations:
        if isinstance(each, MissingValuesDeclaration):
            for found in [codes_of.setdefault(name, []) for name in each.columns] or [codes]:
                found.extend(each.values)
    return without_codes(table, codes, codes_of) if (codes or codes_of) and table is not None else table


def knowledge_about(
    network: NetworkLike | KnowledgeSource,
    knowledge: KnowledgeSource | None = None,
    table: TableLike | None = None,
    others: Iterable[str] = (),
) -> KnowledgeWithNetwork:
    """Knowledge about a network, or about the one that it declares itself.

    `others` are columns of the table that are used without being variables, such as weights.
    """
    if not is_knowledge(network):
        return KnowledgeWithNetwork(with_rests(knowledge_for(read_network(network), knowledge)))  # type: ignore[arg-type]
    items = items_of(network)
    parsed = _read([*with_structures(items), *(() if knowledge is None else items_of(knowledge))], table)
    made = _declared(parsed, without_declared_codes(table, parsed.declarations), _name(items), others)
    if not parsed.declarations:  # a mistake about an arrow is answered with the line that declares it
        raise_mistakes(check_statements(parsed.statements, made.network, is_declared=True))
    return KnowledgeWithNetwork(Knowledge(made.network, (*parsed.declarations, *parsed.statements)), made.findings)


def with_rests(knowledge: Knowledge) -> Knowledge:
    """The knowledge, and what noisy families of the network say of causes that have no effect: they go on having none.

    A family that the knowledge states itself is left to it.
    """
    stated = {str(each.child) for each in knowledge.statements if isinstance(each, FamilyStatement)}
    found = []
    for child, form in knowledge.network.forms.items():
        if child in stated or not isinstance(form, NoisyForm):
            continue
        rest = form.order[0] if form.takes_highest else form.order[-1]
        place = knowledge.network.states(child).index(rest)
        for causes, cpt in zip(form.sets, form.cpts, strict=False):
            for states in np.argwhere(cpt[..., place] == 1.0).tolist():
                given = zip(causes, states, strict=True)
                each = [(name, knowledge.network.states(name)[state]) for name, state in given]
                words = ", ".join(f"{name_text(name)}={state_text(state)}" for name, state in each)
                found.append(f"P({name_text(child)}={state_text(rest)} | {words} alone) = 1")
    known = set(map(to_text, knowledge.statements))
    new = [text for text in found if text not in known]
    return Knowledge(knowledge.network, [knowledge, *new], "the network") if new else knowledge


def _read(items: Sequence[Any], table: TableLike | None) -> Parsed:
    """What was written; names of columns need no quotes, and mistakes suggest lines with the text's own names."""
    parsed = read_sources(items)
    if not parsed.mistakes:
        return parsed
    if table is not None:
        parsed = read_sources(items, names=_columns(table))
    try:
        rest = parsed._replace(mistakes=())
        network = _declared(rest, without_declared_codes(table, rest.declarations), "network").network
    except (CredoError, OSError):  # there is more to correct first
        network = None
    return parsed._replace(mistakes=with_own_words(parsed.mistakes, network, is_declared=True))


def _columns(table: TableLike) -> Sequence[str]:
    found: list[str] = []

    def first_column(columns: Sequence[str]) -> Sequence[str]:
        found.extend(columns)
        return columns[:1]

    try:
        read_frame(table, first_column)
    except (CredoError, OSError):  # is reported when the table is read
        return ()
    return found


def _declared(parsed: Parsed, table: TableLike | None, name: str, others: Iterable[str] = ()) -> NetworkFromTable:
    structure, wrong = structure_of(parsed.declarations, parsed.statements)
    mentions: dict[str, list[tuple[Any, str]]] = {}
    for variable, places in structure.mentions.items():
        mentions.setdefault(variable, []).extend(each for each in places if type(each[0]) in DECLARATIONS)
    for variable, places in mentions_in(parsed.statements).items():  # of noisy families, too
        mentions.setdefault(variable, []).extend(places)
    raise_mistakes([*parsed.mistakes, *described_elsewhere(wrong, parsed.mistakes)])
    if not mentions:
        raise OptionError("The knowledge names no variable. Write, for instance, outcome depends on age.")
    if table is None:
        structure = _with_ordered_states(structure, parsed.statements)
        raise_mistakes(described_elsewhere(_unknown_names(structure, mentions, None), ()))
        variables = [_variable(each, structure) for each in mentions]
        return NetworkFromTable(Network(variables, structure.parents, name=name), ())
    header: list[str] = []

    def chosen_columns(found: Sequence[str]) -> Sequence[str]:
        nonlocal structure
        header.extend(found)
        if not mentions.keys() & set(found):
            require_separated(found, mentions)
        structure = _with_ordered_states(structure, parsed.statements, found)
        raise_mistakes(described_elsewhere(_unknown_names(structure, mentions, found), ()))
        raise_mistakes(described_elsewhere(_decisions_without_column(structure, mentions, found), ()))
        return [column for column in found if column in mentions] or found[:1]  # one column, to count rows

    frame = read_frame(table, chosen_columns)
    with rows_as_in_excel(table):
        made = network_of_columns(
            frame,
            parents=structure.parents,
            states={each: states for each, states in structure.states.items() if each in mentions},
            bins={variable: _rule(cut) for variable, cut in structure.cuts.items()},
            variables=list(mentions),
            categories=declared_categories(table),
        )
    used = {*mentions, *others, *(tie.by for tie in parsed.statements if isinstance(tie, TiedRows))}
    used |= {str(each.column) for each in parsed.declarations if isinstance(each, SiteDeclaration)}
    findings = [finding for finding in made.findings if finding.kind != NOT_USED]
    if unused := [column for column in header if column not in used]:
        message = f"Columns not used, because the knowledge does not mention them: {listing(unused)}."
        findings.append(Finding(NOT_USED, message))
    variables = [_ordered(variable, structure) for variable in made.network.variables]
    raise_mistakes(described_elsewhere(_without_order(variables, structure, parsed.statements), ()))
    return NetworkFromTable(Network(variables, made.network.parents, name=name), tuple(findings))


def _with_ordered_states(
    structure: Structure, statements: Iterable[Statement], columns: Sequence[str] = ()
) -> Structure:
    """With the states that only orders name, of variables that are neither declared with states nor columns."""
    known = {*structure.states, *structure.cuts, *columns}
    added: dict[str, tuple[str, ...]] = {}
    for statement in statements:
        if isinstance(statement, Order) and all(statement.states):
            added |= {str(name): tuple(map(str, statement.states)) for name in statement.variables if name not in added}
    return replace(structure, states={**structure.states, **{n: added[n] for n in added if n and n not in known}})


def _variable(name: str, structure: Structure) -> Variable:
    """A variable all of whose states are declared."""
    cuts = CutPoints(structure.cuts[name].points) if name in structure.cuts else None
    states = structure.states.get(name) or (default_labels(cuts.points) if cuts is not None else ())
    return _ordered(Variable(name, states, cuts), structure)


def _ordered(variable: Variable, structure: Structure) -> Variable:
    """A variable whose states are declared lists them from low to high, unless their labels show another order."""
    if variable.cuts is not None or variable.name not in structure.states:
        return variable
    if natural_order(variable.states) not in (None, variable.states):
        return variable
    return replace(variable, is_ordered=True)


def _without_order(
    variables: Sequence[Variable], structure: Structure, statements: Sequence[Statement]
) -> Iterator[Reported]:
    """Statements that need to know high from low, about states of the table whose order nobody stated.

    There is one mistake for all variables with the same states; it writes out their declaration.
    """
    unordered = {
        variable.name: variable.states
        for variable in variables
        if variable.name not in structure.states and state_order(variable, statements).reason == LISTED
    }
    groups: dict[tuple[str, ...], dict[str, None]] = {}  # states → variables of statements that compare states
    places: dict[tuple[str, ...], tuple[Statement, str]] = {}  # states → the first place where their order matters
    for statement in statements:
        for name, is_compared in ordered_variables(statement):
            if (states := unordered.get(name)) is not None:
                groups.setdefault(states, {})[str(name)] = None
                if is_compared:
                    places.setdefault(states, (statement, name))
    for states, (statement, name) in places.items():
        names = sorted(groups[states], key=lambda each: each != name)
        facts = {
            "name": name_text(name),
            "states": listing(states),
            "write": str(VariableDeclaration(tuple(names), _guessed_order(states))),
        }
        yield statement, mistake_at(name, "order-unknown", **facts)


def _guessed_order(states: tuple[str, ...]) -> tuple[str, ...]:
    """The states in an order to suggest: the one that names an event or a fault is the high one."""
    return tuple(sorted(states, key=lambda state: _EVENT.match(state) is not None))


def _rule(cut: CutDeclaration) -> BinRule:
    if cut.rule is None:
        return CutPoints(cut.points)
    return Quantiles(cut.parts) if cut.rule == "quantiles" else EqualWidth(cut.parts)


def _name(items: Sequence[Any]) -> str:
    """The name of the network: that of the first file."""
    files = (PurePath(item).name for item in items if isinstance(item, str | PurePath) and is_knowledge_file(item))
    return next((file.removesuffix(FILE_ENDING) for file in files), "") or "network"


# Unknown names --------------------------------------------------------------------------------------------------------


def _unknown_names(structure: Structure, mentions: Mentions, columns: Sequence[str] | None) -> Iterator[Reported]:
    """Variables whose states are neither declared nor in the table."""
    declared, in_table = {*structure.states, *structure.cuts}, set(columns or ())
    for name, places in mentions.items():
        cut = structure.cuts.get(name)
        if name in in_table:
            continue
        if cut is not None and columns is not None:  # a column of numbers that is missing is not a hidden variable
            yield from _unknown(name, places, columns, declared)
        elif cut is not None and cut.rule is not None:
            statement, at = structure.place(name, CutDeclaration)
            yield statement, mistake_at(at, "cut-needs-table", name=name_text(name))
        elif name in declared:
            continue
        elif any(isinstance(statement, VariableDeclaration) for statement, _ in places):
            yield _without_states(name, structure.place(name, VariableDeclaration), columns)
        elif columns is None and name in structure.mentions:
            yield _without_states(name, places[0], None)
        else:
            yield from _unknown(name, places, columns, declared if columns is not None else {*structure.mentions})


def _decisions_without_column(structure: Structure, mentions: Mentions, columns: Sequence[str]) -> Iterator[Reported]:
    """Decisions that others depend on: how, is learned from a column."""
    for each in structure.decisions:
        if each.variable in mentions and each.variable not in columns:
            near = closest(each.variable, columns)
            hint = f'Did you mean "{near}"?' if near else "Add the column: it says what was done in each row."
            yield each, mistake_at(each.variable, "decision-without-column", name=name_text(each.variable), hint=hint)


def _unknown(
    name: str, places: Sequence[tuple[Any, str]], columns: Sequence[str] | None, declared: Iterable[str]
) -> Iterator[Reported]:
    """A mistake at every place of a name that is neither declared nor a column."""
    known = [*(columns or ()), *sorted(set(declared) - {name, *(columns or ())})]
    near = closest(name, known)
    otherwise = "; or give the table" if columns is None else ", if it is hidden"
    hint = f'Did you mean "{near}"?' if near else _write_states(name, otherwise)
    facts = {
        "name": name,
        "problem": "is not declared" if columns is None else "is neither declared nor a column of the table",
        "known": listing(known) or "names that are declared",
        "hint": hint,
    }
    for statement, at in places:
        yield statement, mistake_at(at, "unknown-name", **facts)


def _without_states(name: str, place: tuple[Any, str], columns: Sequence[str] | None) -> Reported:
    statement, at = place
    near = closest(name, columns) if columns else None
    hint = _write_states(name, "; or give the table" if columns is None else ", if it is hidden")
    facts = {
        "name": name_text(name),
        "reason": "there is no table" if columns is None else "the table has no such column",
        "hint": f'Did you mean "{near}"? {hint}' if near else hint,
    }
    return statement, mistake_at(at, "states-missing", **facts)


def _write_states(name: str, otherwise: str) -> str:
    return f"Write, for instance, variable {name_text(name)}: no, yes{otherwise}."

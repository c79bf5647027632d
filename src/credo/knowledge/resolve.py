"""Statements held against a network: every name, state and parent must be there; all mistakes are collected."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credo.errors import closest, listing
from credo.knowledge.chain import PYTHON
from credo.knowledge.cross_checks import together_faults
from credo.knowledge.mistakes import MAX_MISTAKES, Fault, Mistake, describe
from credo.knowledge.syntax import (
    Approximation,
    Comparison,
    Influence,
    Linear,
    NoisyFamily,
    Order,
    Probability,
    Statement,
    Synergy,
    TiedRows,
)
from credo.knowledge.text import to_text
from credo.model.network import Network

SEARCHES = 50  # names for which the nearest is looked for: it takes long among a thousand variables


@dataclass(frozen=True, slots=True)
class Names:
    """What a network knows, laid out so that ten thousand statements are looked up quickly."""

    states: Mapping[str, frozenset[str]]
    parents: Mapping[str, frozenset[str]]
    network: Network
    searched: dict[tuple[str, tuple[str, ...]], str | None]

    @classmethod
    def of(cls, network: Network) -> Names:
        return cls(
            {variable.name: frozenset(variable.states) for variable in network.variables},
            {name: frozenset(parents) for name, parents in network.parents.items()},
            network,
            {},
        )

    def nearest(self, name: str, known: tuple[str, ...]) -> str | None:
        """The known name that was most likely meant; looked for as often as a reader will go through messages."""
        key = (str(name), known)
        if key not in self.searched and len(self.searched) < SEARCHES:
            self.searched[key] = closest(name, known)
        return self.searched.get(key)


def resolve(statements: Sequence[Statement], network: Network) -> tuple[Mistake, ...]:
    """Every mistake that statements make about a network and about each other, in the order of the statements."""
    names = Names.of(network)
    mistakes: list[Mistake] = []
    broken: set[int] = set()
    for number, statement in enumerate(statements):
        faults = [*RULES[type(statement)](statement, names)]
        if faults:
            broken.add(number)
            mistakes.extend(placed(fault, statement) for fault in faults)
            if len(mistakes) >= MAX_MISTAKES:
                return (*mistakes, placed(too_many(statement), statement))
    sound = [statement for number, statement in enumerate(statements) if number not in broken]
    mistakes.extend(placed(fault, statement) for statement, fault in together_faults(sound))
    return tuple(mistakes)


def placed(fault: Fault, statement: Statement) -> Mistake:
    """The mistake in the user's own line; a statement made in Python is shown as it would be written."""
    span = statement.span
    if span is None:
        return describe(fault, 0, to_text(statement), PYTHON)
    if not fault.column:  # a name without columns: made by hand and put into a statement that was read from text
        fault = fault._replace(column=span.column, end_column=span.end_column)
    return describe(fault, span.line, span.text, span.source)


def too_many(statement: Statement) -> Fault:
    """The last mistake of a list that is long enough, at the end of its line."""
    end = len(to_text(statement) if statement.span is None else statement.span.text)
    return Fault("too-many-mistakes", end + 1, end + 2)


def check_columns(
    statements: Iterable[Statement], columns: Sequence[str], rows: int | None = None
) -> tuple[Mistake, ...]:
    """Ties that name a column or a row which the data do not have; call it when the data are known."""
    ties = [statement for statement in statements if isinstance(statement, TiedRows)]
    return tuple(placed(fault, tie) for tie in ties for fault in _data_faults(tie, columns, rows))


def _data_faults(tie: TiedRows, columns: Sequence[str], rows: int | None) -> Iterator[Fault]:
    if tie.by is not None and tie.by not in columns:
        near = closest(tie.by, columns)
        hint = f'Did you mean "{near}"?' if near else "Name the column that tells which rows belong together."
        yield _at(tie.by, "unknown-column", name=tie.by, known=listing(columns), hint=hint)
    for row in tie.rows:
        if rows is not None and row > rows:
            # Row numbers are plain numbers without a place; each stands in the line as a word of its own.
            text = to_text(tie) if tie.span is None else tie.span.text
            word = re.search(rf"(?<!\w){row}(?!\w)", text)
            column = word.start() + 1 if word else 0
            yield Fault("row-outside", column, column + len(str(row)), {"rows": rows, "found": row})


# One rule a kind of statement -----------------------------------------------------------------------------------------


def _comparison(statement: Comparison, names: Names) -> Iterator[Fault]:
    for side in statement.sides:
        for probability in _probabilities(side):
            yield from _probability(probability, names)


def _approximation(statement: Approximation, names: Names) -> Iterator[Fault]:
    for side in (statement.left, statement.right):
        for probability in _probabilities(side):
            yield from _probability(probability, names)


def _probabilities(expression: Any) -> Iterable[Probability]:
    return (term for _, term in expression.terms) if isinstance(expression, Linear) else expression.factors


def _probability(probability: Probability, names: Names) -> Iterator[Fault]:
    variable, states = probability.variable, probability.states
    known = names.states.get(variable)
    if known is None:
        yield _unknown_variable(variable, names)
    else:
        for state in states:
            if state not in known:
                yield _unknown_state(variable, state, names)
        if len(states) > 1:
            yield from _state_set(variable, states, known)
    seen: set[str] = set()
    for parent, state in probability.given:
        if parent == variable:
            yield _at(parent, "condition-on-itself", name=parent)
        elif parent in seen:
            yield _at(parent, "condition-twice", name=parent)
        elif parent not in names.states:
            yield _unknown_variable(parent, names)
        else:
            if known is not None and parent not in names.parents[variable]:
                yield _at(parent, "not-a-parent", **_parent_facts(parent, variable, names))
            if state not in names.states[parent]:
                yield _unknown_state(parent, state, names)
        seen.add(parent)


def _state_set(variable: str, states: Sequence[str], known: frozenset[str]) -> Iterator[Fault]:
    for position, state in enumerate(states):
        if state in states[:position]:
            yield _at(state, "state-twice", name=variable, state=state)
    if known <= set(states):
        yield _between(states[0], states[-1], "all-states", name=variable)


def _influence(statement: Influence, names: Names) -> Iterator[Fault]:
    yield from _parents_of(statement.child, (statement.parent,), names, statement.direction)


def _synergy(statement: Synergy, names: Names) -> Iterator[Fault]:
    yield from _parents_of(statement.child, statement.parents, names)


def _order(statement: Order, names: Names) -> Iterator[Fault]:
    variable, states = statement.variable, statement.states
    known = names.states.get(variable)
    if known is None:
        yield _unknown_variable(variable, names)
        return
    unknown = [state for state in states if state not in known]
    yield from (_unknown_state(variable, state, names) for state in unknown)
    missing = [state for state in names.network.states(variable) if state not in states]
    if missing and not unknown:
        yield _between(states[0], states[-1], "order-misses-state", name=variable, missing=listing(missing))


def _family(statement: NoisyFamily, names: Names) -> Iterator[Fault]:
    child, members = statement.child, [name for each in statement.sets for name in each]
    faults = [*_parents_of(child, members, names)]
    yield from faults
    if child not in names.states:
        return
    if statement.kind in ("noisy-or", "noisy-and") and len(names.states[child]) != 2:
        general = "noisy-max" if statement.kind == "noisy-or" else "noisy-min"
        count = len(names.states[child])
        yield _at(child, "noisy-child-states", name=child, kind=statement.kind, general=general, count=count)
    left_out = [parent for parent in names.network.parents[child] if parent not in members]
    if left_out and members and not faults:
        yield _between(members[0], members[-1], "parent-left-out", name=child, missing=listing(left_out))


def _tied(statement: TiedRows, names: Names) -> Iterator[Fault]:
    rows = len(statement.rows) if statement.differ else 0
    for name in statement.variables:
        if name not in names.states:
            yield _unknown_variable(name, names)
        elif rows > (states := len(names.states[name])):
            yield _at(name, "too-few-states", name=name, rows=rows, states=states)


RULES: dict[type, Callable[[Any, Names], Iterator[Fault]]] = {
    Comparison: _comparison,
    Approximation: _approximation,
    Influence: _influence,
    Synergy: _synergy,
    Order: _order,
    NoisyFamily: _family,
    TiedRows: _tied,
}


# Faults that several rules find ---------------------------------------------------------------------------------------


def _parents_of(child: str, parents: Sequence[str], names: Names, direction: str = "") -> Iterator[Fault]:
    known = child in names.states
    for parent in parents:
        if parent not in names.states:
            yield _unknown_variable(parent, names)
        elif known and parent not in names.parents[child]:
            facts = _parent_facts(parent, child, names)
            if direction and child in names.parents[parent]:
                yield _at(parent, "influence-reversed", reverse=f"{child} {direction} {parent}", **facts)
            else:
                yield _at(parent, "not-a-parent", **facts)
    if not known:
        yield _unknown_variable(child, names)


def _parent_facts(parent: str, child: str, names: Names) -> dict[str, str]:
    parents = names.network.parents[child]
    near = names.nearest(parent, parents)
    hint = f'Did you mean "{near}"?' if near else f"Say it about a parent of {child}, or add the arc to the network."
    if child in names.parents[parent]:
        hint = f"The arc goes the other way: {child} is a parent of {parent}."
    said = f"one of the parents of {child}: {listing(parents)}" if parents else f"no condition: {child} has no parents"
    return {"name": parent, "child": child, "parents": said, "hint": hint}


def _unknown_variable(name: str, names: Names) -> Fault:
    known = names.network.names
    near = names.nearest(name, known)
    hint = (
        f'Did you mean "{near}"?' if near else "Names are written as in the network, in quotes where they hold spaces."
    )
    return _at(name, "unknown-variable", name=name, known=listing(known), hint=hint)


def _unknown_state(variable: str, state: str, names: Names) -> Fault:
    known = names.network.states(variable)
    near = names.nearest(state, known) or next((each for each in known if _same_number(each, state)), None)
    hint = f'Did you mean "{near}"?' if near else "States are written as in the network, in quotes where needed."
    return _at(state, "unknown-state", name=variable, state=state, known=listing(known), hint=hint)


def _same_number(left: str, right: str) -> bool:
    try:
        return float(left) == float(right)
    except ValueError:
        return False


def _at(place: str, kind: str, /, **facts: object) -> Fault:
    return Fault(kind, getattr(place, "column", 0), getattr(place, "end_column", 0), facts)


def _between(first: str, last: str, kind: str, /, **facts: object) -> Fault:
    columns = [getattr(each, "column", 0) for each in (first, last)]
    ends = [getattr(each, "end_column", 0) for each in (first, last)]
    return Fault(kind, min(columns), max(ends), facts)

"""Gate: a child that follows from its parents, as in a fault tree: `top is or of pump1, pump2`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from credo.errors import counted, listing
from credo.knowledge.experts import Expert
from credo.knowledge.mistakes import LineMistake, python_error
from credo.knowledge.names import (
    Name,
    Part,
    checked_items,
    checked_name,
    joined,
    mistake_at,
    mistake_between,
    name_text,
    own_parent,
    state_text,
    token_part,
)
from credo.knowledge.network_names import NetworkNames, check_parents, unknown_state
from credo.knowledge.statement_base import DoubtableFamily, Kind, Span, StatementRules, modifiers_text
from credo.model.gates import RANKED

COUNT, NOT, SAME = "count", "not", "same as"
KINDS = ("or", "and", "nor", "nand", "xor", "max", "min")
_WORDS = {"maximum": "max", "highest": "max", "minimum": "min", "lowest": "min"}


@dataclass(frozen=True, slots=True)
class GateTerm:
    """An input of a gate: a variable, `not` a variable, or one state of it (`valve=stuck`).

    Attributes
    ----------
    name
        The variable.
    is_negated
        Whether the input is that it does not happen.
    state
        The state that is the event; None for the highest one.
    """

    name: str
    is_negated: bool = False
    state: str | None = None

    def __str__(self) -> str:
        event = name_text(self.name) + ("" if self.state is None else f"={state_text(self.state)}")
        return f"not {event}" if self.is_negated else event


@dataclass(frozen=True, slots=True)
class Gate(DoubtableFamily):
    """`top is or of pump1, not pump2`, `top is 2 of a, b, c`, `spare is not main`, `copy is same as main`.

    Attributes
    ----------
    child
        The variable.
    kind
        "or", "and", "nor", "nand", "xor", "max", "min", "count", "not" or "same as".
    inputs
        What it follows from.
    least
        How many inputs have to happen, for "count".
    confidence
        How probable it is that the drawing is right; None: it is certain, or as probable as its expert is reliable.
    expert
        Who says so, if somebody who may be wrong does.
    span
        Where it is written; None for one that was made in Python.
    """

    child: str
    kind: str
    inputs: tuple[GateTerm, ...]
    least: int = 0
    confidence: float | None = None
    expert: Expert | None = None
    span: Span | None = field(default=None, compare=False)

    @property
    def parents(self) -> tuple[str, ...]:
        """The inputs' variables."""
        return tuple(term.name for term in self.inputs)

    def __str__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        ending = modifiers_text(self)
        if self.kind in (NOT, SAME):
            return f"{name_text(self.child)} is {self.kind} {inputs}{ending}"
        return f"{name_text(self.child)} is {self.least if self.kind == COUNT else self.kind} of {inputs}{ending}"


# The Python form ------------------------------------------------------------------------------------------------------

_TERM = re.compile(r"(?P<negated>not\s+)?(?P<name>[^=]+?)\s*(?:=\s*(?P<state>.+))?")


def gate(child: str, kind: str | int, inputs: Iterable[str]) -> Gate:
    """State that the child follows from its parents: `child is or of a, not b`, or `child is 2 of a, b, c`.

    Parameters
    ----------
    child : str
        A variable.
    kind : {"or", "and", "nor", "nand", "xor", "max", "min", "not", "same as"} or int
        What the gate does; a number says how many inputs have to happen at least.
    inputs : iterable of str
        The parents, each `name`, `not name`, or `name=state` for the state that is the event.

    Returns
    -------
    Gate
        The statement.

    Raises
    ------
    KnowledgeError
        If the kind is unknown, there are no inputs, or a name is not a text.

    Examples
    --------
    >>> import credo
    >>> print(credo.gate("top", "or", ["pump1", "not pump2"]))
    top is or of pump1, not pump2
    >>> print(credo.gate("top", 2, ["a", "b", "valve=stuck"]))
    top is 2 of a, b, valve=stuck
    """
    terms = []
    for item in checked_items(inputs):
        found = _TERM.fullmatch(checked_name(item).strip())
        if found is None:
            raise python_error("gate-inputs", f"gate({child!r}, {kind!r}, [{item!r}])", count=0, wanted="1")
        terms.append(GateTerm(found["name"], found["negated"] is not None, found["state"]))
    least, word = (kind, COUNT) if isinstance(kind, int) else (0, _WORDS.get(kind, kind))
    if word not in (*KINDS, COUNT, NOT, SAME):
        raise python_error("gate-kind", f"gate({child!r}, {kind!r}, …)", known=listing((*KINDS, NOT, SAME)))
    statement = Gate(checked_name(child), str(word), tuple(terms), least)
    if not terms or (word in (NOT, SAME) and len(terms) > 1):
        wanted = "1 input" if word in (NOT, SAME) else "at least 1 input"
        text = f"gate({child!r}, {kind!r}, …)"
        raise python_error("gate-inputs", text, count=len(terms), wanted=wanted)
    return statement


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_gate(children: list[Any]) -> Part:
    """`name IS GATE OF input, …`."""
    child, word, inputs = children[0], str(children[2]).lower(), children[4::2]
    kind = word.removeprefix("the").strip()
    return _gate(child, _WORDS.get(kind, kind), inputs)


def parse_count_gate(children: list[Any]) -> Part:
    """`name IS_COUNT number OF input, …`."""
    child, rest = children[0], [each for each in children[2:] if isinstance(each, Part)]
    amount, inputs = rest[0], rest[1:]
    number = amount.value.constant
    least = int(number) if number == int(number) else 0
    found = _gate(child, COUNT, inputs, least)
    mistakes = found.mistakes
    if least != number or least < 1:
        mistakes = (*mistakes, LineMistake("gate-number", amount.column, amount.end))
    elif least > len(inputs):
        facts = {"least": least, "count": counted(len(inputs), "input")}
        mistakes = (*mistakes, LineMistake("gate-too-many", amount.column, amount.end, facts))
    return found._replace(mistakes=mistakes)


def parse_not_gate(children: list[Any]) -> Part:
    """`name IS NOT input`."""
    return _gate(children[0], NOT, [children[3]])


def parse_same_gate(children: list[Any]) -> Part:
    """`name IS SAME_AS name`."""
    other = children[3]
    return _gate(children[0], SAME, [other._replace(value=GateTerm(other.value))])


def parse_input(children: list[Any]) -> Part:
    """`[NOT] name [= state]`."""
    parts = [each if isinstance(each, Part) else token_part(each) for each in children]
    is_negated = parts[0].value == "not" and not isinstance(parts[0].value, Name)
    name, *rest = parts[1:] if is_negated else parts
    mistakes: tuple[LineMistake, ...] = ()
    if rest and rest[0].value != "=":
        mistakes = (LineMistake("gate-relation", rest[0].column, rest[0].end),)
    return joined(GateTerm(name.value, is_negated, rest[1].value if rest else None), parts, mistakes)


def _gate(child: Part, kind: str, inputs: Sequence[Part], least: int = 0) -> Part:
    terms = tuple(part.value for part in inputs)
    mistakes, seen = list(own_parent([term.name for term in terms], child.value)), set[str]()
    for term in terms:
        if term.name in seen:
            mistakes.append(mistake_at(term.name, "gate-input-twice", name=term.name))
        seen.add(term.name)
    return joined(Gate(child.value, kind, terms, least), [child, *inputs], tuple(mistakes))


# Checks ---------------------------------------------------------------------------------------------------------------


def _check(statement: Gate, names: NetworkNames) -> Iterator[LineMistake]:
    child = statement.child
    mistakes = [*check_parents(child, statement.parents, names)]
    yield from mistakes
    if mistakes:
        return
    states, is_ranked = names.network.states(child), statement.kind in (*RANKED, SAME)
    if not is_ranked and len(states) != 2:
        instead = {"or": "max", "and": "min"}.get(statement.kind, "max or min")
        facts = {"name": child, "count": len(states), "kind": statement.kind, "instead": instead}
        yield mistake_at(child, "gate-child-states", **facts)
        return
    for term in statement.inputs:
        own = names.network.states(term.name)
        if term.state is not None and term.state not in own:
            yield unknown_state(term.name, term.state, names)
        elif is_ranked and (len(own) != len(states) or (term.state is not None and len(own) != 2)):
            yield mistake_at(term.name, "gate-ranks", name=term.name, child=child, own=len(own), needed=len(states))
        elif not is_ranked and term.state is None and len(own) != 2:
            facts = {"name": term.name, "count": len(own), "write": str(GateTerm(term.name, state=own[-1]))}
            yield mistake_at(term.name, "gate-input-states", **facts)
    left_out = [parent for parent in names.network.parents[child] if parent not in statement.parents]
    if left_out:
        ends = statement.parents[0], statement.parents[-1]
        yield mistake_between(*ends, "gate-parent-left-out", name=child, missing=listing(left_out))


def _arcs(statement: Gate) -> list[tuple[str, str]]:
    return [(name, statement.child) for name in statement.parents]


def _orders(statement: Gate) -> list[tuple[str, bool]]:
    return [(statement.child, True), *((term.name, True) for term in statement.inputs if term.state is None)]


GATE = StatementRules(
    "a gate",
    {
        "gate": parse_gate,
        "count_gate": parse_count_gate,
        "not_gate": parse_not_gate,
        "same_gate": parse_same_gate,
        "gate_input": parse_input,
    },
    _check,
    lambda statement, network: Kind("gate"),
    modifiers=("confidence",),
    arcs=_arcs,
    ordered_variables=_orders,
)

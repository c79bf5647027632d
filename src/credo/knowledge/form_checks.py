"""What can be said about the form of a statement before any network is known: each check gives faults with columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any, NamedTuple

from credo.knowledge.compare import compare
from credo.knowledge.mistakes import Fault
from credo.knowledge.parse_values import Compared, Part
from credo.knowledge.syntax import (
    Approximation,
    Comparison,
    Influence,
    NoisyFamily,
    Order,
    Statement,
    Synergy,
    TiedRows,
)


class What(NamedTuple):
    """How people call a kind of statement, and what may be said at its end."""

    words: str
    allowed: tuple[str, ...]


ENDINGS: dict[type, What] = {
    Comparison: What("a comparison", ("margin", "confidence")),
    Approximation: What("an approximate equality", ("within", "confidence")),
    Influence: What("an influence", ("margin", "confidence")),
    Synergy: What("a synergy", ("margin", "confidence")),
    Order: What("an order of states", ()),
    NoisyFamily: What("a noisy family", ("leak",)),
    TiedRows: What("a tie between rows", ()),
}


def finish(body: Part, modifiers: Sequence[Part]) -> tuple[Statement | None, tuple[Fault, ...]]:
    """The statement with what is said at its end, and every fault of its form."""
    faults = list(body.faults)
    said: dict[str, Part] = {}
    for modifier in modifiers:
        faults.extend(modifier.faults)
        faults.extend(_amount_faults(modifier))
        if said.setdefault(modifier.value.what, modifier) is not modifier:
            faults.append(Fault("said-twice", modifier.column, modifier.end))
    if isinstance(body.value, Compared):
        statement, more = compare(body, said, bool(faults))
        faults.extend(more)
    else:
        statement = body.value
    if statement is None:
        return None, tuple(faults)
    what = ENDINGS[type(statement)]
    for name, modifier in said.items():
        if name in what.allowed:
            value = bool(modifier.value.amount) if name == "leak" else modifier.value.amount
            statement = replace(statement, **{name: value})  # type: ignore[arg-type]
        else:
            faults.append(Fault(f"{name}-without-meaning", modifier.column, modifier.end, {"what": what.words}))
    return statement, tuple(faults)


def _amount_faults(modifier: Part) -> Iterator[Fault]:
    what, amount, place = modifier.value
    if what == "confidence" and not 0 < amount < 1:
        hint = f"{amount:g}% is {amount / 100:g}." if 1 < amount < 100 else ""
        hint = hint or "Leave the confidence out if the statement is certain."
        yield Fault("confidence-range", place.column, place.end, {"amount": f"{amount:g}", "hint": hint})
    elif what in ("margin", "within") and not 0 < amount <= 1:
        yield Fault(f"{what}-range", place.column, place.end, {"amount": f"{amount:g}"})


def finite(value: float, column: int, end: int) -> tuple[Fault, ...]:
    """A number that floats can hold."""
    return () if isfinite(value) else (Fault("number-too-large", column, end),)


def one_parent(parents: Part, verb: str, child: Part) -> tuple[Fault, ...]:
    """An influence has one parent, which is not its child."""
    if len(parents.value) > 1:
        lines = " / ".join(f"{parent} {verb.removesuffix('s')}s {child.value}" for parent in parents.value)
        return (Fault("several-parents", parents.column, parents.end, {"lines": lines}),)
    return _own_parent(parents.value, child.value)


def several_parents(parents: Part, child: Part) -> tuple[Fault, ...]:
    """A synergy has two parents or more, all different."""
    if len(parents.value) < 2:
        return (Fault("synergy-of-one", parents.column, parents.end),)
    return (*_twice(parents.value, "synergy-parent-twice"), *_own_parent(parents.value, child.value))


def separate_sets(child: Part, sets: Sequence[Part]) -> tuple[Fault, ...]:
    """The sets of a noisy family hold each parent once."""
    faults = [Fault("empty-set", each.column, each.end) for each in sets if not each.value]
    seen: dict[str, int] = {}
    for number, each in enumerate(sets):
        for name in each.value:
            if name in seen:
                kind = "set-member-twice" if seen[name] == number else "sets-overlap"
                faults.append(Fault(kind, name.column, name.end_column, {"name": name}))
            seen.setdefault(name, number)
        faults.extend(_own_parent(each.value, child.value))
    return tuple(faults)


def ordered(states: Sequence[Part], relations: Sequence[Part]) -> tuple[tuple[str, ...], tuple[Fault, ...]]:
    """The states of an order from low to high; it may be written with `>` all the way, from high to low."""
    names = tuple(each.value for each in states)
    faults = [Fault("order-relation", each.column, each.end) for each in relations if each.value not in ("<", ">")]
    if not faults and len({each.value for each in relations}) > 1:
        turn = next(each for each in relations if each.value != relations[0].value)
        faults.append(Fault("order-turns", turn.column, turn.end, {"first": relations[0].value}))
    faults.extend(_twice(names, "order-state-twice"))
    return (names[::-1] if relations and relations[0].value == ">" else names), tuple(faults)


def row_numbers(numbers: Sequence[Part]) -> tuple[tuple[int, ...], tuple[Fault, ...]]:
    """Row numbers count from 1; a tie needs two different ones."""
    rows: list[int] = []
    faults: list[Fault] = []
    for part in numbers:
        value = part.value.constant
        if not (value >= 1 and value < 2**53 and value == int(value)):
            faults.append(Fault("row-number", part.column, part.end))
        elif int(value) in rows:
            faults.append(Fault("row-twice", part.column, part.end, {"row": int(value)}))
        else:
            rows.append(int(value))
    if len(numbers) < 2:
        faults.append(Fault("too-few-rows", numbers[0].column, numbers[0].end))
    return tuple(rows), tuple(faults)


def tied(names: Part, by: Part | None = None) -> tuple[Fault, ...]:
    """What rows share or differ in is named once, and is not what ties them."""
    faults = _twice(names.value, "tied-twice")
    if by is not None:
        same = (name for name in names.value if name == by.value)
        faults += tuple(Fault("tied-by-itself", each.column, each.end_column, {"name": each}) for each in same)
    return faults


def event_faults(event: Part, conditions: Sequence[Part]) -> tuple[Fault, ...]:
    """In P(event | conditions) every relation is `=`, and only the event may name several states."""
    faults = list(event.faults)
    for part in (event, *conditions):
        name, states, relation = part.value
        if relation.value == "in":
            if part is not event:
                one = f"{name}={states[0]}"
                faults.append(Fault("condition-set", part.column, part.end, {"name": name, "one": one}))
            elif not states:
                faults.append(Fault("no-states", part.column, part.end, {"name": name}))
        elif relation.value not in ("=", "=="):
            faults.append(Fault("event-relation", relation.column, relation.end, {"name": name, "state": states[0]}))
        if part is not event:
            faults.extend(part.faults)
    return tuple(faults)


def _twice(names: Sequence[Any], kind: str) -> tuple[Fault, ...]:
    return tuple(
        Fault(kind, name.column, name.end_column, {"name": name})
        for position, name in enumerate(names)
        if name in names[:position]
    )


def _own_parent(parents: Sequence[Any], child: str) -> tuple[Fault, ...]:
    return tuple(Fault("own-parent", name.column, name.end_column, {"name": name}) for name in parents if name == child)

"""Statements held against each other: two orders, two forms of one family, the directions of a synergy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from credo.knowledge.mistakes import Fault
from credo.knowledge.syntax import Influence, NoisyFamily, Order, Statement, Synergy

Direction = Literal["raises", "lowers"]


def together_faults(statements: Sequence[Statement]) -> Iterator[tuple[Statement, Fault]]:
    """Faults that only show when statements are seen together, each with the statement it stands in."""
    yield from _order_faults([each for each in statements if isinstance(each, Order)])
    yield from _family_faults([each for each in statements if isinstance(each, NoisyFamily)])
    yield from _synergy_faults(statements)


def synergy_direction(statements: Iterable[Statement], synergy: Synergy) -> Direction:
    """The direction in which a synergy's parents move its child: lowers if one is said to lower it, else raises.

    A synergy implies one direction for all its parents [yang, section 3]; so parents that other synergies on the same
    child link to these count too. Where several synergies are asked about, `synergy_directions` does it once.
    """
    return synergy_directions([*statements, synergy])[synergy.child, synergy.parents[0]]


def synergy_directions(statements: Iterable[Statement]) -> Mapping[tuple[str, str], Direction]:
    """(child, parent) → direction, for every parent in a synergy."""
    statements = list(statements)
    group = _groups(statements)
    lowered = {group[key] for key, each in _stated(statements, group) if each.direction == "lowers"}
    return {key: "lowers" if root in lowered else "raises" for key, root in group.items()}


def _groups(statements: Iterable[Statement]) -> dict[tuple[str, str], tuple[str, str]]:
    """(child, parent) → a representative of all parents that synergies on that child link to it."""
    links: dict[tuple[str, str], tuple[str, str]] = {}

    def root(key: tuple[str, str]) -> tuple[str, str]:
        while links.setdefault(key, key) != key:
            links[key] = links[links[key]]
            key = links[key]
        return key

    for each in statements:
        if isinstance(each, Synergy):
            for parent in each.parents:
                links[root((each.child, parent))] = root((each.child, each.parents[0]))
    return {key: root(key) for key in list(links)}


def _stated(
    statements: Iterable[Statement], group: Mapping[tuple[str, str], tuple[str, str]]
) -> list[tuple[tuple[str, str], Influence]]:
    influences = (((each.child, each.parent), each) for each in statements if isinstance(each, Influence))
    return [(key, each) for key, each in influences if key in group]


def _synergy_faults(statements: Sequence[Statement]) -> Iterator[tuple[Statement, Fault]]:
    group = _groups(statements)
    if not group:
        return
    said: dict[tuple[str, str], dict[str, Influence]] = {}
    for key, influence in _stated(statements, group):
        said.setdefault(group[key], {}).setdefault(influence.direction, influence)
    for each in statements:
        if isinstance(each, Synergy):
            directions = said.get(group[each.child, each.parents[0]], {})
            if len(directions) == 2:
                raising, lowering = directions["raises"], directions["lowers"]
                facts = {
                    "raising": raising.parent + place(raising),
                    "lowering": lowering.parent + place(lowering),
                    "child": each.child,
                }
                columns = [getattr(parent, "column", 0) for parent in each.parents]
                ends = [getattr(parent, "end_column", 0) for parent in each.parents]
                yield each, Fault("synergy-directions", min(columns), max(ends), facts)


def _order_faults(orders: Sequence[Order]) -> Iterator[tuple[Statement, Fault]]:
    first: dict[str, Order] = {}
    for each in orders:
        before = first.setdefault(each.variable, each)
        if before.states != each.states:
            facts = {"name": each.variable, "before": " < ".join(before.states), "place": place(before)}
            yield each, _at_name(each.variable, "order-disagrees", facts)


def _family_faults(families: Sequence[NoisyFamily]) -> Iterator[tuple[Statement, Fault]]:
    first: dict[str, NoisyFamily] = {}
    for each in families:
        before = first.setdefault(each.child, each)
        if before is not each:
            yield each, _at_name(each.child, "family-twice", {"name": each.child, "place": place(before)})


def _at_name(name: str, kind: str, facts: Mapping[str, object]) -> Fault:
    return Fault(kind, getattr(name, "column", 0), getattr(name, "end_column", 0), facts)


def place(statement: Statement) -> str:
    """` (line 3)`, where a statement has a line."""
    return f" (line {statement.span.line})" if statement.span is not None and statement.span.line else ""

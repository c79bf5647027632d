"""Statements held against each other: orders, forms of a family, directions of a synergy, ties between rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, TypeVar

from credo.knowledge.mistakes import Fault
from credo.knowledge.syntax import Influence, NoisyFamily, Order, Statement, Synergy, TiedRows

Direction = Literal["raises", "lowers"]
Cell = tuple[str, Hashable]  # a variable and a row
Key = TypeVar("Key", bound=Hashable)


def together_faults(statements: Sequence[Statement]) -> Iterator[tuple[Statement, Fault]]:
    """Faults that only show when statements are seen together, each with the statement it stands in."""
    yield from _order_faults([each for each in statements if isinstance(each, Order)])
    yield from _family_faults([each for each in statements if isinstance(each, NoisyFamily)])
    yield from _synergy_faults(statements)
    yield from _tie_faults([each for each in statements if isinstance(each, TiedRows)])


def synergy_direction(statements: Iterable[Statement], synergy: Synergy) -> Direction:
    """The direction in which a synergy's parents move its child: lowers if one is said to lower it, else raises.

    A synergy implies one direction for all its parents [yang, section 3]; so parents that other synergies on the same
    child link to these count too. Where several synergies are asked about, `synergy_directions` does it once.
    """
    return synergy_directions([*statements, synergy])[synergy.child, synergy.parents[0]]


def synergy_directions(statements: Iterable[Statement]) -> Mapping[tuple[str, str], Direction]:
    """(child, parent) → direction, for every parent in a synergy."""
    statements = list(statements)
    group = _synergy_groups(statements)
    lowered = {group[key] for key, each in _stated(statements, group) if each.direction == "lowers"}
    return {key: "lowers" if root in lowered else "raises" for key, root in group.items()}


def _synergy_groups(statements: Iterable[Statement]) -> dict[tuple[str, str], tuple[str, str]]:
    """(child, parent) → a representative of all parents that synergies on that child link to it."""
    synergies = (each for each in statements if isinstance(each, Synergy))
    return _groups([(each.child, parent) for parent in each.parents] for each in synergies)


def _groups(linked: Iterable[Sequence[Key]]) -> dict[Key, Key]:
    """Each key → a representative of all keys that are linked to it, be it through others."""
    links: dict[Key, Key] = {}

    def root(key: Key) -> Key:
        while links.setdefault(key, key) != key:
            links[key] = links[links[key]]
            key = links[key]
        return key

    for keys in linked:
        for key in keys:
            links[root(key)] = root(keys[0])
    return {key: root(key) for key in list(links)}


def _stated(
    statements: Iterable[Statement], group: Mapping[tuple[str, str], tuple[str, str]]
) -> list[tuple[tuple[str, str], Influence]]:
    influences = (((each.child, each.parent), each) for each in statements if isinstance(each, Influence))
    return [(key, each) for key, each in influences if key in group]


def _synergy_faults(statements: Sequence[Statement]) -> Iterator[tuple[Statement, Fault]]:
    group = _synergy_groups(statements)
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


def _tie_faults(ties: Sequence[TiedRows]) -> Iterator[tuple[Statement, Fault]]:
    """Two rows that differ in a variable which they share, be it through other rows."""
    shares, differences = ([tie for tie in ties if tie.differ == differ] for differ in (False, True))
    if not differences:
        return
    group = _groups(cells for tie in shares for cells in _cells(tie))
    sharing: dict[Cell, list[TiedRows]] = {}
    for tie in shares:
        for cell in chain(*_cells(tie)):
            sharing.setdefault(cell, []).append(tie)
    for tie in differences:
        for left, right in filter(None, (_linked(cells, group) for cells in _cells(tie))):
            both = (place(each) for each in sharing[left] if each in sharing[right])
            facts = {
                "name": left[0],
                "rows": f"Rows {left[1]} and {right[1]}" if tie.rows else f'Rows with equal "{tie.by}"',
                "how": next(both, " through other rows"),
            }
            yield tie, _at_name(left[0], "share-and-differ", facts)


def _cells(tie: TiedRows) -> list[list[Cell]]:
    """The values that are tied to each other, for each variable; by a column, those of any two rows stand for all."""
    rows = tie.rows or ((tie.by, "one"), (tie.by, "another"))
    return [[(name, row) for row in rows] for name in tie.variables]


def _linked(cells: Iterable[Cell], group: Mapping[Cell, Cell]) -> tuple[Cell, Cell] | None:
    """The first two cells that are in one group."""
    first: dict[Cell, Cell] = {}
    for cell in cells:
        before = first.setdefault(group.get(cell, cell), cell)
        if before is not cell:
            return before, cell
    return None


def _at_name(name: str, kind: str, facts: Mapping[str, object]) -> Fault:
    return Fault(kind, getattr(name, "column", 0), getattr(name, "end_column", 0), facts)


def place(statement: Statement) -> str:
    """` (line 3)`, where a statement has a line."""
    return f" (line {statement.span.line})" if statement.span is not None and statement.span.line else ""

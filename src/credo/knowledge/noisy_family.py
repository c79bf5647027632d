"""NoisyFamily: a child whose sets of causes act independently (noisy-or, noisy-and, noisy-max, noisy-min)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from credo.errors import listing
from credo.knowledge.mistakes import LineMistake, python_error
from credo.knowledge.names import (
    Part,
    checked_items,
    checked_name,
    checked_names,
    joined,
    mistake_at,
    mistake_between,
    name_text,
    own_parent,
)
from credo.knowledge.network_names import NetworkNames, check_parents
from credo.knowledge.statement_base import FamilyStatement, Kind, Reported, Span, StatementRules, line_text

NoisyKind = Literal["noisy-or", "noisy-and", "noisy-max", "noisy-min"]


@dataclass(frozen=True, slots=True)
class NoisyFamily(FamilyStatement):
    """`attack is noisy-or of {chol, bp}, {age}, {smoke} with leak`.

    Attributes
    ----------
    child
        The variable.
    kind
        "noisy-or", "noisy-and", "noisy-max" or "noisy-min".
    sets
        The sets of parents that act together.
    leak
        Whether there is a cause outside the network.
    general_effects
        Whether a set of causes may have an effect even where all of them are in their lowest state, as in [yang].
    span
        Where it is written; None for one that was made in Python.
    """

    child: str
    kind: NoisyKind
    sets: tuple[tuple[str, ...], ...]
    leak: bool = False
    general_effects: bool = False
    span: Span | None = field(default=None, compare=False)

    @property
    def parents(self) -> tuple[str, ...]:
        """The members of all sets."""
        return tuple(name for members in self.sets for name in members)

    def __str__(self) -> str:
        sets = ", ".join("{" + ", ".join(name_text(name) for name in members) + "}" for members in self.sets)
        words = (" with leak" if self.leak else "") + (" with general effects" if self.general_effects else "")
        return f"{name_text(self.child)} is {self.kind} of {sets}{words}"


# The Python form ------------------------------------------------------------------------------------------------------


def noisy_or(
    child: str, sets: Iterable[str | Iterable[str]], leak: bool = False, general_effects: bool = False
) -> NoisyFamily:
    """State that each set of causes can cause the child alone: `child is noisy-or of {a, b}, {c}`.

    Parameters
    ----------
    child : str
        A variable with two states.
    sets : iterable of str or of iterables of str
        Sets of parents that act together; each parent is in one set. A set of one parent may be its name.
    leak : bool, optional
        Whether the child may happen without any cause in the network.
    general_effects : bool, optional
        Whether a set may have an effect even where all of its causes are in their lowest state.

    Returns
    -------
    NoisyFamily
        The statement.

    Raises
    ------
    KnowledgeError
        If `sets` is empty or not a list, or a name is not a text.

    Examples
    --------
    >>> import credo
    >>> print(credo.noisy_or("attack", [["chol", "bp"], "age"], leak=True))
    attack is noisy-or of {chol, bp}, {age} with leak
    """
    return _family(child, "noisy-or", sets, leak, general_effects)


def noisy_and(
    child: str, sets: Iterable[str | Iterable[str]], leak: bool = False, general_effects: bool = False
) -> NoisyFamily:
    """State that the child needs every set of causes: `child is noisy-and of {a, b}, {c}`.

    Parameters
    ----------
    child : str
        A variable with two states.
    sets : iterable of str or of iterables of str
        Sets of parents that act together; each parent is in one set. A set of one parent may be its name.
    leak : bool, optional
        Whether the child may fail to happen for a reason that is not in the network.
    general_effects : bool, optional
        Whether a set may have an effect even where all of its causes are in their lowest state.

    Returns
    -------
    NoisyFamily
        The statement.

    Raises
    ------
    KnowledgeError
        If `sets` is empty or not a list, or a name is not a text.

    Examples
    --------
    >>> import credo
    >>> print(credo.noisy_and("works", ["power", "signal"]))
    works is noisy-and of {power}, {signal}
    """
    return _family(child, "noisy-and", sets, leak, general_effects)


def noisy_max(
    child: str, sets: Iterable[str | Iterable[str]], leak: bool = False, general_effects: bool = False
) -> NoisyFamily:
    """State that the child is the highest effect of its sets of causes: `child is noisy-max of {a, b}, {c}`.

    Parameters
    ----------
    child : str
        A variable with ordered states.
    sets : iterable of str or of iterables of str
        Sets of parents that act together; each parent is in one set. A set of one parent may be its name.
    leak : bool, optional
        Whether a cause outside the network may raise the child.
    general_effects : bool, optional
        Whether a set may have an effect even where all of its causes are in their lowest state.

    Returns
    -------
    NoisyFamily
        The statement.

    Raises
    ------
    KnowledgeError
        If `sets` is empty or not a list, or a name is not a text.

    Examples
    --------
    >>> import credo
    >>> print(credo.noisy_max("severity", ["ward", "dose"]))
    severity is noisy-max of {ward}, {dose}
    """
    return _family(child, "noisy-max", sets, leak, general_effects)


def noisy_min(
    child: str, sets: Iterable[str | Iterable[str]], leak: bool = False, general_effects: bool = False
) -> NoisyFamily:
    """State that the child is the lowest effect of its sets of causes: `child is noisy-min of {a, b}, {c}`.

    Parameters
    ----------
    child : str
        A variable with ordered states.
    sets : iterable of str or of iterables of str
        Sets of parents that act together; each parent is in one set. A set of one parent may be its name.
    leak : bool, optional
        Whether a cause outside the network may lower the child.
    general_effects : bool, optional
        Whether a set may have an effect even where all of its causes are in their lowest state.

    Returns
    -------
    NoisyFamily
        The statement.

    Raises
    ------
    KnowledgeError
        If `sets` is empty or not a list, or a name is not a text.

    Examples
    --------
    >>> import credo
    >>> print(credo.noisy_min("quality", [["material", "tool"], "worker"]))
    quality is noisy-min of {material, tool}, {worker}
    """
    return _family(child, "noisy-min", sets, leak, general_effects)


def _family(
    child: str, kind: NoisyKind, sets: Iterable[str | Iterable[str]], leak: bool, general_effects: bool
) -> NoisyFamily:
    members = tuple(
        (checked_name(item),) if isinstance(item, str) else checked_names(item) for item in checked_items(sets)
    )
    if not members:
        raise python_error("empty-set", f"{kind.replace('-', '_')}({child!r}, [])")
    return NoisyFamily(checked_name(child), kind, members, bool(leak), bool(general_effects))


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_family(children: list[Any]) -> Part:
    """`name IS NOISY OF set, …`."""
    child, word, sets = children[0], children[2], children[4::2]
    kind = word.lower().replace(" ", "-")
    family = NoisyFamily(child.value, kind, tuple(part.value for part in sets))
    return joined(family, [child, *sets], _set_mistakes(child, sets))


def _set_mistakes(child: Part, sets: Sequence[Part]) -> tuple[LineMistake, ...]:
    """Sets that are empty, share a parent, or name the child."""
    mistakes = [LineMistake("empty-set", part.column, part.end) for part in sets if not part.value]
    seen: dict[str, int] = {}
    for number, part in enumerate(sets):
        for name in part.value:
            if name in seen:
                kind = "set-member-twice" if seen[name] == number else "sets-overlap"
                mistakes.append(mistake_at(name, kind, name=name))
            seen.setdefault(name, number)
        mistakes.extend(own_parent(part.value, child.value))
    return tuple(mistakes)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_family(statement: NoisyFamily, names: NetworkNames) -> Iterator[LineMistake]:
    child, members = statement.child, statement.parents
    mistakes = [*check_parents(child, members, names)]
    yield from mistakes
    if child not in names.states:
        return
    if statement.kind in ("noisy-or", "noisy-and") and len(names.states[child]) != 2:
        general = "noisy-max" if statement.kind == "noisy-or" else "noisy-min"
        count = len(names.states[child])
        yield mistake_at(child, "noisy-child-states", name=child, kind=statement.kind, general=general, count=count)
    left_out = [parent for parent in names.network.parents[child] if parent not in members]
    if left_out and members and not mistakes:
        yield mistake_between(members[0], members[-1], "parent-left-out", name=child, missing=listing(left_out))


def _check_families(statements: Sequence[Any]) -> Iterator[Reported]:
    """Children whose dependence on their parents two statements declare, as noisy families or gates."""
    first: dict[str, Any] = {}
    for family in statements:
        if isinstance(family, FamilyStatement):
            before = first.setdefault(family.child, family)
            if before is not family:
                yield (
                    family,
                    mistake_at(family.child, "family-twice", name=family.child, place=line_text(before)),
                )


def _family_arcs(family: NoisyFamily) -> list[tuple[str, str]]:
    return [(name, family.child) for name in family.parents]


def _family_orders(family: NoisyFamily) -> list[tuple[str, bool]]:
    return [(family.child, True), *((name, not family.general_effects) for name in family.parents)]


NOISY_FAMILY = StatementRules(
    "a noisy family",
    {"family": parse_family},
    _check_family,
    lambda statement, network: Kind(str(statement.kind)),
    modifiers=("leak", "general_effects"),
    check_together=_check_families,
    arcs=_family_arcs,
    ordered_variables=_family_orders,
)

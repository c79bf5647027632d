"""Influence, Independence and Synergy: what one parent does to its child, and how parents strengthen each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from credo.knowledge.experts import Expert
from credo.knowledge.mistakes import LineMistake, python_error
from credo.knowledge.names import (
    Part,
    checked_name,
    checked_names,
    checked_number,
    joined,
    mistake_between,
    name_text,
    own_parent,
    repeated_names,
)
from credo.knowledge.network_names import NetworkNames, check_parents
from credo.knowledge.statement_base import (
    ComparingStatement,
    Kind,
    Reported,
    Span,
    StatementRules,
    UncertainStatement,
    line_text,
    linked_groups,
    modifiers_text,
)
from credo.model.network import Network

Direction = Literal["raises", "lowers"]


@dataclass(frozen=True, slots=True)
class Influence(ComparingStatement):
    """`smoke raises lung by at least 0.05`, whatever the other parents of the child are.

    Attributes
    ----------
    parent, child
        The variables.
    direction
        "raises" or "lowers".
    margin
        The amount by which the inequality must hold.
    confidence
        The probability that it is true; None for a statement that must hold.
    span
        Where it is written; None for one that was made in Python.
    expert
        Who says it; None outside of experts' blocks.
    """

    parent: str
    child: str
    direction: Direction
    margin: float = 0.0
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)
    expert: Expert | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        return f"{name_text(self.parent)} {self.direction} {name_text(self.child)}{modifiers_text(self)}"


@dataclass(frozen=True, slots=True)
class Independence(UncertainStatement):
    """`shoe_size does not affect lung`: the distributions of the child are equal across the parent's states.

    Attributes
    ----------
    parent, child
        The variables.
    confidence
        The probability that it is true; None for a statement that must hold.
    span
        Where it is written; None for one that was made in Python.
    expert
        Who says it; None outside of experts' blocks.
    """

    parent: str
    child: str
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)
    expert: Expert | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        return f"{name_text(self.parent)} does not affect {name_text(self.child)}{modifiers_text(self)}"


@dataclass(frozen=True, slots=True)
class Synergy(ComparingStatement):
    """`chol and bp synergize on attack`, `sex and age sub-synergize on chd`: every pair of the parents.

    Attributes
    ----------
    parents
        Two variables or more.
    child
        The variable that depends on them.
    kind
        "synergize" or "sub-synergize".
    margin
        The amount by which the inequality must hold.
    confidence
        The probability that it is true; None for a statement that must hold.
    span
        Where it is written; None for one that was made in Python.
    expert
        Who says it; None outside of experts' blocks.
    """

    parents: tuple[str, ...]
    child: str
    kind: Literal["synergize", "sub-synergize"]
    margin: float = 0.0
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)
    expert: Expert | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        parents = " and ".join(name_text(parent) for parent in self.parents)
        return f"{parents} {self.kind} on {name_text(self.child)}{modifiers_text(self)}"


# The Python form ------------------------------------------------------------------------------------------------------


def raises(parent: str, child: str, by_at_least: float = 0.0, confidence: float | None = None) -> Influence:
    """State that a parent raises its child: `parent raises child`.

    Parameters
    ----------
    parent, child : str
        Names of variables; `parent` is a parent of `child` in the network.
    by_at_least : float, optional
        By how much each step of the parent raises the child at least; 0 for no margin.
    confidence : float, optional
        The probability that it is true, above 0 and below 1; None for a statement that must hold.

    Returns
    -------
    Influence
        The statement.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or a number is not finite.

    Examples
    --------
    >>> import credo
    >>> print(credo.raises("smoke", "lung", by_at_least=0.05, confidence=0.8))
    smoke raises lung by at least 0.05 with confidence 0.8
    """
    return _influence(parent, child, "raises", by_at_least, confidence)


def lowers(parent: str, child: str, by_at_least: float = 0.0, confidence: float | None = None) -> Influence:
    """State that a parent lowers its child: `parent lowers child`.

    Parameters
    ----------
    parent, child : str
        Names of variables; `parent` is a parent of `child` in the network.
    by_at_least : float, optional
        By how much each step of the parent lowers the child at least; 0 for no margin.
    confidence : float, optional
        The probability that it is true, above 0 and below 1; None for a statement that must hold.

    Returns
    -------
    Influence
        The statement.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or a number is not finite.

    Examples
    --------
    >>> import credo
    >>> print(credo.lowers("exercise", "risk"))
    exercise lowers risk
    """
    return _influence(parent, child, "lowers", by_at_least, confidence)


def synergize(*parents: str, on: str, by_at_least: float = 0.0, confidence: float | None = None) -> Synergy:
    """State that parents strengthen each other's effect: `a and b synergize on c`.

    Parameters
    ----------
    *parents : str
        Two parents of the child, or more; every pair of them synergizes.
    on : str
        The child.
    by_at_least : float, optional
        By how much one parent's effect grows with the other at least; 0 for no margin.
    confidence : float, optional
        The probability that it is true, above 0 and below 1; None for a statement that must hold.

    Returns
    -------
    Synergy
        The statement.

    Raises
    ------
    KnowledgeError
        If no parent is given, a name is not a text, or a number is not finite.

    Examples
    --------
    >>> import credo
    >>> print(credo.synergize("chol", "bp", on="attack"))
    chol and bp synergize on attack
    """
    return _synergy(parents, on, "synergize", by_at_least, confidence)


def sub_synergize(*parents: str, on: str, by_at_least: float = 0.0, confidence: float | None = None) -> Synergy:
    """State that parents weaken each other's effect: `a and b sub-synergize on c`.

    Parameters
    ----------
    *parents : str
        Two parents of the child, or more; every pair of them sub-synergizes.
    on : str
        The child.
    by_at_least : float, optional
        By how much one parent's effect shrinks with the other at least; 0 for no margin.
    confidence : float, optional
        The probability that it is true, above 0 and below 1; None for a statement that must hold.

    Returns
    -------
    Synergy
        The statement.

    Raises
    ------
    KnowledgeError
        If no parent is given, a name is not a text, or a number is not finite.

    Examples
    --------
    >>> import credo
    >>> print(credo.sub_synergize("sex", "age", on="chd", confidence=0.5))
    sex and age sub-synergize on chd with confidence 0.5
    """
    return _synergy(parents, on, "sub-synergize", by_at_least, confidence)


def does_not_affect(parent: str, child: str, confidence: float | None = None) -> Independence:
    """State that a parent makes no difference to its child: `parent does not affect child`.

    Parameters
    ----------
    parent, child : str
        Names of variables; `parent` is a parent of `child` in the network.
    confidence : float, optional
        The probability that it is true, above 0 and below 1; None for a statement that must hold.

    Returns
    -------
    Independence
        The statement.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or the confidence is not finite.

    Examples
    --------
    >>> import credo
    >>> print(credo.does_not_affect("shoe_size", "lung"))
    shoe_size does not affect lung
    """
    sure = None if confidence is None else checked_number(confidence)
    return Independence(checked_name(parent), checked_name(child), sure)


def _influence(parent: str, child: str, direction: Direction, margin: float, confidence: float | None) -> Influence:
    sure = None if confidence is None else checked_number(confidence)
    return Influence(checked_name(parent), checked_name(child), direction, checked_number(margin), sure)


def _synergy(
    parents: tuple[str, ...],
    child: str,
    kind: Literal["synergize", "sub-synergize"],
    margin: float,
    confidence: float | None,
) -> Synergy:
    if not parents:
        raise python_error("synergy-of-one", f"{kind.replace('-', '_')}(on={child!r})")
    sure = None if confidence is None else checked_number(confidence)
    return Synergy(checked_names(parents), checked_name(child), kind, checked_number(margin), sure)


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_influence(children: list[Any]) -> Part:
    """`names VERB name`."""
    parents, verb, child = children
    direction: Direction = "raises" if verb.startswith("raise") else "lowers"
    return _of_one_parent([Influence(parent, child.value, direction) for parent in parents.value], parents, child)


def parse_independence(children: list[Any]) -> Part:
    """`name NO_EFFECT name`."""
    parents, _, child = children
    return _of_one_parent([Independence(parent, child.value) for parent in parents.value], parents, child)


def _of_one_parent(statements: Sequence[Influence | Independence], parents: Part, child: Part) -> Part:
    """The only one of these statements; several parents in one line are a mistake that names a line for each."""
    mistakes = own_parent(parents.value, child.value)
    if len(statements) > 1:
        lines = " / ".join(map(str, statements))
        mistakes = (LineMistake("several-parents", parents.column, parents.end, {"lines": lines}),)
    return joined(statements[0], [parents, child], mistakes)


def parse_synergy(children: list[Any]) -> Part:
    """`names SYNERGIZE ON name`."""
    parents, verb, _, child = children
    kind: Literal["synergize", "sub-synergize"] = "sub-synergize" if verb.startswith("sub") else "synergize"
    if len(parents.value) < 2:
        mistakes: tuple[LineMistake, ...] = (LineMistake("synergy-of-one", parents.column, parents.end),)
    else:
        mistakes = (
            *repeated_names(parents.value, "synergy-parent-twice"),
            *own_parent(parents.value, child.value),
        )
    return joined(Synergy(parents.value, child.value, kind), [parents, child], mistakes)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_influence(statement: Influence, names: NetworkNames) -> Iterator[LineMistake]:
    return check_parents(statement.child, (statement.parent,), names, statement.direction)


def _check_independence(statement: Independence, names: NetworkNames) -> Iterator[LineMistake]:
    return check_parents(statement.child, (statement.parent,), names, "does not affect", is_denied=True)


def _check_synergy(statement: Synergy, names: NetworkNames) -> Iterator[LineMistake]:
    return check_parents(statement.child, statement.parents, names)


def _check_directions(statements: Sequence[Any]) -> Iterator[Reported]:
    """Synergies of which one parent raises the child and another lowers it."""
    group = _synergy_groups(statements)
    if not group:
        return
    stated: dict[tuple[str, str], dict[str, Influence]] = {}
    for key, influence in _influences_in(statements, group):
        stated.setdefault(group[key], {}).setdefault(influence.direction, influence)
    for synergy in statements:
        if isinstance(synergy, Synergy):
            directions = stated.get(group[synergy.child, synergy.parents[0]], {})
            if len(directions) == 2:
                raising, lowering = directions["raises"], directions["lowers"]
                facts = {
                    "raising": raising.parent + line_text(raising),
                    "lowering": lowering.parent + line_text(lowering),
                    "child": synergy.child,
                }
                first = min(synergy.parents, key=lambda parent: getattr(parent, "column", 0))
                last = max(synergy.parents, key=lambda parent: getattr(parent, "end_column", 0))
                yield synergy, mistake_between(first, last, "synergy-directions", **facts)


def synergy_direction(statements: Iterable[Any], synergy: Synergy) -> Direction:
    """The direction in which a synergy's parents act: "lowers" if one is stated to lower the child, else "raises".

    A synergy implies one direction for all its parents [yang, section 3], so parents that other synergies on the same
    child link to these count too. For several synergies, `synergy_directions` does it once.
    """
    return synergy_directions([*statements, synergy])[synergy.child, synergy.parents[0]]


def synergy_directions(statements: Iterable[Any]) -> Mapping[tuple[str, str], Direction]:
    """(child, parent) → direction, for every parent in a synergy."""
    statements = list(statements)
    group = _synergy_groups(statements)
    lowered = {group[key] for key, influence in _influences_in(statements, group) if influence.direction == "lowers"}
    return {key: "lowers" if root in lowered else "raises" for key, root in group.items()}


def _synergy_groups(statements: Iterable[Any]) -> dict[tuple[str, str], tuple[str, str]]:
    """(child, parent) → a representative of all parents that synergies on that child link to it."""
    synergies = (statement for statement in statements if isinstance(statement, Synergy))
    return linked_groups([(synergy.child, parent) for parent in synergy.parents] for synergy in synergies)


def _influences_in(
    statements: Iterable[Any], group: Mapping[tuple[str, str], tuple[str, str]]
) -> list[tuple[tuple[str, str], Influence]]:
    influences = (
        ((statement.child, statement.parent), statement) for statement in statements if isinstance(statement, Influence)
    )
    return [(key, influence) for key, influence in influences if key in group]


def _synergy_kind(statement: Synergy, network: Network) -> Kind:
    return Kind("synergy" if statement.kind == "synergize" else "sub-synergy")


INFLUENCE = StatementRules(
    "an influence",
    {"influence": parse_influence},
    _check_influence,
    lambda statement, network: Kind("monotonicity"),
    modifiers=("margin", "confidence"),
    arcs=lambda statement: ((statement.parent, statement.child),),
    ordered_variables=lambda statement: ((statement.parent, True), (statement.child, True)),
)
SYNERGY = StatementRules(
    "a synergy",
    {"synergy": parse_synergy},
    _check_synergy,
    _synergy_kind,
    modifiers=("margin", "confidence"),
    check_together=_check_directions,
    arcs=lambda statement: [(parent, statement.child) for parent in statement.parents],
    ordered_variables=lambda statement: [(name, True) for name in (*statement.parents, statement.child)],
)
INDEPENDENCE = StatementRules(
    "a statement of no effect",
    {"independence": parse_independence},
    _check_independence,
    lambda statement, network: Kind("independence"),
    modifiers=("confidence",),
    arcs=lambda statement: ((statement.parent, statement.child),),
)

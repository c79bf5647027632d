"""What all statements share: a place, modifiers at the end, no truth value, and the rules that each module provides."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, TypeVar

from credo.knowledge.experts import Expert
from credo.knowledge.expressions import number_text
from credo.knowledge.mistakes import KnowledgeTypeError, LineMistake, python_error
from credo.knowledge.names import Part
from credo.knowledge.network_names import NetworkNames
from credo.model.network import Network

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a statement is written.

    Attributes
    ----------
    line
        The number of the line, from 1.
    column, end_column
        Where the statement begins in it, and where it ends, from 1; the end is not included.
    text
        The whole line, as the user wrote it.
    source
        The file; empty for a text.
    """

    line: int
    column: int
    end_column: int
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a statement in words, and its number in [guo, table 1] where it has one."""

    name: str
    guo_type: int | None = None


class Modifier(NamedTuple):
    """A margin, tolerance, confidence or leak at the end of a statement, and the place of its number."""

    name: str
    amount: float
    place: Part


class StatementBase:
    """A statement: frozen, printed by `str` as a line of the language, and neither true nor false."""

    __slots__ = ()

    def __bool__(self) -> bool:
        """Refuse a truth value: `0.1 <= P(…) <= 0.3` and `… and …` would silently drop a part of the statement.

        Raises
        ------
        KnowledgeTypeError
            Always; the message names what to write instead.
        """
        raise python_error("truth-value", str(self), error=KnowledgeTypeError, instead=self._instead_of_chain())

    def _instead_of_chain(self) -> str:
        return 'P("x=a").between(0.1, 0.3)'


class FamilyStatement(StatementBase):
    """A statement that says which parents a child has, and how it depends on them; each child has one at most.

    Names in it have their columns.
    """

    __slots__ = ()

    child: str

    @property
    def parents(self) -> tuple[str, ...]:
        """The parents that it names."""
        raise NotImplementedError


class UncertainStatement(StatementBase):
    """A statement that an expert may be unsure of."""

    __slots__ = ()

    def with_confidence(self, confidence: float) -> Self:
        """The same statement with a confidence, so that data may contradict it.

        Parameters
        ----------
        confidence : float
            The probability that it is true, above 0 and below 1.

        Returns
        -------
        Statement
            A new statement; this one is unchanged.

        Examples
        --------
        >>> import credo
        >>> print((credo.P("lung=yes") <= 0.1).with_confidence(0.8))
        P(lung=yes) <= 0.1 with confidence 0.8
        """
        return _changed(self, confidence=confidence)  # type: ignore[no-any-return]


class DoubtableFamily(FamilyStatement, UncertainStatement):
    """How a child depends on its parents, by somebody who may be wrong: then data decide how far that counts."""

    __slots__ = ()

    confidence: float | None
    expert: Expert | None

    @property
    def is_doubted(self) -> bool:
        """Whether it may be wrong."""
        return self.confidence is not None or self.expert is not None


class ComparingStatement(UncertainStatement):
    """A statement that may hold by a margin."""

    __slots__ = ()

    def by_at_least(self, margin: float) -> Self:
        """The same statement with a margin.

        Parameters
        ----------
        margin : float
            By how much the statement holds at least, above 0 and up to 1.

        Returns
        -------
        Statement
            A new statement; this one is unchanged.

        Examples
        --------
        >>> import credo
        >>> print(credo.raises("smoke", "lung").by_at_least(0.05))
        smoke raises lung by at least 0.05
        """
        return _changed(self, margin=margin)  # type: ignore[no-any-return]


def _changed(statement: Any, **changes: Any) -> Any:
    # The place is dropped: the line there does not say this.
    return replace(statement, span=None, **changes)


def modifiers_text(statement: Any) -> str:
    """` by at least 0.05 with confidence 0.8`."""
    margin = getattr(statement, "margin", 0.0)
    text = f" by at least {number_text(margin)}" if margin else ""
    if statement.confidence is not None:
        text += f" with confidence {number_text(statement.confidence)}"
    return text


def line_text(statement: Any) -> str:
    """` (line 3)`, where a statement has a line."""
    return f" (line {statement.span.line})" if statement.span is not None and statement.span.line else ""


def linked_groups(linked: Iterable[Sequence[Key]]) -> dict[Key, Key]:
    """Each key → a representative of all keys that are linked to it, directly or through others."""
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


# Rules ----------------------------------------------------------------------------------------------------------------

Reported = tuple[Any, LineMistake]  # a statement and a mistake in it


def no_mistakes(statements: Sequence[Any]) -> Iterator[Reported]:
    """The check of statements that cannot contradict each other."""
    return iter(())


def nothing(statement: Any) -> tuple[Any, ...]:
    """The arcs and ordered variables of statements that need none."""
    return ()


@dataclass(frozen=True, slots=True)
class StatementRules:
    """Everything the language knows about one type of statement.

    `grammar_rules` has a function for each rule of `grammar.lark` that builds the statement, by the rule's name; each
    takes the rule's children and returns a `Part`. `check` finds mistakes against a network, `check_together` mistakes
    that two statements of this type make with each other or with others. `kind` names the statement in reports.
    `arcs` are those (parent, child) without which the statement is a mistake. `ordered_variables` are those whose
    states the statement takes from low to high, each with whether the statement means nothing without that order.
    """

    description: str  # how messages call it: "an influence"
    grammar_rules: Mapping[str, Callable[[list[Any]], Part]]
    check: Callable[[Any, NetworkNames], Iterable[LineMistake]]
    kind: Callable[[Any, Network], Kind]
    modifiers: tuple[str, ...] = ()  # allowed at its end: "margin", "within", "confidence", "leak"
    check_together: Callable[[Sequence[Any]], Iterator[Reported]] = field(default=no_mistakes)
    arcs: Callable[[Any], Iterable[tuple[str, str]]] = field(default=nothing)
    ordered_variables: Callable[[Any], Iterable[tuple[str, bool]]] = field(default=nothing)

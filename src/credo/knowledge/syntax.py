"""What an expert can say: one frozen class a kind of statement, each with the place it was written in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

Relation = Literal["<=", "<", ">=", ">", "="]


@dataclass(frozen=True, slots=True)
class Span:
    """Where a statement stands: the user's own line, and the columns in it (from 1; the end is not included)."""

    line: int
    column: int
    end_column: int
    text: str
    source: str = ""


class Name(str):
    """A name as the user wrote it, with its columns, so that a message can point at it."""

    __slots__ = ("column", "end_column")

    column: int
    end_column: int

    def __new__(cls, text: str, column: int = 0, end_column: int = 0) -> Name:
        name = super().__new__(cls, text)
        name.column, name.end_column = column, end_column
        return name


@dataclass(frozen=True, slots=True)
class Probability:
    """P(variable=state | given), or P(variable in {states} | given); parents left out of `given` mean all of them."""

    variable: str
    states: tuple[str, ...]
    given: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Linear:
    """Σ coefficient · P(…) + constant."""

    terms: tuple[tuple[float, Probability], ...]
    constant: float = 0.0


@dataclass(frozen=True, slots=True)
class Product:
    """coefficient · P(…) · P(…): two factors or more, each with one state."""

    factors: tuple[Probability, ...]
    coefficient: float = 1.0


Expression = Linear | Product


class _Qualified:
    """What can be said of a statement that compares: how sure one is, and by how much it holds."""

    __slots__ = ()

    def with_confidence(self, confidence: float) -> Self:
        """The same statement, soft."""
        return _with(self, confidence=confidence)  # type: ignore[no-any-return]

    def by_at_least(self, margin: float) -> Self:
        """The same statement with a margin."""
        return _with(self, margin=margin)  # type: ignore[no-any-return]


def _with(statement: Any, **changes: Any) -> Any:
    # The place is left behind: what stood there says something else now.
    return replace(statement, span=None, **changes)


@dataclass(frozen=True, slots=True)
class Comparison(_Qualified):
    """`0.1 <= P(…) <= 0.3`, `P(…) > P(…) by at least 0.05`: expressions in a chain of relations."""

    sides: tuple[Expression, ...]
    relations: tuple[Relation, ...]
    margin: float = 0.0
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Approximation:
    """`P(…) ~ P(…) within 0.05`."""

    left: Linear
    right: Linear
    within: float
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)

    def with_confidence(self, confidence: float) -> Self:
        """The same statement, soft."""
        return _with(self, confidence=confidence)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Influence(_Qualified):
    """`smoke raises lung by at least 0.05`, `exercise lowers risk`."""

    parent: str
    child: str
    direction: Literal["raises", "lowers"]
    margin: float = 0.0
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Synergy(_Qualified):
    """`chol and bp synergize on attack`, `sex and age sub-synergize on chd`; every pair of the parents is meant."""

    parents: tuple[str, ...]
    child: str
    kind: Literal["synergize", "sub-synergize"]
    margin: float = 0.0
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Order:
    """`order severity: mild < moderate < severe`."""

    variable: str
    states: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NoisyFamily:
    """`attack is noisy-or of {chol, bp}, {age}, {smoke} with leak`."""

    child: str
    kind: Literal["noisy-or", "noisy-and", "noisy-max", "noisy-min"]
    sets: tuple[tuple[str, ...], ...]
    leak: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TiedRows:
    """`rows with equal twin_id share variant` (by a column) or `rows 3, 9 differ in variant` (by number, from 1).

    Each of the variables has one value in all the rows, or, where they differ, another value in every one of them.
    """

    variables: tuple[str, ...]
    by: str | None = None
    rows: tuple[int, ...] = ()
    differ: bool = False
    span: Span | None = field(default=None, compare=False)


Statement = Comparison | Approximation | Influence | Synergy | Order | NoisyFamily | TiedRows
STATEMENT_TYPES: tuple[type, ...] = (Comparison, Approximation, Influence, Synergy, Order, NoisyFamily, TiedRows)

"""The Python form: the same statements as in text, from operators and functions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from math import isfinite
from numbers import Real
from typing import Any, Literal

from credo.knowledge import algebra
from credo.knowledge.chain import PYTHON, Claim, check_nothing_lost, claim
from credo.knowledge.mistakes import Fault, KnowledgeError, describe
from credo.knowledge.parse import parse_probability
from credo.knowledge.syntax import (
    Approximation,
    Comparison,
    Expression,
    Influence,
    NoisyFamily,
    Order,
    Relation,
    Synergy,
    TiedRows,
)
from credo.knowledge.text import expression_text


class Quantity:
    """A sum or a product of probabilities; relations between quantities are statements."""

    __slots__ = ("expression",)
    __array_ufunc__ = None  # numpy numbers leave the arithmetic to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def __repr__(self) -> str:
        return expression_text(self.expression)

    def __add__(self, other: Quantity | float) -> Quantity:
        return _combined(algebra.add, self, other, "+")

    def __radd__(self, other: Quantity | float) -> Quantity:
        return _combined(algebra.add, other, self, "+")

    def __sub__(self, other: Quantity | float) -> Quantity:
        return _combined(lambda left, right: algebra.add(left, algebra.negate(right)), self, other, "-")

    def __rsub__(self, other: Quantity | float) -> Quantity:
        return _combined(lambda left, right: algebra.add(left, algebra.negate(right)), other, self, "-")

    def __mul__(self, other: Quantity | float) -> Quantity:
        return _combined(algebra.multiply, self, other, "*")

    def __rmul__(self, other: Quantity | float) -> Quantity:
        return _combined(algebra.multiply, other, self, "*")

    def __truediv__(self, other: Quantity | float) -> Quantity:
        return _combined(algebra.divide, self, other, "/")

    def __rtruediv__(self, other: Quantity | float) -> Quantity:
        return _combined(algebra.divide, other, self, "/")

    def __pow__(self, other: Any) -> Quantity:
        raise _error("power", f"{self!r} ** {other!r}")

    def __neg__(self) -> Quantity:
        return Quantity(algebra.negate(self.expression))

    def __pos__(self) -> Quantity:
        return self

    def __le__(self, other: Quantity | float) -> Claim:
        return _compared(self, "<=", other)

    def __lt__(self, other: Quantity | float) -> Claim:
        return _compared(self, "<", other)

    def __ge__(self, other: Quantity | float) -> Claim:
        return _compared(self, ">=", other)

    def __gt__(self, other: Quantity | float) -> Claim:
        return _compared(self, ">", other)

    def __eq__(self, other: Quantity | float) -> Claim:  # type: ignore[override]
        return _compared(self, "=", other)

    def __ne__(self, other: Quantity | float) -> Claim:  # type: ignore[override]
        raise _error("not-equal", f"{self!r} != {other!r}")

    def between(self, low: Quantity | float, high: Quantity | float) -> Comparison:
        """`low <= self <= high`."""
        return Comparison((_expression(low), self.expression, _expression(high)), ("<=", "<="))

    def near(self, other: Quantity | float, within: float) -> Approximation:
        """`self ~ other within …`."""
        left, right = self.expression, _expression(other)
        return Approximation(left, right, _number(within))  # type: ignore[arg-type]


def P(text: str) -> Quantity:
    """A probability, written as inside P(…) in text: `P("lung=yes | smoke=yes")`, `P("pos in {noun, verb}")`."""
    if not isinstance(text, str):
        raise _error("not-text", repr(text), what="P")
    return Quantity(algebra.probability(parse_probability(text, PYTHON)))


def raises(parent: str, child: str, by_at_least: float = 0.0, confidence: float | None = None) -> Influence:
    """`parent raises child`."""
    return _influence(parent, child, "raises", by_at_least, confidence)


def lowers(parent: str, child: str, by_at_least: float = 0.0, confidence: float | None = None) -> Influence:
    """`parent lowers child`."""
    return _influence(parent, child, "lowers", by_at_least, confidence)


def synergize(*parents: str, on: str, by_at_least: float = 0.0, confidence: float | None = None) -> Synergy:
    """`a and b synergize on c`."""
    return _synergy(parents, on, "synergize", by_at_least, confidence)


def sub_synergize(*parents: str, on: str, by_at_least: float = 0.0, confidence: float | None = None) -> Synergy:
    """`a and b sub-synergize on c`."""
    return _synergy(parents, on, "sub-synergize", by_at_least, confidence)


def order(variable: str, states: Iterable[str]) -> Order:
    """`order variable: low < … < high`."""
    check_nothing_lost(sys._getframe(1))
    return Order(_name(variable), _names(states))


def noisy_or(child: str, sets: Iterable[str | Iterable[str]], leak: bool = False) -> NoisyFamily:
    """`child is noisy-or of {a, b}, {c} with leak`; a parent alone may stand without a list around it."""
    return _family(child, "noisy-or", sets, leak)


def noisy_and(child: str, sets: Iterable[str | Iterable[str]], leak: bool = False) -> NoisyFamily:
    """`child is noisy-and of {a, b}, {c} with leak`."""
    return _family(child, "noisy-and", sets, leak)


def noisy_max(child: str, sets: Iterable[str | Iterable[str]], leak: bool = False) -> NoisyFamily:
    """`child is noisy-max of {a, b}, {c} with leak`."""
    return _family(child, "noisy-max", sets, leak)


def noisy_min(child: str, sets: Iterable[str | Iterable[str]], leak: bool = False) -> NoisyFamily:
    """`child is noisy-min of {a, b}, {c} with leak`."""
    return _family(child, "noisy-min", sets, leak)


def same(*variables: str, by: str | None = None, rows: Iterable[int] = ()) -> TiedRows:
    """`rows with equal twin_id share variant` (by a column), `rows 2, 4 share variant` (by number, from 1)."""
    return _tie("same", variables, by, rows)


def different(*variables: str, by: str | None = None, rows: Iterable[int] = ()) -> TiedRows:
    """`rows with equal match_id differ in variant` (by a column), `rows 3, 9 differ in variant` (by number, from 1)."""
    return _tie("different", variables, by, rows)


# What the forms share -------------------------------------------------------------------------------------------------


def _influence(
    parent: str, child: str, direction: Literal["raises", "lowers"], margin: float, confidence: float | None
) -> Influence:
    check_nothing_lost(sys._getframe(2))
    return Influence(_name(parent), _name(child), direction, _number(margin), _optional(confidence))


def _synergy(
    parents: tuple[str, ...],
    child: str,
    kind: Literal["synergize", "sub-synergize"],
    margin: float,
    confidence: float | None,
) -> Synergy:
    check_nothing_lost(sys._getframe(2))
    if not parents:
        raise _error("synergy-of-one", f"{kind.replace('-', '_')}(on={child!r})")
    return Synergy(_names(parents), _name(child), kind, _number(margin), _optional(confidence))


def _family(child: str, kind: Any, sets: Iterable[str | Iterable[str]], leak: bool) -> NoisyFamily:
    check_nothing_lost(sys._getframe(2))
    members = tuple((_name(each),) if isinstance(each, str) else _names(each) for each in _items(sets))
    if not members:
        raise _error("empty-set", f"{kind.replace('-', '_')}({child!r}, [])")
    return NoisyFamily(_name(child), kind, members, bool(leak))


def _tie(
    form: Literal["same", "different"], variables: tuple[str, ...], by: str | None, rows: Iterable[int]
) -> TiedRows:
    check_nothing_lost(sys._getframe(2))
    numbers = tuple(_items(rows))
    if not variables or (by is None) == (not numbers):
        text = f"{form}({', '.join(map(repr, variables))}, by={by!r}, rows={numbers!r})"
        raise _error("by-or-rows", text, form=form)
    if not all(isinstance(row, int) and not isinstance(row, bool) for row in numbers):
        raise _error("row-number", repr(numbers))
    return TiedRows(_names(variables), None if by is None else _name(by), numbers, form == "different")


def _compared(left: Quantity, relation: Relation, right: Quantity | float) -> Claim:
    return claim((left.expression, _expression(right)), relation, (left, right), sys._getframe(2))


def _combined(
    operation: Callable[[Expression, Expression], Expression],
    left: Quantity | float,
    right: Quantity | float,
    sign: str,
) -> Quantity:
    first, second = _expression(left), _expression(right)
    try:
        return Quantity(operation(first, second))
    except algebra.NoExpression as error:
        raise _error(error.kind, f"{expression_text(first)} {sign} {expression_text(second)}") from None


def _expression(value: Quantity | float) -> Expression:
    return value.expression if isinstance(value, Quantity) else algebra.number(_number(value))


def _optional(value: float | None) -> float | None:
    return None if value is None else _number(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise _error("not-a-number", repr(value))
    return float(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise _error("not-text", repr(value), what="A name")
    return value


def _names(values: Any) -> tuple[str, ...]:
    return tuple(_name(value) for value in _items(values))


def _items(values: Any) -> Iterable[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise _error("not-a-list", repr(values))
    return values


def _error(kind: str, text: str, **facts: Any) -> KnowledgeError:
    return KnowledgeError([describe(Fault(kind, 1, len(text) + 1, facts), 0, text, PYTHON)])

"""Statements as text: what is printed parses to the same statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from credo.knowledge.names import written_label, written_name
from credo.knowledge.syntax import (
    Approximation,
    Comparison,
    Expression,
    Influence,
    NoisyFamily,
    Order,
    Probability,
    Product,
    Statement,
    Synergy,
    TiedRows,
)


def to_text(statement: Statement) -> str:
    """The statement as one line of the language."""
    # A comparison made in Python is a subclass that knows about chains.
    kind = next((kind for kind in type(statement).__mro__ if kind in WRITERS), None)
    if kind is None:
        raise TypeError(f"{statement!r} is no statement")
    return WRITERS[kind](statement)


def number_text(value: float) -> str:
    """A number that reads back exactly; `0.3`, not `0.30`, and `2`, not `2.0`."""
    return repr(float(value)).removesuffix(".0")


def probability_text(probability: Probability) -> str:
    """`P(lung=yes | smoke=yes)`."""
    states = [written_label(state) for state in probability.states]
    event = f"={states[0]}" if len(states) == 1 else f" in {{{', '.join(states)}}}"
    given = ", ".join(f"{written_name(parent)}={written_label(state)}" for parent, state in probability.given)
    return f"P({written_name(probability.variable)}{event}{' | ' + given if given else ''})"


def expression_text(expression: Expression) -> str:
    """`2*P(…) - P(…) + 0.5`."""
    if isinstance(expression, Product):
        factors = " * ".join(probability_text(factor) for factor in expression.factors)
        return _multiple(expression.coefficient, factors)
    terms = [(coefficient, probability_text(term)) for coefficient, term in expression.terms]
    if not terms:
        return number_text(expression.constant)
    text = _multiple(*terms[0])
    for coefficient, term in terms[1:]:
        text += f" {_sign(coefficient)} {_multiple(abs(coefficient), term)}"
    if expression.constant:
        text += f" {_sign(expression.constant)} {number_text(abs(expression.constant))}"
    return text


def _multiple(coefficient: float, text: str) -> str:
    if coefficient == 1:
        return text
    return f"-{text}" if coefficient == -1 else f"{number_text(coefficient)}*{text}"


def _sign(value: float) -> str:
    return "-" if value < 0 else "+"


def _comparison(statement: Comparison) -> str:
    text = expression_text(statement.sides[0])
    for relation, side in zip(statement.relations, statement.sides[1:], strict=True):
        text += f" {relation} {expression_text(side)}"
    return text + _ending(statement)


def _approximation(statement: Approximation) -> str:
    sides = f"{expression_text(statement.left)} ~ {expression_text(statement.right)}"
    return f"{sides} within {number_text(statement.within)}{_ending(statement)}"


def _influence(statement: Influence) -> str:
    return f"{written_name(statement.parent)} {statement.direction} {written_name(statement.child)}{_ending(statement)}"


def _synergy(statement: Synergy) -> str:
    parents = " and ".join(written_name(parent) for parent in statement.parents)
    return f"{parents} {statement.kind} on {written_name(statement.child)}{_ending(statement)}"


def _order(statement: Order) -> str:
    return f"order {written_name(statement.variable)}: {' < '.join(written_label(each) for each in statement.states)}"


def _family(statement: NoisyFamily) -> str:
    sets = ", ".join("{" + ", ".join(written_name(name) for name in each) + "}" for each in statement.sets)
    return f"{written_name(statement.child)} is {statement.kind} of {sets}{' with leak' if statement.leak else ''}"


def _tied(statement: TiedRows) -> str:
    variables = ", ".join(written_name(name) for name in statement.variables)
    numbers = ", ".join(str(row) for row in statement.rows)
    rows = numbers if statement.by is None else f"with equal {written_name(statement.by)}"
    return f"rows {rows} {'differ in' if statement.differ else 'share'} {variables}"


def _ending(statement: Any) -> str:
    margin = getattr(statement, "margin", 0.0)
    text = f" by at least {number_text(margin)}" if margin else ""
    if statement.confidence is not None:
        text += f" with confidence {number_text(statement.confidence)}"
    return text


WRITERS: dict[type, Callable[[Any], str]] = {
    Comparison: _comparison,
    Approximation: _approximation,
    Influence: _influence,
    Synergy: _synergy,
    Order: _order,
    NoisyFamily: _family,
    TiedRows: _tied,
}

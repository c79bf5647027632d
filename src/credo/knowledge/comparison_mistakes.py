"""Mistakes in comparisons that can be seen without a network: relations, sides, bounds that nothing can meet; and what
numbers outside 0 and 1 were probably meant to be (`130%`, `5-10%`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import isfinite
from typing import Literal, NamedTuple

from credo.knowledge.expressions import Expression, Linear, Product, add, is_number, negate, single
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import Part
from credo.tolerances import DECIMAL_ROUNDING

_AMOUNT = r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s?(%|per\s?cent)?"
DASHED = rf"{_AMOUNT}\s*(?:[\-−–—]|to)\s*{_AMOUNT}"  # 5-10%, 5% to 10%
_DASHED = re.compile(DASHED)
_AROUND = re.compile(rf"{_AMOUNT}\s*(?:±|\+\s*/?\s*[\-−])\s*{_AMOUNT}")
_ONE_IN = re.compile(r"\sin\s", re.IGNORECASE)
_PAIR = re.compile(rf"{_AMOUNT}\s*(?:and|,|&)\s*{_AMOUNT}")


def as_written(mistakes: Iterable[LineMistake], line: str) -> tuple[LineMistake, ...]:
    """The mistakes of a line, where those about bounds fit the text that they mark."""
    found: list[LineMistake] = []
    lacks_percent = False
    for mistake in mistakes:
        if lacks_percent and mistake.kind == "bound-outside":
            continue  # said of both bounds
        found.append(_as_written(mistake, line[mistake.column - 1 : mistake.end_column - 1]))
        lacks_percent = lacks_percent or found[-1].kind == "percent-missing"
    return tuple(found)


def _as_written(mistake: LineMistake, text: str) -> LineMistake:
    if mistake.kind == "bounds-crossed" and (pair := _PAIR.fullmatch(text)) and _lacks_percent(pair):
        return mistake._replace(kind="percent-missing", facts={"write": f"between {_range_text(pair)}"})
    if mistake.kind != "bound-outside":
        return mistake
    if (around := _AROUND.fullmatch(text)) and _lacks_percent(around, is_ascending=False):
        return mistake._replace(kind="percent-missing", facts={"write": f"{around[1]}% ± {around[3]}%"})
    if dashed := _DASHED.fullmatch(text):
        return mistake._replace(kind="range-with-dash", facts={"range": _range_text(dashed)})
    if text.endswith(("%", "cent")):
        return mistake._replace(kind="percent-outside")
    if _ONE_IN.search(text):  # no percentage without its sign
        return mistake._replace(facts={**mistake.facts, "hint": ""})
    return mistake


def dashed_range(text: str) -> str:
    """`5% and 10%`, for a text in which a range such as `5–10%` is written; an example if there is none."""
    found = _DASHED.search(text)
    return _range_text(found) if found else "5% and 10%"


def _lacks_percent(pair: re.Match[str], is_ascending: bool = True) -> bool:
    return not pair[2] and pair[4] is not None and (not is_ascending or float(pair[1]) < float(pair[3]))


def _range_text(pair: re.Match[str]) -> str:
    """`5% and 10%`: the sign of percent belongs to both numbers, or to numbers above 1."""
    is_percent = pair[2] or pair[4] or max(float(pair[1]), float(pair[3])) > 1
    low, high = sorted((pair[1], pair[3]), key=float)
    return f"{low}% and {high}%" if is_percent else f"{low} and {high}"


Relation = Literal["<=", "<", ">=", ">", "="]

RELATIONS: dict[str, Relation] = {
    "<=": "<=", "≤": "<=", "<": "<", ">=": ">=", "≥": ">=", ">": ">", "=": "=", "==": "=",
}  # fmt: skip
APPROXIMATE = ("~", "≈", "~=", "~~")
MISSPELLED = {"=<": "<=", "=>": ">=", "<<": "<", ">>": ">", "===": "="}
UPWARD, DOWNWARD = ("<=", "<"), (">=", ">")


class Compared(NamedTuple):
    """Sides and the relations between them, before it is known which statement they make."""

    sides: tuple[Part, ...]
    relations: tuple[Part, ...]

    @property
    def relations_read(self) -> tuple[Relation, ...]:
        """The relations, once none of them has a mistake."""
        return tuple(RELATIONS[relation.value] for relation in self.relations)


def relation_mistakes(relation: Part) -> Iterator[LineMistake]:
    """A relation that is none, or is spelled in another way."""
    if relation.value in ("!=", "≠", "<>"):
        yield LineMistake("not-equal", relation.column, relation.end)
    elif relation.value not in RELATIONS and relation.value not in APPROXIMATE:
        meant = MISSPELLED.get(relation.value)
        hint = f"Write {meant}." if meant else "Write one of <=, >=, <, >, =, ~."
        yield LineMistake("relation-spelling", relation.column, relation.end, {"hint": hint})


def form_mistakes(compared: Compared, modifiers: Mapping[str, Part]) -> Iterator[LineMistake]:
    """Chains that turn, margins where none can be, products against sums."""
    relations = compared.relations_read
    yield from side_mistakes(compared)
    directions = {relation in UPWARD for relation in relations if relation != "="}
    if len(directions) > 1:
        first = next(relation for relation in relations if relation != "=")
        turned = DOWNWARD if first in UPWARD else UPWARD
        turn = next(part for part in compared.relations if RELATIONS[part.value] in turned)
        yield LineMistake("chain-turns", turn.column, turn.end, {"first": first})
    if (margin := modifiers.get("margin")) is not None:
        if len(relations) > 1:
            yield LineMistake("margin-on-chain", margin.column, margin.end)
        elif relations[0] == "=":
            yield LineMistake("margin-on-equality", margin.column, margin.end)
        elif any(isinstance(side.value, Product) for side in compared.sides):
            yield LineMistake("margin-on-product", margin.column, margin.end)
    for left, right in pairwise(compared.sides):
        yield from _product_mistakes(left, right)


def side_mistakes(compared: Compared) -> Iterator[LineMistake]:
    """Numbers alone, or numbers that are too large."""
    sides = compared.sides
    if all(is_number(side.value) for side in sides):
        yield LineMistake("no-probability", sides[0].column, sides[-1].end)
        return
    for left, right in pairwise(sides):
        if is_number(left.value) and is_number(right.value):
            yield LineMistake("two-numbers", left.column, right.end)
    for side in sides:
        if not all(isfinite(value) for value in _numbers(side.value)) and not side.mistakes:
            yield LineMistake("number-too-large", side.column, side.end)


def _numbers(expression: Expression) -> tuple[float, ...]:
    if isinstance(expression, Product):
        return (expression.coefficient,)
    return (expression.constant, *(coefficient for coefficient, _ in expression.terms))


def _product_mistakes(left: Part, right: Part) -> Iterator[LineMistake]:
    """A product is linear in logarithms: it compares with a product, one probability, or a positive number."""
    if not (isinstance(left.value, Product) or isinstance(right.value, Product)):
        return
    for side in (left, right):
        if isinstance(side.value, Product):
            if side.value.coefficient < 0:
                yield LineMistake("product-negative", side.column, side.end)
        elif is_number(side.value):
            if side.value.constant <= 0:
                yield LineMistake("product-bound", side.column, side.end)
        elif (one := single(side.value)) is None or one[0] < 0 or len(one[1].states) > 1:
            yield LineMistake("product-against-sum", side.column, side.end)


def _repeated_states(side: Part) -> Iterator[LineMistake]:
    """A plain sum over one distribution that holds a state twice; `2 * P(…)` is no such sum."""
    expression = side.value
    if isinstance(expression, Product) or len(expression.terms) < 2 or not _is_plain_sum(expression):
        return
    states = [state for _, term in expression.terms for state in term.states]
    for position, state in enumerate(states):
        if state in states[:position]:
            yield LineMistake("counted-twice", side.column, side.end, {"state": state})
            return


def value_mistakes(compared: Compared, margin: float) -> Iterator[LineMistake]:
    """Bounds and sums that no probabilities can meet."""
    for side in compared.sides:
        yield from _repeated_states(side)
    relations = compared.relations_read
    crossed = False
    last: Part | None = None
    for index, side in enumerate(compared.sides):
        if not is_number(side.value):
            continue
        if last is not None and _crossed(last.value.constant, side.value.constant, relations[:index]):
            crossed = True
            yield LineMistake("bounds-crossed", last.column, side.end)
        last = side
    for (left, right), relation in zip(pairwise(compared.sides), relations, strict=True):
        found = [*bound_mistakes(left, right)]
        if not found and left.value == right.value:
            found = [LineMistake("compares-with-itself", left.column, right.end)]
        if not found and not crossed:
            found = [*impossible_mistakes(left, relation, right, margin)]
        yield from found


def _crossed(first: float, second: float, relations: tuple[Relation, ...]) -> bool:
    if any(relation in UPWARD for relation in relations):
        return first > second
    if any(relation in DOWNWARD for relation in relations):
        return first < second
    return first != second


def bound_mistakes(left: Part, right: Part) -> Iterator[LineMistake]:
    """A probability compared with a number outside 0 and 1."""
    for side, other in ((left, right), (right, left)):
        if is_number(side.value) and is_probability(other.value):
            bound = side.value.constant
            if not 0 <= bound <= 1:
                facts = {"bound": f"{bound:.15g}", "hint": percent_hint(bound)}
                yield LineMistake("bound-outside", side.column, side.end, facts)


def percent_hint(amount: float) -> str:
    """`30% is 0.3.`, where a percentage was probably meant."""
    return f"{amount:g}% is {amount / 100:g}." if 1 < amount <= 100 else ""


def is_probability(expression: Expression) -> bool:
    """One probability, or a sum of probabilities of different states in one distribution."""
    if isinstance(expression, Product) or expression.constant or not expression.terms:
        return False
    states = [state for _, term in expression.terms for state in term.states]
    return len(set(states)) == len(states) and _is_plain_sum(expression)


def _is_plain_sum(expression: Linear) -> bool:
    """Whether all terms are of one distribution, each taken once."""
    first = expression.terms[0][1]
    return all(coefficient == 1 and term.distribution == first.distribution for coefficient, term in expression.terms)


def impossible_mistakes(left: Part, relation: str, right: Part, margin: float) -> Iterator[LineMistake]:
    """A comparison that no probabilities can meet: the range of left − right lies on the wrong side of zero."""
    if isinstance(left.value, Product) or isinstance(right.value, Product):
        (left_low, left_high), (right_low, right_high) = _range(left.value), _range(right.value)
        low, high = left_low - right_high, left_high - right_low
    else:
        low, high = _range(add(left.value, negate(right.value)))
    if (relation in (*UPWARD, "=") and low + margin > DECIMAL_ROUNDING) or (
        relation in (*DOWNWARD, "=") and high - margin < -DECIMAL_ROUNDING
    ):
        facts = {"low": f"{low:.6g}", "high": f"{high:.6g}"}
        yield LineMistake("never-true", left.column, right.end, facts)


def _range(expression: Expression) -> tuple[float, float]:
    """The least and the greatest value of a linear expression when every distribution sums to one at most.

    A product of probabilities lies between 0 and its coefficient.
    """
    if isinstance(expression, Product):
        return min(0.0, expression.coefficient), max(0.0, expression.coefficient)
    weights: dict[object, dict[str, float]] = {}
    for coefficient, term in expression.terms:
        distribution = weights.setdefault(term.distribution, {})
        for state in term.states:
            distribution[state] = distribution.get(state, 0.0) + coefficient
    low = high = expression.constant
    for distribution in weights.values():
        low += min(0.0, *distribution.values())
        high += max(0.0, *distribution.values())
    return low, high

"""Sums and products of probabilities: their arithmetic, their text, and the grammar rules that read them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import (
    OtherThan,
    Part,
    SeveralStates,
    Threshold,
    escape_mistakes,
    joined,
    name_text,
    read_name,
    state_text,
    token_part,
)
from credo.model.state_texts import is_number as is_number_text


@dataclass(frozen=True, slots=True)
class Probability:
    """P(variable=state | given), or P(variable in {states} | given).

    `each` names variables after the bar that stand for every one of their states, the same in all terms of a statement;
    with `each_other`, so does every parent of the variable that is not named.
    `further` are more events before the bar, P(a=x, b=y | …). With `alone`, it is the probability that the given causes
    of a noisy family bring the effect about by themselves.
    """

    variable: str
    states: tuple[str, ...]
    given: tuple[tuple[str, str], ...] = ()
    each: tuple[str, ...] = ()
    each_other: bool = False
    further: tuple[tuple[str, tuple[str, ...]], ...] = ()
    alone: bool = False

    @property
    def events(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What stands before the bar: variables with their states."""
        return ((self.variable, self.states), *self.further)

    @property
    def distribution(self) -> tuple[object, ...]:
        """What probabilities of different states have in common when they belong to one distribution."""
        each = (frozenset(self.each), self.each_other)
        return str(self.variable), frozenset(self.given), *each, self.further, self.alone


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


@dataclass(frozen=True, slots=True)
class Around:
    """`5% ± 2%`, before it becomes the two bounds of a comparison."""

    center: Expression
    width: Expression


Expression = Linear | Product
NOT_EQUAL = ("!=", "≠", "<>")
INEQUALITIES = {"<": "<", "<=": "<=", "≤": "<=", ">": ">", ">=": ">=", "≥": ">="}


def probabilities_in(expression: Expression) -> Iterable[Probability]:
    """Every P(…) of an expression."""
    return (term for _, term in expression.terms) if isinstance(expression, Linear) else expression.factors


# Arithmetic -----------------------------------------------------------------------------------------------------------


class NotAnExpression(Exception):
    """The result is neither linear nor a product of two probabilities; `kind` is the kind of mistake."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def number(value: float) -> Linear:
    """A constant."""
    return Linear((), value)


def is_number(value: Expression) -> bool:
    """Whether an expression holds no probability."""
    return isinstance(value, Linear) and not value.terms


def single(value: Expression) -> tuple[float, Probability] | None:
    """Coefficient and probability of an expression that holds nothing else."""
    if isinstance(value, Linear) and len(value.terms) == 1 and value.constant == 0:
        return value.terms[0]
    return None


def add(left: Expression, right: Expression) -> Expression:
    """left + right."""
    if isinstance(left, Product) or isinstance(right, Product):
        raise NotAnExpression("sum-with-product")
    return Linear(left.terms + right.terms, left.constant + right.constant)


def subtract(left: Expression, right: Expression) -> Expression:
    """left − right."""
    return add(left, negate(right))


def scale(value: Expression, factor: float) -> Expression:
    """factor · value."""
    if isinstance(value, Product):
        if factor == 0:
            raise NotAnExpression("zero-coefficient")
        return Product(value.factors, value.coefficient * factor)
    if factor == 0 and value.terms:
        raise NotAnExpression("zero-coefficient")
    return Linear(tuple((factor * coefficient, term) for coefficient, term in value.terms), factor * value.constant)


def negate(value: Expression) -> Expression:
    """−value."""
    return scale(value, -1.0)


def multiply(left: Expression, right: Expression) -> Expression:
    """left · right, where one is a number or both are single probabilities."""
    if isinstance(left, Linear) and not left.terms:
        return scale(right, left.constant)
    if isinstance(right, Linear) and not right.terms:
        return scale(left, right.constant)
    if isinstance(left, Product) or isinstance(right, Product):
        raise NotAnExpression("product-of-three")
    first, second = single(left), single(right)
    if first is None or second is None:
        raise NotAnExpression("product-with-sum")
    if len(first[1].states) > 1 or len(second[1].states) > 1:
        raise NotAnExpression("product-with-set")
    return Product((first[1], second[1]), first[0] * second[0])


def divide(left: Expression, right: Expression) -> Expression:
    """left / right, where right is a number."""
    if isinstance(right, Product) or right.terms:
        raise NotAnExpression("ratio")
    if right.constant == 0:
        raise NotAnExpression("division-by-zero")
    divisor = right.constant
    if isinstance(left, Product):
        return Product(left.factors, left.coefficient / divisor)
    return Linear(tuple((coefficient / divisor, term) for coefficient, term in left.terms), left.constant / divisor)


# Text -----------------------------------------------------------------------------------------------------------------


def number_text(value: float) -> str:
    """A number that reads back exactly; `0.3`, not `0.30`, and `2`, not `2.0`."""
    return repr(float(value)).removesuffix(".0")


def label_number(value: float) -> str:
    """A number that reads back exactly where a state may stand, too: `1e26`, not `1e+26`."""
    return number_text(value).replace("e+", "e")


def probability_text(probability: Probability) -> str:
    """`P(lung=yes | smoke=yes)`."""
    return f"P({event_text(probability)})"


def event_text(probability: Probability) -> str:
    """`lung=yes | smoke=yes`: the inside of P(…)."""
    given = ", ".join(
        [conditions_text([condition]) for condition in probability.given]
        + [f"each {name_text(name)}" for name in probability.each]
        + ["each other parent"] * probability.each_other
    )
    alone = " alone" if probability.alone else ""
    return f"{', '.join(_event_text(*event) for event in probability.events)}{' | ' + given if given else ''}{alone}"


def conditions_text(given: Sequence[tuple[str, str]]) -> str:
    """`smoke=yes, age >= 60`: what stands after the bar."""
    states = ((name, state.states if isinstance(state, SeveralStates) else (state,)) for name, state in given)
    return ", ".join(_event_text(name, several) for name, several in states)


def _event_text(name: str, states: Sequence[str]) -> str:
    if states and isinstance(states[0], OtherThan):
        return f"{name_text(name)}!={state_text(states[0])}"
    if states and isinstance(states[0], Threshold):
        return f"{name_text(name)} {states[0]}"
    shown = [state_text(state) for state in states]
    return f"{name_text(name)}={shown[0]}" if len(shown) == 1 else f"{name_text(name)} in {{{', '.join(shown)}}}"


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


# Grammar rules: arithmetic --------------------------------------------------------------------------------------------


def parse_number(children: list[Any]) -> Part:
    """`0.3`, `30%`, `30 percent`, `1e-3`."""
    (token,) = children
    text, column, end = str(token), token.start_pos + 1, token.end_pos + 1
    is_percent = text[-1] in "%t"
    value = float(re.split("[%p]", text, maxsplit=1)[0]) / 100 if is_percent else float(text)
    mistakes = () if isfinite(value) else (LineMistake("number-too-large", column, end),)
    return Part(Linear((), value), column, end, mistakes)


_NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1_000, "million": 1_000_000,
}  # fmt: skip


def parse_one_in(children: list[Any]) -> Part:
    """`1 in 20`, `one in ten`, `two in a hundred thousand`."""
    place = token_part(children[0])
    few, many = re.split(r"\s+in\s+(?:an?\s+)?", place.value.lower())
    total = _whole_number(many)
    if not total:
        return place._replace(value=number(1.0), mistakes=(LineMistake("division-by-zero", place.column, place.end),))
    return place._replace(value=number(_whole_number(few) / total))


def _whole_number(text: str) -> int:
    words = text.replace(",", "").split()
    return prod(int(word) if word.isdigit() else _NUMBER_WORDS[word] for word in words)


def _binary(operation: Callable[[Expression, Expression], Expression]) -> Callable[[list[Any]], Part]:
    def apply(children: list[Any]) -> Part:
        left, _, right = children
        mistakes = left.mistakes + right.mistakes
        try:
            value = operation(left.value, right.value)
        except NotAnExpression as error:
            value, mistakes = left.value, (*mistakes, LineMistake(error.kind, left.column, right.end))
        return Part(value, left.column, right.end, mistakes)

    return apply


def parse_add_negative(children: list[Any]) -> Part:
    """`P(…) + -P(…)`, a difference; between two numbers it may be meant as ±, and is a mistake."""
    left, signs, right = children
    if is_number(left.value) and is_number(right.value):
        shown = f"{number_text(left.value.constant)} +- {number_text(right.value.constant)}"
        facts = {"range": shown, "difference": shown.replace("+-", "-")}
        mistakes = (LineMistake("plus-negative", signs.start_pos + 1, signs.end_pos + 1, facts),)
        return Part(left.value, left.column, right.end, left.mistakes + right.mistakes + mistakes)
    return _binary(subtract)(children)


def parse_give_or_take(children: list[Any]) -> Part:
    """`5% ± 2%`."""
    center, _, width = children
    return Part(Around(center.value, width.value), center.column, width.end, center.mistakes + width.mistakes)


def parse_negate(children: list[Any]) -> Part:
    """`-P(…)`."""
    sign, part = children
    return Part(negate(part.value), sign.start_pos + 1, part.end, part.mistakes)


def parse_keep(children: list[Any]) -> Part:
    """`+P(…)`."""
    sign, part = children
    return Part(part.value, sign.start_pos + 1, part.end, part.mistakes)


def parse_power(children: list[Any]) -> Part:
    """`P(…)**2`, which is always a mistake."""
    base, _, exponent = children
    mistakes = (*base.mistakes, *exponent.mistakes, LineMistake("power", base.column, exponent.end))
    return Part(base.value, base.column, exponent.end, mistakes)


def parse_group(children: list[Any]) -> Part:
    """`(P(…) + 0.1)`."""
    left, part, right = children
    return Part(part.value, left.start_pos + 1, right.end_pos + 1, part.mistakes)


# Grammar rules: probabilities -----------------------------------------------------------------------------------------

# The token is known to be well formed, so a word is whatever is between its marks.
_WORD = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s=|,{}()"']+)"""
_PAIR = re.compile(rf"{_WORD}\s*=\s*{_WORD}")
_ONE_OF = re.compile(rf"P\s*\(\s*{_WORD}\s*in\s*(\{{(?:\s*{_WORD}\s*,?)*\}})")


def parse_whole_probability(children: list[Any]) -> Part:
    """A well-formed P(…), which is one token."""
    token = children[0]
    text, start = str(token), token.start_pos + 1
    one_of = _ONE_OF.match(text)
    pairs = [
        (read_name(pair[1], start + pair.start(1)), read_name(pair[2], start + pair.start(2)))
        for pair in _PAIR.finditer(text, one_of.end() if one_of else 0)
    ]
    if one_of:
        variable = read_name(one_of[1], start + one_of.start(1))
        inside = re.finditer(_WORD, text[: one_of.end(2)])
        states = tuple(read_name(word[1], start + word.start(1)) for word in inside if word.start(1) > one_of.start(2))
        given = tuple(pairs)
    else:
        (variable, state), *given = pairs  # type: ignore[assignment]
        states = (state,)
    return Part(
        Linear(((1.0, Probability(variable, states, tuple(given))),)),
        start,
        token.end_pos + 1,
        escape_mistakes(text, start),
    )


def parse_probability(children: list[Any]) -> Part:
    """The spelled-out form, with several events, conditions such as `each smoke`, and any relation."""
    opening, closing = children[0], children[-1]
    kinds = [getattr(child, "type", "") for child in children]
    bar = next((place for place, kind in enumerate(kinds) if kind in ("BAR", "AMONG")), len(children) - 1)
    events = children[1:bar:2]
    conditions = [child for child in children[bar + 1 : -1] if isinstance(child, Part)]
    named = [part for part in conditions if part.value[1] is not None]
    (variable, states, _), *further = (event.value for event in events)
    found = Probability(
        variable,
        states,
        tuple((part.value[0], condition_state(part)) for part in named if part.value[1]),
        *each_in(conditions),
        tuple((name, labels) for name, labels, _ in further),
        "ALONE" in kinds,
    )
    mistakes = event_mistakes(events, named)
    return Part(Linear(((1.0, found),)), opening.start_pos + 1, closing.end_pos + 1, mistakes)


def condition_state(condition: Part) -> str:
    """The state of a condition, or several of them as one text."""
    states = condition.value[1]
    return states[0] if len(states) == 1 else SeveralStates.of(states)


def each_in(conditions: Sequence[Part]) -> tuple[tuple[str, ...], bool]:
    """The variables that stand for each of their states, and whether every other parent does."""
    names = [part.value[0] for part in conditions if part.value[1] is None]
    return tuple(name for name in names if name is not None), None in names


def parse_each_other(children: list[Any]) -> Part:
    """`each other parent`: no name, and no states."""
    word = token_part(children[0])
    return Part((None, None, word), word.column, word.end)


def parse_each(children: list[Any]) -> Part:
    """`each smoke`: no states."""
    word, name = children
    return Part((name.value, None, token_part(word)), word.start_pos + 1, name.end, name.mistakes)


def parse_event(children: list[Any]) -> Part:
    """`lung=yes`, or `lung!=yes`; `age >= 60`, where age is cut at 60."""
    name, relation, label = children
    state = label.value
    if str(relation) in INEQUALITIES and is_number_text(state):
        text = f"{INEQUALITIES[str(relation)]} {label_number(float(state))}"
        state = Threshold(text, relation.start_pos + 1, label.end)
    if str(relation) in NOT_EQUAL:
        state = OtherThan(state, getattr(state, "column", 0), getattr(state, "end_column", 0))
    return joined((name.value, (state,), token_part(relation)), [name, label])


def parse_event_in(children: list[Any]) -> Part:
    """`lung in {yes, no}`."""
    name, word, labels, closing = children[0], children[1], children[3:-1:2], children[-1]
    states = tuple(label.value for label in labels)
    return Part((name.value, states, token_part(word)), name.column, closing.end_pos + 1)


def event_mistakes(events: Sequence[Part], conditions: Sequence[Part]) -> tuple[LineMistake, ...]:
    """In P(events | conditions) every relation is `=` or `in`."""
    mistakes = [mistake for event in events for mistake in event.mistakes]
    for part in (*events, *conditions):
        name, states, relation = part.value
        if relation.value == "in":
            if not states:
                mistakes.append(LineMistake("no-states", part.column, part.end, {"name": name}))
        elif relation.value not in ("=", "==", *NOT_EQUAL) and not isinstance(states[0], Threshold):
            facts = {"name": name, "state": states[0]}
            mistakes.append(LineMistake("event-relation", relation.column, relation.end, facts))
        if part in conditions:
            mistakes.extend(part.mistakes)
    return tuple(mistakes)


GRAMMAR_RULES = {
    "number": parse_number,
    "one_in": parse_one_in,
    "add": _binary(add),
    "subtract": _binary(subtract),
    "add_negative": parse_add_negative,
    "give_or_take": parse_give_or_take,
    "multiply": _binary(multiply),
    "divide": _binary(divide),
    "negate": parse_negate,
    "keep": parse_keep,
    "power": parse_power,
    "group": parse_group,
    "whole_probability": parse_whole_probability,
    "probability": parse_probability,
    "each": parse_each,
    "each_other": parse_each_other,
    "event": parse_event,
    "event_in": parse_event_in,
}

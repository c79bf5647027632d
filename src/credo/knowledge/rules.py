"""What each rule of the grammar builds: one function a rule, called by the parser as soon as the rule is complete."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from credo.knowledge import algebra, form_checks
from credo.knowledge.mistakes import Fault
from credo.knowledge.names import quote_faults, unquoted
from credo.knowledge.parse_values import Compared, Modifier, Part
from credo.knowledge.syntax import (
    Expression,
    Influence,
    Linear,
    Name,
    NoisyFamily,
    Order,
    Probability,
    Synergy,
    TiedRows,
)

Children = list[Any]  # parts and tokens, as the rule lists them


class Parsed(NamedTuple):
    """The statement of a line and what is wrong with its form."""

    statement: Any
    faults: tuple[Fault, ...]


def statement(children: Children) -> Parsed:
    """A body, and what is said at its end: margin, tolerance, confidence, leak."""
    body: Part = children[0]
    modifiers: list[Part] = children[1:]
    return Parsed(*form_checks.finish(body, modifiers))


# Bodies ---------------------------------------------------------------------------------------------------------------


def comparison(children: Children) -> Part:
    sides, relations = children[::2], [_token(token) for token in children[1::2]]
    return _joined(Compared(tuple(sides), tuple(relations)), sides)


def influence(children: Children) -> Part:
    parents, verb, child = children
    faults = form_checks.one_parent(parents, verb, child)
    direction = "raises" if verb.startswith("raise") else "lowers"
    return _joined(Influence(parents.value[0], child.value, direction), [parents, child], faults)  # type: ignore[arg-type]


def synergy(children: Children) -> Part:
    parents, verb, _, child = children
    kind = "sub-synergize" if verb.startswith("sub") else "synergize"
    faults = form_checks.several_parents(parents, child)
    return _joined(Synergy(parents.value, child.value, kind), [parents, child], faults)  # type: ignore[arg-type]


def order(children: Children) -> Part:
    variable, states, relations = children[1], children[3::2], [_token(token) for token in children[4::2]]
    names, faults = form_checks.ordered(states, relations)
    return _joined(Order(variable.value, names), [variable, *states], faults)


def family(children: Children) -> Part:
    child, kind, sets = children[0], children[2], children[4::2]
    spelled = kind.lower().replace(" ", "-")
    faults = form_checks.separate_sets(child, sets)
    return _joined(NoisyFamily(child.value, spelled, tuple(each.value for each in sets)), [child, *sets], faults)


def tied_by_column(children: Children) -> Part:
    _, _, column, verb, names = children
    tie = TiedRows(names.value, by=column.value, differ=_differ(verb))
    return _joined(tie, [column, names], form_checks.tied(names, column))


def tied_by_number(children: Children) -> Part:
    _, *numbers, verb, names = children
    numbers = numbers[::2]
    rows, faults = form_checks.row_numbers(numbers)
    tie = TiedRows(names.value, rows=rows, differ=_differ(verb))
    return _joined(tie, [*numbers, names], faults + form_checks.tied(names))


def _differ(verb: str) -> bool:
    return verb.startswith("differ")


# What is said at the end ----------------------------------------------------------------------------------------------


def _amount(what: str) -> Callable[[Children], Part]:
    def modifier(children: Children) -> Part:
        word, amount = children
        start = _token(word).column
        return Part(Modifier(what, amount.value.constant, amount), start, amount.end, amount.faults)

    return modifier


margin = _amount("margin")
within = _amount("within")
confidence = _amount("confidence")


def leak(children: Children) -> Part:
    word = _token(children[0])
    return Part(Modifier("leak", 0.0 if "without" in word.value else 1.0, word), word.column, word.end)


# Arithmetic -----------------------------------------------------------------------------------------------------------


def number(children: Children) -> Part:
    (token,) = children
    text = str(token)
    value = float(text[:-1]) / 100 if text[-1] == "%" else float(text)
    faults = form_checks.finite(value, token.start_pos + 1, token.end_pos + 1)
    return Part(Linear((), value), token.start_pos + 1, token.end_pos + 1, faults)


def _binary(operation: Callable[[Expression, Expression], Expression]) -> Callable[[Children], Part]:
    def apply(children: Children) -> Part:
        left, _, right = children
        faults = left.faults + right.faults
        try:
            value = operation(left.value, right.value)
        except algebra.NoExpression as error:
            value, faults = left.value, (*faults, Fault(error.kind, left.column, right.end))
        return Part(value, left.column, right.end, faults)

    return apply


add = _binary(algebra.add)
subtract = _binary(lambda left, right: algebra.add(left, algebra.negate(right)))
multiply = _binary(algebra.multiply)
divide = _binary(algebra.divide)


def negate(children: Children) -> Part:
    sign, part = children
    return Part(algebra.negate(part.value), sign.start_pos + 1, part.end, part.faults)


def keep(children: Children) -> Part:
    sign, part = children
    return Part(part.value, sign.start_pos + 1, part.end, part.faults)


def power(children: Children) -> Part:
    base, _, exponent = children
    faults = (*base.faults, *exponent.faults, Fault("power", base.column, exponent.end))
    return Part(base.value, base.column, exponent.end, faults)


def group(children: Children) -> Part:
    left, part, right = children
    return Part(part.value, left.start_pos + 1, right.end_pos + 1, part.faults)


# Probabilities --------------------------------------------------------------------------------------------------------

# The token is known to be in good order, so a word is whatever stands between its marks.
_WORD = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s=|,{}()"']+)"""
_PAIR = re.compile(rf"{_WORD}\s*=\s*{_WORD}")
_ONE_OF = re.compile(rf"P\s*\(\s*{_WORD}\s*in\s*(\{{(?:\s*{_WORD}\s*,?)*\}})")


def whole_probability(children: Children) -> Part:
    token = children[0]
    text, start = str(token), token.start_pos + 1
    one_of = _ONE_OF.match(text)
    pairs = [
        (_name(pair[1], start + pair.start(1)), _name(pair[2], start + pair.start(2)))
        for pair in _PAIR.finditer(text, one_of.end() if one_of else 0)
    ]
    if one_of:
        variable = _name(one_of[1], start + one_of.start(1))
        inside = re.finditer(_WORD, text[: one_of.end(2)])
        states = tuple(_name(word[1], start + word.start(1)) for word in inside if word.start(1) > one_of.start(2))
        given = tuple(pairs)
    else:
        (variable, state), *given = pairs  # type: ignore[assignment]
        states = (state,)
    return Part(
        Linear(((1.0, Probability(variable, states, tuple(given))),)),
        start,
        token.end_pos + 1,
        quote_faults(text, start),
    )


def probability(children: Children) -> Part:
    """The spelled-out form, whose events may have any relation and whose conditions may have sets."""
    opening, event_part, *rest = children
    conditions = rest[1:-1:2]
    faults = form_checks.event_faults(event_part, conditions)
    (variable, states, _), start, end = event_part.value, opening.start_pos + 1, rest[-1].end_pos + 1
    given = tuple((each.value[0], each.value[1][0]) for each in conditions if each.value[1])
    return Part(Linear(((1.0, Probability(variable, states, given)),)), start, end, faults)


def event(children: Children) -> Part:
    name, relation, label = children
    return _joined((name.value, (label.value,), _token(relation)), [name, label])


def event_in(children: Children) -> Part:
    name, word, labels, closing = children[0], children[1], children[3:-1:2], children[-1]
    states = tuple(each.value for each in labels)
    return Part((name.value, states, _token(word)), name.column, closing.end_pos + 1)


# Names ----------------------------------------------------------------------------------------------------------------


def plain(children: Children) -> Part:
    token = children[0]
    column, end = token.start_pos + 1, token.end_pos + 1
    return Part(Name(str(token), column, end), column, end)


def quoted(children: Children) -> Part:
    token = children[0]
    name = _name(str(token), token.start_pos + 1)
    return Part(name, name.column, name.end_column, quote_faults(str(token), name.column))


def names(children: Children) -> Part:
    return _joined(tuple(each.value for each in children[::2]), children[::2])


def set(children: Children) -> Part:
    members = [each for each in children if isinstance(each, Part)]
    marks = [_token(each) for each in children if not isinstance(each, Part)]
    return _joined(tuple(each.value for each in members), sorted([*members, *marks], key=lambda each: each.column))


def _name(text: str, column: int) -> Name:
    if text[0] not in "\"'":
        return Name(text, column, column + len(text))
    return Name(unquoted(text), column, column + len(text))


def _token(token: Any) -> Part:
    return Part(str(token), token.start_pos + 1, token.end_pos + 1)


def _joined(value: Any, parts: Children, faults: tuple[Fault, ...] = ()) -> Part:
    for part in parts:
        if part.faults:
            faults = faults + part.faults
    return Part(value, parts[0].column, parts[-1].end, faults)

"""From sides and relations to a comparison or an approximation, with the checks that need no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import isfinite

from credo.knowledge import algebra
from credo.knowledge.mistakes import Fault
from credo.knowledge.parse_values import Compared, Part
from credo.knowledge.syntax import Approximation, Comparison, Expression, Linear, Product, Relation

RELATIONS: dict[str, Relation] = {
    "<=": "<=", "≤": "<=", "<": "<", ">=": ">=", "≥": ">=", ">": ">", "=": "=", "==": "=",
}  # fmt: skip
APPROXIMATE = ("~", "≈", "~=", "~~")
MISSPELLED = {"=<": "<=", "=>": ">=", "<<": "<", ">>": ">", "===": "="}
UPWARD, DOWNWARD = ("<=", "<"), (">=", ">")

SLACK = 1e-12  # rounding in sums of decimals: 0.1 + 0.2 <= 0.3 is no contradiction


def compare(
    body: Part, said: Mapping[str, Part], broken: bool
) -> tuple[Comparison | Approximation | None, tuple[Fault, ...]]:
    """The statement, if its relations can be read, and its faults; a `broken` one is not looked at for its meaning."""
    compared: Compared = body.value
    sides, relations = compared
    if not said and not broken and _is_plain(compared):
        return Comparison((sides[0].value, sides[1].value), (RELATIONS[relations[0].value],)), ()
    if not relations:
        return None, (Fault("no-relation", body.column, body.end),)
    faults = [fault for relation in relations for fault in _relation_faults(relation)]
    if faults:
        return None, tuple(faults)
    expressions = tuple(side.value for side in sides)
    if any(relation.value in APPROXIMATE for relation in relations):
        return _approximation(compared, said, broken) if not body.faults else (None, ())
    statement = Comparison(expressions, tuple(RELATIONS[relation.value] for relation in relations))
    if body.faults:
        return statement, ()
    margin = said["margin"].value.amount if "margin" in said else 0.0
    faults += _form_faults(statement, compared, said)
    if not faults and not broken:
        faults += _meaning_faults(statement, compared, margin)
    return statement, tuple(faults)


def _is_plain(compared: Compared) -> bool:
    """One probability against another: most lines of most files, and nothing to check."""
    sides, relations = compared
    if len(relations) != 1 or relations[0].value not in RELATIONS:
        return False
    left, right = algebra.single(sides[0].value), algebra.single(sides[1].value)
    return left is not None and right is not None and left[0] == right[0] == 1 and left[1] != right[1]


def _relation_faults(relation: Part) -> Iterator[Fault]:
    if relation.value in ("!=", "≠", "<>"):
        yield Fault("not-equal", relation.column, relation.end)
    elif relation.value not in RELATIONS and relation.value not in APPROXIMATE:
        meant = MISSPELLED.get(relation.value)
        hint = f"Write {meant}." if meant else "Write one of <=, >=, <, >, =, ~."
        yield Fault("relation-spelling", relation.column, relation.end, {"hint": hint})


def _approximation(
    compared: Compared, said: Mapping[str, Part], broken: bool
) -> tuple[Approximation | None, tuple[Fault, ...]]:
    sides, relations = compared
    if len(relations) > 1:
        return None, (Fault("approximation-in-chain", relations[1].column, relations[1].end),)
    left, right = sides
    if isinstance(left.value, Product) or isinstance(right.value, Product):
        return None, (Fault("approximation-of-product", left.column, right.end),)
    within = said["within"].value.amount if "within" in said else 0.0
    statement = Approximation(left.value, right.value, within)
    faults = list(_side_faults(compared))
    if "within" not in said:
        faults.append(Fault("within-missing", relations[0].column, relations[0].end))
    elif not faults and not broken:
        faults += [*_bound_faults(left, right), *_never_faults(left, "=", right, -within)]
    return statement, tuple(faults[:1])


def _form_faults(statement: Comparison, compared: Compared, said: Mapping[str, Part]) -> Iterator[Fault]:
    yield from _side_faults(compared)
    directions = {relation in UPWARD for relation in statement.relations if relation != "="}
    if len(directions) > 1:
        first = next(relation for relation in statement.relations if relation != "=")
        turned = DOWNWARD if first in UPWARD else UPWARD
        turn = next(part for part in compared.relations if RELATIONS[part.value] in turned)
        yield Fault("chain-turns", turn.column, turn.end, {"first": first})
    if (margin := said.get("margin")) is not None:
        if len(statement.relations) > 1:
            yield Fault("margin-on-chain", margin.column, margin.end)
        elif statement.relations[0] == "=":
            yield Fault("margin-on-equality", margin.column, margin.end)
        elif any(isinstance(side, Product) for side in statement.sides):
            yield Fault("margin-on-product", margin.column, margin.end)
    for left, right in pairwise(compared.sides):
        yield from _product_faults(left, right)


def _side_faults(compared: Compared) -> Iterator[Fault]:
    sides = compared.sides
    if all(algebra.is_number(side.value) for side in sides):
        yield Fault("no-probability", sides[0].column, sides[-1].end)
        return
    for left, right in pairwise(sides):
        if algebra.is_number(left.value) and algebra.is_number(right.value):
            yield Fault("two-numbers", left.column, right.end)
    for side in sides:
        if not all(isfinite(value) for value in _numbers(side.value)) and not side.faults:
            yield Fault("number-too-large", side.column, side.end)


def _numbers(expression: Expression) -> tuple[float, ...]:
    if isinstance(expression, Product):
        return (expression.coefficient,)
    return (expression.constant, *(coefficient for coefficient, _ in expression.terms))


def _product_faults(left: Part, right: Part) -> Iterator[Fault]:
    """A product is linear in logarithms: against it can stand a product, one probability, or a positive number."""
    if not (isinstance(left.value, Product) or isinstance(right.value, Product)):
        return
    for side in (left, right):
        if isinstance(side.value, Product):
            if side.value.coefficient < 0:
                yield Fault("product-negative", side.column, side.end)
        elif algebra.is_number(side.value):
            if side.value.constant <= 0:
                yield Fault("product-bound", side.column, side.end)
        elif (one := algebra.single(side.value)) is None or one[0] < 0 or len(one[1].states) > 1:
            yield Fault("product-against-sum", side.column, side.end)


def _counted_twice(side: Part) -> Iterator[Fault]:
    """A plain sum over one distribution that holds a state twice; `2 * P(…)` says so on purpose."""
    expression = side.value
    if isinstance(expression, Product) or len(expression.terms) < 2 or not _is_plain_sum(expression):
        return
    states = [state for _, term in expression.terms for state in term.states]
    for position, state in enumerate(states):
        if state in states[:position]:
            yield Fault("counted-twice", side.column, side.end, {"state": state})
            return


def _meaning_faults(statement: Comparison, compared: Compared, margin: float) -> Iterator[Fault]:
    for side in compared.sides:
        yield from _counted_twice(side)
    crossed = False
    last: Part | None = None
    for index, side in enumerate(compared.sides):
        if not algebra.is_number(side.value):
            continue
        if last is not None and _crossed(last.value.constant, side.value.constant, statement.relations[:index]):
            crossed = True
            yield Fault("bounds-crossed", last.column, side.end)
        last = side
    for (left, right), relation in zip(pairwise(compared.sides), statement.relations, strict=True):
        found = [*_bound_faults(left, right)]
        if not found and left.value == right.value:
            found = [Fault("compares-with-itself", left.column, right.end)]
        if not found and not crossed:
            found = [*_never_faults(left, relation, right, margin)]
        yield from found


def _crossed(first: float, second: float, relations: tuple[Relation, ...]) -> bool:
    if any(relation in UPWARD for relation in relations):
        return first > second
    if any(relation in DOWNWARD for relation in relations):
        return first < second
    return first != second


def _bound_faults(left: Part, right: Part) -> Iterator[Fault]:
    for number, other in ((left, right), (right, left)):
        if algebra.is_number(number.value) and _is_probability(other.value):
            bound = number.value.constant
            if not 0 <= bound <= 1:
                hint = f"{bound:g}% is {bound / 100:g}." if 1 < bound <= 100 else ""
                yield Fault("bound-outside", number.column, number.end, {"bound": f"{bound:g}", "hint": hint})


def _is_probability(expression: Expression) -> bool:
    """One probability, or a sum of probabilities of different states in one distribution."""
    if isinstance(expression, Product) or expression.constant or not expression.terms:
        return False
    states = [state for _, term in expression.terms for state in term.states]
    return len(set(states)) == len(states) and _is_plain_sum(expression)


def _is_plain_sum(expression: Linear) -> bool:
    """Whether all terms are of one distribution, each taken once."""
    first = expression.terms[0][1]
    return all(
        coefficient == 1 and term.variable == first.variable and term.given == first.given
        for coefficient, term in expression.terms
    )


def _never_faults(left: Part, relation: str, right: Part, margin: float) -> Iterator[Fault]:
    """A comparison that no probabilities can meet: the range of left − right lies on the wrong side of zero."""
    if isinstance(left.value, Product) or isinstance(right.value, Product):
        (left_low, left_high), (right_low, right_high) = _range(left.value), _range(right.value)
        low, high = left_low - right_high, left_high - right_low
    else:
        low, high = _range(algebra.add(left.value, algebra.negate(right.value)))
    if (relation in (*UPWARD, "=") and low + margin > SLACK) or (
        relation in (*DOWNWARD, "=") and high - margin < -SLACK
    ):
        facts = {"low": f"{low:.6g}", "high": f"{high:.6g}"}
        yield Fault("never-true", left.column, right.end, facts)


def _range(expression: Expression) -> tuple[float, float]:
    """The least and the greatest value of a linear expression when every distribution sums to one at most.

    A product of probabilities lies between 0 and its coefficient.
    """
    if isinstance(expression, Product):
        return min(0.0, expression.coefficient), max(0.0, expression.coefficient)
    weights: dict[object, dict[str, float]] = {}
    for coefficient, term in expression.terms:
        distribution = weights.setdefault((term.variable, frozenset(term.given)), {})
        for state in term.states:
            distribution[state] = distribution.get(state, 0.0) + coefficient
    low = high = expression.constant
    for distribution in weights.values():
        low += min(0.0, *distribution.values())
        high += max(0.0, *distribution.values())
    return low, high

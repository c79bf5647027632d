"""Comparison and Approximation: probabilities compared with numbers and with each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from credo.knowledge.comparison_mistakes import (
    APPROXIMATE,
    DOWNWARD,
    RELATIONS,
    UPWARD,
    Compared,
    Relation,
    bound_mistakes,
    form_mistakes,
    impossible_mistakes,
    is_probability,
    percent_hint,
    relation_mistakes,
    side_mistakes,
    value_mistakes,
)
from credo.knowledge.experts import Expert
from credo.knowledge.expressions import (
    Around,
    Expression,
    Linear,
    Probability,
    Product,
    event_text,
    expression_text,
    is_number,
    number,
    number_text,
    probabilities_in,
    single,
)
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import Name, OtherThan, Part, SeveralStates, Threshold, joined, mistake_at, token_part
from credo.knowledge.network_names import NetworkNames, check_probability, states_beyond
from credo.knowledge.statement_base import (
    ComparingStatement,
    Kind,
    Span,
    StatementRules,
    UncertainStatement,
    modifiers_text,
)
from credo.model.network import Network


@dataclass(frozen=True, slots=True)
class Comparison(ComparingStatement):
    """`0.1 <= P(…) <= 0.3`, `P(…) > P(…) by at least 0.05`: expressions with relations between them.

    Attributes
    ----------
    sides
        Sums and products of probabilities, two or more.
    relations
        The relations between them, such as "<=".
    margin
        The amount by which the inequality must hold.
    confidence
        The probability that it is true; None for a statement that must hold.
    span
        Where it is written; None for one that was made in Python.
    expert
        Who says it; None outside of experts' blocks.
    """

    sides: tuple[Expression, ...]
    relations: tuple[Relation, ...]
    margin: float = 0.0
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)
    expert: Expert | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        text = expression_text(self.sides[0])
        for relation, side in zip(self.relations, self.sides[1:], strict=True):
            text += f" {relation} {expression_text(side)}"
        return text + modifiers_text(self)

    def _instead_of_chain(self) -> str:
        """`P("lung=yes").between(0.1, high)`, for a comparison that Python cut off a chain."""
        left, right = self.sides[0], self.sides[-1]
        inner, bound, low = (left, right, self.relations[-1] in DOWNWARD)
        if is_number(left):
            inner, bound, low = (right, left, self.relations[0] in UPWARD)
        if not is_number(bound) or (term := single(inner)) is None or term[0] != 1:
            return 'P("x=a").between(0.1, 0.3)'
        event = event_text(term[1])
        quote = "'" if '"' in event else '"'
        value = number_text(bound.constant) if isinstance(bound, Linear) else ""
        return f"P({quote}{event}{quote}).between({f'{value}, high' if low else f'low, {value}'})"


@dataclass(frozen=True, slots=True)
class Approximation(UncertainStatement):
    """`P(…) ~ P(…) within 0.05`.

    Attributes
    ----------
    left, right
        Two sums of probabilities.
    within
        How far they may be apart.
    confidence
        The probability that it is true; None for a statement that must hold.
    span
        Where it is written; None for one that was made in Python.
    expert
        Who says it; None outside of experts' blocks.
    """

    left: Linear
    right: Linear
    within: float
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)
    expert: Expert | None = field(default=None, kw_only=True)

    @property
    def sides(self) -> tuple[Linear, Linear]:
        """Both sides, as a comparison has them."""
        return self.left, self.right

    def __str__(self) -> str:
        sides = f"{expression_text(self.left)} ~ {expression_text(self.right)}"
        return f"{sides} within {number_text(self.within)}{modifiers_text(self)}"


def named_probability(probability: Probability, network: Network) -> Probability:
    """The probability with `!=` and thresholds replaced by the states of the network that they stand for."""
    further = tuple((name, _named(name, states, network)) for name, states in probability.further)
    given = tuple((name, _named_condition(name, state, network)) for name, state in probability.given)
    states = _named(probability.variable, probability.states, network)
    return replace(probability, states=states, given=given, further=further)


def with_named_states(statement: Comparison | Approximation, network: Network) -> Comparison | Approximation:
    """The statement with `!=` and thresholds replaced by the states of the network that they stand for."""
    if not _has_other_states(statement):
        return statement

    def term(probability: Probability) -> Probability:
        return named_probability(probability, network)

    def side(expression: Any) -> Any:
        if isinstance(expression, Product):
            return replace(expression, factors=tuple(term(factor) for factor in expression.factors))
        return replace(expression, terms=tuple((number, term(each)) for number, each in expression.terms))

    if isinstance(statement, Approximation):
        return replace(statement, left=side(statement.left), right=side(statement.right))
    return replace(statement, sides=tuple(side(expression) for expression in statement.sides))


def _named_condition(variable: str, state: str, network: Network) -> str:
    """The state that a condition stands for, or several of them in the order of the variable."""
    named = state.states if isinstance(state, SeveralStates) else _named(variable, (state,), network)
    if len(named) == 1:
        return named[0]
    return SeveralStates.of(sorted(named, key=network.states(variable).index))


def _named(variable: str, states: tuple[str, ...], network: Network) -> tuple[str, ...]:
    label = states[0] if states else ""
    if isinstance(label, Threshold):
        found = states_beyond(label, network.variable(variable))
        return tuple(Name(state, label.column, label.end_column) for state in found)
    if not isinstance(label, OtherThan):
        return states
    return tuple(Name(other, label.column, label.end_column) for other in network.states(variable) if other != label)


def _has_other_states(statement: Comparison | Approximation) -> bool:
    return any(
        isinstance(state, OtherThan | Threshold | SeveralStates)
        for side in statement.sides
        for term in probabilities_in(side)
        for state in (*(s for _, states in term.events for s in states), *(s for _, s in term.given))
    )


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_comparison(children: list[Any]) -> Part:
    """`expression relation expression …`: the modifiers decide what it becomes, see `complete_comparison`."""
    sides, relations = children[::2], [token_part(token) for token in children[1::2]]
    if any(isinstance(side.value, Around) for side in sides):
        return _compared_around(sides, relations)
    return joined(Compared(tuple(sides), tuple(relations)), sides)


def _compared_around(sides: list[Part], relations: list[Part]) -> Part:
    """`P(…) = 5% ± 2%`: 0.03 <= P(…) <= 0.07. With any other relation it is a mistake."""
    plain = [without_width(side) for side in sides]
    subjects = [side for side in sides if not isinstance(side.value, Around)]
    if len(subjects) == len(relations) == 1 and relations[0].value in ("=", "==", *APPROXIMATE):
        side = next(side for side in sides if isinstance(side.value, Around))
        low, high, mistakes = bounds_around(side, subjects[0])
        at_most = relations[0]._replace(value="<=")
        return joined(Compared((low, subjects[0], high), (at_most, at_most)), sides, mistakes)
    mistakes = tuple(bound_with_width(side) for side in sides if isinstance(side.value, Around))
    return joined(Compared(tuple(plain), tuple(relations)), sides, mistakes)


def bounds_around(side: Part, subject: Part) -> tuple[Part, Part, tuple[LineMistake, ...]]:
    """The bounds that `5% ± 2%` stands for, within 0 and 1 if the subject is a probability; and its mistakes."""
    plain = without_width(side)
    center, width = side.value.center, side.value.width
    if not is_number(center) or not is_number(width):
        return plain, plain, (LineMistake("width-of-what", side.column, side.end),)
    if not 0 < width.constant <= 1:
        facts = {"width": f"{width.constant:g}", "hint": percent_hint(width.constant)}
        return plain, plain, (LineMistake("width-range", side.column, side.end, facts),)
    if found := tuple(bound_mistakes(plain, subject)):
        return plain, plain, found
    low, high = round(center.constant - width.constant, 12), round(center.constant + width.constant, 12)
    if is_probability(subject.value):
        low, high = max(0.0, low), min(1.0, high)
    return plain._replace(value=number(low)), plain._replace(value=number(high)), ()


def without_width(side: Part) -> Part:
    """`5%` of `5% ± 2%`; any other side as it is."""
    return side._replace(value=side.value.center, mistakes=()) if isinstance(side.value, Around) else side


def bound_with_width(side: Part) -> LineMistake:
    """`<= 5% ± 2%`: a bound is one number."""
    return LineMistake("bound-with-width", side.column, side.end)


def complete_comparison(
    body: Part, modifiers: Mapping[str, Part], broken: bool
) -> tuple[Comparison | Approximation | None, tuple[LineMistake, ...]]:
    """The statement, if its relations can be read, and its mistakes; the meaning of a `broken` one is not checked."""
    compared: Compared = body.value
    sides, relations = compared
    if not modifiers and not broken and _is_plain(compared):
        return Comparison((sides[0].value, sides[1].value), (RELATIONS[relations[0].value],)), ()
    if not relations:
        return None, (LineMistake("no-relation", body.column, body.end),)
    mistakes = [mistake for relation in relations for mistake in relation_mistakes(relation)]
    if mistakes:
        return None, tuple(mistakes)
    expressions = tuple(side.value for side in sides)
    if any(relation.value in APPROXIMATE for relation in relations):
        return _approximation(compared, modifiers, broken) if not body.mistakes else (None, ())
    statement = Comparison(expressions, compared.relations_read)
    if body.mistakes:
        return statement, ()
    margin = modifiers["margin"].value.amount if "margin" in modifiers else 0.0
    mistakes += form_mistakes(compared, modifiers)
    if not mistakes and not broken:
        mistakes += value_mistakes(compared, margin)
    return statement, tuple(mistakes)


def _is_plain(compared: Compared) -> bool:
    """One probability against another: most lines of most files, and nothing to check."""
    sides, relations = compared
    if len(relations) != 1 or relations[0].value not in RELATIONS:
        return False
    left, right = single(sides[0].value), single(sides[1].value)
    return left is not None and right is not None and left[0] == right[0] == 1 and left[1] != right[1]


def _approximation(
    compared: Compared, modifiers: Mapping[str, Part], broken: bool
) -> tuple[Approximation | None, tuple[LineMistake, ...]]:
    sides, relations = compared
    if len(relations) > 1:
        return None, (LineMistake("approximation-in-chain", relations[1].column, relations[1].end),)
    left, right = sides
    if isinstance(left.value, Product) or isinstance(right.value, Product):
        return None, (LineMistake("approximation-of-product", left.column, right.end),)
    within = modifiers["within"].value.amount if "within" in modifiers else 0.0
    statement = Approximation(left.value, right.value, within)
    mistakes = list(side_mistakes(compared))
    if "within" not in modifiers:
        mistakes.append(LineMistake("within-missing", relations[0].column, relations[0].end))
    elif not mistakes and not broken:
        mistakes += [*bound_mistakes(left, right), *impossible_mistakes(left, "=", right, -within)]
    return statement, tuple(mistakes[:1])


# Checks against a network, and kinds ----------------------------------------------------------------------------------


def _check_comparison(statement: Comparison, names: NetworkNames) -> Iterator[LineMistake]:
    for side in statement.sides:
        for probability in probabilities_in(side):
            found = [*check_probability(probability, names)]
            yield from found
            several = isinstance(side, Product) and any(isinstance(state, OtherThan) for state in probability.states)
            if not found and isinstance(side, Product) and _has_several_states(probability, names.network):
                yield mistake_at(probability.states[0], "product-with-set")
            if not found and several and len(names.states[probability.variable]) != 2:
                yield mistake_at(probability.states[0], "odds-states", name=probability.variable)
                return


def _has_several_states(probability: Probability, network: Network) -> bool:
    """Whether a threshold stands for more than one state."""
    label, variable = next(iter(probability.states), ""), network.variable(probability.variable)
    return isinstance(label, Threshold) and len(states_beyond(label, variable)) > 1


def _check_approximation(statement: Approximation, names: NetworkNames) -> Iterator[LineMistake]:
    for side in statement.sides:
        for probability in probabilities_in(side):
            yield from check_probability(probability, names)


INTRA = Kind("within a distribution", 1)
INTER = Kind("between CPTs", 2)
AXIOM = Kind("sum of a distribution", 3)
ADDITIVE = Kind("additive synergy", 4)
CROSS = Kind("between configurations", 5)
EQUAL = Kind("equality", 6)
APPROXIMATELY_EQUAL = Kind("approximate equality", 6)
RANGE = Kind("range", 7)
PRODUCT = Kind("product synergy", 8)
SUM_BOUND = Kind("bound on a sum")
SUMS = Kind("sums in a distribution")
LINEAR = Kind("linear")


def _comparison_kind(statement: Comparison, network: Network) -> Kind:
    """The name in [guo, table 1] where there is one; `network` tells whether a sum names all states."""
    if any(isinstance(side, Product) for side in statement.sides):
        return PRODUCT
    sides = [side for side in statement.sides if isinstance(side, Linear) and side.terms]
    terms = [term for side in sides for _, term in side.terms]
    constants = len(sides) < len(statement.sides)
    if not terms:
        return LINEAR
    variables = {str(term.variable) for term in terms}
    distributions = {term.distribution for term in terms}
    states = {term.states for term in terms}
    plain = all(coefficient == 1.0 for side in sides for coefficient, _ in side.terms)
    single = all(len(term.states) == 1 for term in terms)
    if constants:
        named = [state for term in terms for state in term.states]
        complete = len(distributions) == 1 and sorted(named) == sorted(network.states(terms[0].variable))
        if complete and plain and set(statement.relations) == {"="}:
            return AXIOM
        return RANGE if len(terms) == 1 and single else SUM_BOUND
    shape = [len(side.terms) for side in sides]
    if not plain or any(side.constant for side in sides):
        return LINEAR
    if shape == [1] * len(sides) and single:
        if set(statement.relations) == {"="}:
            return EQUAL
        if len(distributions) == 1:
            return INTRA
        return CROSS if len(variables) == 1 else INTER
    if len(distributions) == 1:
        return SUMS
    return ADDITIVE if shape == [2, 2] and single and len(variables) == len(states) == 1 else LINEAR


COMPARISON = StatementRules(
    "a comparison",
    {"comparison": parse_comparison},
    _check_comparison,
    _comparison_kind,
    modifiers=("margin", "confidence"),
)
APPROXIMATION = StatementRules(
    "an approximate equality",
    {},  # read by the rule of comparisons
    _check_approximation,
    lambda statement, network: APPROXIMATELY_EQUAL,
    modifiers=("within", "confidence"),
)

"""Comparisons as people say them: "is about 30%", "is very unlikely", "5 times as likely", "prevalence".

Each sentence is read as a `Comparison`, which prints as signs; `SCALE` and `about` hold the numbers behind the words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from credo.knowledge.comparison import Comparison, bound_with_width, bounds_around, without_width
from credo.knowledge.comparison_mistakes import Compared
from credo.knowledge.expressions import (
    Around,
    Expression,
    Linear,
    Probability,
    Product,
    condition_state,
    each_in,
    event_mistakes,
    number,
    scale,
)
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import OtherThan, Part, Threshold, joined, token_part
from credo.knowledge.statement_base import StatementBase

# The calibrated language of the Intergovernmental Panel on Climate Change [Mastrandrea et al., 2010, table 1].
SCALE: dict[str, tuple[float, float]] = {
    "virtually certain": (0.99, 1.0),
    "extremely likely": (0.95, 1.0),
    "very likely": (0.9, 1.0),
    "likely": (0.66, 1.0),
    "more likely than not": (0.5, 1.0),
    "about as likely as not": (0.33, 0.66),
    "unlikely": (0.0, 0.33),
    "very unlikely": (0.0, 0.1),
    "extremely unlikely": (0.0, 0.05),
    "exceptionally unlikely": (0.0, 0.01),
}
ABOUT = 0.2  # "about p" is p give or take a fifth of p, or of 1 − p where that is smaller …
LEAST_ABOUT = 0.01  # … and at least a percentage point, …
SMALL_ABOUT = 0.5  # … but no more than half of a small number: "about 1e-4" is 5e-5 to 1.5e-4
ABOUT_TIMES = 0.2  # "about 5 times" is 4 to 6 times


class Range(NamedTuple):
    """What words say about a number: its least and greatest value, None where there is no such bound."""

    low: Part | None
    high: Part | None


def about(value: float) -> tuple[float, float]:
    """The range that "about p" stands for."""
    smaller = min(value, 1.0 - value)
    width = max(ABOUT * smaller, min(LEAST_ABOUT, SMALL_ABOUT * smaller)) if smaller > 0.0 else LEAST_ABOUT
    low, high = (float(f"{end:.12g}") for end in (value - width, value + width))  # 0.68, not 0.6799999999999999
    return max(0.0, low), min(1.0, high)


_WORDS = re.compile(
    r"\b(?:is|lies|equals|in|risk|odds|sensitivity|specificity|prevalence|predictive)\b|±|\+\s*/?\s*[\-−]"
)
_NAMED = re.compile(r"""P\s*\([^)]*\)|"[^"]*"|'[^']*'""")


def is_verbal(statement: StatementBase) -> bool:
    """Whether a comparison was written in words, so that its numbers are not all to be seen."""
    if not isinstance(statement, Comparison) or statement.span is None:
        return False
    span = statement.span
    return _WORDS.search(_NAMED.sub(" ", span.text).lower()) is not None


# Words for relations --------------------------------------------------------------------------------------------------


def parse_in_words(children: list[Any]) -> Part:
    """`P(…) is between 10% and 20%`, `P(…) is at least P(…)`, `P(…) is about 30%`, `P(…) is very likely`."""
    subject, range_part = children
    return _compared(subject, range_part)


def parse_between(children: list[Any]) -> Part:
    """`is between 10% and 20%`."""
    word, low, _, high = children
    return Part(Range(low, high), token_part(word).column, high.end, low.mistakes + high.mistakes)


def parse_at_least(children: list[Any]) -> Part:
    """`is at least 10%`."""
    word, low = children
    return Part(Range(without_width(low), None), token_part(word).column, low.end, _bound_mistakes(low))


def parse_at_most(children: list[Any]) -> Part:
    """`is at most 10%`."""
    word, high = children
    return Part(Range(None, without_width(high)), token_part(word).column, high.end, _bound_mistakes(high))


def _bound_mistakes(bound: Part) -> tuple[LineMistake, ...]:
    return (*bound.mistakes, bound_with_width(bound)) if isinstance(bound.value, Around) else bound.mistakes


def parse_exactly(children: list[Any]) -> Part:
    """`is 10%`."""
    word, value = children
    return Part(Range(value, value), token_part(word).column, value.end, value.mistakes)


def parse_about(children: list[Any]) -> Part:
    """`is about 30%`; `is about 30% ± 5%` says itself how far."""
    word, value = children
    start = token_part(word).column
    if isinstance(value.value, Around):
        return Part(Range(value, value), start, value.end, value.mistakes)
    if not isinstance(value.value, Linear) or value.value.terms:
        mistakes = (*value.mistakes, LineMistake("about-what", value.column, value.end))
        return Part(Range(value, value), start, value.end, mistakes)
    if not 0 <= value.value.constant <= 1:  # reported by the comparison, as any bound outside
        return Part(Range(value, value), start, value.end, value.mistakes)
    low, high = (value._replace(value=number(end), mistakes=()) for end in about(value.value.constant))
    return Part(Range(low, high), start, value.end, value.mistakes)


def parse_verbal(children: list[Any]) -> Part:
    """`is very unlikely`, by the published scale."""
    word = token_part(children[0])
    low, high = SCALE[re.sub(r"\s+", " ", word.value.removeprefix("is").strip())]
    at_least = word._replace(value=number(low)) if low > 0 else None
    at_most = word._replace(value=number(high)) if high < 1 else None
    return Part(Range(at_least, at_most), word.column, word.end)


# Ratios ---------------------------------------------------------------------------------------------------------------


def parse_times_as_likely(children: list[Any]) -> Part:
    """`lung=yes is 5 times as likely with smoke=yes as with smoke=no`: θ₁ = 5 θ₂."""
    event, range_part, _, one, _, two = children
    exposed, reference = _exposures(event, one, two)
    return _ratio(range_part, exposed.value, reference.value, exposed, reference)


def parse_relative_risk(children: list[Any]) -> Part:
    """`relative risk of lung=yes for smoke=yes against smoke=no is between 2 and 4`: 2 θ₂ ≤ θ₁ ≤ 4 θ₂."""
    _, event, _, one, _, two, range_part = children
    exposed, reference = _exposures(event, one, two)
    return _ratio(range_part, exposed.value, reference.value, exposed, reference)


def parse_odds_ratio(children: list[Any]) -> Part:
    """`odds ratio of lung=yes for smoke=yes against smoke=no is at least 3`: θ₁(1 − θ₂) ≥ 3 θ₂(1 − θ₁)."""
    _, event, _, one, _, two, range_part = children
    exposed, reference = _exposures(event, one, two)
    first, second = exposed.value.terms[0][1], reference.value.terms[0][1]
    if len(first.states) != 1:
        exposed = exposed._replace(
            mistakes=(*exposed.mistakes, LineMistake("product-with-set", event.column, event.end))
        )
    numerator = Product((first, _complement(second)))
    denominator = Product((second, _complement(first)))
    return _ratio(range_part, numerator, denominator, exposed, reference)


def parse_ratio_range(kind: str) -> Any:
    """`at least 3`, `at most 3`, `between 2 and 4`, `about 5`, or `5`, before "times" or after "is"."""

    def parse(children: list[Any]) -> Part:
        values = [child for child in children if isinstance(child, Part)]
        first = values[0]
        start = token_part(children[0]).column
        low, high = first, values[-1]
        if kind == "about":
            ends = [float(f"{first.value.constant * times:.12g}") for times in (1 - ABOUT_TIMES, 1 + ABOUT_TIMES)]
            low, high = first._replace(value=number(ends[0])), first._replace(value=number(ends[1]), mistakes=())
        mistakes = tuple(
            LineMistake("ratio-range", value.column, value.end) for value in values if value.value.constant <= 0
        )
        if kind == "between" and low.value.constant > high.value.constant:
            mistakes += (LineMistake("bounds-crossed", low.column, high.end),)
        range_ = Range(None if kind == "at_most" else low, None if kind == "at_least" else high)
        return Part(range_, start, values[-1].end, tuple(m for v in values for m in v.mistakes) + mistakes)

    return parse


def parse_twice(children: list[Any]) -> Part:
    """`is twice` and `is half`, before "as likely"."""
    word = token_part(children[0])
    factor = Part(number(0.5 if word.value.lower().endswith("half") else 2.0), word.column, word.end)
    return Part(Range(factor, factor), word.column, word.end)


def parse_accuracy(children: list[Any]) -> Part:
    """How good a test is.

    `sensitivity of scan=positive for tumour=yes is at least 90%`: P(scan=positive | tumour=yes); the specificity is
    P(scan != positive | tumour != yes). Predictive values are the other way round: the positive one is
    P(tumour=yes | scan=positive), the negative one P(tumour != yes | scan != positive).
    """
    word, test, _, condition, range_part = children
    kind = re.sub(r"\s+", " ", str(word).lower()).removeprefix("the ").removesuffix(" of")
    event, given = (condition, test) if "predictive" in kind else (test, condition)
    found = _term(event, [given])
    wrong = event_mistakes([event], [given])
    if kind in _OF_THE_OTHERS and len(given.value[1]) > 1:
        facts = {"name": given.value[0], "kind": kind}
        wrong = (*wrong, LineMistake("condition-set", given.column, given.end, facts))
    elif kind in _OF_THE_OTHERS:
        others = tuple((name, _others((state,))[0]) for name, state in found.given)
        found = replace(found, states=_others(found.states), given=others)
    subject = Part(Linear(((1.0, found),)), token_part(word).column, condition.end, wrong)
    return _compared(subject, range_part)


_OF_THE_OTHERS = ("specificity", "negative predictive value")  # about those without the condition


def parse_prevalence(children: list[Any]) -> Part:
    """`prevalence of tumour=yes is about 2%`: P(tumour=yes); `prevalence of … among age=old, smoke=yes is …`."""
    word, event, *among, range_part = children
    conditions = among[1].value if among else []
    end = among[1].end if among else event.end
    wrong = event_mistakes([event], [part for part in conditions if part.value[1] is not None])
    subject = Part(Linear(((1.0, _term(event, conditions)),)), token_part(word).column, end, wrong)
    return _compared(subject, range_part)


def parse_if_then(children: list[Any]) -> Part:
    """`if glu=high then type=yes is likely`: P(type=yes | glu=high)."""
    word, given, _, event, range_part = children
    wrong = event_mistakes([event], [part for part in given.value if part.value[1] is not None])
    subject = Part(Linear(((1.0, _term(event, given.value)),)), token_part(word).column, event.end, wrong)
    return _compared(subject, range_part)


# Comparisons ----------------------------------------------------------------------------------------------------------


def _term(event: Part, conditions: Sequence[Part]) -> Probability:
    name, states, _ = event.value
    given = tuple((part.value[0], condition_state(part)) for part in conditions if part.value[1])
    return Probability(name, states, given, *each_in(conditions))


def parse_conditions(children: list[Any]) -> Part:
    """`smoke=yes, each age`, after "with", "for" and "against"."""
    conditions = [child for child in children if isinstance(child, Part)]
    return joined(conditions, conditions)


def _exposures(event: Part, one: Part, two: Part) -> tuple[Part, Part]:
    """P(event | one) and P(event | two), each at the columns of its conditions."""
    mistakes = event_mistakes(
        [event], [part for side in (one, two) for part in side.value if part.value[1] is not None]
    )
    first = Part(Linear(((1.0, _term(event, one.value)),)), one.column, one.end, mistakes)
    return first, Part(Linear(((1.0, _term(event, two.value)),)), two.column, two.end)


def _others(states: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        state.opposite()
        if isinstance(state, Threshold)
        else OtherThan(state, getattr(state, "column", 0), getattr(state, "end_column", 0))
        for state in states
    )


def _complement(term: Probability) -> Probability:
    return replace(term, states=_others(term.states))


def _compared(subject: Part, range_part: Part) -> Part:
    """low ≤ subject ≤ high; one number is an equality."""
    low, high = range_part.value
    mistakes = subject.mistakes + range_part.mistakes
    if low is not None and isinstance(low.value, Around):
        low, high, wrong = bounds_around(low, subject)
        mistakes += wrong
    sides = [side for side in (low, subject, high) if side is not None]
    relations = ["<="] * (len(sides) - 1)
    if low is not None and low is high:
        sides, relations = [subject, low], ["="]
    place = Part("", range_part.column, range_part.end)
    compared = Compared(tuple(sides), tuple(place._replace(value=relation) for relation in relations))
    return Part(compared, subject.column, range_part.end, mistakes)


def _ratio(range_part: Part, numerator: Expression, denominator: Expression, one: Part, two: Part) -> Part:
    """low · denominator ≤ numerator ≤ high · denominator."""
    low, high = range_part.value
    if range_part.mistakes:  # nothing to multiply with
        low = high = None
    bounds = [
        None if bound is None else two._replace(value=scale(denominator, bound.value.constant), mistakes=())
        for bound in (low, high)
    ]
    if low is not None and low is high:
        bounds[1] = bounds[0]
    subject = one._replace(value=numerator, mistakes=one.mistakes + two.mistakes)
    if bounds == [None, None]:
        bounds = [two._replace(value=denominator, mistakes=())] * 2
    return _compared(subject, Part(Range(bounds[0], bounds[1]), range_part.column, range_part.end, range_part.mistakes))


GRAMMAR_RULES = {
    "in_words": parse_in_words,
    "between": parse_between,
    "at_least": parse_at_least,
    "at_most": parse_at_most,
    "exactly": parse_exactly,
    "about": parse_about,
    "verbal": parse_verbal,
    "conditions": parse_conditions,
    "times_as_likely": parse_times_as_likely,
    "relative_risk": parse_relative_risk,
    "odds_ratio": parse_odds_ratio,
    "accuracy": parse_accuracy,
    "prevalence": parse_prevalence,
    "times_between": parse_ratio_range("between"),
    "times_at_least": parse_ratio_range("at_least"),
    "times_at_most": parse_ratio_range("at_most"),
    "times_about": parse_ratio_range("about"),
    "times_twice": parse_twice,
    "if_then": parse_if_then,
    "times_exactly": parse_ratio_range("exactly"),
}

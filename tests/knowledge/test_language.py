"""Every form of the language parses, and what is printed parses to the same statement."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import assume, given, settings

from credo.knowledge import Knowledge, to_text
from credo.knowledge.expressions import Linear, Probability, Product
from credo.knowledge.parse import parse, parse_line, parser
from credo.knowledge.statements import (
    STATEMENTS,
    Approximation,
    Comparison,
    Influence,
    NoisyFamily,
    Order,
    Synergy,
    TiedRows,
)
from tests.helpers.statement_strategies import nasty_names, statements


def P(variable: str, *states: str, **given_states: str) -> Probability:
    return Probability(variable, states, tuple(given_states.items()))


def one(*states: str, **given_states: str) -> Linear:
    return Linear(((1.0, P("a", *states, **given_states)),))


def number(value: float) -> Linear:
    return Linear((), value)


AX = {f"b{k}": P("a", "x", b=str(k)) for k in (1, 2, 3, 4)}

FORMS = {
    "P(a=x | b=1) >= 0.9": Comparison((one("x", b="1"), number(0.9)), (">=",)),
    "0.1 <= P(a=x) <= 0.3": Comparison((number(0.1), one("x"), number(0.3)), ("<=", "<=")),
    "10% ≤ P(a=x) ≤ 30%": Comparison((number(0.1), one("x"), number(0.3)), ("<=", "<=")),
    "P(a=x) + P(a=y) <= 0.6": Comparison((Linear(((1.0, P("a", "x")), (1.0, P("a", "y")))), number(0.6)), ("<=",)),
    "P(a in {x, y}) <= 0.6": Comparison((one("x", "y"), number(0.6)), ("<=",)),
    "P(a in {x}) <= P(a in {y, z})": Comparison((one("x"), one("y", "z")), ("<=",)),
    "P(a=x | b=1) <= P(a=y | b=1)": Comparison((one("x", b="1"), one("y", b="1")), ("<=",)),
    "P(o2=0 | au2=0) >= P(o23=0 | au23=0)": Comparison(
        (Linear(((1.0, P("o2", "0", au2="0")),)), Linear(((1.0, P("o23", "0", au23="0")),))), (">=",)
    ),
    "P(a=x|b=1) + P(a=x|b=2) <= P(a=x|b=3) + P(a=x|b=4)": Comparison(
        (Linear(((1.0, AX["b1"]), (1.0, AX["b2"]))), Linear(((1.0, AX["b3"]), (1.0, AX["b4"])))), ("<=",)
    ),
    "P(a=x | b=1) ~ P(a=x | b=2) within 0.05": Approximation(one("x", b="1"), one("x", b="2"), 0.05),
    "P(a=x | b=1) ≈ P(a=x | b=2), within 5%": Approximation(one("x", b="1"), one("x", b="2"), 0.05),
    "P(a=x | b=1) = P(a=x | b=2)": Comparison((one("x", b="1"), one("x", b="2")), ("=",)),
    "P(a=x | b=1) == P(a=x | b=2)": Comparison((one("x", b="1"), one("x", b="2")), ("=",)),
    "2*P(a=x|b=1) - 0.5 <= P(a=x|b=2) / 3": Comparison(
        (Linear(((2.0, AX["b1"]),), -0.5), Linear(((1 / 3, AX["b2"]),))), ("<=",)
    ),
    "-(P(a=x|b=1) - 2*(P(a=x|b=2) + 0.1)) >= -0.5": Comparison(
        (Linear(((-1.0, AX["b1"]), (2.0, AX["b2"])), 0.2), number(-0.5)), (">=",)
    ),
    "P(a=x) <= 1/3": Comparison((one("x"), number(1 / 3)), ("<=",)),
    "P(a=x|b=1) * P(a=x|b=4) <= P(a=x|b=2) * P(a=x|b=3)": Comparison(
        (Product((AX["b1"], AX["b4"])), Product((AX["b2"], AX["b3"]))), ("<=",)
    ),
    "2 × P(a=x|b=1) · P(a=x|b=4) <= 0.5": Comparison((Product((AX["b1"], AX["b4"]), 2.0), number(0.5)), ("<=",)),
    "P(a=x | b=1) > P(a=x | b=2) by at least 0.05 with confidence 0.8": Comparison(
        (one("x", b="1"), one("x", b="2")), (">",), 0.05, 0.8
    ),
    "P(a=x | b=1 and c=2) < 0.3": Comparison((one("x", b="1", c="2"), number(0.3)), ("<",)),
    "smoke raises lung": Influence("smoke", "lung", "raises"),
    "exercise lowers risk": Influence("exercise", "risk", "lowers"),
    "smoke raises lung by at least 0.05 with confidence 0.8": Influence("smoke", "lung", "raises", 0.05, 0.8),
    "smoke raises lung, with confidence 80%  # sure": Influence("smoke", "lung", "raises", 0.0, 0.8),
    "chol and bp synergize on attack": Synergy(("chol", "bp"), "attack", "synergize"),
    "sex and age sub-synergize on chd": Synergy(("sex", "age"), "chd", "sub-synergize"),
    "a, b, and c synergise on d by at least 0.1": Synergy(("a", "b", "c"), "d", "synergize", 0.1),
    "order severity: mild < moderate < severe": Order("severity", ("mild", "moderate", "severe")),
    "order severity: severe > moderate > mild": Order("severity", ("mild", "moderate", "severe")),
    "order age: '<5' < 5-12 < 12+": Order("age", ("<5", "5-12", "12+")),
    "order t: -1 < 0 < 1.5": Order("t", ("-1", "0", "1.5")),
    "attack is noisy-or of {chol, bp}, {age}, {smoke}": NoisyFamily(
        "attack", "noisy-or", (("chol", "bp"), ("age",), ("smoke",))
    ),
    "attack is noisy-or of {chol, bp}, age, {smoke}, with leak": NoisyFamily(
        "attack", "noisy-or", (("chol", "bp"), ("age",), ("smoke",)), True
    ),
    "attack is a noisy-max of {age} with a leak": NoisyFamily("attack", "noisy-max", (("age",),), True),
    "attack is noisy-and of {age} without leak": NoisyFamily("attack", "noisy-and", (("age",),)),
    "attack is noisy-min of {age}": NoisyFamily("attack", "noisy-min", (("age",),)),
    "rows with equal twin_id share variant": TiedRows(("variant",), by="twin_id"),
    "rows with the same 'twin id' share variant, allele and locus": TiedRows(
        ("variant", "allele", "locus"), by="twin id"
    ),
    "rows 2, 4 share variant": TiedRows(("variant",), rows=(2, 4)),
    "rows 2, 4 and 7 share variant": TiedRows(("variant",), rows=(2, 4, 7)),
    "rows 3, 9 differ in variant": TiedRows(("variant",), rows=(3, 9), differ=True),
    "rows 3, 9 and 12 differ  in variant and allele": TiedRows(("variant", "allele"), rows=(3, 9, 12), differ=True),
    "rows with equal match_id differ in variant": TiedRows(("variant",), by="match_id", differ=True),
    "rows with the same differ differ in share": TiedRows(("share",), by="differ", differ=True),
    'P("heart attack"="so, so" | "b|c"=1.0, b.d-e/f=A/B) >= 0.1': Comparison(
        (
            Linear(((1.0, Probability("heart attack", ("so, so",), (("b|c", "1.0"), ("b.d-e/f", "A/B")))),)),
            number(0.1),
        ),
        (">=",),
    ),
    "P raises order-of-things": Influence("P", "order-of-things", "raises"),
    '\'order\' raises "say \\"hi\\""': Influence("order", 'say "hi"', "raises"),
    "größe raises 年齢": Influence("größe", "年齢", "raises"),
}


@pytest.mark.parametrize(("text", "statement"), FORMS.items(), ids=FORMS)
def test_every_form_parses_and_prints_back(text, statement):
    found, mistakes = parse_line(text)
    assert mistakes == ()
    assert found == statement
    assert parse_line(to_text(found)) == (statement, ())


def test_every_type_of_statement_can_be_written():
    assert {type(statement) for statement in FORMS.values()} == set(STATEMENTS)


def can_be_true(text):
    """Random bounds may be out of reach, `0.25 <= 0.1 * P(…)`; such statements are mistakes, not statements."""
    return all(mistake.kind != "never-true" for mistake in parse_line(text)[1])


@settings(max_examples=300, deadline=None)
@given(statements(nasty_names))
def test_what_is_printed_parses_to_the_same_statement(statement):
    text = to_text(statement)
    assert "\n" not in text
    assume(can_be_true(text))
    assert parse_line(text) == (statement, ())


@settings(max_examples=100, deadline=None)
@given(statements(nasty_names))
def test_a_probability_spelled_out_is_the_same_as_one_read_whole(statement):
    """The one-token form and the rules below it agree: `and` for a comma leads to the second."""
    text = to_text(statement)
    spelled = text.replace(", ", " and ") if '"' not in text and "P(" in text and " in {" not in text else text
    assume(can_be_true(text))
    assert parse_line(spelled) == (statement, ())


def test_a_statement_knows_its_place():
    text = "# notes\r\n\n  smoke raises lung   # sure\r\tP(a=x) <= 0.3"
    first, second = parse(text, "notes.credo").statements
    assert (first.span.line, first.span.column, first.span.end_column) == (3, 3, 20)
    assert first.span.text == "  smoke raises lung   # sure"
    assert first.span.source == "notes.credo"
    assert (first.parent.column, first.parent.end_column) == (3, 8)
    assert (first.child.column, first.child.end_column) == (16, 20)
    assert (second.span.line, second.span.column, second.span.end_column) == (4, 2, 15)
    (_, probability), *_ = second.sides[0].terms
    assert (probability.variable.column, probability.states[0].column) == (4, 6)


def test_places_survive_pickling_and_copying():
    (statement,) = parse("smoke raises lung").statements
    for other in (pickle.loads(pickle.dumps(statement)), copy.deepcopy(statement)):
        assert other == statement
        assert other.child.column == 14


def test_a_hash_in_quotes_is_no_comment(clinic):
    (statement,) = parse('"a#b" raises c # real').statements
    assert statement.parent == "a#b"
    assert statement.span.end_column == 15


def test_the_parser_is_made_once():
    assert parser() is parser()


def test_numbers_as_states_match_the_label_by_its_text(clinic):
    assert len(Knowledge(clinic, "P(severity=mild | dose=1.0) <= P(severity=mild | dose=0.5)")) == 1

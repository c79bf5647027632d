"""The Python form builds the same statements as text, and a statement is never taken for true or false."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from credo import (
    Knowledge,
    KnowledgeError,
    P,
    different,
    lowers,
    noisy_and,
    noisy_max,
    noisy_min,
    noisy_or,
    order,
    raises,
    same,
    sub_synergize,
    synergize,
)
from credo.knowledge import KnowledgeTypeError
from credo.knowledge.parse import parse_line
from credo.knowledge.statements import Comparison

A1, A2, A3, A4 = (f"a=x | b={k}" for k in (1, 2, 3, 4))

SAME = {
    "P(lung=yes | smoke=yes) >= 0.05": lambda: P("lung=yes | smoke=yes") >= 0.05,
    "P(lung=yes) > 1": lambda: P("lung=yes") > 1,
    "P(lung=yes) = 0.3": lambda: P("lung=yes") == 0.3,
    "P(a=x) + P(a=y) <= 0.6": lambda: P("a=x") + P("a=y") <= 0.6,
    "P(pos in {noun, verb}) < 0.6": lambda: P("pos in {noun, verb}") < 0.6,
    "P(a=x | b=1) >= P(a=x | b=2)": lambda: P(A1) >= P(A2),
    "0.1 <= P(a=x) <= 0.3": lambda: P("a=x").between(0.1, 0.3),
    "P(a=x | b=1) ~ P(a=x | b=2) within 0.05": lambda: P(A1).near(P(A2), within=0.05),
    "P(a=x | b=1) ~ 0.2 within 0.05 with confidence 0.9": lambda: P(A1).near(0.2, 0.05).with_confidence(0.9),
    "2*P(a=x|b=1) - 0.5 <= P(a=x|b=2) / 3": lambda: 2 * P(A1) - 0.5 <= P(A2) / 3,
    "1 - P(a=x|b=1) * 2 >= -P(a=x|b=2) + 0.5": lambda: 1 - P(A1) * 2 >= -P(A2) + 0.5,
    "P(a=x|b=1) * P(a=x|b=4) <= 2 * P(a=x|b=2) * P(a=x|b=3)": lambda: P(A1) * P(A4) <= 2 * P(A2) * P(A3),
    "P(a=x|b=1) > P(a=x|b=2) by at least 0.05 with confidence 0.8": lambda: (
        (P(A1) > P(A2)).by_at_least(0.05).with_confidence(0.8)
    ),
    "smoke raises lung": lambda: raises("smoke", "lung"),
    "smoke raises lung by at least 0.05 with confidence 0.8": lambda: raises("smoke", "lung", 0.05, 0.8),
    "exercise lowers 'heart attack' by at least 0.05": lambda: lowers("exercise", "heart attack").by_at_least(0.05),
    "chol and bp synergize on attack": lambda: synergize("chol", "bp", on="attack"),
    "a, b and c synergize on d by at least 0.1": lambda: synergize("a", "b", "c", on="d", by_at_least=0.1),
    "sex and age sub-synergize on chd with confidence 0.5": lambda: sub_synergize(
        "sex", "age", on="chd", confidence=0.5
    ),
    "order severity: mild < severe": lambda: order("severity", ["mild", "severe"]),
    "attack is noisy-or of {chol, bp}, {age} with leak": lambda: noisy_or("attack", [["chol", "bp"], "age"], leak=True),
    "attack is noisy-and of {age}": lambda: noisy_and("attack", [["age"]]),
    "attack is noisy-max of {age}": lambda: noisy_max("attack", ["age"]),
    "attack is noisy-min of {age}": lambda: noisy_min("attack", [("age",)]),
    "rows with equal twin_id share variant": lambda: same("variant", by="twin_id"),
    "rows 2, 4 share variant, allele": lambda: same("variant", "allele", rows=(2, 4)),
    "rows with equal match_id differ in variant": lambda: different("variant", by="match_id"),
    "rows 3, 9 differ in variant, allele": lambda: different("variant", "allele", rows=(3, 9)),
}


@pytest.mark.parametrize(("text", "build"), SAME.items(), ids=SAME)
def test_python_and_text_build_the_same(text, build):
    statement, mistakes = parse_line(text)
    assert mistakes == ()
    built = build()
    assert built == statement
    assert statement == built
    assert hash(built) == hash(statement)


def test_text_and_python_can_be_mixed(asia):
    mixed = Knowledge(
        asia, ["smoke raises lung\nasia raises tub", P("lung=yes | smoke=yes") >= 0.05, "smoke raises bronc"]
    )
    text = "smoke raises lung\nasia raises tub\nP(lung=yes|smoke=yes) >= 0.05\nsmoke raises bronc"
    assert mixed == Knowledge(asia, text)


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), np.int64(2), Fraction(1, 2), 2])
def test_numbers_of_other_libraries_can_be_used(value):
    assert repr(value * P("a=x")) == repr(float(value) * P("a=x"))
    made = value <= P("a=x")
    assert isinstance(made, Comparison)
    assert made.sides[1].constant == float(value)
    assert len(P("a=x").between(value, value).sides) == 3


def test_a_decimal_is_no_number_to_compute_with():
    with pytest.raises(KnowledgeError):
        _ = P("a=x") <= Decimal("0.5")


# Truth values ---------------------------------------------------------------------------------------------------------


def test_a_range_and_comparisons_of_quantities():
    assert P(A1).between(P(A2), 0.3) == parse_line("P(a=x|b=2) <= P(a=x|b=1) <= 0.3")[0]
    assert (P(A1) - P(A2)).between(0, 0.2) == parse_line("0 <= P(a=x|b=1) - P(a=x|b=2) <= 0.2")[0]
    p = P("a=x")
    first, second = p >= 0.1, p <= 0.3
    assert len(first.sides) == len(second.sides) == 2


TRUTH_VALUES = {
    "chain": lambda: 0.1 <= P("a=x") <= 0.3,
    "chain of probabilities": lambda: P(A1) <= P(A2) <= P(A3),
    "and": lambda: (P("a=x") >= 0.1) and (P("a=x") <= 0.3),
    "or": lambda: (P("a=x") >= 0.1) or (P("a=x") <= 0.3),
    "not": lambda: not P("a=x") >= 0.1,
    "if": lambda: 1 if P("a=x") >= 0.1 else 2,
    "max": lambda: max(P("a=x"), P("b=x")) <= 0.3,
    "sorted": lambda: sorted([P("a=x"), P("b=x")]),
    "and with a function": lambda: (P("a=x") >= 0.1) and raises("a", "b"),
    "and with text": lambda: raises("a", "b") and "smoke raises lung",
    "or of quantities": lambda: P("a=x") or P("b=x"),
    "approximation": lambda: P("a=x").near(0.3, within=0.1) and P("b=x") <= 0.3,
    "in": lambda: P("a=x") in [P("b=x")],
}


@pytest.mark.parametrize("ask", TRUTH_VALUES.values(), ids=TRUTH_VALUES)
def test_a_statement_has_no_truth_value(ask):
    with pytest.raises(KnowledgeTypeError) as caught:
        ask()
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, KnowledgeError)
    (mistake,) = caught.value.mistakes
    assert mistake.kind == "truth-value"
    assert ".between(" in mistake.suggestion


@pytest.mark.parametrize(
    ("ask", "instead"),
    [
        (lambda: 0.1 <= P("lung=yes | smoke=no") <= 0.3, 'P("lung=yes | smoke=no").between(0.1, high)'),
        (lambda: 0.3 >= P("lung=yes") >= 0.1, 'P("lung=yes").between(low, 0.3)'),
        (lambda: P("lung=yes") >= 0.1 <= 0.3, 'P("lung=yes").between(0.1, high)'),
        (lambda: 0.1 <= P("'lung cancer'=yes") <= 0.3, "P('\"lung cancer\"=yes').between(0.1, high)"),
        (lambda: 0.1 <= 2 * P("lung=yes") <= 0.3, 'P("x=a").between(0.1, 0.3)'),
    ],
)
def test_the_message_shows_what_to_write_for_a_chain(ask, instead):
    with pytest.raises(KnowledgeTypeError) as caught:
        ask()
    assert f"Write {instead} for a chain" in caught.value.mistakes[0].suggestion


# Bad input ------------------------------------------------------------------------------------------------------------


def test_a_mistake_in_python_shows_the_text_form(asia):
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(asia, P("lung=yes | smok=yes") >= 0.1)
    (mistake,) = caught.value.mistakes
    assert (mistake.kind, mistake.line, mistake.column, mistake.source) == (
        "unknown-variable",
        0,
        14,
        "written in Python",
    )
    assert str(caught.value).splitlines()[0] == 'written in Python: The network has no variable "smok".'


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (lambda: P("lung=yes") / P("lung=no"), "ratio"),
        (lambda: P("lung=yes") ** 2, "power"),
        (lambda: P("a=x") * P("b=x") * P("c=x"), "product-of-three"),
        (lambda: P("a=x") * P("b=x") + 1, "sum-with-product"),
        (lambda: P("a=x") / 0, "division-by-zero"),
        (lambda: 1 / P("a=x"), "ratio"),
        (lambda: P("lung"), "event-without-state"),
        (lambda: P("lung=yes) >= 0.3 # "), "unexpected"),
        (lambda: P("a=\x00"), "control-character"),
        (lambda: P("a=x\nb=y"), "name-with-space"),
        (lambda: same("a", rows=(1.5, 2)), "row-number"),
        (lambda: different("a", rows=(True, 2)), "row-number"),
        (lambda: synergize(on="a"), "synergy-of-one"),
        (lambda: noisy_or("a", []), "empty-set"),
        (lambda: (P("a=x") * P("b=x")).near(0.3, 0.1), "approximation-of-product"),
    ],
)
def test_bad_python_is_a_knowledge_error_at_once(build, kind):
    with pytest.raises(KnowledgeError) as caught:
        build()
    assert caught.value.mistakes[0].kind == kind
    assert caught.value.mistakes[0].source == "written in Python"

"""The Python form builds the same statements as text, and never loses half of a chain."""

from __future__ import annotations

import threading
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from credo.knowledge import (
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
from credo.knowledge.parse import parse_line
from credo.knowledge.syntax import Comparison

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
    statement, faults = parse_line(text)
    assert faults == ()
    built = build()
    assert bool(built == statement) is True
    assert bool(statement == built) is True
    assert hash(built) == hash(statement)


def test_text_and_python_can_be_mixed(asia):
    mixed = Knowledge(
        asia, ["smoke raises lung\nasia raises tub", P("lung=yes | smoke=yes") >= 0.05, "smoke raises bronc"]
    )
    text = "smoke raises lung\nasia raises tub\nP(lung=yes|smoke=yes) >= 0.05\nsmoke raises bronc"
    assert mixed == Knowledge(asia, text)
    assert all(type(statement) is not type(P("a=x") >= 0) for statement in mixed)


@pytest.mark.parametrize("value", [np.float64(0.5), np.float32(0.5), np.int64(2), Fraction(1, 2), 2])
def test_numbers_of_other_libraries_can_be_used(value):
    assert repr(value * P("a=x")) == repr(float(value) * P("a=x"))
    made = value <= P("a=x")
    assert isinstance(made, Comparison)
    assert made.sides[1].constant == float(value)
    chain = value <= P("a=x") <= value
    assert len(chain.sides) == 3


def test_a_decimal_is_no_number_to_compute_with():
    with pytest.raises(KnowledgeError):
        _ = P("a=x") <= Decimal("0.5")


# Chains ---------------------------------------------------------------------------------------------------------------


def read(text: str) -> Comparison:
    statement, faults = parse_line(text)
    assert faults == ()
    assert isinstance(statement, Comparison)
    return statement


def test_chains_keep_all_their_parts():
    p = P("a=x")
    low, high = 0.1, 0.3
    chain = 0.1 <= p <= 0.3
    assert chain == read("0.1 <= P(a=x) <= 0.3")
    chain = low < P("a=x") < high
    assert chain == read("0.1 < P(a=x) < 0.3")
    chain = 0.3 >= P("a=x") > 0.1
    assert chain == read("0.3 >= P(a=x) > 0.1")
    chain = P(A1) <= P(A2) <= P(A3) <= P(A4)
    assert chain == read("P(a=x|b=1) <= P(a=x|b=2) <= P(a=x|b=3) <= P(a=x|b=4)")
    chain = P(A1) <= 0.3 <= P(A2)
    assert chain == read("P(a=x|b=1) <= 0.3 <= P(a=x|b=2)")
    chain = 0 <= P(A1) - P(A2) <= 0.2
    assert chain == read("0 <= P(a=x|b=1) - P(a=x|b=2) <= 0.2")
    chain = P(A1) == P(A2) == 0.3
    assert chain == read("P(a=x|b=1) = P(a=x|b=2) = 0.3")
    chain = 0.1 <= p <= 0.1
    assert chain == read("0.1 <= P(a=x) <= 0.1")


def test_chains_over_several_lines_in_lists_in_loops_and_in_calls():
    chain = (
        0.1
        <= P("a=x")
        <= 0.3
    )  # fmt: skip
    assert chain == read("0.1 <= P(a=x) <= 0.3")
    both = [0.1 <= P("a=x") <= 0.3, 0.2 <= P("a=y") <= 0.4]
    assert both == [read("0.1 <= P(a=x) <= 0.3"), read("0.2 <= P(a=y) <= 0.4")]
    many = [low <= P(f"a={state}") <= high for state, low, high in (("x", 0.1, 0.2), ("y", 0.3, 0.4))]
    assert many == [read("0.1 <= P(a=x) <= 0.2"), read("0.3 <= P(a=y) <= 0.4")]
    passed = identity(0.1 <= P("a=x") <= 0.3, 1)
    assert passed == read("0.1 <= P(a=x) <= 0.3")
    p = P("a=x")
    for _ in range(3):
        chain = 0.1 <= p <= 0.3
        assert chain == read("0.1 <= P(a=x) <= 0.3")
    fifth = lambda: 0.1 <= P("a=x") <= 0.3  # noqa: E731
    assert fifth() == read("0.1 <= P(a=x) <= 0.3")


def test_a_chain_inside_a_chain_does_not_disturb_it():
    def upper() -> float:
        inner = 0.5 <= P("c=z") <= 0.6
        assert inner == read("0.5 <= P(c=z) <= 0.6")
        return 0.3

    chain = 0.1 <= P("a=x") <= upper()
    assert chain == read("0.1 <= P(a=x) <= 0.3")


def test_chains_in_threads_do_not_meet():
    found = []

    def build() -> None:
        for _ in range(300):
            chain = 0.1 <= P("a=x") <= 0.3
            found.append(chain == read("0.1 <= P(a=x) <= 0.3"))

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 1200


def test_two_comparisons_in_a_row_are_no_chain():
    p = P("a=x")
    first, second = p >= 0.1, p <= 0.3
    assert len(first.sides) == len(second.sides) == 2


@pytest.mark.parametrize("pick", [max, min])
def test_a_comparison_inside_a_call_starts_no_chain(pick):
    with pytest.raises(KnowledgeError, match="true or false"):
        pick(P("a=x"), P("b=x")) <= 0.3  # noqa: B015
    with pytest.raises(KnowledgeError, match="true or false"):
        sorted([P("a=x"), P("b=x")])[0] <= 0.3  # noqa: B015
    p, q = P("a=x"), P("b=x")
    with pytest.raises(KnowledgeError, match="true or false"):
        (p if p <= q else q) <= 0.3  # noqa: B015


def identity(value, _):
    return value


def loses_with_and():
    return (P("a=x") >= 0.1) and (P("a=x") <= 0.3)


def loses_with_and_over_lines():
    return (
        (P("a=x") >= 0.1)
        and (P("a=y") <= 0.3)
    )  # fmt: skip


def loses_with_or(network):
    return Knowledge(network, (P("lung=yes") >= 0.1) or (P("lung=yes") <= 0.3))


def loses_to_a_function():
    return (P("a=x") >= 0.1) and raises("a", "b")


def loses_to_text(network):
    return Knowledge(network, (P("lung=yes") >= 0.1) and "smoke raises lung")


def loses_when_values_are_computed_before_truth(network):
    """What tools do that rewrite assertions."""
    p = P("lung=yes")
    first, second = 0.1 <= p, p <= 0.3; return first and second  # noqa: E702, SIM300  # fmt: skip


@pytest.mark.parametrize(
    "lose",
    [
        loses_with_and,
        loses_with_and_over_lines,
        loses_with_or,
        loses_to_a_function,
        loses_to_text,
        loses_when_values_are_computed_before_truth,
    ],
)
def test_a_half_is_never_lost_in_silence(lose, asia):
    with pytest.raises(KnowledgeError) as caught:
        lose(asia) if lose.__code__.co_argcount else lose()
    (mistake,) = caught.value.mistakes
    assert mistake.kind == "truth-value"
    assert "test_build.py" in mistake.message


def test_after_such_an_error_all_is_forgotten(asia):
    with pytest.raises(KnowledgeError):
        loses_with_and()
    assert len(Knowledge(asia, [0.1 <= P("lung=yes") <= 0.3])) == 1


def test_an_unused_truth_value_elsewhere_does_no_harm(asia):
    def ask() -> bool:
        return bool(P("a=x") >= 0.1)

    assert ask()
    assert ask()
    assert len(Knowledge(asia, [P("lung=yes") >= 0.1])) == 1


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
    ],
)
def test_bad_python_is_a_knowledge_error_at_once(build, kind):
    with pytest.raises(KnowledgeError) as caught:
        build()
    assert caught.value.mistakes[0].kind == kind
    assert caught.value.mistakes[0].source == "written in Python"

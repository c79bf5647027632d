"""Whose statements they are: blocks and single lines of experts, in text and in Python."""

from __future__ import annotations

import pytest

import credo
from credo.knowledge.experts import Expert, expert_of
from credo.knowledge.parse import parse
from tests.helpers.knowledge_examples import NETWORKS

ASIA = NETWORKS["asia"]
TEXT = """smoke raises bronc
expert radiology:
    smoke raises lung

    # a comment does not end the block
    P(lung=yes | smoke=yes) >= 5% with confidence 0.7
expert "Dr. House" with reliability 90%:   # knows
  P(lung=yes | smoke=no) <= 0.1
P(smoke=yes) <= 0.6
expert radiology, reliability between 0.8 and 0.95: P(tub=yes | asia=no) <= 0.2
"""


def test_blocks_end_where_the_indentation_does() -> None:
    know = credo.Knowledge(ASIA, TEXT)
    radiology, house = Expert("radiology"), Expert("Dr. House", 0.9)
    found = [expert_of(each) for each in know.statements]
    assert found == [None, radiology, radiology, house, None, Expert("radiology", (0.8, 0.95))]
    assert [each.span.line for each in know.statements if each.span] == [1, 3, 6, 8, 9, 10]


def test_words_and_places_are_those_of_the_statement() -> None:
    know = credo.Knowledge(ASIA, TEXT)
    assert credo.knowledge.words_of(know.statements[5]) == "P(tub=yes | asia=no) <= 0.2"
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.Knowledge(ASIA, "expert radiology: smok raises lung")
    (mistake,) = caught.value.mistakes
    assert (mistake.line, mistake.column, mistake.end_column) == (1, 19, 23)


def test_text_reads_back() -> None:
    know = credo.Knowledge(ASIA, TEXT)
    assert credo.Knowledge(ASIA, know.to_text()) == know
    assert 'expert "Dr. House" with reliability 0.9: P(lung=yes | smoke=no) <= 0.1' in know.to_text()


def test_an_indented_text_has_blocks_too() -> None:
    parsed = parse("    expert a:\n      smoke raises lung\n    smoke raises bronc\n")
    assert [expert_of(each) for each in parsed.statements] == [Expert("a"), None]


def test_a_variable_may_be_called_expert() -> None:
    network = credo.Network({"expert": ["no", "yes"], "a": ["no", "yes"]}, {"a": ["expert"]})
    assert expert_of(credo.Knowledge(network, "expert raises a").statements[0]) is None


def test_the_same_in_python() -> None:
    said = credo.expert(
        "Dr. House", ["smoke raises lung", credo.P("lung=yes | smoke=no") <= 0.1], reliability=(0.8, 0.9)
    )
    know = credo.Knowledge(ASIA, ["smoke raises bronc", said])
    assert [expert_of(each) for each in know.statements] == [None, *[Expert("Dr. House", (0.8, 0.9))] * 2]
    with pytest.raises(credo.KnowledgeError, match="lies between 0 and 1"):
        credo.expert("x", "smoke raises lung", reliability=1.5)
    with pytest.raises(credo.KnowledgeError, match="cannot be doubted"):
        credo.expert("x", "order lung: no < yes")


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("expert a:\n  smoke raises lung\n  expert b: smoke raises bronc", "expert-inside", 3),
        ("expert a:\n  expert b:\n    smoke raises bronc", "expert-inside", 2),
        ("expert a:\n    smoke raises lung\n  smoke raises bronc", "expert-indentation", 3),
        ("expert a:\n  smoke raises lung\n\n   # why\n\tsmoke raises bronc", "expert-indentation", 5),
        ("expert a: smoke raises lung\n  smoke raises bronc", "expert-below-line", 2),
        ("expert Dr House:\n  smoke raises lung", "expert-name", 1),
        ("expert our radiologist with reliability 0.9\n  smoke raises lung", "expert-name", 1),
        ("expert a\n  smoke raises lung", "expert-colon", 1),
    ],
)
def test_no_line_is_credited_to_somebody_by_chance(text: str, kind: str, line: int) -> None:
    mistakes = parse(text).mistakes
    assert (mistakes[0].kind, mistakes[0].line) == (kind, line)


def test_blocks_one_after_the_other_need_no_blank_line() -> None:
    parsed = parse("expert a:\n  smoke raises lung\nexpert b: smoke raises bronc\nexpert a:\n\tsmoke raises dysp\n")
    assert not parsed.mistakes
    assert [expert_of(each) for each in parsed.statements] == [Expert("a"), Expert("b"), Expert("a")]


def test_the_reliability_may_stand_in_brackets() -> None:
    network = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})
    knowledge = credo.Knowledge(network, "expert radiology (reliability 0.9):\n  smoke raises lung\n")
    assert knowledge.statements[0].expert.reliability == 0.9

"""Questions are read, and every mistake in one is named."""

from __future__ import annotations

import pytest

from credo import Network, Query, QueryError
from credo.knowledge.query import checked_evidence, parse_query

NETWORK = Network(
    {"lung": ["no", "yes"], "smoke": ["no", "some", "a lot"], "x-ray": ["-", "+"], "do": ["0", "1"]},
    {"lung": ["smoke"]},
)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("P(lung=yes)", Query({"lung": ("yes",)})),
        ("P( lung )", Query({"lung": ()})),
        ('P(lung=yes, do=1 | smoke="a lot")', Query({"lung": ("yes",), "do": ("1",)}, {"smoke": ("a lot",)})),
        ("P(lung in {no, yes} | smoke in {no, some})", Query({"lung": ("no", "yes")}, {"smoke": ("no", "some")})),
        ("P(lung | do(smoke=no), do=1)", Query({"lung": ()}, {"do": ("1",)}, {"smoke": "no"})),
        ("P(lung | do(smoke=no, do=1))", Query({"lung": ()}, {}, {"smoke": "no", "do": "1"})),
        ('P(lung | x-ray="+")', Query({"lung": ()}, {"x-ray": ("+",)})),
    ],
)
def test_questions_are_read(text: str, query: Query) -> None:
    assert parse_query(NETWORK, text) == query
    assert parse_query(NETWORK, str(query)) == query


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lung=yes", "begins with P"),
        ("P(lung=yes", "“\\)” is missing at the end"),
        ("P(lung=yes) <= 3", "it should end before “<=”"),
        ("P(lung=yes) ~ 3", "cannot be read"),
        ("P(lung=yes) P", "it should end before “P”"),
        ("P(lnug=yes)", 'no variable "lnug". Did you mean "lung"'),
        ("P(lung=maybe)", 'lung has no state "maybe". Its states are no, yes'),
        ("P(lung | smoke)", "smoke needs a state, as in smoke=a lot"),
        ("P(lung=yes, lung=no)", "lung occurs twice"),
        ("P(lung | smoke=no, do(smoke=some))", "smoke is both observed and set by do"),
        ("P(lung | do(smoke in {no, some}))", "do sets smoke to one state"),
        ("P(lung | do(smoke=no), do(smoke=no))", "smoke is set twice"),
        ("P()", "the name of a variable is missing before"),
        ("P(lung=)", "a state of lung is missing before"),
        ("", "begins with P"),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        parse_query(NETWORK, text)


def test_evidence_from_python_may_be_numbers_and_lists() -> None:
    assert checked_evidence(NETWORK, {"do": 1, "smoke": ["no", "some"]}) == {"do": ("1",), "smoke": ("no", "some")}
    with pytest.raises(QueryError, match='no state "2"'):
        checked_evidence(NETWORK, {"do": 2})


def test_the_example_of_a_mistake_has_variables_of_the_network() -> None:
    network = Network({"glu": ["low", "high"], "type": ["No", "Yes"]}, {"type": ["glu"]})
    with pytest.raises(QueryError, match=r"Write it like P\(type=Yes \| glu=high\), or P\(type \| do\(glu=high\)\)"):
        parse_query(network, "type=Yes")

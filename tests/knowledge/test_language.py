"""Every form of the language parses, and what is printed parses to the same statement."""

from __future__ import annotations

import copy
import pickle
import re
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

import credo.knowledge
from credo import Knowledge
from credo.knowledge import to_text
from credo.knowledge.names import name_text
from credo.knowledge.parse import parse, parse_line, parser
from credo.knowledge.statements import (
    STATEMENTS,
)
from tests.helpers.knowledge_examples import FORMS
from tests.helpers.statement_strategies import nasty_names, statements


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


def test_a_distribution_given_a_state_with_brackets():
    network = credo.Network({"size": ["(0,5]", "(5,Inf]"], "lung": ["no", "yes"]}, {"lung": ["size"]})
    for text in (
        'P(lung | size="(0,5]") is 0.9, 0.1, worth 20 cases',
        "P(lung | size='(0,5]') is 90%, 10%, worth 20 cases",
    ):
        knowledge = Knowledge(network, text)
        assert Knowledge(network, knowledge.to_text()) == knowledge
    table = 'P(lung | size), worth 20 cases:\n  "(0,5]": 90%, 10%\n  "(5,Inf]": 40%, 60%\n'
    assert len(Knowledge(network, table).statements) == 2


def test_every_word_of_the_grammar_can_be_a_name():
    grammar = (Path(credo.knowledge.__file__).parent / "grammar.lark").read_text()
    terminals = " ".join(line for line in grammar.splitlines() if re.match(r"[A-Z_]+(\.\d+)?:", line))
    lines = ("b depends on a, {}", "b is noisy-or of {{a, {}}}", "a, {} have one CPT", "group g: a, {}", "{} raises b")
    for word in set(re.findall(r"[a-z]{2,}", terminals)):
        for line in lines:
            assert parse_line(line.format(name_text(word)))[1] == (), line.format(name_text(word))


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("P(severity=mild | dose in {2, 1.0}) >= 0.1", "P(severity=mild | dose in {1.0, 2}) >= 0.1"),
        ("P(severity=mild | dose!=0.5) >= 0.1", "P(severity=mild | dose in {1.0, 2}) >= 0.1"),
        ("P(severity=mild | dose in {2}, each ward) >= 0.1", "P(severity=mild | dose=2, each ward) >= 0.1"),
    ],
)
def test_a_condition_may_have_several_states(clinic, text, shown):
    know = Knowledge(clinic, text)
    assert know.to_text() == shown
    assert Knowledge(clinic, shown) == know == pickle.loads(pickle.dumps(know))


def test_damaged_tables_of_the_parser_are_built_again(tmp_path, monkeypatch):
    """The parser's tables are kept on disk: those of another grammar and damaged ones change nothing."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr("sys.pycache_prefix", str(tmp_path))
    build = parser.__wrapped__
    build()  # the folder is missing: nothing is kept
    grammar = Path(credo.knowledge.__file__).with_name("grammar.lark")
    tables = Path(cache_from_source(str(grammar))).with_suffix(".tables")
    tables.parent.mkdir(parents=True)
    build()
    whole = tables.read_bytes()
    for content in (b"", b"no tables", whole[: len(whole) // 2], b"0" * 64 + whole[64:], whole):
        tables.write_bytes(content)
        statement, mistakes = build().parse("P(a=yes | b=no) >= 0.2", start="statement")
        assert to_text(statement) == "P(a=yes | b=no) >= 0.2"
        assert not mistakes
        assert tables.read_bytes()[:64] == whole[:64]
        assert len(tables.read_bytes()) > 0.9 * len(whole)

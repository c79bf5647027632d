"""Knowledge as a value: files, addition, printing; and what statements say together."""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import Knowledge, KnowledgeError, P, raises, read_knowledge
from credo.constraints.lower import LOWERING_RULES
from credo.knowledge import KnowledgeFileError, KnowledgeTypeError, synergy_direction, synergy_directions
from credo.knowledge.statements import STATEMENTS, Statement, Synergy
from tests.helpers.knowledge_examples import LINES, NETWORKS


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(LINES), unique=True))
def test_knowledge_prints_as_text_that_reads_back_equal(lines):
    asia = NETWORKS["asia"]
    knowledge = Knowledge(asia, "\n".join(lines))
    assert Knowledge(asia, knowledge.to_text()) == knowledge
    assert knowledge.to_text() == "\n".join(lines)
    assert len(knowledge) == len(lines) == len(list(knowledge))


def test_addition_keeps_places_and_checks_anew(asia, clinic):
    first, second = Knowledge(asia, "smoke raises lung"), Knowledge(asia, "\nbronc and either synergize on dysp")
    both = first + second
    assert both.statements == first.statements + second.statements
    assert [statement.span.line for statement in both] == [1, 2]
    with pytest.raises(KnowledgeError) as caught:
        both + Knowledge(asia, "bronc lowers dysp\neither raises dysp")
    assert [mistake.kind for mistake in caught.value.mistakes] == ["synergy-directions"]
    with pytest.raises(KnowledgeError):
        first + Knowledge(clinic, "ward raises severity")
    with pytest.raises(TypeError):
        first + "smoke raises lung"
    assert first + Knowledge(asia, ()) == first


def test_knowledge_is_frozen_and_can_be_pickled(asia):
    knowledge = Knowledge(asia, "\n".join(LINES))
    with pytest.raises(AttributeError):
        knowledge.statements = ()
    copy = pickle.loads(pickle.dumps(knowledge))
    assert copy == knowledge
    assert copy.orders == knowledge.orders


def test_a_file_may_have_a_mark_at_its_beginning_and_any_line_ends(asia, tmp_path):
    path = tmp_path / "asia.credo"
    path.write_bytes(b"\xef\xbb\xbfsmoke raises lung\r\n# note\r\nasia raises tub\r\n")
    knowledge = read_knowledge(asia, str(path))
    assert len(knowledge) == 2
    assert knowledge.statements[1].span.line == 3
    assert knowledge.statements[1].span.source == "asia.credo"


def test_a_folder_is_no_file(asia, tmp_path):
    with pytest.raises(KnowledgeError, match="cannot be read"):
        read_knowledge(asia, tmp_path)


def test_printing_numbers_the_statements_and_names_their_places(asia, tmp_path):
    path = tmp_path / "notes.credo"
    path.write_text("# notes\nsmoke   raises lung  # sure\n", encoding="utf-8")
    knowledge = Knowledge(asia, [path, P("smoke=yes").between(0.1, 0.6), "asia raises tub"])
    assert str(knowledge) == (
        "3 statements about asia\n"
        "1. smoke   raises lung        (notes.credo, line 2)\n"
        "2. 0.1 <= P(smoke=yes) <= 0.6 (Python)\n"
        "3. asia raises tub            (line 1)"
    )
    assert repr(knowledge) == "<Knowledge: 3 statements about asia>"
    assert str(Knowledge(asia, ())) == "0 statements about asia"


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("notes.credo").write_text("smoke raises lung\n", encoding="utf-8")
    Path("notes.txt").write_text("asia raises tub\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("source", ["notes.credo", Path("notes.credo"), ["notes.credo"], "./notes.credo"])
def test_a_path_or_a_name_with_the_ending_is_read_as_a_file(asia, notes, source):
    (statement,) = Knowledge(asia, source)
    assert statement == raises("smoke", "lung")
    assert statement.span.source == "notes.credo"


def test_a_name_of_an_existing_file_is_read_unless_it_is_a_statement(asia, notes):
    Path("asia raises tub").write_text("smoke raises lung", encoding="utf-8")
    assert Knowledge(asia, "notes.txt") == Knowledge(asia, ["asia raises tub"])
    assert Knowledge(asia, ["notes.txt", Path("asia raises tub")]).to_text() == "asia raises tub\nsmoke raises lung"


def test_a_file_can_be_given_wherever_knowledge_is(asia, notes):
    from credo.knowledge import knowledge_for

    assert knowledge_for(asia, "notes.credo") == knowledge_for(asia, Path("notes.credo"))


@pytest.mark.parametrize("source", ["note.credo", Path("note.credo"), ["smoke raises lung", "note.credo"]])
def test_a_file_that_does_not_exist_is_named_with_the_closest_one(asia, notes, source):
    with pytest.raises(KnowledgeFileError, match="There is no file note.credo") as caught:
        Knowledge(asia, source)
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.mistakes[0].suggestion == 'Did you mean "notes.credo"?'
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_text_that_mentions_a_file_at_its_end_stays_text(asia):
    assert len(Knowledge(asia, "smoke raises lung\n# see notes.credo")) == 1


@pytest.mark.parametrize("call", [Knowledge, read_knowledge])
def test_arguments_in_the_wrong_order_are_named(asia, call):
    with pytest.raises(KnowledgeTypeError, match="The network comes first") as caught:
        call("smoke raises lung", asia)
    assert isinstance(caught.value, TypeError)
    with pytest.raises(KnowledgeTypeError, match="is not a network"):
        call("asia.bif", "smoke raises lung")


def test_no_statements_are_knowledge_too(asia):
    assert len(Knowledge(asia, "")) == len(Knowledge(asia, [])) == len(Knowledge(asia, "# nothing\n")) == 0


def test_opposite_influences_are_left_to_the_feasibility_check(asia):
    assert len(Knowledge(asia, "smoke raises lung\nsmoke lowers lung")) == 2


def test_every_type_of_statement_has_its_rules():
    assert set(STATEMENTS) == set(get_args(Statement)) == set(LOWERING_RULES)


# The directions of synergies ------------------------------------------------------------------------------------------


def direction(text: str) -> str:
    knowledge = Knowledge(NETWORKS["asia"], text)
    synergy = next(statement for statement in knowledge if isinstance(statement, Synergy))
    return synergy_direction(knowledge, synergy)


def test_a_synergy_raises_unless_a_parent_is_said_to_lower():
    synergy = "bronc and either synergize on dysp\n"
    assert direction(synergy) == "raises"
    assert direction(synergy + "bronc raises dysp") == "raises"
    assert direction(synergy + "bronc lowers dysp") == "lowers"
    assert direction(synergy + "bronc lowers dysp\neither lowers dysp") == "lowers"
    assert direction(synergy + "smoke lowers lung") == "raises"


def test_linked_synergies_have_one_direction():
    from credo.model.network import Network

    network = Network(dict.fromkeys("abcdy", ("no", "yes")), {"y": list("abcd")})
    text = "a and b synergize on y\nb and c sub-synergize on y\na lowers y\n"
    knowledge = Knowledge(network, text)
    assert synergy_directions(knowledge) == {("y", parent): "lowers" for parent in "abc"}
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(network, text + "c raises y")
    assert [mistake.line for mistake in caught.value.mistakes] == [1, 2]
    assert len(Knowledge(network, text + "d raises y")) == 4


def test_a_direction_goes_through_many_synergies():
    from credo.model.network import Network

    network = Network(dict.fromkeys("abcdey", ("no", "yes")), {"y": list("abcde")})
    pairs = "".join(f"{later} and {before} synergize on y\n" for before, later in pairwise("abcde"))
    knowledge = Knowledge(network, pairs + "e lowers y")
    assert synergy_directions(knowledge) == {("y", parent): "lowers" for parent in "abcde"}


# Rows that share, and rows that differ --------------------------------------------------------------------------------


def test_rows_that_differ_may_share_other_things_and_with_other_rows(clinic):
    lines = ["rows 1, 2, 3 differ in age", "rows 1, 2, 3 share dose", "rows 1, 4 share age", "rows 2, 5 share age"]
    more = [
        "rows with equal twin share ward",
        "rows with equal match differ in ward",
        "rows with equal twin differ in age",
    ]
    assert len(Knowledge(clinic, lines + more)) == 7


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["rows 3, 1 differ in age", "rows 1, 2, 3 share age"], 'Rows 3 and 1 share "age" (line 2), and cannot'),
        (["rows 1, 2 share age", "rows 3, 2 share age", "rows 1, 3 differ in age"], '"age" through other rows, and'),
        (
            ["rows with equal t share age", "rows with equal t differ in age"],
            'Rows with equal "t" share "age" (line 1)',
        ),
    ],
)
def test_rows_that_share_a_variable_cannot_differ_in_it(clinic, lines, message):
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(clinic, "\n".join(lines))
    (mistake,) = caught.value.mistakes
    assert (mistake.kind, "differ" in mistake.text) == ("share-and-differ", True)
    assert message in mistake.message


def test_no_more_rows_can_differ_than_there_are_states(clinic):
    assert len(Knowledge(clinic, "rows 1, 2, 3 differ in age\nrows 1, 2 differ in ward")) == 2
    with pytest.raises(KnowledgeError, match='3 rows cannot all differ in "ward", which has 2 states'):
        Knowledge(clinic, "rows 1, 2, 3 differ in age, ward")


def test_lark_is_imported_only_to_parse():
    code = "import sys, credo.knowledge; assert 'lark' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)

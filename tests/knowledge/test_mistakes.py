"""The table of mistakes: every kind has broken examples, and every example gives that kind at that place."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import credo.knowledge
from credo import CredoError, Knowledge, KnowledgeError, declared_network, read_knowledge
from credo.knowledge import check_columns
from credo.knowledge.mistakes import SHOWN, caret_lines, kinds
from credo.knowledge.statements import Influence
from tests.helpers.knowledge_examples import NETWORKS, marked

PATIENTS = pl.DataFrame({"id": ["a", "b"], "age": [25, 54], "bp": [133.5, 120.0], "outcome": ["no", "yes"]})
PYTHON_NAMES = {**vars(credo.knowledge), **NETWORKS, "Influence": Influence, "Path": Path, "__file__": __file__}


def cases(form: str) -> list[Any]:
    return [
        pytest.param(kind, row.get("network", "asia"), example, id=f"{kind}-{number}")
        for kind, row in kinds().items()
        for number, example in enumerate(row.get(form, ()))
    ]


def test_there_are_many_kinds_and_each_has_an_example():
    assert len(kinds()) >= 60
    for kind, row in kinds().items():
        forms = ("examples", "python", "file", "columns", "declared", "without_table")
        assert any(row.get(form) for form in forms), kind
        assert row["message"]
        assert row["expected"], kind
        assert row["suggestion"], kind


def test_every_kind_that_the_code_names_is_in_the_table():
    folder = Path(credo.knowledge.__file__).parent
    named = set()
    makers = "LineMistake|mistake_at|mistake_between|repeated_names|python_error|_file_error|Diagnosis"
    for path in folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(rf'(?:{makers})\((?:\w+, )*\s*"([a-z0-9-]+)"', text))
    assert len(named) > 60
    assert named - set(kinds()) == set()


@pytest.mark.parametrize(("kind", "network", "example"), cases("examples"))
def test_text(kind: str, network: str, example: str):
    text, *place = marked(example)
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(NETWORKS[network], text)
    (mistake,) = caught.value.mistakes
    assert mistake.kind == kind
    assert [mistake.line, mistake.column, mistake.end_column] == place
    assert mistake.text == text.split("\n")[mistake.line - 1]
    shown = str(caught.value).split("\n")
    assert shown[0].startswith(f"knowledge:{mistake.line}:{mistake.column}: {mistake.message}")
    assert "^" in shown[2]
    assert shown[3].startswith("    suggestion: Write: " if mistake.write else "    expected: ")
    assert mistake.write or shown[4].startswith("    suggestion: ")
    assert "{" not in mistake.message


@pytest.mark.parametrize(("kind", "network", "example"), [*cases("declared"), *cases("without_table")])
def test_text_without_a_network(kind: str, network: str, example: str):
    text, *place = marked(example)
    table = None if example in kinds()[kind].get("without_table", ()) else PATIENTS
    with pytest.raises(KnowledgeError) as caught:
        declared_network(text, data=table)
    (mistake,) = caught.value.mistakes
    assert mistake.kind == kind
    assert [mistake.line, mistake.column, mistake.end_column] == place


@pytest.mark.parametrize(("kind", "network", "example"), cases("python"))
def test_python(kind: str, network: str, example: str):
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(NETWORKS[network], eval(example, dict(PYTHON_NAMES)))
    assert caught.value.mistakes[-1].kind == kind
    assert len(str(caught.value)) < 30_000


@pytest.mark.parametrize(("kind", "network", "example"), cases("file"))
def test_file(kind: str, network: str, example: dict[str, Any], tmp_path: Path):
    path = tmp_path / "notes.credo"
    path.write_bytes((example["text"] * example.get("repeat", 1)).encode(example.get("encoding", "utf-8")))
    with pytest.raises(KnowledgeError) as caught:
        read_knowledge(NETWORKS[network], path)
    (mistake,) = caught.value.mistakes
    assert mistake.kind == kind
    assert "notes.credo" in str(caught.value)


@pytest.mark.parametrize(("kind", "network", "example"), cases("columns"))
def test_columns(kind: str, network: str, example: list[str]):
    text, *place = marked(example[0])
    knowledge = Knowledge(NETWORKS[network], text)
    (mistake,) = check_columns(knowledge, example[1:], rows=100)
    assert mistake.kind == kind
    assert [mistake.line, mistake.column, mistake.end_column] == place
    assert check_columns(knowledge, ("twinid", "lung"), rows=1000) == ()


def test_all_mistakes_are_reported_at_once_in_the_order_of_the_file(asia):
    text = "smok raises lung\nP(lung=ye | smok=y) >= 1.2\n\nsmoke raises lung\n  P(lung=yes >= 0.3\nasia raises lung"
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(asia, text)
    found = [(mistake.line, mistake.kind) for mistake in caught.value.mistakes]
    assert found == [
        (1, "unknown-variable"),
        (2, "unknown-state"),
        (2, "unknown-variable"),
        (2, "bound-outside"),
        (5, "missing-bracket"),
        (6, "not-a-parent"),
    ]


def test_the_message_of_a_file_reads_well(asia, tmp_path):
    path = tmp_path / "asia.credo"
    path.write_text("# notes\n\tP(lung=yes | smok=yes) >= 0.1\n", encoding="utf-8")
    with pytest.raises(KnowledgeError) as caught:
        read_knowledge(asia, path)
    assert str(caught.value) == (
        'asia.credo:2:15: The network has no variable "smok".\n'
        "    \tP(lung=yes | smok=yes) >= 0.1\n"
        "    \t             ^^^^\n"
        "    expected: a variable of the network: asia, tub, smoke, lung, bronc, either, xray, dysp\n"
        '    suggestion: Did you mean "smoke"?'
    )


def test_a_long_list_is_cut_and_counted(asia):
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(asia, "smok raises lung\n" * 300)
    assert len(caught.value.mistakes) == 300
    assert str(caught.value).count("smok raises lung") == SHOWN
    assert str(caught.value).endswith("… and 280 more mistakes.")


@pytest.mark.parametrize(
    ("text", "column", "end_column", "shown", "caret"),
    [
        ("a b c", 3, 4, "a b c", "  ^"),
        ("\ta\tb", 4, 5, "\ta\tb", "\t \t^"),
        ("年齢 lung", 4, 8, "年齢 lung", "     ^^^^"),
        ("e\u0301 lung", 4, 8, "e\u0301 lung", "  ^^^^"),
        ("年齢", 1, 3, "年齢", "^^^^"),
        ("x", 2, 3, "x", " ^"),
        ("a\x07b", 2, 3, "a\u2407b", " ^"),
    ],
)
def test_the_caret_stands_under_its_place(text, column, end_column, shown, caret):
    assert caret_lines(text, column, end_column) == (shown, caret)


def test_a_long_line_is_shown_around_the_caret():
    shown, caret = caret_lines("x" * 500 + "HERE" + "y" * 500, 501, 505)
    assert len(shown) < 120
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "HERE"


def test_the_error_is_typed_and_survives_pickling(asia):
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(asia, "smok raises lung")
    assert isinstance(caught.value, CredoError)
    assert caught.value.exit_code == 2
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.mistakes == caught.value.mistakes
    assert str(copy) == str(caught.value)


@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("P(lung=yes) <= 30", "Correct the number. 30% is 0.3."),
        ("P(lung=yes) <= 130%", "Correct the number."),
        ("P(lung=yes | smoke=yes) = 5-10%", "Write is between 5% and 10%."),
        ("P(lung=yes | smoke=yes) is 0.05-0.1", "Write: P(lung=yes | smoke=yes) is between 0.05 and 0.1"),
        ("P(lung=yes | smoke=yes) is between 5 and 10%", "Write: P(lung=yes | smoke=yes) is between 5% and 10%"),
        ("P(lung=yes | smoke=yes) is between 10% and 5%", "Swap the bounds."),
        ("the risk of lung=yes is at most 5%", "Write: P(lung=yes) is at most 5%"),
        ("The probability of lung given smoke=yes is 5%.", "Write: P(lung=yes | smoke=yes) is about 5%"),
        ("smoke risk lung", "Write, for instance, asia raises tub, or P(tub=yes | asia=yes) >= 0.3."),
        ("smoke riases lung", "Write: smoke raises lung"),
        ("P(lung=yes) = 5 ± 2%", "Write 5% ± 2%."),
        ("P(lung=yes) is 3 in 2", "Correct the number."),
        ("P(lung in {}) * P(bronc=yes) <= 0.1", "Name at least one state."),
    ],
)
def test_what_is_suggested_can_be_meant(asia, line, suggestion):
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(asia, line)
    (mistake,) = caught.value.mistakes
    assert mistake.suggestion == suggestion


@pytest.mark.parametrize(
    "line", ["smoke § lung", "smoke raises lung €", "P(lung=yes) is at most 5% ¿", "P(lung=yes) $ 5%"]
)
def test_a_stray_character_is_named_and_nothing_is_expected_that_other_statements_have(asia, line):
    with pytest.raises(KnowledgeError) as caught:
        Knowledge(asia, line)
    (mistake,) = caught.value.mistakes
    assert mistake.kind == "unexpected-character"
    assert "share" not in mistake.expected
    assert "leak" not in mistake.expected

"""Statements that contradict each other across CPTs are named, and a search is called a search."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import credo
from credo import ConflictError
from credo.studio.result_data import check_data
from tests.helpers.command_line import run

TEXT = """variable type: no, yes
variable bmi: lean, normal, obese
variable age: young, old
type depends on bmi, age
bmi raises type
age raises type
P(type=yes) is at least 25%
P(type=yes | bmi=obese) is at most 20%
P(age=old) is at least 20%
P(bmi=obese) is at least 10%
P(type=yes | bmi=lean, age=young) is at least 1%
"""
ROWS = pl.DataFrame({"bmi": ["lean", "obese", "normal"], "type": ["no", "yes", "yes"], "age": ["young", "old", "old"]})
GUILTY = [5, 7, 8]


def test_learning_names_the_lines() -> None:
    with pytest.raises(ConflictError) as caught:
        credo.fit(TEXT, ROWS)
    message = str(caught.value)
    assert [number for number in range(1, 12) if f"line {number}:" in message] == GUILTY
    assert "no proof" in message
    assert "--doubt" in message
    assert "credo.check" not in message


def test_the_check_begins_with_them() -> None:
    found = credo.check(TEXT)
    assert [each.line for each in found.suspected] == GUILTY
    assert str(found).startswith("Lines 5, 7 and 8 do not seem to go together")
    assert found.exit_code == 3
    assert "may contradict" not in str(found)  # they are named once
    assert {each.statement.line for each in found.unchecked} == set(GUILTY)
    details = {each["line"]: each["detail"] for each in check_data(found)["statements"]}
    assert "A search found no probabilities at which it holds with line 7" in details[5]


def test_the_exit_code_is_3(tmp_path: Path) -> None:
    (tmp_path / "a.credo").write_text(TEXT)
    ROWS.write_csv(tmp_path / "a.csv")
    for command in (("learn", "a.credo", "a.csv"), ("check", "a.credo")):
        assert run(*command, folder=tmp_path).returncode == 3


def test_without_one_of_them_all_is_well() -> None:
    for number in GUILTY:
        lines = TEXT.splitlines()
        found = credo.check("\n".join(lines[: number - 1] + lines[number:]))
        assert not found.suspected
        assert found.exit_code == 0


@pytest.mark.parametrize("method", ["auto", "cmap", "cml"])
def test_every_method_that_binds_them_refuses_statements_that_contradict_each_other_across_cpts(method: str) -> None:
    rows = pl.DataFrame({"bmi": ["slim", "heavy", "obese"] * 20, "type": ["No", "No", "Yes", "No"] * 15})
    text = (
        "variable bmi: slim, heavy, obese\nvariable type: No, Yes\ntype depends on bmi\nbmi raises type\n"
        "P(type=Yes) is at least 25%\nP(type=Yes | bmi=obese) <= 20%\nP(bmi=slim) <= 0.9\n"
    )
    with pytest.raises(credo.ConflictError, match="what a search found, and no proof") as caught:
        credo.fit(text, rows, method=method)
    message = str(caught.value)
    assert caught.value.exit_code == 3
    assert all(f"line {line}" in message for line in (4, 5, 6))
    assert "line 7" not in message
    assert "--doubt" in message


def test_a_conflict_of_statements_that_must_hold_suggests_doubt() -> None:
    text = "variable y: no, yes\nP(y=yes) >= 0.4\nP(y=yes) <= 0.3\n"
    with pytest.raises(credo.ConflictError, match="--doubt on the command line, doubt=True in Python"):
        credo.fit(text, pl.DataFrame({"y": ["no", "yes"] * 5}))

"""The examples: tables are those that their scripts make, and what is learned is what their pages say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import credo
from credo.shipped import example

MADE = {
    "heart": ("make_patients.py", "patients.csv"),
    "cooling": ("make_tests.py", "tests.csv"),
    "lake": ("make_lakes.py", "lakes.csv"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_table_is_what_its_script_makes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, table = MADE[name]
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example(name) / script))
    assert (tmp_path / table).read_bytes() == (example(name) / table).read_bytes()
    assert 101 <= len((tmp_path / table).read_text(encoding="utf-8").splitlines()) <= 301


@pytest.mark.parametrize("name", MADE)
def test_the_sentences_on_a_page_are_those_of_the_file(name: str) -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "examples" / f"{name}.md"
    lines = (example(name) / f"{name}.credo").read_text(encoding="utf-8").splitlines()
    block = page.read_text(encoding="utf-8").split("```text\n")[2 if name == "heart" else 1].split("```")[0]
    assert [line for line in block.splitlines() if line not in lines] == []


def test_one_statement_of_the_heart_is_contradicted() -> None:
    found = credo.check(example("heart") / "heart.credo", data=example("heart") / "patients.csv")
    verdicts = {each.statement.line: each.plausibility.verdict for each in found.statements if each.plausibility}
    assert [line for line, verdict in verdicts.items() if verdict is credo.results.Verdict.CONTRADICTED] == [17]

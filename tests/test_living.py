"""The story of docs/living.md, with the example that ships: an expert, a study, a table, and the next one."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from credo.shipped import example
from tests.helpers.command_line import run

PAGE = Path(__file__).parents[1] / "docs" / "living.md"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("living") / "clinic"
    shutil.copytree(example("clinic"), folder)
    found = []
    for line in re.findall(r"^\$ credo (.*)$", PAGE.read_text(), flags=re.MULTILINE)[:4]:
        done = run(*shlex.split(line), folder=folder)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    return folder, found


def test_four_commands_lead_from_an_expert_to_the_second_table(outputs: tuple[Path, list[str]]) -> None:
    answers = [re.search(r"= ([\d.]+)%.*interval ([\d.]+)% to ([\d.]+)%", each) for each in outputs[1]]
    numbers = [tuple(float(each) for each in found.groups()) for found in answers if found is not None]
    assert len(numbers) == 4
    widths = [high - low for _, low, high in numbers]
    assert widths == sorted(widths, reverse=True)  # each step narrows the answer
    quoted = re.findall(r"(\d+)%, (?:with an interval from|between) [\d.]+%", PAGE.read_text())
    assert len(quoted) == 3
    for number, place in zip(map(int, quoted), (0, 1, 3), strict=True):
        assert number == pytest.approx(numbers[place][0], abs=3.0)  # percentage points: another seed changes one
    assert "There are no data" in outputs[1][0]


def test_what_the_page_quotes_is_in_the_example() -> None:
    texts = [(example("clinic") / name).read_text() for name in ("expert.credo", "studies.credo")]
    for block in re.findall(r"```text\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        for line in block.splitlines():
            assert any(line.strip() in text for text in texts), line


def test_the_model_remembers_and_can_be_made_again(outputs: tuple[Path, list[str]]) -> None:
    folder, _ = outputs
    history = run("history", "clinic.fit", folder=folder).stdout
    assert "4 steps, 300 rows in all" in history
    assert 'added: in "cohort 2019"' in history
    assert "every bit agrees" in run("reproduce", "clinic.fit", folder=folder).stdout
    report = (folder / "report.html").read_text()
    assert "Where it comes from" in report
    assert "cohort 2019" in report


def test_checks_say_what_was_understood() -> None:
    assert "like having seen 12 of 40" in run("check", example("clinic") / "expert.credo").stdout

"""Sheets of questions: written in plain words, read as statements, mistakes by cell, experts compared."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax
from typer.testing import CliRunner

import credo
from credo.answer_sheets import HEADER, SheetAnswer, agreement, read_sheets, statements_of, write_sheet
from credo.cli.app import app
from credo.knowledge.declared_network import knowledge_about

TEXT = """
variables smoke, lung, cough: no, yes
variable stage: early, middle, late
label lung: "lung cancer"
lung depends on smoke
cough depends on lung, smoke
stage depends on lung
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.credo"
    path.write_text(TEXT)
    return path


def fill(path: Path, cells: dict[tuple[str, str], str]) -> None:
    """Write answers into a .csv sheet: (about, column) → text."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    for (about, column), text in cells.items():
        next(row for row in rows if row["about"] == about)[column] = text
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(rows)


def test_questions_are_plain_and_about_every_number(model: Path, tmp_path: Path) -> None:
    count = write_sheet(knowledge_about(model).knowledge, "nurse", tmp_path / "nurse.csv")
    with (tmp_path / "nurse.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert count == len(rows) == 1 + 2 + 4 + 2 * 3
    questions = {row["about"]: row["question"] for row in rows}
    assert questions["P(lung=yes | smoke=yes)"] == (
        "Out of 100 cases in which smoke is yes: in how many do you expect that lung cancer is yes?"
    )
    assert {row["expert"] for row in rows} == {"nurse"}


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_filled_sheets_become_statements_of_their_experts(model: Path, tmp_path: Path, ending: str) -> None:
    knowledge = knowledge_about(model).knowledge
    path = tmp_path / f"heart doctor.{ending}"
    write_sheet(knowledge, "heart doctor", path)
    answers = {2: ("12", "", "", "50"), 3: ("", "5", "20", ""), 4: ("10", "5", "20", ""), 5: ("", "", "40%", "")}
    if ending == "xlsx":
        from openpyxl import load_workbook

        workbook = load_workbook(path)
        for row, cells in answers.items():
            for letter, cell in zip("CDEF", cells, strict=True):
                workbook.active[f"{letter}{row}"] = cell or None
        workbook.save(path)
    else:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
        for row, cells in answers.items():
            rows[row - 1][2:6] = cells
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file).writerows(rows)
    text = statements_of(read_sheets([path], knowledge), knowledge.network)
    assert text.splitlines()[0] == 'expert "heart doctor":'
    assert "P(smoke=yes) is 0.12, worth 50 cases" in text
    assert "is between 0.05 and 0.2" in text
    assert "is 0.1, between 0.05 and 0.2 with 0.9 certainty" in text
    assert "is at most 0.4" in text
    stated = credo.Knowledge(knowledge.network, text)
    assert len(stated) == 4
    assert {each.expert.name for each in stated} == {"heart doctor"}


def test_mistakes_are_named_by_cell(model: Path, tmp_path: Path) -> None:
    knowledge = knowledge_about(model).knowledge
    path = tmp_path / "nurse.csv"
    write_sheet(knowledge, "nurse", path)
    fill(path, {
        ("P(smoke=yes)", "best guess of 100"): "130", ("P(lung=yes | smoke=no)", "at least"): "many",
        ("P(lung=yes | smoke=yes)", "at least"): "30", ("P(lung=yes | smoke=yes)", "at most"): "20",
        ("P(cough=yes | lung=no, smoke=no)", "cases in mind"): "0",
    })  # fmt: skip
    with pytest.raises(credo.DataError) as found:
        read_sheets([path], knowledge)
    lines = str(found.value).splitlines()
    assert lines[0] == "nurse.csv, C2: 130 is not between 0 and 100."
    assert lines[1].startswith("nurse.csv, D3: “many” is not a number.")
    assert lines[2] == "nurse.csv, D4: at least 30 is more than at most 20 in E4."
    assert lines[3].startswith("nurse.csv, F5: 0 cases are none.")
    other = credo.declared_network("variable smoke: no, yes").network
    write_sheet(knowledge, "nurse", path)
    fill(path, {("P(lung=yes | smoke=no)", "at least"): "10"})
    with pytest.raises(credo.DataError, match=r'H3: The network has no variable "lung"'):
        read_sheets([path], credo.Knowledge(other, ""))


@pytest.mark.parametrize(
    ("end", "number", "message"),
    [
        ("at least", "40", "nurse.csv, C2: the best guess 30 is below what it is at least, 40 in D2."),
        ("at most", "20", "nurse.csv, C2: the best guess 30 is above what it is at most, 20 in E2."),
    ],
)
def test_a_guess_outside_of_its_ends_names_the_end(
    model: Path, tmp_path: Path, end: str, number: str, message: str
) -> None:
    path = tmp_path / "nurse.csv"
    write_sheet(knowledge_about(model).knowledge, "nurse", path)
    fill(path, {("P(smoke=yes)", "best guess of 100"): "30", ("P(smoke=yes)", end): number})
    with pytest.raises(credo.DataError) as found:
        read_sheets([path], knowledge_about(model).knowledge)
    assert str(found.value) == message


def test_experts_are_compared_and_pooled(model: Path, tmp_path: Path) -> None:
    knowledge, paths = knowledge_about(model).knowledge, []
    for expert, guess in (("nurse", "10"), ("doctor", "20"), ("student", "60")):
        paths.append(tmp_path / f"{expert}.csv")
        write_sheet(knowledge, expert, paths[-1])
        fill(paths[-1], {("P(smoke=yes)", "best guess of 100"): guess})
    (found,) = agreement(read_sheets(paths, knowledge), knowledge.network)
    assert found.linear == pytest.approx(0.3)
    odds = (1 / 9 * 1 / 4 * 3 / 2) ** (1 / 3)
    assert found.logarithmic == pytest.approx(odds / (1 + odds))
    assert found.farthest == "student"
    assert "student" not in found.sentence(is_anonymous=True)


def test_distributions_are_pooled_as_a_whole() -> None:
    """By hand for two experts and three states; the pools are the distributions that are nearest to all experts."""
    network = credo.Network({"x": ["a", "b", "c"]})
    said = {"Ann": (0.5, 0.3, 0.2), "Bob": (0.2, 0.2, 0.6)}

    def pools(given: dict[str, tuple[float, ...]]) -> tuple[np.ndarray, np.ndarray]:
        answers = [
            SheetAnswer(name, f"P(x={state})", number, None, None, None)
            for name, own in given.items()
            for state, number in zip("abc", own, strict=False)
        ]
        found = sorted(agreement(answers, network), key=lambda each: each.about)
        return np.array([each.linear for each in found]), np.array([each.logarithmic for each in found])

    linear, logarithmic = pools(said)
    roots = np.sqrt([0.5 * 0.2, 0.3 * 0.2, 0.2 * 0.6])
    assert linear == pytest.approx([0.35, 0.25, 0.4])
    assert logarithmic == pytest.approx(roots / roots.sum())
    both = np.array(list(said.values()))

    def nearest(distance: Callable[[np.ndarray], float]) -> np.ndarray:
        found = minimize(lambda x: distance(softmax(x)), np.zeros(3), options={"gtol": 1e-9})
        return np.asarray(softmax(found.x))

    assert linear == pytest.approx(nearest(lambda q: float((both * np.log(both / q)).sum())), abs=1e-5)
    assert logarithmic == pytest.approx(nearest(lambda q: float((q * np.log(q / both)).sum())), abs=1e-5)
    assert pools({name: own[:2] for name, own in said.items()})[1] == pytest.approx(
        logarithmic[:2]
    )  # the rest is known
    likelihood = np.array([0.1, 0.7, 0.4])  # what all of them learn may come before or after the pool
    learned = {name: tuple(np.array(own) * likelihood / (np.array(own) @ likelihood)) for name, own in said.items()}
    assert pools(learned)[1] == pytest.approx(logarithmic * likelihood / (logarithmic @ likelihood))
    assert pools({"Ann": (1.0, 0.0, 0.0), "Bob": (0.2, 0.2, 0.6)})[1] == pytest.approx([1, 0, 0])
    assert np.isnan(pools({"Ann": (1.0, 0.0, 0.0), "Bob": (0.0, 0.4, 0.6)})[1]).all()
    answers = [SheetAnswer(name, "P(x=a)", number, None, None, None) for name, number in (("Ann", 1.0), ("Bob", 0.0))]
    assert "no state left" in agreement(answers, network)[0].sentence()


def test_experts_who_answered_other_states_are_pooled_beside_the_rest() -> None:
    network = credo.Network({"x": ["a", "b", "c", "d"]})
    said = {"Ann": {"a": 0.5, "b": 0.3}, "Bob": {"a": 0.2, "c": 0.4}, "Cyd": {"a": 0.1, "b": 0.6}}
    answers = [
        SheetAnswer(name, f"P(x={state})", number, None, None, None)
        for name, own in said.items()
        for state, number in own.items()
    ]
    found = {each.about: each for each in agreement(answers, network)}
    assert set(found) == {"P(x=a)", "P(x=b)"}
    odds = (0.5 / 0.5 * 0.2 / 0.8 * 0.1 / 0.9) ** (1 / 3)
    assert found["P(x=a)"].logarithmic == pytest.approx(odds / (1 + odds))
    odds = (0.3 / 0.7 * 0.6 / 0.4) ** (1 / 2)
    assert found["P(x=b)"].logarithmic == pytest.approx(odds / (1 + odds))


def test_the_commands(model: Path, tmp_path: Path) -> None:
    run = CliRunner()
    for expert, guess in (("nurse", "10"), ("doctor", "30")):
        done = run.invoke(app, ["sheet", str(model), "--for", expert, "-o", str(tmp_path / f"{expert}.csv")])
        assert done.exit_code == 0, done.output
        assert "13 questions" in done.output
        fill(tmp_path / f"{expert}.csv", {("P(smoke=yes)", "best guess of 100"): guess})
    out = tmp_path / "answers.credo"
    sheets = [str(tmp_path / f"{expert}.csv") for expert in ("nurse", "doctor")]
    done = run.invoke(app, ["read-sheet", str(model), *sheets, "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "10.0% to 30.0% from 2 experts; linear pool 20.0%" in done.output
    fit = credo.fit([model, out], seed=0)
    assert 0.05 <= float(fit.query("P(smoke=yes)")) <= 0.35


def test_answers_about_all_states_are_one_distribution(tmp_path: Path) -> None:
    """All states of three, or all but one; and not where two are missing."""
    text = "variables a, b, c, d: low, medium, high\n"
    knowledge = credo.Knowledge(knowledge_about(text, None, None)[0].network, "")
    write_sheet(knowledge, "Ann", tmp_path / "ann.csv")
    with (tmp_path / "ann.csv").open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    guesses = {"a": (20, 51, 30), "b": (20, 50, ""), "c": (20, "", ""), "d": ("", "", "")}
    for row, guess in zip(rows[1:], [each for own in guesses.values() for each in own], strict=True):
        row[HEADER.index("best guess of 100")] = guess
        row[HEADER.index("cases in mind")] = 40 if guess != "" else ""
    with (tmp_path / "ann.csv").open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows(rows)
    found = statements_of(read_sheets([tmp_path / "ann.csv"], knowledge), knowledge.network).splitlines()
    assert found[1:4] == [
        "    P(a) is 0.19802, 0.50495, 0.29703, worth 40 cases",
        "    P(b) is 0.2, 0.5, 0.3, worth 40 cases",
        "    P(c=low) is 0.2, worth 40 cases",
    ]
    assert len(found) == 4
    assert len(credo.Knowledge(knowledge.network, "\n".join(found)).statements) == 3


def test_an_expert_who_answers_twice_or_more_than_all_is_told_where(model: Path, tmp_path: Path) -> None:
    knowledge = knowledge_about(model).knowledge
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    for path in (first, second):
        write_sheet(knowledge, "nurse", path)
        fill(path, {("P(smoke=yes)", "best guess of 100"): "30"})
    for again in (first, second):
        with pytest.raises(credo.DataError, match=f"{again.name}, A2: nurse answered this in one.csv, C2 already"):
            read_sheets([first, again], knowledge)
    given = {f"P(stage={state} | lung=no)": share for state, share in (("early", "70"), ("middle", "50"))}
    fill(first, {(about, "best guess of 100"): share for about, share in given.items()})
    with pytest.raises(credo.DataError, match="2 states of stage where lung=no are 120 of 100 together"):
        read_sheets([first], knowledge)


def test_a_cell_that_shows_a_percentage_is_one(model: Path, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    knowledge, path = knowledge_about(model).knowledge, tmp_path / "nurse.xlsx"
    write_sheet(knowledge, "nurse", path)
    workbook = openpyxl.load_workbook(path)
    cell = workbook.active["C2"]
    cell.value, cell.number_format = 0.3, "0%"
    workbook.save(path)
    (answer,) = read_sheets([path], knowledge)
    assert answer.guess == pytest.approx(0.3)

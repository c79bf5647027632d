"""An interview: scripted answers, what is written, what moves, and how it goes on after it was interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import credo
from credo.interview import interview, statement_of
from tests.helpers.command_line import run

TEXT = "variables smoke, lung, xray: no, yes\nlung depends on smoke\nxray depends on lung"
NETWORK = credo.Network(
    {"smoke": ["no", "yes"], "lung": ["no", "yes"], "xray": ["no", "yes"]},
    {"lung": ["smoke"], "xray": ["lung"]},
    {"smoke": [0.6, 0.4], "lung": [[0.95, 0.05], [0.8, 0.2]], "xray": [[0.9, 0.1], [0.25, 0.75]]},
)
TARGET = "P(lung=yes | smoke=yes)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "clinic.credo").write_text(TEXT)
    NETWORK.sample(40, seed=1).write_csv(tmp_path / "patients.csv")
    return tmp_path


def hold(folder: Path, answers: list[str], **options: object) -> tuple[credo.interview.Interview, str]:
    lines: Iterator[str] = iter(answers)
    shown: list[str] = []

    def ask(prompt: str) -> str:
        found = next(lines, None)
        if found is None:
            raise EOFError
        return found

    given = {"target": TARGET, "is_certain": True, **options}
    ended = interview(
        folder / "clinic.credo", folder / "patients.csv", "cardiologist", ask=ask, show=shown.append, **given
    )  # type: ignore[arg-type]
    return ended, "\n".join(shown)


def test_an_answer_is_written_and_narrows_the_interval(folder: Path) -> None:
    before = credo.fit(folder / "clinic.credo", folder / "patients.csv").query(TARGET)
    ended, shown = hold(folder, ["why?", "15 to 25"])
    assert ended.answers == 1
    assert "Out of 100 cases with smoke = yes, how many have lung = yes?" in shown
    assert "If the answer is “" in shown
    text = (folder / "clinic.credo").read_text()
    assert text == f"{TEXT}\nP(lung=yes | smoke=yes) is between 0.15 and 0.25  # cardiologist\n"
    after = credo.fit(folder / "clinic.credo", folder / "patients.csv").query(TARGET)
    assert after.interval[1] - after.interval[0] < before.interval[1] - before.interval[0]
    assert str(after) in shown
    assert "The interval is narrower by" in shown
    assert "More would not matter" in shown or "There is nothing left to ask" in shown


def test_what_is_not_known_or_put_off_and_going_on_later(folder: Path) -> None:
    first, shown = hold(folder, ["I don't know.", "later"], target="P(xray=yes)")
    question, put_off = [line for line in shown.splitlines() if line.endswith("?")][:2]
    assert first.reason == "It was stopped."
    text = (folder / "clinic.credo").read_text()
    assert f"# cardiologist does not know: {question}\n" in text
    _, shown = hold(folder, ["stop"], target="P(xray=yes)")
    assert question not in shown
    assert put_off in shown


def test_a_contradiction_is_named_and_not_written(folder: Path) -> None:
    path = folder / "clinic.credo"
    path.write_text(f"{TEXT}\nP(lung=yes | smoke=yes) <= 30%\n")
    ended, shown = hold(folder, ["60 to 70", "stop"])
    assert ended.answers == 0
    assert "it was not written" in shown
    assert path.read_text() == f"{TEXT}\nP(lung=yes | smoke=yes) <= 30%\n"


def test_an_answer_that_the_data_speak_against_is_written_with_a_remark(folder: Path) -> None:
    NETWORK.sample(2000, seed=1).write_csv(folder / "patients.csv")
    _, shown = hold(folder, ["90", "stop"], is_certain=False, enough=0.001)
    assert "Written: P(lung=yes | smoke=yes) is about 0.9\nIt does not fit with the rest: it is true with" in shown


def test_answers_are_read_as_people_write_them(folder: Path) -> None:
    fit = credo.fit(folder / "clinic.credo", NETWORK.sample(5, seed=1))  # so few that nothing is certain
    questions = {each.kind: each for each in fit.next_questions("P(xray=yes)", count=100).questions}
    number = questions["number"]
    for words, ending in (
        ("12", "is about 0.12"),
        ("12%", "is about 0.12"),
        ("about 12 %", "is about 0.12"),
        ("0.5", "is about 0.005"),
        ("1 in 20", "is about 0.05"),
        ("5 to 20", "is between 0.05 and 0.2"),
        ("5%-20%", "is between 0.05 and 0.2"),
        ("between 5 and 20", "is between 0.05 and 0.2"),
        ("7,5 to 10", "is between 0.075 and 0.1"),
    ):
        assert statement_of(number, words) == f"{number.about} {ending}"
        credo.Knowledge(fit.network, f"{number.about} {ending}")
    for words in ("many", "120", "20 to 5", "", "5 to", "-3", f"{'9' * 400} in {'9' * 400}"):
        assert statement_of(number, words) is None
    influence = questions["influence"]
    assert statement_of(influence, "1") == influence.about
    assert statement_of(influence, "more likely") == influence.about
    assert statement_of(influence, "less") == influence.about.replace("raises", "lowers")
    assert statement_of(influence, "neither") == ""
    assert statement_of(influence, "4") is None


def test_how_sure_somebody_is_becomes_a_confidence(folder: Path) -> None:
    _, shown = hold(folder, ["15 to 25, 80% sure"], is_certain=False, most=1)
    assert "how sure you are" in shown
    line = "expert cardiologist: P(lung=yes | smoke=yes) is between 0.15 and 0.25 with confidence 0.8\n"
    assert line in (folder / "clinic.credo").read_text()


def test_a_gate_is_asked_for_and_written_as_what_the_variable_is(tmp_path: Path) -> None:
    (tmp_path / "clinic.credo").write_text("variables a, b, top: no, yes\ntop depends on a, b\n")
    rows = [(a, b, "yes" if "yes" in (a, b) else "no") for a in ("no", "yes") for b in ("no", "yes")] * 3
    pl.DataFrame(rows, schema=["a", "b", "top"], orient="row").write_csv(tmp_path / "patients.csv")
    fit = credo.fit(tmp_path / "clinic.credo", tmp_path / "patients.csv")
    gates = [each for each in fit.next_questions("P(top=yes)", count=100).questions if each.kind == "gate"]
    assert [each.about for each in gates] == ["top is a gate of a, b"]
    others = [each.text for each in fit.next_questions("P(top=yes)", count=100).questions if each.kind != "gate"]
    ended = interview(
        tmp_path / "clinic.credo",
        tmp_path / "patients.csv",
        "engineer",
        "P(top=yes)",
        ask=lambda prompt: "1",
        show=lambda text: None,
        most=1,
        enough=1e-6,
        skip=others,
    )
    assert ended.answers == 1
    assert "top is or of a, b  # engineer\n" in (tmp_path / "clinic.credo").read_text()


def test_the_command_writes_with_the_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["15 to 25"])

    def typed(prompt: str = "") -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", typed)
    options = ("--for", TARGET, "--expert", "Dr. House", "-n", "1")
    done = run("interview", "clinic.credo", "patients.csv", *options, folder=folder)
    assert done.returncode == 0, done.stderr
    written = (folder / "clinic.credo").read_text()
    assert 'expert "Dr. House": P(lung=yes | smoke=yes) is between 0.15 and 0.25\n' in written
    assert "1 question had been allowed. 1 answer is in the text." in done.stdout
    wrong = run("interview", "patients.csv", folder=folder)
    assert "is not knowledge (.credo)" in wrong.stderr


def test_an_interview_can_be_about_what_to_do(folder: Path) -> None:
    ill = credo.fit(folder / "clinic.credo", folder / "patients.csv").query("P(lung=yes | xray=yes)").probability
    lines = f"utility of lung=yes, treat=no is -100\nutility of treat=yes is -{100 * ill:.1f}"  # as good as not to
    text = f"{TEXT}\ndecision treat: no, yes\n{lines}\n"
    (folder / "clinic.credo").write_text(text)
    ended, shown = hold(folder, ["why", "60 to 90"], target="treat | xray=yes", most=1)
    assert ended.answers == 1
    assert "Now: Given xray=yes, treat=" in shown
    assert "would be best, by" in shown
    assert "because the probabilities are not known is" in shown

"""One text file and one table are enough: in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import credo
from tests.helpers.command_line import run

SENTENCES = """\
# Heart attacks within ten years
outcome depends on age, bp
age: young < 40 <= middle < 60 <= old
bp is cut at 130
age raises outcome
bp raises outcome
P(outcome=1 | age=young, each bp) <= 10%
P(age >= 60) is at most 60%
"""
ROWS = [(31, 118.0, 0), (36, 133.5, 0), (44, 121.5, 0), (52, 140.0, 1), (58, 128.0, 0), (66, 151.0, 1), (71, 129.0, 0)]
COMPLETE = "id,age,bp,outcome\n" + "".join(f"p{n},{a},{b},{o}\n" for n, (a, b, o) in enumerate(ROWS * 4))
QUESTION = "P(outcome=1 | age=54, bp=133.5)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "patients.credo").write_text(SENTENCES, encoding="utf-8")
    (tmp_path / "patients.csv").write_text(COMPLETE + "p99,54,,1\np100,,133.5,0\n", encoding="utf-8")
    (tmp_path / "complete.csv").write_text(COMPLETE, encoding="utf-8")
    return tmp_path


def test_a_file_and_a_table_in_python(folder: Path) -> None:
    fit = credo.fit(folder / "patients.credo", folder / "complete.csv")
    answer = fit.query(QUESTION)
    low, high = answer.interval
    assert 0 <= low < float(answer) < high <= 1
    assert str(answer).startswith("P(outcome=1 | age=middle, bp=130+) = ")
    assert fit.network.name == "patients"
    said = [str(finding) for finding in fit.findings]
    assert said[:2] == [
        "outcome has the states 0, 1, the values in the table.",
        "Columns not used, because the knowledge does not mention them: id.",
    ]
    predicted = fit.predict({"age": 54, "bp": 133.5})
    assert predicted.filter(state="1")["probability"][0] == pytest.approx(float(answer))


def test_a_saved_fit_keeps_the_declarations(folder: Path) -> None:
    fit = credo.fit(folder / "patients.credo", folder / "complete.csv", method="cmap")
    fit.save(folder / "patients.fit")
    again = credo.load(folder / "patients.fit")
    assert again.knowledge == fit.knowledge
    assert again.knowledge.declarations[0].span == fit.knowledge.declarations[0].span
    assert again.network == fit.network


def test_rows_with_missing_values_are_used_unless_complete_rows_are_asked_for(folder: Path) -> None:
    fit = credo.fit(str(folder / "patients.credo"), folder / "patients.csv")
    low, high = fit.query(QUESTION).interval
    assert (fit.rows, 0 <= low < high <= 1) == (30, True)
    single = credo.fit(str(folder / "patients.credo"), folder / "patients.csv", method="cmap")
    assert str(single.query(QUESTION)).splitlines()[-1].startswith("There is no interval: the method cmap gives one")
    complete = credo.fit(
        folder / "patients.credo", folder / "patients.csv", em=credo.EMOptions(complete_rows=True), method="cmap"
    )
    assert complete.rows == 28
    message = "2 of 30 rows were left out, as requested, because values are missing (age, bp)."
    assert any(str(finding).startswith(message) for finding in complete.findings)


def test_text_and_a_frame_give_the_same_as_a_network_of_the_same_structure(folder: Path) -> None:
    frame = pl.read_csv(folder / "complete.csv")
    one = credo.fit(SENTENCES, frame, method="cmap")
    network = credo.declared_network(SENTENCES, data=frame).network
    two = credo.fit(network, frame, SENTENCES, method="cmap")
    assert one.network == two.network
    assert one.knowledge.statements == two.knowledge.statements
    more = credo.fit(SENTENCES, frame, "P(outcome=1 | age=old, each bp) >= 90%", method="cmap")
    assert float(more.query("P(outcome=1 | age=old)")) == pytest.approx(0.9, abs=1e-6)


def test_a_network_that_disagrees_is_named_with_the_line() -> None:
    network = credo.Network({"outcome": ["0", "1"], "age": ["young", "middle", "old"], "bp": ["<130", "130+"]})
    with pytest.raises(credo.KnowledgeError, match="network outcome depends on nothing, by the") as caught:
        credo.fit(network, pl.DataFrame({"age": [1], "bp": [1], "outcome": [1]}), SENTENCES)
    assert caught.value.mistakes[0].line == 2


def test_check_without_and_with_data(folder: Path) -> None:
    declared = SENTENCES + "variable outcome: 0, 1\n"
    found = credo.check(declared)
    assert found.feasible
    assert not found.with_data
    found = credo.check(folder / "patients.credo", data=folder / "patients.csv")
    assert found.from_table[0] == "outcome has the states 0, 1, the values in the table."
    assert "Taken from the table" in str(found)
    with pytest.raises(credo.KnowledgeError, match="The states of outcome are not known"):
        credo.check(SENTENCES)
    with pytest.raises(credo.OptionError, match="no knowledge to check"):
        credo.check(credo.Network({"a": ["x"]}))


# The command line -----------------------------------------------------------------------------------------------------


def test_learn_takes_the_file_alone(folder: Path) -> None:
    done = run("learn", "patients.credo", "complete.csv", "--out", "learned.bif", "--ask", QUESTION, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "patients: the probabilities of 3 variables were learned from 28 rows of data" in done.stdout
    assert "outcome has the states 0, 1, the values in the table." in done.stdout
    assert "Columns not used, because the knowledge does not mention them: id." in done.stdout.replace("\n", " ")
    assert "95% interval" in done.stdout.splitlines()[0]
    learned = credo.read_network(folder / "learned.bif")
    assert learned.parents["outcome"] == ("age", "bp")
    assert learned.variable("age").cuts == credo.CutPoints((40, 60))
    done = run("query", "learned.bif", QUESTION, folder=folder)
    assert done.stdout.startswith("P(outcome=1 | age=middle, bp=130+) = ")


def test_a_table_with_decimal_commas(folder: Path) -> None:
    other = COMPLETE.replace(",", ";").replace(".", ",")
    (folder / "other.csv").write_text(other, encoding="utf-8")
    done = run(
        "learn", "patients.credo", "other.csv", "--separator", ";", "--decimal", ",", "--complete-rows", "-m", "map",
        "--json", folder=folder,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    usual = run("learn", "patients.credo", "complete.csv", "-m", "map", "--json", folder=folder)
    assert json.loads(done.stdout)["cpts"] == json.loads(usual.stdout)["cpts"]


def test_answers_are_in_the_json(folder: Path) -> None:
    done = run("learn", "patients.credo", "complete.csv", "-m", "map", "--ask", QUESTION, "--json", folder=folder)
    result = json.loads(done.stdout)
    assert result["answers"][0]["query"] == "P(outcome=1 | age=middle, bp=130+)"


def test_check_and_show_take_the_file_alone(folder: Path) -> None:
    done = run("check", "patients.credo", "--data", "patients.csv", folder=folder)
    assert done.returncode == 0
    assert "outcome has the states 0, 1, the values in the table." in done.stdout
    done = run("check", "patients.credo", folder=folder)
    assert done.returncode == 2
    assert "Write, for instance, variable outcome: no, yes; or give the table." in done.stderr
    done = run("show", "patients.credo", "--data", "patients.csv", folder=folder)
    assert "age: young, middle, old; cut at 40, 60" in done.stdout
    done = run("query", "patients.credo", QUESTION, folder=folder)
    assert done.returncode == 2


def test_a_conflict_is_drawn_without_a_network(folder: Path) -> None:
    conflict = SENTENCES + "P(outcome=1 | age=young, each bp) >= 20%\n"
    (folder / "patients.credo").write_text(conflict, encoding="utf-8")
    done = run("learn", "patients.credo", "patients.csv", "--report", "report.html", folder=folder)
    assert done.returncode == 3
    assert "A picture of it is in report.html" in done.stderr
    assert "cannot all hold" in (folder / "report.html").read_text(encoding="utf-8")

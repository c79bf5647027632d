"""What the command line says and saves after a mistake: questions, names of files, and arguments in the wrong place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import credo
from credo import Network
from tests.helpers.command_line import run
from tests.helpers.texts import one_line

NETWORK = Network(
    {"smoker": ["no", "yes"], "outcome": ["no", "yes"]},
    parents={"outcome": ["smoker"]},
    cpts={"smoker": [0.6, 0.4], "outcome": [[1.0, 0.0], [0.5, 0.5]]},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    credo.write_network(NETWORK, tmp_path / "net.bif")
    rows = {"id": [7, 8, 9, 10], "smoker": ["no", "no", "yes", "yes"], "outcome": ["no", "no", "yes", "no"]}
    pl.DataFrame(rows).write_csv(tmp_path / "patients.csv")
    (tmp_path / "first.credo").write_text("P(outcome=yes | smoker=no) <= 10%\n")
    (tmp_path / "second.credo").write_text("P(outcome=yes | smoker=yes) >= 60%\n")
    (tmp_path / "own.credo").write_text("outcome depends on smoker\nP(smoker=yes) <= 90%\n")
    return tmp_path


def test_several_knowledge_files_are_all_used(folder: Path) -> None:
    files = ("-k", "first.credo", "-k", "second.credo")
    done = run("learn", "net.bif", "patients.csv", *files, "-m", "cmap", "-o", "out.bif", folder=folder)
    assert "and 2 statements." in one_line(done.stdout)
    learned = credo.read_network(folder / "out.bif").cpts["outcome"]
    assert learned[0, 1] <= 0.1 + 1e-9
    assert learned[1, 1] >= 0.6 - 1e-9


@pytest.mark.parametrize("network", ["net.bif", "own.credo"])
def test_a_question_with_a_mistake_is_found_before_the_work(folder: Path, network: str) -> None:
    done = run("learn", network, "patients.csv", "-m", "ml", "--ask", "P(outcom=yes)", "-o", "out.bif", folder=folder)
    assert done.returncode != 0
    assert "outcom" in done.stderr
    assert done.stdout == ""
    assert not (folder / "out.bif").exists()


def test_a_question_without_an_answer_loses_no_result(folder: Path) -> None:
    asked = ("--ask", "P(smoker=yes | outcome=yes)", "--ask", "P(outcome=yes | smoker=no)")
    targets = ("-o", "out.bif", "--report", "out.html", "--save", "out.fit")
    pl.DataFrame({"smoker": ["no", "yes"], "outcome": ["no", "no"]}).write_csv(folder / "none.csv")
    done = run("learn", "net.bif", "none.csv", "-m", "ml", *targets, *asked, folder=folder)
    assert done.returncode != 0
    assert "were learned from" in done.stdout
    assert done.stdout.startswith("P(outcome=yes | smoker=no) = ")  # answers come first
    assert all((folder / name).exists() for name in ("out.bif", "out.html", "out.fit"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("sample", "net.bif", "-o", "rows.xlsx"),
        ("predict", "net.bif", "patients.csv", "-t", "outcome", "-o", "rows.parquet"),
        ("learn", "net.bif", "patients.csv", "--report", "page.pdf"),
        ("check", "net.bif", "first.credo", "--report", "page.pdf"),
    ],
)
def test_names_that_promise_another_format_are_refused(folder: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, folder=folder)
    assert done.returncode != 0
    known = ".html or .htm" if arguments[-1].endswith("pdf") else ".csv or .txt"
    assert f"has to end in {known}, not in {Path(arguments[-1]).suffix}" in done.stderr
    assert not (folder / arguments[-1]).exists()


def test_reports_from_python_refuse_such_names_too(tmp_path: Path) -> None:
    fit = credo.fit(NETWORK, pl.DataFrame({"smoker": ["no"], "outcome": ["no"]}), method="ml")
    for result in (fit, credo.check(NETWORK, "P(smoker=yes) <= 0.5")):
        with pytest.raises(credo.FormatError, match=r"end in \.html or \.htm"):
            result.report(tmp_path / "report.pdf")


def test_a_table_in_the_place_of_knowledge_is_taken_as_data(folder: Path) -> None:
    as_data = run("check", "own.credo", "--data", "patients.csv", folder=folder)
    assert as_data.returncode == 0
    assert run("check", "own.credo", "patients.csv", folder=folder).stdout == as_data.stdout
    done = run("check", "net.bif", "patients.csv", folder=folder)
    assert done.stderr == "credo: patients.csv is a table, not knowledge: give it as --data patients.csv.\n"


def test_messages_say_what_to_write_on_the_command_line(folder: Path) -> None:
    (folder / "know.doc").write_text("outcome depends on smoker\n")
    assert "has a name that ends in .credo" in run("learn", "know.doc", "patients.csv", folder=folder).stderr
    assert "--target outcome" in run("predict", "net.bif", "patients.csv", folder=folder).stderr
    assert "credo check net.bif knowledge.credo" in run("check", "net.bif", folder=folder).stderr
    warned = run("convert", "net.bif", "net.uai", folder=folder).stderr
    assert "A saved fit (.fit) keeps everything." in warned
    assert "pickle" not in warned
    assert "BIF" not in warned
    credo.fit(NETWORK, folder / "patients.csv", method="ml").save(folder / "own.fit")
    shown = run("show", "own.fit", folder=folder).stdout
    assert "were learned from 4 rows" in shown
    assert "fit." not in shown.replace("own.fit", "")


def test_predictions_have_the_number_of_their_row_and_six_decimals(folder: Path) -> None:
    third = Network(NETWORK.variables, NETWORK.parents, {**NETWORK.cpts, "outcome": [[2 / 3, 1 / 3], [0.5, 0.5]]})
    credo.write_network(third, folder / "third.bif")
    arguments = ("predict", "third.bif", "patients.csv", "-t", "outcome")
    done = run(*arguments, folder=folder)
    assert done.stdout.splitlines()[:2] == ["row,outcome=no,outcome=yes", "1,0.666667,0.333333"]
    run(*arguments, "-o", "out.csv", folder=folder)
    assert (folder / "out.csv").read_text().splitlines() == done.stdout.splitlines()
    first = json.loads(run(*arguments, "--json", folder=folder).stdout)[0]
    assert first["row"] == 1
    assert first["outcome=no"] == pytest.approx(2 / 3, abs=1e-12)


def test_small_probabilities_are_not_printed_as_zero(folder: Path) -> None:
    rare = Network({"rare": ["no", "yes"]}, cpts={"rare": [1 - 0.00095, 0.00095]})
    credo.write_network(rare, folder / "rare.bif")
    assert "P(rare=yes) = 0.095%" in run("query", "rare.bif", "P(rare=yes)", folder=folder).stdout
    pl.DataFrame({"rare": ["no"] * 9_990 + ["yes"] * 10}).write_csv(folder / "rare.csv")
    done = run("learn", "rare.bif", "rare.csv", folder=folder)
    assert re.search(r"0\.001\d \[0\.000\d\d, 0\.00\d\d\]", done.stdout)
    assert "[0.00," not in done.stdout


def test_learn_without_arguments_says_what_is_missing(folder: Path) -> None:
    done = run("learn", folder=folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Missing argument" in done.stderr


def test_doubt_stands_alone_or_before_a_share(folder: Path) -> None:
    done = run("learn", "net.bif", "patients.csv", "-k", "first.credo", "--doubt=often", folder=folder)
    assert done.returncode == 2
    assert done.stderr == (
        "credo: --doubt stands alone or before a share such as 0.1 or 10%; here it is before 'often'.\n"
    )
    done = run("learn", "net.bif", "patients.csv", "-k", "first.credo", "--trust", "90%", folder=folder)
    assert done.returncode == 2
    assert "write --doubt 10% where it was --trust 90%" in " ".join(done.stderr.split())
    few = ("--draws", "100", "--json")
    alone = run("learn", "--doubt", "net.bif", "patients.csv", "-k", "first.credo", *few, folder=folder)
    assert not json.loads(alone.stdout)["experts"][0]["is_given"]
    doubted = run("learn", "net.bif", "patients.csv", "-k", "first.credo", "--doubt", "10%", *few, folder=folder)
    content = json.loads(doubted.stdout)
    assert content["statements"][0]["believed"] == 0.9
    assert content["experts"][0]["is_given"]


def test_the_table_before_the_model(folder: Path) -> None:
    done = run("learn", "patients.csv", "own.credo", folder=folder)
    assert "The model comes before the table: credo learn own.credo patients.csv" in one_line(done.stderr)


def test_evidence_in_the_place_of_a_table(folder: Path) -> None:
    run("learn", "own.credo", "patients.csv", "--save", "own.fit", folder=folder)
    done = run("decide", "own.fit", "smoker=yes", folder=folder)
    assert 'What is known is given by an option: --given "smoker=yes"' in one_line(done.stderr)

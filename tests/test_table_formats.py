"""A declared dialect, given to every function and command that reads a table, gives what the ordinary file gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from openpyxl import Workbook
from typer.testing import CliRunner

import credo
from credo.cli.app import app

NETWORK = credo.Network(
    {"fumée": ["no", "yes"], "dose": ["0.5", "1.5"]},
    {"dose": ["fumée"]},
    {"fumée": [0.5, 0.5], "dose": [[0.75, 0.25], [0.25, 0.75]]},
)
ROWS = [["no", "0.5"], ["no", "0.5"], ["yes", "1.5"], ["yes", "0.5"]]
KNOWLEDGE = "P(dose=1.5 | fumée=yes) >= 30%\n"
FRENCH = credo.TableFormat(separator=";", decimal=",", encoding="latin-1")
OPTIONS = ["--separator", ";", "--decimal", ",", "--encoding", "latin-1"]


@pytest.fixture
def usual(tmp_path: Path) -> Path:
    path = tmp_path / "usual.csv"
    path.write_text("fumée,dose\n" + "".join(f"{a},{b}\n" for a, b in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def french(tmp_path: Path) -> Path:
    path = tmp_path / "french.csv"
    path.write_bytes(("fumée;dose\n" + "".join(f"{a};{b}\n" for a, b in ROWS).replace(".", ",")).encode("latin-1"))
    return path


@pytest.fixture
def sheets(tmp_path: Path) -> Path:
    book, path = Workbook(), tmp_path / "sheets.xlsx"
    for title, rows in (("Patients", ROWS), ("Controls", ROWS[:1])):
        sheet = book.create_sheet(title)
        for row in (["fumée", "dose"], *([a, float(b)] for a, b in rows)):
            sheet.append(row)
    book.save(path)
    return path


def test_every_function(usual: Path, french: Path) -> None:
    fit = credo.fit(NETWORK, french, KNOWLEDGE, method="ml", table_format=FRENCH)
    assert fit.log_likelihood == credo.fit(NETWORK, usual, KNOWLEDGE, method="ml").log_likelihood
    found = credo.check(NETWORK, KNOWLEDGE, data=french, table_format=FRENCH)
    expected = credo.check(NETWORK, KNOWLEDGE, data=usual)
    assert found.statements[0].plausibility == expected.statements[0].plausibility
    assert fit.predict(french, "dose", table_format=FRENCH).equals(fit.predict(usual, "dose"))
    assert NETWORK.predict(french, "dose", table_format=FRENCH).equals(NETWORK.predict(usual, "dose"))
    assert NETWORK.log_likelihood(french, table_format=FRENCH) == NETWORK.log_likelihood(usual)
    assert credo.read_table(NETWORK, french, table_format=FRENCH).codes.tolist() == [[0, 0], [0, 0], [1, 1], [1, 0]]
    with pytest.raises(credo.OptionError, match="this is one case"):
        fit.predict({"fumée": "no"}, "dose", table_format=FRENCH)


def test_a_network_of_a_table(usual: Path, french: Path, sheets: Path) -> None:
    expected = credo.Network.from_data(usual, edges=[("fumée", "dose")])
    assert credo.Network.from_data(french, edges=[("fumée", "dose")], table_format=FRENCH) == expected
    patients = credo.TableFormat(sheet="Patients")
    assert credo.Network.from_data(sheets, edges=[("fumée", "dose")], table_format=patients) == expected
    found = credo.network_from_table(french, parents={"dose": ["fumée"]}, table_format=FRENCH)
    assert found.network == expected


def test_clusters(french: Path) -> None:
    found = credo.cluster(french, 2, table_format=FRENCH, em=credo.EMOptions(starts=1, max_iterations=5))
    assert found.fit.network.states("dose") == ("0.5", "1.5")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    network, knowledge = tmp_path / "network.bif", tmp_path / "notes.credo"
    credo.write_network(NETWORK, network)
    knowledge.write_text(KNOWLEDGE, encoding="utf-8")
    return network, knowledge


def run(*arguments: object) -> object:
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    if isinstance(found, dict):
        found.pop("seconds", None)
    return found


def test_every_command(files: tuple[Path, Path], usual: Path, french: Path, sheets: Path) -> None:
    network, knowledge = files
    learned = run("learn", network, usual, "-m", "ml")
    assert run("learn", network, french, "-m", "ml", *OPTIONS) == learned
    assert run("learn", network, sheets, "-m", "ml", "--sheet", "Patients") == learned
    checked = run("check", network, knowledge, "-d", usual)
    assert run("check", network, knowledge, "-d", french, *OPTIONS) == checked
    assert run("check", network, knowledge, "-d", sheets, "--sheet", "Patients") == checked
    predicted = run("predict", network, usual, "-t", "dose")
    assert run("predict", network, french, "-t", "dose", *OPTIONS) == predicted
    assert run("predict", network, sheets, "-t", "dose", "--sheet", "Patients") == predicted


def test_a_tab_can_be_typed(files: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "tabs.txt"
    path.write_text("fumée\tdose\nno\t1.5\n", encoding="utf-8")
    expected = run("predict", files[0], path, "-t", "dose")
    for tab in ("tab", "\\t", "\t"):
        assert run("predict", files[0], path, "-t", "dose", "--separator", tab) == expected


def test_the_command_line_says_what_to_type(files: tuple[Path, Path], french: Path, tmp_path: Path) -> None:
    similar = tmp_path / "similar.csv"
    similar.write_text("Fumée,dose\nno,0.5\n", encoding="utf-8")
    for path, words in ((french, "--encoding latin-1"), (similar, '"Fumée" is similar to the variable "fumée"')):
        done = CliRunner().invoke(app, ["learn", str(files[0]), str(path)])
        assert isinstance(done.exception, credo.DataError)
        assert words in str(done.exception)

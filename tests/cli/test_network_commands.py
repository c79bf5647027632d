"""The commands about a network that is there."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import credo
from credo.cli.app import app

NETWORK = credo.Network(
    {"smoke": ["no", "yes"], "lung": ["no", "yes"], "xray": ["clear", "shadow"]},
    {"lung": ["smoke"], "xray": ["lung"]},
    {"smoke": [0.6, 0.4], "lung": [[0.95, 0.05], [0.8, 0.2]], "xray": [[0.9, 0.1], [0.25, 0.75]]},
    name="clinic",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.bif"
    credo.write_network(NETWORK, path)
    return path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_query(file: Path) -> None:
    assert "P(lung=yes | smoke=yes) = 20.0%" in run("query", file, "P(lung=yes | smoke=yes)")
    found = json.loads(run("query", file, "P(xray=shadow | do(lung=yes))", "--json"))
    assert found["answers"][0]["probability"] == pytest.approx(0.75)


def test_predict_to_a_file_and_to_a_pipe(file: Path, tmp_path: Path) -> None:
    table, out = tmp_path / "patients.csv", tmp_path / "predicted.csv"
    table.write_text("smoke,xray\nyes,\nno,shadow\n")
    assert "2 predictions" in run("predict", file, table, "-o", out)
    found = pl.read_csv(out)
    assert found["lung=yes"][0] == pytest.approx(0.2)
    assert run("predict", file, table).splitlines()[0] == "row,lung=no,lung=yes"
    (first, _) = json.loads(run("predict", file, table, "-t", "xray", "--json"))
    assert first["xray=shadow"] == pytest.approx(0.8 * 0.1 + 0.2 * 0.75)


def test_show(file: Path) -> None:
    assert "lung: no, yes; parents: smoke" in run("show", file)
    shown = run("show", file, "lung")
    assert "lung=yes" in shown
    assert "0.05" in shown
    assert json.loads(run("show", file, "lung", "--json"))["variables"]["lung"]["parents"] == ["smoke"]


def test_convert_and_compare(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "clinic.xmlbif"
    run("convert", file, other)
    assert "the same CPTs" in run("compare", file, other)
    changed = tmp_path / "changed.bif"
    credo.write_network(NETWORK.with_cpts({"smoke": [0.5, 0.5]}), changed)
    assert "smoke" in run("compare", file, changed)
    assert json.loads(run("compare", file, changed, "--json"))["families"][0]["variable"] == "smoke"


def test_sample(file: Path, tmp_path: Path) -> None:
    assert len(run("sample", file, "-n", 5).splitlines()) == 6
    assert run("sample", file, "-n", 5, "--seed", 1) == run("sample", file, "-n", 5, "--seed", 1)
    run("sample", file, "-n", 3, "-o", tmp_path / "rows.csv")
    assert len(pl.read_csv(tmp_path / "rows.csv")) == 3


def test_mistakes_are_errors_of_credo(file: Path) -> None:
    for arguments in (["query", file, "P(lnug=yes)"], ["show", file, "lnug"], ["compare", file, "missing.bif"]):
        with pytest.raises(credo.CredoError):
            run(*arguments)


def test_show_prints_cut_points(tmp_path: Path) -> None:
    path = tmp_path / "ages.bif"
    age = credo.Variable("age", ("<40", "40-60", "60+"), credo.CutPoints((40, 60), 18.5, 90))
    credo.write_network(credo.Network([age], cpts={"age": [0.2, 0.3, 0.5]}), path)
    assert "age: <40, 40-60, 60+; cut at 40, 60" in run("show", path)
    assert "age: <40, 40-60, 60+; cut at 40, 60 (numbers seen: from 18.5 to 90); parents: none" in run(
        "show", path, "age"
    )
    shown = json.loads(run("show", path, "--json"))["variables"]["age"]
    assert shown["cuts"] == {"points": [40.0, 60.0], "lowest": 18.5, "highest": 90.0}
    assert "P(age=40-60) = 30.0%" in run("query", path, "P(age=54)")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    credo.write_network(NETWORK.without_cpts(), folder / "clinic.bif")
    NETWORK.sample(50, seed=1).write_csv(folder / "rows.csv")
    out = run("learn", folder / "clinic.bif", folder / "rows.csv", "--save", folder / "model.fit")
    assert "The fit is in" in out
    return folder / "model.fit"


def test_a_saved_fit_answers_with_intervals(saved: Path, tmp_path: Path) -> None:
    fit = credo.load(saved)
    assert "95% interval" in run("query", saved, "P(lung=yes | smoke=yes)")
    assert run("query", saved, "P(lung=yes)") == f"{fit.query('P(lung=yes)')}\n"
    table = tmp_path / "patients.csv"
    table.write_text("smoke,xray\nyes,\nno,shadow\n")
    assert "lung=yes low" in run("predict", saved, table).splitlines()[0]


def test_a_saved_fit_is_shown_converted_and_compared(saved: Path, tmp_path: Path) -> None:
    assert "Method: posterior" in run("show", saved)
    assert "high" in run("show", saved, "lung")
    learned = tmp_path / "learned.bif"
    run("convert", saved, learned)
    assert "the same CPTs" in run("compare", saved, learned)
    assert len(run("sample", saved, "-n", 5).splitlines()) == 6


def test_where_a_saved_fit_is_no_network_the_error_says_what_to_do(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(credo.FormatError, match="names a saved fit, not a network"):
        credo.read_network(saved)
    with pytest.raises(credo.FormatError, match=r"ends in \.fit"):
        run("learn", saved.with_name("clinic.bif"), saved.with_name("rows.csv"), "--save", tmp_path / "model.bif")

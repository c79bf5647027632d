"""`credo start`: a first model of a table, which learns as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from tests.helpers.command_line import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    sick = rng.random(200) < 0.4
    frame = pl.DataFrame(
        {
            "patient_id": range(1, 201),
            "Age (years)": np.where(rng.random(200) < 0.03, -999, rng.integers(20, 80, 200) + 5 * sick),
            "severity": np.array(["low", "high", "medium"])[rng.integers(0, 3, 200)],
            "fever": np.where(rng.random(200) < 0.2 + 0.6 * sick, "yes", "no"),
            "clinic": ["north"] * 200,
            "outcome": np.where(sick, "sick", "well"),
        }
    )
    frame.write_csv(tmp_path / "patients.csv")
    return tmp_path


def test_a_first_model_says_what_was_guessed_and_learns(folder: Path) -> None:
    done = run("start", "patients.csv", "--target", "outcome", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "credo learn patients.credo patients.csv" in done.stdout
    text = (folder / "patients.credo").read_text()
    assert "as identifiers do: patient_id." in text
    assert "the same value: clinic." in text
    assert "-999 in Age (years)" in text
    assert "variable severity: low, medium, high  # this order was guessed" in text
    assert '"Age (years)" depends on outcome' in text
    with pytest.warns(credo.errors.MissingCodeWarning, match="-999 in 4 rows"):
        fit = credo.fit(folder / "patients.credo", folder / "patients.csv", method="cmap")
    assert fit.network.parents["fever"] == ("outcome",)
    assert "patient_id" not in fit.network.names
    again = run("start", "patients.csv", folder=folder)
    assert again.returncode != 0
    assert "patients.credo is there already. Name another file with --out." in again.stderr


def test_tiers_are_respected_by_what_is_proposed(folder: Path) -> None:
    pytest.importorskip("pyagrum")
    for tiers, forbidden in (
        ("outcome before fever", "# outcome depends on fever"),
        ("fever before outcome", "# fever depends on outcome"),
    ):
        done = run("start", "patients.csv", "--tiers", tiers, "--out", "t.credo", folder=folder)
        assert done.returncode == 0, done.stderr
        text = (folder / "t.credo").read_text()
        (folder / "t.credo").unlink()
        assert "Arrows that the data suggest" in text
        assert forbidden not in text
        assert ("# fever depends on outcome" in text) != ("# outcome depends on fever" in text)


def test_a_target_with_one_value_is_refused(folder: Path) -> None:
    done = run("start", "patients.csv", "--target", "clinic", folder=folder)
    assert "clinic is north in every row: nothing can be learned" in done.stderr


def test_a_table_alone_points_to_start(folder: Path) -> None:
    assert "credo start patients.csv" in run("learn", "patients.csv", folder=folder).stderr


def test_sensitivity_on_the_command_line(folder: Path) -> None:
    (folder / "m.credo").write_text(
        "variables fever: no, yes\nvariable outcome: well, sick\nfever depends on outcome\n"
    )
    assert run("learn", "m.credo", "patients.csv", "--save", "m.fit", "--method", "cmap", folder=folder).returncode == 0
    done = run("sensitivity", "m.fit", "P(outcome=sick | fever=yes)", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "P(outcome=sick | fever=yes) = " in done.stdout
    assert "Without this evidence it would be:" in done.stdout
    assert '"parameters"' in run("sensitivity", "m.fit", "P(outcome=sick)", "--json", folder=folder).stdout
    assert "neither a saved fit nor a network" in run("sensitivity", "m.credo", "P(outcome=sick)", folder=folder).stderr

"""Several tables, and globs of CSV files, are learned from as if their rows were in one table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from tests.helpers.command_line import run

ARROWS = "lung depends on smoke\n"
FIRST = pl.DataFrame({"smoke": ["no", "yes", "yes"], "lung": ["no", "no", "yes"]})
SECOND = pl.DataFrame({"smoke": ["no", "no"], "lung": ["no", "unclear"]})


def test_rows_are_learned_together_and_states_gathered_from_all() -> None:
    both = credo.fit(ARROWS, [FIRST, SECOND])
    one = credo.fit(ARROWS, pl.concat([FIRST, SECOND]))
    assert both.network == one.network
    assert both.network.states("lung") == ("no", "unclear", "yes")
    assert both.rows == 5


def test_a_column_that_one_table_lacks_is_missing_there() -> None:
    wide = SECOND.with_columns(xray=pl.Series(["no", "yes"]))
    text = ARROWS + "xray depends on lung\n"
    both = credo.fit(text, [FIRST, wide], method="cmap")
    one = credo.fit(text, pl.concat([FIRST, wide], how="diagonal"), method="cmap")
    assert both.network == one.network
    other_way = credo.fit(text, [wide, FIRST], method="cmap")
    assert np.allclose(other_way.network.cpts["lung"], one.network.cpts["lung"])
    assert not any("hidden" in finding.kind for finding in both.findings)


def test_numbers_in_one_table_and_words_in_another() -> None:
    first = pl.DataFrame({"dose": [1, 2, 2], "lung": ["no", "no", "yes"]})
    second = pl.DataFrame({"dose": ["1", "none"], "lung": ["no", "no"]})
    with pytest.warns(credo.errors.MissingCodeWarning, match="“none” in 1 row"):
        fit = credo.fit("lung depends on dose\n", [first, second], method="ml")
    assert set(fit.network.states("dose")) == {"1", "2", "none"}


def test_weights_are_a_column_of_each_table() -> None:
    first, second = (table.with_columns(n=pl.lit(2)) for table in (FIRST, SECOND))
    fit = credo.fit(ARROWS, [first, second], weights="n", method="ml")
    assert fit.counts_array("smoke").sum() == 10.0
    with pytest.raises(credo.OptionError, match="weights of several tables"):
        credo.fit(ARROWS, [first, second], weights=[1, 1, 1, 1, 1])


def test_missing_value_codes_and_complete_rows() -> None:
    text = ARROWS + "missing values: unclear\n"
    fit = credo.fit(text, [FIRST, SECOND], em=credo.EMOptions(complete_rows=True), method="ml")
    assert fit.rows == 4


def test_files_and_globs_on_the_command_line(tmp_path: Path) -> None:
    FIRST.write_csv(tmp_path / "a.csv")
    SECOND.write_csv(tmp_path / "b.csv")
    (tmp_path / "k.credo").write_text(ARROWS)
    listed = run("learn", "k.credo", "a.csv", "b.csv", "--ask", "P(lung=unclear)", folder=tmp_path)
    matched = run("learn", "k.credo", "*.csv", "--ask", "P(lung=unclear)", folder=tmp_path)
    assert listed.returncode == matched.returncode == 0
    assert "5 rows of data" in listed.stdout
    assert listed.stdout.splitlines()[-1] == matched.stdout.splitlines()[-1]


def test_a_wrong_value_is_reported_with_its_file(tmp_path: Path) -> None:
    FIRST.write_csv(tmp_path / "a.csv")
    SECOND.write_csv(tmp_path / "b.csv")
    text = "variables smoke, lung: no, yes\nlung depends on smoke\n"
    with pytest.raises(credo.DataError, match="unclear") as raised:
        credo.fit(text, [tmp_path / "a.csv", tmp_path / "b.csv"])
    assert "b.csv" in str(raised.value)


def test_an_empty_list_is_a_mistake() -> None:
    with pytest.raises(credo.OptionError, match="give no table"):
        credo.fit(ARROWS, [])

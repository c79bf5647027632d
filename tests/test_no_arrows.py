"""Variables without arrows, and columns that are one column, are said."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import credo

ROWS = pl.DataFrame({"a": ["no", "yes"] * 5, "b": ["no", "no", "yes", "no", "yes"] * 2, "c": ["no", "yes"] * 5})


def test_a_variable_without_arrows_is_a_finding() -> None:
    fit = credo.fit("variables a, b, c: no, yes\nb depends on a", ROWS, method="cml")
    (finding,) = [str(each) for each in fit.findings if each.kind == "no arrows"]
    assert finding.startswith("No arrow leads to or from c: what is known there says nothing")
    assert "P(a | c) is P(a)" in finding
    fit = credo.fit("variables a, b, c: no, yes\nb depends on a, c", ROWS, method="cml")
    assert all(each.kind != "no arrows" for each in fit.findings)


def test_bars_between_cells_are_suggested(tmp_path: Path) -> None:
    ROWS.write_csv(tmp_path / "t.csv", separator="|")
    with pytest.raises(credo.DataError, match=r'one column, a\|b\|c, .* --separator "\|"'):
        credo.fit("b depends on a", tmp_path / "t.csv")
    declared = credo.TableFormat(separator="|")
    assert credo.fit("b depends on a", tmp_path / "t.csv", table_format=declared, method="cml").rows == 10

"""Complete rows: whatever means a missing value in a table leaves its row out, and a finding says so."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import credo
from credo.io.complete_rows import complete_rows


def test_rows_with_a_missing_value_are_left_out() -> None:
    frame = pl.DataFrame(
        {"a": ["x", None, "y", "NA", "x"], "b": [1.0, 2.0, float("nan"), 4.0, 5.0], "c": [1, 2, 3, 4, None]}
    )
    found = complete_rows(frame, ["a", "b", "hidden"])
    assert found.frame["c"].to_list() == [1, None]
    assert str(found.findings[0]).startswith(
        "3 of 5 rows were left out, as requested, because values are missing (a, b)."
    )
    assert complete_rows(frame, ["hidden"]).findings == ()


def test_files_and_other_frames(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\nx,1\n,2\nx,\ny,?\ny,5\n", encoding="utf-8")
    read = credo.fit(
        credo.Network({"a": ["x", "y"], "b": ["1", "2", "5"]}),
        path,
        em=credo.EMOptions(complete_rows=True),
        method="ml",
    )
    assert read.rows == 2
    mixed = pd.DataFrame({"a": ["x", None, "y", 3], "b": [True, False, True, None]})
    assert len(complete_rows(mixed, ["a", "b"]).frame) == 2


def test_no_complete_row_is_an_error() -> None:
    with pytest.raises(credo.DataError, match="No row is complete: in each a value of a, b is missing"):
        complete_rows(pl.DataFrame({"a": ["x", None], "b": [None, "y"]}), ["a", "b"])


def test_rows_that_are_meant_by_number_are_refused() -> None:
    network = credo.Network({"a": ["x", "y"]})
    frame = pl.DataFrame({"a": ["x", None, "y"]})
    with pytest.raises(credo.OptionError, match="name of a column"):
        credo.fit(network, frame, weights=[1, 1, 1], em=credo.EMOptions(complete_rows=True))
    with pytest.raises(credo.OptionError, match="by their numbers"):
        credo.fit(network, frame, "rows 1, 2 share a", em=credo.EMOptions(complete_rows=True))

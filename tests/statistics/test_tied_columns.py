"""Which rows a column ties: what is missing in it ties none, however the table writes it."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import credo
from credo import read_table
from credo.statistics.tied_columns import tie_values

NETWORK = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
ROWS = {"a": ["n", "y", "n", "y", None, None], "b": ["n", "y", "n", "y", "y", "n"]}


@pytest.mark.parametrize("missing", [None, "", " ", "NA", "NaN", "?"])
@pytest.mark.parametrize("reader", ["polars", "pandas", "csv"])
def test_missing_values_of_a_column_tie_no_rows(missing: str | None, reader: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({**ROWS, "g": ["1", "2", "1", "2 ", missing, missing]})
    data: object = frame
    if reader == "pandas":
        data = pd.DataFrame(frame.to_dict(as_series=False))
    elif reader == "csv":
        data = tmp_path / "rows.csv"
        frame.write_csv(tmp_path / "rows.csv")
    rows, values = tie_values(read_table(NETWORK, data, others=("g",)), "g")
    assert rows.tolist() == [0, 1, 2, 3]
    assert values == ["1", "2", "1", "2"]


def test_numbers_that_are_not_numbers_tie_no_rows() -> None:
    frame = pl.DataFrame({**ROWS, "g": [1.0, 2.0, 1.0, 2.0, math.nan, math.nan]})
    assert tie_values(read_table(NETWORK, frame, others=("g",)), "g")[0].tolist() == [0, 1, 2, 3]
    with_null = frame.with_columns(pl.col("g").fill_nan(None))
    one, two = (credo.fit(NETWORK, each, "rows with equal g share a", method="cml") for each in (frame, with_null))
    assert one.cpt("a").equals(two.cpt("a"))
    assert one.cll == two.cll


def test_times_that_differ_by_nanoseconds_tie_no_rows() -> None:
    frame = pl.DataFrame({"a": ["n", "y"], "g": pl.Series([100, 200]).cast(pl.Duration("ns"))})
    assert len(set(tie_values(read_table(NETWORK, frame, others=("g",)), "g")[1])) == 2


def test_a_column_without_values_to_compare_is_an_error() -> None:
    frame = pl.DataFrame({**ROWS, "g": [[1]] * 6})
    with pytest.raises(credo.DataError, match="Column g holds values of the type List"):
        credo.fit(NETWORK, frame, "rows with equal g share a", method="cml")


@pytest.mark.parametrize("method", ["cml", "posterior"])
def test_rows_are_tied_by_a_column_of_the_network(method: str) -> None:
    rows = {"a": ["n", None, "y", None, None, "y"], "b": ["n", "n", "y", "y", None, "y"]}
    by_variable = credo.fit(NETWORK, pl.DataFrame(rows), "rows with equal b share a", method=method)
    copied = pl.DataFrame({**rows, "g": rows["b"]})
    by_copy = credo.fit(NETWORK, copied, "rows with equal g share a", method=method)
    for name in NETWORK.names:
        assert by_variable.cpt(name).equals(by_copy.cpt(name))
    assert by_variable.cll == by_copy.cll
    dataset = read_table(NETWORK, pl.DataFrame(rows))
    assert credo.fit(NETWORK, dataset, "rows with equal b share a", method=method).cpt("a").equals(by_copy.cpt("a"))

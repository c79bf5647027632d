"""The columns of the table for a page: how often each value occurs, what is missing, what may be a code; its rows."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import OptionError
from credo.io.categories import read_frame
from credo.studio.scored_table import as_json
from credo.studio.table import OpenTable
from credo.types import Numbers

if TYPE_CHECKING:
    import polars as pl

MOST_COLUMNS = 1_000
MOST_VALUES = 30  # of a column that are counted one by one
BINS = 30
PAGE = 50  # rows
CODES = (-1.0, -9.0, -99.0, -999.0, -9999.0, 9.0, 99.0, 999.0, 9999.0, 8888.0)  # that people write for "not known"
FAR = 3.0  # ranges of the middle half of a column beyond which a number may be a code


def columns_data(table: OpenTable) -> dict[str, Any]:
    """What each column holds."""
    frame = read_frame(table.columns())
    return {
        "rows": len(frame),
        "columns": [_column(frame.get_column(name)) for name in frame.columns[:MOST_COLUMNS]],
    }


def rows_data(table: OpenTable, request: Mapping[str, Any]) -> dict[str, Any]:
    """Some rows of the table, from a number on, which counts from 1."""
    start = request.get("start", 1)
    if not isinstance(start, int) or isinstance(start, bool) or start < 1:
        raise OptionError("Rows are counted from 1.")
    frame = read_frame(table.columns())
    part = frame.slice(start - 1, PAGE)
    return {
        "start": start,
        "total": len(frame),
        "columns": part.columns[:MOST_COLUMNS],
        "rows": [[as_json(cell) for cell in row[:MOST_COLUMNS]] for row in part.iter_rows()],
    }


def _column(column: pl.Series) -> dict[str, Any]:
    texts = column.drop_nulls().cast(str, strict=False)
    texts = texts.filter(texts.str.strip_chars() != "")
    found: dict[str, Any] = {"name": column.name, "missing": len(column) - len(texts), "distinct": texts.n_unique()}
    numbers = texts.cast(float, strict=False)
    if len(numbers) and numbers.null_count() == 0 and found["distinct"] > 2:
        values = numbers.to_numpy()
        if np.isfinite(values).all():
            return {**found, **_numbers(values)}
    counts = texts.value_counts(sort=True).head(MOST_VALUES)
    return {**found, "values": [[str(value), int(count)] for value, count in counts.iter_rows()]}


def _numbers(values: Numbers) -> dict[str, Any]:
    """A histogram, which leaves out what may be a code."""
    codes = _codes(values)
    usual = values[~np.isin(values, codes)] if codes else values
    distinct = np.unique(usual)
    bins = min(BINS, max(1, len(distinct)))
    counts, edges = np.histogram(usual, bins=bins)
    return {
        "edges": [round(float(edge), 10) for edge in edges],
        "counts": counts.tolist(),
        "codes": [[float(code), int((values == code).sum())] for code in codes],
    }


def _codes(values: Numbers) -> list[float]:
    """Numbers far from all others that people write for values that are missing."""
    low, high = np.quantile(values, [0.25, 0.75])
    spread = max(high - low, 1e-12)
    return [
        code
        for code in CODES
        if isfinite(spread) and (values == code).any() and (code < low - FAR * spread or code > high + FAR * spread)
    ]

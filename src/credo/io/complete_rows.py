"""The rows of a table in which no value of a variable is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from credo.errors import DataError, listing
from credo.findings import Finding
from credo.io.categories import read_frame
from credo.io.columns import MISSING_TEXTS
from credo.io.tables import is_missing
from credo.types import TableLike

if TYPE_CHECKING:
    import polars as pl


class CompleteRows(NamedTuple):
    """The complete rows, and what a user should know about the others."""

    frame: pl.DataFrame
    findings: tuple[Finding, ...]


def complete_rows(table: TableLike, names: Iterable[str]) -> CompleteRows:
    """The rows in which no column of these names has a missing value; names without a column do not count.

    Raises
    ------
    DataError
        If there is no such row.
    """
    frame = read_frame(table)
    rows = len(frame)
    columns = [name for name in names if name in frame.columns]
    missing = {name: _missing(frame[name]) for name in columns}
    gaps = [name for name in columns if missing[name].any()]
    if not gaps:
        return CompleteRows(frame, ())
    any_missing = missing[gaps[0]]
    for name in gaps[1:]:
        any_missing = any_missing | missing[name]
    complete = frame.filter(~any_missing)
    return CompleteRows(complete, rows_left_out(rows - len(complete), len(complete), gaps))


def rows_left_out(count: int, kept: int, gaps: Sequence[str]) -> tuple[Finding, ...]:
    """The finding that rows were left out because values of these columns are missing; none where no row was."""
    if not count:
        return ()
    if not kept:
        raise DataError(f"No row is complete: in each a value of {listing(gaps)} is missing.")
    message = (
        f"{count:,} of {count + kept:,} rows {'was' if count == 1 else 'were'} left out, as asked, because values are "
        f"missing ({listing(gaps)}). Where values are missing for a reason, such rows differ from the others."
    )
    return (Finding("rows left out", message),)


def _missing(column: pl.Series) -> pl.Series:
    """Where a column has no value, as tables are read: empty, NaN, or a word for it."""
    import polars as pl

    if column.dtype == pl.Object:
        return pl.Series([is_missing(value) or str(value).strip() in MISSING_TEXTS for value in column.to_list()])
    found = column.is_null()
    if column.dtype.is_float():
        return found | column.is_nan().fill_null(value=True)
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return found
    texts = column.cast(pl.String, strict=False).str.strip_chars()
    return found | texts.is_in(list(MISSING_TEXTS)).fill_null(value=True)

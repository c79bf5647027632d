"""Which values of a table are missing, and the rows in which none is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from credo.errors import DataError, listing
from credo.findings import Finding
from credo.io.categories import read_frame
from credo.io.columns import MISSING_TEXTS
from credo.io.tables import is_missing
from credo.types import TableLike

if TYPE_CHECKING:
    import polars as pl

MISSING_VALUES = "missing values"  # the kind of the finding


def missing_value_findings(missing: Mapping[str, int], rows: int) -> list[Finding]:
    """The finding that says in how many rows each variable is missing, the most first; none where none is."""
    ordered = sorted((name for name in missing if missing[name]), key=lambda name: -missing[name])
    if not ordered:
        return []
    first, *others = ordered
    parts = [f"{first} is missing in {missing[first]:,} of {rows:,} rows"]
    parts += [f"{name} in {missing[name]:,}" for name in others]
    return [Finding(MISSING_VALUES, f"{listing(parts)}.")]


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
    incomplete = [name for name in columns if missing[name].any()]
    if not incomplete:
        return CompleteRows(frame, ())
    any_missing = missing[incomplete[0]]
    for name in incomplete[1:]:
        any_missing = any_missing | missing[name]
    complete = frame.filter(~any_missing)
    return CompleteRows(complete, rows_left_out(rows - len(complete), len(complete), incomplete))


def rows_left_out(count: int, kept: int, incomplete: Sequence[str]) -> tuple[Finding, ...]:
    """The finding that rows were left out because values of these columns are missing; none where no row was."""
    if not count:
        return ()
    if not kept:
        raise DataError(f"No row is complete: in each a value of {listing(incomplete)} is missing.")
    message = (
        f"{count:,} of {count + kept:,} rows {'was' if count == 1 else 'were'} left out, as requested, because values "
        f"are missing ({listing(incomplete)}). Where values are missing for a reason, such rows differ from the others."
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

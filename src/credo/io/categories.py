"""Tables without a network: each column becomes a variable, its distinct values the states."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.errors import DataError, FileError, MissingColumnError
from credo.io.columns import MISSING_TEXTS, checked_values, no_rows, number_of, require_distinct, text_of
from credo.io.csv import read_csv_texts
from credo.io.dataset import Tables
from credo.io.dialects import format_of
from credo.io.excel import read_sheet, texts_of
from credo.io.files import unreadable
from credo.io.forks import require_queries
from credo.io.parquet import parquet_errors, scan_parquet
from credo.io.tables import as_polars, collected, header_of, lazy_errors, narwhals_frame, table_kind
from credo.model.network import Variable
from credo.model.state_texts import plain
from credo.options import TableFormat
from credo.types import TableLike

if TYPE_CHECKING:
    import polars as pl

# Different whole numbers, and numbers with fractions, in a column that can still be meant as categories.
MOST_NUMBERS, MOST_FRACTIONS = 50, 10


Choose = Callable[[Sequence[str]], Sequence[str]]


def read_frame(source: TableLike, choose: Choose | None = None) -> pl.DataFrame:
    """A table as polars: from a file (CSV, Parquet, Excel), a folder of Parquet files, or a frame of any library.

    `choose` takes the columns to read out of all their names.
    """
    import narwhals as nw
    import polars as pl

    if isinstance(source, Tables):
        return _frame_of_tables(source.unread, choose)
    if isinstance(source, str | os.PathLike):
        frame = _frame_of_path(Path(source), choose, format_of(source))
    else:
        eager = nw.to_native(source, pass_through=True)
        if isinstance(eager, pl.LazyFrame):
            require_queries("A LazyFrame")
            with lazy_errors():
                eager = (eager if choose is None else eager.select(choose(eager.collect_schema().names()))).collect()
        if (header := header_of(eager)) is not None:  # before narwhals, whose message for a duplicate is its own
            require_distinct(header)
        whole = collected(narwhals_frame(eager))
        names = whole.columns if choose is None else choose(whole.columns)
        frame = as_polars({name: whole[name] for name in names})
    if not len(frame):
        raise no_rows(source)
    return frame


def _frame_of_tables(tables: Sequence[TableLike], choose: Choose | None) -> pl.DataFrame:
    """The rows of several tables as one frame; a column that one of them does not have is missing there."""
    import polars as pl

    frames = [read_frame(table) for table in tables]
    header = list(dict.fromkeys(name for frame in frames for name in frame.columns))
    wanted = header if choose is None else list(choose(header))
    frames = [frame.select([name for name in wanted if name in frame.columns]) for frame in frames]
    for name in wanted:  # numbers in one table, words in another
        if len({frame.schema[name] for frame in frames if name in frame.columns}) > 1:
            frames = [_as_texts(frame, name) for frame in frames]
    return pl.concat(frames, how="diagonal")


def _as_texts(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    import polars as pl

    if name not in frame.columns or frame.schema[name] == pl.String:
        return frame
    texts = [None if value is None else text_of(plain(value)) for value in frame[name].to_list()]
    return frame.with_columns(pl.Series(name, texts, dtype=pl.String))


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories that a frame itself declares for a column, and whether it calls their order one."""

    states: tuple[str, ...]
    is_ordered: bool


def declared_categories(source: TableLike | pl.DataFrame) -> dict[str, Categories]:
    """The categories of the columns of a frame that declare them: `Categorical` of pandas and `Enum` of polars.

    A `Categorical` of polars declares nothing: it keeps what it has met. Words for missing values are not states.
    """
    import polars as pl

    if isinstance(source, Tables):
        first, *others = (declared_categories(table) for table in source.unread)
        return first if all(each == first for each in others) else {}
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        with lazy_errors():
            kinds = source.collect_schema().items()
        return {name: _categories(kind.categories, True) for name, kind in kinds if isinstance(kind, pl.Enum)}
    dtypes = getattr(source, "dtypes", None)
    if not hasattr(dtypes, "items"):  # of pandas, where it is a series by the names of the columns
        return {}
    found: dict[str, Categories] = {}
    for name, kind in dtypes.items():  # type: ignore[union-attr]
        categories, is_ordered = getattr(kind, "categories", None), getattr(kind, "ordered", None)
        if categories is not None and isinstance(is_ordered, bool):
            found[str(name)] = _categories(categories, is_ordered)
    return found


def _categories(values: Any, is_ordered: bool) -> Categories:
    texts = dict.fromkeys(text_of(plain(value)).strip() for value in values)
    return Categories(tuple(text for text in texts if text not in MISSING_TEXTS), is_ordered)


def variables_of(frame: pl.DataFrame, without: Sequence[str] = ()) -> tuple[Variable, ...]:
    """A variable for each column except those `without`; states are sorted, as numbers if all are.

    Columns without a value are an error, and columns of so many different numbers that they are measurements.
    """
    for name in without:
        if name not in frame.columns:
            raise MissingColumnError(name, frame.columns)
    return tuple(Variable(name, _states(frame[name])) for name in frame.columns if name not in without)


def texts_in(column: pl.Series) -> set[str]:
    """The different values of a column as texts, without those for missing values."""
    import polars as pl

    column = checked_values(column)
    values = column.to_list() if column.dtype == pl.Object else column.drop_nulls().unique().to_list()
    return {text_of(value).strip() for value in values if value is not None and value == value} - MISSING_TEXTS


def _states(column: pl.Series) -> tuple[str, ...]:
    texts = texts_in(column)
    if not texts:
        raise DataError(f"Column {column.name} holds no value at all. Leave it out.")
    numbers = {text: number for text in texts if (number := number_of(text)) is not None}
    if len(numbers) == len(texts):
        is_measured = not all(number.is_integer() for number in numbers.values())
        if len(texts) > (MOST_FRACTIONS if is_measured else MOST_NUMBERS):
            raise DataError(
                f"Column {column.name} holds {len(texts)} different numbers, but features are categories. Cut it into "
                f'a few ranges first, for example with polars: pl.col("{column.name}").qcut(4); or leave it out.'
            )
        return tuple(sorted(texts, key=lambda text: (numbers[text], text)))
    return tuple(sorted(texts))


def _frame_of_path(path: Path, choose: Choose | None, table_format: TableFormat) -> pl.DataFrame:
    import polars as pl

    kind = table_kind(path, table_format)
    require_queries(str(path))
    try:
        if kind == "Parquet":
            with parquet_errors(path):
                lazy = scan_parquet(path)
                return (lazy if choose is None else lazy.select(choose(lazy.collect_schema().names()))).collect()
        if kind == "Excel":
            columns = read_sheet(path, choose or (lambda header: header), table_format)
            return pl.DataFrame([texts_of(name, values, (), table_format.decimal) for name, values in columns.items()])
        return read_csv_texts(path, choose, table_format)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unreadable(path, error) from None

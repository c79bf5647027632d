"""A table that no network describes: each column becomes a variable, its distinct values the states."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.errors import DataError, MissingColumnError
from credo.io.columns import no_rows
from credo.io.csv import read_header, unpacked
from credo.io.states import MISSING_TEXTS, number_of, text_of
from credo.io.tables import CSV_ENDINGS, PARQUET_ENDINGS, as_polars
from credo.model.names import first_duplicate
from credo.model.network import Variable

if TYPE_CHECKING:
    import polars as pl

MOST_NUMBERS = 50  # different numbers in a column that can still be meant as categories


def read_frame(source: Any) -> pl.DataFrame:
    """A whole table as polars: of a path (CSV, Parquet, a folder of Parquet files), or of a frame of any library."""
    import narwhals as nw
    import polars as pl

    if isinstance(source, str | Path):
        frame = _frame_of_path(Path(source))
    else:
        source = source.collect() if isinstance(source, pl.LazyFrame) else source
        header = getattr(source, "column_names", None) or getattr(source, "columns", None)
        if header is not None:  # before narwhals, whose words for a column that stands twice are its own
            if (twice := first_duplicate([str(name) for name in header])) is not None:
                raise DataError(f'The table has two columns named "{twice}": rename or remove one of them.')
            if hasattr(source, "rename") and not all(isinstance(name, str) for name in header):
                source = source.rename(columns=str)
        try:
            native = nw.from_native(source)
        except TypeError:
            raise DataError(
                f"A table is a path or a frame of pandas, polars, pyarrow, …; {type(source).__name__} is neither."
            ) from None
        frame = as_polars(native.collect() if isinstance(native, nw.LazyFrame) else native)
    if not len(frame):
        raise no_rows()
    return frame


def variables_of(frame: pl.DataFrame, without: Sequence[str] = ()) -> tuple[Variable, ...]:
    """A variable for each column but those `without`; numbers in the order of their size, other values by their text.

    Refused are columns without a value, and columns of so many different numbers that they are measured, not named.
    """
    for name in without:
        if name not in frame.columns:
            raise MissingColumnError(name, frame.columns)
    return tuple(Variable(name, _states(frame[name])) for name in frame.columns if name not in without)


def _states(column: pl.Series) -> tuple[str, ...]:
    import polars as pl

    if column.dtype.is_nested() or column.dtype == pl.Binary:
        raise DataError(
            f"Column {column.name} holds values of the type {column.dtype}, where texts or numbers are expected."
        )
    values = column.to_list() if column.dtype == pl.Object else column.drop_nulls().unique().to_list()
    texts = {text_of(value).strip() for value in values if value is not None and value == value}
    texts -= MISSING_TEXTS
    if not texts:
        raise DataError(f"Column {column.name} holds no value at all. Leave it out.")
    numbers = {text: number for text in texts if (number := number_of(text)) is not None}
    if len(numbers) == len(texts):
        if len(texts) > MOST_NUMBERS:
            raise DataError(
                f"Column {column.name} holds {len(texts)} different numbers, but features are categories. Cut it into "
                f'a few ranges first, for example with polars: pl.col("{column.name}").qcut(4); or leave it out.'
            )
        return tuple(sorted(texts, key=lambda text: (numbers[text], text)))
    return tuple(sorted(texts))


def _frame_of_path(path: Path) -> pl.DataFrame:
    import polars as pl

    name = path.name.lower()
    if not path.exists():
        raise DataError(f"There is no file {path}.")
    try:
        if path.is_dir():
            files = sorted(file for ending in PARQUET_ENDINGS for file in path.rglob(f"*{ending}"))
            if not files:
                raise DataError(f"The folder {path} holds no Parquet files.")
            return pl.read_parquet(files)
        if name.endswith(PARQUET_ENDINGS):
            return pl.read_parquet(path)
        if name.endswith(CSV_ENDINGS):
            with path.open("rb") as raw, unpacked(raw, path) as file:
                header, separator = read_header(file.readline(), path, ())
            if (twice := first_duplicate(header)) is not None:
                raise DataError(f'The table has two columns named "{twice}": rename or remove one of them.')
            frame = pl.read_csv(path, separator=separator, infer_schema=False, encoding="utf8-lossy")
            return frame.rename(dict(zip(frame.columns, header, strict=True)))
    except (pl.exceptions.PolarsError, OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    known = ", ".join((*CSV_ENDINGS, *PARQUET_ENDINGS))
    raise DataError(f"{path}: the kind of table is told by the file's ending, one of {known}, or a folder of Parquet.")

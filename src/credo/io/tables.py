"""Tables of data: a path or a frame becomes a `Dataset`, at once or part by part. No row is dropped."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import (
    ROWS_FROM_1,
    CredoError,
    DataError,
    FileError,
    MissingFileError,
    NetworkError,
    OptionError,
    UnknownStateError,
    counted,
    is_text,
    listing,
)
from credo.io.columns import NO_COLUMNS, Columns, match_columns, no_rows, no_weight, text_of
from credo.io.dataset import Dataset, Tables, checked_weights, concatenate, fitting
from credo.io.dialects import USUAL, DeclaredTable, declaration, declared, format_of, has_decimal_comma, require_only
from credo.io.excel import EXCEL_ENDINGS, read_sheet, rows_as_in_excel, texts_of
from credo.io.files import require_file, unreadable
from credo.io.forks import has_queries, require_queries
from credo.io.frames import encode, encode_looked_up, looked_up
from credo.io.parquet import PARQUET_ENDINGS, parquet_errors, scan_parquet
from credo.model.network import Network
from credo.options import TableFormat
from credo.progress import READING_DATA, ProgressListener, shares_of
from credo.types import FrameLike, Numbers, Progress, TableLike, Weights

if TYPE_CHECKING:
    import polars as pl

BATCH_ROWS = 250_000
CSV_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
OTHER_SPREADSHEETS = (".xls", ".xlsb", ".ods")
# How polars words an error of the system: the name of the file is in its message alone.
_SYSTEM_ERROR = re.compile(r"(?P<reason>.*) \(os error \d+\): (?P<path>.+?)(?: \(set POLARS_.*)?$")


def read_table(
    network: Network,
    data: TableLike,
    *,
    weights: Weights | None = None,
    others: Sequence[str] = (),
    table_format: TableFormat | None = None,
    progress: ProgressListener | None = None,
) -> Dataset:
    """Read a table of data into memory, as state numbers of a network.

    Columns are matched with variables, and values with states, by name; `1.0` is read as the state `1`. Empty cells and
    `?`, `*`, `NA`, `NaN`, `null` are missing values, unless the variable has such a state. Variables without a column
    are hidden. In messages, as in statements, rows are counted from 1: row 1 is the first row of data, whatever index a
    frame has.

    Parameters
    ----------
    network : Network
        The network.
    data : path, frame or Dataset
        A CSV, Parquet or Excel file, a folder of Parquet files, a frame of pandas, polars, pyarrow or any other
        library that narwhals reads, or a `Dataset`.
    weights : str or array_like, optional
        How often each row counts: the name of a column, or one number per row.
    others : sequence of str, optional
        Further columns to keep, such as one that ties rows together.
    table_format : TableFormat, optional
        How the file is written, where it is not as usual: its separator, decimal mark, encoding or sheet.
    progress : callable, optional
        A function that receives a `ProgressEvent` at every step.

    Returns
    -------
    Dataset
        The rows as state numbers.

    Raises
    ------
    UnknownStateError
        If a value is not a state of its variable.
    MissingColumnError
        If a column of `others` or `weights` is not in the table.
    MissingFileError
        If there is no such file.
    DataError
        If no column is a variable of the network, the name of one differs from a variable only in case, blanks,
        underscores or hyphens, or there are no rows.

    Examples
    --------
    >>> import polars as pl
    >>> network = Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})
    >>> rows = read_table(network, pl.DataFrame({"smoke": ["yes", "no", None]}))
    >>> rows.codes.tolist()
    [[1, -1], [0, -1], [-1, -1]]
    >>> rows.hidden
    ('lung',)
    """
    table = declared(data, table_format)
    shares = None if progress is None else shares_of(READING_DATA, progress)
    return concatenate(list(stream_table(network, table, weights=weights, others=others, progress=shares)))


def stream_table(
    network: Network,
    source: TableLike,
    *,
    weights: Weights | None = None,
    others: Sequence[str] = (),
    progress: Progress | None = None,
) -> Iterator[Dataset]:
    """The table as datasets that follow each other; a file is never held in memory completely."""
    if not isinstance(network, Network):
        raise NetworkError(
            f"The network comes first, then the data: here the network is a {type(network).__name__}. "
            "read_network reads one from a file."
        )
    if isinstance(source, Tables):
        yield from _stream_tables(network, source, weights, others, progress)
        return
    weight_column = weights if isinstance(weights, str) else None
    if weight_column is not None and weight_column in network:
        raise DataError(f"The column {weight_column} cannot hold the weights: it is a variable of the network.")
    wanted = (*others, weight_column) if weight_column is not None else tuple(others)
    rows, weight = 0, 0.0
    is_weighted = weights is not None
    for part in _parts(network, source, wanted, progress):
        if weight_column is not None:
            part = weighted(part, weight_column, rows)
        elif weights is not None:
            own = np.asarray(weights)[rows : rows + len(part)] if np.ndim(weights) == 1 else weights
            part = replace(part, weights=checked_weights(own, len(part), rows))
        rows += len(part)
        if part.weights is not None:
            is_weighted, weight = True, weight + float(part.weights.sum())
        yield part
    if rows == 0 and not isinstance(source, Dataset):
        raise no_rows(source)
    if is_weighted and rows and weight == 0.0:
        raise no_weight()
    if weights is not None and weight_column is None and (count := np.size(weights)) != rows:
        raise DataError(
            f"The table has {counted(rows, 'row')}, but there are {counted(count, 'weight')}: one weight per "
            "row is needed."
        )


def _stream_tables(
    network: Network, tables: Tables, weights: Weights | None, others: Sequence[str], progress: Progress | None
) -> Iterator[Dataset]:
    """Tables one after the other; rows that were read before have their weights already."""
    if weights is not None and not isinstance(weights, str) and len(tables.unread) > 1:
        raise OptionError("The weights of several tables are the name of a column, not an array.")
    for each in tables.sources:
        if isinstance(each, Dataset):
            yield fitting(each, network)
        else:
            yield from _named(each, stream_table(network, each, weights=weights, others=others, progress=progress))


def _named(table: TableLike, parts: Iterator[Dataset]) -> Iterator[Dataset]:
    """The parts of one of several tables; a value that is not a state is reported with the name of its file."""
    try:
        yield from parts
    except UnknownStateError as error:
        if isinstance(table, str | os.PathLike) and os.fspath(table) not in str(error):
            raise UnknownStateError(f"{os.fspath(table)}: {error}") from None
        raise


def weighted(part: Dataset, column: str, rows_before: int) -> Dataset:
    """The part of a table with the weights that one of its columns holds."""
    return replace(part, weights=_weights_from(part.others[column], rows_before))


def _parts(network: Network, source: TableLike, others: Sequence[str], progress: Progress | None) -> Iterator[Dataset]:
    if isinstance(source, Dataset):
        yield checked_dataset(network, source, others)
    elif isinstance(source, str | os.PathLike):
        yield from _parts_of_path(network, Path(source), others, progress, format_of(source))
    else:
        yield from _parts_of_frame(network, source, others)


def checked_dataset(network: Network, dataset: Dataset, others: Sequence[str]) -> Dataset:
    """The dataset with the states of a network, if it has these other columns."""
    missing = [name for name in others if name not in dataset.others and name not in dataset.names]
    if missing and len(dataset):
        raise DataError(
            f'The dataset was read without the column "{missing[0]}": read it with others=("{missing[0]}",).'
        )
    return fitting(dataset, network)


def _parts_of_path(
    network: Network, path: Path, others: Sequence[str], progress: Progress | None, table_format: TableFormat
) -> Iterator[Dataset]:
    kind = table_kind(path, table_format)
    try:
        if kind == "Parquet":
            yield from _parts_of_parquet(network, path, others, progress)
        elif kind == "Excel":
            yield _part_of_excel(network, path, others, table_format)
        else:
            from credo.io.csv import stream_csv

            yield from stream_csv(path, network, others, progress, table_format)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unreadable(path, error) from None


def is_table_file(path: Path) -> bool:
    """Whether a name is that of a table; one that ends in .txt may be knowledge as well."""
    name = path.name.lower()
    return name.endswith((*CSV_ENDINGS, *PARQUET_ENDINGS, *EXCEL_ENDINGS)) and not name.endswith(".txt")


def table_kind(path: Path, table_format: TableFormat = USUAL) -> str:
    """Whether a table is Parquet, Excel or CSV, by its ending; what is declared must fit."""
    require_file(path, "table", folder_allowed=True)
    name = path.name.lower()
    if path.is_dir() or name.endswith(PARQUET_ENDINGS):
        require_only(table_format, (), path, "a Parquet file")
        return "Parquet"
    if name.endswith(EXCEL_ENDINGS):
        require_only(table_format, ("sheet", "decimal"), path, "an Excel file")
        return "Excel"
    if name.endswith(CSV_ENDINGS):
        require_only(table_format, ("separator", "decimal", "encoding"), path, "a CSV file")
        return "CSV"
    raise unknown_ending(path)


def _part_of_excel(network: Network, path: Path, others: Sequence[str], table_format: TableFormat) -> Dataset:
    import polars as pl

    columns = NO_COLUMNS

    def choose(header: Sequence[str]) -> tuple[str, ...]:
        nonlocal columns
        columns = match_columns(header, network, others)
        return columns.used

    texts = [
        texts_of(name, values, network.states(name) if name in network else (), table_format.decimal)
        for name, values in read_sheet(path, choose, table_format).items()
    ]
    with rows_as_in_excel(DeclaredTable(path, table_format)):
        return encode(pl.DataFrame(texts), columns, network)


def unknown_ending(path: Path) -> DataError:
    """The error for a file whose ending is not that of a table."""
    if path.suffix.lower() in OTHER_SPREADSHEETS:
        return DataError(f"{path}: spreadsheets of this kind are not read. Save the table as .xlsx or as “CSV UTF-8”.")
    known = ", ".join((*CSV_ENDINGS, *PARQUET_ENDINGS, *EXCEL_ENDINGS))
    return DataError(f"{path}: unknown kind of table. Known endings: {known}; or a folder of Parquet files.")


def _parts_of_parquet(
    network: Network, path: Path, others: Sequence[str], progress: Progress | None
) -> Iterator[Dataset]:
    import polars as pl

    require_queries(str(path))
    with parquet_errors(path):
        frame, done = scan_parquet(path), 0
        total = frame.select(pl.len()).collect().item()
    for part in guarded(parts_of_lazy(network, frame, others, total), partial(parquet_errors, path)):
        yield part
        done += len(part)
        if progress is not None:
            progress(done / max(1, total))


def guarded(parts: Iterator[Dataset], errors: Callable[[], AbstractContextManager[None]]) -> Iterator[Dataset]:
    """The same parts, each read inside of `errors`, which what is done between two of them does not concern."""
    while True:
        with errors():
            part = next(parts, None)
        if part is None:
            return
        yield part


def parts_of_lazy(
    network: Network, frame: pl.LazyFrame, others: Sequence[str], total: int | None = None, rows_before: int = 0
) -> Iterator[Dataset]:
    """A frame in parts. If its number of rows is known it is cut into slices, which takes less memory than a stream.

    `rows_before` is how many rows of the table came before the frame, for messages.
    """
    columns = match_columns(frame.collect_schema().names(), network, others)
    plan, texts = looked_up(frame, columns, network)
    batches: Iterable[pl.DataFrame]
    if total is None:
        batches = plan.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True, engine="streaming")
    else:
        cuts = range(0, total, BATCH_ROWS)
        batches = (plan.slice(start, BATCH_ROWS).collect(engine="streaming") for start in cuts)
    rows = 0
    for batch in batches:
        part = encode_looked_up(batch, texts, columns, network, rows_before + rows)
        if part is None:
            again = frame.select(columns.used).slice(rows, len(batch)).collect()
            part = encode(again, columns, network, rows_before + rows)
        yield part
        rows += len(batch)


def _parts_of_frame(network: Network, source: FrameLike, others: Sequence[str]) -> Iterator[Dataset]:
    import narwhals as nw
    import polars as pl

    source = nw.to_native(source, pass_through=True)
    if isinstance(source, pl.LazyFrame):
        require_queries("A LazyFrame")
        yield from guarded(parts_of_lazy(network, source, others), lazy_errors)
        return
    if (header := header_of(source)) is not None:  # before narwhals, whose message for a duplicate column is its own
        match_columns(header, network, others)
    frame = narwhals_frame(source)
    columns = match_columns(frame.columns, network, others)
    _require_no_index(source, columns)
    if not has_queries() and isinstance(frame, nw.DataFrame):
        yield encode(as_polars({name: frame[name] for name in columns.used}), columns, network)
        return
    chosen = frame.select(list(columns.used))
    eager = collected(chosen)
    series = {name: eager[name] for name in eager.columns}
    for part in parts_of_lazy(network, as_polars(series).lazy(), others, len(eager)):
        yield replace(part, ignored=columns.ignored)


def collected(frame: Any) -> Any:
    """A frame of narwhals in memory."""
    import narwhals as nw

    if not isinstance(frame, nw.LazyFrame):
        return frame
    with lazy_errors(Exception):  # each library has its own
        return frame.collect()


@contextmanager
def lazy_errors(*others: type[Exception]) -> Iterator[None]:
    """What goes wrong inside while a lazy frame is read becomes a `DataError` or a `FileError`.

    What a function of the user raises within a query of polars stays as it is.
    """
    from polars.exceptions import PanicException, PolarsError

    kinds: tuple[type[BaseException], ...] = (PolarsError, PanicException, OSError, OverflowError, *others)
    try:
        yield
    except (CredoError, MemoryError):
        raise
    except kinds as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        if isinstance(error, OSError) and (named := _SYSTEM_ERROR.match(reason)):
            named_kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
            raise named_kind(f"The LazyFrame cannot be read: {named['reason']}.", named["path"]) from None
        raise DataError(f"The LazyFrame cannot be read: {reason[:200].rstrip('.')}.") from error


def _require_no_index(source: FrameLike, columns: Columns) -> None:
    """Raise if a variable without a column is the index of a frame of pandas: its data would be ignored."""
    names = getattr(getattr(source, "index", None), "names", None)
    for name in names if isinstance(names, Sequence) else ():
        if name in columns.hidden:
            raise DataError(
                f"The variable {name} is the index of the frame, not a column: use frame.reset_index(), or rename the "
                "index."
            )


def header_of(frame: FrameLike) -> list[str] | None:
    """The names of a frame's columns as texts; None if the object is not a frame."""
    header = getattr(frame, "column_names", None)  # of pyarrow, whose `columns` are the arrays
    if not isinstance(header, list):
        header = getattr(frame, "columns", None)
    return None if header is None else [str(name) for name in header]


def narwhals_frame(source: FrameLike) -> Any:
    """A frame of any library behind the interface of narwhals, with texts as names of columns."""
    import narwhals as nw

    native: Any = source
    # pandas has numbers as names where none were given, and tuples where columns have levels.
    if hasattr(native, "set_axis") and not all(isinstance(name, str) for name in getattr(native, "columns", ())):
        native = native.set_axis([str(name) for name in native.columns], axis="columns")
    try:
        return nw.from_native(native)
    except TypeError:
        raise DataError(
            f"A table is a path or a frame of pandas, polars, pyarrow, …; {type(source).__name__} is neither."
        ) from None


def as_polars(columns: Mapping[str, Any]) -> pl.DataFrame:
    """Narwhals series as a frame of polars.

    Columns of mixed Python values, which Arrow refuses, become texts; so do intervals (`pandas.cut`) and other types
    that only their own library knows.
    """
    import polars as pl

    found = {}
    for name, series in columns.items():
        try:
            found[name] = _with_own_unit(series).to_polars()
            is_known = not _is_foreign(found[name], series)
        except (Exception, pl.exceptions.PanicException):  # pyarrow's errors need pyarrow to be named
            is_known = False
        if not is_known:
            found[name] = as_texts(name, series.to_list())
    try:
        return pl.DataFrame(found)
    except UnicodeEncodeError:
        names = listing([name for name in found if not is_text(name)])
        raise DataError(f"The name of a column holds half a character, which no text has: {names!r}.") from None


def _with_own_unit(series: Any) -> Any:
    """A column of pandas that holds times as Python objects as one of times: Arrow would drop their nanoseconds."""
    import narwhals as nw

    native = nw.to_native(series)
    if series.dtype != nw.Object or not hasattr(native, "infer_objects"):
        return series
    inferred = nw.from_native(native.infer_objects(), series_only=True)
    return inferred if isinstance(inferred.dtype, nw.Datetime | nw.Duration) else series


def _is_foreign(column: pl.Series, series: Any) -> bool:
    """Whether a column came from a type that polars keeps but cannot compare."""
    import polars as pl

    if column.dtype.is_nested() and column.dtype != pl.Object:
        first = next((value for value in series.to_list() if not is_missing(value)), None)
        return first is not None and not isinstance(first, list | tuple | dict | np.ndarray | pl.Series)
    return type(column.dtype).__name__ in ("Extension", "BaseExtension")


def as_texts(name: str, values: Sequence[Any]) -> pl.Series:
    """Python values as a column of texts; half a character is an error."""
    import polars as pl

    texts = [None if is_missing(value) else text_of(value) for value in values]
    try:
        return pl.Series(name, texts, dtype=pl.String)
    except UnicodeEncodeError:
        row = next((row for row, text in enumerate(texts) if text is not None and not is_text(text)), None)
        where = f"Column {name!r}" if row is None else f"Column {name}, row {row + 1}: {texts[row]!r}"
        raise DataError(f"{where} holds half a character, which no text has. {ROWS_FROM_1}") from None


def is_missing(value: Any) -> bool:
    """Whether a Python value is None, NaN or NaT, which differ from themselves, or pandas' NA, which is neither."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
    except ValueError:  # an array: not missing, but not a state either
        return False


def _weights_from(column: pl.Series, rows_before: int) -> Numbers:
    import polars as pl

    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    elif not (column.dtype.is_numeric() or column.dtype in (pl.String, pl.Boolean, pl.Null)):
        raise DataError(
            f"Column {column.name} holds values of the type {column.dtype}, where weights are expected: numbers."
        )
    numbers = column.cast(pl.Float64, strict=False)
    wrong = numbers.is_null()
    if wrong.any():
        row = wrong.arg_max() or 0
        what = "there is no value" if column[row] is None else f'"{column[row]}" is not a number'
        comma = f" Declare the decimal comma: {declaration('decimal', ',')}." if has_decimal_comma(column[row]) else ""
        raise DataError(
            f"Column {column.name}, row {rows_before + row + 1}: {what}; every row needs a weight.{comma} {ROWS_FROM_1}"
        )
    return checked_weights(numbers.to_numpy(), len(column), rows_before)

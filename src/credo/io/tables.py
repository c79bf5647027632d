"""A path or a frame becomes a `Dataset`, at once or a part at a time; no row is dropped and no label changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import DataError, closest
from credo.io.columns import match_columns, no_rows
from credo.io.dataset import Dataset, checked_weights, concatenate, fitting
from credo.io.frames import encode, encode_looked_up, looked_up
from credo.model.network import Network

if TYPE_CHECKING:
    import polars as pl

    from credo.io.csv import Progress

BATCH_ROWS = 250_000
CSV_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PARQUET_ENDINGS = (".parquet", ".pq")


def read_table(
    source: Any, network: Network, *, weights: Any = None, others: Sequence[str] = (), progress: Progress | None = None
) -> Dataset:
    """The whole table in memory, as state numbers.

    `source` is a path (CSV, Parquet, a folder of Parquet files), a frame of pandas, polars, pyarrow or whatever else
    narwhals knows, or a `Dataset`. `weights` is the name of a column or an array, one number a row. `others` names
    columns that are no variables but are wanted along with them.
    """
    return concatenate(list(stream_table(source, network, weights=weights, others=others, progress=progress)))


def stream_table(
    source: Any, network: Network, *, weights: Any = None, others: Sequence[str] = (), progress: Progress | None = None
) -> Iterator[Dataset]:
    """The table as datasets that follow each other; a file is never held in memory as a whole."""
    weight_column = weights if isinstance(weights, str) else None
    if weight_column is not None and weight_column in network:
        raise DataError(f"The weights are to come from the column {weight_column}, which is a variable of the network.")
    wanted = (*others, weight_column) if weight_column is not None else tuple(others)
    rows = 0
    for part in _parts(source, network, wanted, progress):
        if weight_column is not None:
            part = replace(part, weights=_weights_from(part.others[weight_column], rows))
        elif weights is not None:
            own = np.asarray(weights)[rows : rows + len(part)] if np.ndim(weights) == 1 else weights
            part = replace(part, weights=checked_weights(own, len(part), rows))
        rows += len(part)
        yield part
    if rows == 0:
        raise no_rows()
    if weights is not None and weight_column is None and len(weights) != rows:
        raise DataError(f"There are {rows} rows but {len(weights)} weights: one weight a row is needed.")


def _parts(source: Any, network: Network, others: Sequence[str], progress: Progress | None) -> Iterator[Dataset]:
    if isinstance(source, Dataset):
        yield _fitting(source, network, others)
    elif isinstance(source, (str, Path)):
        yield from _parts_of_path(Path(source), network, others, progress)
    else:
        yield from _parts_of_frame(source, network, others)


def _fitting(dataset: Dataset, network: Network, others: Sequence[str]) -> Dataset:
    missing = [name for name in others if name not in dataset.others]
    if missing:
        raise DataError(
            f'The dataset was read without the column "{missing[0]}": read it with others=("{missing[0]}",).'
        )
    return fitting(dataset, network)


def _parts_of_path(path: Path, network: Network, others: Sequence[str], progress: Progress | None) -> Iterator[Dataset]:
    if not path.exists():
        names = sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []
        near = closest(path.name, names)
        raise DataError(f"There is no file {path}." + (f" Did you mean {path.parent / near}?" if near else ""))
    name = path.name.lower()
    if path.is_dir() or name.endswith(PARQUET_ENDINGS):
        yield from _parts_of_parquet(path, network, others, progress)
    elif name.endswith(CSV_ENDINGS):
        from credo.io.csv import stream_csv

        yield from stream_csv(path, network, others, progress)
    else:
        known = ", ".join((*CSV_ENDINGS, *PARQUET_ENDINGS))
        raise DataError(
            f"{path}: the kind of table is told by the file's ending, one of {known}, or a folder of Parquet."
        )


def _parts_of_parquet(
    path: Path, network: Network, others: Sequence[str], progress: Progress | None
) -> Iterator[Dataset]:
    import polars as pl

    files: Path | list[Path] = path
    if path.is_dir():
        files = sorted(file for ending in PARQUET_ENDINGS for file in path.rglob(f"*{ending}"))
        if not files:
            raise DataError(f"The folder {path} holds no Parquet files.")
    try:
        frame, done = pl.scan_parquet(files), 0
        total = frame.select(pl.len()).collect().item()
        for part in _parts_of_lazy(frame, network, others, total):
            yield part
            done += len(part)
            if progress is not None:
                progress(done / max(1, total))
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{path} cannot be read as Parquet: {error}") from None


def _parts_of_lazy(
    frame: pl.LazyFrame, network: Network, others: Sequence[str], total: int | None = None
) -> Iterator[Dataset]:
    """A frame in parts. Where its number of rows is known it can be cut, which keeps less in memory than a stream."""
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
        part = encode_looked_up(batch, texts, columns, network, rows)
        if part is None:
            part = encode(frame.select(columns.used).slice(rows, len(batch)).collect(), columns, network, rows)
        yield part
        rows += len(batch)


def _parts_of_frame(source: Any, network: Network, others: Sequence[str]) -> Iterator[Dataset]:
    import narwhals as nw
    import polars as pl

    if isinstance(source, pl.LazyFrame):
        yield from _parts_of_lazy(source, network, others)
        return
    header = getattr(source, "column_names", None) or getattr(source, "columns", None)
    if header is not None:  # before narwhals, whose words for a column that stands twice are its own
        match_columns([str(name) for name in header], network, others)
        if hasattr(source, "rename") and not all(isinstance(name, str) for name in header):
            source = source.rename(columns=str)  # pandas has numbers for names where nobody gave any
    try:
        frame = nw.from_native(source)
    except TypeError:
        raise DataError(
            f"A table is a path or a frame of pandas, polars, pyarrow, …; {type(source).__name__} is neither."
        ) from None
    columns = match_columns(frame.columns, network, others)
    chosen = frame.select(list(columns.used))
    eager = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
    yield from _parts_of_lazy(as_polars(eager).lazy(), network, others, len(eager))


def as_polars(frame: Any) -> pl.DataFrame:
    """A narwhals frame as polars; columns of mixed Python values, which Arrow refuses, as their texts."""
    import polars as pl

    from credo.io.states import text_of

    columns = {}
    for name in frame.columns:
        series = frame[name]
        try:
            columns[name] = series.to_polars()
        except Exception:  # pyarrow's errors, whose classes need pyarrow to be named
            values = series.to_list()
            texts = [None if is_missing(value) else text_of(value) for value in values]
            columns[name] = pl.Series(name, texts, dtype=pl.String)
    return pl.DataFrame(columns)


def is_missing(value: Any) -> bool:
    """None, NaN and NaT, which differ from themselves, and pandas' NA, which has no truth value."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
    except ValueError:  # an array: no gap, but no state either
        return False


def _weights_from(column: pl.Series, rows_before: int) -> Any:
    import polars as pl

    numbers = column.cast(pl.Float64, strict=False)
    wrong = numbers.is_null()
    if wrong.any():
        row = wrong.arg_max() or 0
        what = "there is no value" if column[row] is None else f'"{column[row]}" is no number'
        raise DataError(f"Column {column.name}, row {rows_before + row + 1}: {what}; every row needs a weight.")
    return checked_weights(numbers.to_numpy(), len(column), rows_before)

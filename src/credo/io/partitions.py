"""Tables in partitions: rows that are read, counted and prepared together, on this machine or by a worker.

How a table is cut depends on the table alone: on its files and their rows, or on the partitions of a Dask DataFrame. A
partition is described by something small, so that a worker can read its rows itself; and where one is found to be
wrong, the message names the file and the row.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import CredoError, DataError, FileError, MissingExtraError, MissingFileError, OptionError, counted
from credo.io.columns import no_rows
from credo.io.dataset import Dataset, Tables, concatenate
from credo.io.dialects import DeclaredTable, format_of
from credo.io.files import require_file
from credo.io.forks import require_queries
from credo.io.parquet import PARQUET_ENDINGS, check_parquet, parquet_errors, parquet_files, required_files
from credo.io.tables import BATCH_ROWS, checked_dataset, guarded, parts_of_lazy, stream_table, table_kind, weighted
from credo.memory import memory_limit_or_default
from credo.model.network import Network
from credo.options import checked_whole_number
from credo.types import FrameLike, Indices, TableLike

if TYPE_CHECKING:
    import polars as pl

PARTITION_ROWS = 2**20  # of a partition, unless the user says otherwise
MOST_PARTITIONS = 512  # of files; larger tables have larger partitions
KEPT_SHARE = 1 / 16  # of the memory limit, beyond which state numbers of a file are not kept in memory
BYTES_PER_VALUE = 64  # of a partition while it is prepared; measured 30 for Alarm with 40% of its values missing
LEAST_ROWS = 1000  # of a partition, whatever the limit is

# What a partition is --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a Parquet file that follow each other."""

    path: str
    first: int = 0
    rows: int | None = None  # all of them

    @property
    def place(self) -> str:
        """What messages call it."""
        return self.path


@dataclass(frozen=True, slots=True)
class FilePartition:
    """Pieces of files, in the order of the table."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FramePartition:
    """Rows in memory: a frame, or a dataset."""

    frame: FrameLike
    place: str  # what messages call it
    first: int = 0  # how many rows of that place came before


@dataclass(frozen=True, slots=True)
class Place:
    """Where rows of a partition come from: their place, and how many of its rows came before them."""

    name: str
    before: int


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedTable:
    """A table in partitions, which `credo.partitioned` makes.

    Attributes
    ----------
    description : str
        What the table is, for messages.
    partitions : tuple
        What has to be read; empty where a file can only be read from its beginning.
    """

    description: str
    partitions: tuple[object, ...]
    stream: tuple[TableLike, int] | None = None  # a table that is read from its beginning, and rows of a partition

    @property
    def columns(self) -> tuple[str, ...]:
        """None that are known before a partition is read."""
        return ()

    def items(self, network: Network, weights: str | None, others: Sequence[str]) -> Iterable[object]:
        """What an executor makes parts of: described partitions, or rows that are read here one after the other.

        Parameters
        ----------
        network : Network
            The network whose variables are read.
        weights : str or None
            The column with the weights of rows.
        others : sequence of str
            Further columns that are read, such as those that tie rows together.

        Returns
        -------
        iterable
            The parts, each of which a worker can read by itself unless the table is read as a stream.
        """
        if self.stream is None:
            return self.partitions
        return _Streamed(self.description, *self.stream, network, weights, tuple(others))

    def __repr__(self) -> str:
        known = "read as a stream" if self.stream is not None else counted(len(self.partitions), "partition")
        return f"<PartitionedTable: {self.description}, {known}>"


@dataclass(frozen=True, slots=True, eq=False)
class _Streamed:
    """A table that is read from its beginning, as often as it is iterated over."""

    place: str
    table: TableLike
    rows: int
    network: Network
    weights: str | None
    others: tuple[str, ...]

    def __iter__(self) -> Iterator[FramePartition]:
        kept: list[Dataset] = []
        before, count = 0, 0
        for part in stream_table(self.network, self.table, weights=self.weights, others=self.others):
            kept.append(part)
            count += len(part)
            if count >= self.rows:
                yield FramePartition(concatenate(kept), self.place, before)
                kept, before, count = [], before + count, 0
        if kept:
            yield FramePartition(concatenate(kept), self.place, before)


# Cutting a table ------------------------------------------------------------------------------------------------------


def partitioned(data: TableLike, rows: int | None = None) -> PartitionedTable:
    """Cut a table into partitions, which are read one by one, by this machine or by the workers of a cluster.

    `credo.fit` does so itself with globs, folders, remote files and Dask DataFrames; this function is for another
    number of rows. Partitions decide in which order sums are added up, and so the last digits of a result; the number
    of workers does not.

    Parameters
    ----------
    data : path, glob, Dask DataFrame or frame
        A Parquet file, a folder or a glob of them (`"data/*.parquet"`), on this machine or wherever fsspec finds
        them (`"s3://bucket/data/*.parquet"`); a Dask DataFrame, whose partitions stay as they are; any other table,
        which is then sent to the workers.
    rows : int, optional
        About how many rows a partition has; 2**20 if not given, and more where there would be more than 512
        partitions. Remote files are not cut.

    Returns
    -------
    PartitionedTable
        What `credo.fit` takes as data.

    Raises
    ------
    DataError
        If there are no such files, or no rows.

    Examples
    --------
    >>> import credo, polars as pl
    >>> credo.partitioned(pl.DataFrame({"smoke": ["no", "yes", "yes"]}), rows=2)
    <PartitionedTable: the table, 2 partitions>
    """
    wanted = None if rows is None else checked_whole_number(rows, "The number of rows of a partition")
    if isinstance(data, PartitionedTable):
        if wanted is not None:
            raise OptionError("The table is cut into partitions already: give what it was cut from.")
        return data
    if is_dask_frame(data):
        return _of_dask(data, wanted)
    if not isinstance(data, str | os.PathLike):
        return _of_frame(data, wanted)
    if is_remote(data):
        return _of_remote(os.fspath(data), wanted)
    if is_glob(data):
        paths = sorted(glob.glob(os.fspath(data), recursive=True))
        paths = [path for path in paths if Path(path).is_file()]
        if not paths:
            raise MissingFileError("No file has such a name.", os.fspath(data))
        return _of_files(os.fspath(data), paths, wanted)
    path = Path(data)
    if table_kind(path, format_of(data)) != "Parquet":
        return PartitionedTable(os.fspath(data), (), (data, wanted or PARTITION_ROWS))
    if path.is_dir():
        return _of_files(str(path), sorted(map(str, required_files(path))), wanted)
    return _of_files(str(path), [str(path)], wanted)


def is_glob(data: TableLike) -> bool:
    """Whether a path is a pattern and not the name of a file."""
    if not isinstance(data, str | os.PathLike) or isinstance(data, DeclaredTable) or is_remote(data):
        return False
    path = os.fspath(data)
    return glob.has_magic(path) and not os.path.lexists(path)


def is_remote(data: TableLike) -> bool:
    """Whether a path is an address that fsspec reads."""
    return isinstance(data, str) and "://" in data


def has_partitions(data: TableLike | None) -> bool:
    """Whether a table is in partitions, whatever its size: it has no columns that could be looked at at once."""
    if data is None:
        return False
    return isinstance(data, PartitionedTable) or is_glob(data) or is_remote(data) or is_dask_frame(data)


def is_dask_frame(data: object) -> bool:
    """Whether this is a DataFrame of Dask."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(data, "to_delayed")


def in_partitions(
    network: Network, data: TableLike, is_distributed: bool, memory_limit: int | None = None
) -> TableLike:
    """The table in partitions, where workers read it, where it is a glob or remote, or where it is large."""
    if isinstance(data, Tables):  # read one after the other
        if is_distributed:
            raise OptionError("Workers read one table: instead of several, give a folder or a glob of Parquet files.")
        return data
    if is_distributed:
        return readable_anywhere(partitioned(data))
    if isinstance(data, PartitionedTable):
        return data
    limit = memory_limit_or_default(memory_limit)
    fitting = max(LEAST_ROWS, limit // (BYTES_PER_VALUE * max(1, len(network))))  # rows that one partition may have
    rows = fitting if fitting < PARTITION_ROWS else None
    if is_dask_frame(data) or is_remote(data):
        return partitioned(data)
    if is_glob(data) or bytes_when_coded(network, data) > KEPT_SHARE * limit:
        return partitioned(data, rows)
    return data


def readable_anywhere(table: PartitionedTable) -> PartitionedTable:
    """The same table, whose paths do not depend on the folder that a worker was started in."""
    return replace(table, partitions=tuple(_with_full_paths(each) for each in table.partitions))


def _with_full_paths(item: Any) -> Any:
    if not isinstance(item, FilePartition):
        return item
    return FilePartition(tuple(replace(each, path=_full_path(each.path)) for each in item.pieces))


def _full_path(path: str) -> str:
    return path if is_remote(path) else os.path.abspath(path)


def bytes_when_coded(network: Network, data: TableLike) -> int:
    """About how much memory the state numbers of a file take at most; 0 for what is in memory, or read otherwise."""
    if not isinstance(data, str | os.PathLike) or isinstance(data, PartitionedTable):
        return 0
    path = Path(data)
    if not os.path.exists(path):  # nor where the system cannot look: who reads the file says why
        return 0
    kind = table_kind(path, format_of(data))
    if kind == "CSV":
        return 0 if path.suffix == ".gz" else path.stat().st_size // 2  # a cell has a separator and a character
    if kind != "Parquet":
        return 0
    from credo.io.dataset import code_type

    files = [path] if path.is_file() else parquet_files(path)
    return sum(_rows_of(str(file)) for file in files) * len(network) * np.dtype(code_type(network)).itemsize


def _of_files(description: str, paths: Sequence[str], wanted: int | None) -> PartitionedTable:
    """Files in the order of their names: large ones are cut, small ones read together."""
    for path in paths:
        require_file(path, "table")
        if not path.lower().endswith(PARQUET_ENDINGS):
            raise DataError(f"{path}: partitions are read from Parquet files, whose names end in .parquet.")
    sizes = [_rows_of(path) for path in paths]
    total = sum(sizes)
    if total == 0:
        raise no_rows(description)
    most = wanted or max(PARTITION_ROWS, -(-total // MOST_PARTITIONS))
    partitions: list[FilePartition] = []
    open_pieces: list[Piece] = []
    count = 0
    for path, size in zip(paths, sizes, strict=True):
        number = max(1, round(size / most))
        cuts = [size * i // number for i in range(number + 1)]
        for first, last in pairwise(cuts):
            if open_pieces and count + last - first > most:
                partitions.append(FilePartition(tuple(open_pieces)))
                open_pieces, count = [], 0
            open_pieces.append(Piece(path, first, last - first))
            count += last - first
    partitions.append(FilePartition(tuple(open_pieces)))
    return PartitionedTable(description, tuple(partitions))


def _rows_of(path: str) -> int:
    import polars as pl

    require_queries(path)
    with parquet_errors(Path(path)):
        check_parquet(Path(path), pages=False)
        return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())


def _of_remote(address: str, wanted: int | None) -> PartitionedTable:
    """Each file is a partition: what it holds is known to who reads it."""
    if wanted is not None:
        raise OptionError(f"{address}: remote files are not cut, so that rows cannot be given. Write smaller files.")
    fsspec = _fsspec(address)
    try:
        system, path = fsspec.core.url_to_fs(address)
        if glob.has_magic(path):
            found = system.glob(path)
        elif system.isdir(path):
            found = [each for each in system.find(path) if each.lower().endswith(PARQUET_ENDINGS)]
        else:
            found = [path] if system.exists(path) else []
        addresses = [system.unstrip_protocol(each) for each in sorted(found)]
    except (OSError, ValueError, ImportError) as error:
        raise FileError(f"This cannot be listed ({error}).", address) from None
    if not addresses:
        raise MissingFileError("There is no such file.", address)
    return PartitionedTable(address, tuple(FilePartition((Piece(each),)) for each in addresses))


def _fsspec(address: str) -> Any:
    try:
        import fsspec
        import fsspec.core
    except ImportError:
        raise MissingExtraError("fsspec", "distributed", f"Reading {address}") from None
    return fsspec


def _of_dask(data: Any, wanted: int | None) -> PartitionedTable:
    """The partitions that the user chose."""
    if wanted is not None:
        raise OptionError("A Dask DataFrame has partitions: change them with its method repartition.")
    from dask import delayed

    made = delayed(FramePartition, pure=True)
    parts = [made(part, f"partition {number}") for number, part in enumerate(data.to_delayed())]
    return PartitionedTable("a Dask DataFrame", tuple(parts))


def _of_frame(data: TableLike, wanted: int | None) -> PartitionedTable:
    """Rows of a table in memory, which are given to the workers."""
    import polars as pl

    if isinstance(data, Dataset):
        frame: Any = data
    else:
        from credo.io.categories import read_frame

        frame = read_frame(data)
    most = wanted or PARTITION_ROWS
    number = max(1, round(len(frame) / most))
    cuts = [len(frame) * i // number for i in range(number + 1)]
    parts = []
    for first, last in pairwise(cuts):
        rows = slice(first, last)
        part = frame[rows] if isinstance(frame, pl.DataFrame) else _rows(frame, rows)
        parts.append(FramePartition(part, "", first))
    return PartitionedTable("the table", tuple(parts))


def partitioned_at(dataset: Dataset, keys: Indices, rows: int = PARTITION_ROWS) -> PartitionedTable:
    """Rows in partitions that are cut only where a key, of which equal ones follow each other, changes."""
    changes = np.flatnonzero(np.diff(keys)) + 1
    cuts = [0]
    for wanted in range(rows, len(dataset), rows):
        later = changes[np.searchsorted(changes, max(wanted, cuts[-1] + 1)) :]
        if len(later):
            cuts.append(int(later[0]))
    cuts.append(len(dataset))
    parts = [FramePartition(_rows(dataset, slice(*cut)), "", cut[0]) for cut in pairwise(sorted(set(cuts)))]
    return PartitionedTable("the table", tuple(parts))


def _rows(dataset: Dataset, rows: slice) -> Dataset:
    chosen = np.zeros(len(dataset), dtype=np.bool_)
    chosen[rows] = True
    return dataset.rows(chosen)


# Reading a partition --------------------------------------------------------------------------------------------------


def read_partition(
    item: FilePartition | FramePartition, network: Network, weights: str | None, others: Sequence[str]
) -> Iterator[tuple[Place, Dataset]]:
    """The rows of a partition in datasets that follow each other, each with where it comes from."""
    wanted = tuple(others) if weights is None else (*others, weights)
    pieces: Iterable[Piece | FramePartition] = item.pieces if isinstance(item, FilePartition) else (item,)
    for piece in pieces:
        try:
            rows = piece.first
            parts = _parts_of_piece(piece, network, wanted)
            for part in parts:
                if weights is not None and part.weights is None:
                    part = weighted(part, weights, rows)
                yield Place(piece.place, rows), part
                rows += len(part)
        except CredoError as error:
            raise in_place(error, piece.place) from None


def frames_of(item: FilePartition | FramePartition) -> Iterator[pl.DataFrame]:
    """The columns of a partition as they are, without a network, in frames that follow each other."""
    if isinstance(item, FramePartition):
        from credo.io.categories import read_frame

        yield read_frame(item.frame)
        return
    for piece in item.pieces:
        query, rows = _scan(piece)
        for first in range(0, rows, BATCH_ROWS):
            with parquet_errors(Path(piece.path)):
                yield query.slice(first, BATCH_ROWS).collect()


def in_place(error: CredoError, place: str) -> CredoError:
    """The same error, whose message begins with the file that it is about."""
    text = str(error)
    if place and not text.startswith(place):
        error.args = (f"{place}: {text}", *error.args[1:])
    return error


def _parts_of_piece(piece: Piece | FramePartition, network: Network, others: Sequence[str]) -> Iterator[Dataset]:
    if isinstance(piece, FramePartition):
        frame = piece.frame
        if isinstance(frame, Dataset):
            yield checked_dataset(network, frame, others)
        elif len(frame):  # type: ignore[arg-type]
            yield from stream_table(network, frame, others=others)
        return
    query, rows = _scan(piece)
    parts = parts_of_lazy(network, query, others, rows, piece.first)
    yield from guarded(parts, partial(parquet_errors, Path(piece.path)))


def _scan(piece: Piece) -> tuple[pl.LazyFrame, int]:
    """The rows of a piece as a query, and how many they are."""
    import polars as pl

    require_queries(piece.path)
    if is_remote(piece.path):
        try:
            with _fsspec(piece.path).open(piece.path, "rb") as file:
                content = BytesIO(file.read())
        except FileNotFoundError:
            raise MissingFileError("There is no such file.", piece.path) from None
        except (OSError, ValueError, ImportError) as error:
            raise FileError(f"This cannot be read ({error}).", piece.path) from None
        with parquet_errors(Path(piece.path)):
            whole = pl.read_parquet(content)
        return whole.lazy(), len(whole)
    path = Path(piece.path)
    require_file(path, "table")
    with parquet_errors(path):
        check_parquet(path, pages=piece.first == 0)
        frame = pl.scan_parquet(path, glob=False)
        if piece.rows is None:
            return frame, int(frame.select(pl.len()).collect().item())
        return frame.slice(piece.first, piece.rows), piece.rows

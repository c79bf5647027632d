"""What users give as data: a table, several of them, or a glob of files, with what is declared about them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from credo.errors import OptionError, UnknownStateError, listing
from credo.io.dataset import Dataset, Tables
from credo.io.dialects import declared
from credo.io.parquet import PARQUET_ENDINGS
from credo.io.partitions import is_glob
from credo.io.tables import is_table_file
from credo.options import TableFormat
from credo.types import TableLike


def gathered(data: Any, table_format: TableFormat | None = None) -> TableLike:
    """The data with what is declared about its files; a list, or a glob of CSV files, becomes `Tables`."""
    if isinstance(data, list | tuple):
        if not data:
            raise OptionError("The list of tables is empty. To learn from knowledge alone, give no table.")
        found = tuple(one for each in data for one in tables_of(gathered(each, table_format)))
        return found[0] if len(found) == 1 else Tables(found)
    if is_glob(data):
        paths = sorted(glob.glob(os.fspath(data), recursive=True))
        if paths and all(is_table_file(Path(path)) and not path.lower().endswith(PARQUET_ENDINGS) for path in paths):
            return gathered(paths, table_format)
    return data if isinstance(data, Tables | Dataset) else declared(data, table_format)


@contextmanager
def counting_through(data: object) -> Iterator[None]:
    """A value that is not a state, in one of several tables, is reported with how rows are counted there."""
    try:
        yield
    except UnknownStateError as error:
        if not isinstance(data, Tables):
            raise
        names = [table_name(each) or "a frame" for each in data.unread]
        raise UnknownStateError(
            f"{error} They are counted through all tables, in this order: {listing(names)}."
        ) from None


def table_name(table: object) -> str:
    """The name of a table's file; empty for what is in memory."""
    return Path(os.fspath(table)).name if isinstance(table, str | os.PathLike) else ""


def tables_of(data: TableLike) -> tuple[TableLike, ...]:
    """The tables of which data consist."""
    return data.sources if isinstance(data, Tables) else (data,)

"""Parquet files through polars: what its reader fails on, or panics on, is a typed error.

A panic derives from `BaseException`, and prints a few lines of its own. On some damaged files polars asks for more
memory than there is and ends the process, which nothing in Python can prevent: `parquet_pages` finds them before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from credo.errors import DataError, FileError
from credo.io.files import unreadable
from credo.io.parquet_pages import check_pages

if TYPE_CHECKING:
    import polars as pl

PARQUET_ENDINGS = (".parquet", ".pq")
MAGIC = b"PAR1"


def scan_parquet(path: Path) -> pl.LazyFrame:
    """A Parquet file, or all Parquet files in a folder, to be read inside of `parquet_errors`."""
    import polars as pl

    if not path.is_dir():
        check_parquet(path)
        return pl.scan_parquet(path, glob=False)
    files = required_files(path)
    for file in files:
        check_parquet(file)
    return pl.scan_parquet(files, glob=False)


def parquet_files(folder: Path) -> list[Path]:
    """All Parquet files in a folder, in the order of their names."""
    return sorted(file for ending in PARQUET_ENDINGS for file in folder.rglob(f"*{ending}"))


def required_files(folder: Path) -> list[Path]:
    """The same; refused where there are none."""
    files = parquet_files(folder)
    if not files:
        raise DataError(f"The folder {folder} holds no Parquet files.")
    return files


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """What goes wrong inside while this file is read becomes a `DataError` or a `FileError`."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OverflowError) as error:
        reason = str(error).splitlines()[0][:200].rstrip(".") if str(error) else "its reader failed"
        raise DataError(f"{path} cannot be read as Parquet: {reason}. Is the file damaged, or incomplete?") from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unreadable(path, error) from None


def check_parquet(path: Path, pages: bool = True) -> None:
    """Raise if a file is no Parquet, is cut off, or (what takes longer to see) has a page that polars dies of."""
    _check_ends(path)
    if not pages:
        return
    try:
        check_pages(path)
    except OSError as error:
        raise unreadable(path, error) from None


def _check_ends(path: Path) -> None:
    """Raise if a file is no Parquet: it starts and ends with four letters, and is cut off if it ends otherwise."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 8))
            end = file.read(8)
    except OSError as error:
        raise unreadable(path, error) from None
    if start != MAGIC:
        raise DataError(f"{path} cannot be read as Parquet: it is a file of another kind.")
    if size < 12 or end[4:] != MAGIC or int.from_bytes(end[:4], "little") > size - 12:
        raise DataError(f"{path} cannot be read as Parquet: it is incomplete. Copy or write it again.")

"""Where the numbers of a fit come from: the file of its table, a fingerprint of that, and the day."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from credo.io.dialects import USUAL, format_of
from credo.options import TableFormat
from credo.types import TableLike


@dataclass(frozen=True, slots=True)
class Origin:
    """What a fit was learned from, and when.

    Attributes
    ----------
    table
        The name of the table's file; empty for a table that was not one file.
    fingerprint
        A fingerprint of the bytes of that file, and of what was declared about it: it changes if any of them does.
    date
        When it was learned, as ISO 8601 has it, in UTC.
    """

    table: str = ""
    fingerprint: str = ""
    date: str = ""


def origin_of(data: TableLike | None) -> Origin:
    """The origin of what is learned from this table now."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    if not isinstance(data, str | os.PathLike):
        return Origin(date=date)
    found = fingerprint(Path(os.fspath(data)), format_of(data))
    return Origin(Path(os.fspath(data)).name, found, date) if found else Origin(date=date)


def fingerprint(path: Path, table_format: TableFormat | None = None) -> str:
    """The fingerprint of a table's file; empty where there is no such file."""
    try:
        found = path.stat()
        return _fingerprint(path, table_format or USUAL, (found.st_mtime_ns, found.st_size, found.st_ino))
    except (OSError, ValueError):  # a folder, a pattern, an address elsewhere
        return ""


@lru_cache(maxsize=8)
def _fingerprint(path: Path, table_format: TableFormat, stamp: tuple[Any, ...]) -> str:
    with path.open("rb") as file:
        content = file_digest(file, "sha256")
    if table_format != USUAL:
        content = sha256(content.digest() + repr(table_format).encode())
    return content.hexdigest()[:32]

"""The table that is open: its file, how that is written, and its columns as they were read last."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.errors import CredoError, OptionError
from credo.io.categories import read_frame
from credo.io.dialects import declared
from credo.io.excel import sheet_names
from credo.io.tables import table_kind
from credo.options import TableFormat
from credo.types import TableLike

if TYPE_CHECKING:
    import polars as pl

MOST_KEPT = 50_000_000  # bytes of a file whose columns are kept between two keystrokes
MOST_PREVIEWED = 20_000_000  # bytes of a file that is read to show its first rows
FEW_ROWS = 4
LONG_CELL = 60  # letters
DECLARE = re.compile(r"table_format=TableFormat\(.*?\), or --\w+ .+? on the command line")  # as `declaration` says it


@dataclass(frozen=True, slots=True)
class OpenTable:
    """The file of a table, and what was declared about it."""

    path: Path
    format: TableFormat | None = None

    @property
    def data(self) -> TableLike:
        """The table as `fit` and `check` take it."""
        return declared(self.path, self.format)

    @property
    def mark(self) -> tuple[Any, ...]:
        """What changes when the file does, or what is declared about it."""
        try:
            found = self.path.stat()
        except OSError:
            return (self.path, self.format)
        return (self.path, self.format, found.st_mtime_ns, found.st_size)

    def columns(self) -> TableLike:
        """The same as a frame that was read before; a large file, or one that cannot be read, as it is."""
        mark = self.mark
        if len(mark) < 4 or mark[3] > MOST_KEPT:
            return self.data
        try:
            return _frame(self, mark)
        except CredoError:
            return self.data

    def names(self) -> tuple[str, ...]:
        """The names of the columns; none of a file that is too large to be kept, or cannot be read."""
        return tuple(getattr(self.columns(), "columns", ()))

    def job(self) -> dict[str, Any]:
        """The table for another process, as JSON can hold it."""
        return {"path": str(self.path), "format": None if self.format is None else asdict(self.format)}


def table_of_job(job: Mapping[str, Any] | None) -> OpenTable | None:
    """The table of `OpenTable.job`."""
    if job is None:
        return None
    return OpenTable(Path(job["path"]), None if job["format"] is None else TableFormat(**job["format"]))


@lru_cache(maxsize=2)  # the text of every keystroke is read together with the same table
def _frame(table: OpenTable, mark: tuple[Any, ...]) -> pl.DataFrame:
    return read_frame(table.data)


def format_from(given: Any) -> TableFormat | None:
    """What a page declared about a file; what is empty is as usual."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(isinstance(value, str) for value in given.values()):
        raise OptionError("How a table is written is a mapping from options to texts.")
    known = {"separator", "decimal", "encoding", "sheet"}
    if not set(given) <= known:
        raise OptionError("Of a table, its separator, decimal mark, encoding and sheet can be declared.")
    chosen = {name: value for name, value in given.items() if value}
    if chosen.get("separator") == "tab":
        chosen["separator"] = "\t"
    found = TableFormat(**chosen)
    return None if found == TableFormat() else found


def preview(table: OpenTable) -> dict[str, Any]:
    """What can be declared about a file, and its first rows as they would be read; or why they cannot be."""
    answer: dict[str, Any] = {"kind": table_kind(table.path, TableFormat()), "sheets": [], "columns": [], "rows": []}
    try:
        if answer["kind"] == "Excel":
            answer["sheets"] = list(sheet_names(table.path))
        if table.path.stat().st_size <= MOST_PREVIEWED:
            frame = read_frame(table.data)
            answer["columns"] = frame.columns
            answer["rows"] = [[_shortened(cell) for cell in row] for row in frame.head(FEW_ROWS).iter_rows()]
            answer["total"] = len(frame)
    except (CredoError, OSError) as error:
        answer["problem"] = DECLARE.sub("choose it above", str(error))
    return answer


def _shortened(cell: object) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= LONG_CELL else f"{text[: LONG_CELL - 1]}…"

"""Excel files: one sheet as columns of texts, read row by row by openpyxl.

A damaged file is a typed error, because openpyxl is plain Python, and sizes are checked before anything is unpacked.
"""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, time
from errno import EINVAL
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.errors import (
    CredoError,
    DataError,
    MissingExtraError,
    TooLargeError,
    cells_error,
    listing,
    readable_bytes,
    suggestion,
)
from credo.io.columns import no_rows, require_distinct, text_of
from credo.io.dialects import USUAL, declaration, format_of, with_points
from credo.io.files import ALWAYS_UNPACKED, LARGEST_RATIO, unreadable
from credo.memory import memory_limit_or_default
from credo.options import TableFormat

if TYPE_CHECKING:
    import polars as pl

EXCEL_ENDINGS = (".xlsx", ".xlsm")
MOST_ROWS = 2**20  # of a sheet, which Excel has too
NOT_AVAILABLE = "#N/A"  # what Excel's function NA() shows: a missing value
BYTES_PER_BYTE = 8  # memory for each byte of XML; measured: 1 for a sheet of numbers, 5 for many short texts
BYTES_PER_CELL = 24  # of a column, with its text
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # how files with a password begin, and files of Excel before 2007
_FORMULA = re.compile(rb"<(\w+:)?f[\s/>]")
_PIECE = 2**18  # bytes that are searched at once

Values = list[Any]  # None where a cell is empty
Choose = Callable[[list[str]], Sequence[str]]


def read_sheet(path: Path, choose: Choose, table_format: TableFormat = USUAL) -> dict[str, Values]:
    """The columns of a sheet that `choose` selects from its header."""
    with _excel_errors(path):
        _check_archive(path)
        with _workbook(path, data_only=True) as workbook:
            sheet = _chosen_sheet(workbook, table_format.sheet, path)
            title = sheet.title
            names, places, columns = _read_columns(sheet, choose, f"{path}, sheet {title}")
        if any(value is None for column in columns for value in column) and _has_formulas(path):
            _require_computed(path, title, places)
    return dict(zip(names, columns, strict=True))


@contextmanager
def rows_as_in_excel(table: Any, table_format: TableFormat | None = None) -> Iterator[None]:
    """Errors about cells of an Excel file number its rows as Excel does; those of other tables stay as they are."""
    try:
        yield
    except DataError as error:
        if not error.cells or not isinstance(table, str | os.PathLike):
            raise
        path = Path(table)
        if not path.name.lower().endswith(EXCEL_ENDINGS):
            raise
        with _excel_errors(path), _workbook(path, data_only=True) as workbook:
            sheet = _chosen_sheet(workbook, (table_format or format_of(table)).sheet, path)
            _, *numbers = [number for number, _ in _filled_rows(sheet, str(path))]
        raise cells_error(type(error), error.cells, numbers) from None


def sheet_names(path: Path) -> tuple[str, ...]:
    """The sheets of a file, from which one can be chosen."""
    with _excel_errors(path):
        _check_archive(path)
        with _workbook(path, data_only=True) as workbook:
            return tuple(sheet.title for sheet in workbook.worksheets)


def texts_of(name: str, values: Values, states: Sequence[str] = (), decimal: str = ".") -> pl.Series:
    """A column as texts: dates as in ISO 8601, without the time of day where no cell has one."""
    import polars as pl

    if decimal != ".":
        values = with_points(name, values, states)
    moments = [value for value in values if isinstance(value, datetime)]
    if moments and all(moment.time() == time() for moment in moments):
        values = [value.date() if isinstance(value, datetime) else value for value in values]
    return pl.Series(name, [None if value is None else text_of(value) for value in values], dtype=pl.String)


# The file -------------------------------------------------------------------------------------------------------------


@contextmanager
def _excel_errors(path: Path) -> Iterator[None]:
    """What goes wrong inside becomes a typed error; openpyxl's warnings about what it does not read are not shown."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (CredoError, MemoryError):
        raise
    except OSError as error:
        if error.errno not in (None, EINVAL):  # EINVAL: a place before the start of the file
            raise unreadable(path, error) from None
        raise _damaged(path, error) from None
    except Exception as error:  # whatever openpyxl stumbles on: KeyError, ValueError, AttributeError, …
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> DataError:
    reason = (str(error).splitlines() or [""])[0][:200].rstrip(".") or type(error).__name__
    return DataError(f"{path} cannot be read as an Excel file: {reason}. Is the file damaged, or incomplete?")


def _check_archive(path: Path) -> None:
    """Raise if a file is not what Excel writes, or would unpack to more than there is memory for."""
    with path.open("rb") as file:
        start = file.read(len(_OLE))
    if start == _OLE:
        raise DataError(
            f"{path}: this file has a password, or is of Excel before 2007. Remove the password, or save it as .xlsx."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile:
        raise DataError(
            f"{path} cannot be read as an Excel file: it is a file of another kind, or incomplete."
        ) from None
    if any(member.flag_bits & 1 for member in members):
        raise DataError(f"{path}: this file has a password. Remove it in the spreadsheet.")
    size, total = os.path.getsize(path), sum(member.file_size for member in members)
    most = memory_limit_or_default(None)
    if BYTES_PER_BYTE * total > most:
        raise TooLargeError(
            f"{path}: reading this file, which unpacks to {readable_bytes(total)}, may take "
            f"{readable_bytes(BYTES_PER_BYTE * total)} of memory; {readable_bytes(most)} are allowed. Save it as CSV.",
            BYTES_PER_BYTE * total,
        )
    if total > max(ALWAYS_UNPACKED, LARGEST_RATIO * size):
        raise DataError(
            f"{path}: this file unpacks to {readable_bytes(total)}, over {LARGEST_RATIO} times its size. If you trust "
            "it, save it as CSV."
        )


@contextmanager
def _workbook(path: Path, data_only: bool) -> Iterator[Any]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError("openpyxl", "excel", "Reading Excel files") from None
    with path.open("rb") as file:
        workbook = load_workbook(file, read_only=True, data_only=data_only, keep_links=False)
        try:
            yield workbook
        finally:
            workbook.close()


def rows_of_workbook(path: Path) -> list[tuple[Any, ...]]:
    """All rows of the first sheet, as the cells are; a number that is shown as a percentage is text: `30%`."""

    def shown(cell: Any) -> Any:
        is_share = isinstance(cell.value, int | float) and str(getattr(cell, "number_format", "")).endswith("%")
        return f"{100 * cell.value:.12g}%" if is_share else cell.value

    with _excel_errors(path):
        _check_archive(path)
        with _workbook(path, data_only=True) as workbook:
            return [tuple(map(shown, row)) for row in workbook.worksheets[0].iter_rows()]


# The sheet ------------------------------------------------------------------------------------------------------------


def _chosen_sheet(workbook: Any, wanted: str | None, path: Path) -> Any:
    sheets = {sheet.title: sheet for sheet in workbook.worksheets}
    if wanted is not None:
        if wanted not in sheets:
            raise DataError(f'{path} has no sheet "{wanted}".{suggestion(wanted, list(sheets))}')
        return sheets[wanted]
    filled = [title for title, sheet in sheets.items() if next(_filled_rows(sheet, str(path)), None) is not None]
    if not filled:
        raise DataError(f"{path}: the table is empty. The first row of its sheet must hold the names of the columns.")
    if len(filled) > 1:
        raise DataError(f"{path} has several sheets: {listing(filled)}. Choose one: {declaration('sheet', filled[0])}.")
    return sheets[filled[0]]


def _filled_rows(sheet: Any, where: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """The rows of a sheet that hold something, with their numbers; blank cells are None."""
    sheet.reset_dimensions()  # which many programs write wrongly
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number > MOST_ROWS:
            raise DataError(f"{where}: more than {MOST_ROWS:,} rows, which no sheet has. Is the file damaged?")
        cells = tuple(None if _is_blank(value) else value for value in row)
        if any(value is not None for value in cells):
            yield number, cells


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and (not value.strip() or value == NOT_AVAILABLE))


def _read_columns(sheet: Any, choose: Choose, where: str) -> tuple[list[str], list[int], list[Values]]:
    """The names, places and values of the chosen columns."""
    rows = _filled_rows(sheet, where)
    header_row, cells = next(rows, (0, ()))
    if not cells:
        raise DataError(f"{where}: the table is empty. Its first row must hold the names of the columns.")
    header = [None if cell is None else text_of(cell).strip() for cell in cells]
    names = [name for name in header if name is not None]
    require_distinct(names, where)
    chosen = set(choose(names))
    places = [place for place, name in enumerate(header) if name in chosen]
    columns: list[Values] = [[] for _ in places]
    most, count = memory_limit_or_default(None) // (BYTES_PER_CELL * max(1, len(places))), 0
    for number, row in rows:
        for place, value in enumerate(row):
            if value is not None and (place >= len(header) or header[place] is None):
                raise DataError(
                    f"{where}: cell {_letters(place)}{number} is in a column without a name. Row {header_row} must "
                    "hold a name for every column: split merged cells, and leave one row of names."
                )
        count += 1
        if count > most:
            raise TooLargeError(
                f"{where}: its cells need more than the {readable_bytes(memory_limit_or_default(None))} of memory "
                "that are allowed. Save it as CSV.",
                BYTES_PER_CELL * count * len(places),
            )
        for column, place in zip(columns, places, strict=True):
            column.append(row[place] if place < len(row) else None)
    if not count:
        raise no_rows(where)
    return [str(header[place]) for place in places], places, columns


def _has_formulas(path: Path) -> bool:
    """Whether any sheet holds a formula."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if "worksheets/" in name:
                with archive.open(name) as part:
                    before = b""
                    while piece := part.read(_PIECE):
                        if _FORMULA.search(before + piece):
                            return True
                        before = piece[-100:]
    return False


def _require_computed(path: Path, title: str, places: Sequence[int]) -> None:
    """Raise if formulas have no stored values: a program wrote them, and no spreadsheet has computed them yet.

    Where one of them has a value, the others gave an empty text.
    """
    first = None
    with _workbook(path, data_only=False) as formulas, _workbook(path, data_only=True) as values:
        for sheet in (formulas[title], values[title]):
            sheet.reset_dimensions()
        cells_and_values = zip(formulas[title].iter_rows(), values[title].iter_rows(values_only=True), strict=True)
        for number, (cells, row) in enumerate(cells_and_values, 1):
            for place in places:
                if place < len(cells) and cells[place].data_type == "f":
                    if row[place] is not None:
                        return
                    first = first or f"{_letters(place)}{number}"
    if first is not None:
        raise DataError(
            f"{path}, sheet {title}: cell {first} holds a formula without its value. Open the file in a spreadsheet "
            "and save it, so that formulas are computed."
        )


def _letters(place: int) -> str:
    """The name of a column: A, B, …, Z, AA, …"""
    letters = ""
    place += 1
    while place:
        place, digit = divmod(place - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters

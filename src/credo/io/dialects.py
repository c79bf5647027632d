"""How the file of a table is written where a user declares it: encodings become UTF-8, decimal commas become points."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, fields, replace
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from credo.errors import ROWS_FROM_1, DataError, OptionError
from credo.options import TableFormat
from credo.types import PathLike, TableLike

USUAL = TableFormat()
_PIECE = 2**18  # bytes that are decoded at once

# What is declared -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """The path of a table, and what is declared about its file."""

    path: PathLike
    format: TableFormat

    def __fspath__(self) -> str:
        return os.fspath(self.path)


def declared(data: TableLike, table_format: TableFormat | None) -> TableLike:
    """The data together with what is declared about their file."""
    if table_format is None:
        return data
    if not isinstance(table_format, TableFormat):
        raise OptionError(f'table_format is a TableFormat, as in TableFormat(separator=";"), not {table_format!r}.')
    if table_format.missing:
        from credo.io.missing_codes import without_codes

        rest = replace(table_format, missing=())
        return without_codes(data if rest == USUAL else declared(data, rest), table_format.missing)
    if not isinstance(data, str | os.PathLike):
        raise OptionError(
            f"table_format describes a file, but the data are not a path: they are a {type(data).__name__}."
        )
    return DeclaredTable(data, table_format)


def format_of(source: PathLike) -> TableFormat:
    """What was declared about the file of a table."""
    return source.format if isinstance(source, DeclaredTable) else USUAL


def require_only(table_format: TableFormat, options: tuple[str, ...], path: PathLike, kind: str) -> None:
    """Raise if something is declared that files of this kind do not have."""
    for option in fields(TableFormat):
        if option.name not in options and getattr(table_format, option.name) != option.default:
            raise OptionError(f"{os.fspath(path)}: {kind} has no {option.name} that could be declared.")


def declaration(option: str, value: str) -> str:
    """How to declare something, for the end of a message."""
    shown = value if value.replace("-", "").isalnum() else f'"{value}"'
    return f'table_format=TableFormat({option}="{value}"), or --{option} {shown} on the command line'


# Conversions ----------------------------------------------------------------------------------------------------------


def as_utf8(file: BinaryIO, encoding: str, path: Path) -> BinaryIO:
    """The same file in UTF-8."""
    if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig"):
        return file
    return cast(BinaryIO, BufferedReader(_Transcoded(file, encoding, path), _PIECE))


class _Transcoded(RawIOBase):
    """A stream of UTF-8 from a file in another encoding, piece by piece."""

    def __init__(self, file: BinaryIO, encoding: str, path: Path) -> None:
        self._file, self._encoding, self._path = file, encoding, path
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._lines = 0  # that were decoded
        self._pending = b""  # decoded, and not yet asked for

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raw = b"-"
        while not self._pending and raw:
            raw = self._file.read(_PIECE)
            try:
                text = self._decoder.decode(raw, final=not raw)
                self._lines += text.count("\n")
                self._pending = text.encode("utf-8")
            except UnicodeError as error:
                start = getattr(error, "start", 0)
                line = self._lines + 1 + (raw[:start].count(b"\n") if isinstance(error, UnicodeDecodeError) else 0)
                raise DataError(
                    f"{self._path}, about line {line}: this is not {self._encoding}, which was declared as the "
                    "encoding of the file. Declare another."
                ) from None
        count = min(len(buffer), len(self._pending))
        buffer[:count], self._pending = self._pending[:count], self._pending[count:]
        return count


_WITH_COMMA = re.compile(r"\s*+[+-]?(\d++,\d*+|,\d++)([eE][+-]?\d++)?\s*+")
_GROUPED = re.compile(r"\s*+[+-]?\d{1,3}(\.\d{3})++(,\d*+)?\s*+")


def with_points(name: str, values: Sequence[Any], states: Container[str], first_row: int = 0) -> list[Any]:
    """A column whose numbers have decimal commas, with points instead; texts that are states stay as they are.

    `1.234` is an error: in such a table it is 1234 to one reader and 1.234 to another.
    """
    changed: dict[Any, Any] = {}
    for value in {value for value in values if isinstance(value, str) and value.strip() not in states}:
        if _WITH_COMMA.fullmatch(value):
            changed[value] = value.replace(",", ".")
        elif _GROUPED.fullmatch(value):
            row = first_row + values.index(value) + 1
            raise DataError(
                f'Column {name}, row {row}: "{value}" has a point, but “,” was declared as the decimal mark. '
                f"Write numbers without separators of thousands. {ROWS_FROM_1}"
            )
    return [changed.get(value, value) for value in values] if changed else list(values)


def has_decimal_comma(value: object) -> bool:
    """Whether a value is the text of a number with a decimal comma."""
    return isinstance(value, str) and _WITH_COMMA.fullmatch(value) is not None

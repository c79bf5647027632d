"""The path of a table together with what is declared about its file, and how messages ask for a declaration."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from credo.errors import OptionError
from credo.options import TableFormat
from credo.types import PathLike, TableLike

USUAL = TableFormat()


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
    if not isinstance(data, str | os.PathLike):
        raise OptionError(f"table_format describes a file, but the data are no path: they are a {type(data).__name__}.")
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

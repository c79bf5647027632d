"""The header of a CSV file, and how a single record falls into fields; `core/csv.py` reads all others."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from credo.core.csv import QUOTE
from credo.errors import DataError, readable_bytes
from credo.io.columns import SAVE_OR_DECLARE
from credo.io.dialects import USUAL, declaration
from credo.options import TableFormat

LONGEST_HEADER = 4 * 2**20  # bytes
MOST_HEADER_LINES = 50  # that names in quotes may take
FOUND_SEPARATORS = ",;\t"
OTHER_SEPARATORS = "|: "  # which have to be declared

Bytes = NDArray[np.uint8]

# Fields ---------------------------------------------------------------------------------------------------------------


_QUOTED = rb'"([^"]*+(?:""[^"]*+)*+)"[ \t\r]*+'
_TRAILING = re.compile(_QUOTED + rb"[^ \t\r]")


@cache
def _field_pattern(separator: int) -> re.Pattern[bytes]:
    """Group 1 is what is in quotes, group 2 what is without; group 3 is what ends the field."""
    mark = re.escape(bytes([separator]))
    plain = rb'((?:[^"%s\n][^%s\n]*+)?)' % (mark, mark)
    # Blanks behind a quote end before a separator that is a blank itself.
    quoted = _QUOTED.replace({ord("\t"): rb"\t", ord(" "): b" "}.get(separator, b"none"), b"")
    return re.compile(rb"(?:%s|%s)([%s\n])" % (quoted, plain, mark))


def is_quoted(buffer: Bytes, start: int) -> bool:
    """Whether the field that starts here is in quotes."""
    return start > 0 and bool(buffer[start - 1] == QUOTE)


def field_text(raw: bytes, quoted: bool, errors: str = "replace") -> str:
    """The text of a field; within quotes, two quotes are one."""
    text = raw.decode("utf-8", errors=errors)
    return text.replace('""', '"') if quoted else text


# Records --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of one record, and what is wrong with its quotes."""

    fields: Sequence[str]
    is_open: bool = False  # whether a quote is not closed
    trailing: str | None = None  # text behind a closing quote, with what comes before it


def split_record(text: str, separator: str) -> Record:
    """The fields of a record without its line end, by the rules of `scan`."""
    if '"' not in text:
        return Record(text.split(separator))
    raw, field_of, at, fields = text.encode("utf-8", "surrogatepass"), _field_pattern(ord(separator)), 0, list[str]()
    raw += b"\n"
    while at < len(raw):
        match = field_of.match(raw, at)
        if match is None:
            rest = raw[at:-1].decode("utf-8", "replace")
            trails = _TRAILING.match(raw, at) is not None
            return Record([*fields, rest.lstrip('"')], not trails, rest if trails else None)
        quoted = match.start(1) >= 0
        fields.append(field_text(match[1 if quoted else 2], quoted))
        at = match.end()
        if match[3] == b"\n":
            break
    return Record(fields)


# The header -----------------------------------------------------------------------------------------------------------


def read_header(
    file: BinaryIO, path: Path, known: Container[str], table_format: TableFormat = USUAL
) -> tuple[list[str], str]:
    """The column names and the separator, declared or found; `known` are names that may be among them."""
    declared, usual = table_format.separator, "," if table_format.decimal == "." else ";"
    line = file.readline(LONGEST_HEADER)
    for lines in range(MOST_HEADER_LINES):
        if len(line) >= LONGEST_HEADER and not line.endswith(b"\n"):
            raise DataError(
                f"{path}: the first line, which must hold the names of the columns, is longer than "
                f"{readable_bytes(LONGEST_HEADER)}. Is this a CSV file?"
            )
        text = _header_text(line, path)
        # The separator is the one that finds most known names in the header, and the usual one where none finds any.
        split = {separator: split_record(text, separator) for separator in declared or FOUND_SEPARATORS}
        names = {separator: [name.strip() for name in record.fields] for separator, record in split.items()}
        separator = max(names, key=lambda s: (sum(name in known for name in names[s]), len(names[s]) > 1, s == usual))
        if not split[separator].is_open:
            break
        more = file.readline(LONGEST_HEADER) if lines + 1 < MOST_HEADER_LINES else b""
        if not more:
            raise DataError(f"{path}: a double quote is opened in the header and not closed: {text[:80]}")
        line += more  # a name in quotes may hold a line end
    if (trailing := split[separator].trailing) is not None:
        hint = ""
        if mark := re.fullmatch(r'(?:"[^"]*"([ |^:]))+?"[^"]*"', text):
            hint = f"\nIf “{mark[1]}” stands between the cells, declare it: {declaration('separator', mark[1])}."
        raise DataError(f"{path}: in the header, text follows a closing double quote: {trailing[:80]}{hint}")
    if declared is None and len(names[separator]) == 1 and names[separator][0] not in known:
        _require_no_other_separator(text, path, known)
    return names[separator], separator


def _require_no_other_separator(text: str, path: Path, known: Container[str]) -> None:
    """Raise if a separator that has to be declared would find known names in a header."""
    for separator in OTHER_SEPARATORS:
        names = [name.strip() for name in split_record(text, separator).fields]
        if len(names) > 1 and any(name in known for name in names):
            how = declaration("separator", separator)
            raise DataError(f"{path}: its cells seem to be separated by “{separator}”. Declare it: {how}.")


def _header_text(line: bytes, path: Path) -> str:
    if line[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in line:
        raise DataError(
            f"{path}: this is not a CSV file in UTF-8. If it comes from a spreadsheet, save it as “CSV UTF-8”; if it "
            f"is UTF-16, declare it: {declaration('encoding', 'utf-16')}."
        )
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise DataError(f"{path}: the header is not UTF-8: {SAVE_OR_DECLARE}") from None
    if re.search(r"\r(?!\n)", text):
        raise DataError(
            f"{path}: the lines end with a carriage return alone, as on old Macintoshes. Save the file as “CSV UTF-8” "
            "in a spreadsheet, or with modern line endings."
        )
    if not text.strip():
        raise DataError(f"{path}: the table is empty. Its first line must hold the names of the columns.")
    return text

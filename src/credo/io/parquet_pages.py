"""The headers of a Parquet file's pages, looked at before polars reads it.

Polars takes as much memory as a header asks for, and ends the whole process where there is not so much. Of all numbers
in a file (tried one by one, at the ends of their ranges) three do that: the unpacked size of a page, the number of
values in a dictionary, and that of a page of version 2 if it is negative. They are compared with what else the file
says, so leniently that no file is refused that a program wrote and polars can read. A footer that is not Thrift is
refused, because polars might still make something of it. Whatever else is wrong is left to polars, which raises an
exception for it.

The format: https://parquet.apache.org/docs/file-format/metadata, in Thrift's compact protocol.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from credo.errors import DataError, readable_bytes

ALWAYS_UNPACKED = 64 * 2**20  # bytes that a page may unpack to; programs write pages of about 1 MB
SLOPPY = 4  # times the unpacked size of its column that a page may have, in case a program counts otherwise
HEADER_BYTES = 512  # of a page header; one with long statistics is read again
LONGEST_HEADER = 2**20
LARGEST_SIZE = 2**31 - 1  # sizes in headers have 32 bits, with a sign

# Fields, by their numbers in the format.
ROW_GROUPS, COLUMNS, META_DATA = 4, 1, 3
NAME, UNPACKED_TOTAL, PACKED_TOTAL, DATA_OFFSET, DICTIONARY_OFFSET = 3, 6, 7, 9, 11
UNPACKED, PACKED, DATA_PAGE, DICTIONARY, DATA_PAGE_V2, VALUES = 2, 3, 5, 7, 8, 1

Struct = dict[int, Any]


def check_pages(path: Path) -> None:
    """Raise if a page asks for memory that it cannot need; the file is known to end as Parquet files do."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(size - 8)
        length = int.from_bytes(file.read(4), "little")
        file.seek(size - 8 - length)
        try:
            metadata, _ = _read_struct(file.read(length), 0)
        except _UNREADABLE:
            raise DataError(
                f"{path} cannot be read as Parquet: its footer is damaged. Copy or write it again."
            ) from None
        for column in _columns(metadata):
            for page in _pages(file, column, size):
                if (problem := _problem(page, _number(column, UNPACKED_TOTAL))) is not None:
                    raise DataError(
                        f"{path} cannot be read as Parquet: a page of the column {_name(column)} {problem}. "
                        "Is the file damaged?"
                    )


def _problem(page: Struct, total: int) -> str | None:
    """What is impossible about a page."""
    unpacked, entries = _number(page, UNPACKED), _number(page, DICTIONARY, VALUES)
    if unpacked > max(ALWAYS_UNPACKED, SLOPPY * total):
        return f"unpacks to {readable_bytes(unpacked)}, more than the whole column"
    if entries > max(0, unpacked):
        return f"has {unpacked:,} bytes and {entries:,} values"
    sizes = (unpacked, entries, _number(page, DATA_PAGE, VALUES), _number(page, DATA_PAGE_V2, VALUES))
    if min(sizes) < 0:
        return "has a negative size"
    if max(sizes) > LARGEST_SIZE:  # polars would keep its last 32 bits
        return f"says that it has {max(sizes):,} values"
    return None


def _number(struct: Any, *path: int) -> int:
    """A number in a struct, or in a struct within it; 0 where there is none."""
    for field in path:
        struct = struct.get(field) if isinstance(struct, dict) else None
    return struct if isinstance(struct, int) else 0


def _name(column: Struct) -> str:
    parts = column.get(NAME)
    texts = [part for part in parts if isinstance(part, bytes)] if isinstance(parts, list) else []
    return b".".join(texts).decode("utf-8", "replace")


def _columns(metadata: Struct) -> Iterator[Struct]:
    """The metadata of each column in each group of rows; none where the footer has no such fields."""
    try:
        columns = [column[META_DATA] for group in metadata[ROW_GROUPS] for column in group[COLUMNS]]
    except _UNREADABLE:
        return
    yield from (column for column in columns if isinstance(column, dict))


def _pages(file: BinaryIO, column: Struct, size: int) -> Iterator[Struct]:
    """The headers of a column's pages, up to one that cannot be understood."""
    try:
        start = _number(column, DICTIONARY_OFFSET if DICTIONARY_OFFSET in column else DATA_OFFSET)
        stop = min(size, start + _number(column, PACKED_TOTAL))
        while 0 <= start < stop:
            page, length = _read_header(file, start)
            yield page
            start += length + max(0, _number(page, PACKED))
    except _UNREADABLE:
        return


def _read_header(file: BinaryIO, start: int) -> tuple[Struct, int]:
    """A page's header, and how long it is."""
    count = HEADER_BYTES
    while True:
        file.seek(start)
        content = file.read(count)
        try:
            return _read_struct(content, 0)
        except IndexError:
            if len(content) < count or count >= LONGEST_HEADER:
                raise
            count *= 16


# Thrift's compact protocol --------------------------------------------------------------------------------------------


TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
_UNREADABLE = (IndexError, KeyError, TypeError, ValueError, RecursionError)


def _read_struct(raw: bytes, at: int) -> tuple[Struct, int]:
    """The fields of a struct by their numbers, and where it ends; `IndexError` where the content is too short."""
    fields: Struct = {}
    number = 0
    while (header := raw[at]) & 15:  # the kind 0 ends a struct, whatever else is in its byte
        at += 1
        if header >> 4:
            number += header >> 4
        else:
            number, at = _read_integer(raw, at)
        fields[number], at = _read_value(raw, at, header & 15)
    return fields, at + 1


def _read_value(raw: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (I16, I32, I64):
        return _read_integer(raw, at)
    if kind == BINARY:
        length, at = _read_varint(raw, at)
        return raw[at : at + length], _within(raw, at + length)
    if kind == STRUCT:
        return _read_struct(raw, at)
    if kind in (TRUE, FALSE):
        return kind == TRUE, at
    if kind in (LIST, SET):
        return _read_list(raw, at)
    if kind == MAP:
        return _read_map(raw, at)
    if kind == BYTE:
        return raw[at], at + 1
    if kind == DOUBLE:
        return None, _within(raw, at + 8)
    raise ValueError(f"there is no value of the kind {kind} in Parquet")


def _read_list(raw: bytes, at: int) -> tuple[list[Any], int]:
    header, at = raw[at], at + 1
    count, kind = header >> 4, header & 15
    if count == 15:
        count, at = _read_varint(raw, at)
    if count > len(raw):
        raise ValueError("a list that is longer than its file")
    values = []
    for _ in range(count):
        if kind in (TRUE, FALSE):  # one byte each, within a list
            value, at = raw[at], at + 1
        else:
            value, at = _read_value(raw, at, kind)
        values.append(value)
    return values, at


def _read_map(raw: bytes, at: int) -> tuple[None, int]:
    """Where a map ends; none of the fields that matter is one."""
    count, at = _read_varint(raw, at)
    if count > len(raw):
        raise ValueError("a map that is longer than its file")
    if count:
        kinds, at = raw[at], at + 1
        for _ in range(count):
            for kind in (kinds >> 4, kinds & 15):
                at = at + 1 if kind in (TRUE, FALSE) else _read_value(raw, at, kind)[1]
    return None, at


def _read_integer(raw: bytes, at: int) -> tuple[int, int]:
    number, at = _read_varint(raw, at)
    return (number >> 1) ^ -(number & 1), at


def _read_varint(raw: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while (byte := raw[at]) >= 128:
        number |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
    return number | byte << shift, at + 1


def _within(raw: bytes, at: int) -> int:
    if at > len(raw):
        raise IndexError
    return at

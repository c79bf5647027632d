"""The reader of CSV files in plain Python, with which tests compare the compiled one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import credo.io.csv as csv_reader
from credo.core.csv import DONE, FULL, OTHER, RAGGED, STATE, TEXT, TRAILING, KnownTexts
from credo.io.csv_records import _TRAILING, Bytes, _field_pattern


@contextmanager
def plain_reader() -> Iterator[None]:
    """Inside of it, files are read in plain Python."""
    before = csv_reader.scan, csv_reader.read_decimals
    csv_reader.scan, csv_reader.read_decimals = scan, _leave_decimals
    try:
        yield
    finally:
        csv_reader.scan, csv_reader.read_decimals = before


def scan(
    buffer: Bytes,
    start: int,
    stop: int,
    separator: int,
    roles: NDArray[np.int64],
    targets: NDArray[np.int64],
    known: KnownTexts,
    codes: NDArray[Any],
    spans: NDArray[np.int64],
    unknown: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """The same as `core.csv.scan`, field by field."""
    raw, field_of = buffer[:stop].tobytes(), _field_pattern(separator)
    roles_and_targets = zip(roles.tolist(), targets.tolist(), strict=True)
    uses = [(role, target, known.known.get(number, {})) for number, (role, target) in enumerate(roles_and_targets)]
    row, at, misses = 0, start, 0
    while at < stop:
        if row == len(codes):
            return row, at, misses, FULL
        record, field, last = at, 0, False
        while not last:
            match = field_of.match(raw, at)
            if match is None:
                # The record goes on behind this piece, or a field goes on behind its quotes.
                ending = TRAILING if _TRAILING.match(raw, at) else DONE
                return row, record, misses, ending
            is_quoted = match.start(1) >= 0
            begin, end = match.span(1 if is_quoted else 2)
            last, at = match[3] == b"\n", match.end()
            if last and not is_quoted and raw[begin:end].endswith(b"\r"):
                end -= 1
            if last and field == 0 and begin == end and len(uses) > 1:
                record, last = at, False  # a blank line is not a record
                continue
            if field >= len(uses):
                return row, record, misses, RAGGED
            role, target, codes_of = uses[field]
            if role == STATE:
                code = codes_of.get(raw[begin:end])
                if code is not None:
                    codes[row, target] = code
                elif misses < len(unknown):
                    unknown[misses] = field, begin, end, row
                    misses += 1
            elif role == TEXT:
                spans[row, target] = begin, end
            field += 1
        if field != len(uses):
            return row, record, misses, RAGGED
        row += 1
    return row, at, misses, DONE


def _leave_decimals(buffer: Bytes, spans: NDArray[np.int64], numbers: NDArray[Any], kinds: NDArray[np.int8]) -> None:
    """Leave every number to Python's own reading."""
    numbers[:], kinds[:] = np.nan, OTHER

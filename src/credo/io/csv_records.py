"""The records of a CSV buffer in plain Python: what reads small files, and the reference of the compiled loop.

A field is quoted where it begins with a double quote: then it ends at the next double quote that is not doubled, and
what follows up to the separator is ignored. Any other field goes up to the next separator or line end, without a
carriage return before the latter. A blank line is no record, unless the table has a single column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.kernels.csv import DONE, FULL, RAGGED, STATE, TEXT


def scan_plain(
    buffer: NDArray[np.uint8],
    start: int,
    stop: int,
    separator: int,
    roles: NDArray[np.int64],
    targets: NDArray[np.int64],
    known: Mapping[int, Mapping[bytes, int]],
    codes: NDArray[Any],
    spans: NDArray[np.int64],
    unknown: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """The same as `kernels.csv.scan`, with dictionaries of the known texts of each field."""
    raw, field_of = buffer[:stop].tobytes(), _field_pattern(separator)
    roles_and_targets = zip(roles.tolist(), targets.tolist(), strict=True)
    uses = [(role, target, known.get(number, {})) for number, (role, target) in enumerate(roles_and_targets)]
    row, at, misses = 0, start, 0
    while at < stop:
        if row == len(codes):
            return row, at, misses, FULL
        record, field, last = at, 0, False
        while not last:
            match = field_of.match(raw, at)
            if match is None:
                return row, record, misses, DONE  # the record goes on behind this piece
            is_quoted = match.start(1) >= 0
            begin, end = match.span(1 if is_quoted else 2)
            last, at = match[3] == b"\n", match.end()
            if last and not is_quoted and raw[begin:end].endswith(b"\r"):
                end -= 1
            if last and field == 0 and begin == end and len(uses) > 1:
                record, last = at, False  # a blank line is no record
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


@cache
def _field_pattern(separator: int) -> re.Pattern[bytes]:
    """Group 1 is what stands in quotes, group 2 what stands without; group 3 is what ends the field."""
    mark = re.escape(bytes([separator]))
    quoted = rb'"((?:[^"]|"")*+)"[^%s\n]*+' % mark
    plain = rb'((?:[^"%s\n][^%s\n]*+)?)' % (mark, mark)
    return re.compile(rb"(?:%s|%s)([%s\n])" % (quoted, plain, mark))

"""The compiled loop that turns the bytes of a CSV file into state numbers, without making a string of any field.

Eight bytes are looked at at once. The end of a field is found with the old trick for a zero byte in a word,
(x − 0x01…01) & ~x & 0x80…80, and a text of up to seven bytes is its own key in a small hash table: no branch depends
on the length or the value of a field, which is where a byte-by-byte loop loses its time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

PADDING = 16  # bytes that must be readable behind the end of a buffer
QUOTE, NEWLINE, RETURN, SPACE, TAB = 34, 10, 13, 32, 9

# What a field is for.
IGNORE, STATE, TEXT = 0, 1, 2

# How a scan ended: at the end, at a record with the wrong number of fields, at the end of the output, or at a record
# with text behind a closing quote.
DONE, RAGGED, FULL, TRAILING = 0, 1, 2, 3

EMPTY = -2  # the code of a free slot

_U = np.uint64
_ONES, _HIGHS = _U(0x0101010101010101), _U(0x8080808080808080)
_MIX, _LONG = _U(0x9E3779B97F4A7C15), _U(0xFF00000000000000)
_0, _1, _7, _8, _32, _56, _255 = _U(0), _U(1), _U(7), _U(8), _U(32), _U(56), _U(255)
_SHIFTS = tuple(_U(8 * i) for i in range(8))


@compiled(inline="always")
def word_at(buffer: Any, at: Any) -> Any:  # pragma: no cover
    """Eight bytes as one number, the first byte lowest; the compiler makes a single load of it."""
    i = _U(at)
    return (
        _U(buffer[i])
        | (_U(buffer[i + _U(1)]) << _SHIFTS[1])
        | (_U(buffer[i + _U(2)]) << _SHIFTS[2])
        | (_U(buffer[i + _U(3)]) << _SHIFTS[3])
        | (_U(buffer[i + _U(4)]) << _SHIFTS[4])
        | (_U(buffer[i + _U(5)]) << _SHIFTS[5])
        | (_U(buffer[i + _U(6)]) << _SHIFTS[6])
        | (_U(buffer[i + _U(7)]) << _SHIFTS[7])
    )


@compiled
def key_of(buffer: Any, start: int, length: int) -> Any:  # pragma: no cover
    """The key of a text: its bytes if it has at most seven, else a hash whose top byte no short text has."""
    if length <= 7:
        return word_at(buffer, start) & ((_1 << _U(8 * length)) - _1)
    key = _U(length)
    for i in range(0, length, 8):
        word = word_at(buffer, start + i)
        if length - i < 8:
            word &= (_1 << _U(8 * (length - i))) - _1
        key = (key ^ word) * _MIX
        key ^= key >> _32
    return key | _LONG


@compiled(inline="always")
def same_bytes(buffer: Any, start: int, pool: Any, at: int, length: int) -> bool:  # pragma: no cover
    for i in range(length):  # noqa: SIM110 (a plain loop is what compiles best)
        if buffer[start + i] != pool[at + i]:
            return False
    return True


@compiled
def scan(  # pragma: no cover
    buffer: Any,  # uint8, with PADDING bytes behind `stop`
    start: int,
    stop: int,
    separator: int,
    roles: Any,  # (fields,) IGNORE, STATE or TEXT
    targets: Any,  # (fields,) column of `codes` or of `spans`
    tables: Any,  # (fields, 2) start and mask of the field's hash table
    keys: Any,  # (slots,) uint64
    values: Any,  # (slots,) code, or EMPTY
    texts: Any,  # (slots, 2) start and length in `pool`, to be sure of long texts
    pool: Any,  # uint8
    codes: Any,  # (rows, variables) out
    spans: Any,  # (rows, texts, 2) out: start and end of the fields that are kept as text
    unknown: Any,  # (some, 4) out: field, start, end, row of texts that are not known
) -> tuple[int, int, int, int]:
    """Read whole records of buffer[start:stop].

    Returns the records read, where the first unread record starts, how many texts were unknown, and how it ended.
    A last record without a line end is left unread.
    """
    fields = len(roles)
    separators, newlines = _ONES * _U(separator), _ONES * _U(NEWLINE)
    row, at, misses = 0, start, 0
    while at < stop:
        if row == len(codes):
            return row, at, misses, FULL
        record, field, complete = at, 0, False
        while at < stop:
            word = word_at(buffer, at)
            begin = at
            if (word & _255) == _U(QUOTE):
                begin = at + 1
                at += 1
                while at < stop and (buffer[at] != QUOTE or buffer[at + 1] == QUOTE):
                    at += 2 if buffer[at] == QUOTE else 1
                length = at - begin
                at += 1
                while at < stop and buffer[at] != separator and buffer[at] != NEWLINE:
                    if buffer[at] != SPACE and buffer[at] != TAB and buffer[at] != RETURN:
                        return row, record, misses, TRAILING
                    at += 1
                key = key_of(buffer, begin, length)
            else:
                x, y = word ^ separators, word ^ newlines
                ends = (((x - _ONES) & ~x) | ((y - _ONES) & ~y)) & _HIGHS
                if ends != _0:
                    lowest = ends & (~ends + _1)
                    length = np.int64((((lowest - _1) & _ONES) * _ONES) >> _56) - 1
                    key = word & ((lowest >> _7) - _1)
                    at += length
                else:
                    at += 8
                    while at < stop and buffer[at] != separator and buffer[at] != NEWLINE:
                        at += 1
                    length = at - begin
                    key = key_of(buffer, begin, length)
                if length > 0 and buffer[at - 1] == RETURN and at < stop and buffer[at] == NEWLINE:
                    length -= 1
                    key = key_of(buffer, begin, length)
            if at >= stop:
                break  # the record goes on behind this piece
            last = buffer[at] == NEWLINE
            if last and field == 0 and length == 0 and fields > 1:
                at += 1
                record = at  # a blank line is not a record
                continue
            if field >= fields:
                return row, record, misses, RAGGED
            role = roles[field]
            if role == STATE:
                base, mask = tables[field, 0], tables[field, 1]
                slot = np.int64((key * _MIX) >> _32) & mask
                while values[base + slot] != EMPTY:
                    if keys[base + slot] == key and (
                        length <= 7
                        or (
                            texts[base + slot, 1] == length
                            and same_bytes(buffer, begin, pool, texts[base + slot, 0], length)
                        )
                    ):
                        break
                    slot = (slot + 1) & mask
                value = values[base + slot]
                if value != EMPTY:
                    codes[row, targets[field]] = value
                elif misses < len(unknown):
                    unknown[misses, 0], unknown[misses, 1] = field, begin
                    unknown[misses, 2], unknown[misses, 3] = begin + length, row
                    misses += 1
            elif role == TEXT:
                spans[row, targets[field], 0] = begin
                spans[row, targets[field], 1] = begin + length
            field += 1
            at += 1
            if last:
                complete = True
                break
        if not complete:
            return row, record, misses, DONE
        if field != fields:
            return row, record, misses, RAGGED
        row += 1
    return row, at, misses, DONE


@compiled
def insert(  # pragma: no cover
    keys: Any, values: Any, texts: Any, pool: Any, base: int, mask: int, start: int, length: int, value: int
) -> None:
    """Put the text pool[start:start+length] into the hash table of its field."""
    key = key_of(pool, start, length)
    slot = np.int64((key * _MIX) >> _32) & mask
    while values[base + slot] != EMPTY:
        slot = (slot + 1) & mask
    keys[base + slot], values[base + slot] = key, value
    texts[base + slot, 0], texts[base + slot, 1] = start, length

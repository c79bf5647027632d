# cython: infer_types=True
"""Loops that turn the bytes of a CSV file into state numbers and numbers, without making a string of any field.

Eight bytes are looked at at once. The end of a field is found with the old trick for a zero byte in a word,
(x − 0x01…01) & ~x & 0x80…80, and a text of up to seven bytes is its own key in a small hash table: no branch depends
on the length or the value of a field, which is where a byte-by-byte loop loses its time.

A decimal of at most 15 digits and a power of ten of at most 22 is the quotient or product of two floats that are exact,
and so is rounded once [W. D. Clinger, How to read floating point numbers accurately, 1990]. Others are as good as three
roundings make them, and marked: whoever needs the last bit reads them again.
"""

import cython
import numpy as np
from cython.cimports.libc.math import NAN, isfinite
from cython.cimports.libc.stdint import int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t

NEARLY = 1e-14  # relative
LARGEST_POWER = cython.declare(int64_t, 280)  # of ten; numbers beyond are left to others
MOST_MANTISSA = cython.declare(int64_t, 10**17)  # up to here it takes one more digit
WHOLE = cython.declare(int64_t, 2**53)
POWERS = cython.declare(cython.double[::1], np.array([float(f"1e{power}") for power in range(281)]))

Code = cython.fused_type(int8_t, int16_t, int32_t)


# Texts ----------------------------------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _word_at(buffer: cython.const[uint8_t][::1], at: cython.Py_ssize_t) -> uint64_t:
    """Eight bytes as one number, the first byte lowest; the compiler makes a single load of it."""
    return (
        cython.cast(uint64_t, buffer[at])
        | (cython.cast(uint64_t, buffer[at + 1]) << 8)
        | (cython.cast(uint64_t, buffer[at + 2]) << 16)
        | (cython.cast(uint64_t, buffer[at + 3]) << 24)
        | (cython.cast(uint64_t, buffer[at + 4]) << 32)
        | (cython.cast(uint64_t, buffer[at + 5]) << 40)
        | (cython.cast(uint64_t, buffer[at + 6]) << 48)
        | (cython.cast(uint64_t, buffer[at + 7]) << 56)
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
@cython.overflowcheck(False)
def _hashed(key: uint64_t) -> uint64_t:
    """The bits of a key mixed: 2^64 divided by the golden ratio is the multiplier."""
    return key * cython.cast(uint64_t, 0x9E3779B97F4A7C15)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _key_of(buffer: cython.const[uint8_t][::1], start: cython.Py_ssize_t, length: cython.Py_ssize_t) -> uint64_t:
    """The key of a text: its bytes if it has at most seven, else a hash whose top byte no short text has."""
    one: uint64_t = 1
    if length <= 7:
        return _word_at(buffer, start) & ((one << (8 * length)) - 1)
    key: uint64_t = length
    at: cython.Py_ssize_t = 0
    while at < length:
        word = _word_at(buffer, start + at)
        if length - at < 8:
            word &= (one << (8 * (length - at))) - 1
        key = _hashed(key ^ word)
        key ^= key >> 32
        at += 8
    return key | cython.cast(uint64_t, 0xFF00000000000000)


class KnownTexts:
    """The texts that are known of each field, and the code of each: a hash table for each field.

    `known` has a dictionary for each field that holds states: text as it stands in the file → code.
    """

    def __init__(self, fields, known):
        self.known = known
        sizes = {field: 1 << (4 * len(texts)).bit_length() for field, texts in known.items()}
        slots = sum(sizes.values())
        joined = b"".join(text for texts in known.values() for text in texts)
        self.pool = np.frombuffer(joined + bytes(PADDING), dtype=np.uint8)
        self.starts, self.masks = np.zeros(fields, dtype=np.int64), np.zeros(fields, dtype=np.int64)
        self.keys, self.values = np.zeros(slots, dtype=np.uint64), np.full(slots, -2, dtype=np.int32)
        self.places, self.lengths = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int64)
        base = start = 0
        for field, texts in known.items():
            self.starts[field], self.masks[field] = base, sizes[field] - 1
            for text, code in texts.items():
                self._insert(field, start, len(text), code)
                start += len(text)
            base += sizes[field]

    def _insert(self, field, start, length, value):
        key: uint64_t = _key_of(self.pool, start, length)
        base: int64_t = self.starts[field]
        mask: int64_t = self.masks[field]
        slot: int64_t = cython.cast(int64_t, _hashed(key) >> 32) & mask
        while self.values[base + slot] != -2:  # which is free
            slot = (slot + 1) & mask
        self.keys[base + slot], self.values[base + slot] = key, value
        self.places[base + slot], self.lengths[base + slot] = start, length


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _code_of(
    known: KnownTexts,
    field: cython.Py_ssize_t,
    key: uint64_t,
    buffer: cython.const[uint8_t][::1],
    begin: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> int32_t:
    """The code of a text of a field; -2 where it is not known."""
    base: int64_t = known.starts[field]
    mask: int64_t = known.masks[field]
    slot: int64_t = cython.cast(int64_t, _hashed(key) >> 32) & mask
    while known.values[base + slot] != -2:
        if known.keys[base + slot] == key:
            if length <= 7:
                break
            if known.lengths[base + slot] == length:
                is_same = True
                for i in range(length):
                    if buffer[begin + i] != known.pool[known.places[base + slot] + i]:
                        is_same = False
                        break
                if is_same:
                    break
        slot = (slot + 1) & mask
    return known.values[base + slot]


@cython.overflowcheck(False)  # words are made of bytes by arithmetic without carries
def scan(
    buffer: cython.const[uint8_t][::1],  # with PADDING bytes behind `stop`
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    separator: uint8_t,
    roles: cython.const[int64_t][::1],  # (fields,) IGNORE, STATE or TEXT
    targets: cython.const[int64_t][::1],  # (fields,) column of `codes` or of `spans`
    known: KnownTexts,
    codes: Code[:, ::1],  # (rows, variables) out
    spans: int64_t[:, :, ::1],  # (rows, texts, 2) out: start and end of the fields that are kept as text
    unknown: int64_t[:, ::1],  # (some, 4) out: field, start, end, row of texts that are not known
):
    """Read whole records of buffer[start:stop].

    Returns the records read, where the first unread record starts, how many texts were unknown, and how it ended.
    A last record without a line end is left unread.
    """
    if not 0 <= start <= stop <= buffer.shape[0] - PADDING:
        raise ValueError("The buffer ends too early.")
    fields: cython.Py_ssize_t = roles.shape[0]
    ones: uint64_t = 0x0101010101010101
    highs: uint64_t = 0x8080808080808080
    separators: uint64_t = ones * separator
    newlines: uint64_t = ones * NEWLINE
    row: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t = start
    misses: cython.Py_ssize_t = 0
    record: cython.Py_ssize_t = start
    field: cython.Py_ssize_t
    length: cython.Py_ssize_t
    ending: cython.int = DONE
    is_last: cython.bint
    with cython.nogil:
        while at < stop and ending == DONE:
            record, field, is_complete = at, 0, False
            if row == codes.shape[0]:
                ending = FULL
                break
            while at < stop:
                word = _word_at(buffer, at)
                begin = at
                if (word & 255) == QUOTE:
                    begin = at + 1
                    at += 1
                    while at < stop and (buffer[at] != QUOTE or buffer[at + 1] == QUOTE):
                        at += 2 if buffer[at] == QUOTE else 1
                    length = at - begin
                    at += 1
                    while at < stop and buffer[at] != separator and buffer[at] != NEWLINE:
                        if buffer[at] != SPACE and buffer[at] != TAB and buffer[at] != RETURN:
                            ending = TRAILING
                            break
                        at += 1
                    if ending == TRAILING:
                        break
                    key = _key_of(buffer, begin, min(length, stop - begin))
                else:
                    x, y = word ^ separators, word ^ newlines
                    ends = (((x - ones) & ~x) | ((y - ones) & ~y)) & highs
                    if ends != 0:
                        lowest = ends & (~ends + 1)
                        length = cython.cast(cython.Py_ssize_t, (((lowest - 1) & ones) * ones) >> 56) - 1
                        key = word & ((lowest >> 7) - 1)
                        at += length
                    else:
                        at += 8
                        while at < stop and buffer[at] != separator and buffer[at] != NEWLINE:
                            at += 1
                        length = at - begin
                        key = _key_of(buffer, begin, min(length, stop - begin))
                    if length > 0 and buffer[at - 1] == RETURN and at < stop and buffer[at] == NEWLINE:
                        length -= 1
                        key = _key_of(buffer, begin, length)
                if at >= stop:
                    break  # the record goes on behind this piece
                is_last = buffer[at] == NEWLINE
                if is_last and field == 0 and length == 0 and fields > 1:
                    at += 1
                    record = at  # a blank line is not a record
                    continue
                if field >= fields:
                    ending = RAGGED
                    break
                if roles[field] == STATE:
                    code = _code_of(known, field, key, buffer, begin, length)
                    if code != -2:
                        codes[row, targets[field]] = code
                    elif misses < unknown.shape[0]:
                        unknown[misses, 0], unknown[misses, 1] = field, begin
                        unknown[misses, 2], unknown[misses, 3] = begin + length, row
                        misses += 1
                elif roles[field] == TEXT:
                    spans[row, targets[field], 0] = begin
                    spans[row, targets[field], 1] = begin + length
                field += 1
                at += 1
                if is_last:
                    is_complete = True
                    break
            if ending != DONE or not is_complete:
                break
            if field != fields:
                ending = RAGGED
                break
            row += 1
            record = at
    return row, record, misses, ending


# Numbers --------------------------------------------------------------------------------------------------------------


def read_decimals(
    buffer: cython.const[uint8_t][::1],
    spans: cython.const[int64_t][:, :],  # (rows, 2)
    numbers: cython.double[::1],  # (rows,) out, NaN where it is none
    kinds: int8_t[::1],  # (rows,) out: BLANK, EXACT, NEAR or OTHER
):
    """Read the field from spans[i, 0] to below spans[i, 1] into numbers[i], and say in kinds[i] what it is."""
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    mantissa: int64_t
    power: int64_t
    exponent: int64_t
    digits: cython.int
    places: cython.int
    sign: uint8_t
    is_negative: cython.bint
    is_down: cython.bint
    is_after_point: cython.bint
    is_near: cython.bint
    value: cython.double
    with cython.nogil:
        for row in range(spans.shape[0]):
            at, end = spans[row, 0], spans[row, 1]
            while at < end and buffer[at] == SPACE:
                at += 1
            while at < end and buffer[end - 1] == SPACE:
                end -= 1
            numbers[row] = NAN
            if at == end:
                kinds[row] = BLANK
                continue
            kinds[row] = OTHER
            is_negative = buffer[at] == MINUS
            if is_negative or buffer[at] == PLUS:
                at += 1
            mantissa = power = 0
            digits = 0
            is_after_point = is_near = False
            while at < end:
                sign = buffer[at]
                if sign == POINT and not is_after_point:
                    is_after_point = True
                elif ZERO <= sign <= NINE:
                    digits += 1
                    if mantissa < MOST_MANTISSA:
                        mantissa = 10 * mantissa + (sign - ZERO)
                        power -= is_after_point
                    else:
                        is_near = True
                        power += not is_after_point
                else:
                    break
                at += 1
            if digits == 0:
                continue
            if at < end:
                if (buffer[at] | 32) != LETTER_E:
                    continue
                at += 1
                is_down = at < end and buffer[at] == MINUS
                if at < end and (is_down or buffer[at] == PLUS):
                    at += 1
                exponent, places = 0, 0
                while at < end and ZERO <= buffer[at] <= NINE:
                    exponent = min(10 * exponent + (buffer[at] - ZERO), 100_000)
                    places += 1
                    at += 1
                if places == 0 or at < end:
                    continue
                power += -exponent if is_down else exponent
            if power > LARGEST_POWER or power < -LARGEST_POWER:
                continue
            value = mantissa
            value = value / POWERS[-power] if power < 0 else value * POWERS[power]
            if not isfinite(value):
                continue
            numbers[row] = -value if is_negative else value
            kinds[row] = NEAR if is_near or mantissa >= WHOLE or power > 22 or power < -22 else EXACT

"""The compiled loop that turns decimal numbers in a text into floats, exactly where that is easy.

A number of at most 15 digits and a power of ten of at most 22 is the quotient or product of two floats that are exact,
and so is rounded once [W. D. Clinger, How to read floating point numbers accurately, 1990]. Others are as good as three
roundings make them, and marked: whoever needs the last bit reads them again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

# What a field is: nothing, a number rounded once, a number within `NEARLY` of what is returned, or something else.
BLANK, EXACT, NEAR, OTHER = 0, 1, 2, 3
NEARLY = 1e-14  # relative
LARGEST_POWER = 280  # of ten; numbers beyond are left to others

_POWERS = np.array([float(f"1e{power}") for power in range(LARGEST_POWER + 1)])
_SPACE, _PLUS, _MINUS, _POINT, _ZERO, _NINE, _E = 32, 43, 45, 46, 48, 57, 101
_MOST = 10**17  # a mantissa up to here takes one more digit
_WHOLE = 2**53


@compiled
def read_decimals(buffer: Any, spans: Any, numbers: Any, kinds: Any) -> None:  # pragma: no cover
    """Read the field from spans[i, 0] to below spans[i, 1] into numbers[i], and say in kinds[i] what it is."""
    for row in range(len(spans)):
        at, end = spans[row, 0], spans[row, 1]
        while at < end and buffer[at] == _SPACE:
            at += 1
        while at < end and buffer[end - 1] == _SPACE:
            end -= 1
        numbers[row] = np.nan
        if at == end:
            kinds[row] = BLANK
            continue
        kinds[row] = OTHER
        negative = buffer[at] == _MINUS
        if negative or buffer[at] == _PLUS:
            at += 1
        mantissa, power, digits, after_point, is_near = 0, 0, 0, False, False
        while at < end:
            sign = np.int64(buffer[at])
            if sign == _POINT and not after_point:
                after_point = True
            elif _ZERO <= sign <= _NINE:
                digits += 1
                if mantissa < _MOST:
                    mantissa = 10 * mantissa + (sign - _ZERO)
                    power -= 1 if after_point else 0
                else:
                    is_near = True
                    power += 0 if after_point else 1
            else:
                break
            at += 1
        if digits == 0:
            continue
        if at < end:
            if (buffer[at] | 32) != _E:
                continue
            at += 1
            down = at < end and buffer[at] == _MINUS
            if at < end and (down or buffer[at] == _PLUS):
                at += 1
            exponent, places = 0, 0
            while at < end and _ZERO <= buffer[at] <= _NINE:
                exponent = min(10 * exponent + (np.int64(buffer[at]) - _ZERO), 100_000)
                places += 1
                at += 1
            if places == 0 or at < end:
                continue
            power += -exponent if down else exponent
        if abs(power) > LARGEST_POWER:
            continue
        value = np.float64(mantissa)
        value = value / _POWERS[-power] if power < 0 else value * _POWERS[power]
        if not np.isfinite(value):
            continue
        numbers[row] = -value if negative else value
        kinds[row] = NEAR if is_near or mantissa >= _WHOLE or abs(power) > 22 else EXACT

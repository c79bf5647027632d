"""Which text a value of Python is as a state, and which number a text stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

LARGEST_WRITTEN_OUT = 1e15  # a whole number from here on has an exponent
_LIMIT = re.compile(r"(<=|>=|<|>|≤|≥)\s*([+-]?[\d.][\d.eE+-]*)")
_NUMBER = re.compile(r"[+-]?(\d++\.?\d*+|\.\d++)([eE][+-]?\d++)?")


STATES_OF_INTEREST = ("yes", "true", "present", "positive", "1", "high", "abnormal")


def state_of_interest(states: Sequence[str]) -> int:
    """Of two states the one that people ask for: yes, present, positive; of more the last, which is the highest."""
    return 0 if len(states) == 2 and states[0].casefold() in STATES_OF_INTEREST else len(states) - 1


def text_of(value: object) -> str:
    """A cell as text: `true` for True, `1` for 1, `1.0` for 1.0."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def plain(value: Any) -> Any:
    """A whole number as int, however it is stored, so that its state is called `1`, not `1.0`."""
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def number_text(number: float) -> str:
    """A number as short as it can be written exactly: `40`, `0.5`, `1e+22`."""
    return str(int(number)) if float(number).is_integer() and abs(number) < LARGEST_WRITTEN_OUT else repr(float(number))


def state_of(value: object) -> object:
    """A state that was given as a number or a truth value, as text; anything else is returned as it is."""
    is_number = isinstance(value, bool | int | float | np.bool_ | np.number)
    return text_of(plain(value)) if is_number and value == value else value


def limit_of(text: str) -> tuple[str, float] | None:
    """A detection limit such as `<0.3` or `>= 500`: its sign and its number; None for every other text."""
    found = _LIMIT.fullmatch(text.strip())
    number = None if found is None else number_of(found[2])
    if found is None or number is None:
        return None
    return {"≤": "<=", "≥": ">="}.get(found[1], found[1]), number


def number_within(text: str) -> float | None:
    """A number that a cell of a measured column stands for: itself, or one just beyond a detection limit."""
    if (number := number_of(text)) is not None or (limit := limit_of(text)) is None:
        return number
    sign, end = limit
    return end if "=" in sign else float(np.nextafter(end, -np.inf if sign == "<" else np.inf))


def is_number(text: str) -> bool:
    """Whether a text is a number: `40`, `-1.5`, `1e3`."""
    return _NUMBER.fullmatch(text) is not None


def number_of(text: str) -> float | None:
    """`1`, `1.0`, `1e0` and `true` are 1; `false` is 0; any other text is None."""
    word = text.casefold()
    if word in ("true", "false"):
        return float(word == "true")
    return float(text) if _NUMBER.fullmatch(text) else None

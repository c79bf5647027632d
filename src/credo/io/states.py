"""Which state a cell of a table means: by its text, else by its number or truth value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from credo.model.network import Variable

MISSING = -1
# How tables write a missing value. A state of exactly that name is a state.
MISSING_TEXTS = frozenset({"", "?", "*", "NaN", "nan", "null", "NULL", "NA"})

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How the values of one column are read: the texts of the states, and numbers that mean exactly one of them."""

    variable: Variable
    by_text: Mapping[str, int]
    by_number: Mapping[float, int]

    @classmethod
    def of(cls, variable: Variable) -> Lexicon:
        """The lexicon of a variable."""
        by_text = {state: code for code, state in enumerate(variable.states)}
        by_number: dict[float, int] = {}
        shared: set[float] = set()
        for state, code in by_text.items():
            number = number_of(state)
            if number is None:
                continue
            if number in by_number:
                shared.add(number)  # "1" and "1.0", or "1" and "true", in one variable: only the text is clear
            by_number[number] = code
        return cls(variable, by_text, {number: code for number, code in by_number.items() if number not in shared})

    def code(self, value: object) -> int | None:
        """The number of the state, `MISSING`, or None if the value is not a state of this variable."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return MISSING
        text = text_of(value)
        for candidate in (text, text.strip()):
            if candidate in self.by_text:
                return self.by_text[candidate]
            if candidate in MISSING_TEXTS:
                return MISSING
        number = number_of(text.strip())
        return None if number is None else self.by_number.get(number)


def text_of(value: object) -> str:
    """A cell as text: `true` for True, `1` for 1, `1.0` for 1.0."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def number_of(text: str) -> float | None:
    """`1`, `1.0`, `1e0` and `true` are 1; `false` is 0; any other text is None."""
    word = text.casefold()
    if word in ("true", "false"):
        return float(word == "true")
    return float(text) if _NUMBER.fullmatch(text) else None

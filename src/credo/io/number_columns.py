"""Columns of numbers as states: numbers are cut at the variable's cut points, names of states are accepted too.

What was seen is kept for each such variable: the range of its numbers, how many rows are outside of the range known
before, and numbers that may be codes for missing values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import OutsideRangeWarning
from credo.io.columns import Lexicon
from credo.io.files import warn_caller
from credo.model.cut_points import CutPoints
from credo.model.network import Network, Variable
from credo.model.state_texts import number_of, number_text, text_of
from credo.types import MISSING, Indices, Numbers

if TYPE_CHECKING:
    import polars as pl

# Numbers that people write where nothing is known.
CODES = frozenset(sign * number for number in (9, 99, 999, 9999, 99999, 888, 8888, 777, 7777) for sign in (1, -1)) | {
    -1
}
FAR = 1.0  # times the range of all other numbers that a code lies outside of it


@dataclass(frozen=True, slots=True)
class NumbersSeen:
    """The numbers in a column of a variable with cut points.

    Attributes
    ----------
    lowest, highest : float
        The smallest and the largest number.
    below, above : int
        How many rows hold a number below the lowest, or above the highest, that the cut points knew before.
    codes : tuple of tuple of float and int
        Numbers that people write where nothing is known, and how many rows hold each; none where they are not extreme.
    others : tuple of two floats, optional
        The smallest and the largest of the other numbers, where there are codes.
    """

    lowest: float
    highest: float
    below: int = 0
    above: int = 0
    codes: tuple[tuple[float, int], ...] = ()
    others: tuple[float, float] | None = None

    @property
    def apart_from_codes(self) -> tuple[float, float] | None:
        """The range of the numbers that are no codes."""
        return self.others if self.codes else (self.lowest, self.highest)

    @property
    def suspected(self) -> dict[float, int]:
        """The codes that lie apart from all other numbers, with their rows."""
        return {code: rows for code, rows in self.codes if self.others is not None and lies_apart(code, *self.others)}

    def merged(self, other: NumbersSeen) -> NumbersSeen:
        """Those of two parts of a table together."""
        codes = tuple(sorted((Counter(dict(self.codes)) + Counter(dict(other.codes))).items()))
        ranges = [each for each in (self.apart_from_codes, other.apart_from_codes) if each is not None]
        others = (min(low for low, _ in ranges), max(high for _, high in ranges)) if codes and ranges else None
        return NumbersSeen(
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            self.below + other.below,
            self.above + other.above,
            codes,
            others,
        )


def numbers_seen(cuts: CutPoints, numbers: Numbers) -> NumbersSeen | None:
    """What a column of numbers holds; NaN is a missing value. None if all are."""
    if not len(numbers) or math.isnan(lowest := float(np.fmin.reduce(numbers))):
        return None
    highest = float(np.fmax.reduce(numbers))
    below = 0 if cuts.lowest is None or lowest >= cuts.lowest else int((numbers < cuts.lowest).sum())
    above = 0 if cuts.highest is None or highest <= cuts.highest else int((numbers > cuts.highest).sum())
    if lowest not in CODES and highest not in CODES:
        return NumbersSeen(lowest, highest, below, above)
    coded = np.isin(numbers, list(CODES))
    values, rows = np.unique(numbers[coded], return_counts=True)
    others = numbers[~coded & ~np.isnan(numbers)]
    codes = tuple(zip(values.tolist(), rows.tolist(), strict=True))
    return NumbersSeen(
        lowest, highest, below, above, codes, (float(others.min()), float(others.max())) if len(others) else None
    )


def lies_apart(number: float, low: float, high: float) -> bool:
    """Whether a number is so far from the range of all others that it may be a code for missing values."""
    return max(low - number, number - high) > FAR * (high - low) or number < 0.0 <= low


def merged(parts: Sequence[Mapping[str, NumbersSeen]]) -> dict[str, NumbersSeen]:
    """What several parts of a table hold together."""
    found: dict[str, NumbersSeen] = {}
    for part in parts:
        for name, seen in part.items():
            found[name] = found[name].merged(seen) if name in found else seen
    return found


def outside_messages(network: Network, numbers: Mapping[str, NumbersSeen]) -> dict[str, str]:
    """What to say about each variable that has numbers outside of the range known before."""
    found = {}
    for name, seen in numbers.items():
        variable = network.variable(name)
        assert variable.cuts is not None
        sides = (
            (seen.below, "below", variable.cuts.lowest, "lowest", variable.states[0]),
            (seen.above, "above", variable.cuts.highest, "highest", variable.states[-1]),
        )
        parts = [
            f"{count} row{' has' if count == 1 else 's have'} {name} {side} {number_text(end)}, the {which} seen "
            f"before; {'it counts' if count == 1 else 'they count'} as {state}."
            for count, side, end, which, state in sides
            if count and end is not None
        ]
        if parts:
            found[name] = " ".join(parts)
    return found


def outside_message(variable: Variable, value: object) -> str | None:
    """What to say about one value of a variable if it is a number outside of the range known before."""
    cuts, text = variable.cuts, text_of(value).strip()
    number = None if cuts is None or text in variable.states else number_of(text)
    if number is None or cuts is None:
        return None
    if cuts.lowest is not None and number < cuts.lowest:
        where, state = f"below {number_text(cuts.lowest)}, the lowest", variable.states[0]
    elif cuts.highest is not None and number > cuts.highest:
        where, state = f"above {number_text(cuts.highest)}, the highest", variable.states[-1]
    else:
        return None
    return f"{variable.name}={text} is {where} seen before; it counts as {state}."


def warn_outside(network: Network, numbers: Mapping[str, NumbersSeen]) -> None:
    """Warn of numbers outside of the range known before."""
    for message in outside_messages(network, numbers).values():
        warn_caller(message, OutsideRangeWarning)


def with_ranges(network: Network, numbers: Mapping[str, NumbersSeen]) -> Network:
    """The network with the ranges of these numbers remembered."""
    if not numbers:
        return network
    variables = [
        replace(own, cuts=own.cuts.with_range(numbers[own.name].lowest, numbers[own.name].highest))
        if own.cuts is not None and own.name in numbers
        else own
        for own in network.variables
    ]
    return Network(variables, network.parents, network.cpts, network.name, network.forms)


def as_floats(column: pl.Series) -> Numbers:
    """The numbers of a numeric column, NaN where a value is missing.

    A float of 32 bits means the shortest decimal that rounds to it: 65.1, not 65.0999985, which is below a cut at 65.1.
    """
    import polars as pl

    if str(column.dtype) in ("Float16", "Float32"):
        column = column.cast(pl.String)
    return column.cast(pl.Float64, strict=False).to_numpy()


def read_cells(values: Sequence[object], lexicon: Lexicon) -> tuple[Indices, Numbers, list[int]]:
    """Codes and numbers of cells of a variable with cut points, and the places of cells that are neither.

    A cell that is missing or names a state has NaN as its number.
    """
    codes, numbers, wrong = np.full(len(values), MISSING), np.full(len(values), math.nan), list[int]()
    for place, value in enumerate(values):
        code = lexicon.code(value)
        if code is None:
            wrong.append(place)
            continue
        codes[place] = code
        text = text_of(value).strip()
        if code != MISSING and text not in lexicon.by_text and (number := number_of(text)) is not None:
            numbers[place] = number
    return codes, numbers, wrong

"""What the columns of a table mean: which are variables, and which state each cell stands for."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import normalize

from credo.errors import (
    DataError,
    MissingColumnError,
    UnknownStateError,
    cells_error,
    closest,
    counted,
    first_duplicate,
    listing,
    suggestion,
)
from credo.io.dialects import declaration, has_decimal_comma
from credo.model.cut_points import CutPoints
from credo.model.network import Network, Variable
from credo.model.state_texts import is_number, limit_of, number_text
from credo.model.state_texts import number_of as number_of
from credo.model.state_texts import text_of as text_of
from credo.types import MISSING as MISSING

if TYPE_CHECKING:
    import polars as pl

# Cells ----------------------------------------------------------------------------------------------------------------


# How tables write a missing value. A state of exactly that name is a state.
MISSING_TEXTS = frozenset({"", "?", "*", "NaN", "nan", "null", "NULL", "NA"})
# Words that often stand for one. They are states, or cells that are none, until the user says what they are.
_DOUBTFUL = """n/a #n/a n.a. n.d. nd - -- --- – — . .. ... none unknown unk missing undefined undef unspecified
    not_available not_applicable not_known not_recorded not_reported not_done not_measured no_data don't_know k.a.
    unbekannt keine_angabe inconnu #null! #value! #div/0!"""
DOUBTFUL_TEXTS = frozenset(word.replace("_", " ") for word in _DOUBTFUL.split())
SAVE_OR_DECLARE = f"save the file as UTF-8, or declare its encoding: {declaration('encoding', 'latin-1')}."

DAYS_IN_UNITS = {"day": 1, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
PYTHON_DAYS = (-719_162, 2_932_896)  # from 0001-01-01 to 9999-12-31, in days from 1970-01-01
LONGEST_DURATION = 999_999_998  # days
_CLOCK = re.compile(r"(\d+:\d\d:\d\d)(\.\d{6})?")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """How the values of one column are read: the texts of the states, and numbers that mean exactly one of them.

    Where the variable has cut points, every number means the state that it is cut into.
    """

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
        if number is None and self.variable.cuts is not None and (limit := limit_of(text)) is not None:
            return code_beyond(self.variable.cuts, *limit)
        if number is None or self.variable.cuts is None:
            return None if number is None else self.by_number.get(number)
        return self.variable.cuts.code(number) if math.isfinite(number) else None


def code_beyond(cuts: CutPoints, sign: str, limit: float) -> int | None:
    """The state of a number of which only a limit is known: the lowest or the highest; None where it may be others."""
    if sign.startswith("<"):
        return 0 if (limit <= cuts.points[0] if sign == "<" else limit < cuts.points[0]) else None
    return len(cuts.points) if limit >= cuts.points[-1] else None


# Columns --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Columns:
    """The header of a table, matched with a network."""

    variables: tuple[str, ...]  # variables of the network that have a column, in the network's order
    hidden: tuple[str, ...]  # variables of the network that have none
    others: tuple[str, ...]  # columns that are not variables but are used
    ignored: tuple[str, ...]

    @property
    def used(self) -> tuple[str, ...]:
        """All columns to read, each once."""
        return (*self.variables, *self.others)


NO_COLUMNS = Columns((), (), (), ())


def match_columns(header: Sequence[str], network: Network, others: Sequence[str] = ()) -> Columns:
    """Match a header with a network; `others` are columns that a weight or a statement needs."""
    require_distinct(header)
    present = set(header)
    for name in others:
        if name not in present:
            raise MissingColumnError(name, list(header))
    variables = tuple(name for name in network.names if name in present)
    _require_no_similar([name for name in header if name not in network and name not in others], network, present)
    if not variables:
        hint = next(
            (
                f' The column "{name}" is similar to the variable "{near}".'
                for name in header
                if (near := closest(name, network.names))
            ),
            "",
        )
        raise DataError(
            f"No column of the table is a variable of the network.{hint} Columns: {listing(list(header))}. "
            f"Variables: {listing(network.names)}."
        )
    hidden = tuple(name for name in network.names if name not in present)
    others = tuple(dict.fromkeys(name for name in others if name not in network))
    wanted = {*variables, *others}
    return Columns(variables, hidden, others, tuple(name for name in header if name not in wanted))


_LOOK_ALIKE = re.compile(r"[\s_\-\u00ad\u2010-\u2015\u200b-\u200d\u2060\ufeff]+")


def _require_no_similar(columns: Sequence[str], network: Network, present: Collection[str]) -> None:
    """Raise if a column differs from a variable without one only in case, blanks, underscores, hyphens or encoding.

    The variable would be hidden otherwise, and its data ignored.
    """
    folded = {_folded(name): name for name in network.names if name not in present}
    for column in columns:
        key = _folded(column)
        if key and (variable := folded.get(key)) is not None:
            if normalize("NFC", column) == normalize("NFC", variable):
                what = "only how letters with accents are encoded differs"
                names = ascii(column), ascii(variable)
            else:
                what = "only upper and lower case, spaces, underscores or hyphens differ"
                names = _visible(column), _visible(variable)
            raise DataError(
                f"The column {names[0]} is similar to the variable {names[1]}, which has no column: {what}. Rename "
                "one of them, or remove the column."
            )


def _folded(name: str) -> str:
    """The same text for names that look alike: ö is one character, or o and dots."""
    return normalize("NFC", _LOOK_ALIKE.sub("", normalize("NFC", name)).casefold())


def _visible(name: str) -> str:
    """A name in quotes; characters that a reader would not see become visible."""
    return f'"{name}"' if name.isprintable() else ascii(name)


MOST_UNKNOWN = 5  # values that a message spells out


def unknown_states(found: Sequence[tuple[Variable, object, int]]) -> UnknownStateError:
    """The error for values that are not states: variable, value and row, counted from 1, of each."""
    rows_of: dict[tuple[str, str], tuple[Variable, object, list[int]]] = {}
    for variable, value, row in found:
        rows_of.setdefault((variable.name, str(value)), (variable, value, []))[2].append(row)
    sentences: list[tuple[str, tuple[int, ...]]] = []
    for variable, value, rows in list(rows_of.values())[:MOST_UNKNOWN]:
        hint = suggestion(str(value), variable.states)
        if "\ufffd" in str(value):  # which replaces bytes that are not UTF-8
            hint = f" It is not UTF-8: {SAVE_OR_DECLARE}{hint}"
        if str(value).strip().casefold() in DOUBTFUL_TEXTS:
            code = str(value).strip()
            hint = f' If it is a missing value, write `missing values: {code}` in the text, or give --missing "{code}".'
        what = "is not" if variable.cuts is None else "is neither a number nor"
        if has_decimal_comma(value) and (variable.cuts is not None or any(map(is_number, variable.states))):
            with_point = str(value).strip().replace(",", ".")
            hint = f" Write {with_point} with a point, or declare the decimal comma: {declaration('decimal', ',')}."
        sentence = f'Column {variable.name}, {{rows}}: "{value}" {what} a state of {variable.name}.{hint}'
        if variable.cuts is not None and (limit := limit_of(str(value))) is not None:
            sentence = f'Column {variable.name}, {{rows}}: "{value}" {_beyond_cuts(variable.cuts, *limit)}'
        sentences.append((sentence, tuple(rows)))
    rest = len(rows_of) - MOST_UNKNOWN
    if rest > 0:
        sentences.append((f"The table has {counted(rest, 'more value')} of this kind.", ()))
    return cells_error(UnknownStateError, sentences)


def _beyond_cuts(cuts: CutPoints, sign: str, limit: float) -> str:
    """What is wrong with a detection limit on the other side of a cut point, and what to do."""
    is_low = sign.startswith("<")
    point = number_text(cuts.points[0] if is_low else cuts.points[-1])
    where, side = (f"below {point} or above it", "higher") if is_low else (f"above {point} or below it", "lower")
    return (
        f"is a detection limit, and may be {where}. Let the {'first' if is_low else 'last'} cut point be "
        f"{number_text(limit)} or {side}, or leave the cell empty."
    )


def checked_values(column: pl.Series) -> pl.Series:
    """A column of texts, numbers or dates; as texts if it holds nanoseconds, which the times of Python have not.

    Lists, bytes, and dates of years that Python has not are errors.
    """
    import polars as pl

    if column.dtype.is_nested() or column.dtype == pl.Binary:
        raise DataError(
            f"Column {column.name} holds values of the type {column.dtype}, where texts or numbers are expected."
        )
    if isinstance(column.dtype, pl.Date | pl.Datetime | pl.Duration):
        per_day = DAYS_IN_UNITS[getattr(column.dtype, "time_unit", None) or "day"]
        numbers = column.to_physical()
        first, last = (-LONGEST_DURATION, LONGEST_DURATION) if column.dtype == pl.Duration else PYTHON_DAYS
        first, last = max(first * per_day, -(2**63)), min((last + 1) * per_day - 1, 2**63 - 1)
        if not numbers.drop_nulls().is_between(first, last).all():
            raise DataError(f"Column {column.name} holds a date or duration that is too far away: years are 1 to 9999.")
    return _with_nanoseconds(column)


def _with_nanoseconds(column: pl.Series) -> pl.Series:
    """Times and durations as texts such as `0:00:00.000000100` if one of them holds nanoseconds, else as they are."""
    import polars as pl

    if column.dtype != pl.Time and getattr(column.dtype, "time_unit", None) != "ns":
        return column
    whole = column.to_physical()
    numbers = whole.fill_null(0).to_numpy()
    rest = numbers % 1000
    if not rest.any():
        return column
    in_python = pl.Series(numbers - rest, dtype=pl.Int64).cast(column.dtype).to_list()
    pairs = zip(in_python, rest.tolist(), whole.is_null().to_list(), strict=True)
    texts = [None if is_null else _with_fraction(str(value), extra) for value, extra, is_null in pairs]
    return pl.Series(column.name, texts, dtype=pl.String)


def _with_fraction(text: str, nanoseconds: int) -> str:
    """A time as Python writes it, with the nanoseconds behind its last microsecond."""
    if not nanoseconds:
        return text
    return _CLOCK.sub(lambda match: f"{match[1]}{match[2] or '.000000'}{nanoseconds:03d}", text, count=1)


def require_distinct(header: Sequence[str], where: object = "The table") -> None:
    """Raise if two columns have one name."""
    if (duplicate := first_duplicate(header)) is not None:
        raise DataError(f'{where} has two columns named "{duplicate}": rename or remove one of them.')


def no_weight() -> DataError:
    """The error for a table in which every row has weight zero."""
    return DataError("All weights are zero: there is nothing to learn from. Give some row a weight above zero.")


def no_rows(source: object = None) -> DataError:
    """The error for a table without rows; a file is named."""
    where = source if isinstance(source, str | os.PathLike) else "The table"
    return DataError(
        f"{where} has no rows: it holds names of columns at most. To learn from knowledge alone, give no table."
    )

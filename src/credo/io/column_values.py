"""What a column of a table holds before it is a variable: numbers, categories, dates, or nothing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import DataError, cells_error, counted, listing
from credo.findings import Finding
from credo.io.columns import DOUBTFUL_TEXTS, MISSING_TEXTS, checked_values
from credo.io.dialects import declaration, has_decimal_comma
from credo.io.missing_codes import advice_to_declare
from credo.io.number_columns import CODES, as_floats
from credo.io.tables import as_texts
from credo.model.state_texts import limit_of, number_of, number_within, plain, text_of
from credo.types import Numbers

if TYPE_CHECKING:
    import polars as pl

DOUBTFUL = "doubtful state"  # the kind of the finding
MOST_WRONG = 10  # different cells that are no numbers, which a message lists
LONGEST_CODES = 60  # characters of texts that a message proposes as codes of missing values
MOST_WHOLE_NUMBERS = 10  # different whole numbers in a column that are taken as categories
FEW_TEXTS = 100  # of a column that are looked at first: most columns of texts have one that is no number among them
_COMMA = re.compile(r"[+-]?\d+,\d+")
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]*+)(?:\.0*+)?")
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d\d?[./]\d\d?[./]\d{2,4}( .*)?")


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """The values of a column.

    Attributes
    ----------
    name : str
        The column.
    rows : int
        How many rows hold a value.
    distinct : int
        How many different values there are.
    categories : tuple of str
        The different values as texts, sorted, as numbers if all of them are; empty if the column is measured.
    numbers : ndarray, optional
        The number of each row, NaN where it is missing, if all values are numbers.
    is_measured : bool
        Whether the numbers are more than a few whole numbers.
    has_dates : bool
        Whether the values are dates or times.
    odd_text : str, optional
        One of few texts among many numbers.
    doubtful : mapping from str to int
        The rows of each text that is often meant as a missing value.
    """

    name: str
    rows: int
    distinct: int
    categories: tuple[str, ...]
    numbers: Numbers | None
    is_measured: bool
    has_dates: bool
    odd_text: str | None = None
    doubtful: Mapping[str, int] = field(default_factory=dict)


def column_values(column: pl.Series, texts_are_numbers: bool = True) -> ColumnValues:
    """What a column holds. With `texts_are_numbers`, as for a CSV file, texts that are all numbers are numbers."""
    import polars as pl

    if column.dtype == pl.Object:
        column = as_texts(column.name, column.to_list())
    has_dates = isinstance(column.dtype, pl.Date | pl.Datetime | pl.Duration | pl.Time)
    column = checked_values(column)
    if column.dtype.is_numeric():
        return _of_numbers(column.name, checked_numbers(column))
    if column.dtype == pl.String:  # mostly few texts in many rows
        different = column.rename("text").drop_nulls().value_counts(name="rows")
        texts, rows_of_texts = different["text"].to_list(), different["rows"].to_list()
        if texts_are_numbers and _may_be_numbers(texts[:FEW_TEXTS]) and (found := _number_texts(column)) is not None:
            return found
    else:
        texts = [value for value in column.to_list() if value is not None]
        rows_of_texts = [1] * len(texts)
    rows_of: Counter[str] = Counter()
    for value, times in zip(texts, rows_of_texts, strict=True):
        if (cell := text_of(value).strip()) not in MISSING_TEXTS:
            rows_of[cell] += times
    has_dates = has_dates or (bool(rows_of) and all(_DATE.fullmatch(cell) for cell in rows_of))
    numbers = {cell: number_of(cell) for cell in rows_of}
    ordered = sorted(rows_of, key=lambda cell: (numbers[cell] is None, numbers[cell] or 0.0, cell))
    odd = [cell for cell in ordered if numbers[cell] is None] if texts_are_numbers else []
    mostly_numbers = len(ordered) - len(odd) > max(MOST_WHOLE_NUMBERS, len(odd))
    fractions = [cell for cell in odd if cell.rpartition(",")[2].strip("0")]  # 133,5 is measured; 1,0 may be a label
    with_commas = all(map(_COMMA.fullmatch, odd)) and (bool(fractions) or len(ordered) > MOST_WHOLE_NUMBERS)
    if odd and mostly_numbers and all(map(limit_of, odd)):  # numbers, and detection limits such as <0.3
        return replace(_of_numbers(column.name, checked_numbers(column)), distinct=len(ordered))
    rows, odd_text = rows_of.total(), odd[0] if odd and (mostly_numbers or with_commas) else None
    doubtful = {cell: rows_of[cell] for cell in ordered if cell.casefold() in DOUBTFUL_TEXTS}
    words = [cell for cell in ordered if numbers[cell] is None and cell not in doubtful]
    if len(words) > 1 and len(words) + len(doubtful) == len(ordered) - 1 and numbers[ordered[0]] in CODES:
        doubtful[ordered[0]] = rows_of[ordered[0]]  # 9 among words
    return ColumnValues(column.name, rows, len(rows_of), tuple(ordered), None, False, has_dates, odd_text, doubtful)


def _may_be_numbers(texts: Iterable[str]) -> bool:
    """Whether none of the texts shows that a column is no column of numbers."""
    for text in texts:
        try:
            float(text)
        except ValueError:
            if text.strip() not in MISSING_TEXTS:
                return False
    return True


def _number_texts(column: pl.Series) -> ColumnValues | None:
    """A column of texts that are all finite numbers, or missing; None if they are not."""
    import polars as pl

    texts = column.str.strip_chars()
    texts = texts.set(texts.is_in(list(MISSING_TEXTS)), None)
    # `true` and `false` are texts here: a column of them has two states.
    numbers = texts.cast(pl.Float64, strict=False)
    if texts.null_count() == len(texts) or numbers.null_count() > texts.null_count():
        return None
    if not numbers.is_finite().fill_null(True).all():
        return None
    found = _of_numbers(column.name, numbers.fill_null(math.nan).to_numpy())
    if found.is_measured:
        return found
    distinct = texts.drop_nulls().unique().to_list()
    if all(map(_WHOLE.fullmatch, distinct)):  # 1.0 is how pandas writes 1 in a column with missing values
        return found
    ordered = sorted(distinct, key=lambda text: (float(text), text))
    return ColumnValues(column.name, found.rows, len(ordered), tuple(ordered), found.numbers, False, False)


def _of_numbers(name: str, numbers: Numbers) -> ColumnValues:
    distinct = np.unique(numbers[~np.isnan(numbers)])
    rows = int((~np.isnan(numbers)).sum())
    few = len(distinct) <= MOST_WHOLE_NUMBERS and bool((distinct == np.floor(distinct)).all())
    categories = tuple(text_of(plain(value)) for value in distinct) if few or len(distinct) < 2 else ()
    return ColumnValues(name, rows, len(distinct), categories, numbers, not categories and rows > 0, False)


def checked_numbers(column: pl.Series) -> Numbers:
    """The numbers of a column of any type; NaN is a missing value, and what is not a finite number is an error."""
    import polars as pl

    blank = column.is_null()
    texts = column
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        texts = column.cast(pl.String).str.strip_chars()
        blank |= texts.is_in(list(MISSING_TEXTS))
    numbers = as_floats(texts)
    wrong = np.isinf(numbers) | (np.isnan(numbers) & ~blank.to_numpy())
    if column.dtype.is_float():  # NaN is a missing value there
        wrong = np.isinf(numbers)
    if wrong.any():
        numbers = np.array(numbers)  # polars' own cannot be written to
        places: dict[str, list[int]] = {}
        for row in np.flatnonzero(wrong).tolist():
            if (number := number_within(text_of(texts[row]))) is not None and math.isfinite(number):
                numbers[row] = number  # a detection limit such as <0.3
            else:
                places.setdefault(str(column[row]), []).append(row + 1)
        if places:
            raise _not_numbers(column.name, places)
    return numbers


def _not_numbers(name: str, places: Mapping[str, Sequence[int]]) -> DataError:
    """The error for cells of a column of numbers that are none, all at once."""
    first = next(iter(places))
    words = [text.strip() for text in places if not re.search(r"[\d,]", text)]
    codes = ", ".join(dict.fromkeys(words))
    hint = "Leave the cell empty if the value is missing."
    if words and len(codes) <= LONGEST_CODES:
        hint = f"If the value is missing, {advice_to_declare(name, [*dict.fromkeys(words)])}."
    if has_decimal_comma(first):
        with_point = first.strip().replace(",", ".")
        hint = f"Write {with_point} with a point, or declare the decimal comma: {declaration('decimal', ',')}."
    cells = [(f'Column {name} holds numbers, but "{text}" in {{rows}}.', tuple(rows)) for text, rows in places.items()]
    shown, rest = cells[:MOST_WRONG], sum(len(rows) for _, rows in cells[MOST_WRONG:])
    if rest:
        hint = f"{counted(rest, 'more cell')} of {name} {'is no number' if rest == 1 else 'are no numbers'}. {hint}"
    return cells_error(DataError, [*shown, (hint, ())])


# Cells that may mean something else than they say ---------------------------------------------------------------------


def require_different_labels(name: str, labels: Sequence[str]) -> None:
    """Raise if two labels of a column differ only in upper and lower case, or in their blanks."""
    known: dict[str, str] = {}
    for label in labels:
        other = known.setdefault(" ".join(label.split()).casefold(), label)
        if other != label:
            raise DataError(
                f'Column {name} holds both "{other}" and "{label}", which differ only in upper and lower case or '
                f"spaces. Write them in the same way; or, if they are two states, list all states of {name}."
            )


def doubtful_findings(values: ColumnValues) -> list[Finding]:
    """The finding that words which often stand for a missing value are taken as states."""
    if not values.doubtful:
        return []
    parts = [f"“{text}” in {counted(count, 'row')}" for text, count in values.doubtful.items()]
    state = "a state" if len(parts) == 1 else "states"
    message = f"{values.name}: {listing(parts)} {'is' if len(parts) == 1 else 'are'} taken as {state}; "
    advice = advice_to_declare(values.name, [*values.doubtful])
    return [Finding(DOUBTFUL, f"{message}empty cells are missing values. If these are, too, {advice}.", values.name)]


_IDENTIFIER = re.compile(
    r"(?i)(?:^|[_\W])(?:id|nr|no|num|number|index|pid|mrn|case|record|row|key|uuid|patient)(?:$|[_\W])|[a-z]I[Dd]$"
)
FEWEST_NAMED, NAMES_ROWS = 30, 0.9  # rows, and the share of them that have a text of their own
FEWEST_IDENTIFIED = 10  # rows; fewer numbers are different by chance


def looks_like_identifier(values: ColumnValues) -> bool:
    """Whether nearly every row has another text, or every row another whole number, in sequence or by the name."""
    numbers = values.numbers
    if numbers is None and values.rows >= FEWEST_NAMED and values.distinct > NAMES_ROWS * values.rows:
        return True
    if numbers is None or values.rows < FEWEST_IDENTIFIED or values.distinct < values.rows:
        return False
    known = numbers[~np.isnan(numbers)]
    if not (known == np.floor(known)).all():
        return False
    is_consecutive = known.min() in (0, 1) and known.max() - known.min() + 1 == len(known)
    return bool(is_consecutive or _IDENTIFIER.search(values.name))


def identifier_findings(columns: Iterable[ColumnValues]) -> list[Finding]:
    """The finding that a column that looks like an identifier is treated as a measurement."""
    return [
        Finding(
            "identifier",
            f"{values.name} looks like an identifier: each of its {values.rows:,} rows has another whole number. It is "
            "cut into ranges as if it were measured. Leave it out.",
            values.name,
        )
        for values in columns
        if values.is_measured and looks_like_identifier(values)
    ]


def constant_findings(columns: Iterable[ColumnValues], network: Mapping[str, Sequence[str]]) -> list[Finding]:
    """The finding that a column has one value, so that nothing is learned about others."""
    return [
        Finding(
            "one value",
            f"{values.name} has the same value in all {values.rows:,} rows"
            + (f" ({values.categories[0]})" if values.categories else "")
            + (
                ": nothing was learned about its other states."
                if len(network[values.name]) > 1
                else ": it has one state, and nothing can be asked about others. Declare its states if there are more."
            ),
            values.name,
        )
        for values in columns
        if values.distinct == 1 and values.name in network
    ]

"""How the values of a feature become states: learned from the training rows, applied to all later ones."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import ROWS_FROM_1, DataError, OptionError, UnknownStateError, listing, suggestion
from credo.io.categories import read_frame
from credo.io.columns import MISSING, MISSING_TEXTS, Lexicon, require_values, text_of
from credo.io.tables import is_missing
from credo.model.network import Variable
from credo.types import FrameLike, Indices, Numbers

if TYPE_CHECKING:
    import polars as pl

MOST_WHOLE_NUMBERS = 10  # different whole numbers in a column that are taken as categories
NOTHING_SEEN = "unseen"  # the only state of a feature without a value in the training rows


class UnseenValueWarning(UserWarning):
    """A value does not occur in the training rows; it is treated as missing."""


@dataclass(frozen=True, slots=True)
class Column:
    """A feature as a variable: its states, and the thresholds between them if it is measured."""

    variable: Variable
    cuts: tuple[float, ...] | None = None  # state k are the values from cuts[k - 1] to below cuts[k]

    def codes(self, values: pl.Series, *, strict: bool) -> Indices:
        """The number of the state of each value, or `MISSING`.

        A value that is not a state is an error if `strict`; otherwise it is missing, with a warning.
        """
        if self.cuts is not None:
            numbers = as_numbers(values)
            found = np.searchsorted(self.cuts, numbers, side="right").astype(np.int64)
            return np.where(np.isnan(numbers), MISSING, found)
        lexicon = Lexicon.of(self.variable)
        distinct, which = _distinct(values)
        known = [lexicon.code(plain(value)) for value in distinct]
        unknown = sorted({text_of(plain(value)) for value, code in zip(distinct, known, strict=True) if code is None})
        if unknown and strict:
            raise UnknownStateError(
                f'Column {values.name} holds "{unknown[0]}", which is not a state of it.'
                f"{suggestion(unknown[0], self.variable.states)}"
            )
        if unknown:
            warnings.warn(
                f"Column {values.name} holds values that do not occur in the training rows and are treated as missing: "
                f"{listing(unknown)}.",
                UnseenValueWarning,
                stacklevel=4,
            )
        return np.array([MISSING if code is None else code for code in known], dtype=np.int64)[which]


def learn_column(
    values: pl.Series, weights: Numbers, bins: int | Sequence[float], declared: Sequence[object] | None = None
) -> Column:
    """How a column is read, learned from its training rows.

    Texts, truth values and a few whole numbers are categories: those declared, else those that occur. Other numbers are
    measured: `bins` is the number of ranges with about as many rows each, or the thresholds between ranges.
    """
    if declared is not None:
        return Column(Variable(values.name, tuple(text_of(plain(value)) for value in declared)))
    if not isinstance(bins, int):
        return with_thresholds(values.name, bins)
    distinct = [plain(value) for value in _distinct(values)[0] if not _is_missing(value)]
    if not distinct:
        return Column(Variable(values.name, (NOTHING_SEEN,)))
    if not values.dtype.is_numeric():
        return Column(Variable(values.name, tuple(sorted({text_of(value).strip() for value in distinct}))))
    if len(distinct) <= MOST_WHOLE_NUMBERS and all(isinstance(value, int) for value in distinct):
        return Column(Variable(values.name, tuple(str(value) for value in sorted(distinct))))
    cuts = _quantiles(as_numbers(values), weights, bins)
    return Column(Variable(values.name, tuple(str(k + 1) for k in range(len(cuts) + 1))), cuts)


def with_thresholds(name: str, thresholds: Sequence[float]) -> Column:
    """A column cut at thresholds; its states are named `<40`, `40-60`, `60+`."""
    try:
        cuts = tuple(sorted({float(cut) for cut in thresholds}))
    except (TypeError, ValueError):
        raise OptionError(f"The thresholds of {name} are a list of numbers, not {thresholds!r}.") from None
    if not cuts or not all(math.isfinite(cut) for cut in cuts):
        raise OptionError(f"The thresholds of {name} are one or more numbers, not {thresholds!r}.")
    words = [str(plain(cut)) for cut in cuts]
    between = [f"{low}-{high}" for low, high in pairwise(words)]
    return Column(Variable(name, (f"<{words[0]}", *between, f"{words[-1]}+")), cuts)


def as_frame(features: NDArray[Any] | FrameLike, names: Sequence[str]) -> pl.DataFrame:
    """Features as polars: a frame as it is, an array with these names for its columns."""
    import polars as pl

    if not isinstance(features, np.ndarray):
        frame = read_frame(features)
        return frame.rename(dict(zip(frame.columns, names, strict=True)))
    return pl.DataFrame([_series(name, features[:, place]) for place, name in enumerate(names)])


def declared_categories(features: object) -> Mapping[str, Sequence[object]]:
    """The categories that the types of a frame's columns list, whether they occur in a row or not."""
    import polars as pl

    if isinstance(features, pl.DataFrame):
        return {name: list(kind.categories) for name, kind in features.schema.items() if isinstance(kind, pl.Enum)}
    listed = {}
    for name, kind in getattr(features, "dtypes", {}).items() if hasattr(features, "iloc") else ():
        if hasattr(kind, "categories"):  # pandas
            listed[str(name)] = list(kind.categories)
    return listed


def as_numbers(values: pl.Series) -> Numbers:
    """The numbers of a measured column; NaN is a missing value."""
    import polars as pl

    blank = values.is_null()
    if values.dtype == pl.String:
        blank |= values.str.strip_chars().is_in(list(MISSING_TEXTS))
        values = values.str.strip_chars()
    numbers = values.cast(pl.Float64, strict=False)
    wrong = (numbers.is_null() & ~blank) | numbers.is_infinite().fill_null(False)
    if wrong.any():
        row = wrong.arg_max() or 0
        raise DataError(f"Column {values.name} is measured, but row {row + 1} holds {values[row]!r}. {ROWS_FROM_1}")
    return numbers.fill_null(math.nan).to_numpy()


def _quantiles(numbers: Numbers, weights: Numbers, bins: int) -> tuple[float, ...]:
    """Thresholds with about the same weight in each range: a row of weight two is two rows."""
    seen = ~np.isnan(numbers)
    distinct, which = np.unique(numbers[seen], return_inverse=True)
    weight = np.bincount(which, weights=weights[seen])
    share = np.cumsum(weight) / weight.sum()
    # The first value below which the wanted share lies; sums are rounded.
    places = np.searchsorted(share, np.arange(1, bins) / bins - 1e-12) + 1
    places = np.unique(places[places < len(distinct)])
    return tuple(((distinct[places - 1] + distinct[places]) / 2).tolist())


def _series(name: str, values: NDArray[Any]) -> pl.Series:
    """A column of an array; mixed Python values are numbers if all of them are, and texts otherwise."""
    import polars as pl

    if values.dtype != object:
        return pl.Series(name, values if values.dtype.kind in "biuf" else values.astype(str))
    plain = [None if _is_missing(value) else value for value in values.tolist()]
    if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in plain):
        return pl.Series(name, [None if value is None else float(value) for value in plain], dtype=pl.Float64)
    return pl.Series(name, [None if value is None else text_of(value) for value in plain], dtype=pl.String)


def _distinct(values: pl.Series) -> tuple[list[object], Indices]:
    """The distinct values of a column, and which of them each row holds."""
    import polars as pl

    if values.dtype == pl.Object:
        raise DataError(f"Column {values.name} holds values of the type {values.dtype}: texts or numbers are expected.")
    require_values(values)
    if values.dtype.is_numeric():
        numbers, which = np.unique(values.to_numpy(), return_inverse=True)  # NaN, a missing value, is one of them
        return numbers.tolist(), which.astype(np.int64)
    places: dict[object, int] = {}
    found = np.array([places.setdefault(value, len(places)) for value in values.to_list()], dtype=np.int64)
    return list(places), found


def plain(value: Any) -> Any:
    """A whole number as int, however it is stored, so that its state is called `1`, not `1.0`."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value.item() if isinstance(value, np.generic) else value


def _is_missing(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and value.strip() in MISSING_TEXTS)

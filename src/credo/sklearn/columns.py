"""What the estimators take: arrays or frames, whose values become states as was learned from the training rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from credo.errors import DataError, OptionError, UnknownStateError, listing, suggestion
from credo.io.categories import read_frame
from credo.io.column_values import checked_numbers, column_values
from credo.io.columns import MISSING, MISSING_TEXTS, Lexicon, checked_values, require_distinct, text_of
from credo.io.cut_rules import quantile_points
from credo.io.tables import header_of, is_missing
from credo.model.cut_points import CutPoints, default_labels
from credo.model.network import Variable
from credo.model.state_texts import plain
from credo.options import resolve_seed
from credo.types import FrameLike, Indices, Numbers

if TYPE_CHECKING:
    import polars as pl


NOTHING_SEEN = "unseen"  # the only state of a feature without a value in the training rows


class UnseenValueWarning(UserWarning):
    """A value does not occur in the training rows; it is treated as missing."""


@dataclass(frozen=True, slots=True)
class Column:
    """A feature as a variable, and the thresholds between its states if it is measured.

    States of quantiles are called 1, 2, …, which cells of a variable with cut points may not be: their thresholds are
    here and not in the variable.
    """

    variable: Variable
    thresholds: tuple[float, ...] | None = None  # state k are the values from thresholds[k - 1] to below thresholds[k]

    def codes(self, values: pl.Series, *, strict: bool) -> Indices:
        """The number of the state of each value, or `MISSING`.

        A value that is not a state is an error if `strict`; otherwise it is missing, with a warning.
        """
        cuts, points = self.variable.cuts, self.thresholds
        if points is None and cuts is not None and values.dtype.is_numeric():
            points = cuts.points
        if points is not None:
            numbers = checked_numbers(values)
            # Without a threshold, one range holds all numbers.
            return CutPoints(points).codes(numbers) if points else np.where(np.isnan(numbers), MISSING, 0)
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
    found = column_values(values, texts_are_numbers=False)
    if not found.rows:
        return Column(Variable(values.name, (NOTHING_SEEN,)))
    if found.numbers is None or (found.categories and _are_whole(found.numbers)):
        return Column(Variable(values.name, found.categories))
    points = quantile_points(found.numbers, bins, weights)
    return Column(Variable(values.name, tuple(str(k + 1) for k in range(len(points) + 1))), tuple(points))


def with_thresholds(name: str, thresholds: Sequence[float]) -> Column:
    """A column cut at thresholds; its states are named `<40`, `40-60`, `60+`."""
    try:
        cuts = CutPoints(tuple(sorted({float(cut) for cut in thresholds})))
    except (TypeError, ValueError):  # a `NetworkError` is one of these
        raise OptionError(f"The thresholds of {name} are one or more numbers, not {thresholds!r}.") from None
    return Column(Variable(name, default_labels(cuts.points), cuts), cuts.points)


def _are_whole(numbers: Numbers) -> bool:
    seen = numbers[~np.isnan(numbers)]
    return bool((seen == np.floor(seen)).all())


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
    values = checked_values(values)
    if values.dtype.is_numeric():
        numbers, which = np.unique(values.to_numpy(), return_inverse=True)  # NaN, a missing value, is one of them
        return numbers.tolist(), which.astype(np.int64)
    places: dict[object, int] = {}
    found = np.array([places.setdefault(value, len(places)) for value in values.to_list()], dtype=np.int64)
    return list(places), found


def _is_missing(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and value.strip() in MISSING_TEXTS)


Features = ArrayLike | FrameLike
# An int, a NumPy Generator, or a RandomState or None as in scikit-learn.
RandomState = int | np.random.Generator | np.random.RandomState | None


class TabularMixin:
    """Input that may be a frame or an array, with texts and missing values."""

    random_state: RandomState
    _names: list[str]  # of the columns that were learned from

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _frame(self, features: Any, *, reset: bool) -> pl.DataFrame:
        """The features as a polars frame with texts as names of columns."""
        if (header := header_of(features)) is not None:
            require_distinct(header)
            validate_data(self, features, skip_check_array=True, reset=reset)
            checked, names = features, header
        else:
            checked = validate_data(self, features, dtype=None, ensure_all_finite="allow-nan", reset=reset)
            names = [f"x{place}" for place in range(checked.shape[1])]
        if reset:
            self._names = names
        # Later features may be an array where a frame was learned from, or the reverse: columns keep their places.
        return as_frame(checked, self._names)

    def _seed(self) -> int:
        """The seed that `random_state` means."""
        if self.random_state is None or isinstance(self.random_state, np.random.RandomState):
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        return resolve_seed(self.random_state)

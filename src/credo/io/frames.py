"""Frames as state numbers. Texts are looked up inside the query of polars, so that little has to be streamed.

Whatever that look-up does not know (`1.0` for `1`, numbers, mixed values, mistakes) is read again, and each distinct
value of a column is then looked up once.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.errors import is_text
from credo.io.columns import MISSING, MISSING_TEXTS, Columns, Lexicon, checked_values, text_of, unknown_states
from credo.io.dataset import Dataset, code_type
from credo.io.forks import has_queries
from credo.io.number_columns import NumbersSeen, as_floats, numbers_seen, read_cells
from credo.model.network import Network, Variable
from credo.types import Codes, Indices, Numbers

if TYPE_CHECKING:
    import polars as pl

MOST_PLACES = 1_000  # of the same wrong cell that are counted


def looked_up(frame: pl.LazyFrame, columns: Columns, network: Network) -> tuple[pl.LazyFrame, frozenset[str]]:
    """The frame with its text columns as places in a list of states, then texts for missing values; null if unknown.

    The second result are the names of those columns.
    """
    import polars as pl

    schema = frame.collect_schema()
    texts = frozenset(
        name
        for name in columns.variables
        if schema[name] == pl.String and network.variable(name).cuts is None and all(map(is_text, network.states(name)))
    )

    def place(name: str) -> pl.Expr:
        states = network.states(name)
        missing = [text for text in sorted(MISSING_TEXTS) if text not in states]
        # The empty text is not a state, so it can represent null; null is then free for what is unknown.
        filled = pl.col(name).fill_null("")
        return filled.cast(pl.Enum([*states, *missing]), strict=False).to_physical().alias(name)

    return frame.select([place(name) if name in texts else pl.col(name) for name in columns.used]), texts


def encode_looked_up(
    frame: pl.DataFrame, texts: frozenset[str], columns: Columns, network: Network, first_row: int
) -> Dataset | None:
    """The rows of such a frame as a dataset; None if one of them holds an unknown text."""
    if any(frame[name].null_count() for name in texts):
        return None
    codes, numbers = _encode_columns(frame, set(columns.variables) - texts, network, first_row)
    for position, variable in enumerate(network.variables):
        if variable.name in texts:
            places = frame[variable.name].to_numpy().astype(np.int64)
            codes[:, position] = np.where(places < len(variable.states), places, MISSING)
    return _dataset(frame, codes, numbers, columns, network)


def encode(frame: pl.DataFrame, columns: Columns, network: Network, first_row: int = 0) -> Dataset:
    """The rows of a frame as a dataset; `first_row` is how many rows of the table came before, for messages."""
    codes, numbers = _encode_columns(frame, set(columns.variables), network, first_row)
    return _dataset(frame, codes, numbers, columns, network)


def _dataset(
    frame: pl.DataFrame, codes: Codes, numbers: dict[str, NumbersSeen], columns: Columns, network: Network
) -> Dataset:
    others = {name: frame[name] for name in columns.others}
    return Dataset(network.names, codes, None, columns.hidden, others, columns.ignored, network.variables, numbers)


def _encode_columns(
    frame: pl.DataFrame, names: Set[str], network: Network, first_row: int
) -> tuple[Codes, dict[str, NumbersSeen]]:
    """State numbers of some of the columns, (rows, variables); all other values are missing. And the numbers seen."""
    codes: Codes = np.full((len(frame), len(network)), MISSING, dtype=code_type(network))
    unknown: list[tuple[Variable, object, int]] = []
    numbers: dict[str, NumbersSeen] = {}
    for position, variable in enumerate(network.variables):
        if variable.name not in names:
            continue
        if variable.cuts is None:
            codes[:, position] = _encode_column(frame[variable.name], variable, first_row, unknown)
            continue
        codes[:, position], own = _cut_column(frame[variable.name], variable, first_row, unknown)
        if (seen := numbers_seen(variable.cuts, own)) is not None:
            numbers[variable.name] = seen
    if unknown:
        raise unknown_states(sorted(unknown, key=lambda each: each[2]))  # whatever order polars has
    return codes, numbers


def _cut_column(
    column: pl.Series, variable: Variable, first_row: int, unknown: list[tuple[Variable, object, int]]
) -> tuple[Indices, Numbers]:
    """State numbers of a column that may hold numbers, and these numbers; NaN where a cell names a state."""
    import polars as pl

    assert variable.cuts is not None
    column = checked_values(column)
    if column.dtype.is_numeric():
        numbers = as_floats(column)
        infinite = np.flatnonzero(np.isinf(numbers))
        unknown += [(variable, numbers[row], first_row + int(row) + 1) for row in infinite[:1]]
        return variable.cuts.codes(numbers), numbers
    found: list[tuple[Variable, object, int]] = []
    if column.dtype == pl.String and has_queries():
        numbers = column.cast(pl.Float64, strict=False).to_numpy(writable=True)
        others = np.flatnonzero(~np.isfinite(numbers))  # null becomes NaN
        codes = variable.cuts.codes(numbers)
        codes[others], numbers[others] = _cut_cells(column.gather(others).to_list(), variable, found)
        unknown += [(own, cell, first_row + int(others[row]) + 1) for own, cell, row in found]
        return codes, numbers
    cells = [value if value is None else text_of(value) for value in column.to_list()]
    codes, numbers = _cut_cells(cells, variable, found)
    unknown += [(own, cell, first_row + row + 1) for own, cell, row in found]
    return codes, numbers


def _cut_cells(
    cells: Sequence[object], variable: Variable, unknown: list[tuple[Variable, object, int]]
) -> tuple[Indices, Numbers]:
    """The same for single cells; rows of `unknown` count from 0."""
    places: dict[object, int] = {}
    which = np.array([places.setdefault(cell, len(places)) for cell in cells], dtype=np.int64)
    codes, numbers, wrong = read_cells(list(places), Lexicon.of(variable))
    distinct = list(places)
    for place in wrong:
        rows = np.flatnonzero(which == place)[:MOST_PLACES].tolist()
        unknown += [(variable, distinct[place], row) for row in rows]
    return codes[which], numbers[which]


def _encode_column(
    column: pl.Series, variable: Variable, first_row: int, unknown: list[tuple[Variable, object, int]]
) -> NDArray[np.int32]:
    """State numbers of one column; values that are not states are added to `unknown`."""
    import polars as pl

    lexicon = Lexicon.of(variable)
    column = checked_values(column)
    if column.dtype == pl.Null:
        return np.full(len(column), MISSING, dtype=np.int32)
    if column.dtype == pl.Object:  # mixed Python values, as pandas keeps them
        texts: list[object] = [None if value is None else text_of(value) for value in column]
        return _encode_values(texts, lexicon, first_row, unknown)
    if not has_queries():
        return _encode_values(column.to_list(), lexicon, first_row, unknown)
    values = column.unique()
    codes = [lexicon.code(value) for value in values]
    for value, code in zip(values, codes, strict=True):
        if code is None:
            rows = (column == value).arg_true().to_list()[:MOST_PLACES]
            unknown += [(variable, text_of(value), first_row + row + 1) for row in rows]
    if unknown:
        return np.full(len(column), MISSING, dtype=np.int32)
    encoded = column.replace_strict(values, pl.Series(codes, dtype=pl.Int32), return_dtype=pl.Int32)
    return encoded.to_numpy()


def _encode_values(
    values: list[object], lexicon: Lexicon, first_row: int, unknown: list[tuple[Variable, object, int]]
) -> NDArray[np.int32]:
    """The same in plain Python, which needs no query of polars."""
    codes = {value: lexicon.code(value) for value in dict.fromkeys(values)}
    for wrong in [value for value, code in codes.items() if code is None]:
        rows = [row for row, value in enumerate(values) if value == wrong][:MOST_PLACES]
        unknown += [(lexicon.variable, text_of(wrong), first_row + row + 1) for row in rows]
    return np.array([MISSING if (code := codes[value]) is None else code for value in values], dtype=np.int32)

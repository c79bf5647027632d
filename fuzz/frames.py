"""Frames of pandas, polars and pyarrow with odd types: categories, intervals, dates, nested values, huge numbers."""

from __future__ import annotations

import datetime
import decimal
import io
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from credo.errors import CredoError
from credo.io.categories import read_frame, variables_of
from credo.io.dataset import Dataset
from credo.io.network_from_table import network_from_table
from credo.io.tables import read_table
from credo.model.network import Network
from fuzz.kind import Input, Kind
from fuzz.mutation import mutated
from fuzz.tables import check_dataset, network

VALUES = (
    "no", "yes", "0.5", "1", "2", "True", "False", "it's", "NA", "", "?", "01", "+1", " no", "\ud800", "é", "\x00",
    "x" * 50, 0, 1, 2, -1, 0.5, 1.0, 2.0, -0.0, float("nan"), float("inf"), 1e308, 5e-324, 2**31, 2**63 - 1, 2**63,
    2**64, 10**30, True, False, None, None,
)  # fmt: skip
DAY = datetime.date(2020, 2, 29)


def _integers(values: list[Any]) -> list[int | None]:
    return [None if value is None else _integer(value) for value in values]


def _integer(value: Any) -> int:
    try:
        return int(value)
    except (ValueError, OverflowError, TypeError):
        return len(str(value))


def _texts(values: list[Any]) -> list[str | None]:
    return [None if value is None else str(value) for value in values]


def _days(values: list[Any]) -> list[datetime.date | None]:
    return [
        None if each is None else DAY + datetime.timedelta(days=abs(_integer(each)) % 30_000 - 15_000)
        for each in values
    ]


def _times(values: list[Any]) -> list[datetime.datetime | None]:
    return [None if each is None else datetime.datetime(each.year, each.month, each.day, 12) for each in _days(values)]


def _decimals(values: list[Any]) -> list[decimal.Decimal | None]:
    return [None if each is None else decimal.Decimal(_integer(each) % 10**6) / 100 for each in values]


def _nested(values: list[Any]) -> list[Any]:
    return [None if each is None else [str(each)] * (_integer(each) % 3) for each in values]


def _mapped(values: list[Any]) -> list[Any]:
    return [None if each is None else {"a": str(each)} for each in values]


def _raw(values: list[Any]) -> list[bytes | None]:
    return [None if each is None else each.encode("utf-8", "replace") for each in _texts(values)]


def _small(values: list[Any]) -> list[int | None]:
    return [None if each is None else each % 100 for each in _integers(values)]


def _intervals(values: list[Any]) -> Any:
    return pd.arrays.IntervalArray.from_breaks(
        np.sort([0 if each is None else each for each in _small(values)] + [200])
    )


PANDAS: dict[str, Callable[[list[Any]], Any]] = {
    "object": lambda values: pd.Series(values, dtype=object),
    "inferred": lambda values: pd.Series(values),
    "string": lambda values: pd.Series(_texts(values), dtype="string"),
    "category": lambda values: pd.Series(_texts(values), dtype="category"),
    "ordered category": lambda values: pd.Series(pd.Categorical(_texts(values), ordered=True)),
    "category of numbers": lambda values: pd.Series(pd.Categorical(_small(values))),
    "int64": lambda values: pd.Series([each or 0 for each in _integers(values)], dtype="int64"),
    "uint64": lambda values: pd.Series([abs(each or 0) for each in _integers(values)], dtype="uint64"),
    "Int64": lambda values: pd.Series(_small(values), dtype="Int64"),
    "float64": lambda values: pd.Series([float(each) if isinstance(each, int | float) else None for each in values]),
    "float16": lambda values: pd.Series([each or 0 for each in _small(values)], dtype="float16"),
    "complex": lambda values: pd.Series([complex(each or 0, 1) for each in _small(values)]),
    "bool": lambda values: pd.Series([bool(each) for each in values]),
    "boolean": lambda values: pd.Series([None if each is None else bool(each) for each in values], dtype="boolean"),
    "dates": lambda values: pd.to_datetime(pd.Series(_times(values))),
    "zoned dates": lambda values: pd.to_datetime(pd.Series(_times(values))).dt.tz_localize("Europe/Berlin"),
    "timedelta": lambda values: pd.to_timedelta(pd.Series(_small(values), dtype="Int64"), unit="D"),
    "period": lambda values: pd.Series(pd.PeriodIndex([each or DAY for each in _days(values)], freq="M")),
    "interval": lambda values: pd.Series(_intervals(values)),
    "category of intervals": lambda values: pd.Series(pd.Categorical(_intervals(values))),
    "cut": lambda values: pd.cut(pd.Series(_small(values), dtype="float64"), 3),
    "sparse": lambda values: pd.Series(pd.arrays.SparseArray([each or 0 for each in _small(values)])),
    "python dates": lambda values: pd.Series(_days(values), dtype=object),
    "decimal": lambda values: pd.Series(_decimals(values), dtype=object),
    "nested": lambda values: pd.Series(_nested(values), dtype=object),
    "mappings": lambda values: pd.Series(_mapped(values), dtype=object),
    "bytes": lambda values: pd.Series(_raw(values), dtype=object),
    "arrays": lambda values: pd.Series([np.array([1, 2]) for _ in values], dtype=object),
    "arrow": lambda values: pd.Series(_texts(values), dtype=pd.ArrowDtype(pa.string())),
    "arrow list": lambda values: pd.Series(_nested(values), dtype=pd.ArrowDtype(pa.list_(pa.string()))),
}
POLARS: dict[str, Callable[[list[Any]], Any]] = {
    "String": lambda values: pl.Series(_texts(values), dtype=pl.String),
    "Categorical": lambda values: pl.Series(_texts(values), dtype=pl.Categorical),
    "Enum": lambda values: pl.Series(_texts(values), dtype=pl.Enum(sorted({each for each in _texts(values) if each}))),
    "inferred": lambda values: pl.Series(values, strict=False),
    "Int8": lambda values: pl.Series(_small(values), dtype=pl.Int8),
    "Int64": lambda values: pl.Series(_small(values), dtype=pl.Int64),
    "UInt64": lambda values: pl.Series(_small(values), dtype=pl.UInt64),
    "Int128": lambda values: pl.Series(_integers(values), dtype=pl.Int128),
    "Float32": lambda values: pl.Series(_small(values), dtype=pl.Float32, strict=False),
    "Float64": lambda values: pl.Series(
        [each if isinstance(each, float) else None for each in values], dtype=pl.Float64
    ),
    "Boolean": lambda values: pl.Series([None if each is None else bool(each) for each in values]),
    "Date": lambda values: pl.Series(_days(values)),
    "Datetime": lambda values: pl.Series(_times(values)),
    "Time": lambda values: pl.Series([None if each is None else datetime.time(12) for each in values]),
    "Duration": lambda values: pl.Series([None if each is None else datetime.timedelta(1) for each in values]),
    "Decimal": lambda values: pl.Series(_decimals(values)),
    "List": lambda values: pl.Series(_nested(values), dtype=pl.List(pl.String)),
    "Array": lambda values: pl.Series([[1, 2] for _ in values], dtype=pl.Array(pl.Int64, 2)),
    "Struct": lambda values: pl.Series(_mapped(values), dtype=pl.Struct({"a": pl.String})),
    "Binary": lambda values: pl.Series(_raw(values), dtype=pl.Binary),
    "Null": lambda values: pl.Series([None] * len(values)),
    "Object": lambda values: pl.Series(values, dtype=pl.Object),
}
ARROW: dict[str, Callable[[list[Any]], Any]] = {
    "string": lambda values: pa.array(_texts(values), pa.string()),
    "large string": lambda values: pa.array(_texts(values), pa.large_string()),
    "string view": lambda values: pa.array(_texts(values), pa.string_view()),
    "dictionary": lambda values: pa.array(_texts(values)).dictionary_encode(),
    "dictionary of numbers": lambda values: pa.array(_small(values)).dictionary_encode(),
    "chunks": lambda values: pa.chunked_array([pa.array(_texts(values[:1]), pa.string()), _texts(values[1:])]),
    "int64": lambda values: pa.array(_small(values)),
    "uint64": lambda values: pa.array([None if each is None else abs(each) for each in _integers(values)], pa.uint64()),
    "float16": lambda values: pa.array(np.array([each or 0 for each in _small(values)], dtype=np.float16)),
    "float64": lambda values: pa.array([each if isinstance(each, float) else None for each in values], pa.float64()),
    "bool": lambda values: pa.array([None if each is None else bool(each) for each in values], pa.bool_()),
    "date32": lambda values: pa.array(_days(values), pa.date32()),
    "timestamp": lambda values: pa.array(_times(values), pa.timestamp("ns", tz="UTC")),
    "duration": lambda values: pa.array(_small(values), pa.duration("s")),
    "decimal": lambda values: pa.array(_decimals(values), pa.decimal128(20, 2)),
    "decimal256": lambda values: pa.array(_decimals(values), pa.decimal256(50, 2)),
    "list": lambda values: pa.array(_nested(values), pa.list_(pa.string())),
    "struct": lambda values: pa.array(_mapped(values), pa.struct({"a": pa.string()})),
    "map": lambda values: pa.array(
        [None if each is None else [("k", 1)] for each in values], pa.map_(pa.string(), pa.int8())
    ),
    "binary": lambda values: pa.array(_raw(values), pa.binary()),
    "null": lambda values: pa.nulls(len(values)),
    "run ends": lambda values: pa.compute.run_end_encode(pa.array(_texts(values), pa.string())),
}
BUILDERS = {"pandas": PANDAS, "polars": POLARS, "lazy": POLARS, "pyarrow": ARROW}
LIBRARIES = (*("pandas", "polars", "pyarrow") * 3, "lazy")  # which starts a streaming engine, and is slow


def make(choose: Random, libraries: tuple[str, ...] = LIBRARIES) -> dict[str, Any]:
    """A recipe: a library, and for each column its name, its type and what its values are made of."""
    library = choose.choice(libraries)
    rows = choose.choice((0, 1, 2, 5, 20))
    odd = choose.choice((0.0, 0.0, 0.3, 1.0))
    names = choose.sample([*network().names, "group", "weight"], choose.randint(1, 4))
    if choose.random() < 0.1:
        names.append(choose.choice((*names, 0, 1.5, None, ["smoke", "x"], "\ud800", "", "smoke ")))
    columns = []
    for name in names:
        known = network().states(name) if name in network().names else ("1", "2", "3")
        values: list[Any] = [
            choose.choice(VALUES) if choose.random() < odd else choose.choice((*known, None)) for _ in range(rows)
        ]
        is_odd = choose.random() < 0.4
        kind = choose.choice(list(BUILDERS[library])) if is_odd else next(iter(BUILDERS[library]))
        columns.append({"name": name, "type": kind, "values": values})
    weights = choose.choice(
        (None, None, "weight", "group", [1.0] * rows, [choose.choice((0, 1, 2.5, -1, float("nan")))] * rows)
    )
    return {
        "library": library,
        "columns": columns,
        "weights": weights,
        "index": choose.choice(("", "", "odd", "double")),
    }


def build(recipe: dict[str, Any]) -> Any:
    """The frame of a recipe."""
    library = recipe["library"]
    builders = BUILDERS[library]
    names = [tuple(each["name"]) if isinstance(each["name"], list) else each["name"] for each in recipe["columns"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = [builders[each["type"]](each["values"]) for each in recipe["columns"]]
        if library == "pandas":
            frame = pd.concat(made, axis=1) if made else pd.DataFrame()
            frame.columns = pd.MultiIndex.from_tuples(names) if all(isinstance(n, tuple) for n in names) else names
            if recipe["index"] == "odd":
                frame.index = pd.Index([f"r{i}" for i in range(len(frame))], name="smoke")
            elif recipe["index"] == "double":
                frame.index = pd.MultiIndex.from_tuples([(0, 0)] * len(frame), names=["a", "a"])
            return frame
        if library == "pyarrow":
            return pa.table(made, names=[str(name) for name in names])
        frame = pl.DataFrame([series.alias(str(name)) for series, name in zip(made, names, strict=True)])
        return frame.lazy() if library == "lazy" else frame


def check(given: Input, folder: Path) -> str:
    """A table of state numbers, or a CredoError; and the same for reading it without a network."""
    assert isinstance(given, dict)
    try:
        frame = build(given)
    except Exception:  # the library itself refuses the values
        return "no frame"
    outcome = "valid"
    try:
        check_dataset(read_table(network(), frame, weights=given["weights"], others=_others(given)), network())
    except CredoError as error:
        outcome = type(error).__name__
    with suppress(CredoError):
        variables = variables_of(read_frame(frame))
        assert all(variable.states for variable in variables), "a column became a variable without states"
    with suppress(CredoError):
        made = network_from_table(frame, parents={}).network
        check_dataset(_must_read(made, frame), made)
    return outcome


def _must_read(made: Network, frame: Any) -> Dataset:
    try:
        return read_table(made, frame)
    except CredoError as error:
        raise AssertionError(f"a table cannot be read with the network made of it; {error}") from None


def _others(recipe: dict[str, Any]) -> tuple[str, ...]:
    return ("group",) if any(each["name"] == "group" for each in recipe["columns"]) else ()


FRAMES = Kind("frames", make, check, ".json")
PARQUET_LIBRARIES = ("polars", "pyarrow")
STARTS = 2000  # files that inputs start from, written once a worker


@lru_cache(maxsize=STARTS)
def start(number: int) -> bytes:
    """The Parquet file of a random frame."""
    choose = Random(f"parquet {number}")
    while True:
        recipe = make(choose, PARQUET_LIBRARIES)
        target = io.BytesIO()
        try:
            frame = build(recipe)
            if isinstance(frame, pl.DataFrame):
                frame.write_parquet(target, compression=choose.choice(("uncompressed", "zstd", "snappy", "gzip")))
            else:
                pa.parquet.write_table(frame, target, compression=choose.choice(("none", "snappy")))
        except Exception:  # the library cannot build or write it
            continue
        return target.getvalue()


def make_parquet(choose: Random) -> Input:
    """One of many written frames, with a few changed bytes."""
    return mutated(choose, start(choose.randrange(STARTS)), (b"PAR1", b"\x15\x00", b"\xff\xff\xff\x7f"))


def check_parquet(given: Input, folder: Path) -> str:
    """A table of state numbers, or a CredoError."""
    assert isinstance(given, bytes)
    path = folder / "any.parquet"
    path.write_bytes(given)
    try:
        check_dataset(read_table(network(), path), network())
    except CredoError as error:
        outcome = type(error).__name__
    else:
        outcome = "valid"
    with suppress(CredoError):
        variables_of(read_frame(path))
    return outcome


PARQUET = Kind("parquet", make_parquet, check_parquet, ".parquet")

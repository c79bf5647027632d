"""Paths and frames become datasets; nothing is dropped, nothing is guessed."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from openpyxl import Workbook

import credo
from credo import DataError, Dataset, FileError, MissingFileError, Network, NetworkError, UnknownStateError, read_table
from credo.io import tables
from credo.io.categories import read_frame, texts_in
from credo.io.tables import stream_table

NET = Network({"smoke": ("no", "yes"), "lung": ("false", "true"), "grade": ("1", "2", "3")}, {"lung": ["smoke"]})
ROWS = {"smoke": ["no", "yes", None], "lung": [True, None, False], "grade": [1.0, float("nan"), 3.0], "id": [1, 2, 3]}
CODES = [[0, 1, 0], [1, -1, -1], [-1, 0, 2]]


@pytest.fixture
def frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS)


FRAMES = {
    "polars": lambda: pl.DataFrame(ROWS),
    "polars lazy": lambda: pl.LazyFrame(ROWS),
    "polars categories": lambda: pl.DataFrame(ROWS).with_columns(pl.col("smoke").cast(pl.Categorical)),
    "polars enum": lambda: pl.DataFrame(ROWS).with_columns(pl.col("smoke").cast(pl.Enum(["yes", "no"]))),
    "polars objects": lambda: pl.DataFrame(
        {"smoke": ROWS["smoke"], "lung": pl.Series([True, None, 0], dtype=pl.Object), "grade": [1, None, 3]}
    ),
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas objects": lambda: pd.DataFrame({key: pd.Series(values, dtype=object) for key, values in ROWS.items()}),
    "pandas categories": lambda: pd.DataFrame(ROWS).astype({"smoke": "category"}),
    "pandas mixed": lambda: pd.DataFrame(
        {"smoke": ["no", "yes", "?"], "lung": pd.Series([True, "*", 0], dtype=object), "grade": ["1", "", 3.0]}
    ),
    "pyarrow": lambda: pa.table({key: pa.array(values, from_pandas=True) for key, values in ROWS.items()}),
    "pyarrow dictionary": lambda: pa.table(
        {"smoke": pa.array(ROWS["smoke"]).dictionary_encode(), "lung": ["true", None, "false"], "grade": [1, None, 3]}
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_same_table_from_every_library(kind: str) -> None:
    dataset = read_table(NET, FRAMES[kind]())
    assert dataset.codes.tolist() == CODES
    assert not dataset.is_complete
    assert dataset.missing() == {"smoke": 1, "lung": 1, "grade": 1}


def test_parquet_files_and_folders(tmp_path: Path, frame: pl.DataFrame) -> None:
    frame.write_parquet(tmp_path / "one.parquet")
    assert read_table(NET, tmp_path / "one.parquet").codes.tolist() == CODES
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    frame.head(1).write_parquet(folder / "a.parquet")
    frame.tail(2).write_parquet(folder / "sub" / "b.parquet")
    assert read_table(NET, str(folder)).codes.tolist() == CODES


def test_parquet_is_streamed_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.random.default_rng(0).choice(["no", "yes"], 1000)
    pl.DataFrame({"smoke": labels}).write_parquet(tmp_path / "t.parquet", row_group_size=100)
    monkeypatch.setattr(tables, "BATCH_ROWS", 100)
    shares: list[float] = []
    parts = list(stream_table(NET, tmp_path / "t.parquet", progress=shares.append))
    assert len(parts) > 1
    assert shares[-1] == 1.0
    assert np.concatenate([part.codes[:, 0] for part in parts]).tolist() == (labels == "yes").astype(int).tolist()


def test_a_dataset_passes_through(frame: pl.DataFrame) -> None:
    dataset = read_table(NET, frame)
    assert read_table(NET, dataset) is dataset
    other = Network({"x": ("0", "1")})
    with pytest.raises(DataError, match="another network"):
        read_table(other, dataset)
    with pytest.raises(DataError, match='without the column "id"'):
        read_table(NET, dataset, others=("id",))


def test_weights_from_a_column_and_from_an_array(tmp_path: Path, frame: pl.DataFrame) -> None:
    assert read_table(NET, frame, weights="id").weights.tolist() == [1, 2, 3]
    assert read_table(NET, frame, weights=[0.5, 0, 2]).weights.tolist() == [0.5, 0, 2]
    frame.write_csv(tmp_path / "t.csv")
    assert read_table(NET, tmp_path / "t.csv", weights="id").weights.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("idd", 'no column "idd"'),
        ("smoke", "variable of the network"),
        ([1, 2], "3 rows"),
        ([1, 2, 3, 4], "4 weights"),
        ([1, -1, 1], "row 2"),
        ([1, np.nan, 1], "row 2"),
        (["a", "b", "c"], "not numbers"),
        (3.0, "one number per row"),
    ],
)
def test_weights_that_cannot_be(frame: pl.DataFrame, weights: object, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_table(NET, frame, weights=weights)


def test_a_weight_that_is_no_number_is_named() -> None:
    frame = pl.DataFrame({"smoke": ["no", "yes"], "w": ["1", "many"]})
    with pytest.raises(DataError, match='Column w, row 2: "many"'):
        read_table(NET, frame, weights="w")


def test_columns_that_a_statement_needs(frame: pl.DataFrame) -> None:
    assert read_table(NET, frame, others=("id",)).others["id"].to_list() == [1, 2, 3]
    with pytest.raises(DataError, match='no column "ids".*mean "id"'):
        read_table(NET, frame, others=("ids",))


@pytest.mark.parametrize(
    ("frame", "error", "words"),
    [
        (pl.DataFrame({"smoke": ["yes", "maybe"]}), UnknownStateError, 'row 2: "maybe" is not a state of smoke'),
        (pl.DataFrame({"grade": [1, 7]}), UnknownStateError, '"7" is not a state of grade'),
        (pl.DataFrame({"smoke": [1, 0]}), UnknownStateError, "Known: no, yes"),
        (pl.DataFrame({"Smoke": ["no"]}), DataError, '"Smoke" is similar to the variable "smoke"'),
        (pl.DataFrame({"smoke": []}), DataError, "no rows"),
        (pd.DataFrame([["no", "yes"]], columns=["smoke", "smoke"]), DataError, 'two columns named "smoke"'),
        ({"smoke": ["no"]}, DataError, "dict is neither"),
        (np.zeros((2, 2)), DataError, "ndarray is neither"),
        (7, DataError, "int is neither"),
    ],
)
def test_frames_that_do_not_fit(frame: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        read_table(NET, frame)


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("smoke\nno\n")
    with pytest.raises(MissingFileError, match="Did you mean .*patients.csv"):
        read_table(NET, tmp_path / "patient.csv")
    (tmp_path / "table.json").write_text("x")
    with pytest.raises(DataError, match="ending"):
        read_table(NET, tmp_path / "table.json")
    (tmp_path / "broken.parquet").write_text("x" * 100)
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_table(NET, tmp_path / "broken.parquet")
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="no Parquet files"):
        read_table(NET, tmp_path / "folder")
    (tmp_path / "none.csv").write_text("smoke\n")
    with pytest.raises(DataError, match="no rows"):
        read_table(NET, tmp_path / "none.csv")


def test_many_states_need_wider_numbers() -> None:
    network = Network({"word": tuple(f"w{i}" for i in range(40_000))})
    dataset = read_table(network, pl.DataFrame({"word": ["w39999", "w0", None]}))
    assert dataset.codes[:, 0].tolist() == [39_999, 0, -1]


def test_pandas_may_hold_its_own_missing_values_and_numbers_for_names() -> None:
    network = Network({"0": ["a", "b"], "1": ["a", "1"]})
    mixed = pd.DataFrame({"0": pd.Series(["a", pd.NA, "b", pd.NaT], dtype=object), "1": ["a", 1, pd.NA, None]})
    assert read_table(network, mixed).codes.tolist() == [[0, 0], [-1, 1], [1, -1], [-1, -1]]
    numbered = pd.DataFrame([["a", "1", "x"], ["b", "a", "y"]])
    assert read_table(network, numbered).codes.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(DataError, match="Columns: 5, 6"):
        read_table(network, pd.DataFrame({5: ["a"], 6: ["b"]}))
    with pytest.raises(DataError, match="two columns"):
        read_table(network, pd.DataFrame([["a", "b"]], columns=[0, "0"]))


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pl.Series([["no"]]), "List"),
        (pl.Series([{"no": 1}]), "Struct"),
        (pl.Series([b"no"]), "Binary"),
        (pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2)), "Array"),
    ],
)
def test_columns_of_other_types_are_named(column: pl.Series, kind: str) -> None:
    for frame in (pl.DataFrame({"smoke": column}), pl.LazyFrame({"smoke": column})):
        with pytest.raises(DataError, match=f"Column smoke holds values of the type {kind}"):
            read_table(NET, frame)


def test_the_network_comes_first() -> None:
    frame = pl.DataFrame({"smoke": ["yes"]})
    with pytest.raises(NetworkError, match="The network comes first, then the data: here the network is a DataFrame"):
        read_table(frame, NET)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_that_may_not_be_read_is_a_file_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_text("smoke\nno\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(pl, "scan_parquet", refuse)
    with pytest.raises(FileError, match=f"{name}: This file cannot be read: Permission denied"):
        read_table(NET, tmp_path / name)


def test_weights_that_are_all_zero_are_refused() -> None:
    network = Network({"a": ["no", "yes"]})
    frame = pl.DataFrame({"a": ["no", "yes"], "w": [0, 0]})
    for weights in ("w", [0.0, 0.0], np.zeros(2)):
        with pytest.raises(DataError, match="All weights are zero"):
            read_table(network, frame, weights=weights)
    with pytest.raises(DataError, match="All weights are zero"):
        credo.fit(network, Dataset(("a",), np.zeros((2, 1), dtype=np.int8), np.zeros(2)))


def test_messages_say_from_where_rows_are_counted() -> None:
    """Frames and arrays count from 0, statements and messages from 1: every message about a row says so."""
    network = Network({"a": ["no", "yes"]})
    frame = pd.DataFrame({"a": ["no", "x"], "w": ["1", "y"]}, index=[10, 20])
    for attempt in (
        lambda: read_table(network, frame),
        lambda: read_table(network, frame.head(1), weights=[-1.0]),
        lambda: read_table(network, frame.replace("x", "yes"), weights="w"),
    ):
        with pytest.raises(DataError, match=r"(?s)row \d.*Rows are counted from 1\."):
            attempt()


def test_intervals_and_periods_are_read_as_texts() -> None:
    """As `pandas.cut` makes them; polars keeps such types but cannot compare their values."""
    cut = pd.DataFrame({"a": pd.cut([1, 2, 3, 4, np.nan], 2)})
    network = Network({"a": [str(interval) for interval in cut["a"].cat.categories]})
    assert read_table(network, cut).codes.ravel().tolist() == [0, 0, 1, 1, -1]
    months = pd.DataFrame({"a": pd.period_range("2020-01", periods=3, freq="M")})
    assert read_table(Network({"a": ["2020-01", "2020-02", "2020-03"]}), months).codes.ravel().tolist() == [0, 1, 2]
    with pytest.raises(UnknownStateError, match="is not a state of a"):
        read_table(Network({"a": ["no", "yes"]}), cut)


def test_a_frame_with_levels_of_columns_is_refused() -> None:
    frame = pd.DataFrame([["no", "yes"]], columns=pd.MultiIndex.from_tuples([("x", "a"), ("x", "b")]))
    with pytest.raises(DataError, match="No column of the table is a variable"):
        read_table(Network({"a": ["no", "yes"]}), frame)
    assert list(Network.from_data(frame).names) == ["('x', 'a')", "('x', 'b')"]


def test_half_a_character_is_refused() -> None:
    network = Network({"a": ["no", "yes"]})
    with pytest.raises(DataError, match="row 2: .*ud800.* half a character"):
        read_table(network, pd.DataFrame({"a": pd.Series(["no", "\ud800"], dtype=object)}))
    odd = Network({"a": ["no", "\udfff"]})  # a state that no table can hold
    assert read_table(odd, pl.DataFrame({"a": ["no", None]})).codes.ravel().tolist() == [0, -1]


# Types of columns -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([["1"]]),
        pl.Series([{"a": 1}]),
        pl.Series([b"1"]),
        pl.Series([20_000]).cast(pl.Date),
        pl.Series([1]).cast(pl.Duration("ms")),
    ],
    ids=lambda column: str(column.dtype),
)
def test_weights_are_numbers(smoking: Network, column: pl.Series) -> None:
    with pytest.raises(DataError, match="Column often holds values of the type .* weights are expected"):
        read_table(smoking, pl.DataFrame({"smoke": ["no"], "often": column}), weights="often")


def test_weights_may_be_categories_of_numbers(smoking: Network) -> None:
    frame = pl.DataFrame({"smoke": ["no", "no"], "often": pl.Series(["2", "0.5"], dtype=pl.Categorical)})
    data = read_table(smoking, frame, weights="often")
    assert data.weights is not None
    assert data.weights.tolist() == [2.0, 0.5]


@pytest.mark.parametrize(
    "dtype", [pl.Date, pl.Datetime("us"), pl.Datetime("ms"), pl.Duration("ms"), pl.Datetime("us", "UTC")], ids=str
)
@pytest.mark.parametrize("value", [2**31 - 1, -(2**31), 2**63 - 1, -(2**63)])
def test_dates_that_python_has_not_are_an_error(smoking: Network, dtype: pl.DataType, value: int) -> None:
    if dtype == pl.Date:
        value = max(-(2**31), min(2**31 - 1, value))
    column = pl.Series([value], dtype=pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)
    frame = pl.DataFrame({"smoke": column})
    with pytest.raises(DataError, match="smoke"):
        read_table(smoking, frame)


def test_the_last_day_is_a_value_like_others() -> None:
    network = Network({"day": ["9999-12-31", "0001-01-01"]})
    days = pl.Series([2_932_896, -719_162], dtype=pl.Int32).cast(pl.Date)
    assert read_table(network, pl.DataFrame({"day": days})).codes.tolist() == [[0], [1]]


NANOSECONDS = {  # the texts of 200 ns, 1000 ns and -1 ns, as far as the type has them
    "Datetime": (pl.Datetime("ns"), ["1970-01-01 00:00:00.000000200", "1970-01-01 00:00:00.000001"]),
    "UTC": (pl.Datetime("ns", "UTC"), ["1970-01-01 00:00:00.000000200+00:00", "1970-01-01 00:00:00.000001+00:00"]),
    "Duration": (pl.Duration("ns"), ["0:00:00.000000200", "0:00:00.000001", "-1 day, 23:59:59.999999999"]),
    "Time": (pl.Time, ["00:00:00.000000200", "00:00:00.000001"]),
}
LIBRARIES = {
    "polars": lambda frame: frame,
    "lazy": lambda frame: frame.lazy(),
    "arrow": lambda frame: frame.to_arrow(),
    "pandas": lambda frame: frame.to_pandas(),
    "objects": lambda frame: pd.DataFrame({"t": pd.Series(list(frame.to_pandas()["t"]), dtype=object)}),
}


@pytest.mark.parametrize("kind", NANOSECONDS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_times_that_differ_by_nanoseconds_are_different_states(kind: str, library: str) -> None:
    if kind == "Time" and library in ("pandas", "objects"):
        pytest.skip("pandas has no such type, and the time of Python no nanoseconds")
    dtype, texts = NANOSECONDS[kind]
    values = [200, 1000, -1][: len(texts)]
    frame = LIBRARIES[library](pl.DataFrame({"t": pl.Series([*values, None]).cast(dtype)}))
    known = read_table(Network({"t": texts}), frame)
    assert known.codes.ravel().tolist() == [*range(len(texts)), -1]
    assert set(texts_in(read_frame(frame)["t"])) == set(texts)
    with pytest.raises(UnknownStateError, match=r"row 1: .*000000200"):
        read_table(Network({"t": [texts[0].replace(".000000200", ""), *texts[1:]]}), frame)


def test_times_without_nanoseconds_keep_their_texts() -> None:
    column = pl.Series("t", [0, 1000, 86_400_000_000_000]).cast(pl.Duration("ns"))
    texts = ["0:00:00", "0:00:00.000001", "1 day, 0:00:00"]
    assert read_table(Network({"t": texts}), pl.DataFrame([column])).codes.ravel().tolist() == [0, 1, 2]


def test_numbers_that_polars_does_not_know_become_texts() -> None:
    network = Network({"price": ["0.01", "2.50"]})
    column = pa.array([Decimal("0.01"), Decimal("2.50"), None], pa.decimal256(50, 2))
    assert read_table(network, pa.table([column], names=["price"])).codes.tolist() == [[0], [1], [-1]]


def test_an_index_with_the_name_of_a_variable_is_an_error() -> None:
    frame = pd.DataFrame({"smoke": ["no", "yes"], "lung": [False, False]}).set_index("smoke")
    with pytest.raises(DataError, match=r"smoke is the index of the frame, not a column: use frame.reset_index\(\)"):
        read_table(NET, frame)
    assert read_table(NET, frame.rename_axis(index="patient")).hidden[0] == "smoke"
    levels = frame.set_index("lung", append=True).assign(grade="1")
    with pytest.raises(DataError, match="smoke is the index"):
        read_table(NET, levels)


@pytest.mark.parametrize(
    ("column", "variable"), [("gro\u0308\u00dfe", "gr\u00f6\u00dfe"), ("GR\u00d6SSE", "gro\u0308\u00dfe")]
)
def test_a_column_that_is_encoded_in_another_way_is_an_error(column: str, variable: str) -> None:
    network = Network({variable: ["low", "high"], "b": ["0", "1"]})
    with pytest.raises(DataError, match="is similar to the variable"):
        read_table(network, pl.DataFrame({column: ["low"], "b": ["0"]}))


SIMILAR = {
    "Smoke": '"Smoke" is similar to the variable "smoke"',
    "s moke": '"s moke"',
    "sm_o-ke": '"sm_o-ke"',
    "smo\u00a0ke": r"'smo\\xa0ke'",
    "\ufeffsmoke": r"'\\ufeffsmoke'",
    "smo\u2011ke": "smo\u2011ke",
}


@pytest.mark.parametrize("name", SIMILAR)
@pytest.mark.parametrize("reader", ["csv", "parquet", "xlsx", "polars", "pandas", "lazy", "arrow"])
def test_a_column_that_differs_only_in_look_is_an_error(tmp_path: Path, reader: str, name: str) -> None:
    frame = pl.DataFrame({name: ["yes"], "lung": ["no"]})
    path = tmp_path / f"table.{reader}"
    data: object = path
    if reader == "csv":
        path.write_text(f"lung,{name}\nno,yes\n", encoding="utf-8")
    elif reader == "parquet":
        frame.write_parquet(path)
    elif reader == "xlsx":
        book = Workbook()
        assert book.active is not None
        for row in (frame.columns, frame.row(0)):
            book.active.append(list(row))
        book.save(path)
    else:
        data = {"polars": frame, "pandas": frame.to_pandas(), "lazy": frame.lazy(), "arrow": frame.to_arrow()}[reader]
    with pytest.raises(DataError, match=SIMILAR[name]):
        read_table(NET, data)


def test_a_similar_column_beside_the_right_one_is_ignored() -> None:
    data = read_table(NET, pl.DataFrame({"smoke": ["yes"], "Smoke": ["what"], "_": ["x"]}))
    assert data.codes[0, 0] == 1
    assert "smoke" not in data.hidden


def test_a_similar_column_that_is_asked_for_is_none_of_the_variables() -> None:
    data = read_table(NET, pl.DataFrame({"lung": ["true"], "Smoke": ["what"]}), others=("Smoke",))
    assert data.others["Smoke"].to_list() == ["what"]


# Lazy frames ----------------------------------------------------------------------------------------------------------

READERS = {
    "read_table": lambda data: read_table(NET, data),
    "fit": lambda data: credo.fit(NET, data),
    "network_from_table": lambda data: credo.network_from_table(data, parents={}),
    "from_data": Network.from_data,
    "cluster": lambda data: credo.cluster(data, 2),
    "partitioned": credo.partitioned,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_lazy_frame_that_cannot_be_read_is_an_error_of_credo(tmp_path: Path, reader: str, wrapped: bool) -> None:
    damaged, ragged = tmp_path / "damaged.parquet", tmp_path / "ragged.csv"
    damaged.write_bytes(b"PAR1....PAR1")
    ragged.write_text("smoke,grade\nno,1\nno,1,2,3\n")
    wrong = {
        "nope.csv: The LazyFrame cannot be read: No such file": pl.scan_csv(tmp_path / "nope.csv"),
        "The LazyFrame cannot be read: parquet: ": pl.scan_parquet(damaged),
        "The LazyFrame cannot be read: found more fields": pl.scan_csv(ragged),
        "The LazyFrame cannot be read: unable to find column": pl.LazyFrame(ROWS).select("nothing"),
        "The LazyFrame cannot be read: conversion": pl.LazyFrame(ROWS).with_columns(pl.col("smoke").cast(pl.Int64)),
    }
    for message, lazy in wrong.items():
        kind = MissingFileError if "nope" in message else DataError
        with pytest.raises(kind, match=message) as caught:
            READERS[reader](nw.from_native(lazy) if wrapped else lazy)
        assert "\n" not in str(caught.value)


def test_what_a_function_of_the_user_raises_in_a_lazy_frame_stays_as_it_is() -> None:
    def fail(column: pl.Series) -> pl.Series:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        read_table(NET, pl.LazyFrame(ROWS).with_columns(pl.col("smoke").map_batches(fail, return_dtype=pl.String)))


def test_a_lazy_frame_of_another_library_that_cannot_be_read_is_an_error_of_credo() -> None:
    def fail(part: pd.DataFrame) -> pd.DataFrame:
        raise RuntimeError("broken")

    lazy = pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame({"smoke": ["no", "yes"]}), npartitions=1)
    with pytest.raises(DataError, match="The LazyFrame cannot be read: .*broken"):
        read_table(NET, lazy.map_partitions(fail, meta=lazy._meta))

"""Numbers become states in every reader, and what was seen of them is kept."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import credo
from credo import CutPoints, Dataset, Network, UnknownStateError, Variable, read_table
from credo.errors import OutsideRangeWarning
from credo.io import csv as csv_reader
from credo.io.number_columns import NumbersSeen
from credo.io.tables import stream_table

AGE = Variable("age", ("young", "middle", "old"), CutPoints((40, 60), 18, 90))
NET = Network([AGE, Variable("out", ("no", "yes"))], {"out": ["age"]})
NUMBERS = [18.0, 40.0, 59.5, 60.0, 95.0, None, 17.0, 1e3]
OUT = ["no", "yes", "no", "yes", "no", "no", None, "yes"]
CODES = [0, 1, 1, 2, 2, -1, 0, 2]
SEEN = NumbersSeen(17.0, 1000.0, below=1, above=2)


def _csv(tmp_path: Path) -> Path:
    return _written(tmp_path, ["18", "40", "59.5", '"60"', " 95 ", "NA", "17.0", "1e3"])


def _written(tmp_path: Path, cells: list[str]) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("age,out\n" + "".join(f"{cell},{out or ''}\n" for cell, out in zip(cells, OUT, strict=False)))
    return path


def _parquet(tmp_path: Path) -> Path:
    path = tmp_path / "rows.parquet"
    pl.DataFrame({"age": NUMBERS, "out": OUT}).write_parquet(path)
    return path


TEXTS = ["18", "40.0", "59.5", "+60", "95", "?", "17", "1e3"]
TABLES: dict[str, Callable[[Path], object]] = {
    "csv": _csv,
    "parquet": _parquet,
    "polars": lambda _: pl.DataFrame({"age": NUMBERS, "out": OUT}),
    "lazy": lambda _: pl.LazyFrame({"age": NUMBERS, "out": OUT}),
    "texts": lambda _: pl.DataFrame({"age": TEXTS, "out": OUT}),
    "lazy texts": lambda _: pl.LazyFrame({"age": TEXTS, "out": OUT}),
    "categories": lambda _: pl.DataFrame({"age": TEXTS, "out": OUT}).cast({"age": pl.Categorical}),
    "128 bits": lambda _: pl.DataFrame({"age": [18, 40, 59, 60, 95, None, 17, 1000], "out": OUT}).cast(
        {"age": pl.Int128}
    ),
    "decimals": lambda _: pl.DataFrame({"age": NUMBERS, "out": OUT}).cast({"age": pl.Decimal(10, 1)}),
    "pandas": lambda _: pd.DataFrame({"age": NUMBERS, "out": OUT}),
    "pandas objects": lambda _: pd.DataFrame({"age": pd.Series(NUMBERS, dtype=object), "out": OUT}),
    "pandas mixed": lambda _: pd.DataFrame({"age": pd.Series([18, "40", *NUMBERS[2:]], dtype=object), "out": OUT}),
    "pyarrow": lambda _: pa.table({"age": NUMBERS, "out": OUT}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_numbers_are_cut_in_every_kind_of_table(kind: str, tmp_path: Path) -> None:
    dataset = read_table(NET, TABLES[kind](tmp_path))  # type: ignore[arg-type]
    assert dataset.codes[:, 0].tolist() == CODES
    assert dataset.numbers == {"age": SEEN}


def test_numbers_are_cut_without_queries_of_polars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("credo.io.tables.has_queries", lambda: False)
    monkeypatch.setattr("credo.io.frames.has_queries", lambda: False)
    for kind in ("polars", "texts", "pandas objects"):
        dataset = read_table(NET, TABLES[kind](tmp_path))  # type: ignore[arg-type]
        assert dataset.codes[:, 0].tolist() == CODES
        assert dataset.numbers == {"age": SEEN}


@pytest.mark.parametrize("kind", ["csv", "frame", "objects"])
def test_cells_may_name_states(kind: str, tmp_path: Path) -> None:
    cells = ["young", "old", "54", " middle", "old"]
    tables = {
        "csv": lambda: _written(tmp_path, cells),
        "frame": lambda: pl.DataFrame({"age": cells}),
        "objects": lambda: pd.DataFrame({"age": pd.Series([*cells[:2], 54, *cells[3:]], dtype=object)}),
    }
    dataset = read_table(NET, tables[kind]())
    assert dataset.codes[:, 0].tolist() == [0, 2, 1, 1, 2]
    assert dataset.numbers == {"age": NumbersSeen(54.0, 54.0)}


@pytest.mark.parametrize("cell", ["elderly", "inf", "1e999", "4o", "0x10", "1_000"])
def test_a_text_that_is_neither(cell: str, tmp_path: Path) -> None:
    message = f'Column age, row 2: "{cell}" is neither a number nor a state of age. Known: young, middle, old.'
    for table in (_written(tmp_path, ["30", cell]), pl.DataFrame({"age": ["30", cell]})):
        with pytest.raises(UnknownStateError) as error:
            read_table(NET, table)
        assert message in str(error.value)


def test_a_decimal_comma_is_explained(tmp_path: Path) -> None:
    with pytest.raises(UnknownStateError, match=r"Write 54\.5 with a point"):
        read_table(NET, _written(tmp_path, ['"54,5"']))


def test_infinity_in_a_frame() -> None:
    with pytest.raises(UnknownStateError, match='row 2: "inf" is neither a number nor a state'):
        read_table(NET, pl.DataFrame({"age": [30.0, float("inf")]}))


def test_truth_values_are_numbers_here_as_everywhere() -> None:
    network = Network([Variable("x", ("off", "on"), CutPoints((0.5,)))])
    assert read_table(network, pl.DataFrame({"x": [True, False, None]})).codes[:, 0].tolist() == [1, 0, -1]


def test_a_float_of_32_bits_means_its_decimal() -> None:
    network = Network([Variable("x", ("low", "high"), CutPoints((65.1,)))])
    rows = pl.DataFrame({"x": [65.0, 65.1, 65.2, None, float("nan")]}, schema={"x": pl.Float32})
    dataset = read_table(network, rows)
    assert dataset.codes[:, 0].tolist() == [0, 1, 1, -1, -1]
    assert dataset.numbers == {"x": NumbersSeen(65.0, 65.2)}
    made = Network.from_data(pl.DataFrame({"x": [65.1, 65.2, 70.5, 71.5] * 20}, schema={"x": pl.Float32}), bins=4)
    assert made.variable("x").cuts == CutPoints((65.2, 70, 71))
    with pytest.raises(UnknownStateError, match="inf"):
        read_table(network, pl.DataFrame({"x": [float("inf")]}, schema={"x": pl.Float32}))


def test_a_column_without_a_value(tmp_path: Path) -> None:
    for table in (pl.DataFrame({"age": [None, None]}), pl.DataFrame({"age": [None, None]}, schema={"age": pl.Float64})):
        dataset = read_table(NET, table)
        assert dataset.codes[:, 0].tolist() == [-1, -1]
        assert dataset.numbers == {}


def test_parts_of_a_table_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.io.tables.BATCH_ROWS", 3)
    for table in (TABLES["polars"](tmp_path), TABLES["parquet"](tmp_path)):
        assert len(list(stream_table(NET, table))) == 3  # type: ignore[arg-type]
        dataset = read_table(NET, table)  # type: ignore[arg-type]
        assert dataset.codes[:, 0].tolist() == CODES
        assert dataset.numbers == {"age": SEEN}


def test_csv_agrees_with_a_frame_however_many_distinct_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    count = 4000
    frame = pl.DataFrame(
        {
            "age": rng.normal(50, 20, count).tolist(),  # 16 or 17 digits
            "out": rng.choice(["no", "yes"], count).tolist(),
            "id": [f"p{i}" for i in range(count)],
        }
    )
    path = tmp_path / "rows.csv"
    frame.write_csv(path)
    monkeypatch.setattr(csv_reader, "CHUNK_BYTES", 50_000)
    expected, found = read_table(NET, frame, others=["id"]), read_table(NET, path, others=["id"])
    np.testing.assert_array_equal(found.codes, expected.codes)
    assert found.numbers == expected.numbers
    assert found.others["id"].to_list() == frame["id"].to_list()


# What is known of the range -------------------------------------------------------------------------------------------


def _warnings(call: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught if each.category is OutsideRangeWarning]


@pytest.fixture
def learned() -> credo.Fit:
    rows = pl.DataFrame({"age": NUMBERS, "out": OUT}).drop_nulls()
    return credo.fit(NET, rows, method="map")


def test_fit_reports_rows_outside_of_the_range_and_remembers_its_own(learned: credo.Fit) -> None:
    found = [finding for finding in learned.findings if finding.kind == "outside range"]
    assert [str(finding) for finding in found] == [
        "2 rows have age above 90, the highest seen before; they count as old."
    ]
    assert found[0].variable == "age"
    cuts = learned.network.variable("age").cuts
    assert cuts == AGE.cuts
    assert (cuts.lowest, cuts.highest) == (18.0, 1000.0)


def test_a_range_stays_where_the_column_names_states_only() -> None:
    fit = credo.fit(NET, pl.DataFrame({"age": ["young", "old"], "out": ["no", "yes"]}), method="map")
    cuts = fit.network.variable("age").cuts
    assert cuts is not None
    assert (cuts.lowest, cuts.highest) == (18.0, 90.0)


def test_predictions_warn_of_rows_outside_of_the_range(learned: credo.Fit) -> None:
    table = pl.DataFrame({"age": [3.0, 20.0, 2000.0]})
    message = (
        "1 row has age below 18, the lowest seen before; it counts as young. "
        "1 row has age above 1000, the highest seen before; it counts as old."
    )
    assert _warnings(lambda: learned.predict(table)) == [message]
    assert _warnings(lambda: learned.network.predict(table, "out")) == [message]
    assert _warnings(lambda: learned.network.log_likelihood(table)) == [message]
    assert _warnings(lambda: learned.predict(pl.DataFrame({"age": [20.0]}))) == []


def test_questions_take_numbers(learned: credo.Fit) -> None:
    asked = learned.query("P(out=yes | age=54)")
    assert asked.query == "P(out=yes | age=middle)"
    assert asked.probability == learned.query("P(out=yes | age=middle)").probability
    assert learned.query("P(out=yes | age in {41, 54.5, middle})").query == "P(out=yes | age=middle)"
    case = learned.predict({"age": 54})
    assert case.equals(learned.predict({"age": "middle"}))
    assert learned.most_probable({"age": 54.0}).equals(learned.most_probable({"age": "middle"}))
    assert _warnings(lambda: learned.query("P(out | age=-3)")) == [
        "age=-3 is below 18, the lowest seen before; it counts as young."
    ]
    assert _warnings(lambda: learned.predict({"age": 1001})) == [
        "age=1001 is above 1000, the highest seen before; it counts as old."
    ]


def test_a_question_with_an_unknown_state(learned: credo.Fit) -> None:
    message = 'age has no state "elderly". Its states are young, middle, old. Numbers are cut at 40, 60.'
    for call in (lambda: learned.query("P(out | age=elderly)"), lambda: learned.predict({"age": "elderly"})):
        with pytest.raises(credo.QueryError, match=message):
            call()


def test_a_case_takes_the_values_that_a_table_takes() -> None:
    network = Network({"x": [0, 1], "y": [False, True]}, {"y": ["x"]})
    fit = credo.fit(network, pl.DataFrame({"x": [0, 1, 1], "y": [False, True, True]}), method="map")
    expected = fit.predict({"x": "1"})
    for value in (1, 1.0, True, "True", np.int64(1)):
        assert fit.predict({"x": value}).equals(expected)


def test_a_dataset_made_before_fits_a_network_with_another_range() -> None:
    dataset = read_table(NET, pl.DataFrame({"age": [20, 50], "out": ["no", "yes"]}))
    other = Network([Variable("age", AGE.states, CutPoints((40, 60))), NET.variable("out")], NET.parents)
    assert isinstance(read_table(other, dataset), Dataset)
    moved = Network([Variable("age", AGE.states, CutPoints((40, 65))), NET.variable("out")], NET.parents)
    with pytest.raises(credo.DataError, match="another network: age is cut at 40, 60 there and at 40, 65 here"):
        read_table(moved, dataset)


def test_a_run_with_missing_numbers_continues_from_its_checkpoint(tmp_path: Path) -> None:
    rows = pl.DataFrame({"age": NUMBERS, "out": OUT})
    options = credo.EMOptions(checkpoint=tmp_path / "run.npz")
    first = credo.fit(NET, rows, method="map", em=options)
    again = credo.fit(NET, rows, method="map", em=options)
    assert again.network == first.network
    other = Network([Variable("age", AGE.states, CutPoints((40, 61))), NET.variable("out")], NET.parents)
    with pytest.raises(credo.OptionError, match="belongs to another run"):
        credo.fit(other, rows, method="map", em=options)


def test_noisy_families_keep_cut_points_of_their_parents() -> None:
    out = Variable("out", ("no", "yes"))
    network = Network([AGE, Variable("smoke", ("no", "yes")), out], {"out": ["age", "smoke"]})
    rows = pl.DataFrame(
        {"age": [20.0, 50.0, 70.0, 80.0], "smoke": ["no", "yes"] * 2, "out": ["no", "no", "yes", "yes"]}
    )
    fit = credo.fit(network, rows, "out is noisy-or of age, smoke", method="cmap")
    assert fit.network.variable("age").cuts == AGE.cuts
    assert fit.query("P(out | age=75)").query == "P(out | age=old)"

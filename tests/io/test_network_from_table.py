"""A network of a table's columns: what is said is taken, what is not comes from the table, with a finding."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credo
from credo import (
    CutPoints,
    DataError,
    EqualWidth,
    MissingColumnError,
    Network,
    NetworkError,
    OptionError,
    Quantiles,
    Supervised,
    UnknownStateError,
    Variable,
    network_from_table,
)

ROWS = 400
PARENTS = {"outcome": ["age", "bp"]}


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 91, ROWS)
    return pl.DataFrame(
        {
            "id": [f"p{i}" for i in range(ROWS)],
            "age": age,
            "bp": rng.normal(130, 15, ROWS).round(1),
            "stage": rng.integers(1, 5, ROWS),
            "ward": ["A"] * ROWS,
            "outcome": np.where(age + rng.normal(0, 5, ROWS) < 55, "no", "yes"),
        }
    )


def _findings(made: credo.results.NetworkFromTable) -> list[str]:
    return [str(finding) for finding in made.findings]


def test_what_is_not_said_comes_from_the_table(frame: pl.DataFrame) -> None:
    made = network_from_table(frame, parents=PARENTS)
    assert made.network == Network(
        [
            Variable("age", ("<40", "40-70", "70+"), CutPoints((40, 70), 18, 90)),
            Variable(
                "bp",
                ("<120", "120-135", "135+"),
                CutPoints((120, 135), frame["bp"].min(), frame["bp"].max()),  # type: ignore[arg-type]
            ),
            Variable("outcome", ("no", "yes")),
        ],
        PARENTS,
    )
    rows = [int((frame["age"] < 40).sum()), int(frame["age"].is_between(40, 69).sum()), int((frame["age"] > 69).sum())]
    assert _findings(made)[0] == (
        "age is cut at 40, 70, rounded, with about as many rows in each state. "
        f"States, with rows: <40 ({rows[0]}), 40-70 ({rows[1]}), 70+ ({rows[2]})."
    )
    assert _findings(made)[2:] == [
        "outcome has the states no, yes, the values in the table.",
        "Columns not used: id, stage, ward.",
    ]
    assert [finding.kind for finding in made.findings] == ["cut points", "cut points", "states", "columns not used"]


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "lazy"])
def test_the_same_from_every_kind_of_table(frame: pl.DataFrame, kind: str, tmp_path: Path) -> None:
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    table = {
        "csv": tmp_path / "rows.csv",
        "parquet": tmp_path / "rows.parquet",
        "pandas": pd.DataFrame(frame.to_dict(as_series=False)),
        "lazy": frame.lazy(),
    }[kind]
    expected = network_from_table(frame, parents=PARENTS)
    assert network_from_table(table, parents=PARENTS) == expected  # type: ignore[arg-type]


def test_what_is_said_is_taken_without_a_finding(frame: pl.DataFrame) -> None:
    made = network_from_table(
        frame,
        parents=PARENTS,
        states={"outcome": ["yes", "no"], "bp": ["low", "high"]},
        bins={"age": [40, 60], "bp": CutPoints((140,))},
    )
    assert made.network.variable("age") == Variable("age", ("<40", "40-60", "60+"), CutPoints((40, 60)))
    assert made.network.variable("bp") == Variable("bp", ("low", "high"), CutPoints((140,)))
    assert made.network.states("outcome") == ("yes", "no")
    assert _findings(made) == ["Columns not used: id, stage, ward."]
    cuts = made.network.variable("age").cuts
    assert cuts is not None
    assert (cuts.lowest, cuts.highest) == (18, 90)


@pytest.mark.parametrize(
    ("rule", "points", "how"),
    [
        (4, (38, 57, 75), "with about as many rows in each state"),
        (Quantiles(2), (57,), "with about as many rows in each state"),
        (EqualWidth(3), (42, 66), "ranges of equal width"),
        (Supervised("outcome", 2), None, "where a decision tree tells the states of outcome apart"),
    ],
)
def test_rules(frame: pl.DataFrame, rule: object, points: Sequence[float] | None, how: str) -> None:
    made = network_from_table(frame, parents=PARENTS, bins={"age": rule})  # type: ignore[dict-item]
    cuts = made.network.variable("age").cuts
    assert cuts is not None
    assert cuts.points == points or (points is None and 50 <= cuts.points[0] <= 60)
    assert f"age is cut at {cuts}, {how}. States, with rows:" in _findings(made)[0]


def test_one_rule_for_all_measured_columns(frame: pl.DataFrame) -> None:
    network = Network.from_data(frame, parents=PARENTS, bins=2)
    assert [len(network.states(name)) for name in ("age", "bp", "outcome")] == [2, 2, 2]
    network = Network.from_data(frame, parents=PARENTS, bins=Supervised("outcome"))
    assert network.variable("age").cuts is not None


def test_a_tree_that_finds_nothing_cuts_near_the_median() -> None:
    rows = pl.DataFrame({"x": np.arange(100) + 0.5, "y": ["a", "b"] * 50})
    made = network_from_table(rows, parents={"y": ["x"]}, bins={"x": Supervised("y", 2)})
    assert "x is cut at 50, near its median: a decision tree finds no relation to y." in _findings(made)[0]


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        ({"age": Supervised("age")}, "age apart, but age is the same variable"),
        ({"age": Supervised("ward")}, "ward apart, but ward is not a variable whose states are known before"),
        ({"age": Supervised("bp"), "bp": Supervised("age")}, "is not a variable whose states are known before"),
    ],
)
def test_a_tree_without_a_target(frame: pl.DataFrame, bins: dict[str, Supervised], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        network_from_table(frame, parents=PARENTS, bins=bins)


def test_states_of_a_measured_column_without_cut_points_are_quantiles(frame: pl.DataFrame) -> None:
    made = network_from_table(frame, parents=PARENTS, states={"age": ["young", "old"]})
    assert made.network.variable("age") == Variable("age", ("young", "old"), CutPoints((60,)))
    assert "age is cut at 60, rounded" in _findings(made)[0]


def test_few_rows_make_two_states() -> None:
    rng = np.random.default_rng(3)
    rows = pl.DataFrame({"x": rng.normal(size=100), "y": rng.normal(size=100), "z": rng.normal(size=100)})
    assert all(len(variable.states) == 2 for variable in Network.from_data(rows, parents={"z": ["x", "y"]}).variables)
    assert all(len(variable.states) == 3 for variable in Network.from_data(rows, parents={"z": ["x"]}).variables[:1])
    assert [len(own.states) for own in Network.from_data(rows, variables=["x", "y"]).variables] == [3, 3]


def test_few_whole_numbers_are_states_unless_cut_points_are_given(frame: pl.DataFrame) -> None:
    assert Network.from_data(frame, variables=["stage"]).states("stage") == ("1", "2", "3", "4")
    network = Network.from_data(frame, variables=["stage"], bins={"stage": [3]})
    assert network.variable("stage") == Variable("stage", ("<3", "3+"), CutPoints((3,)))


def test_numbers_written_differently_in_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("grade,flag,code\n10,true,007\n2,false,01\n2,?,01\n")
    network = Network.from_data(path)
    assert network.states("grade") == ("2", "10")  # in the order of numbers
    assert network.states("flag") == ("false", "true")
    assert network.states("code") == ("01", "007")
    assert credo.read_table(network, path).codes.tolist() == [[1, 1, 1], [0, 0, 0], [0, -1, 0]]


def test_hidden_variables_have_states_but_no_column(frame: pl.DataFrame) -> None:
    network = Network.from_data(frame, edges=[("frailty", "outcome")], states={"frailty": [0, 1]})
    assert network.names == ("outcome", "frailty")
    assert network.states("frailty") == ("0", "1")
    with pytest.raises(MissingColumnError, match="frailty"):
        Network.from_data(frame, edges=[("frailty", "outcome")])
    with pytest.raises(MissingColumnError, match='"ages".* Did you mean "age"'):
        Network.from_data(frame, edges=[("ages", "outcome")])
    with pytest.raises(MissingColumnError, match="frailty"):
        Network.from_data(frame, states={"frailty": ["a", "b"]}, bins={"frailty": [3]})


def test_without_a_structure_all_usable_columns_are_variables(frame: pl.DataFrame) -> None:
    made = network_from_table(frame, parents={})
    assert made.network.names == ("age", "bp", "stage", "ward", "outcome")
    assert _findings(made)[0] == (
        'Column id holds 400 different texts in 400 rows, such as "p0": it seems to name rows rather than to group '
        "them. Leave it out, or state its states."
    )
    assert made.findings[0].kind == "column left out"
    assert any(each.startswith("ward has the same value in all 400 rows (A): it has one") for each in _findings(made))


def test_only_the_columns_that_are_needed_are_read(frame: pl.DataFrame, tmp_path: Path) -> None:
    """The others may hold anything."""
    odd = frame.with_columns(bytes=pl.lit(b"x"), list=pl.lit([1]))
    odd.write_parquet(tmp_path / "rows.parquet")
    for table in (odd, odd.lazy(), tmp_path / "rows.parquet"):
        made = network_from_table(table, parents={"outcome": ["age"]})
        assert made.network.names == ("age", "outcome")
        assert _findings(made)[-1] == "Columns not used: id, bp, stage, ward, bytes, list."
    hidden = network_from_table(frame, parents={}, states={"x": ["a", "b"]})
    assert hidden.network.names == ("x",)


def test_variables_chooses_columns_and_their_order(frame: pl.DataFrame) -> None:
    assert Network.from_data(frame, variables=["outcome", "age"]).names == ("outcome", "age")
    with pytest.raises(NetworkError, match='"age" is not among the variables'):
        Network.from_data(frame, edges=[("age", "outcome")], variables=["outcome"])
    with pytest.raises(OptionError, match="variables is a list of names, not 'age'"):
        Network.from_data(frame, variables="age")


def test_states_of_a_misspelt_column_are_an_error() -> None:
    rows = pl.DataFrame({"grade": [0, 1, 2], "y": ["a", "b", "b"]})
    with pytest.raises(DataError, match='states names "grad", but the table has no such column. Did you mean "grade"'):
        Network.from_data(rows, edges=[("y", "y2")], states={"grad": [0, 1, 2], "y2": ["a", "b"]})
    stated = {"grad": [0, 1, 2]}
    assert Network.from_data(rows, edges=[("grad", "y")], states=stated).names == ("y", "grad")
    assert Network.from_data(rows, variables=["y", "grad"], states=stated).names == ("y", "grad")


def test_states_that_leave_out_a_value_are_an_error_at_once() -> None:
    rows = pl.DataFrame({"grade": [0, 1, 2, None], "y": ["a", "b", "b", "a"]})
    with pytest.raises(UnknownStateError, match='Column grade, row 3: "2" is not a state of grade'):
        Network.from_data(rows, states={"grade": [0, 1]})


def test_suggestions_name_what_exists_for_what_was_written() -> None:
    rows = pl.DataFrame({"grade": [0, 1, 2], "y": ["a", "b", "b"]})
    with pytest.raises(MissingColumnError, match='The table has no column "yy". Did you mean "y"'):
        Network.from_data(rows, edges=[("grade", "y")], variables=["grade", "yy"])


def test_empty_tables_are_refused_without_empty_lists() -> None:
    with pytest.raises(DataError) as without_columns:
        Network.from_data(pl.DataFrame(), edges=[("a", "b")])
    assert str(without_columns.value) == 'The table has no column "b".'
    rows = pl.DataFrame({"y": ["a", "b"]})
    with pytest.raises(DataError, match="The table has no rows: it holds names of columns at most"):
        credo.fit(Network.from_data(rows), rows, method="ml").predict(rows.clear(), "y")


@pytest.mark.parametrize("bins", [{"x": [5]}, None])
def test_decimal_commas_are_to_be_declared(bins: dict[str, list[float]] | None) -> None:
    rows = pl.DataFrame({"x": [f"{i},5" for i in range(20)]})
    with pytest.raises(DataError, match='--decimal "," on the command line'):
        Network.from_data(rows, edges=[("x", "z")], states={"z": ["a", "b"]}, bins=bins)


# Columns that cannot be variables -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([date(2020, 1, 1), date(2021, 1, 1)], "holds dates, which are neither categories nor numbers. Turn them into"),
        ([datetime(2020, 1, 1), None], "holds dates"),
        (["2020-01-01", "2021-12-31"], "holds dates"),
        (["3.4.2021", "13.4.2021"], "holds dates"),
        ([None, None], "holds no value at all. Leave it out, or state its states: it is then hidden."),
        (["", "?"], "holds no value at all"),
        ([float("nan"), None], "holds no value at all"),
        ([f"text {i}" for i in range(101)], 'holds 101 different texts in 101 rows, such as "text 0"'),
        ([*map(str, range(20)), "low"], 'holds numbers, but also "low". Write a number there, or leave the cell empty'),
        ([f"{i},5" for i in range(20)], 'holds numbers with a comma, such as "0,5". Write them with a decimal point.'),
        ([*map(str, range(20)), "2,5"], 'holds numbers with a comma, such as "2,5"'),
        (["0,5", "1", "2"], 'holds numbers with a comma, such as "0,5"'),
        (["133,5", "120,0"] * 10, 'holds numbers with a comma, such as "120,0"'),
        ([1.0, float("inf")], 'holds numbers, but "inf" in row 2'),
        ([[1], [2]], "holds values of the type List"),
    ],
)
def test_a_column_that_cannot_be_a_variable(values: list[object], message: str) -> None:
    with pytest.raises(DataError, match=f"Column x {message}"):
        Network.from_data(pl.DataFrame({"x": values}), variables=["x"])


def test_a_table_without_a_usable_column() -> None:
    with pytest.raises(DataError, match=r"No column of the table can be a variable\. Column x holds no value"):
        Network.from_data(pl.DataFrame({"x": [None]}))


def test_some_texts_among_few_numbers_are_categories() -> None:
    assert Network.from_data(pl.DataFrame({"x": ["0", "1", "2", "3+"]})).states("x") == ("0", "1", "2", "3+")
    assert Network.from_data(pl.DataFrame({"x": ["1,0", "1", "2"]})).states("x") == ("1", "2", "1,0")


def test_states_make_any_column_a_variable() -> None:
    rows = pl.DataFrame({"x": [None, None], "y": ["2020-01-01", "2021-01-01"]})
    network = Network.from_data(rows, states={"x": ["a", "b"], "y": ["2020-01-01", "2021-01-01"]})
    assert network.names == ("x", "y")


@pytest.mark.parametrize(
    ("values", "rule", "message"),
    [
        (["a", "b"], [40], 'Column x holds numbers, but "a" in row 1'),
        ([2.5, 2.5], 3, "Column x holds the same number in all rows. Leave it out, or give its cut points."),
        ([None, None], 3, "Column x holds no value at all. Leave it out, or give its cut points."),
    ],
)
def test_a_column_that_cannot_be_cut(values: list[object], rule: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Network.from_data(pl.DataFrame({"x": values}), bins={"x": rule})  # type: ignore[dict-item]


def test_stated_states_that_a_rule_cannot_fill() -> None:
    rows = pl.DataFrame({"x": [0.5] * 60 + [1.5] * 40})
    message = "Column x can be cut into 2 states at 1, but 3 are stated: a, b, c. Give the cut points."
    with pytest.raises(DataError, match=message):
        Network.from_data(rows, states={"x": ["a", "b", "c"]}, bins={"x": 3})


def test_a_constant_column_of_numbers_is_one_state() -> None:
    assert Network.from_data(pl.DataFrame({"x": [2.5, 2.5]})).states("x") == ("2.5",)


def test_from_here_to_an_answer(frame: pl.DataFrame) -> None:
    network = Network.from_data(frame, edges=[("age", "outcome")], bins={"age": [40, 60]})
    fit = credo.fit(network, frame, "age raises outcome", method="cmap")
    assert fit.query("P(outcome=yes | age=75)").probability > 0.9
    assert fit.query("P(outcome=yes | age=20)").probability < 0.1


def test_learning_from_numbers_is_learning_from_their_states(frame: pl.DataFrame) -> None:
    """An independent oracle: pandas cuts the columns, and the network has no cut points."""
    network = Network.from_data(frame, parents=PARENTS, bins={"age": [40, 60], "bp": 3})
    cut = pd.DataFrame({"outcome": frame["outcome"].to_list()})
    for name in ("age", "bp"):
        variable = network.variable(name)
        assert variable.cuts is not None
        edges = [-np.inf, *variable.cuts.points, np.inf]
        cut[name] = pd.cut(frame[name].to_list(), edges, right=False, labels=list(variable.states)).astype(str)
    plain = Network([Variable(own.name, own.states) for own in network.variables], PARENTS)
    measured, named = credo.fit(network, frame, method="map"), credo.fit(plain, cut, method="map")
    for name in network.names:
        np.testing.assert_array_equal(measured.network.cpts[name], named.network.cpts[name])
    assert measured.network.log_likelihood(frame) == measured.network.log_likelihood(cut)

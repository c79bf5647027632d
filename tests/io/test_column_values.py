"""What a table declares or leaves open about its cells: categories, missing values, labels written in two ways."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

import credo
from credo import DataError, Network, network_from_table
from credo.io.column_values import column_values

RESULTS = ["failed", "ok", "ok", None]
ORDER = ["ok", "warned", "failed"]


def _pandas(is_ordered: bool) -> pd.DataFrame:
    return pd.DataFrame({"result": pd.Categorical(RESULTS, categories=ORDER, ordered=is_ordered)})


def _enum() -> pl.DataFrame:
    return pl.DataFrame({"result": pl.Series(RESULTS, dtype=pl.Enum(ORDER))})


@pytest.mark.parametrize(
    ("frame", "is_ordered"),
    [(_pandas(True), True), (_pandas(False), False), (_enum(), True), (_enum().lazy(), True)],
    ids=["ordered", "unordered", "enum", "lazy"],
)
def test_declared_categories_are_the_states_in_their_order(frame: object, is_ordered: bool) -> None:
    made = Network.from_data(frame)
    assert made.states("result") == tuple(ORDER)
    assert made.variable("result").is_ordered is is_ordered
    from_text = credo.fit("result depends on cause\nvariable cause: no, yes", frame, method="ml").network
    assert from_text.states("result") == tuple(ORDER)
    assert from_text.variable("result").is_ordered is is_ordered


def test_an_enum_in_a_parquet_file_is_an_order_too(tmp_path) -> None:
    _enum().write_parquet(tmp_path / "rows.parquet")
    assert Network.from_data(tmp_path / "rows.parquet").states("result") == tuple(ORDER)


def test_stated_states_come_before_declared_categories() -> None:
    variable = Network.from_data(_enum(), states={"result": ["failed", "ok"]}).variable("result")
    assert (variable.states, variable.is_ordered) == (("failed", "ok"), False)


def test_categories_that_are_numbers_or_intervals() -> None:
    frame = pd.DataFrame(
        {
            "stage": pd.Categorical([2.0, 1.0, 3.0], categories=[3.0, 2.0, 1.0], ordered=True),
            "age": pd.cut([5.0, 15.0, 105.0], [0, 10, 100, 110]),
        }
    )
    network = Network.from_data(frame)
    assert network.states("stage") == ("3", "2", "1")
    assert network.states("age") == ("(0, 10]", "(10, 100]", "(100, 110]")
    assert credo.read_table(network, frame).codes.tolist() == [[1, 0], [2, 1], [0, 2]]


def test_the_findings_name_the_categories() -> None:
    assert [str(each) for each in network_from_table(_pandas(True), parents={}).findings] == [
        "result has the states ok, warned, failed, from low to high: the categories of its column.",
        "result is missing in 1 of 4 rows.",
    ]


def test_a_finding_counts_missing_values_once() -> None:
    rows = pl.DataFrame({"ecg": ["a", "b", None, "a"], "pressure": ["x", None, "NA", "y"]})
    message = "pressure is missing in 2 of 4 rows, ecg in 1."
    assert message in [str(each) for each in network_from_table(rows, parents={}).findings]
    network = Network.from_data(rows, edges=[("ecg", "pressure")])
    for fit in (credo.fit(network, rows, method="cmap"), credo.fit("pressure depends on ecg", rows, method="cmap")):
        assert [str(each) for each in fit.findings if each.kind == "missing values"] == [message]
    complete = credo.fit("pressure depends on ecg", rows, method="cmap", em=credo.EMOptions(complete_rows=True))
    assert "missing values" not in [each.kind for each in complete.findings]


def test_labels_that_differ_only_in_case_are_an_error() -> None:
    rows = pl.DataFrame({"smoker": ["Yes", "yes", "no", "no "]})
    with pytest.raises(
        DataError, match='smoker holds both "Yes" and "yes".* Write them in the same way; or.* list all states'
    ):
        Network.from_data(rows)
    stated = Network.from_data(rows, states={"smoker": ["no", "yes", "Yes"]})
    assert credo.read_table(stated, rows).codes[:, 0].tolist() == [2, 1, 0, 0]


def test_blanks_around_a_label_make_no_second_state() -> None:
    rows = pl.DataFrame({"smoker": ["yes", " yes", "no "]})
    network = Network.from_data(rows)
    assert network.states("smoker") == ("no", "yes")
    assert credo.read_table(network, rows).is_complete


def test_words_for_missing_values_that_become_states_are_named() -> None:
    rows = pl.DataFrame({"smoker": ["yes", "-", "-", "no", "-"], "pain": ["none", "N/A", "none", "mild", ""]})
    findings = [str(each) for each in network_from_table(rows, parents={}).findings]
    begins = "smoker: “-” in 3 rows is taken as a state; empty cells are missing values. If these are, too, write"
    assert any(each.startswith(f"{begins} `missing values: -`") for each in findings)
    assert any("pain: “N/A” in 1 row, “none” in 2 rows are taken as states" in each for each in findings)
    declared = network_from_table(rows, parents={}, states={"pain": ["none", "mild", "N/A"]}, variables=["pain"])
    assert [each.kind for each in declared.findings] == ["missing values", "columns not used"]


@pytest.mark.parametrize("name", ["count", "rows", "text", "", "x"])
def test_texts_are_counted_without_the_blanks_around_them_whatever_the_column_is_called(name: str) -> None:
    found = column_values(pl.Series(name, ["yes ", " yes", "no", None, "", "NA", "12", "maybe"] * 200))
    assert found.categories == ("12", "maybe", "no", "yes")
    assert (found.rows, found.distinct, found.numbers) == (1_000, 4, None)


@pytest.mark.parametrize(
    "texts", [["1", "2.5", " 3 "], ["1e3", "+4", "-.5"], ["7", "NA", ""], ["1", "inf"], ["1", "nan"]]
)
def test_many_texts_are_numbers_where_all_of_them_are(texts: list[str]) -> None:
    many = [*map(str, range(200)), *texts]
    found, with_word = column_values(pl.Series("x", many)), column_values(pl.Series("x", [*many, "word"]))
    assert (found.numbers is None) == ("inf" in texts)  # no number that a measurement has
    assert with_word.numbers is None
    assert with_word.odd_text is not None


def test_times_that_differ_by_nanoseconds_are_different_values() -> None:
    found = column_values(pl.Series("t", [100, 200, 200]).cast(pl.Duration("ns")))
    assert found.categories == ("0:00:00.000000100", "0:00:00.000000200")
    assert found.has_dates

"""Cells that are no numbers or no states: all at once, as the program numbers rows that the table comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import credo

TEXT = "variable ill: no, yes\ncrp is cut at 0.3, 5\nill depends on crp\n"
CRP = ["<0.3", "0.4", "7", "<0.3", "6.5", "2", "0.1", "3", "4", "9", ">100", "1.5", "2.5"]


def table(crp: list[str] = CRP, ill: list[str] | None = None) -> pl.DataFrame:
    return pl.DataFrame({"crp": crp, "ill": ill or ["no", "yes"] * (len(crp) // 2) + ["no"] * (len(crp) % 2)})


def write(frame: pl.DataFrame, folder: Path, ending: str) -> Path:
    path = folder / f"table.{ending}"
    if ending == "csv":
        frame.write_csv(path)
        return path
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [frame.columns, *frame.rows()]:
        book.active.append([float(cell) if cell.replace(".", "").isdigit() else cell for cell in row])
    book.save(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "xlsx", "frame"])
def test_detection_limits_are_cut_like_numbers(ending: str, tmp_path: Path) -> None:
    data = table() if ending == "frame" else write(table(), tmp_path, ending)
    fit = credo.fit(TEXT, data, method="ml")
    assert fit.network.states("crp") == ("<0.3", "0.3-5", "5+")
    assert fit.network.cpt_array("crp").tolist() == pytest.approx([3 / 13, 6 / 13, 4 / 13])


def test_detection_limits_count_where_cut_points_are_chosen() -> None:
    made = credo.declared_network("crp is cut into 2 quantiles\nill depends on crp\n", data=table())
    assert made.network.variable("crp").cuts == credo.CutPoints((2.5,))


@pytest.mark.parametrize("ending", ["csv", "xlsx", "frame"])
@pytest.mark.parametrize(
    ("cut", "says"),
    [
        ("0.2, 5", '"<0.3" is a detection limit, and may be below 0.2 or above it. Let the first cut point be 0.3'),
        ("0.3, 200", '">100" is a detection limit, and may be above 200 or below it. Let the last cut point be 100'),
    ],
)
def test_a_detection_limit_that_the_cut_does_not_allow_is_an_error(
    ending: str, cut: str, says: str, tmp_path: Path
) -> None:
    data = table() if ending == "frame" else write(table(), tmp_path, ending)
    with pytest.raises(credo.DataError) as caught:
        credo.fit(TEXT.replace("0.3, 5", cut), data, method="ml")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("ending", "rows", "ends"),
    [
        ("csv", "rows 2, 4", "Rows are counted from 1."),
        ("frame", "rows 2, 4", "Rows are counted from 1."),
        ("xlsx", "rows 3, 5", "Rows are numbered as in Excel."),
    ],
)
def test_all_wrong_cells_are_listed(ending: str, rows: str, ends: str, tmp_path: Path) -> None:
    frame = table(["1", "abc", "2", "abc", "3", "xyz", "6", "7"])
    data = frame if ending == "frame" else write(frame, tmp_path, ending)
    with pytest.raises(credo.DataError) as caught:
        credo.fit(TEXT, data, method="ml")
    message = str(caught.value)
    assert f'"abc" in {rows}.' in message
    assert '"xyz" in row' in message
    assert message.endswith(ends)


@pytest.mark.parametrize("ask", [credo.fit, lambda text, data, **_: credo.check(text, data=data)])
def test_rows_are_those_of_excel_where_codes_are_declared_too(ask: Any, tmp_path: Path) -> None:
    path = write(table(["1", "n/a", "2", "<0.3", "3", "4", "6", "7"]), tmp_path, "xlsx")
    text = TEXT.replace("0.3, 5", "0.2, 5") + "\nmissing values: n/a\n"
    with pytest.raises(credo.DataError, match="Column crp, row 5: .*\nRows are numbered as in Excel."):
        ask(text, path, method="ml")


@pytest.mark.parametrize(("ending", "rows"), [("csv", "rows 2, 3"), ("frame", "rows 2, 3"), ("xlsx", "rows 3, 4")])
def test_all_cells_that_are_no_states_are_listed(ending: str, rows: str, tmp_path: Path) -> None:
    frame = table(["1", "2", "3", "6"], ["no", "maybe", "maybe", "perhaps"])
    data = frame if ending == "frame" else write(frame, tmp_path, ending)
    network = credo.Network(
        [credo.Variable("crp", ("low", "high"), credo.CutPoints((5,))), credo.Variable("ill", ("no", "yes"))],
        {"ill": ["crp"]},
    )
    with pytest.raises(credo.UnknownStateError) as caught:
        credo.fit(network, data, method="ml")
    assert f'Column ill, {rows}: "maybe" is not a state of ill.' in str(caught.value)
    assert '"perhaps" is not a state of ill' in str(caught.value)


def test_a_cell_that_is_no_state_and_may_be_a_missing_value_is_asked_about() -> None:
    frame = table(["1", "2", "3", "6"], ["no", "n/a", "yes", "maybe"])
    with pytest.raises(credo.UnknownStateError) as caught:
        credo.fit(TEXT, frame, method="ml")
    asked, other = str(caught.value).splitlines()[:2]
    assert "If it is a missing value, write `missing values: n/a`" in asked
    assert "missing value" not in other


def test_codes_for_missing_values_are_warned_of_before_learning() -> None:
    frame = pl.DataFrame({"age": [34.5, 45, 56, 67, -999, 51.2], "smoker": ["no", "yes", "unknown", "no", "yes", "no"]})
    text = "age is cut at 50\nsmoker depends on age\n"
    with pytest.warns(credo.errors.MissingCodeWarning) as warned:
        credo.fit(text, frame, method="ml")
    assert any("-999 in 1 row" in str(each.message) for each in warned)
    assert any("“unknown” in 1 row" in str(each.message) for each in warned)

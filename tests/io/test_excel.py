"""Excel files, written by openpyxl: cells of every kind, sheets, and files that are damaged or too large."""

from __future__ import annotations

import datetime
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from credo import (
    CutPoints,
    DataError,
    MissingExtraError,
    Network,
    OptionError,
    TableFormat,
    TooLargeError,
    UnknownStateError,
    Variable,
    read_table,
)
from credo.io import excel
from credo.io.categories import read_frame

NET = Network(
    {
        "smoke": ["no", "yes"],
        "grade": ["1", "2", "3"],
        "late": ["false", "true"],
        "dose": ["0.5", "1.5"],
        "day": ["2024-01-05", "2024-02-01"],
    }
)
HEADER = ["smoke", "grade", "late", "dose", "day", "id"]
DAY = datetime.datetime(2024, 1, 5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "patients.xlsx"


def write(path: Path, rows: list[list[Any]], title: str = "Patients") -> Path:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def test_cells_of_every_kind(path: Path) -> None:
    rows = [
        ["yes", 2, True, 0.5, DAY, 7],
        [" no ", 1.0, False, "1.5", datetime.date(2024, 2, 1), "a"],
        [None, "?", "true", "NA", None, None],
        ["#N/A", "3", 1, None, "2024-01-05", 1.5],
    ]
    data = read_table(NET, write(path, [HEADER, *rows]), others=("id",))
    assert data.codes.tolist() == [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [-1, -1, 1, -1, -1], [-1, 2, 1, -1, 0]]
    assert data.others["id"].to_list() == ["7", "a", None, "1.5"]
    assert not data.hidden


def test_a_table_without_a_network_keeps_times(path: Path) -> None:
    moment = datetime.datetime(2024, 1, 5, 10, 30)
    frame = read_frame(write(path, [["when", "at"], [moment, datetime.time(8, 15)], [DAY, None]]))
    assert frame["when"].to_list() == ["2024-01-05 10:30:00", "2024-01-05 00:00:00"]
    assert frame["at"].to_list() == ["08:15:00", None]


def test_blank_rows_and_columns_are_no_data(path: Path) -> None:
    rows = [
        [],
        [None, " smoke ", None, "grade"],
        [None, "yes", None, 1],
        [],
        [None, "no", None, 2],
        [None, " "],
        [],
        [],
    ]
    data = read_table(NET, write(path, rows))
    assert data.codes[:, :2].tolist() == [[1, 0], [0, 1]]


def test_merged_cells_of_a_header_are_asked_for(path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["Habits", None, "grade"], ["smoke", "drink", "grade"], ["yes", "no", 1]):
        sheet.append(row)
    sheet.merge_cells("A1:B1")
    book.save(path)
    with pytest.raises(DataError, match=r"sheet Sheet: cell B2 is in a column without a name.*split merged cells"):
        read_table(NET, path)


def test_two_columns_of_one_name(path: Path) -> None:
    with pytest.raises(DataError, match='two columns named "smoke"'):
        read_table(NET, write(path, [["smoke", "smoke"], ["yes", "no"]]))


def test_formulas_give_their_stored_values_or_an_error(path: Path) -> None:
    write(path, [["smoke", "grade"], ["yes", "=1+1"], ["no", 3]])
    with pytest.raises(DataError, match="cell B2 holds a formula without its value. Open the file in a spreadsheet"):
        read_table(NET, path)
    _change(path, "xl/worksheets/sheet1.xml", b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
    assert read_table(NET, path).codes[:, 1].tolist() == [1, 2]
    assert read_table(NET.without_cpts(), path).hidden == ("late", "dose", "day")


def test_a_formula_that_gives_an_empty_text_is_a_missing_value(path: Path) -> None:
    write(path, [["smoke", "grade"], ["yes", "=1+1"], ["no", '=""']])
    _change(path, "xl/worksheets/sheet1.xml", b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
    assert read_table(NET, path).codes[:, 1].tolist() == [1, -1]


def test_errors_of_a_spreadsheet_are_no_states(path: Path) -> None:
    with pytest.raises(UnknownStateError, match='Column grade, row 3: "#DIV/0!".*\\nRows are numbered as in Excel'):
        read_table(NET, write(path, [["grade"], [1], ["#DIV/0!"]]))


def test_a_decimal_comma_in_a_text(path: Path) -> None:
    write(path, [["dose"], ["0,5"], [1.5]])
    with pytest.raises(UnknownStateError, match='"0,5" is not a state.*--decimal ","'):
        read_table(NET, path)
    assert read_table(NET, path, table_format=TableFormat(decimal=",")).codes[:, 3].tolist() == [0, 1]


def test_sheets(path: Path) -> None:
    book = Workbook()
    for title, state in (("Patients", "yes"), ("Controls", "no")):
        sheet = book.create_sheet(title)
        sheet.append(["smoke"])
        sheet.append([state])
    book.create_sheet("nothing")
    book.save(path)
    with pytest.raises(DataError, match="several sheets: Patients, Controls. Choose one.*--sheet Patients"):
        read_table(NET, path)
    assert read_table(NET, path, table_format=TableFormat(sheet="Controls")).codes[0, 0] == 0
    with pytest.raises(DataError, match='no sheet "patients".*Did you mean "Patients"'):
        read_table(NET, path, table_format=TableFormat(sheet="patients"))
    with pytest.raises(DataError, match="sheet nothing: the table is empty"):
        read_table(NET, path, table_format=TableFormat(sheet="nothing"))
    with pytest.raises(OptionError, match="an Excel file has no encoding"):
        read_table(NET, path, table_format=TableFormat(encoding="latin-1"))


def test_empty_tables(path: Path) -> None:
    with pytest.raises(DataError, match="the table is empty"):
        read_table(NET, write(path, []))
    with pytest.raises(DataError, match="no rows"):
        read_table(NET, write(path, [["smoke"], [None]]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"smoke\nno\n", "of another kind, or incomplete"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1000), "has a password, or is of Excel before 2007"),
        (b"", "of another kind, or incomplete"),
    ],
)
def test_files_of_another_kind(path: Path, content: bytes, words: str) -> None:
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_table(NET, path)


def test_a_zip_of_something_else_and_an_encrypted_one(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(DataError, match="cannot be read as an Excel file"):
        read_table(NET, path)
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(DataError, match="has a password"):
        read_table(NET, path)


@pytest.mark.parametrize(
    "part", ["xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/styles.xml", "[Content_Types].xml"]
)
def test_damaged_parts_are_errors(path: Path, part: str) -> None:
    write(path, [["smoke"], ["yes"]])
    _change(path, part, b">", b"", 3)
    with pytest.raises(DataError, match="cannot be read as an Excel file.*damaged"):
        read_table(NET, path)


def test_rows_that_no_sheet_has_end_soon(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "MOST_ROWS", 10_000)
    write(path, [["smoke"], ["yes"]])
    _change(path, "xl/worksheets/sheet1.xml", b'<row r="2"', b'<row r="999999999999"')
    with pytest.raises(DataError, match="more than 10,000 rows"):
        read_table(NET, path)


def test_a_bomb_is_refused_before_it_is_unpacked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, [["smoke"], ["yes"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/bomb", bytes(9 * 2**20))
    with pytest.raises(DataError, match="unpacks to 9.5 MB, over 100 times its size"):
        read_table(NET, path)
    monkeypatch.setattr(excel, "memory_limit_or_default", lambda _: 2**20)
    with pytest.raises(TooLargeError, match="unpacks to 9.5 MB, may take"):
        read_table(NET, path)


def test_cells_beyond_the_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, [["smoke", "grade"], *([["yes", 1]] * 50)])
    monkeypatch.setattr(excel, "memory_limit_or_default", lambda _: 2_000)
    monkeypatch.setattr(excel, "BYTES_PER_BYTE", 0)
    with pytest.raises(TooLargeError, match="its cells need more than the 2.0 kB of memory"):
        read_table(NET, path)


def test_without_openpyxl(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, [["smoke"], ["yes"]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"needs the package openpyxl.*pip install 'credo\[excel\]'"):
        read_table(NET, path)


@pytest.mark.parametrize("ending", [".xls", ".ods", ".xlsb"])
def test_other_spreadsheets(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    path.write_bytes(b"x")
    with pytest.raises(DataError, match="Save the table as .xlsx"):
        read_table(NET, path)


def _change(path: Path, part: str, old: bytes, new: bytes, count: int = 1) -> None:
    """Replace some bytes in one part of an archive."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert old in parts[part]
    parts[part] = parts[part].replace(old, new, count)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_measured_columns(path: Path) -> None:
    network = Network([Variable("age", ("young", "middle", "old"), CutPoints((40.5, 60)))])
    write(path, [["age"], [40], [40.5], ["61"], ["old"], [None]])
    assert read_table(network, path, table_format=TableFormat(decimal=",")).codes[:, 0].tolist() == [0, 1, 2, 2]

"""Tables that are not written as usual: what a page is shown of them, and that everything reads them that way."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from credo.studio.table import OpenTable, format_from, table_of_job
from tests.studio.harness import Studio, wait_for

ROWS = "flu;fever\nno;37,1\nyes;38,5\nno;36,8\nyes;39,0\n"
TEXT = "fever: low < 38 <= high\nfever depends on flu\n"
WRITTEN = {"separator": "|", "decimal": ",", "encoding": "latin-1"}


@pytest.fixture
def clinic(studio: Studio) -> Studio:
    (studio.folder / "flu.csv").write_bytes(ROWS.replace(";", "|").replace("flu", "grippé").encode("latin-1"))
    (studio.folder / "flu.credo").write_text(TEXT.replace("flu", "grippé"), encoding="utf-8")
    return studio


def workbook(path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for title, cell in (("2025", "no"), ("2026", "yes")):
        sheet = book.create_sheet(title)
        sheet.append(["flu"])
        sheet.append([cell])
    book.remove(book.worksheets[0])
    book.save(path)


def test_a_table_is_shown_before_it_is_opened(clinic: Studio) -> None:
    usual = clinic.post("/api/preview", {"table": "flu.csv"}).json()
    assert usual["kind"] == "CSV"
    assert "problem" in usual
    found = clinic.post("/api/preview", {"table": "flu.csv", "format": WRITTEN}).json()
    assert found["columns"] == ["grippé", "fever"]
    assert found["rows"][0] == ["no", "37.1"]
    assert found["total"] == 4


def test_what_is_declared_holds_for_reading_checking_and_restarting(clinic: Studio) -> None:
    request = {"model": "flu.credo", "table": "flu.csv", "format": WRITTEN}
    opened = clinic.post("/api/open", request).json()["opened"]
    assert opened["reading"]["message"] == ""
    states = {each["name"]: each["states"] for each in opened["reading"]["network"]["variables"]}
    assert states == {"grippé": ["no", "yes"], "fever": ["low", "high"]}
    clinic.change(clinic.session.require_opened().document.text + "grippé raises fever\n")
    found = wait_for(lambda: clinic.session.require_opened().found)
    assert "message" not in found
    job = clinic.session.require_opened().table.job()  # type: ignore[union-attr]
    assert table_of_job(job) == clinic.session.require_opened().table
    assert table_of_job(None) is None


def test_the_sheets_of_a_workbook_can_be_chosen(studio: Studio) -> None:
    workbook(studio.folder / "flu.xlsx")
    found = studio.post("/api/preview", {"table": "flu.xlsx"}).json()
    assert found["sheets"] == ["2025", "2026"]
    assert "several sheets" in found["problem"]
    found = studio.post("/api/preview", {"table": "flu.xlsx", "format": {"sheet": "2026"}}).json()
    assert found["rows"] == [["yes"]]


@pytest.mark.parametrize(
    "given",
    [3, [], "x", {"separator": 3}, {"separator": "ab"}, {"decimal": "x"}, {"encoding": "no such"}, {"other": "x"}],
)
def test_what_cannot_be_declared_is_refused(clinic: Studio, given: Any) -> None:
    assert clinic.post("/api/preview", {"table": "flu.csv", "format": given}).status_code == 422
    assert clinic.post("/api/open", {"table": "flu.csv", "format": given}).status_code == 422


@pytest.mark.parametrize("name", ["../flu.csv", "/etc/passwd", "", None, "flu.credo", "nowhere.csv"])
def test_nothing_else_is_shown(clinic: Studio, name: object) -> None:
    (clinic.folder.parent / "flu.csv").write_text("secret\n1\n")
    answer = clinic.post("/api/preview", {"table": name})
    assert answer.status_code == 422
    assert "secret" not in answer.text


def test_what_is_empty_is_as_usual() -> None:
    assert format_from({"separator": "", "sheet": ""}) is None
    assert format_from(None) is None
    found = format_from({"separator": "tab"})
    assert found is not None
    assert found.separator == "\t"


def test_columns_are_read_again_when_the_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "flu.csv"
    path.write_text("flu\nno\n")
    table = OpenTable(path)
    assert table.columns() is table.columns()
    path.write_text("flu\nno\nyes\n")
    os.utime(path, (1, 1))
    assert len(table.columns()) == 2  # type: ignore[arg-type]
    path.unlink()
    assert table.columns() is path

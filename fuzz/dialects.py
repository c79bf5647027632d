"""Declared tables: CSV with other separators, decimal commas and encodings; Excel files with changes in their parts."""

from __future__ import annotations

import base64
import io
import re
import zipfile
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from functools import lru_cache
from pathlib import Path
from random import Random

import numpy as np

from credo.errors import CredoError
from credo.io.categories import read_frame, variables_of
from credo.io.dialects import declared
from credo.io.tables import read_table
from credo.options import TableFormat
from fuzz.csv_reference import plain_reader
from fuzz.kind import Input, Kind
from fuzz.mutation import mutated
from fuzz.tables import CELLS, WORDS, check_dataset, network, quoted

ENCODINGS = ("utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-7", "ascii", "shift_jis", "utf-8-sig", "cp037")
SEPARATORS = (None, ";", "|", "\t", ",", " ", ":", "x")
NUMBERS = ("0,5", "1,0", "1.000", "1.234,5", "-,5", ",", "2,", "1,0e0", " 0,5 ")


# CSV ------------------------------------------------------------------------------------------------------------------


def make_dialect(choose: Random) -> Input:
    """A table in some dialect, and what is declared about it: most often the truth."""
    separator, decimal = choose.choice(SEPARATORS), choose.choice(".,")
    encoding = choose.choice(ENCODINGS)
    header = choose.sample([*network().names, "weight"], choose.randint(1, 4))
    rows = [header]
    for _ in range(choose.choice((0, 1, 3, 20))):
        rows.append([_cell(choose, name, decimal) for name in header])
    mark = separator or choose.choice(",;\t")
    content = "\n".join(mark.join(quoted(cell, mark, False) for cell in row) for row in rows).encode(
        encoding, "replace"
    )
    if choose.random() < 0.2:
        encoding = choose.choice(ENCODINGS)
    if choose.random() < 0.2:
        separator, decimal = choose.choice(SEPARATORS), choose.choice(".,")
    return {
        "format": {"separator": separator, "decimal": decimal, "encoding": encoding},
        "weights": "weight" if "weight" in header and choose.random() < 0.5 else None,
        "content": base64.b64encode(mutated(choose, content, WORDS, most=3)).decode(),
    }


def _cell(choose: Random, name: str, decimal: str) -> str:
    if choose.random() < 0.05:
        return choose.choice((*CELLS, *NUMBERS))
    cell = choose.choice(network().states(name)) if name in network() else str(choose.randrange(5) / 2)
    return cell.replace(".", decimal)


def check_dialect(given: Input, folder: Path) -> str:
    """The plain reader and the compiled one give the same table, or the same error."""
    assert isinstance(given, dict)
    path = folder / "any.csv"
    path.write_bytes(base64.b64decode(given["content"]))
    table_format = TableFormat(**given["format"])
    found = []
    for reader in (plain_reader, nullcontext):
        try:
            with reader():
                data = read_table(network(), path, weights=given["weights"], table_format=table_format)
        except CredoError as error:
            found.append(error)
        else:
            check_dataset(data, network())
            found.append(data)
    plain, compiled = found
    if isinstance(plain, CredoError) or isinstance(compiled, CredoError):
        assert str(plain) == str(compiled), f"the readers end in different ways; {plain} and {compiled}"
        return type(plain).__name__
    assert np.array_equal(plain.codes, compiled.codes), "the readers give different tables"
    return "valid"


DIALECTS = Kind("dialects", make_dialect, check_dialect, ".json")


# Excel ----------------------------------------------------------------------------------------------------------------

STARTS = 200  # files that inputs start from, written once a worker
XML_WORDS = tuple(
    b'<c r="A1" t="s"><v>0</v></c>|<v>|</v>|<f>1+1</f>|<row r="2">|</row>|t="s"|t="str"|t="b"|t="d"|t="inlineStr"|'
    b's="1"|r="XFD1048576"|<is><t>yes</t></is>|<si>|<t>no</t>|99999999999|-1|1e999|2024-01-05|&#0;|<!DOCTYPE x>|'
    b'<mergeCell ref="A1:B1"/>|numFmtId="14"|sheetId="1"|r:id="rId9"|state="hidden"|date1904="1"'.split(b"|")
)


def make_xlsx(choose: Random) -> Input:
    """A written workbook with changes in one of its parts, or in the archive."""
    parts = dict(start(choose.randrange(STARTS)))
    sheets = [name for name in parts if "worksheets/" in name]
    in_archive = choose.random() < 0.3
    if not in_archive:
        name = choose.choice((*sheets * 4, *parts))
        parts[name] = mutated(choose, parts[name], XML_WORDS, most=3)
        if choose.random() < 0.05:
            del parts[choose.choice(list(parts))]
    target = io.BytesIO()
    packing = zipfile.ZIP_DEFLATED if choose.random() < 0.2 else zipfile.ZIP_STORED
    with zipfile.ZipFile(target, "w", packing) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part, packing)
    words = (b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"\xff\xff\xff\xff")
    return mutated(choose, target.getvalue(), words, most=3) if in_archive else target.getvalue()


@lru_cache(maxsize=STARTS)
def start(number: int) -> Mapping[str, bytes]:
    """The parts of a workbook with cells of every kind."""
    import datetime

    from openpyxl import Workbook

    choose = Random(f"xlsx {number}")
    book = Workbook()
    book.remove(book.worksheets[0])
    moment = datetime.datetime(2024, 1, 5, 10, 30)
    texts = [cell for cell in CELLS if "\x00" not in cell]  # which a workbook cannot hold
    odd = (None, 1, 0.5, True, moment, moment.date(), moment.time(), "=1+1", "#N/A", "#DIV/0!", *texts)
    for title in choose.sample(("Data", "More"), choose.choice((1, 1, 1, 2))):
        sheet = book.create_sheet(title)
        header = choose.sample([*network().names, "weight", "id"], choose.randint(2, 5))
        before, wrong = [None] * choose.choice((0, 0, 0, 1)), choose.choice((0.0, 0.0, 0.02, 0.2))
        sheet.append([*before, *header])
        for _ in range(choose.choice((0, 1, 3, 20))):
            row = [choose.choice(network().states(name)) if name in network() else 1 for name in header]
            sheet.append([*before, *(choose.choice(odd) if choose.random() < wrong else cell for cell in row)])
    target = io.BytesIO()
    book.save(target)
    with zipfile.ZipFile(target) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    core = parts["docProps/core.xml"]  # says when it was saved
    return {**parts, "docProps/core.xml": re.sub(rb"\d{4}-\d\d-\d\dT[\d:]+Z", b"2024-01-05T10:30:00Z", core)}


def check_xlsx(given: Input, folder: Path) -> str:
    """A table of state numbers, or a CredoError; and the same for reading it without a network."""
    assert isinstance(given, bytes)
    path = folder / "any.xlsx"
    path.write_bytes(given)
    table_format = TableFormat(sheet="Data", decimal=",") if len(given) % 4 == 0 else None
    try:
        check_dataset(read_table(network(), path, table_format=table_format), network())
    except CredoError as error:
        outcome = type(error).__name__
    else:
        outcome = "valid"
    with suppress(CredoError):
        variables_of(read_frame(declared(path, table_format)))
    return outcome


XLSX = Kind("xlsx", make_xlsx, check_xlsx, ".xlsx")

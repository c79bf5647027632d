"""Tables in declared dialects: the same rows as from an ordinary file, and an error that names the declaration."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from credo import CutPoints, DataError, Network, OptionError, TableFormat, UnknownStateError, Variable, read_table
from credo.io import csv as csv_module
from credo.io.categories import read_frame
from credo.io.dialects import declared

NET = Network({"fièvre": ["non", "oui"], "dose": ["0.5", "1.5", "2"], "grade": ["NA", "1,5", "3"]})
ROWS = [["non", "0,5", "NA"], ["oui", "1,5", "1,5"], ["", "2", "3"], ["oui", "?", ""], ["non", "2,0", "3,0"]]
CODES = [[0, 0, 0], [1, 1, 1], [-1, 2, 2], [1, -1, -1], [0, 2, 2]]


def text_of_rows(separator: str) -> str:
    return "\n".join(separator.join(row) for row in [list(NET.names), *ROWS]) + "\n"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8", "utf-16-le", "mac_roman"])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_declared_dialect_is_read_as_the_same_rows(tmp_path: Path, encoding: str, separator: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(text_of_rows(separator).encode(encoding))
    format_ = TableFormat(separator=separator, decimal=",", encoding=encoding)
    data = read_table(NET, path, table_format=format_)
    assert data.codes.tolist() == CODES
    assert not data.hidden
    packed = tmp_path / "table.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_table(NET, packed, table_format=format_).codes.tolist() == CODES


def test_semicolons_are_found_and_only_the_decimal_comma_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text_of_rows(";"), encoding="utf-8")
    assert read_table(NET, path, table_format=TableFormat(decimal=",")).codes.tolist() == CODES


def test_a_declared_encoding_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.io.dialects._PIECE", 7)  # so that characters of two bytes are cut
    path = tmp_path / "table.csv"
    path.write_bytes("fièvre,id\nnon,é\noui,ö\n".encode("utf-16"))
    data = read_table(NET, path, others=("id",), table_format=TableFormat(encoding="utf-16"))
    assert data.codes[:, 0].tolist() == [0, 1]
    assert data.others["id"].to_list() == ["é", "ö"]


def test_rows_of_a_long_file_with_decimal_commas_are_counted_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_module, "CHUNK_BYTES", 100)
    path = tmp_path / "table.csv"
    path.write_text("dose\n" + "1,5\n" * 200 + "9,5\n")
    with pytest.raises(UnknownStateError, match='row 201: "9.5" is not a state'):
        read_table(NET, path, table_format=TableFormat(decimal=","))
    path.write_text("dose;w\n" + "1,5;0,25\n" * 200)
    data = read_table(NET, path, weights="w", table_format=TableFormat(decimal=","))
    assert data.codes[:, 1].tolist() == [1] * 200
    assert data.weights is not None
    assert data.weights.sum() == 50


def test_a_separator_of_thousands_is_no_decimal_point(tmp_path: Path) -> None:
    network, path = Network({"dose": ["1", "1.500", "2"]}), tmp_path / "table.csv"
    path.write_text("dose\n2\n1.500\n1.000\n")
    assert read_table(network, path).codes[:, 0].tolist() == [2, 1, 0]
    with pytest.raises(DataError, match='Column dose, row 3: "1.000" has a point'):
        read_table(network, path, table_format=TableFormat(decimal=","))


def test_a_table_without_a_network(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes("größe;x\n1,5;a\n;b\n".encode("latin-1"))
    frame = read_frame(declared(path, TableFormat(decimal=",", encoding="latin-1")))
    assert frame.to_dict(as_series=False) == {"größe": ["1.5", None], "x": ["a", "b"]}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("fièvre;x\nnon;1\n".encode("latin-1"), r'header is not UTF-8.*encoding="latin-1".*--encoding latin-1'),
        ("fièvre\nnon\n".encode("utf-16"), "--encoding utf-16"),
        (b"dose;x\n0,5;1\n", r'row 1: "0,5" is not a state.*TableFormat\(decimal=","\), or --decimal ","'),
        ("fièvre|dose\nnon|2\n".encode(), r'separated by “\|”.*--separator "\|"'),
    ],
)
def test_what_is_not_declared_is_an_error_that_says_how(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=words):
        read_table(NET, path)


def test_a_cell_that_is_not_utf8_says_how_to_declare_it(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"ville,id\nParis,a\nOrl\xe9ans,a\n")
    network = Network({"ville": ["Orléans", "Paris"]})
    with pytest.raises(UnknownStateError, match="row 2.*--encoding latin-1"):
        read_table(network, path)
    assert read_table(network, path, table_format=TableFormat(encoding="latin-1")).codes[:, 0].tolist() == [1, 0]


def test_a_text_that_is_not_utf8_says_how_to_declare_it(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"dose,id\n2,\xe9\n")
    with pytest.raises(DataError, match="row 1: the value of id is not UTF-8.*--encoding latin-1"):
        read_table(NET, path, others=("id",))


def test_weights_with_a_decimal_comma(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("dose;w\n2;0,5\n")
    with pytest.raises(DataError, match='row 1: "0,5" is not a number.*--decimal ","'):
        read_table(NET, path, weights="w")


@pytest.mark.parametrize(
    ("encoding", "content"), [("utf-16", "dose\n2\n".encode("utf-16") + b"\xd8\xd8"), ("ascii", b"dose\n2\n\xe9")]
)
def test_a_file_in_another_encoding_than_declared(tmp_path: Path, encoding: str, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"about line .*: this is not {encoding}"):
        read_table(NET, path, table_format=TableFormat(encoding=encoding))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"separator": ""}, "one character"),
        ({"separator": ";;"}, "one character"),
        ({"separator": '"'}, "one character"),
        ({"separator": "§"}, "one character"),
        ({"decimal": ";"}, "“.” or “,”"),
        ({"encoding": "latin-99"}, "knows no encoding 'latin-99'"),
        ({"encoding": "hex"}, "knows no encoding"),
        ({"encoding": "a\0"}, "knows no encoding"),
        ({"sheet": 1}, "by its name"),
    ],
)
def test_what_cannot_be_declared(options: dict[str, str], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        TableFormat(**options)


def test_a_declaration_has_to_fit_the_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("dose\n2\n")
    with pytest.raises(OptionError, match="a CSV file has no sheet"):
        read_table(NET, path, table_format=TableFormat(sheet="A"))
    pl.DataFrame({"dose": ["2"]}).write_parquet(tmp_path / "table.parquet")
    with pytest.raises(OptionError, match="a Parquet file has no separator"):
        read_table(NET, tmp_path / "table.parquet", table_format=TableFormat(separator=";"))
    with pytest.raises(OptionError, match="not a path: they are a DataFrame"):
        read_table(NET, pl.DataFrame({"dose": ["2"]}), table_format=TableFormat(separator=";"))
    with pytest.raises(OptionError, match="table_format is a TableFormat"):
        read_table(NET, path, table_format={"separator": ";"})  # type: ignore[arg-type]


AGES = Network([Variable("age", ("young", "middle", "old"), CutPoints((40.5, 60)))])


def test_measured_columns_with_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age;x\n40,4;a\n40,5;a\n6,1e1;a\nold;a\n?;a\n", encoding="utf-8")
    data = read_table(AGES, path, table_format=TableFormat(decimal=","))
    assert data.codes[:, 0].tolist() == [0, 1, 2, 2, -1]
    with pytest.raises(UnknownStateError, match='row 1: "40,4" is neither a number nor a state.*--decimal ","'):
        read_table(AGES, path)
    path.write_text("age\n1.000\n")
    with pytest.raises(DataError, match='row 1: "1.000" has a point'):
        read_table(AGES, path, table_format=TableFormat(decimal=","))

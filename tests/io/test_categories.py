"""Tables without a network are read by the same readers: what one refuses, the other refuses."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from credo import DataError
from credo.io.categories import read_frame


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_all_columns_are_read_as_texts(tmp_path: Path, separator: str) -> None:
    text = 'a,b\n1,x\n?,"y ""z"""\n\n,01\n'.replace(",", separator)
    expected = {"a": ["1", None, None], "b": ["x", 'y "z"', "01"]}
    assert read_frame(write(tmp_path / "t.csv", text)).to_dict(as_series=False) == expected
    assert read_frame(write(tmp_path / "t.csv.gz", gzip.compress(text.encode()))).to_dict(as_series=False) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,b\n1,"1"0\n', "row 1: text follows a closing double quote"),
        ("a,b\n1\n", "row 1: 1 field, but the header has 2"),
        ("a,b\n1,2,3\n", "row 1: 3 fields"),
        ('a,b\n1,"2\n', "row 1: a double quote is opened"),
        ("a,a\n1,2\n", 'two columns named "a"'),
        ("a,b\n1,\xf6\n".encode("latin-1"), "row 1: the value of b is not UTF-8"),
        ("a,b\n1,\0\n", "null character"),
        ("a,b\n", "no rows"),
        ("", "empty"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_row(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_frame(write(tmp_path / "t.csv", text))


def test_damaged_archives_and_parquet_are_errors(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    with pytest.raises(DataError, match="cut off"):
        read_frame(write(tmp_path / "t.csv.gz", packed[: len(packed) // 2]))
    with pytest.raises(DataError, match="not a gzip file"):
        read_frame(write(tmp_path / "u.csv.gz", b"a,b\n1,2\n"))
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_frame(write(tmp_path / "t.parquet", b"PAR1"))
    pl.DataFrame({"a": ["1", "2"]}).write_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    with pytest.raises(DataError, match="incomplete"):
        read_frame(write(tmp_path / "cut.parquet", whole[:-20]))
    assert read_frame(tmp_path / "whole.parquet")["a"].to_list() == ["1", "2"]

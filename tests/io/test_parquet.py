"""Damaged Parquet files are typed errors; polars panics on some of them."""

from pathlib import Path

import polars as pl
import pytest

from credo import CredoError, DataError, FileError, Network, read_table
from credo.io import tables
from credo.io.categories import read_frame
from credo.io.parquet import parquet_errors

NET = Network({"a": ("0", "1")})


def test_wherever_a_file_is_cut_off_it_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["0", "1"] * 20}).write_parquet(path)
    whole = path.read_bytes()
    assert len(read_table(NET, path)) == 40
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(
            DataError, match=r"t.parquet cannot be read as Parquet: it is (incomplete|a file of another)"
        ):
            read_table(NET, path)
    path.write_bytes(whole[:-8] + (10**6).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(DataError, match="incomplete"):
        read_frame(path)


@pytest.mark.parametrize("kind", [pl.exceptions.PanicException, pl.exceptions.ComputeError, OverflowError])
def test_a_panic_is_a_typed_error(kind: type[BaseException]) -> None:
    message = "t.parquet cannot be read as Parquet: out of range. Is the file damaged"
    with pytest.raises(DataError, match=message), parquet_errors(Path("t.parquet")):
        raise kind("out of range\nbacktrace")
    with pytest.raises(FileError, match="no space"), parquet_errors(Path("t.parquet")):
        raise OSError(28, "no space")


def test_a_panic_while_reading_becomes_the_error_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["0", "1"]}).write_parquet(path)

    def panic(*_: object) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(tables, "encode_looked_up", panic)
    with pytest.raises(CredoError, match="index out of bounds"):
        read_table(NET, path)

"""Pages of Parquet files: all of them are found, and those are refused on which polars would end the process."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credo import DataError, Network, read_table
from credo.io import parquet_pages
from credo.io.parquet_pages import check_pages

COLUMNS: dict[str, list[Any]] = {
    "smoke": ["no", "yes", None] * 400,
    "dose": [0.5, 1.0, 2.0] * 400,
    "flag": [True, False, None] * 400,
    "number": list(range(1200)),
    "long": ["x" * 5000, "y", None] * 400,  # whose statistics make long headers
    "nested": [[1, 2], [], None] * 400,
}
NET = Network({"smoke": ["no", "yes"]})


def by_polars(**options: Any) -> bytes:
    target = io.BytesIO()
    pl.DataFrame(COLUMNS).write_parquet(target, **options)
    return target.getvalue()


def by_pyarrow(**options: Any) -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.table(COLUMNS), target, **options)
    return target.getvalue()


WRITTEN = {
    "polars": lambda: by_polars(),
    "polars, not packed": lambda: by_polars(compression="uncompressed", row_group_size=500),
    "polars, many pages": lambda: by_polars(compression="snappy", data_page_size=100),
    "pyarrow": lambda: by_pyarrow(),
    "pyarrow 2": lambda: by_pyarrow(data_page_version="2.0", compression="zstd", row_group_size=300),
    "pyarrow, many pages": lambda: by_pyarrow(data_page_size=64, write_batch_size=16, write_page_index=True),
    "pyarrow, no dictionaries": lambda: by_pyarrow(use_dictionary=False, compression="none"),
    "pyarrow, checksums": lambda: by_pyarrow(write_page_checksum=True),
}


@pytest.mark.parametrize("writer", WRITTEN)
def test_every_page_is_found(tmp_path: Path, writer: str) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(WRITTEN[writer]())
    check_pages(path)
    metadata = pq.read_metadata(path)
    expected = [
        metadata.row_group(group).column(column).num_values
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    ]
    raw = path.read_bytes()
    footer = raw[-8 - int.from_bytes(raw[-8:-4], "little") : -8]
    found = []
    with path.open("rb") as file:
        for column in parquet_pages._columns(parquet_pages._read_struct(footer, 0)[0]):
            pages = list(parquet_pages._pages(file, column, len(raw)))
            kinds = (parquet_pages.DATA_PAGE, parquet_pages.DATA_PAGE_V2)
            found.append(sum(parquet_pages._number(page, kind, 1) for page in pages for kind in kinds))
    assert found == expected


def varint(number: int) -> bytes:
    """A number as Thrift writes it."""
    number = (number << 1) ^ (number >> 63)
    digits = bytearray()
    while number >= 128:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def changed(content: bytes, field: bytes, old: int, new: int) -> bytes:
    """The file with another number behind this start of a header; there is one column, so that no offset changes."""
    before = field + varint(old)
    assert before in content
    return content.replace(before, field + varint(new), 1)


def one_column(**options: Any) -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.table({"smoke": COLUMNS["smoke"]}), target, compression="none", **options)
    return target.getvalue()


def test_pages_that_polars_would_take_all_memory_for(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    content, dictionary = one_column(), b"\x15\x04\x15"  # a page of the type 2, then its unpacked size, 13
    for size in (2**31 - 1, 2**30):
        path.write_bytes(changed(content, dictionary, 13, size))
        with pytest.raises(DataError, match=r"a page of the column smoke unpacks to \d.* Is the file damaged"):
            check_pages(path)
    packed = b"\x15\x04\x15" + varint(13) + b"\x15" + varint(13) + b"\x4c\x15"  # then the number of values, 2
    for count in (2**31 - 1, 2**30, 100):
        path.write_bytes(changed(content, packed, 2, count))
        with pytest.raises(DataError, match=f"has 13 bytes and {count:,} values"):
            check_pages(path)
    version_2 = one_column(data_page_version="2.0", use_dictionary=False)
    path.write_bytes(changed(version_2, b"\x5c\x15", 1200, -1))
    with pytest.raises(DataError, match="has a negative size"):
        check_pages(path)


def test_readers_look_at_pages_first(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(changed(one_column(), b"\x15\x04\x15", 13, -1))
    for source in (path, tmp_path):
        with pytest.raises(DataError, match="a page of the column smoke has -1 bytes"):
            read_table(NET, source)


@pytest.mark.parametrize(
    "footer", [b"", b"\x19", b"\x49\x1c\x19\x1c\x3c", b"\x45\x02\x00", b"\xff" * 40, b"\x3c" * 999]
)
def test_a_footer_that_cannot_be_understood_is_refused(tmp_path: Path, footer: bytes) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        read_table(NET, path)


@pytest.mark.parametrize(
    "extra",
    [
        b"\x10",  # a field of the kind 0 ends the struct, as the byte 0 does: polars reads on, and so must we
        b"\x1b\x00\x00",  # an empty map
        b"\x1b\x02\x58\x02\x01x\x04\x00\x00",  # a map of two numbers to texts
        b"\x1b\x01\x13\x01\x07\x00",  # a map of a truth value to a byte
    ],
)
def test_what_polars_reads_over_does_not_hide_a_page(tmp_path: Path, extra: bytes) -> None:
    """Unknown fields at the end of the footer, and a page of version 2 with −1 values."""
    path = tmp_path / "table.parquet"
    raw = changed(one_column(data_page_version="2.0", use_dictionary=False), b"\x5c\x15", 1200, -1)
    length = int.from_bytes(raw[-8:-4], "little")
    footer = raw[-8 - length : -9] + extra  # without the zero that ends it
    path.write_bytes(raw[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(DataError, match="a page of the column smoke has a negative size"):
        check_pages(path)


def test_a_size_that_has_more_than_32_bits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    content = one_column(data_page_version="2.0", use_dictionary=False)
    path.write_bytes(changed(content, b"\x5c\x15", 1200, 2**32 - 26))
    with pytest.raises(DataError, match="says that it has 4,294,967,270 values"):
        check_pages(path)

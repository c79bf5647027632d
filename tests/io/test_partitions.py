"""How tables are cut into partitions, and what is said of a partition that is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo import DataError, FileError, MissingFileError, OptionError, UnknownStateError, partitioned
from credo.io.folds import folds_of_rows
from credo.io.partitions import (
    PARTITION_ROWS,
    FilePartition,
    FramePartition,
    PartitionedTable,
    bytes_when_coded,
    has_partitions,
    in_partitions,
    read_partition,
)

NETWORK = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})


def rows(count: int, **columns: object) -> pl.DataFrame:
    states = np.array(["no", "yes"])
    generator = np.random.default_rng(count)
    own = {name: states[generator.integers(0, 2, count)] for name in ("smoke", "lung")}
    return pl.DataFrame({**own, **columns})


def write(folder: Path, *sizes: int) -> list[pl.DataFrame]:
    frames = [rows(size) for size in sizes]
    for number, frame in enumerate(frames):
        frame.write_parquet(folder / f"{number}.parquet")
    return frames


def pieces(table: PartitionedTable) -> list[list[tuple[str, int, int | None]]]:
    return [[(Path(p.path).stem, p.first, p.rows) for p in each.pieces] for each in table.partitions]


def codes(table: PartitionedTable) -> np.ndarray:
    read = [part.codes for item in table.partitions for _, part in read_partition(item, NETWORK, None, ())]
    return np.concatenate(read)


def test_small_files_are_read_together_and_large_ones_are_cut(tmp_path: Path) -> None:
    frames = write(tmp_path, 3, 4, 10, 1)
    table = partitioned(str(tmp_path / "*.parquet"), rows=5)
    assert pieces(table) == [
        [("0", 0, 3)], [("1", 0, 4)], [("2", 0, 5)], [("2", 5, 5)], [("3", 0, 1)],
    ]  # fmt: skip
    assert pieces(partitioned(tmp_path, rows=8)) == [
        [("0", 0, 3), ("1", 0, 4)], [("2", 0, 10)], [("3", 0, 1)],
    ]  # fmt: skip
    assert pieces(partitioned(tmp_path)) == [[("0", 0, 3), ("1", 0, 4), ("2", 0, 10), ("3", 0, 1)]]
    together = credo.read_table(NETWORK, pl.concat(frames)).codes
    for size in (1, 2, 5, 8, None):
        assert np.array_equal(codes(partitioned(tmp_path, rows=size)), together)


def test_a_single_file_is_cut_too(tmp_path: Path) -> None:
    write(tmp_path, 7)
    assert pieces(partitioned(tmp_path / "0.parquet", rows=3)) == [[("0", 0, 3)], [("0", 3, 4)]]


def test_a_frame_and_a_dataset_are_cut_into_slices() -> None:
    frame = rows(10)
    dataset = credo.read_table(NETWORK, frame)
    for table in (partitioned(frame, rows=4), partitioned(dataset, rows=4)):
        assert len(table.partitions) == 2
        assert np.array_equal(codes(table), dataset.codes)


def test_remote_files_are_read_through_fsspec() -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    frames = [rows(3), rows(5)]
    for number, frame in enumerate(frames):
        with memory.open(f"/partitions/{number}.parquet", "wb") as file:
            frame.write_parquet(file)
    together = credo.read_table(NETWORK, pl.concat(frames)).codes
    for address in ("memory://partitions/*.parquet", "memory://partitions"):
        table = partitioned(address)
        assert len(table.partitions) == 2
        assert np.array_equal(codes(table), together)
    assert len(partitioned("memory://partitions/0.parquet").partitions) == 1
    with pytest.raises(MissingFileError, match="There is no such file"):
        partitioned("memory://partitions/nothing-*.parquet")
    with pytest.raises(OptionError, match="remote files are not cut"):
        partitioned("memory://partitions", rows=3)
    with pytest.raises(FileError, match="cannot be listed"):
        partitioned("nosuchprotocol://partitions")
    with memory.open("/partitions/0.parquet", "wb") as file:
        file.write(b"PAR1 this is not a table PAR1")
    with pytest.raises(DataError, match="0.parquet cannot be read as Parquet"):
        codes(table)
    memory.rm("/partitions", recursive=True)
    with pytest.raises(MissingFileError):
        codes(table)


def test_what_is_no_partitioned_table(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="No file has such a name"):
        partitioned(str(tmp_path / "*.parquet"))
    with pytest.raises(DataError, match="holds no Parquet files"):
        partitioned(tmp_path)
    (tmp_path / "a.csv").write_text("smoke,lung\nno,no\n")
    with pytest.raises(DataError, match="partitions are read from Parquet files"):
        partitioned(str(tmp_path / "*.csv"))
    rows(0).write_parquet(tmp_path / "empty.parquet")
    with pytest.raises(DataError, match="no rows"):
        partitioned(tmp_path)
    with pytest.raises(OptionError, match="at least 1"):
        partitioned(tmp_path, rows=0)
    with pytest.raises(OptionError, match="already"):
        partitioned(partitioned(rows(3)), rows=2)
    (tmp_path / "empty.parquet").write_bytes(b"no table at all")
    with pytest.raises(DataError, match="another kind"):
        partitioned(tmp_path)


def test_a_csv_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    frame = rows(10)
    frame.write_csv(tmp_path / "a.csv")
    table = partitioned(tmp_path / "a.csv", rows=4)
    assert "read as a stream" in repr(table)
    for _ in range(2):
        items = list(table.items(NETWORK, None, ()))
        assert all(isinstance(item, FramePartition) for item in items)
        assert sum(len(item.frame) for item in items) == 10


def test_which_tables_are_in_partitions(tmp_path: Path) -> None:
    write(tmp_path, 1000)
    assert not has_partitions(tmp_path)
    assert has_partitions(f"{tmp_path}/*.parquet")
    assert not has_partitions(rows(3))
    assert has_partitions("memory://x")
    assert in_partitions(NETWORK, tmp_path, False) is tmp_path
    assert bytes_when_coded(NETWORK, tmp_path) == 2000
    assert bytes_when_coded(NETWORK, rows(3)) == 0
    cut = in_partitions(NETWORK, tmp_path, False, memory_limit=2000)
    assert isinstance(cut, PartitionedTable)
    assert in_partitions(NETWORK, cut, False) is cut
    assert isinstance(in_partitions(NETWORK, rows(3), True), PartitionedTable)
    (tmp_path / "a.csv").write_text("smoke,lung\n" + "no,no\n" * 100)
    assert bytes_when_coded(NETWORK, tmp_path / "a.csv") == 305


@pytest.mark.skipif(os.name == "nt", reason="such a name is not allowed there")
def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    rows(3).write_parquet(tmp_path / "a[1].parquet")
    assert not has_partitions(str(tmp_path / "a[1].parquet"))


def wrong(folder: Path, frame: pl.DataFrame) -> PartitionedTable:
    """A table whose second file is this one, and whose second partition begins with its third row."""
    rows(4).write_parquet(folder / "a.parquet")
    frame.write_parquet(folder / "b.parquet")
    return partitioned(folder, rows=3)


def test_a_wrong_state_is_named_with_its_file_and_row(tmp_path: Path) -> None:
    table = wrong(tmp_path, rows(6).with_columns(lung=pl.Series(["no", "no", "no", "no", "perhaps", "no"])))
    with pytest.raises(UnknownStateError, match=r'b\.parquet: .*row 5.*"perhaps"'):
        codes(table)


def test_a_wrong_weight_is_named_with_its_file_and_row(tmp_path: Path) -> None:
    table = wrong(tmp_path, rows(6, w=[1.0, 1.0, 1.0, 1.0, 1.0, -1.0]))
    with pytest.raises(DataError, match=r"b\.parquet: The weight of row 6 is -1.0"):
        list(read_partition(table.partitions[-1], NETWORK, "w", ()))
    with pytest.raises(credo.MissingColumnError, match=r'a\.parquet: The table has no column "w"'):
        list(read_partition(table.partitions[0], NETWORK, "w", ()))


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    table = wrong(tmp_path, rows(6))
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(MissingFileError, match=r"b\.parquet"):
        codes(table)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    table = wrong(tmp_path, rows(6))
    content = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"b\.parquet cannot be read as Parquet"):
        codes(table)


def test_partitions_have_a_million_rows() -> None:
    assert PARTITION_ROWS == 2**20
    assert isinstance(FilePartition(()).pieces, tuple)


# Folds ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folds", [2, 3, 10])
def test_the_fold_of_a_row_does_not_depend_on_how_the_table_is_read(folds: int) -> None:
    whole = folds_of_rows(7, folds, 0, 50_000)
    for first, count in ((0, 1), (13, 100), (4096 * folds - 3, 10), (49_990, 10), (123, 0)):
        if first + count <= 50_000:
            assert np.array_equal(folds_of_rows(7, folds, first, count), whole[first : first + count])
    assert not np.array_equal(whole, folds_of_rows(8, folds, 0, 50_000))


def test_folds_have_about_equal_sizes() -> None:
    for count in (10, 20, 40, 80):
        assert np.bincount(folds_of_rows(0, 10, 0, count)).tolist() == [count // 10] * 10
    for count in (11, 37, 1000, 100_000):
        known = np.concatenate([folds_of_rows(0, 10, 0, 7, count), folds_of_rows(0, 10, 7, count - 7, count)])
        assert np.ptp(np.bincount(known, minlength=10)) <= 1
        sizes = np.bincount(folds_of_rows(0, 10, 0, count), minlength=10)
        assert sizes.min() > 0
        assert sizes.max() - sizes.min() <= 2 + 4 * (count / 10) ** 0.5

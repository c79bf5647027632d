"""Trees that merge in one fixed order, parts on disk, and how Dask's errors read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from credo import FileError, OptionError
from credo.distributed.dask_executor import DaskExecutor, executor_for
from credo.distributed.executor import LocalExecutor, Parts, Tree
from credo.distributed.spilling import Spilled, bytes_of, spill
from credo.types import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    numbers: Numbers
    name: str = "x"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    inner: Inner | None
    small: Numbers


def join(left: str, right: str) -> str:
    return f"({left}{right})"


def by_levels(values: list[str]) -> str:
    """The tree, level by level."""
    while len(values) > 1:
        nodes = [values[i : i + 2] for i in range(0, len(values), 2)]
        values = [reduce(join, node) for node in nodes]
    return values[0]


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 16, 63, 64, 65, 129, 513])
def test_the_order_in_which_results_arrive_and_who_merges_them_change_nothing(count: int) -> None:
    values = [chr(97 + i % 26) for i in range(count)]
    choose = Random(count)
    for workers in (1, 2, 5):
        trees = [Tree(join) for _ in range(workers)]
        for number in choose.sample(range(count), count):
            choose.choice(trees).add(number, values[number])
        for other in trees[1:]:
            trees[0].join(other)
        assert trees[0].result() == by_levels(values)


def test_parts_that_follow_each_other_are_merged_where_they_are() -> None:
    tree = Tree(join)
    for number in range(8, 24):
        tree.add(number, "x")
    assert sorted(tree.nodes) == [(3, 1), (3, 2)]


def test_nothing_cannot_be_merged() -> None:
    with pytest.raises(ValueError, match="nothing to merge"):
        Tree(join).result()


def make(item: int, number: int, factor: float) -> tuple[int, Part]:
    return item, Part(Inner(factor * np.arange(item, dtype=np.float64)), np.ones(2))


def total(part: Part, number: int, more: float) -> float:
    assert part.inner is not None
    return float(part.inner.numbers.sum() + part.small.sum() + more * number)


def test_parts_beyond_the_memory_are_kept_on_disk_and_give_the_same() -> None:
    results = []
    for memory in (10**9, 20_000, 0):
        executor = LocalExecutor(memory)
        count, parts = executor.prepare(make, [1000, 2000, 3000], lambda a, b: a + b, 2.0)
        on_disk = [isinstance(handle, Spilled) for handle in parts.handles]
        assert on_disk == {10**9: [False] * 3, 20_000: [False, True, True], 0: [True] * 3}[memory]
        results.append((count, executor.map_reduce(total, parts, lambda a, b: a + b, 0.5)))
    assert results == [results[0]] * 3
    assert results[0][0] == 6000


def test_parts_on_disk_go_with_their_executor() -> None:
    _, parts = LocalExecutor(0).prepare(make, [1000], lambda a, b: a + b, 1.0)
    folder = Path(parts.handles[0].path).parent
    assert folder.is_dir()
    del parts
    assert not folder.exists()


def test_arrays_go_to_disk_and_come_back(tmp_path: Path) -> None:
    part = Part(Inner(np.arange(1000.0), "name"), np.ones(3))
    kept = spill(part, str(tmp_path / "0.npz"))
    assert bytes_of(part) == 8024
    assert bytes_of(kept.rest) == 24
    loaded = kept.load()
    assert loaded.inner.name == "name"
    assert np.array_equal(loaded.inner.numbers, np.arange(1000.0))
    assert spill(Part(None, np.ones(3)), str(tmp_path / "1.npz")).load().inner is None


def test_a_full_disk_and_a_lost_file_are_errors_of_credo(tmp_path: Path) -> None:
    part = Part(Inner(np.arange(1000.0)), np.ones(3))
    with pytest.raises(FileError, match="does not fit into memory cannot be kept here"):
        spill(part, str(tmp_path / "nowhere" / "0.npz"))
    kept = spill(part, str(tmp_path / "0.npz"))
    (tmp_path / "0.npz").unlink()
    with pytest.raises(FileError, match="cannot be read again"):
        kept.load()


def test_progress_counts_parts() -> None:
    seen: list[int] = []
    LocalExecutor(10**9).prepare(make, [1, 2, 3], lambda a, b: a + b, 1.0, progress=seen.append)
    assert seen == [1, 2, 3]


def test_what_an_executor_may_be() -> None:
    class AsynchronousClient:
        asynchronous = True

        def submit(self) -> None: ...

        def scheduler_info(self) -> None: ...

    class OtherClient(AsynchronousClient):
        asynchronous = False

    own = LocalExecutor(1)
    assert executor_for(own) is own
    assert isinstance(executor_for(None, 100), LocalExecutor)
    assert executor_for(None, 100) == LocalExecutor(50)
    assert isinstance(executor_for(OtherClient()), DaskExecutor)
    with pytest.raises(OptionError, match="asynchronous"):
        executor_for(AsynchronousClient())
    with pytest.raises(OptionError, match=r"executor is a dask.distributed.Client, not a int"):
        executor_for(4)


def test_the_number_of_parts_is_their_length() -> None:
    handles: list[Any] = [1, 2]
    assert len(Parts(handles)) == 2

"""Learning on a Dask cluster of processes: the same bits as on this machine, whatever its workers go through."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo.distributed.dask_executor import cluster
from tests.distributed.test_partitioned_fit import COMPLETE, KNOWLEDGE, MISSING, NETWORK, files
from tests.helpers.command_line import run

distributed = pytest.importorskip("distributed")
SHORT = credo.EMOptions(starts=1, max_iterations=10)
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers for all tests of this file."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as started,
        distributed.Client(started) as client,
    ):
        yield client


def assert_same_bits(one: credo.Fit, two: credo.Fit) -> None:
    for name in one.network.names:
        assert np.array_equal(one.network.cpts[name], two.network.cpts[name])
    assert one.log_likelihood == two.log_likelihood
    assert [f.message for f in one.findings] == [f.message for f in two.findings]


@pytest.mark.parametrize(("frame", "method"), [(COMPLETE, "cmap"), (MISSING, "map"), (MISSING.drop("v0"), "ml")])
def test_workers_give_the_same_bits_as_this_machine(
    tmp_path: Path, client: Any, frame: pl.DataFrame, method: str
) -> None:
    table = credo.partitioned(files(tmp_path, frame), rows=150)
    here = credo.fit(NETWORK, table, KNOWLEDGE, method=method, em=SHORT)
    there = credo.fit(NETWORK, table, KNOWLEDGE, method=method, em=SHORT, executor=client)
    assert_same_bits(here, there)


def test_a_dask_dataframe_keeps_its_partitions(client: Any) -> None:
    dask_frames = pytest.importorskip("dask.dataframe")
    frame = dask_frames.from_pandas(MISSING.to_pandas(), npartitions=4, sort=False)
    here = credo.fit(NETWORK, frame, method="map", em=SHORT)
    there = credo.fit(NETWORK, frame, method="map", em=SHORT, executor=client)
    assert_same_bits(here, there)
    with pytest.raises(credo.OptionError, match="its method repartition"):
        credo.partitioned(frame, rows=10)


def test_a_table_in_memory_is_sent_to_the_workers(client: Any) -> None:
    table = credo.partitioned(MISSING, rows=150)
    here = credo.fit(NETWORK, table, method="map", em=SHORT)
    assert_same_bits(here, credo.fit(NETWORK, table, method="map", em=SHORT, executor=client))


def test_the_command_line_uses_a_cluster_that_is_there(tmp_path: Path, client: Any) -> None:
    credo.write_network(NETWORK, tmp_path / "net.bif")
    pattern = files(tmp_path, MISSING)
    address = client.scheduler.address
    arguments = ("learn", tmp_path / "net.bif", pattern, "--method", "map", "--starts", 1, "--max-iterations", 10)
    done = run(*arguments, "--partition-rows", 150, "--scheduler", address, "--out", tmp_path / "out.bif")
    assert done.returncode == 0, done.stderr
    here = credo.fit(NETWORK, credo.partitioned(pattern, rows=150), method="map", em=SHORT)
    learned = credo.read_network(tmp_path / "out.bif")
    assert all(np.array_equal(learned.cpts[name], here.network.cpts[name]) for name in NETWORK.names)
    both = run(*arguments, "--workers", 2, "--scheduler", address)
    assert (both.returncode, "exclude each other" in both.stderr) == (2, True)
    none = run(*arguments, "--workers", 0)
    assert (none.returncode, "at least one has to work" in none.stderr) == (2, True)


def test_a_scheduler_that_does_not_answer(tmp_path: Path) -> None:
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(credo.ClusterError, match="no answer from the scheduler"),
        cluster("tcp://127.0.0.1:1"),
    ):
        pass


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(credo.MissingExtraError, match=r"pip install 'credo\[distributed\]'"), cluster(workers=1):
        pass


def test_a_wrong_state_is_named_as_on_this_machine(tmp_path: Path, client: Any) -> None:
    texts = MISSING.with_columns(pl.all().cast(pl.String))
    wrong = texts.with_columns(v1=pl.when(pl.int_range(pl.len()) == 450).then(pl.lit("no")).otherwise(pl.col("v1")))
    table = credo.partitioned(files(tmp_path, wrong), rows=150)
    with pytest.raises(credo.UnknownStateError, match=r"part-2.parquet: .*row 51") as found:
        credo.fit(NETWORK, table, executor=client)
    with pytest.raises(credo.UnknownStateError) as local:
        credo.fit(NETWORK, table)
    assert str(found.value) == str(local.value)

"""Learning on a Dask cluster of processes: the same bits as on this machine, whatever its workers go through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo.distributed.dask_executor import cluster
from credo.estimation.em import driver
from tests.distributed.faults import harmless, kill_always, kill_once, take_memory, wait_for
from tests.helpers.command_line import run
from tests.helpers.partitioned import COMPLETE, KNOWLEDGE, MISSING, NETWORK, files, stop_after

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


def test_workers_find_files_whose_paths_are_relative(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path, MISSING)
    monkeypatch.chdir(tmp_path)  # the workers were started elsewhere
    here = credo.fit(NETWORK, "*.parquet", method="map", em=SHORT)
    assert_same_bits(here, credo.fit(NETWORK, "*.parquet", method="map", em=SHORT, executor=client))
    assert len(credo.cluster("*.parquet", 2, em=SHORT, executor=client).labels) == len(MISSING)


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
    assert (none.returncode, "there has to be at least one" in none.stderr) == (2, True)
    many = run(*arguments, "--workers", 10**6)
    assert (many.returncode, "1,000,000 workers are too many for this machine" in many.stderr) == (2, True)


def test_a_scheduler_that_does_not_answer(tmp_path: Path) -> None:
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.2s"}),
        pytest.raises(credo.ClusterError, match="no answer from the scheduler"),
        cluster("tcp://127.0.0.1:1"),
    ):
        pass


def test_a_cluster_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**options: Any) -> None:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    monkeypatch.setattr("dask.distributed.LocalCluster", fail)
    message = r"could not be started on this machine \(Nanny failed to start\)"
    with pytest.raises(credo.ClusterError, match=message), cluster(workers=1):
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


# Faults ---------------------------------------------------------------------------------------------------------------


def with_fault(fault: Callable[..., Any], *arguments: Any) -> Any:
    """A Dask DataFrame of four partitions, the second of which does something to its worker."""
    from dask import delayed

    dask_frames = pytest.importorskip("dask.dataframe")
    whole = MISSING.with_columns(pl.all().cast(pl.String)).to_pandas()
    parts = [whole[150 * i : 150 * (i + 1)] for i in range(4)]
    made = [delayed(harmless, pure=False)(part) for part in parts]
    made[1] = delayed(fault, pure=False)(parts[1], *arguments)
    return dask_frames.from_delayed(made, meta=whole[:0], verify_meta=False)


def await_workers(client: Any, count: int = 2) -> None:
    """Wait until workers that died were started again."""
    until = time.monotonic() + 60
    while len(client.cluster.scheduler.workers) < count and time.monotonic() < until:
        time.sleep(0.05)


@pytest.fixture(scope="module")
def undisturbed() -> credo.Fit:
    """What this machine learns of those partitions."""
    return credo.fit(NETWORK, with_fault(harmless), method="map", em=SHORT)


def test_a_worker_that_dies_while_it_counts_changes_nothing(
    tmp_path: Path, client: Any, undisturbed: credo.Fit
) -> None:
    frame = with_fault(kill_once, str(tmp_path / "flag"))
    found = credo.fit(NETWORK, frame, method="map", em=SHORT, executor=client)
    assert (tmp_path / "flag").exists()
    assert_same_bits(undisturbed, found)


def test_a_worker_that_dies_during_em_changes_nothing(client: Any, undisturbed: credo.Fit) -> None:
    await_workers(client)
    killed: list[int] = []

    def kill(event: credo.results.ProgressEvent) -> None:
        if "iteration" in event.detail and not killed:
            pids = client.run(os.getpid)
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    found = credo.fit(NETWORK, with_fault(harmless), method="map", em=SHORT, executor=client, progress=kill)
    assert killed
    assert_same_bits(undisturbed, found)


def test_a_partition_that_ends_every_worker_is_an_error(client: Any) -> None:
    scheduler = client.cluster.scheduler
    before, scheduler.allowed_failures = scheduler.allowed_failures, 0
    try:
        with pytest.raises(credo.ClusterError, match="killed every worker that took it on.*more memory"):
            credo.fit(NETWORK, with_fault(kill_always), executor=client)
    finally:
        scheduler.allowed_failures = before


def test_a_straggler_changes_nothing(tmp_path: Path, client: Any, undisturbed: credo.Fit) -> None:
    await_workers(client)
    flag = tmp_path / "flag"

    def release(event: credo.results.ProgressEvent) -> None:
        flag.touch()  # another partition was read

    frame = with_fault(wait_for, str(flag))
    found = credo.fit(NETWORK, frame, method="map", em=SHORT, executor=client, progress=release)
    assert_same_bits(undisturbed, found)


def test_a_connection_that_is_lost_is_an_error(client: Any) -> None:
    await_workers(client)
    own = distributed.Client(client.scheduler.address)

    def lose(event: credo.results.ProgressEvent) -> None:
        own.close()

    try:
        with pytest.raises(credo.ClusterError, match="connection to the cluster is lost"):
            credo.fit(NETWORK, with_fault(harmless), method="map", em=SHORT, executor=own, progress=lose)
    finally:
        own.close()


def test_files_that_cannot_be_learned_from_are_named(tmp_path: Path, client: Any) -> None:
    table = credo.partitioned(files(tmp_path, MISSING), rows=150)
    MISSING[:200].drop("v2").write_parquet(tmp_path / "part-1.parquet")
    with pytest.raises(credo.DataError, match=r"part-1.parquet has no column v2, but .*part-0.parquet has one"):
        credo.fit(NETWORK, table, executor=client)
    MISSING[:200].with_columns(v2=pl.lit(0.5)).write_parquet(tmp_path / "part-1.parquet")
    with pytest.raises(credo.UnknownStateError, match=r'part-1.parquet: Column v2, rows 1, 2, 3.*"0.5" is not'):
        credo.fit(NETWORK, table, executor=client)
    (tmp_path / "part-1.parquet").write_bytes((tmp_path / "part-0.parquet").read_bytes()[:-40])
    with pytest.raises(credo.DataError, match=r"part-1.parquet cannot be read as Parquet"):
        credo.fit(NETWORK, table, executor=client)
    (tmp_path / "part-1.parquet").unlink()
    with pytest.raises(credo.MissingFileError, match=r"part-1.parquet"):
        credo.fit(NETWORK, table, executor=client)


def test_a_run_that_was_stopped_continues_on_other_workers(
    tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = credo.partitioned(files(tmp_path, MISSING), rows=150)
    options = credo.EMOptions(starts=1, max_iterations=30, checkpoint=tmp_path / "run.npz")
    here = credo.fit(NETWORK, table, method="map", em=credo.EMOptions(starts=1, max_iterations=30))
    with monkeypatch.context() as patched:
        patched.setattr(driver, "_save", stop_after(2))
        with pytest.raises(KeyboardInterrupt):
            credo.fit(NETWORK, table, method="map", em=options, executor=client)
    assert_same_bits(here, credo.fit(NETWORK, table, method="map", em=options))


# With clusters of their own -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_number_of_workers_changes_no_bit(workers: int, undisturbed: credo.Fit) -> None:
    with cluster(workers=workers) as client:
        found = credo.fit(NETWORK, with_fault(harmless), method="map", em=SHORT, executor=client)
    assert_same_bits(undisturbed, found)


@pytest.mark.slow
def test_a_worker_without_memory_is_ended_and_that_is_an_error() -> None:
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="500MB"
        ) as started,
        distributed.Client(started) as client,
    ):
        started.scheduler.allowed_failures = 0
        with pytest.raises(credo.ClusterError, match="more memory than a worker has"):
            credo.fit(NETWORK, with_fault(take_memory, 600), executor=client)


@pytest.mark.slow
def test_a_client_that_is_killed_continues_from_its_checkpoint(tmp_path: Path, client: Any) -> None:
    table = files(tmp_path, MISSING)
    credo.write_network(NETWORK, tmp_path / "net.bif")
    arguments = [
        "learn", str(tmp_path / "net.bif"), table, "--method", "map", "--starts", "20", "--partition-rows", "150",
        "--checkpoint", str(tmp_path / "run.npz"), "--out", str(tmp_path / "out.bif"),
        "--scheduler", client.scheduler.address,
    ]  # fmt: skip
    process = subprocess.Popen([sys.executable, "-m", "credo", *arguments], stdout=subprocess.DEVNULL)
    while process.poll() is None and not (tmp_path / "run.npz").exists():
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert (tmp_path / "run.npz").exists()
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    here = credo.fit(NETWORK, credo.partitioned(table, rows=150), method="map", em=credo.EMOptions(starts=20))
    learned = credo.read_network(tmp_path / "out.bif")
    assert all(np.array_equal(learned.cpts[name], here.network.cpts[name]) for name in NETWORK.names)


@pytest.mark.slow
def test_a_scheduler_that_is_killed_is_an_error(tmp_path: Path) -> None:
    import dask

    environment = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--dashboard-address", ":0"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", str(file)], env=environment, stderr=subprocess.DEVNULL)
    while not file.exists():
        time.sleep(0.05)
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1",
         "--no-dashboard", "--death-timeout", "60"],
        env=environment, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
            client = distributed.Client(scheduler_file=str(file), timeout=20)

            def kill(event: credo.results.ProgressEvent) -> None:
                scheduler.kill()

            with pytest.raises(credo.ClusterError, match="connection to the cluster is lost"):
                credo.fit(NETWORK, with_fault(harmless), method="map", executor=client, progress=kill)
            client.close(timeout=2)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()

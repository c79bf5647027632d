"""Counting and EM on more and more rows of Alarm, with threads and with workers: `python -m benchmarks.scale`.

Rows are drawn from the network by whoever works on a partition, so that no disk is needed; the time for that is
measured by itself, and left out. Every case runs in a process of its own. Processor time of all processes together is
printed beside wall-clock time: it is less sensitive to other load, and 2 workers that need as much of it as 2 threads
have an efficiency of 100%. `--large` adds the largest cases, which take an hour.

The peer for counting is a bare group-by of Dask for each family, on a Dask DataFrame of the same rows. For EM there is
none: neither PySpark nor Dask-ML learns Bayesian networks from incomplete rows.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.em_contenders import network_of
from benchmarks.recording import record
from credo.distributed.dask_executor import DaskExecutor, cluster
from credo.distributed.executor import LocalExecutor
from credo.io.dataset import Dataset
from credo.io.partitions import FramePartition, PartitionedTable
from credo.model.network import Network
from credo.statistics.counts import layout_for_counts
from credo.statistics.partitioned_rows import PartitionedRows, Reading, read_partitions

HIDE = 0.4
PARTITION_ROWS = 2**20
PARTITIONS = 8  # at least, so that workers have something to share
COUNTED = (10**5, 10**6, 10**7)
EXPECTED = (10**5, 10**6)
EFFICIENCY = 0.8  # of 2 workers against 2 threads
ITERATIONS = 3
Figures = dict[str, Any]


def main() -> None:
    """Print the figures of every case, then what follows from them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="10^8 rows counted, 10^7 rows with missing values")
    parser.add_argument("--job", nargs=3, metavar=("KIND", "WHO", "ROWS"), help="one case, in this process")
    arguments = parser.parse_args()
    if arguments.job:
        kind, who, rows = arguments.job
        print(json.dumps(JOBS[kind](who, int(rows))))
        return
    counted = (*COUNTED, 10**8) if arguments.large else COUNTED
    expected = (*EXPECTED, 10**7) if arguments.large else EXPECTED
    print(f"{'case':<9}{'rows':>13}  {'who':<10}{'wall clock':>14}{'processor':>14}{'memory':>10}  notes")
    found: dict[tuple[str, str, int], Figures] = {}
    for kind, sizes in (("count", counted), ("em", expected)):
        for rows in sizes:
            for who in ("threads", "workers", *(("group-by",) if kind == "count" and rows <= 10**6 else ())):
                figures = run_job(kind, who, rows)
                if isinstance(figures, str):
                    print(f"{kind:<9}{rows:>13,}  {who:<10} {figures}", flush=True)
                    continue
                found[kind, who, rows] = figures
                kept = {name: figures[name] for name in ("seconds", "busy", "megabytes")}
                record("scale", f"{kind}, {rows:,} rows, {who}", kept)
                print(line(kind, who, rows, figures), flush=True)
    print("\nFor EM there is no peer: neither PySpark nor Dask-ML learns Bayesian networks from incomplete rows.")
    print_conclusions(found)


def line(kind: str, who: str, rows: int, figures: Figures) -> str:
    """The figures of one case."""
    return (
        f"{kind:<9}{rows:>13,}  {who:<10}{figures['seconds']:>12.2f} s{figures['busy']:>12.2f} s"
        f"{figures['megabytes']:>7.0f} MB  {figures['notes']}"
    )


def run_job(kind: str, who: str, rows: int) -> Figures | str:
    """A case in a process of its own; the last line of its error message where it fails."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.scale", "--job", kind, who, str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])


# Rows -----------------------------------------------------------------------------------------------------------------


def alarm() -> Network:
    """Alarm, or a network like it."""
    network = network_of("alarm")
    assert network is not None
    return network


def drawn(network: Network, number: int, rows: int, hide: float) -> FramePartition:
    """A partition of rows that are drawn where they are needed."""
    from credo.network_methods import sample_codes

    columns = sample_codes(network, rows, seed=number + 1)
    codes = np.empty((rows, len(network)), dtype=np.int8)
    for variable, name in enumerate(network.names):
        codes[:, variable] = columns[name]
    if hide:
        codes[np.random.default_rng(number).random(codes.shape, dtype=np.float32) < hide] = -1
    dataset = Dataset(network.names, codes, variables=network.variables)
    return FramePartition(dataset, f"partition {number}")


def table_of(network: Network, rows: int, hide: float = 0.0) -> PartitionedTable:
    """So many rows in partitions that are drawn when they are read."""
    from dask import delayed

    count = max(PARTITIONS, rows // PARTITION_ROWS)
    cuts = [rows * i // count for i in range(count + 1)]
    make = delayed(drawn, pure=False)
    parts = [make(network, i, cuts[i + 1] - cuts[i], hide) for i in range(count)]
    return PartitionedTable("rows that are drawn", tuple(parts))


# Measuring ------------------------------------------------------------------------------------------------------------


@contextmanager
def workers_of(who: str) -> Iterator[tuple[Any, Callable[[], float], Callable[[], float]]]:
    """An executor; the processor time of all its processes; their peak memory together in megabytes."""
    if who == "threads":
        yield LocalExecutor(2**33), time.process_time, peak
        return
    with cluster(workers=2) as client:
        client.run(warm_up)
        count_bytes()
        client.run(count_bytes)

        def busy() -> float:
            return time.process_time() + sum(client.run(time.process_time).values())

        yield DaskExecutor(client), busy, lambda: peak() + sum(client.run(peak).values())


def peak() -> float:
    """The peak memory of this process in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def warm_up() -> None:
    """Import what is needed, and compile it."""
    network = alarm()
    item = drawn(network, 0, 30_000, HIDE)
    reading = Reading(network.without_cpts(), layout_for_counts(network.without_cpts()), None, (), 0, None)
    rows = read_partitions(LocalExecutor(2**30), (item,), reading)
    evaluate(rows, network)


def evaluate(rows: PartitionedRows, network: Network) -> None:
    """One E-step."""
    prepared = rows.prepared()
    prepared.evaluate(prepared.layout.pack(network.cpts))


def drawing(executor: Any, table: PartitionedTable) -> None:
    """Draw all rows, and do nothing with them."""
    executor.prepare(_nothing, table.partitions, _or)


def _nothing(item: FramePartition, number: int) -> tuple[int, None]:
    return len(item.frame.codes), None  # type: ignore[attr-defined]


def _or(left: int, right: int) -> int:
    return left + right


def count(who: str, rows: int) -> Figures:
    """Count all families, and learn their CPTs; the time to draw rows is left out."""
    if who == "group-by":
        return count_by_dask(rows)
    import credo

    network = alarm()
    warm_up()
    with workers_of(who) as (executor, busy, memory):
        figures = []

        def learning(executor: Any, table: PartitionedTable) -> None:
            credo.fit(network.without_cpts(), table, method="map", executor=executor)

        for job in (drawing, learning):
            table = table_of(network, rows)
            started, before = time.perf_counter(), busy()
            job(executor, table)
            figures.append((time.perf_counter() - started, busy() - before))
        (idle, idle_busy), (seconds, total) = figures
        notes = f"{len(table.partitions)} partitions; drawing rows took {idle:.1f} s, processor {idle_busy:.1f} s"
        return {
            "seconds": max(seconds - idle, 0.0), "busy": max(total - idle_busy, 0.0), "megabytes": memory(),
            "notes": notes,
        }  # fmt: skip


def count_by_dask(rows: int) -> Figures:
    """The same counts by one group-by for each family, computed together."""
    import dask
    import dask.dataframe as dd
    import pandas as pd

    network = alarm()
    with cluster(workers=2) as client:
        parts = table_of(network, rows).partitions
        as_frame = dask.delayed(lambda part: pd.DataFrame(part.frame.codes, columns=list(network.names)), pure=False)
        meta = pd.DataFrame(np.zeros((0, len(network)), dtype=np.int8), columns=list(network.names))
        frame = dd.from_delayed([as_frame(part) for part in parts], meta=meta, verify_meta=False).persist()
        dask.distributed.wait(frame)

        def busy() -> float:
            return time.process_time() + sum(client.run(time.process_time).values())

        started, before = time.perf_counter(), busy()
        families = [[*network.parents[name], name] for name in network.names]
        dask.compute(*(frame.groupby(family).size() for family in families))
        megabytes = peak() + sum(client.run(peak).values())
        return {
            "seconds": time.perf_counter() - started, "busy": busy() - before, "megabytes": megabytes,
            "notes": "Dask, one group-by a family, rows in memory",
        }  # fmt: skip


def em(who: str, rows: int) -> Figures:
    """One iteration of EM on incomplete rows; reading and preparing are measured once, beside it."""
    network = alarm()
    warm_up()
    bare = network.without_cpts()
    reading = Reading(bare, layout_for_counts(bare), None, (), 0, None)
    with workers_of(who) as (executor, busy, memory):
        table = table_of(network, rows, HIDE)
        started, before = time.perf_counter(), busy()
        found = read_partitions(executor, table.partitions, reading)
        preparing = time.perf_counter() - started, busy() - before
        prepared = found.prepared()
        theta = prepared.layout.pack(network.cpts)
        prepared.evaluate(theta)
        sent, own, started, before = bytes_sent(executor), time.process_time(), time.perf_counter(), busy()
        for _ in range(ITERATIONS):
            prepared.evaluate(theta)
        seconds, total, own = time.perf_counter() - started, busy() - before, time.process_time() - own
        sent = (bytes_sent(executor) - sent) / ITERATIONS
        notes = (
            f"{len(table.partitions)} partitions, {prepared.evaluations:,} evaluations; drawn and prepared in "
            f"{preparing[0]:.1f} s, processor {preparing[1]:.1f} s"
        )
        if who == "workers":
            notes += (
                f"; an iteration sends {sent / 1000:.0f} kB and takes {1000 * own / ITERATIONS:.0f} ms of client and "
                "scheduler"
            )
        return {
            "seconds": seconds / ITERATIONS, "busy": total / ITERATIONS, "megabytes": memory(), "notes": notes,
            "evaluations": prepared.evaluations, "sent": sent, "scheduling": own / ITERATIONS,
            "cells": prepared.layout.size, "preparing": preparing[1],
        }  # fmt: skip


def count_bytes() -> None:
    """From now on, count what this process sends to other processes of a cluster."""
    from distributed.comm import tcp

    write = tcp.TCP.write
    tcp.TCP.sent_by_all = 0

    async def counting(self: Any, *arguments: Any, **options: Any) -> int:
        size = await write(self, *arguments, **options)
        tcp.TCP.sent_by_all += size
        return size

    tcp.TCP.write = counting


def bytes_sent(executor: Any) -> float:
    """By the client, the scheduler and the workers, since they count."""
    if not isinstance(executor, DaskExecutor):
        return 0.0
    return bytes_of_process() + sum(executor.client.run(bytes_of_process).values())


def bytes_of_process() -> float:
    """What this process sent since it counts."""
    from distributed.comm import tcp

    return float(tcp.TCP.sent_by_all)


JOBS: dict[str, Callable[[str, int], Figures]] = {"count": count, "em": em}


# Conclusions ----------------------------------------------------------------------------------------------------------


def print_conclusions(found: dict[tuple[str, str, int], Figures]) -> None:
    """Efficiency, growth, and a projection with its assumptions."""
    print("\nEfficiency of 2 workers against threads, by processor time")
    for (kind, who, rows), figures in found.items():
        if who == "workers" and (kind, "threads", rows) in found:
            share = found[kind, "threads", rows]["busy"] / max(figures["busy"], 1e-9)
            met = "met" if share >= EFFICIENCY else "not met"
            print(f"  {kind} {rows:,}: {share:.0%} (goal {EFFICIENCY:.0%}: {met})")
    sizes = sorted(rows for kind, who, rows in found if (kind, who) == ("em", "threads"))
    print("\nGrowth of an iteration of EM, by processor time of threads")
    for small, large in pairwise(sizes):
        one, two = found["em", "threads", small], found["em", "threads", large]
        print(
            f"  {small:,} → {large:,} rows: {two['busy'] / one['busy']:.1f}× for {large / small:.0f}× the rows; "
            f"evaluations {two['evaluations'] / one['evaluations']:.1f}×"
        )
    if sizes and ("em", "workers", sizes[-1]) in found:
        print_projection(found["em", "threads", sizes[-1]], found["em", "workers", sizes[-1]], sizes[-1])


def print_projection(threads: Figures, workers: Figures, rows: int, many: float = 1e10, count: int = 64) -> None:
    """What 64 workers would need for 10^10 rows."""
    parts, numbers = 512, workers["cells"] * 8
    work, preparing = threads["busy"] * many / rows / count, threads["preparing"] * many / rows / count / 3600
    sent = numbers * (count + 2 * parts)
    scheduling = workers["scheduling"] / 2 * count
    lines = (
        f"Projection to {many:.0e} rows on {count} workers of one core each: {work:,.0f} s an iteration.",
        f"  Assumed: {parts} partitions of {many / parts:.1e} rows; work in proportion to rows from {rows:,} on, an",
        "  upper bound, because within a larger partition more rows share an evaluation; workers that are as quick as",
        f"  this core. An iteration sends at most {sent / 1e6:.1f} MB: CPTs of {numbers / 1e3:.0f} kB to each worker,",
        "  counts of each partition to other workers, and sums to the client. Client and scheduler take",
        f"  {scheduling:.1f} s, if a worker costs them what it does now. Drawing and preparing the rows takes",
        f"  {preparing:.1f} hours, once.",
    )
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()

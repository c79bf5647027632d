"""The executor of a Dask cluster: parts are futures that stay on the workers which made them.

A part that is lost with its worker is made again by another one, from the same item, because its future knows how it
was made. What is shared by all parts is a task of its own, so that it is sent once, and can be made again too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from logging import CRITICAL, getLogger
from typing import Any, TypeVar

import numpy as np

from credo.distributed.executor import Executor, LocalExecutor, Merge, Parts, Tree
from credo.errors import ClusterError, CredoError, MissingExtraError, OptionError
from credo.memory import memory_limit_or_default
from credo.threads import single_threaded

LARGE = 2**16  # bytes of an array that is sent to the cluster once, and not with every task
# What Dask does for its dashboard, without which each process takes a tenth of the processor time while it waits.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
JOINED = 8  # trees that are joined at a time, by a worker or by the client
WORKERS_PER_CORE = 16  # at most, of a cluster that is started here: each is a process
PARTS_SHARE = 0.5  # of the memory limit, that prepared parts of the data may take on this machine

Result = TypeVar("Result")


def executor_for(executor: object, memory_limit: int | None = None) -> Executor:
    """What a user gave as executor: a client of Dask, an executor, or nothing, which is this machine."""
    if executor is None:
        return LocalExecutor(int(PARTS_SHARE * memory_limit_or_default(memory_limit)))
    if hasattr(executor, "map_reduce"):
        return executor  # type: ignore[return-value]
    if not hasattr(executor, "scheduler_info") or not hasattr(executor, "submit"):
        raise OptionError(f"executor is a dask.distributed.Client, not a {type(executor).__name__}.")
    if getattr(executor, "asynchronous", False):
        raise OptionError("executor is an asynchronous client. Give one that waits: Client(address).")
    return DaskExecutor(executor)


@contextmanager
def cluster(scheduler: str | None = None, workers: int | None = None) -> Iterator[Any]:
    """A client of the cluster with this address, or of one that is started on this machine; None where none is meant.

    A cluster that was started here ends with the context.
    """
    if scheduler is None and workers is None:
        yield None
        return
    if scheduler is not None and workers is not None:
        raise OptionError("--scheduler and --workers exclude each other: an existing cluster has its own workers.")
    if workers is not None and workers < 1:
        raise OptionError(f"The number of workers is {workers}, but there has to be at least one.")
    if workers is not None and workers > (most := WORKERS_PER_CORE * (os.cpu_count() or 1)):
        raise OptionError(f"{workers:,} workers are too many for this machine: at most {most} are started.")
    try:
        from dask import config
        from dask.distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtraError("dask", "distributed", "A cluster") from None
    if scheduler is not None:
        try:
            client = Client(scheduler)
        except (OSError, ValueError) as error:
            raise ClusterError(f"There is no answer from the scheduler {scheduler} ({_reason(error)}).") from None
        with _quiet_loggers(), client:
            yield client
        return
    try:
        with config.set(QUIET):
            started = LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=CRITICAL
            )
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"The cluster could not be started on this machine ({_reason(error)}).") from None
    with started, Client(started) as client:
        yield client


@contextmanager
def _quiet_loggers() -> Iterator[None]:
    """What Dask logs of a lost connection is left out: an error says it."""
    loggers = [getLogger(name) for name in ("distributed", "distributed.client", "tornado")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@dataclass(frozen=True, slots=True, eq=False)
class DaskExecutor:
    """The workers of a cluster; each works on one core for each of its threads."""

    client: Any

    def prepare(
        self,
        make: Callable[..., tuple[Result, Any]],
        items: Iterable[Any],
        merge: Merge,
        *shared: Any,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Result, Parts]:
        """Dask chooses the workers, so that one that joins later gets parts too; only what is merged comes back."""
        with _cluster_errors(self.client):
            common = [self.share(value) for value in shared]
            pairs = [self._submit(make, item, number, *common) for number, item in enumerate(items)]
            found = [self.client.submit(_tree_of, merge, number, pair, pure=False) for number, pair in enumerate(pairs)]
            parts = [self.client.submit(_second, pair, pure=False) for pair in pairs]
            del pairs
            self._wait(found, progress)
            merged: Result = self._joined(found, merge)
        return merged, Parts(parts)

    def map_reduce(self, function: Callable[..., Result], parts: Parts, merge: Merge, *shared: Any) -> Result:
        """One task for each thread of a worker, which goes through the parts that are there."""
        with _cluster_errors(self.client):
            common = [self._small(value) for value in shared]
            trees = []
            for worker, numbers in self._shares(parts):
                own = [parts.handles[number] for number in numbers]
                trees.append(self.client.submit(
                    _go_through, function, merge, numbers, own, *common, pure=False, **_preferably(worker)
                ))  # fmt: skip
            result: Result = self._joined(trees, merge)
        return result

    def one(self, function: Callable[..., Result], item: Any, *shared: Any) -> Result:
        """On a worker."""
        with _cluster_errors(self.client):
            result: Result = self._submit(function, item, *shared).result()
        return result

    def share(self, value: Any) -> Any:
        """A future, which another worker can make again."""
        with _cluster_errors(self.client):
            return self.client.submit(_same, value, pure=False)

    def _shares(self, parts: Parts) -> list[tuple[str | None, list[int]]]:
        """The parts that each thread of a worker goes through, with that worker; None where parts are lost."""
        holders, threads = self.client.who_has(list(parts.handles)), self.client.nthreads()
        held: dict[str | None, list[int]] = {}
        for number, part in enumerate(parts.handles):
            workers = sorted(worker for worker in holders.get(part.key, ()) if worker in threads)
            worker = min(workers, key=lambda each: len(held.get(each, ())) / threads[each], default=None)
            held.setdefault(worker, []).append(number)
        shares: list[tuple[str | None, list[int]]] = []
        for worker, numbers in held.items():
            count = min(len(numbers), len(numbers) if worker is None else threads[worker])
            cuts = [len(numbers) * i // count for i in range(count + 1)]
            shares += [(worker, numbers[first:last]) for first, last in pairwise(cuts)]
        return shares

    def _submit(self, function: Callable[..., Any], item: Any, *shared: Any) -> Any:
        if hasattr(item, "__dask_graph__"):  # a partition of a Dask DataFrame, which a worker computes first
            from dask import delayed

            return self.client.compute(delayed(_single_threaded, pure=False)(function, item, *shared))
        return self.client.submit(_single_threaded, function, item, *shared, pure=False)

    def _small(self, value: Any) -> Any:
        return self.share(value) if isinstance(value, np.ndarray) and value.nbytes > LARGE else value

    def _wait(self, futures: Sequence[Any], progress: Callable[[int], None] | None) -> None:
        """Wait for all of them, or for the first that fails, which is raised; the others are then given up."""
        from distributed import as_completed

        for number, future in enumerate(as_completed(futures)):
            if future.status == "error":
                error = future.exception()
                self.client.cancel(futures)
                raise error
            if future.status == "cancelled":
                raise CancelledError("its tasks were cancelled")
            if progress is not None:
                progress(number + 1)

    def _joined(self, trees: Sequence[Any], merge: Merge) -> Any:
        """The result of all trees together: where they are many, workers join them first."""
        while len(trees) > JOINED:
            groups = [trees[i : i + JOINED] for i in range(0, len(trees), JOINED)]
            trees = [self.client.submit(_join, merge, group, pure=False) for group in groups]
        return _join(merge, self.client.gather(list(trees))).result()


def _preferably(worker: str | None) -> dict[str, Any]:
    """Options of a task that is best done by this worker, and by others when it is gone."""
    return {} if worker is None else {"workers": [worker], "allow_other_workers": True}


def _single_threaded(function: Callable[..., Result], *arguments: Any) -> Result:
    """A task on one core: the worker's other threads have tasks of their own."""
    with single_threaded():
        return function(*arguments)


def _go_through(
    function: Callable[..., Any], merge: Merge, numbers: Sequence[int], parts: Sequence[Any], *shared: Any
) -> Tree:
    """What a function gives of these parts, merged as far as they are all that a node of the tree has."""
    tree = Tree(merge)
    with single_threaded():
        for number, part in zip(numbers, parts, strict=True):
            tree.add(number, function(part, number, *shared))
    return tree


def _tree_of(merge: Merge, number: int, pair: tuple[Any, Any]) -> Tree:
    tree = Tree(merge)
    tree.add(number, pair[0])
    return tree


def _join(merge: Merge, trees: Sequence[Tree]) -> Tree:
    joined = Tree(merge)
    for tree in trees:
        joined.join(tree)
    return joined


def _same(value: Result) -> Result:
    return value


def _second(pair: tuple[Any, Result]) -> Result:
    return pair[1]


@contextmanager
def _cluster_errors(client: Any) -> Iterator[None]:
    """What goes wrong with the cluster itself, as errors of credo."""
    from distributed.comm import CommClosedError

    from distributed import KilledWorker
    from distributed import client as clients

    closed = getattr(clients, "ClosedClientError", CommClosedError)  # older versions have none
    try:
        yield
    except CredoError:
        raise
    except KilledWorker as error:
        raise ClusterError(
            f"A part of the data killed every worker that took it on, the last of them {error.last_worker.address}. "
            "Most often it needs more memory than a worker has: give workers more, or cut the data into smaller parts "
            "(partitioned(data, rows=…), --partition-rows)."
        ) from None
    except (CancelledError, CommClosedError, TimeoutError, ConnectionError, RuntimeError, closed) as error:
        if isinstance(error, RuntimeError) and client.status == "running":  # not for want of a connection
            raise
        raise ClusterError(
            f"The connection to the cluster is lost ({_reason(error)}). Nothing was learned; with a checkpoint, the "
            "next run continues from the last iteration."
        ) from None
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "credo":
            raise
        raise ClusterError("The workers cannot import credo: install the same version of it there.") from None


def _reason(error: BaseException) -> str:
    text = str(error).strip().rstrip(".").rpartition(">: ")[2]  # without the sockets that Dask names first
    return text.splitlines()[0][:200] if text else type(error).__name__

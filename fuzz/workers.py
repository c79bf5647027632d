"""Worker processes that check inputs under a limit of time and memory, and the parent that outlives them.

A worker reports each input as soon as it is done. If it computes for too long, the system ends it, and it prints where
it was; if it waits for too long, the parent does; if it crashes, the parent sees the end of its pipe. All of this is
recorded, and a new worker goes on with the next input.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from fuzz.failures import Failure, failure_of, reduced, run_input, signature_of
from fuzz.kind import Kind, kind_named, make_input, to_bytes

REDUCING_SECONDS = 20.0
COMPILING = 120.0  # seconds that the first input may take longer, where kernels have to be compiled first
INPUTS_PER_WORKER = 20_000  # then a new one starts, so that what libraries leak does not add up
WAITING = 6.0  # times the limit of computing time after which the parent ends a worker that waits
LEAST_MEMORY = 2**28  # bytes that a folder in memory must have
SUSPENDED = 10.0  # seconds that a wait of one second takes only if somebody stopped the processes, or the machine slept


@dataclass(frozen=True, slots=True)
class Done:
    """One input that ended as it may."""

    number: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """Inputs with the numbers from `start` to `stop`."""

    kind: str
    seed: int
    start: int
    stop: int


# In the worker --------------------------------------------------------------------------------------------------------


def serve(connection: Connection, trace: str, folder: str) -> None:
    """Check the inputs of each chunk that comes, until None comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    _silence()
    tempfile.tempdir = folder
    with open(trace, "w") as watchdog:
        started: set[str] = set()
        while (chunk := connection.recv()) is not None:
            kind = kind_named(chunk.kind)
            _limit_memory(kind.megabytes)
            _print_where_on_signals(watchdog)
            seen: set[str] = set()
            for number in range(chunk.start, chunk.stop):
                seconds = kind.seconds if kind.name in started else kind.seconds + COMPILING
                started.add(kind.name)
                connection.send(_checked(kind, chunk.seed, number, Path(folder), seen, seconds))


def _checked(kind: Kind, seed: int, number: int, folder: Path, seen: set[str], seconds: float) -> Done | Failure:
    given = make_input(kind, seed, number)
    try:
        with limited(seconds), strict_warnings():
            return Done(number, run_input(kind, given, folder))
    except BaseException as error:
        failure = failure_of(error, number, given)
        if failure.signature in seen:
            return failure
        seen.add(failure.signature)
        with limited(REDUCING_SECONDS + kind.seconds), strict_warnings():
            small = reduced(kind, given, signature_of(error), folder, REDUCING_SECONDS)
        return Failure(number, failure.signature, failure.details, to_bytes(small))


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A limit of computing time that also holds in compiled code: beyond it the process prints where it is, and ends.

    A busy machine changes nothing about it. Who waits instead of computing is ended by the parent.
    """
    _limit_computing(seconds)
    try:
        yield
    finally:
        _limit_computing(None)


def _limit_computing(seconds: float | None) -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        limit = resource.RLIM_INFINITY if seconds is None else int(used + seconds + 1)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _print_where_on_signals(watchdog: Any) -> None:
    """SIGXCPU comes at the limit of computing time, and ends the process; SIGUSR1 comes before the parent does so."""
    if hasattr(signal, "SIGXCPU"):
        faulthandler.register(signal.SIGXCPU, file=watchdog, chain=True)
        faulthandler.register(signal.SIGUSR1, file=watchdog)


@contextmanager
def strict_warnings() -> Iterator[None]:
    """A warning of NumPy or of Python is a failure, as in the tests; those that credo means for users are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def _limit_memory(megabytes: int) -> None:
    with suppress(ImportError, OSError, ValueError):  # not every system has these limits
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, resource.RLIM_INFINITY))


def _silence() -> None:
    """Libraries in C++ print about files that they do not understand."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.dup2(null, sys.stderr.fileno())


# In the parent --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Worker:
    """A process, the chunk it is at, and the next number that it owes."""

    process: Any
    connection: Connection
    trace: Path
    folder: Path
    chunk: Chunk | None = None
    next: int = 0
    since: float = field(default_factory=time.monotonic)
    served: int = 0
    started: set[str] = field(default_factory=set)  # kinds of which it has checked an input

    def give(self, chunk: Chunk) -> None:
        self.chunk, self.next, self.since = chunk, chunk.start, time.monotonic()
        self.served += chunk.stop - chunk.start
        self.connection.send(chunk)


def start_worker() -> Worker:
    """A new process; libraries in it use one thread each."""
    for name in (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "POLARS_MAX_THREADS",
    ):
        os.environ[name] = "1"
    os.environ["RUST_BACKTRACE"] = "0"  # a panic of polars would look up the names of a hundred functions
    folder = Path(tempfile.mkdtemp(prefix="credo-fuzz-", dir=_folder_in_memory()))
    trace = folder / "watchdog.txt"
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    work = folder / "work"
    work.mkdir()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(theirs, str(trace), str(work)), daemon=True
    )
    process.start()
    theirs.close()
    return Worker(process, ours, trace, folder)


def _folder_in_memory() -> str | None:
    """Where files are written without waiting for a disk: credo waits for it after each file that it writes."""
    folder = "/dev/shm"
    try:
        return folder if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > LEAST_MEMORY else None
    except OSError:
        return None


def end_worker(worker: Worker) -> None:
    """End the process and remove its folder."""
    worker.process.kill()
    worker.process.join()
    worker.connection.close()
    shutil.rmtree(worker.folder, ignore_errors=True)


def run_chunks(chunks: Iterator[Chunk], count: int) -> Iterator[tuple[Chunk, Done | Failure]]:
    """Check the inputs of all chunks in `count` processes, and report each input."""
    workers = [start_worker() for _ in range(count)]
    try:
        for worker in workers:
            _next_chunk(worker, chunks)
        while any(worker.chunk is not None for worker in workers):
            busy = {worker.connection: place for place, worker in enumerate(workers) if worker.chunk is not None}
            started = time.monotonic()
            ready = wait(list(busy), timeout=1.0)
            if (passed := time.monotonic() - started) > SUSPENDED:
                for worker in workers:
                    worker.since += passed
            for connection in ready:
                place = busy[connection]  # type: ignore[index]
                yield from _received(workers, place, chunks)
            for place, worker in enumerate(workers):
                if worker.chunk is not None and _is_stuck(worker):
                    _end_stuck(worker)
                    yield from _received(workers, place, chunks)
    finally:
        for worker in workers:
            end_worker(worker)


def _is_stuck(worker: Worker) -> bool:
    assert worker.chunk is not None
    compiling = 0.0 if worker.chunk.kind in worker.started else COMPILING
    limit = WAITING * (kind_named(worker.chunk.kind).seconds + compiling) + REDUCING_SECONDS
    return time.monotonic() - worker.since > limit


def _end_stuck(worker: Worker) -> None:
    if hasattr(signal, "SIGUSR1"):
        os.kill(worker.process.pid, signal.SIGUSR1)  # it prints where it is
        time.sleep(0.3)
    worker.process.kill()
    worker.process.join()


def _received(workers: list[Worker], place: int, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, Done | Failure]]:
    worker = workers[place]
    chunk = worker.chunk
    assert chunk is not None
    try:
        result = worker.connection.recv()
        worker.started.add(chunk.kind)
        worker.next, worker.since = result.number + 1, time.monotonic()
    except (EOFError, ConnectionError):
        result = _death(worker, chunk)
        end_worker(worker)
        workers[place] = worker = start_worker()
        rest = Chunk(chunk.kind, chunk.seed, result.number + 1, chunk.stop)
        worker.chunk, worker.next = rest, rest.start
        if rest.start < rest.stop:
            worker.give(rest)
    yield chunk, result
    if worker.next >= chunk.stop:
        if worker.served >= INPUTS_PER_WORKER:
            end_worker(worker)
            workers[place] = worker = start_worker()
        _next_chunk(worker, chunks)


def _next_chunk(worker: Worker, chunks: Iterator[Chunk]) -> None:
    chunk = next(chunks, None)
    if chunk is None:
        worker.chunk = None
    else:
        worker.give(chunk)


def _death(worker: Worker, chunk: Chunk) -> Failure:
    """The failure that ended a worker: it hung, or it crashed."""
    worker.process.join(5)
    kind, number = kind_named(chunk.kind), worker.next
    trace = worker.trace.read_text(errors="replace") if worker.trace.exists() else ""
    if "most recent call first" in trace:
        files = [line.strip() for line in trace.splitlines() if "/credo/" in line]
        place = files[0].partition("/credo/")[2] if files else "a library"
        signature = f"took more than {kind.seconds:g} s: {place}"
    else:
        signature = f"crashed with exit code {worker.process.exitcode}"
    return Failure(number, signature, trace, to_bytes(make_input(kind, chunk.seed, number)))

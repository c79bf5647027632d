"""Faults while a command runs: signals, kills, full disks, little memory, damaged checkpoints, on real processes.

A table of commands times a table of faults; a new command or a new fault is a line in its table. Whatever happens, a
file that was there before is whole, the old one or the new one, and a user reads a sentence, not a traceback.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from credo.io.network_files import write_network
from credo.testing import made_up_network, with_missing_values
from fuzz.kind import Input, Kind
from fuzz.mutation import flip_bit, set_bytes, truncate

OLD = b"the old content, which must survive\n"
DRAFT = re.compile(r"\.[0-9a-f]{16}\..*")
PATIENCE = 60.0  # seconds that one process may take,
WITH_WORKERS = 240.0  # and one that starts others
PROMPT = 10.0  # seconds in which an interrupted process must end


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, the files that it writes, and whether it keeps a checkpoint in `run.npz`."""

    arguments: tuple[str, ...]
    writes: tuple[str, ...]
    has_checkpoint: bool = False
    exit_code: int = 0
    has_workers: bool = False  # reads `parts/*.parquet`, by a cluster that it starts itself


LEARN = ("learn", "net.bif", "rows.csv", "--method", "cmap", "--knowledge", "know.credo", "--starts", "2")
ON_WORKERS = (
    *("learn", "net.bif", "parts/*.parquet", "--method", "cmap", "--knowledge", "know.credo", "--starts", "20"),
    *("--partition-rows", "10", "--workers", "2"),
)
COMMANDS = {
    "learn on workers": Command(
        (*ON_WORKERS, "--checkpoint", "run.npz", "--out", "out.bif"), ("out.bif",), True, has_workers=True
    ),
    "learn": Command((*LEARN, "--out", "out.bif"), ("out.bif",)),
    "learn with a checkpoint": Command((*LEARN, "--checkpoint", "run.npz", "--out", "out.bif"), ("out.bif",), True),
    "report": Command((*LEARN, "--report", "page.html"), ("page.html",)),
    "check": Command(
        ("check", "net.bif", "know.credo", "--data", "rows.csv", "--report", "page.html"), ("page.html",), exit_code=0
    ),
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    code: int
    out: str
    errors: str


@dataclass(slots=True)
class Run:
    """One process to be started in a folder, and what the fault does to it."""

    folder: Path
    arguments: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    limits: Callable[[], None] | None = None
    signal_after: tuple[int, float] | None = None  # which, and seconds
    out: str | None = None  # a file instead of a pipe

    @property
    def patience(self) -> float:
        """Seconds that it may take."""
        return WITH_WORKERS if {"--workers", "--scheduler"} & set(self.arguments) else PATIENCE

    def start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **self.environment}
        with ExitStack() as files:  # the process has its own copy
            out = subprocess.PIPE if self.out is None else files.enter_context(open(self.out, "w"))
            return subprocess.Popen(
                [sys.executable, "-m", "credo", *self.arguments], cwd=self.folder, env=environment, text=True,
                stdout=out, stderr=subprocess.PIPE, preexec_fn=self.limits,
            )  # fmt: skip

    def wait(self, process: subprocess.Popen[str]) -> Ended:
        if self.signal_after is not None:
            number, seconds = self.signal_after
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                started = time.monotonic()
                out, errors = _communicate(process, self.patience)
                assert time.monotonic() - started < PROMPT, "a process takes long to end after a signal"
                return Ended(process.returncode, out, errors)
        out, errors = _communicate(process, self.patience)
        return Ended(process.returncode, out, errors)


def _communicate(process: subprocess.Popen[str], patience: float) -> tuple[str, str]:
    try:
        out, errors = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AssertionError("a process does not end") from None
    return out or "", errors or ""


# Faults ---------------------------------------------------------------------------------------------------------------

Fault = Callable[[Command, Path, Random], str]


def interrupt(command: Command, folder: Path, choose: Random) -> str:
    """Ctrl-C at a random time: it says so, and every file is whole."""
    return _signalled(command, folder, choose, signal.SIGINT, (130, -signal.SIGINT))


def terminate(command: Command, folder: Path, choose: Random) -> str:
    """SIGTERM at a random time, as service managers send it."""
    return _signalled(command, folder, choose, signal.SIGTERM, (143, 130, -signal.SIGTERM))


def _signalled(command: Command, folder: Path, choose: Random, number: int, codes: tuple[int, ...]) -> str:
    after = choose.random() * 1.1 * reference(command).seconds
    run = Run(folder, command.arguments, signal_after=(number, after))
    ended = run.wait(run.start())
    assert ended.code in (*codes, command.exit_code), f"exit code {ended.code} after a signal; {ended.errors[-300:]}"
    if ended.code != -number:  # before Python can install a handler, the system ends the process
        check_words(ended)
        check_no_drafts(folder)
    check_files(command, folder, finished=ended.code == command.exit_code)
    return "finished" if ended.code == command.exit_code else "stopped"


def kill_and_resume(command: Command, folder: Path, choose: Random) -> str:
    """kill -9 at random times; the run that ends at last gives the same bits as one that was never killed."""
    for _ in range(choose.randint(1, 3)):
        after = choose.random() * reference(command).seconds
        run = Run(folder, command.arguments, signal_after=(signal.SIGKILL, after))
        ended = run.wait(run.start())
        assert ended.code in (command.exit_code, -signal.SIGKILL), f"exit code {ended.code}; {ended.errors[-300:]}"
        check_files(command, folder, finished=ended.code == command.exit_code)
    for draft in folder.iterdir():
        if DRAFT.fullmatch(draft.name):  # what a kill may leave
            draft.unlink()
    return _to_the_end(Run(folder, command.arguments), command)


def damaged_checkpoint(command: Command, folder: Path, choose: Random) -> str:
    """A checkpoint with changed bytes, or of another run: an error that names it, or the right result."""
    if not command.has_checkpoint:
        return "no checkpoint"
    content = reference(command).checkpoint
    if choose.random() < 0.2:
        content = choose.choice((b"", b"PK\x03\x04", choose.randbytes(100), OLD))
    else:
        content = choose.choice((flip_bit, set_bytes, truncate))(choose, content, ())
    (folder / "run.npz").write_bytes(content)
    return _to_the_end(Run(folder, command.arguments), command, may_refuse="run.npz")


def foreign_checkpoint(command: Command, folder: Path, choose: Random) -> str:
    """The checkpoint of a run with other data is refused."""
    if not command.has_checkpoint:
        return "no checkpoint"
    (folder / "run.npz").write_bytes(reference(command).checkpoint)
    rows = (folder / "rows.csv").read_text().splitlines(keepends=True)
    (folder / "rows.csv").write_text("".join(rows[:-1]))
    run = Run(folder, command.arguments)
    ended = run.wait(run.start())
    assert ended.code == 2, f"exit code {ended.code} with the checkpoint of another run"
    assert "run.npz" in ended.errors, "the message does not name the checkpoint"
    check_words(ended)
    check_files(command, folder, finished=False)
    return "refused"


def full_disk(command: Command, folder: Path, choose: Random) -> str:
    """No file may grow beyond a few bytes: the error names the file, and the old one stays."""
    most = choose.choice((0, 10, 500, 3000))

    def limit() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return _to_the_end(Run(folder, command.arguments, limits=limit), command, may_refuse="")


def full_output(command: Command, folder: Path, choose: Random) -> str:
    """Standard output cannot be written."""
    run = Run(folder, command.arguments, out="/dev/full")
    ended = run.wait(run.start())
    assert "Traceback" not in ended.errors, f"a traceback where output cannot be written; {ended.errors[-400:]}"
    check_files(command, folder, finished=False)
    return f"exit code {ended.code}"


def little_memory(command: Command, folder: Path, choose: Random) -> str:
    """The address space is limited: it works, or says that memory is short; files are whole in any case."""
    megabytes = choose.choice((1500, 2000, 3000))

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))

    run = Run(folder, command.arguments, {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1"}, limits=limit)
    return _to_the_end(run, command, may_refuse="")


def no_cache(command: Command, folder: Path, choose: Random) -> str:
    """Neither the home nor a folder for compiled code can be written: the result is the same."""
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MPLCONFIGDIR"), "/proc/nowhere")
    return _to_the_end(Run(folder, command.arguments, {**nowhere, "PYTHONDONTWRITEBYTECODE": "1"}), command)


def two_at_once(command: Command, folder: Path, choose: Random) -> str:
    """Two processes fill a cold cache of compiled code at the same time, and write the same files."""
    cold = {"NUMBA_CACHE_DIR": str(folder / "cold")}
    runs = [Run(folder, command.arguments, cold) for _ in range(2)]
    if command.has_checkpoint:  # each needs its own
        runs[1].arguments = tuple("other.npz" if each == "run.npz" else each for each in command.arguments)
    started = [(run, run.start()) for run in runs]
    for run, process in started:
        ended = run.wait(process)
        assert ended.code == command.exit_code, f"exit code {ended.code} beside another process; {ended.errors[-300:]}"
        check_words(ended)
    check_files(command, folder, finished=True)
    return "finished"


def kill_worker(command: Command, folder: Path, choose: Random) -> str:
    """kill -9 of a worker at a random time: others do its work, and the result is the same to the last bit."""
    return _to_a_worker(command, folder, choose, signal.SIGKILL)


def kill_workers_again(command: Command, folder: Path, choose: Random) -> str:
    """kill -9 of every worker for a while, as on a machine without memory: the same result, or an error."""
    if not command.has_workers:
        return "no workers"
    run = Run(folder, command.arguments)
    process = run.start()
    _wait_for_some_time(process, command, folder, choose)
    until = time.monotonic() + choose.random() * 10
    while process.poll() is None and time.monotonic() < until:
        for worker in _workers_of(process):
            with suppress(OSError):
                os.kill(worker, signal.SIGKILL)
        time.sleep(0.1)
    return _after(run.wait(process), command, folder, ("ended every worker", "could not be started", "is lost"))


def lose_scheduler(command: Command, folder: Path, choose: Random) -> str:
    """kill -9 of a scheduler that was started elsewhere: an error, unless all was done before."""
    if not command.has_workers:
        return "no workers"
    file, quick = folder / "scheduler.json", {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}
    tool, quiet = [sys.executable, "-m", "distributed.cli.dask_scheduler"], {"stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*tool, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)], **quiet)
    tool = [sys.executable, "-m", "distributed.cli.dask_worker", "--death-timeout", "60"]
    started = [scheduler]
    try:
        until = time.monotonic() + PATIENCE
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.05)
        options = ["--nthreads", "1", "--no-dashboard", "--scheduler-file", str(file)]
        started.append(subprocess.Popen([*tool, *options], env={**os.environ, **quick}, **quiet))
        address = json.loads(file.read_text())["address"]
        before, after = _around(command.arguments, "--workers")
        run = Run(folder, (*before, "--scheduler", address, *after), quick)
        process = run.start()
        _wait_for_some_time(process, command, folder, choose)
        scheduler.kill()
        return _after(run.wait(process), command, folder, ("connection to the cluster is lost", "There is no answer"))
    finally:
        for each in started:
            each.kill()
            each.wait()


def _around(arguments: tuple[str, ...], option: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The arguments before an option, and after its value."""
    place = arguments.index(option)
    return arguments[:place], arguments[place + 2 :]


def _after(ended: Ended, command: Command, folder: Path, messages: tuple[str, ...]) -> str:
    """A command whose cluster was disturbed ended well, or with one of these messages."""
    is_finished = ended.code == command.exit_code
    if not is_finished:
        assert ended.code == 2, f"exit code {ended.code} after a fault of the cluster; {ended.errors[-400:]}"
        assert any(each in ended.errors for each in messages), f"another message; {ended.errors[-400:]}"
        check_words(ended)
    check_files(command, folder, finished=is_finished)
    return "finished" if is_finished else "refused"


def straggler(command: Command, folder: Path, choose: Random) -> str:
    """A worker that stands still for a while at a random time."""
    return _to_a_worker(command, folder, choose, signal.SIGSTOP)


def _to_a_worker(command: Command, folder: Path, choose: Random, number: int) -> str:
    if not command.has_workers:
        return "no workers"
    run = Run(folder, command.arguments)
    process = run.start()
    _wait_for_some_time(process, command, folder, choose)
    workers: list[int] = []
    while process.poll() is None and not workers:  # which take a while to start
        workers = _workers_of(process)
        time.sleep(0.02)
    if workers:
        chosen = choose.choice(workers)
        with suppress(OSError):
            os.kill(chosen, number)
            if number == signal.SIGSTOP:
                time.sleep(choose.random() * 2)
                os.kill(chosen, signal.SIGCONT)
    ended = _after(run.wait(process), command, folder, ("could not be started",))  # before it took on any work
    return ended if workers else "too late"


def _wait_for_some_time(process: subprocess.Popen[str], command: Command, folder: Path, choose: Random) -> None:
    """Any time, or until learning has begun, which it has when there is a checkpoint."""
    seconds = choose.random() * reference(command).seconds
    if choose.random() < 0.5:
        time.sleep(seconds)
        return
    while process.poll() is None and not (folder / "run.npz").exists():
        time.sleep(0.01)


def _workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The process numbers of the workers that a command started."""
    import psutil

    with suppress(psutil.Error):
        children = psutil.Process(process.pid).children()
        return [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]
    return []


def wrong_partition(command: Command, folder: Path, choose: Random) -> str:
    """A file with a wrong state or type, without a column, or cut off: the error names it, and nothing is written."""
    if not command.has_workers:
        return "no partitions"
    import polars as pl

    path = choose.choice(sorted((folder / "parts").iterdir()))
    frame, kind = pl.read_parquet(path), choose.choice(("state", "type", "column", "cut off", "empty file"))
    if kind == "state":
        frame.with_columns(v1=pl.lit("no such state")).write_parquet(path)
    elif kind == "type":
        frame.with_columns(v1=pl.lit(0.5)).write_parquet(path)
    elif kind == "column":
        frame.drop("v1").write_parquet(path)
    else:
        path.write_bytes(path.read_bytes()[: choose.randrange(1, 100)] if kind == "cut off" else b"")
    run = Run(folder, command.arguments)
    ended = run.wait(run.start())
    assert ended.code == 2, f"exit code {ended.code} with a wrong partition; {ended.errors[-400:]}"
    assert path.name in ended.errors, f"the message does not name {path.name}; {ended.errors[-400:]}"
    check_words(ended)
    check_files(command, folder, finished=False)
    return kind


FAULTS: Mapping[str, Fault] = {
    "kill worker": kill_worker,
    "kill workers again": kill_workers_again,
    "lose scheduler": lose_scheduler,
    "straggler": straggler,
    "wrong partition": wrong_partition,
    "interrupt": interrupt,
    "terminate": terminate,
    "kill and resume": kill_and_resume,
    "damaged checkpoint": damaged_checkpoint,
    "foreign checkpoint": foreign_checkpoint,
    "full disk": full_disk,
    "full output": full_output,
    "little memory": little_memory,
    "no cache": no_cache,
    "two at once": two_at_once,
}


# What must hold -------------------------------------------------------------------------------------------------------


def _to_the_end(run: Run, command: Command, may_refuse: str | None = None) -> str:
    """Run without a signal. It gives the right files, or, where `may_refuse` is a text, an error with this text."""
    ended = run.wait(run.start())
    check_words(ended)
    check_no_drafts(run.folder)
    is_finished = ended.code == command.exit_code
    if not is_finished:
        assert may_refuse is not None, f"exit code {ended.code}; {ended.errors[-400:]}"
        assert ended.code == 2, f"exit code {ended.code} where 2 is meant for errors; {ended.errors[-400:]}"
        assert may_refuse in ended.errors, f"the message does not name {may_refuse}; {ended.errors[-400:]}"
    check_files(command, run.folder, finished=is_finished)
    return "finished" if is_finished else "refused"


def check_words(ended: Ended) -> None:
    """A user reads sentences."""
    assert "Traceback" not in ended.errors, f"a traceback; {ended.errors[-600:]}"
    assert ended.code == 0 or ended.errors.strip(), f"exit code {ended.code} without a word"


def check_no_drafts(folder: Path) -> None:
    """No half-written file is left."""
    left = [path.name for path in folder.iterdir() if DRAFT.fullmatch(path.name)]
    assert not left, "a half-written file is left"


def check_files(command: Command, folder: Path, finished: bool) -> None:
    """Each file is the old one or the right new one."""
    for name in command.writes:
        content = (folder / name).read_bytes()
        if finished:
            assert content != OLD, f"{name} was not written"
        if content != OLD:
            assert same(content, reference(command).files[name]), f"{name} is another one than without the fault"


def same(one: bytes, two: bytes) -> bool:
    """Whether two files are equal but for how long the computation took."""
    return re.sub(rb"[0-9.]+ (?:ms|s|seconds?)\b", b"", one) == re.sub(rb"[0-9.]+ (?:ms|s|seconds?)\b", b"", two)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a command gives without a fault."""

    files: Mapping[str, bytes]
    seconds: float
    checkpoint: bytes


@cache
def reference(command: Command) -> Reference:
    """Run the command without a fault."""
    folder = Path(mkdtemp(prefix="credo-fuzz-"))
    try:
        prepare(folder, command)
        started = time.monotonic()
        run = Run(folder, command.arguments)
        ended = run.wait(run.start())
        assert ended.code == command.exit_code, f"{command} fails without a fault; {ended.errors}"
        seconds = time.monotonic() - started
        checkpoint = (folder / "run.npz").read_bytes() if command.has_checkpoint else b""
        return Reference({name: (folder / name).read_bytes() for name in command.writes}, seconds, checkpoint)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def prepare(folder: Path, command: Command) -> None:
    """The files that commands read, and old files where they write."""
    network = made_up_network(4, (2, 3), (0.2, 0.8), seed=3, name="faults")
    write_network(network.without_cpts(), folder / "net.bif")
    with_missing_values(network.sample(40, 1), 0.3, 2).write_csv(folder / "rows.csv")
    (folder / "know.credo").write_text("P(v0=state0) >= 0.05\nP(v1=state0) <= 0.95\nP(v2=state0) >= 0.01\n")
    (folder / "parts").mkdir()
    rows = with_missing_values(network.sample(40, 1), 0.3, 2)
    for number in range(4):
        rows[10 * number : 10 * (number + 1)].write_parquet(folder / "parts" / f"{number}.parquet")
    for name in command.writes:
        (folder / name).write_bytes(OLD)


# The kind -------------------------------------------------------------------------------------------------------------


def make(choose: Random) -> Input:
    """A cell of the table, and the choices of its fault."""
    return {
        "command": choose.choice(list(COMMANDS)),
        "fault": choose.choice(list(FAULTS)),
        "choices": choose.getrandbits(32),
    }


def check(given: Input, folder: Path) -> str:
    """Run the command under the fault."""
    assert isinstance(given, dict)
    command = COMMANDS[given["command"]]
    reference(command)
    place = Path(mkdtemp(prefix="run-", dir=folder))
    try:
        prepare(place, command)
        ended = FAULTS[given["fault"]](command, place, Random(given["choices"]))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return f"{given['fault']}: {ended}"


FAULT = Kind("faults", make, check, ".json", seconds=900.0, megabytes=16_384)

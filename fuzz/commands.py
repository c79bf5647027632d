"""Commands as real processes: what they are given, how they run and end, and what must hold of the files they write."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import credo
from credo.io.network_files import write_network
from credo.testing import made_up_network, with_missing_values

SAVED_FIT = b"PK"  # how a `.fit` begins
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
    "update": Command(("update", "model.fit", "rows.csv", "--out", "new.fit"), ("new.fit",)),
    "share": Command(("share", "model.fit", "--out", "page.html"), ("page.html",)),
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


# What must hold -------------------------------------------------------------------------------------------------------


def to_the_end(run: Run, command: Command, may_refuse: str | None = None) -> str:
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
    """Whether two files are equal but for how long the computation took, and when it was."""
    if one.startswith(SAVED_FIT) and two.startswith(SAVED_FIT):
        return _learned(one) == _learned(two)
    return re.sub(rb"[0-9.]+ (?:ms|s|seconds?)\b", b"", one) == re.sub(rb"[0-9.]+ (?:ms|s|seconds?)\b", b"", two)


def _learned(content: bytes) -> tuple[object, ...]:
    """What a saved fit holds but for times and dates."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.fit"
        path.write_bytes(content)
        fit = credo.load(path)
    draws = b"" if fit.posterior is None else fit.posterior.draws.tobytes()
    return fit.network, fit.rows, fit.status, fit.log_likelihood, draws


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
    (folder / "model.fit").write_bytes(_saved_fit())
    for name in command.writes:
        (folder / name).write_bytes(OLD)


@cache
def _saved_fit() -> bytes:
    """A fit of the same network that is updated and shared, with draws."""
    network = made_up_network(4, (2, 3), (0.2, 0.8), seed=3, name="faults")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.fit"
        credo.fit(network.without_cpts(), network.sample(30, 5), progress=False).save(path)
        return path.read_bytes()

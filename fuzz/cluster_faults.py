"""Faults of a command that learns on workers: kills, a worker that stands still, a lost scheduler, a wrong file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random

from fuzz.commands import PATIENCE, Command, Ended, Run, check_files, check_words, reference


def kill_worker(command: Command, folder: Path, choose: Random) -> str:
    """kill -9 of a worker at a random time: others do its work, and the result is the same to the last bit."""
    return _to_a_worker(command, folder, choose, signal.SIGKILL)


def kill_workers_again(command: Command, folder: Path, choose: Random) -> str:
    """kill -9 of every worker for a while, as on a machine without memory: the same result, or an error."""
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


CLUSTER_FAULTS = {
    "kill worker": kill_worker,
    "kill workers again": kill_workers_again,
    "lose scheduler": lose_scheduler,
    "straggler": straggler,
    "wrong partition": wrong_partition,
}

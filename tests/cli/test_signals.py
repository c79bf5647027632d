"""Ctrl-C and other signals end the command line at once, with a message that is true."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo.cli.signals import Watch
from credo.testing import made_up_network

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="asks Linux for the state of a process")


def start(folder: Path, *command: object) -> subprocess.Popen[str]:
    """Start a process that does not ignore Ctrl-C, as it might inherit from a shell's background."""
    return subprocess.Popen(
        [sys.executable, *map(str, command)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str], seconds: float = 120.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def watches_signals(process: subprocess.Popen[str]) -> bool:
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def end(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str]:
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert "Error" not in errors
    return process.returncode, errors


@pytest.fixture
def slow_run(tmp_path: Path) -> tuple[Path, list[str]]:
    """A small network with a hidden variable, from so many starts that EM takes minutes."""
    names = [f"x{k}" for k in range(6)]
    states = {"h": ["0", "1", "2"], **{name: ["0", "1"] for name in names}}
    network = credo.Network(states, {name: ["h"] for name in names})
    credo.write_network(network, tmp_path / "net.bif")
    codes = np.random.default_rng(1).integers(0, 2, (200, 6))
    pl.DataFrame({name: codes[:, k] for k, name in enumerate(names)}).write_csv(tmp_path / "data.csv")
    arguments = ["learn", "net.bif", "data.csv", "--checkpoint", "run 1.npz", "--starts", "100000", "-o", "out.bif"]
    return tmp_path, arguments


def test_an_interrupt_keeps_the_checkpoint_and_names_the_command_to_go_on(slow_run: tuple[Path, list[str]]) -> None:
    folder, arguments = slow_run
    process = start(folder, "-m", "credo", *arguments)
    wait_until((folder / "run 1.npz").exists, process)
    code, errors = end(process, signal.SIGINT)
    assert code == 130
    assert "interrupted; no result was written. The checkpoint run 1.npz is kept." in errors
    assert "credo learn net.bif data.csv --checkpoint 'run 1.npz' --starts 100000 -o out.bif" in errors
    assert sorted(os.listdir(folder)) == ["data.csv", "net.bif", "run 1.npz"]  # no draft is left


def test_a_signal_before_anything_is_written_says_so(slow_run: tuple[Path, list[str]]) -> None:
    folder, arguments = slow_run
    process = start(folder, "-m", "credo", *arguments)
    wait_until(lambda: watches_signals(process), process)
    code, errors = end(process, signal.SIGTERM)
    assert code == 143
    assert "credo: ended by the system; nothing was written." in errors
    assert sorted(os.listdir(folder)) == ["data.csv", "net.bif"]


def test_a_signal_in_the_middle_of_an_import_says_so(tmp_path: Path) -> None:
    half_imported = (
        "import sys, threading, types; sys.modules['credo.io.files'] = types.ModuleType('credo.io.files');"
        "from credo.cli.signals import end_on_signals; end_on_signals();"
        "print('ready', flush=True); threading.Event().wait(60)"
    )
    process = start(tmp_path, "-c", half_imported)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    code, errors = end(process, signal.SIGINT)
    assert code == 130
    assert "credo: interrupted; nothing was written." in errors


SLOW_TO_SHUT_DOWN = """
import os, sys, time
class Slow:
    def __del__(self, write=os.write, sleep=time.sleep):
        write(1, b"shutting down\\n")
        sleep(1.0)
sys.slow = Slow()  # freed when Python takes its modules apart
from credo.__main__ import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("command", "expected"), [("--version", 0), ("no-such-command", 2)])
def test_a_signal_while_python_shuts_down_does_not_change_how_the_command_ended(
    tmp_path: Path, number: signal.Signals, command: str, expected: int
) -> None:
    process = start(tmp_path, "-c", SLOW_TO_SHUT_DOWN, command)
    assert process.stdout is not None
    while (line := process.stdout.readline()) != "shutting down\n":
        assert line, process.communicate()
    code, _ = end(process, number)
    assert code == expected


def test_a_program_that_runs_a_command_keeps_its_signals(tmp_path: Path) -> None:
    program = (
        "import signal; from credo.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN"
    )
    process = start(tmp_path, "-c", program, "--version")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors


def test_what_was_written_is_named(tmp_path: Path) -> None:
    out, report, run = tmp_path / "out.bif", tmp_path / "report.html", tmp_path / "run.npz"
    out.write_text("old")
    watch = Watch()
    watch.expect(out, report, checkpoint=run)
    assert watch.message("interrupted", []) == "credo: interrupted; nothing was written."
    report.write_text("new")
    assert watch.message("interrupted", []) == f"credo: interrupted. Complete and written before that: {report}."
    run.write_text("new")
    message = watch.message("interrupted", ["learn", "a b.bif", "--checkpoint", str(run)])
    assert message.endswith(
        f"The checkpoint {run} is kept. To go on from it, run the same command again:\n"
        f"  credo learn 'a b.bif' --checkpoint {run}"
    )


# A network of the size of Link, whose E-step runs compiled code in threads ------------------------------------------

FIT = """
import credo, sys, threading
try:
    credo.fit("net.bif", "data.csv", em=credo.EMOptions(starts=50, checkpoint="run.npz"))
except KeyboardInterrupt:
    at_work = [thread.name for thread in threading.enumerate() if not thread.name.startswith(("Main", "credo-worker"))]
    sys.exit(f"{at_work}" if at_work else 77)
"""


@pytest.mark.slow
@pytest.mark.parametrize("in_python", [False, True])
def test_interrupts_at_any_time_end_cleanly(tmp_path: Path, in_python: bool) -> None:
    network = made_up_network(500, (2, 4), (0.3, 0.5, 0.2), seed=1)
    credo.write_network(network, tmp_path / "net.bif")
    sample, hidden = network.sample(500, seed=1), np.random.default_rng(1).random((500, 500)) < 0.2
    columns = [
        pl.Series(name, [None if gone else state for state, gone in zip(sample[name], hidden[k], strict=True)])
        for k, name in enumerate(sample.columns)
    ]
    pl.DataFrame(columns).write_csv(tmp_path / "data.csv")
    command = ["-c", FIT] if in_python else ["-m", "credo", "learn", "net.bif", "data.csv", "--starts", "50"]
    for trial in range(10):
        process = start(tmp_path, *command)
        if not in_python:
            wait_until(lambda process=process: watches_signals(process), process)
        time.sleep(random.Random(trial).uniform(2.0 if in_python else 0.0, 8.0))
        code, errors = end(process, signal.SIGINT)
        assert code == (77 if in_python else 130), errors
        assert not [name for name in os.listdir(tmp_path) if name.startswith(".credo")]

"""Faults while a command runs: signals, kills, full disks, little memory, damaged checkpoints, on real processes.

A table of commands times a table of faults; a new command or a new fault is a line in its table. Whatever happens, a
file that was there before is whole, the old one or the new one, and a user reads a sentence, not a traceback.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from fuzz.cluster_faults import CLUSTER_FAULTS
from fuzz.commands import (
    COMMANDS,
    DRAFT,
    OLD,
    Command,
    Run,
    check_files,
    check_no_drafts,
    check_words,
    prepare,
    reference,
    to_the_end,
)
from fuzz.kind import Input, Kind
from fuzz.mutation import flip_bit, set_bytes, truncate

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
    if ended.code == 1 and "KeyboardInterrupt" in ended.errors and "/credo/" not in ended.errors:
        return "stopped before credo"  # Python itself was starting, or what it runs first to find editable packages
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
    return to_the_end(Run(folder, command.arguments), command)


def damaged_checkpoint(command: Command, folder: Path, choose: Random) -> str:
    """A checkpoint with changed bytes, or of another run: an error that names it, or the right result."""
    content = reference(command).checkpoint
    if choose.random() < 0.2:
        content = choose.choice((b"", b"PK\x03\x04", choose.randbytes(100), OLD))
    else:
        content = choose.choice((flip_bit, set_bytes, truncate))(choose, content, ())
    (folder / "run.npz").write_bytes(content)
    return to_the_end(Run(folder, command.arguments), command, may_refuse="run.npz")


def foreign_checkpoint(command: Command, folder: Path, choose: Random) -> str:
    """The checkpoint of a run with other data is refused."""
    (folder / "run.npz").write_bytes(reference(command).checkpoint)
    rows = (folder / "rows.csv").read_text().splitlines(keepends=True)
    (folder / "rows.csv").write_text("".join(rows[:-1]))
    (folder / "parts" / "3.parquet").unlink()
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

    return to_the_end(Run(folder, command.arguments, limits=limit), command, may_refuse="")


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

    run = Run(folder, command.arguments, {"POLARS_MAX_THREADS": "1"}, limits=limit)
    return to_the_end(run, command, may_refuse="")


def no_cache(command: Command, folder: Path, choose: Random) -> str:
    """The home cannot be written: the result is the same."""
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR"), "/proc/nowhere")
    return to_the_end(Run(folder, command.arguments, {**nowhere, "PYTHONDONTWRITEBYTECODE": "1"}), command)


def two_at_once(command: Command, folder: Path, choose: Random) -> str:
    """Two processes write the same files at the same time."""
    runs = [Run(folder, command.arguments, {}) for _ in range(2)]
    if command.has_checkpoint:  # each needs its own
        runs[1].arguments = tuple("other.npz" if each == "run.npz" else each for each in command.arguments)
    started = [(run, run.start()) for run in runs]
    for run, process in started:
        ended = run.wait(process)
        assert ended.code == command.exit_code, f"exit code {ended.code} beside another process; {ended.errors[-300:]}"
        check_words(ended)
    check_files(command, folder, finished=True)
    return "finished"


CHECKPOINT_FAULTS: Mapping[str, Fault] = {
    "damaged checkpoint": damaged_checkpoint,
    "foreign checkpoint": foreign_checkpoint,
}
FAULTS: Mapping[str, Fault] = {
    **CLUSTER_FAULTS,
    **CHECKPOINT_FAULTS,
    "interrupt": interrupt,
    "terminate": terminate,
    "kill and resume": kill_and_resume,
    "full disk": full_disk,
    "full output": full_output,
    "little memory": little_memory,
    "no cache": no_cache,
    "two at once": two_at_once,
}


def is_possible(command: Command, fault: str) -> bool:
    """Whether a command has what the fault is about: workers, or a checkpoint."""
    return (command.has_workers or fault not in CLUSTER_FAULTS) and (
        command.has_checkpoint or fault not in CHECKPOINT_FAULTS
    )


CELLS = [(name, fault) for name, command in COMMANDS.items() for fault in FAULTS if is_possible(command, fault)]


def make(choose: Random) -> Input:
    """A cell of the table, and the choices of its fault."""
    command, fault = choose.choice(CELLS)
    return {"command": command, "fault": fault, "choices": choose.getrandbits(32)}


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

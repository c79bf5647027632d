"""How Ctrl-C ends the command line: at once, with a message that is true, and with no file half written.

A thread waits for signals and ends the process. Nothing is raised in the computation, which could be anywhere: inside
compiled code, in the middle of an import. The system takes back memory and threads together, so that no thread uses
memory that is gone; files are replaced in one step under a lock, which this thread takes first.

When the command has ended, Python takes its threads and its signal handlers away before it frees everything else. A
signal in that time is ignored: the results are complete, and the exit code is the command's.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Thread, current_thread, main_thread
from types import ModuleType

from credo.terminal import encodable, printable

ENDINGS = {"SIGINT": "interrupted", "SIGTERM": "ended by the system", "SIGHUP": "ended with its terminal"}
PATIENCE = 5.0  # seconds that a file which is being replaced gets

Stamp = tuple[int, int, int] | None  # of a file: which it is, when it was written, its size; None where there is none


@dataclass(slots=True)
class Watch:
    """The files that a command is going to write, and how they were before.

    A command that runs until it is ended has a `farewell` instead: it ends what runs, and says what it leaves.
    """

    before: dict[Path, Stamp] = field(default_factory=dict)
    checkpoint: Path | None = None
    farewell: Callable[[], str] | None = None

    def expect(self, *targets: Path | None, checkpoint: Path | None = None) -> None:
        """Name the files that the command writes from now on, and its checkpoint."""
        self.before = {target: _stamp(target) for target in targets if target is not None}
        self.checkpoint = checkpoint

    def message(self, ending: str, command: Sequence[str]) -> str:
        """What a reader needs after a signal: what was written, and how to go on."""
        if self.farewell is not None:
            return f"credo: {ending}. {self.farewell()}"
        written = [str(target) for target, before in self.before.items() if _stamp(target) not in (None, before)]
        if written:
            sentence = f"credo: {ending}. Complete and written before that: {', '.join(written)}."
        elif self.checkpoint is None or _stamp(self.checkpoint) is None:
            return f"credo: {ending}; nothing was written."
        else:
            sentence = f"credo: {ending}; no result was written."
        if self.checkpoint is not None and _stamp(self.checkpoint) is not None:
            sentence += f" The checkpoint {self.checkpoint} is kept. To go on from it, run the same command again:\n"
            sentence += f"  credo {shlex.join(command)}"
        return sentence


@cache
def end_on_signals() -> Watch:
    """Start the thread that ends the process on a signal; signals that the process was started to ignore stay so."""
    watch = Watch()
    if current_thread() is not main_thread():
        return watch
    wanted = [number for number in _numbers() if signal.getsignal(number) is not signal.SIG_IGN]
    if sys.platform == "win32":  # where a pipe cannot wake a thread: the main thread ends the process, a little later
        for number in wanted:
            signal.signal(number, lambda number, _: _end(watch, signal.Signals(number)))
        return watch
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    signal.set_wakeup_fd(sender, warn_on_full_buffer=False)
    for number in wanted:
        signal.signal(number, lambda *_: None)  # Python's part of it; the system's part wakes the thread
    Thread(target=_wait, args=(watch, receiver, wanted), name="credo-signals", daemon=True).start()
    return watch


def ignore_signals() -> None:
    """Ignore signals from now on, in a process whose command has ended; Python keeps to that until it is gone.

    What is left in the output streams is written first: a reader who does not read may keep that waiting.
    """
    if current_thread() is not main_thread():
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # no stream, or a closed one; Python itself reports errors
            stream.flush()
    for number in _numbers():
        signal.signal(number, signal.SIG_IGN)


def _numbers() -> list[signal.Signals]:
    """The signals of this system that end a command."""
    return [getattr(signal, name) for name in ENDINGS if hasattr(signal, name)]


def _wait(watch: Watch, receiver: int, wanted: Sequence[int]) -> None:
    while True:
        for number in os.read(receiver, 1):
            if number in wanted:
                _end(watch, signal.Signals(number))


def _end(watch: Watch, number: signal.Signals) -> None:
    try:
        files = _imported_files()
        if files is not None:
            files.REPLACING.acquire(timeout=PATIENCE)
        text = encodable(printable(watch.message(ENDINGS[number.name], sys.argv[1:])), _encoding())
        os.write(2, f"\n{text}\n".encode(_encoding(), "backslashreplace"))
        if files is not None:
            for target in (*watch.before, watch.checkpoint):
                if target is not None:
                    files.remove_drafts(target)
    finally:
        os._exit(128 + number)  # what shells expect: 130 after Ctrl-C


def _imported_files() -> ModuleType | None:
    """The module that writes files, if its import has ended: another thread may be in the middle of it."""
    files = sys.modules.get("credo.io.files")
    return files if files is not None and hasattr(files, "REPLACING") and hasattr(files, "remove_drafts") else None


def _encoding() -> str:
    return getattr(sys.stderr, "encoding", None) or "utf-8"


def _stamp(path: Path) -> Stamp:
    with suppress(OSError, ValueError):
        found = path.stat()
        return found.st_ino, found.st_mtime_ns, found.st_size
    return None

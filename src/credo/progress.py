"""How far a long computation is: events for a caller, one line of text on a terminal, log records elsewhere."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import monotonic
from typing import TextIO

from credo.terminal import say

PREPARING = "Preparing"
READING_DATA = "Reading the data"
CHECKING_KNOWLEDGE = "Checking the knowledge"
COMPARING_WITH_DATA = "Comparing the knowledge with the data"
ESTIMATING = "Estimating the probabilities"
EXPLAINING = "Explaining the result"
WRITING_REPORT = "Writing the report"

FIRST_LINE_AFTER = 0.5  # seconds; quicker work shows nothing
REDRAW_EVERY = 0.5  # seconds; the line moves even where the computation itself cannot report, as while compiling
LINE_WIDTH = 79

_log = logging.getLogger("credo")


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """Where a computation is.

    Attributes
    ----------
    phase
        What is being done, such as "Reading the data".
    done
        How much of it is done, in units of `total`.
    total
        How much there is to do; None where nobody knows.
    detail
        More about it, such as "start 2 of 5, iteration 17".
    """

    phase: str
    done: float = 0.0
    total: float | None = None
    detail: str = ""

    @property
    def share(self) -> float | None:
        """The share that is done, between 0 and 1; None where the total is not known."""
        return None if not self.total else min(1.0, max(0.0, self.done / self.total))

    def __str__(self) -> str:
        share = "" if self.share is None else f" {self.share:.0%}"
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.phase}{share}{detail}"


ProgressListener = Callable[[ProgressEvent], None]
ProgressLike = ProgressListener | bool | None  # a function, or whether to show a line; None: where somebody watches


@contextmanager
def reporting(progress: ProgressLike = None, stream: TextIO | None = None) -> Iterator[ProgressListener]:
    """Give a function that takes progress events, and pass them on.

    Parameters
    ----------
    progress
        True shows a line on the error stream, False does not. None shows it where that stream is a terminal or
        belongs to a notebook. A function receives every event instead: an inner computation gets the outer one's.
    stream
        Where the line is drawn; the error stream if not given.

    Yields
    ------
    ProgressListener
        Call it with a `ProgressEvent`. Where no line is shown and no function given, each new phase is a log record
        of the logger "credo".
    """
    shown = sys.stderr if stream is None else stream
    if callable(progress):
        yield progress
    elif progress or (progress is None and is_interactive(shown)):
        line = _Line(shown)
        try:
            yield line.update
        finally:
            line.close()
    else:
        yield _log_new_phases()


def shares_of(phase: str, listener: ProgressListener) -> Callable[[float], None]:
    """A function that takes the share done of a phase, for work that reports nothing else."""
    return lambda share: listener(ProgressEvent(phase, share, 1.0))


def is_interactive(stream: TextIO) -> bool:
    """Whether somebody watches a stream: it is a terminal, or a notebook shows it."""
    return bool(getattr(stream, "isatty", bool)()) or "ipykernel" in sys.modules


def _log_new_phases() -> ProgressListener:
    last = ""

    def log(event: ProgressEvent) -> None:
        nonlocal last
        if event.phase != last:
            last = event.phase
            _log.info(event.phase)

    return log


class _Line:
    """One line of text that is drawn over itself, with the seconds that its phase has taken so far."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._event = ProgressEvent(PREPARING)
        self._phase_started = monotonic()
        self._drawn = False
        self._lock = Lock()
        self._closed = Event()
        self._thread = Thread(target=self._redraw, name="credo-progress", daemon=True)
        self._thread.start()

    def update(self, event: ProgressEvent) -> None:
        with self._lock:
            if self._event.phase != event.phase:
                self._phase_started = monotonic()
            self._event = event

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        if self._drawn:
            self._write("")

    def _redraw(self) -> None:
        self._closed.wait(FIRST_LINE_AFTER)
        while not self._closed.is_set():
            with self._lock:
                event, seconds = self._event, monotonic() - self._phase_started
            self._write(f"{event}, {seconds:.0f} s")
            self._drawn = True
            self._closed.wait(REDRAW_EVERY)

    def _write(self, text: str) -> None:
        # `say` shows what it is given; moving to the start of the line is not part of the text.
        say(f"{text[:LINE_WIDTH]:<{LINE_WIDTH}}", self._stream, end="\r")

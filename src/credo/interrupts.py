"""Sections that an interrupt does not cut, and computations that end when nobody waits for them.

A signal that arrives in such a section is handled when the section ends.

Ctrl-C raises KeyboardInterrupt in the main thread, between any two steps of Python: in the middle of an import too, and
half an import of a large library spoils the next one. What is compiled when credo is built needs no such section: its
loops take no steps of Python.
"""

from __future__ import annotations

import signal
from _signal import getsignal  # type: ignore[import-not-found]  # without the enumerations of `signal`, which take 30 µs
from _signal import signal as set_handler
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import current_thread, main_thread
from types import TracebackType
from typing import Any

# Signals whose handlers often raise. Ctrl-C comes first: once it waits, nothing else interrupts the preparation.
_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)


class uninterrupted:
    """`with uninterrupted():` is a section in which signals wait.

    At its end the handler of each signal that came is called, and may raise. `on_signal` is called at once, so that the
    section can come to an end soon; it must not raise. In a thread that is not the main one this does nothing, because
    Python handles signals in the main thread only.
    """

    __slots__ = ("_came", "_handlers", "_on_signal")

    def __init__(self, on_signal: Callable[[], Any] | None = None) -> None:
        self._on_signal = on_signal
        self._handlers: dict[int, Any] = {}
        self._came: list[int] = []

    def __enter__(self) -> uninterrupted:
        if current_thread() is main_thread():
            try:
                for number in _SIGNALS:
                    handler = getsignal(number)
                    if callable(handler):  # else the system itself ends the process, or ignores the signal
                        self._handlers[number] = handler
                        set_handler(number, self._wait)
            except BaseException:
                self._restore()
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._handlers:
            handlers = dict(self._handlers)
            self._restore()
            for number in self._came:
                handlers[number](number, None)

    def _wait(self, number: int, frame: object) -> None:
        if number not in self._came:
            self._came.append(number)
        if self._on_signal is not None:
            self._on_signal()

    def _restore(self) -> None:
        """Ctrl-C comes last: until then nothing interrupts this."""
        for number in reversed(list(self._handlers)):
            set_handler(number, self._handlers[number])


# Computations that end early ------------------------------------------------------------------------------------------


class StoppedError(Exception):
    """Nobody waits any more for what was being computed. It is no mistake of the user, and so no CredoError."""


_is_stopped: ContextVar[Callable[[], bool] | None] = ContextVar("is_stopped", default=None)


@contextmanager
def stopped_by(is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Let long computations in this context ask whether they should end; threads that asyncio starts inherit it."""
    token = _is_stopped.set(is_stopped)
    try:
        yield
    finally:
        _is_stopped.reset(token)


def stop_if_asked() -> None:
    """Raise StoppedError if whoever waited for this computation has stopped it."""
    is_stopped = _is_stopped.get()
    if is_stopped is not None and is_stopped():
        raise StoppedError

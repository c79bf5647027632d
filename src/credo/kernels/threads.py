"""Compiled work on all cores: the one place where threads run it.

Kernels release the GIL, so that threads are enough. No thread is left in compiled code when a call here ends, however
it ends; and a forked process, which has none of its parent's threads, starts its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import current_thread
from typing import TypeVar

from credo.kernels.interrupts import uninterrupted

LONGEST_WAIT = 0.1  # seconds until a signal is seen that did not wake the waiting thread
_NAME = "credo-worker"
_is_alone: ContextVar[bool] = ContextVar("is_alone", default=False)

Item = TypeVar("Item")
Result = TypeVar("Result")


class _SkippedError(Exception):
    """An item was not begun, because an interrupt came or another item failed."""


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> list[Result]:
    """`[function(item) for item in items]`, on all cores unless `threads` is one.

    After an error or an interrupt no further item is begun, and those under way end first; then it is raised. A worker
    that maps items itself does so alone, so that workers never wait for each other.
    """
    items = list(items)
    if len(items) < 2 or threads == 1 or _is_alone.get() or current_thread().name.startswith(_NAME):
        return [function(item) for item in items]
    stopping = False  # a lock-free flag: the handler of a signal sets it

    def stop() -> None:
        nonlocal stopping
        stopping = True

    def run(item: Item) -> Result:
        if stopping:
            raise _SkippedError
        try:
            return function(item)
        except BaseException:
            stop()
            raise

    futures: list[Future[Result]] = []
    with uninterrupted(on_signal=stop):
        futures += [_pool().submit(run, item) for item in items]
        while wait(futures, timeout=LONGEST_WAIT).not_done:
            pass  # a signal that the system gave to a worker wakes nobody: handlers run here, between two waits
    errors = [future.exception() for future in futures]
    for error in errors:
        if error is not None and not isinstance(error, _SkippedError):
            raise error
    # Skipped without an error: a signal came whose handler did not raise, and the work goes on.
    skipped = iter(
        map_in_threads(function, [item for item, error in zip(items, errors, strict=True) if error], threads)
    )
    return [next(skipped) if error else future.result() for future, error in zip(futures, errors, strict=True)]


@contextmanager
def alone() -> Iterator[None]:
    """Inside of it this thread works alone: others of its process have their own work, and the other cores."""
    token = _is_alone.set(True)
    try:
        yield
    finally:
        _is_alone.reset(token)


@cache
def _pool() -> ThreadPoolExecutor:
    """One for the process: starting threads takes as long as a small E-step."""
    return ThreadPoolExecutor(os.cpu_count() or 1, _NAME)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)

"""Compiled work on all cores: the one place where threads run it.

Compiled loops release the GIL, so that threads are enough. No thread is left at work when a call here ends, however it
ends; and a forked process, which has none of its parent's threads, starts its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from threading import Condition, current_thread
from typing import TypeVar

LONGEST_WAIT = 0.1  # seconds until a signal is seen that did not wake the waiting thread
_NAME = "credo-worker"
_is_single_threaded: ContextVar[bool] = ContextVar("is_single_threaded", default=False)

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
    if len(items) < 2 or threads == 1 or _is_single_threaded.get() or current_thread().name.startswith(_NAME):
        return list(map(function, items))
    changed, running, is_stopping = Condition(), 0, False

    def run(item: Item) -> Result:
        nonlocal running, is_stopping
        with changed:
            if is_stopping:
                raise _SkippedError
            running += 1
        try:
            return function(item)
        except BaseException:
            is_stopping = True
            raise
        finally:
            with changed:
                running -= 1
                changed.notify_all()

    futures: list[Future[Result]] = []
    try:
        for item in items:
            futures.append(_pool().submit(run, item))
        while wait(futures, timeout=LONGEST_WAIT).not_done:
            pass  # a signal that the system gave to a worker wakes nobody: handlers run here, between two waits
    finally:
        is_stopping = True
        while running:
            # A second interrupt does not shorten the wait: the first is raised as soon as all have ended.
            with suppress(BaseException), changed:
                changed.wait_for(lambda: not running, timeout=LONGEST_WAIT)
    for future in futures:
        error = future.exception()
        if error is not None and not isinstance(error, _SkippedError):
            raise error
    return [future.result() for future in futures]


@contextmanager
def single_threaded() -> Iterator[None]:
    """Inside of it this thread works alone: others of its process have their own work, and the other cores."""
    token = _is_single_threaded.set(True)
    try:
        yield
    finally:
        _is_single_threaded.reset(token)


@cache
def _pool() -> ThreadPoolExecutor:
    """One for the process: starting threads takes as long as a small E-step."""
    return ThreadPoolExecutor(os.cpu_count() or 1, _NAME)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)

"""Partitions that do something to the worker that reads them; workers import this module."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds that a partition waits for a file


def harmless(frame: Any) -> Any:
    return frame


def kill_once(frame: Any, flag: str) -> Any:
    """The first worker that reads it dies, as of a power cut."""
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        return frame
    os.kill(os.getpid(), signal.SIGKILL)
    return frame


def kill_always(frame: Any) -> Any:
    """Every worker that reads it dies, as of the system's out-of-memory killer."""
    os.kill(os.getpid(), signal.SIGKILL)
    return frame


def take_memory(frame: Any, megabytes: int) -> Any:
    """Takes more memory than a worker may, and keeps it until the worker is ended."""
    taken = []
    for _ in range(megabytes):
        taken.append(bytearray(os.urandom(2**10) * 2**10))
        time.sleep(0.002)
    time.sleep(PATIENCE)
    return frame if taken else None


def wait_for(frame: Any, flag: str) -> Any:
    """A straggler: it is read when a file appears."""
    until = time.monotonic() + PATIENCE
    while not Path(flag).exists() and time.monotonic() < until:
        time.sleep(0.01)
    return frame

"""How much memory credo may use: one default for every stage, on every system."""

from __future__ import annotations

import os
import sys
from math import inf
from numbers import Real

from credo.errors import OptionError, TooLargeError, readable_bytes

# Of the machine's memory, where the user names no limit.
DEFAULT_SHARE = 0.5
# Where the system does not say how much memory it has.
UNKNOWN_TOTAL = 8 * 2**30


def memory_limit_or_default(limit: object) -> int:
    """The user's limit in bytes, or half of the machine's memory."""
    if limit is None:
        return int(DEFAULT_SHARE * total_memory())
    if isinstance(limit, bool) or not isinstance(limit, Real) or not 0 < float(limit) < inf:
        raise OptionError(f"memory_limit is a number of bytes, such as 4_000_000_000, not {limit!r}.")
    return int(float(limit))


def require_memory(needed: int, what: str, advice: str) -> None:
    """Refuse what would take more bytes than are allowed, before any of them is taken."""
    allowed = memory_limit_or_default(None)
    if needed > allowed:
        size, limit = readable_bytes(needed), readable_bytes(allowed)
        raise TooLargeError(f"{what} would take {size}, and {limit} are allowed. {advice}", needed)


def total_memory() -> int:
    """The machine's physical memory in bytes."""
    if sys.platform == "win32":
        return _windows_memory()
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # a system without these names
        return UNKNOWN_TOTAL


def _windows_memory() -> int:
    import ctypes

    class MemoryStatus(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "c", "d", "e", "f", "g")),
        )

    status = MemoryStatus()
    status.length = ctypes.sizeof(status)
    found = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined, unused-ignore]
    return int(status.total) if found else UNKNOWN_TOTAL

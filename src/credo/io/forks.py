"""Whether polars can be used: not its queries, in a process that was forked after polars had been imported.

Polars runs queries on threads of its own, which a forked process does not have: it would wait for them for ever.
Single columns can still be made and read there.
"""

from __future__ import annotations

import os
import sys

from credo.errors import DataError

_without_queries = False


def has_queries() -> bool:
    """Whether queries of polars come to an end in this process."""
    return not _without_queries


def require_queries(what: str) -> None:
    """Raise where only a query of polars can read something."""
    if _without_queries:
        raise DataError(
            f"{what} cannot be read here: this process was forked from one that uses polars, whose threads it does not "
            'have. Start processes by "spawn" or "forkserver" (joblib: the backend "loky"), or pass a frame.'
        )


def _note_fork() -> None:
    global _without_queries
    _without_queries = _without_queries or "polars" in sys.modules


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)

"""Write a file whole or not at all: a failed write leaves what stood there before."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from credo.errors import FormatError


@contextmanager
def replacing(path: str | os.PathLike[str], ending: str = ".tmp") -> Iterator[Path]:
    """A new path beside `path` to write to; at the end it takes the place of `path`, or vanishes on an error.

    It carries `ending`, for writers that choose their format by it. What the system refuses (no such folder, no
    permission, disk full) is a `FormatError` about `path`.
    """
    try:
        target = Path(os.path.realpath(path))  # a link stays a link: its target is replaced
    except (OSError, ValueError) as error:  # ValueError: a null character
        raise FormatError(f"This file cannot be written: {error}.", str(path)) from None
    draft = target.with_name(f".{secrets.token_hex(8)}{ending}")
    try:
        yield draft
        if target.exists():
            shutil.copymode(target, draft)
        os.replace(draft, target)
    except OSError as error:
        raise FormatError(f"This file cannot be written: {error.strerror or error}.", str(path)) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)

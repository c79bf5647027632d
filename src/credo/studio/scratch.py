"""A folder for what a studio needs while it runs, and the end of what studios left when they were killed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from time import time

PREFIX = "credo-studio-"
OLD = 60.0  # seconds; drafts exist for a moment, and a process with a number that is free again may just have begun
OLD_ANYWHERE = 86_400.0  # where it is not known whether the process runs
_SCRATCH = re.compile(rf"{PREFIX}(\d+)-\w+")
_DRAFT = re.compile(r"\.credo-(\d+)-[0-9a-f]{16}\.\w+")


def new_scratch() -> Path:
    """A new folder; those of studios that do not run any more are removed."""
    folder = Path(tempfile.gettempdir())
    for path in _left(folder, _SCRATCH):
        shutil.rmtree(path, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))


def remove_left_drafts(folder: Path) -> None:
    """Remove half-written files that a process left in a folder when it was killed; see `replacing`."""
    for path in _left(folder, _DRAFT):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _left(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """What processes that are gone left in a folder."""
    found = []
    with suppress(OSError):
        for entry in os.scandir(folder):
            match = pattern.fullmatch(entry.name)
            with suppress(OSError):
                about = entry.stat(follow_symlinks=False)
                is_own = not hasattr(os, "getuid") or about.st_uid == os.getuid()
                if match and is_own and time() - about.st_mtime > OLD and not _runs(int(match[1]), about.st_mtime):
                    found.append(Path(entry.path))
    return found


def _runs(process: int, since: float) -> bool:
    if os.name == "nt":  # where asking a process whether it runs would end it
        return time() - since < OLD_ANYWHERE
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True

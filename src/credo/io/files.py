"""Reading and writing files: clear errors, and files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from credo.errors import FileError, LossyFormatWarning, MissingFileError, closest
from credo.types import PathLike

_CALLERS = 4  # from `warn_of_loss` up to the caller of `write_network`


def require_file(path: PathLike, what: str, folder_allowed: bool = False) -> None:
    """Raise if a path is not a file; the message suggests the most similar name in its folder."""
    path = Path(path)
    try:
        if path.is_file() or (folder_allowed and path.is_dir()):
            return
        if path.is_dir():
            raise FileError(f"This is a folder, not a {what}.", path)
        neighbours = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    except FileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise unreadable(path, error) from None
    near = closest(path.name, neighbours)
    hint = f' Did you mean "{near}"?' if near else ""
    place = "" if path.parent.is_dir() else f" The folder {path.parent} does not exist either."
    raise MissingFileError(f"There is no such file.{hint}{place}", path)


def unreadable(path: PathLike, error: Exception) -> FileError:
    """The error for a file that the system does not let us read."""
    kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
    return kind(f"This file cannot be read: {_reason(error)}.", path)


def require_target(path: PathLike) -> None:
    """Raise if no file can be written at this path: it is a folder, or its folder does not exist."""
    target = Path(path)
    if target.is_dir():
        raise FileError("This is a folder, not a file to write to.", target)
    if not target.parent.is_dir():
        raise MissingFileError(f"There is no folder {target.parent} to write to.", target)


@contextmanager
def replacing(path: PathLike, ending: str = ".tmp") -> Iterator[Path]:
    """A draft beside `path` to write to; at the end it replaces `path`, or it is removed on an error.

    The draft has the given `ending`, for writers that choose their format by it. What the system refuses (no such
    folder, no permission, disk full) becomes a `FileError` about `path`.
    """
    try:
        target = Path(os.path.realpath(path))  # a link stays a link: its target is replaced
    except (OSError, ValueError) as error:  # ValueError: a null character
        raise FileError(f"This file cannot be written: {_reason(error)}.", path) from None
    draft = target.with_name(f".{secrets.token_hex(8)}{ending}")
    try:
        yield draft
        if target.exists():
            shutil.copymode(target, draft)
        os.replace(draft, target)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
        raise kind(f"This file cannot be written: {_reason(error)}.", path) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).rstrip(".")


def warn_of_loss(target: PathLike, what: str, instead: str = "BIF keeps everything.", callers: int = _CALLERS) -> None:
    """Warn that a file was written, or an object made, that does not hold all of the network."""
    warnings.warn(f"{os.fspath(target)}: {what} {instead}".rstrip(), LossyFormatWarning, stacklevel=callers)

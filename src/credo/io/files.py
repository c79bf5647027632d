"""Reading and writing files: clear errors, and files that are written completely or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
import shutil
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from inspect import currentframe
from pathlib import Path
from tempfile import gettempdir
from threading import Lock
from traceback import walk_stack
from typing import BinaryIO

from credo.errors import (
    FileError,
    FormatError,
    LossyFormatWarning,
    MissingFileError,
    OptionError,
    TooLargeError,
    closest,
    readable_bytes,
)
from credo.memory import memory_limit_or_default
from credo.types import PathLike

REPLACING = Lock()  # held while a file takes its place, so that whoever ends the process knows what was written
# Memory that reading a network takes for each byte of a file. Measured: 5 to 9 for large CPTs, 25 for entries of one
# number, and more for thousands of tiny variables.
BYTES_PER_BYTE = 16
# A gzip file may unpack to this many times its size; a small one to more. Networks of random numbers pack 2:1, and
# uniform ones 30:1.
LARGEST_RATIO = 100
ALWAYS_UNPACKED = 8 * 2**20
_PIECE = 2**20
PAGE_TARGETS = (".html", ".htm")  # of names of reports
CSV_TARGETS = (".csv", ".txt")

BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


def require_path(path: object) -> None:
    """Raise if something is not a path at all."""
    if not isinstance(path, str | os.PathLike):
        raise OptionError(f"A path is a text or a pathlib.Path, not {path!r}.")


def require_file(path: PathLike, what: str, folder_allowed: bool = False) -> None:
    """Raise if a path is not a file; the message suggests the most similar name in its folder."""
    require_path(path)
    path = Path(path)
    try:
        if path.is_file() or (folder_allowed and path.is_dir()):
            return
        if path.is_dir():
            raise FileError(f"This is a folder, not a {what}.", path)
        if path.exists():
            raise FileError(f"This is a device or a pipe. Save the {what} as a file first.", path)
        neighbours = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    except FileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise unreadable(path, error) from None
    near = closest(path.name, neighbours)
    hint = f' Did you mean "{near}"?' if near else ""
    place = "" if path.parent.is_dir() else f" The folder {path.parent} does not exist either."
    raise MissingFileError(f"There is no such file.{hint}{place}", path)


def read_text(path: PathLike, fallback: str | None = None) -> str:
    """The text of a network file, unpacked if its name ends in `.gz`; errors say on which line it is not a text.

    What is not UTF-8 has the encoding `fallback`, if there is one.
    """
    content = read_content(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if fallback is not None and b"\0" not in content:
            return content.decode(fallback)
        line = content.count(b"\n", 0, error.start) + 1
        kind = ", perhaps UTF-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        message = f"Byte {error.start} is not UTF-8 text{kind}. Save the file as UTF-8."
        raise FormatError(message, str(path), line) from None
    if (null := text.find("\0")) >= 0:
        raise FormatError(
            "Here is a null character, which no text has. Is this file of another kind, or damaged?",
            str(path),
            text.count("\n", 0, null) + 1,
        )
    return text


def read_content(path: PathLike) -> bytes:
    """The bytes of a network file, unpacked if its name ends in `.gz`; what cannot fit into memory is refused before.

    Raises
    ------
    FileError
        If the system does not let us read the file.
    FormatError
        If it is not a gzip file, though its name says so, or unpacks to far more than any network would.
    TooLargeError
        If reading it would take more memory than allowed.
    """
    most = memory_limit_or_default(None) // BYTES_PER_BYTE
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > most:
                raise _too_large(path, size)
            if not os.fspath(path).lower().endswith(".gz"):
                return file.read()
            return _unpacked(file, path, min(most, max(ALWAYS_UNPACKED, LARGEST_RATIO * size)))
    except BROKEN_GZIP as error:
        raise FormatError(f"This is not a complete gzip file: {error}.".replace("..", "."), str(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        if isinstance(error, FileError | FormatError):
            raise
        raise unreadable(path, error) from None


def _unpacked(file: BinaryIO, path: PathLike, most: int) -> bytes:
    pieces, total = list[bytes](), 0
    with gzip.GzipFile(fileobj=file) as packed:
        while piece := packed.read(_PIECE):
            total += len(piece)
            if total > most:
                raise FormatError(
                    f"This file unpacks to more than {readable_bytes(most)}, over {LARGEST_RATIO} times its size. If "
                    "you trust it, unpack it first.",
                    str(path),
                )
            pieces.append(piece)
    return b"".join(pieces)


def _too_large(path: PathLike, size: int) -> TooLargeError:
    needed = BYTES_PER_BYTE * size
    return TooLargeError(
        f"{os.fspath(path)}: reading this network of {readable_bytes(size)} may take {readable_bytes(needed)} of "
        f"memory; {readable_bytes(memory_limit_or_default(None))} are allowed, half of what this machine has.",
        needed,
    )


def unreadable(path: PathLike, error: Exception) -> FileError:
    """The error for a file that the system does not let us read."""
    kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
    return kind(f"This file cannot be read: {_reason(error)}.", path)


def require_target(path: PathLike, endings: Sequence[str] = ()) -> None:
    """Raise if no file can be written at this path: it is a folder, or its folder does not exist or is read-only.

    With `endings`, a name with another ending is refused, which would promise another format; one without any is not.
    """
    require_path(path)
    target = Path(path)
    try:
        if target.is_dir():
            raise FileError("This is a folder, not a file to write to.", target)
        if not target.parent.is_dir():
            raise MissingFileError(f"There is no folder {target.parent} to write to.", target)
        with suppress(FileNotFoundError):
            os.lstat(target)
        is_writable = os.access(target.parent, os.W_OK) or _is_special(target)
    except FileError:
        raise
    except (OSError, ValueError) as error:  # a name that is too long, a null character
        raise _unwritable(path, error) from None
    if endings and target.suffix and target.suffix.lower() not in endings:
        raise FormatError(
            f"The name of this file has to end in {' or '.join(endings)}, not in {target.suffix}.",
            str(target),
        )
    if not is_writable:
        raise FileError(f"The folder {target.parent} cannot be written. Choose another folder.", target)


def make_folder(path: PathLike) -> Path:
    """Make a folder, and the folders that it is in, unless they exist; it can be written then."""
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise FileError("This is a file, not a folder to write to.", folder) from None
    except (OSError, ValueError) as error:
        raise FileError(f"This folder cannot be made: {_reason(error)}.", folder) from None
    require_target(folder / "file")
    return folder


@contextmanager
def replacing(path: PathLike, ending: str = ".tmp") -> Iterator[Path]:
    """A draft beside `path` to write to; at the end it replaces `path`, or it is removed on an error.

    The draft has the given `ending`, for writers that choose their format by it. What the system refuses (no such
    folder, no permission, disk full) becomes a `FileError` about `path`. A device or a pipe, such as `/dev/stdout`, is
    not replaced but written to.
    """
    try:
        target = Path(os.path.realpath(path))  # a link stays a link: its target is replaced
        is_special = _is_special(target)
    except (OSError, ValueError) as error:  # ValueError: a null character
        raise _unwritable(path, error) from None
    draft = (Path(gettempdir()) if is_special else target.parent) / f"{_draft_prefix()}{secrets.token_hex(8)}{ending}"
    try:
        yield draft
        if is_special:
            with draft.open("rb") as source, target.open("wb") as sink:
                shutil.copyfileobj(source, sink)
            return
        if target.exists():
            shutil.copymode(target, draft)
        with draft.open("rb+") as written:  # what the disk cannot take is known before the old file goes
            os.fsync(written.fileno())
        with REPLACING:
            os.replace(draft, target)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise _unwritable(path, error) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_text(path: PathLike, text: str) -> Path:
    """Write a text as UTF-8, completely or not at all; half a character, which UTF-8 does not have, becomes `?`."""
    with replacing(path) as draft:
        draft.write_bytes(text.encode("utf-8", "replace"))
    return Path(path)


def remove_drafts(path: PathLike) -> None:
    """Remove the drafts beside a file that this process began and will not end."""
    with suppress(OSError, ValueError):
        for draft in Path(os.path.realpath(path)).parent.glob(f"{_draft_prefix()}*"):
            draft.unlink(missing_ok=True)


def _draft_prefix() -> str:
    return f".credo-{os.getpid()}-"


def _is_special(path: Path) -> bool:
    """Whether a path is a device or a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _unwritable(path: PathLike, error: Exception) -> FileError:
    kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
    return kind(f"This file cannot be written: {_reason(error)}.", path)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).rstrip(".")


def warn_of_loss(target: PathLike, what: str, instead: str = "A saved fit (.fit) keeps everything.") -> None:
    """Warn that a file was written, or an object made, that does not hold all of the network."""
    warn_caller(f"{os.fspath(target)}: {what} {instead}".rstrip(), LossyFormatWarning)


def warn_caller(message: str, kind: type[Warning]) -> None:
    """Warn, and point at the line outside of credo that called it."""
    inside = 0
    for frame, _ in walk_stack(currentframe()):
        if frame.f_globals.get("__name__", "").partition(".")[0] != "credo":
            break
        inside += 1
    warnings.warn(message, kind, stacklevel=inside + 1)

"""A run that can be killed: what it needs to continue is kept in a file, which is always whole.

A checkpoint carries a fingerprint of everything that shapes the result, so that no other run continues from it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import CheckpointWarning, FileError, OptionError
from credo.io.files import replacing, require_target, unreadable, warn_caller

VERSION = 1  # of what a checkpoint holds; a change of that, or of the numbers that EM computes, is a new version
SAVING_SHARE = 0.05  # of the time that saving may take
RETRY_AFTER = 30.0  # seconds until a save is tried again that failed


@dataclass(slots=True)
class Checkpoint:
    """Where a run is kept. `fingerprint` identifies it: another one may not continue from this file."""

    path: Path
    fingerprint: str
    due: float = field(default=0.0)  # when the next save is due

    def save(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], force: bool = False) -> None:
        """Replace the file, unless it was saved just now.

        Hours of work do not end because a disk is full: a save that fails is a warning, and is tried again later.
        """
        started = time.monotonic()
        if started < self.due and not force:
            return
        text = json.dumps({"version": VERSION, "fingerprint": self.fingerprint, **state})
        try:
            content = BytesIO()  # in memory first: a full disk then leaves no archive that is half open
            np.savez(content, state=np.array(text), **dict[str, Any](arrays))
            with replacing(self.path, ".npz") as draft:
                draft.write_bytes(content.getvalue())
        except FileError as error:
            self.due = time.monotonic() + RETRY_AFTER
            warn_caller(f"{error} Learning goes on, and saves it again when it can.", CheckpointWarning)
            return
        now = time.monotonic()
        self.due = now + (now - started) / SAVING_SHARE

    def load(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """What was saved last; None where there is no file yet."""
        try:
            if not self.path.exists():
                require_target(self.path)  # before the work, not after it
                return None
            if self.path.is_dir():
                raise FileError("This is a folder, not a checkpoint. Choose a file.", self.path)
        except FileError:
            raise
        except (OSError, ValueError) as error:  # a name that is too long, a null character
            raise unreadable(self.path, error) from None
        try:
            with self.path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            state = json.loads(str(arrays.pop("state")))
            version, own = state.pop("version", None), state.pop("fingerprint", None)
        except PermissionError as error:
            raise unreadable(self.path, error) from None
        except Exception:  # whatever a damaged archive makes of its readers
            raise self.damaged() from None
        if version != VERSION:
            raise OptionError(
                f"The checkpoint {self.path} was written by another version of credo. Remove it to begin again, or "
                "choose another file."
            )
        if own != self.fingerprint:
            raise OptionError(
                f"The checkpoint {self.path} belongs to another run: the network, the knowledge, the data or an "
                "option differs. Remove it to begin again, or choose another file."
            )
        return state, arrays

    def damaged(self) -> OptionError:
        """The error for a file that holds something else than what was saved."""
        return OptionError(
            f"{self.path} is not a checkpoint, or it is damaged. Remove it to begin again, or choose another file."
        )


def fingerprint(*values: Any) -> str:
    """A digest of values of any depth: the same where all of them are.

    Dataclasses are walked field by field, so that a new field is part of it without anybody remembering; a value of a
    kind that is not known here is an error, never left out.
    """
    digest = hashlib.sha256()
    for value in values:
        _add(digest, value)
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    digest.update(type(value).__name__.encode())
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | Path | np.generic | slice):
        digest.update(repr(value).encode("utf-8", "surrogatepass"))
    elif isinstance(value, np.ndarray):
        digest.update(repr((value.shape, value.dtype.str)).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Enum):
        digest.update(value.name.encode())
    elif hasattr(value, "fingerprint"):  # rows in partitions, which are elsewhere
        _add(digest, value.fingerprint)
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            digest.update(each.name.encode())
            _add(digest, getattr(value, each.name))
    elif isinstance(value, Mapping):
        for key in sorted(value, key=repr):
            _add(digest, key)
            _add(digest, value[key])
    elif isinstance(value, Set):
        for member in sorted(value, key=repr):
            _add(digest, member)
    elif isinstance(value, Sequence):
        digest.update(repr(len(value)).encode())
        for member in value:
            _add(digest, member)
    elif hasattr(value, "to_list"):  # a column of a table
        _add(digest, value.to_list())
    elif callable(value):
        digest.update(f"{value.__module__}.{value.__qualname__}".encode())
    else:
        raise TypeError(f"A fingerprint of {type(value).__name__} is not defined.")

"""Frozen dataclasses of arrays on disk: the arrays in a file without pickled objects, everything else in memory."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from credo.errors import FileError

SMALL = 4096  # bytes of an array that is not worth a place in a file


class SpillFolder:
    """A folder for files that nobody needs when it is gone, with its last reference or with the process."""

    def __init__(self) -> None:
        self.path = mkdtemp(prefix="credo-")
        finalize(self, rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an array is in the file."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Spilled:
    """A value whose arrays are in a file."""

    path: str
    rest: Any

    def load(self) -> Any:
        """The value as it was."""
        try:
            with np.load(self.path, allow_pickle=False) as file:
                return _filled(self.rest, file)
        except (OSError, ValueError, KeyError) as error:
            raise FileError(
                f"A part of the data that was kept here cannot be read again ({error}).", self.path
            ) from None


def spill(value: Any, path: str) -> Spilled:
    """Write the arrays of a value into a file."""
    arrays: dict[str, NDArray[Any]] = {}
    rest = _emptied(value, "", arrays)
    try:
        np.savez(path, **dict[str, Any](arrays))
    except OSError as error:
        raise FileError(
            f"A part of the data that does not fit into memory cannot be kept here ({error.strerror or error}). Raise "
            "memory_limit, or set TMPDIR to a folder with more room.",
            Path(path).parent,
        ) from None
    return Spilled(path, rest)


def bytes_of(value: Any) -> int:
    """How much memory the arrays of a value take."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if is_dataclass(value) and not isinstance(value, type):
        return sum(bytes_of(getattr(value, each.name)) for each in fields(value))
    return 0


def _emptied(value: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray) and value.nbytes > SMALL:
        arrays[name] = value
        return _Place(name)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for each in fields(value):
            own = getattr(value, each.name)
            if (new := _emptied(own, f"{name}.{each.name}", arrays)) is not own:
                changed[each.name] = new
        return replace(value, **changed) if changed else value
    return value


def _filled(value: Any, file: Any) -> Any:
    if isinstance(value, _Place):
        return file[value.name]
    if is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for each in fields(value):
            own = getattr(value, each.name)
            if (new := _filled(own, file)) is not own:
                changed[each.name] = new
        return replace(value, **changed) if changed else value
    return value

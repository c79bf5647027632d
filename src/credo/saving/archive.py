"""An archive of one JSON text and named arrays: a zip file that is written whole, and read without running anything.

Sizes are checked before memory is taken, arrays have the dtype that the reader expects, and no pickle is read.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from credo.errors import FileError, FormatError, TooLargeError, first_duplicate, readable_bytes
from credo.io.files import replacing, require_file, unreadable
from credo.memory import memory_limit_or_default
from credo.types import PathLike

CONTENT = "content.json"
FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # so that the same result is the same bytes
COMPRESSION = 1  # of 9: numbers hardly get smaller by more
BYTES_PER_BYTE = 4  # memory that reading takes for each unpacked byte
LONGEST_HEADER = 1000  # bytes of an array's header, which numpy reads as a literal
MOST_DIMENSIONS = 32


@dataclass(frozen=True, slots=True)
class Archive:
    """What an archive holds: the JSON value, and the bytes of each array."""

    path: str
    content: Any
    members: Mapping[str, bytes]

    def array(self, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The array of this name, which must have this dtype; it is writable and owns its memory."""
        try:
            return _array(self.members[f"{name}.npy"], dtype)
        except Exception as error:  # whatever a damaged header makes of its readers
            raise FormatError(f"The array “{name}” is missing or damaged: {error}.", self.path) from None


def write_archive(path: PathLike, content: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an archive, completely or not at all."""
    texts = {CONTENT: json.dumps(content, indent=1, allow_nan=False).encode()}
    with replacing(path, Path(path).suffix) as draft, zipfile.ZipFile(draft, "w") as file:
        for name, text in texts.items():
            file.writestr(_member(name), text, compresslevel=COMPRESSION)
        for name, array in arrays.items():
            with file.open(_member(f"{name}.npy"), "w", force_zip64=array.nbytes > 2**30) as member:
                npy.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)


def read_archive(path: PathLike, what: str) -> Archive:
    """Read an archive; `what` it is called in messages.

    Raises
    ------
    FormatError
        If the file is not an archive, or is damaged or cut off.
    FileError
        If it does not exist or cannot be read.
    TooLargeError
        If it would take more memory than allowed.
    """
    require_file(path, what)
    try:
        with open(path, "rb") as file:
            return _read(file, path, what)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise unreadable(path, error) from None


def _read(raw: BinaryIO, path: PathLike, what: str) -> Archive:
    try:
        with zipfile.ZipFile(raw) as file:
            entries = file.infolist()
            _require_memory(path, what, sum(entry.file_size for entry in entries))
            if (twice := first_duplicate(entry.filename for entry in entries)) is not None:
                raise FormatError(f"The part “{twice}” occurs twice.", str(path))
            members = {entry.filename: file.read(entry) for entry in entries}
        content = json.loads(members.pop(CONTENT).decode("utf-8"))
    except (FormatError, TooLargeError):
        raise
    except Exception:  # whatever a damaged archive makes of its readers
        raise FormatError(f"This is not a {what}, or it is damaged or cut off.", str(path)) from None
    return Archive(str(path), content, members)


def _member(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, FIXED_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _require_memory(path: PathLike, what: str, unpacked: int) -> None:
    needed, allowed = BYTES_PER_BYTE * unpacked, memory_limit_or_default(None)
    if needed > allowed:
        raise TooLargeError(
            f"{path}: reading this {what} may take {readable_bytes(needed)} of memory; {readable_bytes(allowed)} are "
            "allowed, half of what this machine has.",
            needed,
        )


def _array(content: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array in a member: its header is compared with the bytes that are there before anything is made of it."""
    stream = io.BytesIO(content)
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("its version is not 1.0")
    shape, fortran, found = npy.read_array_header_1_0(stream, max_header_size=LONGEST_HEADER)
    if fortran or found.newbyteorder("=") != dtype or found.hasobject:
        raise ValueError(f"it holds {found}, not {dtype}")
    if len(shape) > MOST_DIMENSIONS or any(isinstance(size, bool) or size < 0 for size in shape):
        raise ValueError(f"its shape is {shape}")
    cells = 1
    for size in shape:
        cells *= size
    rest = content[stream.tell() :]
    if len(rest) != cells * dtype.itemsize:
        raise ValueError(f"it has {len(rest)} bytes for {cells} numbers")
    return np.frombuffer(bytearray(rest), dtype=found).astype(dtype, copy=False).reshape(shape)

"""A run that can be killed: what it needs to go on is kept in a file, which is always whole."""

from __future__ import annotations

import hashlib
import json
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import OptionError
from credo.io.atomic import replacing

SHARE = 0.05  # of the time that saving may take


@dataclass(slots=True)
class Checkpoint:
    """Where a run is kept. `fingerprint` says which run it is: another one may not go on from it."""

    path: Path
    fingerprint: str
    due: float = field(default=0.0)  # when the next save is worth its time

    def save(self, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], force: bool = False) -> None:
        """Replace the file, unless the last time was just now."""
        started = time.monotonic()
        if started < self.due and not force:
            return
        text = json.dumps({"fingerprint": self.fingerprint, **state})
        with replacing(self.path, ".npz") as draft:
            np.savez(draft, allow_pickle=False, state=np.array(text), **dict(arrays))
        now = time.monotonic()
        self.due = now + (now - started) / SHARE

    def load(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """What was saved last; nothing where there is no file yet."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            state = json.loads(str(arrays.pop("state")))
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile):
            raise OptionError(f"{self.path} is no checkpoint. Remove it, or choose another file.") from None
        if state.pop("fingerprint", None) != self.fingerprint:
            raise OptionError(
                f"The checkpoint {self.path} belongs to another run: the network, the data or an option differ. "
                "Remove it, or choose another file."
            )
        return state, arrays


def fingerprint(*parts: Any) -> str:
    """One text for arrays, texts and numbers: the same where all of them are."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(repr((part.shape, part.dtype.str)).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()

"""What went wrong with one input: a failure as data, its signature, and a smaller input that fails in the same way."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from credo.errors import CredoError
from fuzz.kind import Input, Kind, smaller, to_bytes


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that broke a promise."""

    number: int
    signature: str  # equal for failures that most likely have one cause
    details: str  # the traceback, or what the watchdog saw
    content: bytes  # the input, reduced if that was cheap


def run_input(kind: Kind, given: Input, folder: Path) -> str:
    """The word for what happened; a `CredoError` is one of the ways in which an input may end."""
    try:
        return kind.check(given, folder)
    except CredoError as error:
        return type(error).__name__


def failure_of(error: BaseException, number: int, given: Input) -> Failure:
    """The failure that an exception is."""
    return Failure(number, signature_of(error), "".join(traceback.format_exception(error)), to_bytes(given))


def signature_of(error: BaseException) -> str:
    """The type of an exception and the deepest place in credo that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "/credo/" in frame.filename] or list(frames)
    place = f" in {Path(inside[-1].filename).stem}.{inside[-1].name}" if inside else ""
    claim = f": {error}" if type(error) is AssertionError and str(error) else ""
    return f"{type(error).__name__}{claim.partition(';')[0][:80]}{place}"


def reduced(kind: Kind, given: Input, signature: str, folder: Path, seconds: float) -> Input:
    """The smallest input with the same signature that is found in this time."""
    deadline = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for candidate in smaller(given):
            if time.monotonic() > deadline:
                return given
            try:
                run_input(kind, candidate, folder)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                if signature_of(error) == signature and len(to_bytes(candidate)) < len(to_bytes(given)):
                    given, found = candidate, True
                    break
    return given


def save(failure: Failure, kind: Kind, seed: int, folder: Path) -> Path:
    """Keep the input and what happened, as two files; the path of the input."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{kind.name}-{seed}-{failure.number}-{sha256(failure.signature.encode()).hexdigest()[:6]}"
    path = folder / f"{name}{kind.ending}"
    path.write_bytes(failure.content)
    again = f"python -m fuzz {kind.name} --replay {path}\n"
    (folder / f"{name}.txt").write_text(f"{failure.signature}\n{again}\n{failure.details}", encoding="utf-8")
    return path

"""A kind whose inputs fail, hang, crash and eat memory, to test the harness with."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path
from random import Random

from fuzz.kind import Input, Kind


def make(choose: Random) -> Input:
    return choose.choice((b"good", b"good", b"xx fail xx", b"hang", b"wait", b"crash", b"memory"))


def check(given: Input, folder: Path) -> str:
    if b"fail" in given:
        raise RuntimeError("this is what the harness is for")
    if given == b"hang":
        while True:
            pass
    if given == b"wait":
        time.sleep(600)
    if given == b"crash":
        ctypes.string_at(0)
    if given == b"memory":
        bytearray(8 * 2**30)
    return "good"


BAD = Kind("bad", make, check, ".bin", seconds=1.0, megabytes=512)

"""The command `credo`, called in this process: starting another one takes longer than most commands."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest import mock

from credo.cli import app as cli


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit status and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, folder: Path | None = None) -> Done:
    """Run `credo` with these arguments in a folder."""
    out, errors = (TextIOWrapper(BytesIO(), encoding="utf-8", newline="", write_through=True) for _ in range(2))
    with (
        _in_folder(folder),
        mock.patch.object(sys, "argv", ["credo", *map(str, arguments)]),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", errors),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            cli.main()
            code: object = 0
        except SystemExit as end:
            code = 0 if end.code is None else end.code
        except Exception:  # as Python itself ends
            traceback.print_exc()
            code = 1
    assert isinstance(code, int)
    return Done(code, _text(out), _text(errors))


@contextmanager
def _in_folder(folder: Path | None) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(before if folder is None else folder)
    try:
        yield
    finally:
        os.chdir(before)


def _text(stream: TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, BytesIO)
    return raw.getvalue().decode("utf-8", "backslashreplace")

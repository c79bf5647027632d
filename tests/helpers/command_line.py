"""The command `credo`, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `credo` with these arguments in a folder; the result holds the exit status and what was printed."""
    command = [sys.executable, "-m", "credo", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)

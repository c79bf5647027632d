"""A tolerance that several parts share has one home."""

from __future__ import annotations

import re
from pathlib import Path

import credo


def test_an_equality_has_one_width() -> None:
    root = Path(str(credo.__file__)).parent
    homes = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"^EQUALITY_\w+\s*(?::[^=]+)?=", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    assert homes == {"tolerances.py"}

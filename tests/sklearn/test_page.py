"""The code on the page about the classifier runs."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "classifier.md"


def test_the_code_about_the_classifier_runs() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, PAGE.name, "exec"), {})
    assert "attack=yes" in printed.getvalue()

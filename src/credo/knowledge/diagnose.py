"""From a parser's refusal to a kind of mistake."""

from __future__ import annotations

from typing import Any

from credo.knowledge.mistakes import Fault


def diagnose(error: Any, line: str) -> Fault:
    """The fault at the place where the parser stopped."""
    position = getattr(error, "pos_in_stream", None)
    column = (position if position is not None and position >= 0 else len(line.rstrip())) + 1
    return Fault("unexpected", column, column + 1, {"expectation": ""})

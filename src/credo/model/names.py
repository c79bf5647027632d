"""What names are held to, wherever they come from."""

from __future__ import annotations

from collections.abc import Sequence


def first_duplicate(names: Sequence[str]) -> str | None:
    """The first name that stands twice in a list, if one does."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None

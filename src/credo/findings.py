"""What a user would want to know about a result, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a user would want to be told, with the rows of the table that it is about."""

    kind: str
    message: str
    variable: str | None = None
    configurations: tuple[Mapping[str, str], ...] = field(default=(), repr=False)  # parents' states, by name

    def __str__(self) -> str:
        named = "; ".join(", ".join(f"{parent}={state}" for parent, state in c.items()) for c in self.configurations)
        return f"{self.message} {named}." if named else self.message

"""What a user would want to know about a result, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a user should know about a result. As text it is a sentence.

    Attributes
    ----------
    kind
        What it is about, in a few words, such as "no data".
    message
        The sentence, without the configurations.
    variable
        The variable that it is about, if there is one.
    configurations
        The configurations of its parents that it is about: the state of each parent, by name.
    """

    kind: str
    message: str
    variable: str | None = None
    configurations: tuple[Mapping[str, str], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        named = "; ".join(", ".join(f"{parent}={state}" for parent, state in c.items()) for c in self.configurations)
        return f"{self.message} {named}." if named else self.message

"""What a user would want to know about a result, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

NAMED = 20  # configurations that the text names; all of them are in the data


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
        The configurations of its parents that it is about: the state of each parent, by name. The text names the
        first 20.
    """

    kind: str
    message: str
    variable: str | None = None
    configurations: Sequence[Mapping[str, str]] = field(default=(), repr=False)

    def __str__(self) -> str:
        some = self.configurations[:NAMED]
        named = "; ".join(", ".join(f"{parent}={state}" for parent, state in one.items()) for one in some)
        more = len(self.configurations) - len(some)
        rest = f"; and {more:,} more" if more else ""
        return f"{self.message} {named}{rest}." if named else self.message

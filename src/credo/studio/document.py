"""The text that several tabs edit at once: numbered changes, as CodeMirror's collab extension sends them.

A change that was made to an older version is refused with the changes since then; the tab that made it moves it over
them and sends it again, so that no tab loses what another one wrote. Changes that come again are made once: a tab that
closes sends all that was not answered, and two requests may arrive in either order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from credo.errors import CredoError

MOST_BYTES = 10_000_000  # of the text, as for a knowledge file
MOST_KEPT = 2_000  # changes; a tab that is further behind loads the text again


class StaleChangeError(CredoError, ValueError):
    """A change was made to an older version of the text."""


class ChangeError(CredoError, ValueError):
    """A change does not fit the text, or is not a change at all."""


@dataclass(slots=True)
class Document:
    """A text with the changes that led to it.

    Attributes
    ----------
    text
        The text; lines end in a line feed.
    first
        The version before the first change that is kept.
    updates
        The changes since then, as the tabs sent them: `{"clientID": …, "changes": …}`.
    """

    text: str
    first: int = 0
    updates: list[dict[str, Any]] = field(default_factory=list)

    @property
    def version(self) -> int:
        """How many changes there were."""
        return self.first + len(self.updates)

    def since(self, version: int) -> list[dict[str, Any]]:
        """The changes after a version."""
        if not self.first <= version <= self.version:
            raise StaleChangeError("This tab is too far behind: load the page again.")
        return self.updates[version - self.first :]

    def not_yet_made(self, version: int, updates: Sequence[Any]) -> Sequence[Any]:
        """Those of the changes to a version of the text that did not arrive before, which come last."""
        if version >= self.version or version < self.first:
            return updates
        made = self.since(version)[: len(updates)]
        return updates[len(made) :] if made == [_kept(update) for update in updates[: len(made)]] else updates

    def changed(self, version: int, updates: Sequence[Any]) -> str:
        """The text with changes that were made to this version of it; an error where they were not, or fit nothing."""
        if version != self.version:
            raise StaleChangeError("Another tab changed the text.")
        text = self.text
        for update in updates:
            if not isinstance(update, dict) or not isinstance(update.get("clientID"), str):
                raise ChangeError("A change has no author.")
            text = changed(text, update.get("changes"))
        if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
            raise ChangeError(f"The text would be longer than {MOST_BYTES:,} bytes.")
        return text

    def change(self, version: int, updates: Sequence[Any]) -> None:
        """Make changes that were made to this version of the text: all of them or none."""
        self.text = self.changed(version, updates)
        self.updates += map(_kept, updates)
        if len(self.updates) > MOST_KEPT:
            dropped = len(self.updates) - MOST_KEPT
            self.first += dropped
            del self.updates[:dropped]


def _kept(update: Any) -> Any:
    """What is kept of a change."""
    return {name: update.get(name) for name in ("clientID", "changes")} if isinstance(update, dict) else update


def changed(text: str, changes: Any) -> str:
    """A text with the changes of one CodeMirror `ChangeSet` as JSON.

    Its parts go through the text from the start: a number keeps that many characters; a list replaces as many as its
    first element says by the lines that follow. Characters are UTF-16 code units, as in JavaScript.
    """
    if not isinstance(changes, list):
        raise ChangeError("A change is a list.")
    units = text.encode("utf-16-le", "surrogatepass")
    place, parts = 0, []
    for part in changes:
        if _is_length(part):
            parts.append(units[2 * place : 2 * (place + part)])
            place += part
        elif isinstance(part, list) and part and _is_length(part[0]) and all(isinstance(x, str) for x in part[1:]):
            parts.append("\n".join(part[1:]).encode("utf-16-le", "surrogatepass"))
            place += part[0]
        else:
            raise ChangeError("A part of a change is a length, or a list of a length and lines.")
    if 2 * place != len(units):
        raise ChangeError("The change is of a text of another length.")
    return b"".join(parts).decode("utf-16-le", "surrogatepass")


def replacing_change(old: str, new: str) -> list[Any]:
    """The change that makes one text of another: what both begin and end with stays."""
    most = min(len(old), len(new))
    head = next((place for place in range(most) if old[place] != new[place]), most)
    tail = next((place for place in range(most - head) if old[-1 - place] != new[-1 - place]), most - head)
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    parts: list[Any] = [
        utf16_length(old[:head]),
        [utf16_length(removed), *added.split("\n")],
        utf16_length(old[len(old) - tail :]),
    ]
    return [part for part in parts if part != 0]


def utf16_length(text: str) -> int:
    """The length of a text as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _is_length(part: Any) -> bool:
    return isinstance(part, int) and not isinstance(part, bool) and part >= 0

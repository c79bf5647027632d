"""Text on its way to a terminal or a page: nothing in it is a command to them, and every encoding can show it.

Names, statements and paths come from files. A control character in one could move the cursor, change what was printed
before, or set the title of the window; here it becomes visible, such as `\\x1b`. A page may not hold most of them, and
one that reverses what follows could make it say something else. Square brackets in them are text, too, not markup for
rich.
"""

from __future__ import annotations

import html
import os
import re
import shlex
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

# Control characters but tabs and line ends; marks that reverse the direction of what follows; halves of characters.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
# What credo itself prints beyond ASCII, for terminals that cannot.
_PLAIN = str.maketrans(
    {
        "≈": "~", "≤": "<=", "≥": ">=", "≠": "!=", "×": "x", "−": "-", "–": "-", "—": "-", "…": "...", "•": "*",
        "“": '"', "”": '"', "‘": "'", "’": "'", "→": "->", "·": "*", "∞": "inf",
    }
)  # fmt: skip


def printable(text: str) -> str:
    """The text with every character that a terminal would obey written out: `\\x1b`, `\\u202e`."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def escape(text: str) -> str:
    """The text for an HTML page, between tags or in the quotes of an attribute."""
    return html.escape(printable(text))


def printable_json(text: str) -> str:
    """JSON that means the same, with every character that a terminal would obey as an escape of JSON: `\\u001b`."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def encodable(text: str, encoding: str | None) -> str:
    """The text with what an encoding does not have replaced: `≈` by `~`, other characters by their numbers."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        return "".join(_encodable_character(character, encoding) for character in text)
    except LookupError:
        return text


def _encodable_character(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
        return character
    except UnicodeEncodeError:
        plain = character.translate(_PLAIN)
        return plain if plain.isascii() else character.encode("ascii", "backslashreplace").decode("ascii")


def say(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    """Print text that may hold anything; on the output stream if no other is given."""
    stream = sys.stdout if stream is None else stream
    if stream is None:  # a process without streams, as under pythonw
        return
    stream.write(encodable(printable(text), getattr(stream, "encoding", None)) + end)
    stream.flush()


def never_fail_to_print() -> None:
    """Let the streams of this process write the number of a character that their encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Give up on an output stream that cannot be written, so that Python does not try again when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def for_shell(text: str) -> str:
    """An argument as it is typed in a shell: in quotes where it has to be."""
    if re.fullmatch(r"[\w./:\\-]+", text):
        return text
    return shlex.quote(text) if re.search(r'["$`\\!]', text) else f'"{text}"'  # the latter on Windows, too


def console(**options: Any) -> Console:
    """A console of rich to which square brackets, `:names:` and control characters are text."""
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                if segment.control:
                    yield segment
                else:
                    yield Segment(encodable(printable(segment.text), self.encoding), segment.style)

    return SafeConsole(**{"highlight": False, "markup": False, "emoji": False, **options})

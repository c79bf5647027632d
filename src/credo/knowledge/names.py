"""Names in text: which ones stand bare, how the others are quoted, and how quotes are read back."""

from __future__ import annotations

import re

from credo.knowledge.mistakes import Fault

# Words of the grammar: as names they are written in quotes, so that nobody has to think about which is meant.
KEYWORDS = frozenset(
    ("p", "and", "by", "differ", "in", "is", "lowers", "of", "on", "order", "raises", "rows", "share", "with", "within")
)

_BARE_NAME = re.compile(r"[^\W\d]\w*(?:[.\-/]\w+)*")
_BARE_LABEL = re.compile(r"\w+(?:[.\-/]\w+)*\+?|-[0-9]+(?:\.[0-9]+)?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_CODE = re.compile(r"""(?:[^"'#]|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|'(?:[^'\\]|\\.)*(?:'|\\?\Z))*""")


def without_comment(line: str) -> str:
    """The line up to its comment; a # in quotes begins none, and a quote that is never closed goes on to the end."""
    return line if "#" not in line else _CODE.match(line)[0]  # type: ignore[index]


def written_name(name: str) -> str:
    """The name of a variable or a column as text: bare where that is clear, else in quotes."""
    return name if _BARE_NAME.fullmatch(name) and name.lower() not in KEYWORDS else quoted(name)


def written_label(label: str) -> str:
    """A state as text: like a name, but it may begin with a digit or a sign."""
    return label if _BARE_LABEL.fullmatch(label) and label.lower() not in KEYWORDS else quoted(label)


def quoted(name: str) -> str:
    """The name in quotes, with everything escaped that has no place on one line."""
    return '"' + "".join(_ESCAPES.get(mark) or _escaped(mark) for mark in name) + '"'


def unquoted(text: str) -> str:
    """The name that stands in quotes."""
    return _ESCAPE.sub(lambda match: _meaning(match[1]) or match[0], text[1:-1]) if "\\" in text else text[1:-1]


def quote_faults(text: str, column: int) -> tuple[Fault, ...]:
    """Escapes in a text that mean nothing; the text stands at `column`."""
    if "\\" not in text:
        return ()
    return tuple(
        Fault("unknown-escape", column + escape.start(), column + escape.end())
        for escape in _ESCAPE.finditer(text)
        if _meaning(escape[1]) is None
    )


def _meaning(escape: str) -> str | None:
    if len(escape) == 1:
        return _ESCAPED.get(escape)
    code = int(escape[1:], 16)
    return chr(code) if code < 0x110000 else None


def _escaped(mark: str) -> str:
    if mark.isprintable():
        return mark
    return f"\\u{ord(mark):04x}" if ord(mark) < 0x10000 else f"\\U{ord(mark):08x}"

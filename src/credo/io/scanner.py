"""Words and numbers of text formats: names, symbols and comments, and the line on which each is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import NoReturn

import numpy as np

from credo.errors import FormatError, NetworkError
from credo.types import Numbers

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")

# Quantifiers are possessive (`*+`) so that no text, however broken, makes a match slow.
QUOTED = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"'
BARE = r'(?:[^\s,;|(){}\[\]"/]|/(?![/*]))++'

_WORD = re.compile(rf"{QUOTED}|{BARE}")
_NEXT_WORD = re.compile(rf"\s*+({_WORD.pattern})")
_BLANKS = re.compile(r"\s++")
_PROPERTY_END = re.compile(r'(?:"[^"\r\n]*+"|[^;])*+;')
# A comment sign inside a quoted name or a property is text; both come first, so that they are skipped.
_COMMENT = re.compile(
    rf"{QUOTED}|(?<![^\s;{{}}])property\s{_PROPERTY_END.pattern}|(//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+)"
)
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\nrt]))')
# This reader recognises them by their place, but others fail on `network network {`.
_KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "table", "default"}
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(slots=True)
class Scanner:
    """A position in a text that moves forward; unexpected input becomes a `FormatError` with its line."""

    text: str
    path: str | None = None
    position: int = 0

    def __post_init__(self) -> None:
        if "//" in self.text or "/*" in self.text:
            self.text = _COMMENT.sub(self._blank_out, self.text)

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        """Raise a `FormatError` about this position, or about another one."""
        at = self.position if position is None else position
        raise FormatError(message, self.path, self.text.count("\n", 0, at) + 1)

    def skip_blanks(self) -> int:
        """Go to the next word or symbol; its position."""
        if self.text[self.position : self.position + 1].isspace():
            match = _BLANKS.match(self.text, self.position)
            assert match is not None
            self.position = match.end()
        return self.position

    def next_symbol(self) -> str:
        """The next character that is not blank, or an empty text at the end; the position stays before it."""
        return self.text[self.skip_blanks() : self.position + 1]

    def take(self, symbol: str) -> bool:
        """Skip a symbol if it comes next; whether it did."""
        if self.next_symbol() != symbol:
            return False
        self.position += 1
        return True

    def expect(self, symbol: str, place: str) -> None:
        """Skip a symbol that has to come next."""
        if not self.take(symbol):
            self.fail(f"Expected `{symbol}` {place}, not {self.found()}.")

    def word(self, what: str) -> str:
        """The next name, without its quotes; `what` describes it for a message."""
        match = _NEXT_WORD.match(self.text, self.position)
        if match is None:
            if self.next_symbol() == '"':
                self.fail(f"Expected {what}; this quoted name is not closed on its line.")
            self.fail(f"Expected {what}, not {self.found()}.")
        self.position = match.end()
        return unquoted(match[1])

    def skip_property(self) -> None:
        """Skip the rest of a property, which ends with `;`."""
        match = _PROPERTY_END.match(self.text, self.position)
        if match is None:
            self.fail("This property has no `;` at its end.")
        self.position = match.end()

    def found(self) -> str:
        """What is at this position, for a message."""
        self.skip_blanks()
        if self.position >= len(self.text):
            return "the end of the file (is it cut off?)"
        match = _WORD.match(self.text, self.position)
        return f"`{match.group()[:40]}`" if match else f"`{self.text[self.position]}`"

    def _blank_out(self, match: re.Match[str]) -> str:
        comment = match.group(1)
        if comment is None:
            return match.group()
        if comment.startswith("/*") and (len(comment) < 4 or not comment.endswith("*/")):
            self.fail("This comment is not closed with `*/`.", match.start(1))
        return re.sub(r"[^\n]", " ", comment)  # the length stays, so that positions still give the line


def words(text: str) -> list[str]:
    """All names in a piece of text."""
    return [unquoted(word) for word in _WORD.findall(text)]


def unquoted(word: str) -> str:
    r"""A name without quotes, with `\"`, `\\`, `\n`, `\r`, `\t` and `\u00e9` resolved."""
    if not word.startswith('"'):
        return word
    inner = word[1:-1]
    return _ESCAPE.sub(_resolved, inner) if "\\" in inner else inner


def _resolved(match: re.Match[str]) -> str:
    code, character = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(character, character)


def quoted(name: str) -> str:
    """A name as a file can hold it: bare where that is safe, else in quotes with escapes."""
    if re.fullmatch(BARE, name) and name.isprintable() and name not in _KEYWORDS:
        return name
    return '"' + "".join(map(_escaped, name)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    # Line ends, control characters and lone surrogates. Other unprintable characters lie beyond the four digits of an
    # escape, and are harmless as they are.
    if not character.isprintable() and ord(character) <= 0xFFFF and character != " ":
        return f"\\u{ord(character):04x}"
    return character


def numbers_of(text: str, shape: tuple[int, ...], what: str) -> Numbers:
    """Numbers separated by blanks, as an array of this shape."""
    found = text.split()
    if len(found) != prod(shape):
        raise NetworkError(f"{what} has {len(found)} numbers; it needs {prod(shape)}.")
    for word in found:
        if not NUMBER.fullmatch(word):
            raise NetworkError(f"{what} has `{word[:40]}` where a number is expected.")
    return np.array([float(word) for word in found]).reshape(shape)


def number_text(values: Numbers) -> str:
    """The numbers of an array, each as the shortest text that reads back as the same float."""
    return " ".join(map(repr, values.ravel().tolist()))

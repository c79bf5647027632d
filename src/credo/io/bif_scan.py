"""The words of BIF: names, symbols and comments, and the line on which each stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from credo.errors import FormatError

# Quantifiers are possessive (`*+`) so that no text, however broken, makes a match slow.
QUOTED = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"'
BARE = r'(?:[^\s,;|(){}\[\]"/]|/(?![/*]))++'

_WORD = re.compile(rf"{QUOTED}|{BARE}")
_NEXT_WORD = re.compile(rf"\s*+({_WORD.pattern})")
_BLANKS = re.compile(r"\s++")
_PROPERTY_END = re.compile(r'(?:"[^"\r\n]*+"|[^;])*+;')
# A comment sign inside a quoted name or a property is text; both come first, so that they are stepped over.
_COMMENT = re.compile(
    rf"{QUOTED}|(?<![^\s;{{}}])property\s{_PROPERTY_END.pattern}|(//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+)"
)
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\nrt]))')
# This reader knows them by their place, but others stumble over `network network {`.
_KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "table", "default"}
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(slots=True)
class Scanner:
    """A place in a text that moves forward; whatever is not as expected becomes a `FormatError` with its line."""

    text: str
    path: str | None = None
    position: int = 0

    def __post_init__(self) -> None:
        if "//" in self.text or "/*" in self.text:
            self.text = _COMMENT.sub(self._blank_out, self.text)

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        """Stop with a message about this place, or about another one."""
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
        """The next character that is not blank; empty at the end. It is not taken."""
        return self.text[self.skip_blanks() : self.position + 1]

    def take(self, symbol: str) -> bool:
        """Step over a symbol if it comes next."""
        if self.next_symbol() != symbol:
            return False
        self.position += 1
        return True

    def expect(self, symbol: str, place: str) -> None:
        """Step over a symbol that has to come next."""
        if not self.take(symbol):
            self.fail(f"Expected `{symbol}` {place}, not {self.found()}.")

    def word(self, what: str) -> str:
        """The next name, without its quotes."""
        match = _NEXT_WORD.match(self.text, self.position)
        if match is None:
            if self.next_symbol() == '"':
                self.fail(f"Expected {what}; this quoted name is not closed on its line.")
            self.fail(f"Expected {what}, not {self.found()}.")
        self.position = match.end()
        return unquoted(match[1])

    def skip_property(self) -> None:
        """Step over the rest of a property, which ends with `;`."""
        match = _PROPERTY_END.match(self.text, self.position)
        if match is None:
            self.fail("This property has no `;` at its end.")
        self.position = match.end()

    def found(self) -> str:
        """What stands here, for a message."""
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
        return re.sub(r"[^\n]", " ", comment)  # as long as before, so that positions still give the line


def words(text: str) -> list[str]:
    """All names in a piece of text."""
    return [unquoted(word) for word in _WORD.findall(text)]


def unquoted(word: str) -> str:
    r"""A name as it is meant: without quotes, with `\"`, `\\`, `\n`, `\r`, `\t` and `\u00e9` resolved."""
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
    # Line ends, control characters and lone surrogates; none of them lies beyond the four digits of an escape
    # except some that are harmless as they are.
    if not character.isprintable() and ord(character) <= 0xFFFF and character != " ":
        return f"\\u{ord(character):04x}"
    return character

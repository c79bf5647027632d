"""Words of text formats: names, symbols and comments, and the line on which each is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from credo.errors import FormatError
from credo.io.printed_numbers import NUMBER

# Quantifiers are possessive (`*+`) so that no text, however broken, makes a match slow.
QUOTED = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"'
BARE = r'(?:[^\s,;|(){}\[\]"/]|/(?![/*]))++'

_OPEN = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"?+'  # the same, perhaps not closed
_PROPERTY = r'(?:"[^"\r\n]*+"|[^;])*+'
_BLANKS = re.compile(r"\s++")
_PROPERTY_END = re.compile(rf"{_PROPERTY};")
_PIECE = re.compile(r'(?:"(?:[^"\\]++|\\.)*+"|[^"(){};]++)*+', re.DOTALL)
_SLASHES = r"(//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+)"


@dataclass(frozen=True, slots=True)
class Syntax:
    """What a name and a comment are in a format.

    `word` matches a name, which is its group 1, and blanks before it; `words` matches names with at most a comma
    between them. `comment` matches text that may hold the sign of a comment too, a quoted name say, whether it is
    closed or not: it never looks at a character twice. Its group 1 is a comment.
    """

    word: re.Pattern[str]
    words: re.Pattern[str]
    comment: re.Pattern[str]
    comment_signs: tuple[str, ...]

    @classmethod
    def of(cls, name: str, comment: str, signs: tuple[str, ...]) -> Syntax:
        """The syntax with this pattern of a name and this one of a comment."""
        word, words = rf"\s*+({name})", rf"(?:\s*+(?:{name})\s*+,?+)*+"
        return cls(re.compile(word), re.compile(words), re.compile(comment), signs)


# A comment sign inside a quoted name or a property is text; both come first, so that they are skipped.
BIF = Syntax.of(rf"{QUOTED}|{BARE}", rf"{_OPEN}|(?<![^\s;{{}}])property\s{_PROPERTY};?+|{_SLASHES}", ("//", "/*"))
NET = Syntax.of(rf'{QUOTED}|[^\s(){{}}=;|"%,]++', rf"{_OPEN}|(%[^\r\n]*+)", ("%",))
UAI = Syntax.of(r"\S++", r"(?!)", ())
DSL = Syntax.of(rf'{QUOTED}|(?:[^\s(){{}}=;,"/]|/(?![/*]))++', rf"{_OPEN}|{_SLASHES}", ("//", "/*"))
# Comments and titles of Netica run over several lines.
NETICA = Syntax.of(rf'{QUOTED}|(?:[^\s(){{}}=;,"/]|/(?![/*]))++', rf'"(?s:[^"\\]|\\.)*+"?+|{_SLASHES}', ("//", "/*"))

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\nrt]))')
# This reader recognises them by their place, but others fail on `network network {`.
_KEYWORDS = {"network", "variable", "probability", "property", "type", "discrete", "table", "default"}
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(slots=True)
class Scanner:
    """A position in a text that moves forward; unexpected input becomes a `FormatError` with its line."""

    text: str
    path: str | None = None
    syntax: Syntax = BIF
    position: int = 0

    def __post_init__(self) -> None:
        if any(sign in self.text for sign in self.syntax.comment_signs):
            self.text = self.syntax.comment.sub(self._blank_out, self.text)

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
        if not self.text.startswith(symbol, self.skip_blanks()):
            return False
        self.position += 1
        return True

    def expect(self, symbol: str, place: str) -> None:
        """Skip a symbol that has to come next."""
        if not self.take(symbol):
            self.fail(f"Expected `{symbol}` {place}, not {self.found()}.")

    def word(self, what: str) -> str:
        """The next name, without its quotes; `what` describes it for a message."""
        match = self.syntax.word.match(self.text, self.position)
        if match is None:
            if self.next_symbol() == '"':
                self.fail(f"Expected {what}; this quoted name is not closed on its line.")
            self.fail(f"Expected {what}, not {self.found()}.")
        self.position = match.end()
        return unquoted(match[1])

    def words_until(self, closing: str, what: str) -> list[str]:
        """The names before a closing symbol, which is skipped; commas between them may be left out."""
        match = self.syntax.words.match(self.text, self.position)
        assert match is not None
        self.position = match.end()
        if not self.take(closing):
            self.word(f"{what} or `{closing}`")  # fails: another name would have been matched
        return [unquoted(name) for name in self.syntax.word.findall(match.group())]

    def skip_property(self) -> str:
        """Skip the rest of a property, which ends with `;`; what was skipped."""
        match = _PROPERTY_END.match(self.text, self.position)
        if match is None:
            self.fail("This property has no `;` at its end.")
        self.position = match.end()
        return match.group()[:-1]

    def skip_value(self, what: str) -> str:
        """Skip a value with all that is in its brackets, and the `;` behind it; what was skipped."""
        start, depth = self.skip_blanks(), 0
        while True:
            match = _PIECE.match(self.text, self.position)
            assert match is not None
            self.position = match.end()
            match self.text[self.position : self.position + 1]:
                case "(" | "{":
                    depth += 1
                case ")" | "}" if depth:
                    depth -= 1
                case ";" if not depth:
                    self.position += 1
                    return self.text[start : self.position - 1]
                case ";":
                    pass
                case _:
                    self.fail(f"The value of {what} has no `;` at its end.", start)
            self.position += 1

    def attributes(self, what: str, once: Sequence[str] = (), seen: set[str] | None = None) -> Iterator[str]:
        """The names of the attributes in a block; after each the scanner is at its value.

        Those of `once` may stand there once at most; `seen` gets all of them.
        """
        seen = set() if seen is None else seen
        self.expect("{", f"before the attributes of {what}")
        while not self.take("}"):
            start = self.skip_blanks()
            attribute = self.word(f"an attribute of {what} or `}}`")
            self.expect("=", f"after the attribute {attribute[:40]}")
            if attribute in seen and attribute in once:
                self.fail(f"A second {attribute} of {what}.", start)
            seen.add(attribute)
            yield attribute

    def found(self) -> str:
        """What is at this position, for a message."""
        self.skip_blanks()
        if self.position >= len(self.text):
            return "the end of the file (is it cut off?)"
        match = self.syntax.word.match(self.text, self.position)
        return f"`{match[1][:40]}`" if match else f"`{self.text[self.position]}`"

    def _blank_out(self, match: re.Match[str]) -> str:
        comment = match.group(1)
        if comment is None:
            return match.group()
        if comment.startswith("/*") and (len(comment) < 4 or not comment.endswith("*/")):
            self.fail("This comment is not closed with `*/`.", match.start(1))
        return re.sub(r"[^\n]", " ", comment)  # the length stays, so that positions still give the line


def take_numbers(scanner: Scanner, pattern: re.Pattern[str], what: str) -> str:
    """The text of a list of numbers in brackets, which `pattern` matches with the list as group 1."""
    match = pattern.match(scanner.text, scanner.position)
    if match is None:
        _explain_numbers(scanner, what)
    scanner.position = match.end()
    return match[1]


def _explain_numbers(scanner: Scanner, what: str) -> NoReturn:
    """Raise the error for a value that is not a list of numbers in brackets."""
    start = scanner.skip_blanks()
    value = scanner.skip_value(what)
    for word in re.finditer(r"[^\s(),]+", value):
        if not NUMBER.fullmatch(word.group()):
            scanner.fail(f"Expected a number in {what}, not `{word.group()[:40]}`.", start + word.start())
    scanner.fail(f"Expected a list of numbers in brackets for {what}.", start)


def words(text: str) -> list[str]:
    """All names in a piece of text."""
    return [unquoted(word) for word in BIF.word.findall(text)]


def unquoted(word: str) -> str:
    r"""A name without quotes, with `\"`, `\\`, `\n`, `\r`, `\t` and `\u00e9` resolved."""
    if not word.startswith('"'):
        return word
    inner = word[1:-1]
    return _ESCAPE.sub(_resolved, inner) if "\\" in inner else inner


def _resolved(match: re.Match[str]) -> str:
    code, character = match.groups()
    return chr(int(code, 16)) if code else _ESCAPED.get(character, character)


def in_quotes(text: str) -> str:
    """A text in quotes, as DSL and NET have it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


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

"""Mistakes in knowledge: their kinds are data in `mistakes.toml`, from which messages and tests are made."""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from credo.errors import CredoError, counted

SHOWN = 20  # mistakes that one message spells out; nobody corrects more at once
MAX_MISTAKES = 1_000  # knowledge with more mistakes is about another network, or no knowledge: reading stops
WINDOW = 100  # characters of a long line that are shown around the caret
INDENT = "    "
# Names in the examples of messages: a text has its own in their place, where its network is known.
EXAMPLES = {
    "event": "lung=yes",
    "given": "smoke=yes",
    "child": "lung",
    "parent": "smoke",
    "family": "attack is noisy-or of {chol, bp}, {age}",
}
PYTHON = "written in Python"  # the source of statements that were built by Python calls


class LineMistake(NamedTuple):
    """A mistake within a line: its kind, its columns (from 1, the end excluded), and the facts of its message."""

    kind: str
    column: int
    end_column: int
    facts: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing to correct: its place, what is wrong, what was expected, and what to write instead.

    Attributes
    ----------
    kind : str
        The key of the mistake in `mistakes.toml`, such as `unknown-variable`.
    line, column, end_column : int
        Its place, counted from 1; the end is not included. `line` is 0 for statements built in Python.
    message, expected, suggestion : str
        What is wrong, what was expected instead, and what to do.
    text : str
        The line of the user.
    source : str
        The name of the file; empty for text.
    write : str
        The line to write instead; empty where nobody can see what was meant.

    Examples
    --------
    >>> import credo
    >>> network = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})
    >>> try:
    ...     credo.Knowledge(network, "smok raises lung")
    ... except credo.KnowledgeError as error:
    ...     print(error.mistakes[0])
    knowledge:1:1: The network has no variable "smok".
        smok raises lung
        ^^^^
        expected: a variable of the network: smoke, lung
        suggestion: Did you mean "smoke"?
    """

    kind: str
    line: int
    column: int
    end_column: int
    message: str
    expected: str
    suggestion: str
    text: str
    source: str = ""
    write: str = ""

    def __str__(self) -> str:
        return show_mistake(self)


class KnowledgeError(CredoError, ValueError):
    """The knowledge has mistakes.

    Attributes
    ----------
    mistakes : tuple of Mistake
        Every mistake that was found, in the order of the file.

    Examples
    --------
    >>> import credo
    >>> network = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})
    >>> try:
    ...     credo.Knowledge(network, "smok raises lung")
    ... except credo.KnowledgeError as error:
    ...     print(error.mistakes[0].suggestion)
    Did you mean "smoke"?
    """

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(show_mistakes(self.mistakes))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.mistakes,)


class KnowledgeTypeError(KnowledgeError, TypeError):
    """A Python value was used where it has no meaning: arguments in the wrong order, a statement as true or false.

    Examples
    --------
    >>> import credo
    >>> try:
    ...     0.1 <= credo.P("lung=yes") <= 0.3
    ... except credo.knowledge.KnowledgeTypeError as error:
    ...     print(error.mistakes[0].suggestion)
    Write P("lung=yes").between(0.1, high) for a chain such as 0.1 <= P(…) <= 0.3, and two statements instead of and.
    """


class KnowledgeFileError(KnowledgeError, FileNotFoundError):
    """There is no knowledge file of this name.

    Examples
    --------
    >>> import credo
    >>> network = credo.Network({"smoke": ["no", "yes"]})
    >>> try:
    ...     credo.read_knowledge(network, "no_such_file.credo")
    ... except credo.knowledge.KnowledgeFileError as error:
    ...     print(error.mistakes[0].message)
    There is no file no_such_file.credo.
    """


@cache
def kinds() -> Mapping[str, Mapping[str, Any]]:
    """The kinds of mistakes: key → message, expected, suggestion, and the broken examples that the tests run."""
    return tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text(encoding="utf-8"))


def describe(found: LineMistake, line: int, text: str, source: str = "") -> Mistake:
    """The mistake with its message, once its line is known."""
    kind = kinds()[found.kind]
    column = max(1, min(found.column, len(text) + 1))
    end_column = max(column + 1, min(found.end_column, len(text) + 1))
    facts = {**EXAMPLES, "found": text[column - 1 : end_column - 1], **found.facts}
    message, expected, suggestion = (
        kind[part].format_map(facts).strip() for part in ("message", "expected", "suggestion")
    )
    return Mistake(found.kind, line, column, end_column, message, expected, suggestion, text, source)


def python_error(
    kind: str, text: str, *, error: type[KnowledgeError] = KnowledgeError, **facts: object
) -> KnowledgeError:
    """The error about a Python value, shown as `text`."""
    return error([describe(LineMistake(kind, 1, len(text) + 1, facts), 0, text, PYTHON)])


def show_mistakes(mistakes: tuple[Mistake, ...]) -> str:
    """Every mistake, or the first twenty and how many more."""
    blocks = [show_mistake(mistake) for mistake in mistakes[:SHOWN]]
    if len(mistakes) > SHOWN:
        blocks.append(f"… and {counted(len(mistakes) - SHOWN, 'more mistake')}.")
    return "\n\n".join(blocks)


def show_mistake(mistake: Mistake) -> str:
    """The place, what is wrong, the line with a caret under the place, what was expected, what to write."""
    source = mistake.source or "knowledge"
    place = f"{source}:{mistake.line}:{mistake.column}" if mistake.line else source
    parts = [f"{place}: {mistake.message}"]
    if mistake.text:
        line, caret = caret_lines(mistake.text, mistake.column, mistake.end_column)
        parts += [INDENT + line, INDENT + caret]
    parts += [f"{INDENT}expected: {mistake.expected}"] if mistake.expected else []
    parts += [f"{INDENT}suggestion: {mistake.suggestion}"] if mistake.suggestion else []
    return "\n".join(parts)


def caret_lines(text: str, column: int, end_column: int) -> tuple[str, str]:
    """The line and its caret line; carets are aligned under tabs, wide and combining characters too."""
    start, end = column - 1, max(column, end_column - 1)
    first = max(0, start - WINDOW // 2) if len(text) > WINDOW else 0
    last = first + WINDOW
    head, tail = ("…" if first else ""), ("…" if last < len(text) else "")
    shown = head + _visible(text[first:last]) + tail
    before = "".join("\t" if mark == "\t" else " " * _width(mark) for mark in head + text[first:start])
    marked = sum(_width(mark) for mark in text[start : min(end, last)])
    return shown, before + "^" * max(1, marked)


def _visible(text: str) -> str:
    # A control character would move the cursor of a terminal, or worse: its picture is shown in its place.
    return "".join(chr(0x2400 + ord(mark)) if mark < " " and mark != "\t" else mark for mark in _printable(text))


def _printable(text: str) -> str:
    return "".join(
        mark if mark in "\t" or mark < " " or mark.isprintable() or mark == "\u3000" else "�" for mark in text
    )


def _width(mark: str) -> int:
    if unicodedata.combining(mark):
        return 0
    return 2 if unicodedata.east_asian_width(mark) in "WF" else 1

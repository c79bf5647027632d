"""From text to statements: one a line, each with its place; every mistake of the text is collected."""

from __future__ import annotations

import gc
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from credo.knowledge import rules
from credo.knowledge.diagnose import diagnose
from credo.knowledge.mistakes import MAX_MISTAKES, Fault, KnowledgeError, Mistake, describe
from credo.knowledge.names import without_comment
from credo.knowledge.syntax import Probability, Span, Statement

MAX_LINE = 100_000  # characters; a statement that long is a file without line ends
MAX_DEPTH = 50  # brackets inside brackets

_LINE_END = re.compile(r"\r\n|\n|\r")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Reading(NamedTuple):
    """What a text says, and what is wrong with it."""

    statements: tuple[Statement, ...]
    mistakes: tuple[Mistake, ...]


def parse(text: str, source: str = "") -> Reading:
    """Every statement of a text, and every mistake in those that cannot be read."""
    with _collector_paused():
        return _parse(text, source)


def _parse(text: str, source: str) -> Reading:
    statements: list[Statement] = []
    mistakes: list[Mistake] = []
    for number, line in enumerate(_LINE_END.split(text), start=1):
        start = line.lstrip()
        if not start or start[0] == "#":
            found = control_faults(line) if start else ()
            mistakes.extend(describe(fault, number, line, source) for fault in found)
            continue
        statement, faults = parse_line(line, number, source)
        if statement is not None:
            statements.append(statement)
        mistakes.extend(describe(fault, number, line, source) for fault in faults)
        if len(mistakes) >= MAX_MISTAKES:
            mistakes.append(describe(Fault("too-many-mistakes", 1 + len(line), 2 + len(line)), number, line, source))
            break
    return Reading(tuple(statements), tuple(mistakes))


def parse_line(line: str, number: int = 1, source: str = "") -> tuple[Statement | None, tuple[Fault, ...]]:
    """The statement on one line, if it can be read, and its faults."""
    if faults := tuple(line_faults(line)):
        return None, faults
    try:
        parsed = parser().parse(line, start="statement")
    except lark_errors() as error:
        return None, (diagnose(error, line),)
    statement, faults = parsed
    if statement is not None:
        end = len(without_comment(line).rstrip()) + 1
        statement = replace(statement, span=Span(number, 1 + len(line) - len(line.lstrip()), end, line, source))
    return statement, faults


def parse_probability(text: str, source: str = "") -> Probability:
    """The inside of one P(…); used by the Python form."""
    line = "P(" + _LINE_END.sub(" ", text) + ")"
    faults = tuple(line_faults(line))
    part: Any = None
    if not faults:
        try:
            part = parser().parse(line, start="probability")
            faults = part.faults
        except lark_errors() as error:
            faults = (diagnose(error, line),)
    if faults:
        raise KnowledgeError(describe(fault, 0, line, source) for fault in faults)
    found: Probability = part.value.terms[0][1]
    return found


def line_faults(line: str) -> Iterator[Fault]:
    """What keeps a line from being parsed at all: control characters, too long, too deep."""
    if len(line) > MAX_LINE:
        yield Fault("line-too-long", MAX_LINE + 1, len(line) + 1, {"length": len(line), "limit": MAX_LINE})
        return
    yield from control_faults(line)
    if line.count("(") > MAX_DEPTH and (place := _too_deep(line)):
        yield Fault("too-deep", place, place + 1, {"limit": MAX_DEPTH})


def control_faults(line: str) -> Iterator[Fault]:
    """Characters that nobody sees and no statement needs."""
    if not line.isprintable():  # quick, and true of nearly every line
        for match in _CONTROL.finditer(line):
            code = f"U+{ord(match[0]):04X}"
            name = unicodedata.name(match[0], "a control character").lower()
            yield Fault("control-character", match.start() + 1, match.end() + 1, {"code": code, "name": name})


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No garbage collection meanwhile: nearly all that is made stays, and looking through it takes 40% of the time."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def _too_deep(line: str) -> int:
    depth = 0
    for column, mark in enumerate(line, start=1):
        depth += (mark == "(") - (mark == ")")
        if depth > MAX_DEPTH:
            return column
    return 0


@cache
def parser() -> Any:
    """The parser, made on first use and then kept: making it takes as long as parsing two thousand statements."""
    from lark import Lark

    return Lark(
        Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        lexer="contextual",
        start=["statement", "probability"],
        maybe_placeholders=False,
        transformer=rules,
    )


@cache
def lark_errors() -> tuple[type[Exception], ...]:
    """What the parser raises at text that does not follow the grammar."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

    return UnexpectedToken, UnexpectedCharacters, UnexpectedEOF

"""From text to statements, one per line, each with its place; every mistake of the text is collected."""

from __future__ import annotations

import gc
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.util import cache_from_source
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from credo.knowledge import expressions, names, verbal_statements
from credo.knowledge.comparison import complete_comparison
from credo.knowledge.comparison_mistakes import Compared, as_written
from credo.knowledge.declarations import DECLARATIONS, Declaration
from credo.knowledge.evidence import TableHeader, table_header
from credo.knowledge.experts import Expert, Header, header_of, indentation
from credo.knowledge.expressions import Probability
from credo.knowledge.mistakes import MAX_MISTAKES, KnowledgeError, LineMistake, Mistake, describe
from credo.knowledge.names import Part, name_text, quoted, token_part, unquoted, without_comment
from credo.knowledge.statement_base import Modifier, Span
from credo.knowledge.statements import STATEMENTS, Statement

MAX_LINE = 100_000  # characters; a statement that long is a file without line ends
MAX_NAMES = 1_000  # that are sought without quotes in lines that cannot be read
MAX_DEPTH = 50  # brackets inside brackets

_QUOTED = re.compile(r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'""")
_LINE_END = re.compile(r"\r\n|\n|\r")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Parsed(NamedTuple):
    """The statements of a text, the mistakes in it, and its declarations."""

    statements: tuple[Statement, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    declarations: tuple[Declaration, ...] = ()


NOTHING = Parsed()


def parse(text: str, source: str = "", names: Iterable[str] = ()) -> Parsed:
    """Every statement of a text, and every mistake in the lines that cannot be read.

    `names` are those of variables, if they are known: one such as `Age (years)` needs no quotes. Neither does one that
    is in quotes elsewhere in the text.
    """
    with _garbage_collection_paused():
        return _parse(text, source, names)


def _parse(text: str, source: str, names: Iterable[str]) -> Parsed:
    with_quotes: re.Pattern[str] | None = None  # names that need them, made when the first line cannot be read
    statements: list[Statement] = []
    declarations: list[Declaration] = []
    mistakes: list[Mistake] = []
    block: _Block | None = None
    table: TableHeader | None = None
    for number, line in enumerate(_LINE_END.split(text), start=1):
        start = line.lstrip()
        if not start or start[0] == "#":
            found = control_characters(line) if start else ()
            mistakes.extend(describe(mistake, number, line, source) for mistake in found)
            continue
        if table is not None and indentation(line) <= table.indentation:
            table = None
        if (found_table := table_header(line)) is not None:
            table = found_table
            if block is not None and indentation(line) > block.indentation:
                block.is_empty = False
            continue
        if table is not None and (sentence := table.sentence(line)) is not None:
            line = " " * indentation(line) + sentence
            if block is not None:
                statement, wrong = parse_line(line, number, source)
                statement, more = with_expert(block.expert, statement, line)
                statements.extend(() if statement is None else (statement,))  # type: ignore[arg-type]
                mistakes.extend(describe(mistake, number, line, source) for mistake in (*wrong, *more))
                continue
        if block is not None and indentation(line) <= block.indentation:
            mistakes.extend(block.mistakes())
            block = None
        header = header_of(line)
        if block is not None and (misplaced := block.misplaced(line, header)):
            mistakes.append(describe(misplaced, number, line, source))
            continue
        if header is not None and not header.has_statement:
            block = _Block(header.expert, indentation(line), number, line, source)
            mistakes.extend(describe(mistake, number, line, source) for mistake in header.mistakes)
            continue
        statement, wrong = parse_line(line, number, source)
        if wrong and not (statement is None and "(" not in line and " " not in line.strip()):
            with_quotes = with_quotes or _names_that_need_quotes(text, names)
            quoted_line = with_quotes.sub(lambda found: found[1] or quoted(found[0]), line)
            if quoted_line != line:
                second, still_wrong = parse_line(quoted_line, number, source)
                if not still_wrong:
                    statement, wrong, line = second, (), quoted_line
        if header is not None:
            block = _Block(header.expert, indentation(line), number, line, source, is_empty=False)
        elif block is not None:
            block.is_empty = False
            statement, more = with_expert(block.expert, statement, line)
            wrong = (*wrong, *more)
        if type(statement) in DECLARATIONS:
            declarations.append(statement)  # type: ignore[arg-type]
        elif statement is not None:
            statements.append(statement)  # type: ignore[arg-type]
        mistakes.extend(describe(mistake, number, line, source) for mistake in wrong)
        if len(mistakes) >= MAX_MISTAKES:
            end = 1 + len(line)
            mistakes.append(describe(LineMistake("too-many-mistakes", end, end + 1), number, line, source))
            break
    else:
        mistakes.extend(() if block is None else block.mistakes())
    return Parsed(tuple(statements), tuple(mistakes), tuple(declarations))


@dataclass(slots=True)
class _Block:
    """The lines below `expert radiology:` that are indented more, all of them alike.

    Below `expert radiology: smoke raises lung` there are none: it is not empty, and no line is indented more.
    """

    expert: Expert | None
    indentation: int
    number: int
    line: str
    source: str
    is_empty: bool = True
    own: int | None = None  # the indentation of its lines

    def misplaced(self, line: str, header: Header | None) -> LineMistake | None:
        """Why a line cannot belong to the block, although it is indented."""
        column, end = indentation(line) + 1, len(without_comment(line).rstrip()) + 1
        if header is not None:
            self.is_empty = False
            return LineMistake("expert-inside", column, end)
        if self.own is None and self.is_empty:
            self.own = indentation(line)
        if self.own is None:
            return LineMistake("expert-below-line", column, end)
        if indentation(line) != self.own:
            return LineMistake("expert-indentation", column, end)
        return None

    def mistakes(self) -> list[Mistake]:
        if not self.is_empty:
            return []
        end = len(without_comment(self.line).rstrip()) + 1
        return [describe(LineMistake("expert-empty", end - 1, end), self.number, self.line, self.source)]


def _names_that_need_quotes(text: str, names: Iterable[str]) -> re.Pattern[str]:
    """What matches such a name, or in its first group what is in quotes already."""
    known = {*names, *(unquoted(found[0]) for found in _QUOTED.finditer(text) if len(found[0]) > 2)}
    needing = sorted((each for each in known if name_text(each) != each and each.strip()), key=len, reverse=True)
    own = "|".join(rf"(?<!\w){re.escape(each)}(?!\w)" for each in needing[:MAX_NAMES]) or r"(?!)"
    return re.compile(rf"({_QUOTED.pattern})|{own}")


def with_expert(
    expert: Expert | None, statement: Statement | Declaration | None, line: str
) -> tuple[Statement | Declaration | None, tuple[LineMistake, ...]]:
    """The statement as one of the expert's; a mistake where it says what variables or rows are, which nobody doubts."""
    if statement is None or expert is None:
        return statement, ()
    if not hasattr(statement, "expert"):
        column, end = indentation(line) + 1, len(without_comment(line).rstrip()) + 1
        return None, (LineMistake("expert-declaration", column, end, {"name": expert.name}),)
    return replace(statement, expert=expert), ()  # type: ignore[arg-type]


def parsed_line(statement: Statement | Declaration | None, mistakes: Sequence[Mistake]) -> Parsed:
    """One statement or declaration, and its mistakes."""
    if type(statement) in DECLARATIONS:
        return Parsed((), tuple(mistakes), (statement,))  # type: ignore[arg-type]
    return Parsed(() if statement is None else (statement,), tuple(mistakes))  # type: ignore[arg-type]


def parse_line(
    line: str, number: int = 1, source: str = ""
) -> tuple[Statement | Declaration | None, tuple[LineMistake, ...]]:
    """The statement or declaration on one line, if it can be read, and its mistakes."""
    if len(line) <= MAX_LINE and (header := header_of(line)) is not None and not any(_unreadable(line)):
        return _parse_after_header(header, line, number, source)
    statement, mistakes, end = _read_line(line)
    if statement is not None:
        statement = replace(statement, span=Span(number, 1 + len(line) - len(line.lstrip()), end, line, source))
    return statement, mistakes


@lru_cache(maxsize=4096)  # an editor reads a text again at every keystroke, which changes one of its lines
def _read_line(line: str) -> tuple[Statement | Declaration | None, tuple[LineMistake, ...], int]:
    """The statement of a line, its mistakes, and the column where it ends; wherever the line stands."""
    if mistakes := tuple(_unreadable(line)):
        return None, mistakes, 0
    end = len(without_comment(line).rstrip()) + 1
    read = line
    if line[end - 2 : end - 1] == "." and end > 2:  # a full stop may end a sentence
        end -= 1
        read = f"{line[: end - 1]} {line[end:]}"
    try:
        statement, mistakes = parser().parse(read, start="statement")
    except lark_errors() as error:
        return None, (_diagnosis(error, read),), 0
    return statement, as_written(mistakes, line) if mistakes else mistakes, end


def _parse_after_header(
    header: Header, line: str, number: int, source: str
) -> tuple[Statement | Declaration | None, tuple[LineMistake, ...]]:
    """The statement after `expert radiology:` on the same line; what stands before it is read as blanks."""
    if header.mistakes:
        return None, header.mistakes
    rest = " " * header.start + line[header.start :]
    if header_of(rest) is not None:
        return None, (LineMistake("expert-given", header.start + 1, len(line) + 1),)
    statement, mistakes = parse_line(rest, number, source)
    statement, more = with_expert(header.expert, statement, rest)
    if statement is not None and statement.span is not None:
        statement = replace(statement, span=replace(statement.span, text=line))
    return statement, (*mistakes, *more)


def parse_event(text: str, source: str = "") -> Probability:
    """The inside of one P(…), for the Python form."""
    line = "P(" + _LINE_END.sub(" ", text) + ")"
    mistakes = tuple(_unreadable(line))
    part: Any = None
    if not mistakes:
        try:
            part = parser().parse(line, start="probability")
            mistakes = part.mistakes
        except lark_errors() as error:
            mistakes = (_diagnosis(error, line),)
    if mistakes:
        raise KnowledgeError(describe(mistake, 0, line, source) for mistake in mistakes)
    found: Probability = part.value.terms[0][1]
    return found


def _unreadable(line: str) -> Iterator[LineMistake]:
    """Why a line cannot be parsed at all: control characters, too long, too deep."""
    if len(line) > MAX_LINE:
        yield LineMistake("line-too-long", MAX_LINE + 1, len(line) + 1, {"length": len(line), "limit": MAX_LINE})
        return
    yield from control_characters(line)
    if line.count("(") > MAX_DEPTH and (place := _too_deep(line)):
        yield LineMistake("too-deep", place, place + 1, {"limit": MAX_DEPTH})


def control_characters(line: str) -> Iterator[LineMistake]:
    """Characters that are invisible and that no statement needs."""
    if not line.isprintable():  # quick, and true of nearly every line
        for match in _CONTROL.finditer(line):
            code = f"U+{ord(match[0]):04X}"
            name = unicodedata.name(match[0], "a control character").lower()
            yield LineMistake("control-character", match.start() + 1, match.end() + 1, {"code": code, "name": name})


# Modifiers at the end of a statement ----------------------------------------------------------------------------------


def _parse_amount(name: str) -> Callable[[list[Any]], Part]:
    def modifier(children: list[Any]) -> Part:
        word, amount = children
        value = Modifier(name, amount.value.constant, amount)
        return Part(value, token_part(word).column, amount.end, amount.mistakes)

    return modifier


def _parse_leak(children: list[Any]) -> Part:
    word = token_part(children[0])
    return Part(Modifier("leak", 0.0 if "without" in word.value else 1.0, word), word.column, word.end)


def _parse_general_effects(children: list[Any]) -> Part:
    word = token_part(children[0])
    return Part(Modifier("general_effects", 1.0, word), word.column, word.end)


def _parse_statement(children: list[Any]) -> tuple[Statement | Declaration | None, tuple[LineMistake, ...]]:
    """The statement with its modifiers, and every mistake of its form."""
    body: Part = children[0]
    mistakes = list(body.mistakes)
    modifiers: dict[str, Part] = {}
    for modifier in children[1:]:
        mistakes.extend(modifier.mistakes)
        mistakes.extend(_amount_mistakes(modifier))
        if modifiers.setdefault(modifier.value.name, modifier) is not modifier:
            mistakes.append(LineMistake("modifier-twice", modifier.column, modifier.end))
    if isinstance(body.value, Compared):
        statement, more = complete_comparison(body, modifiers, broken=len(mistakes) > 0)
        mistakes.extend(more)
    else:
        statement = body.value
    if statement is None:
        return None, tuple(mistakes)
    rules = STATEMENTS.get(type(statement)) or DECLARATIONS[type(statement)]
    for name, modifier in modifiers.items():
        if name in rules.modifiers:
            value = bool(modifier.value.amount) if name in ("leak", "general_effects") else modifier.value.amount
            statement = replace(statement, **{name: value})  # type: ignore[arg-type]
        else:
            facts = {"what": rules.description}
            mistakes.append(LineMistake(f"{name}-without-meaning", modifier.column, modifier.end, facts))
    return statement, tuple(mistakes)


def _amount_mistakes(modifier: Part) -> Iterator[LineMistake]:
    name, amount, place = modifier.value
    if name == "confidence" and not 0 < amount < 1:
        hint = f"{amount:g}% is {amount / 100:g}." if 1 < amount < 100 else ""
        hint = hint or "Leave the confidence out if the statement is certain."
        yield LineMistake("confidence-range", place.column, place.end, {"amount": f"{amount:g}", "hint": hint})
    elif name in ("margin", "within") and not 0 < amount <= 1:
        yield LineMistake(f"{name}-range", place.column, place.end, {"amount": f"{amount:g}"})


# The parser -----------------------------------------------------------------------------------------------------------


@contextmanager
def _garbage_collection_paused() -> Iterator[None]:
    """No garbage collection meanwhile: nearly every object stays alive, and searching them takes 40% of the time."""
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


def grammar_rules() -> SimpleNamespace:
    """One function for each rule of the grammar, called by the parser as soon as the rule is complete."""
    functions = {
        **names.GRAMMAR_RULES,
        **expressions.GRAMMAR_RULES,
        **verbal_statements.GRAMMAR_RULES,
        "statement": _parse_statement,
        "margin": _parse_amount("margin"),
        "within": _parse_amount("within"),
        "confidence": _parse_amount("confidence"),
        "leak": _parse_leak,
        "general_effects": _parse_general_effects,
    }
    for rules in (*STATEMENTS.values(), *DECLARATIONS.values()):
        functions.update(rules.grammar_rules)
    return SimpleNamespace(**functions)


@cache
def parser() -> Any:
    """The parser, built on first use and kept: building it takes as long as parsing two thousand statements.

    Its tables are kept beside Python's bytecode, by which a process that finds them begins 70 ms sooner. Lark reads
    only tables of the same grammar, and builds them again where they are damaged or cannot be written.
    """
    from lark import Lark

    grammar = Path(__file__).with_name("grammar.lark")
    tables = Path(cache_from_source(str(grammar))).with_suffix(".tables")
    return Lark(
        grammar.read_text(encoding="utf-8"),
        cache=False if sys.dont_write_bytecode else str(tables),
        parser="lalr",
        lexer="contextual",
        start=["statement", "probability"],
        maybe_placeholders=False,
        transformer=grammar_rules(),
    )


def _diagnosis(error: Exception, line: str) -> LineMistake:
    """What is wrong with a line that does not follow the grammar; most lines do, and need none of these patterns."""
    from credo.knowledge.syntax_errors import diagnose

    return diagnose(error, line)


@cache
def lark_errors() -> tuple[type[Exception], ...]:
    """The exceptions of the parser for text that does not follow the grammar."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

    return UnexpectedToken, UnexpectedCharacters, UnexpectedEOF

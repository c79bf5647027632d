"""Whose statements they are: `expert radiology:` above an indented block, or before a single statement.

An expert may be wrong. `expert radiology with reliability 0.9:` says how often the expert is right; `with reliability
between 0.8 and 0.95` says that roughly; without either it is learned. What follows from it is in
`credo/posterior/doubted_statements.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from credo.knowledge.expressions import number_text
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import name_text, unquoted, without_comment

NINE_IN_TEN = 1.645  # standard deviations from the mean

_NUMBER = r"(?:[0-9]{1,9}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})\s?%?"
_NAME = r"""[^\W\d]\w*(?:[.\-/]\w+)*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
_HEADER = re.compile(
    rf"\s*expert\s+(?P<name>{_NAME})\s*(?P<given>(?:,|with\s|reliability\s|\()[^:]{{0,200}})?:(?P<rest>.*)", re.DOTALL
)
_GIVEN = re.compile(
    rf",?\s*(?:with\s+)?reliability\s+(?:(?P<one>{_NUMBER})|between\s+(?P<low>{_NUMBER})\s+and\s+(?P<high>{_NUMBER}))\s*"
)


# A line that is meant as a header, but cannot be read as one: `expert Dr. House: …`, or `expert radiology` alone.
_MEANT = re.compile(
    r"\s*expert\s+(?P<name>(?!(?:raises|lowers|depends|does|is|and|in|synergi[sz]es?|shares?|differs?)\b)[^:=<>~()|\"']+?)"
    r"\s*(?P<given>(?:,|with\s|reliability\s)[^:]{0,200})?(?P<colon>:.*)?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Expert:
    """Someone whose statements may be wrong.

    Attributes
    ----------
    name
        The name that the knowledge gives the expert.
    reliability
        How often the expert is right, if that is known: a number, or two between which it lies in nine cases of ten.
    """

    name: str
    reliability: float | tuple[float, float] | None = None

    def __str__(self) -> str:
        text = f"expert {name_text(self.name)}"
        if self.reliability is None:
            return text
        if isinstance(self.reliability, tuple):
            low, high = map(number_text, self.reliability)
            return f"{text} with reliability between {low} and {high}"
        return f"{text} with reliability {number_text(self.reliability)}"


def beta_between(low: float, high: float) -> tuple[float, float]:
    """a and b of the Beta distribution of a reliability that lies between two numbers in nine cases of ten."""
    mean, deviation = (low + high) / 2.0, (high - low) / (2.0 * NINE_IN_TEN)
    weight = max(mean * (1.0 - mean) / deviation**2 - 1.0, 1.0)
    return weight * mean, weight * (1.0 - mean)


class Header(NamedTuple):
    """The words before the colon, and where the statement after it starts; at the end of the line there is none."""

    expert: Expert | None  # None: the words before the colon have a mistake
    start: int  # of the statement, counted from 0
    has_statement: bool
    mistakes: tuple[LineMistake, ...] = ()


def header_of(line: str) -> Header | None:
    """The expert that a line names before a colon; None for every other line."""
    if "expert" not in line:  # nearly every line, and quick
        return None
    found = _HEADER.fullmatch(without_comment(line))
    if found is None:
        return _meant(without_comment(line).rstrip())
    name = found["name"]
    name = unquoted(name) if name[0] in "\"'" else name
    start = found.start("rest")
    has_statement = bool(found["rest"].strip())
    if found["given"] is None:
        return Header(Expert(name), start, has_statement)
    given = _GIVEN.fullmatch(_in_brackets(found["given"]))
    column, end = found.start("given") + 1, found.start("given") + 1 + len(found["given"].rstrip())
    if given is None:
        return Header(None, start, has_statement, (LineMistake("expert-given", column, end),))
    values = [_number(text) for text in (given["one"], given["low"], given["high"]) if text is not None]
    if not all(0.0 < value < 1.0 for value in values) or values != sorted(set(values)):
        return Header(None, start, has_statement, (LineMistake("reliability-range", column, end),))
    return Header(Expert(name, values[0] if len(values) == 1 else (values[0], values[1])), start, has_statement)


def _in_brackets(given: str) -> str:
    """What stands in brackets, as in `expert radiology (reliability 0.9):`, or the text as it is."""
    text = given.strip()
    return text[1:-1].strip() if text.startswith("(") and text.endswith(")") else given


def _meant(line: str) -> Header | None:
    """The mistake of a line that is meant to name an expert: no name, no quotation marks, or no colon."""
    if line.split() in (["expert:"], ["expert", ":"]):
        return Header(None, len(line), False, (LineMistake("expert-nameless", len(line), len(line) + 1),))
    found = _MEANT.fullmatch(line)
    if found is None:
        return None
    is_name = re.fullmatch(_NAME, found["name"]) is not None
    if found["colon"] is None and not is_name and "reliability" not in (found["given"] or ""):
        return None
    column, end = found.start("name") + 1, found.end("name") + 1
    if found["colon"] is None and is_name:
        return Header(None, len(line), False, (LineMistake("expert-colon", len(line), len(line) + 1, {"line": line}),))
    facts = {"name": found["name"]}
    rest = bool((found["colon"] or ":")[1:].strip())
    start = len(line) if found["colon"] is None else found.start("colon") + 1
    return Header(None, start, rest, (LineMistake("expert-name", column, end, facts),))


def _number(text: str) -> float:
    return float(text.rstrip("% ")) / 100.0 if text.rstrip().endswith("%") else float(text)


def indentation(line: str) -> int:
    """How many characters of white space a line begins with."""
    return len(line) - len(line.lstrip())


def expert_of(statement: Any) -> Expert | None:
    """Whose statement it is, where it is an expert's."""
    return getattr(statement, "expert", None)


def check_experts(statements: Sequence[Any]) -> Iterator[tuple[Any, LineMistake]]:
    """An expert with two reliabilities."""
    known: dict[str, Expert] = {}
    for statement in statements:
        expert = expert_of(statement)
        if expert is None or expert.reliability is None:
            continue
        first = known.setdefault(expert.name, expert)
        if first != expert:
            span = statement.span
            column, end = (1, 2) if span is None else (span.column, span.end_column)
            facts = {"name": expert.name, "first": str(first), "second": str(expert)}
            yield statement, LineMistake("expert-twice", column, end, facts)

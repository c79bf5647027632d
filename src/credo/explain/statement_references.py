"""How results refer to a statement: its number, its words, and where it was written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from credo.knowledge import words_of
from credo.knowledge.statements import Statement

_NUMBERED = re.compile(r"\b([Ss])tatements? (\d+(?:, \d+)*(?: and \d+)?)\b")


@dataclass(frozen=True, slots=True)
class StatementReference:
    """A statement as its author wrote it.

    Attributes
    ----------
    number
        Its position in the knowledge, from 0.
    line
        The line it was written in, from 1; 0 for a statement made in Python.
    text
        Its words.
    source
        The name of its file, where it has one.
    place
        Where it is, for a reader: `line 3`; `clinic.txt:3` where there are several files; empty for Python.
    """

    number: int
    line: int
    text: str
    source: str = ""
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text

    @property
    def quoted(self) -> str:
        """The statement inside a sentence: its words in quotation marks, then its place."""
        return f"“{self.text}” ({self.place})" if self.place else f"“{self.text}”"

    @property
    def subject(self) -> str:
        """The statement as the subject of a sentence: `Line 3`, or its words where it has no line."""
        return capitalised(self.place) if self.place else f"“{self.text}”"


def references_to(statements: Sequence[Statement]) -> tuple[StatementReference, ...]:
    """A reference to each statement; places name the file only where there are several."""
    spans = [statement.span for statement in statements]
    several = len({span.source for span in spans if span is not None and span.line}) > 1
    references = []
    for number, (statement, span) in enumerate(zip(statements, spans, strict=True)):
        line, source = (0, "") if span is None else (span.line, span.source)
        place = f"{source}:{line}" if several and source else f"line {line}"
        references.append(StatementReference(number, line, words_of(statement), source, place if line else ""))
    return tuple(references)


def places_of(statements: Sequence[StatementReference]) -> str:
    """`lines 2, 5 and 7`, places in several files, or the words of statements that have no line."""
    places = [statement.place for statement in statements]
    if not all(places):
        return "; ".join(f"“{statement.text}”" for statement in statements)
    if all(place.startswith("line ") for place in places) and len(places) > 1:
        places = [place.removeprefix("line ") for place in places]
        places[0] = f"lines {places[0]}"
    return places[0] if len(places) == 1 else f"{', '.join(places[:-1])} and {places[-1]}"


def capitalised(place: str) -> str:
    """A place at the start of a sentence: `Line 3`, `Lines 3 and 4`; the name of a file stays as it is."""
    return f"L{place[1:]}" if place.startswith(("line ", "lines ")) else place


def with_places(message: str, references: Sequence[StatementReference]) -> str:
    """A message of an estimator, which knows the numbers of statements alone, with where they were written.

    `statement 3` becomes `line 7`, `Statements 1 and 2` become `Lines 4 and 6`.
    """

    def place(found: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", found[2])]
        if not all(1 <= number <= len(references) for number in numbers):
            return found[0]
        text = places_of([references[number - 1] for number in numbers])
        return capitalised(text) if found[1] == "S" else text

    return _NUMBERED.sub(place, message)

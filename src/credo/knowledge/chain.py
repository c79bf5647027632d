"""`0.1 <= P(…) <= 0.3` in Python, which evaluates it as `0.1 <= P(…) and P(…) <= 0.3` and would drop the first half.

Between the halves Python asks the first for its truth value. That is noted here; the next comparison in the same frame
that shares an operand with it, and that stands in the same expression, continues the chain. Any other use of a truth
value loses a half, and is an error: `max(P(…), P(…)) <= 0.3` asks too, inside `max`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from dis import opname
from numbers import Real
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from credo.knowledge.mistakes import Fault, KnowledgeError, describe
from credo.knowledge.syntax import Comparison, Relation
from credo.knowledge.text import to_text

PYTHON = "written in Python"

_MIRRORED: dict[Relation, Relation] = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "=": "="}


class Place(NamedTuple):
    """Where in running code something happened. Frames are not kept alive: an id and the code tell them apart."""

    frame: int
    code: CodeType
    instruction: int
    line: int

    @classmethod
    def of(cls, frame: FrameType) -> Place:
        return cls(id(frame), frame.f_code, frame.f_lasti, frame.f_lineno)

    def is_in(self, other: Place) -> bool:
        return self.frame == other.frame and self.code is other.code

    def is_same_expression(self, other: Place) -> bool:
        """Whether both stand in one expression of the source: Python gives all of a chain the place of the whole."""
        mine, theirs = _source_of(self), _source_of(other)
        if None in mine or None in theirs:  # compiled without places: a chain asks by a jump, a function by a call
            return not opname[self.code.co_code[self.instruction]].startswith("CALL")
        return mine == theirs


class _Memory(threading.local):
    def __init__(self) -> None:
        self.asked: list[tuple[Claim, Place]] = []
        self.latest: tuple[Claim, Place] | None = None
        self.sources: tuple[CodeType | None, list[tuple[int | None, ...]]] = (None, [])  # of the code last asked about


_memory = _Memory()


def _source_of(place: Place) -> tuple[int | None, ...]:
    """The lines and columns of the source that an instruction was made of."""
    code, sources = _memory.sources
    if code is not place.code:
        sources = list(place.code.co_positions())
        _memory.sources = (place.code, sources)
    return sources[place.instruction // 2]  # an instruction takes two bytes


class Claim(Comparison):
    """A comparison made in Python; equal to the same comparison read from text, and aware of chains."""

    __slots__ = ("operands",)
    __hash__ = Comparison.__hash__

    operands: tuple[Any, Any]  # the two objects at its ends

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return (self.sides, self.relations, self.margin, self.confidence) == (
            other.sides,
            other.relations,
            other.margin,
            other.confidence,
        )

    def __bool__(self) -> bool:
        place = Place.of(sys._getframe(1))
        if _memory.latest is not None and getattr(self, "operands", None):
            latest, made = _memory.latest
            # Tools that rewrite assertions compute both comparisons first and ask for truth values afterwards.
            if latest is not self and made.is_in(place) and made.line == place.line and _joined(self, latest):
                raise lost(self, place)
        _memory.asked.append((self, place))
        return True


def claim(sides: tuple[Any, Any], relation: Relation, operands: tuple[Any, Any], frame: FrameType) -> Claim:
    """A new comparison; if the frame has just asked another for its truth value, the chain of both."""
    place = Place.of(frame)
    made = _made(sides, (relation,), operands)
    for asked, where in _take(place):
        if where.instruction < place.instruction:
            joined = _joined(asked, made) if where.is_same_expression(place) else None
            if joined is None:
                raise lost(asked, where)
            made = joined
    _memory.latest = (made, place)
    return made


def check_nothing_lost(frame: FrameType, used: Iterable[Any] = ()) -> None:
    """Raise if this frame asked a comparison for its truth value and never went on, or if one of `used` was asked."""
    place = Place.of(frame)
    asked, _memory.asked = _memory.asked, []
    for each, where in asked:
        if where.is_in(place) or any(item is each for item in used):
            raise lost(each, where)


def lost(asked: Claim, place: Place) -> KnowledgeError:
    """The error that names the comparison and the line on which it was taken for true or false."""
    text = to_text(asked)
    _memory.asked, _memory.latest = [], None
    facts = {"file": Path(place.code.co_filename).name, "line": place.line}
    return KnowledgeError([describe(Fault("truth-value", 1, len(text) + 1, facts), 0, text, PYTHON)])


def _take(place: Place) -> list[tuple[Claim, Place]]:
    """What this frame asked, which is then forgotten; frames further up wait for their own next comparison."""
    found = [each for each in _memory.asked if each[1].is_in(place)]
    if found:
        _memory.asked = [each for each in _memory.asked if not each[1].is_in(place)]
    return found


def _joined(first: Claim, second: Claim) -> Claim | None:
    """The chain through the operand that both share, by identity: a quantity, else a number."""
    chains = [
        (isinstance(left.operands[1], Real), left, right)
        for left in (first, _mirror(first))
        for right in (second, _mirror(second))
        if left.operands[1] is right.operands[0]
    ]
    if not chains:
        return None
    _, left, right = min(chains, key=lambda chain: chain[0])
    operands = (left.operands[0], right.operands[1])
    return _made(left.sides + right.sides[1:], left.relations + right.relations, operands)


def _mirror(each: Claim) -> Claim:
    relations = tuple(_MIRRORED[relation] for relation in reversed(each.relations))
    return _made(each.sides[::-1], relations, each.operands[::-1])


def _made(sides: tuple[Any, ...], relations: tuple[Relation, ...], operands: tuple[Any, Any]) -> Claim:
    made = Claim(sides, relations)
    object.__setattr__(made, "operands", operands)
    return made

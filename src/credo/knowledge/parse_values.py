"""What the rules of the grammar hand to each other: a value, its columns, and the faults found in it so far."""

from __future__ import annotations

from typing import Any, NamedTuple

from credo.knowledge.mistakes import Fault


class Part(NamedTuple):
    """A piece of a statement; columns count from 1, the end is not included."""

    value: Any
    column: int
    end: int
    faults: tuple[Fault, ...] = ()


class Modifier(NamedTuple):
    """What is said at the end of a statement, and where its number stands."""

    what: str
    amount: float
    place: Part


class Compared(NamedTuple):
    """Sides and the relations between them, before it is known what they amount to."""

    sides: tuple[Part, ...]
    relations: tuple[Part, ...]

"""A kind of fuzzing: how an input is made from random choices, what must hold for it, and how it is kept.

An input is identified by its kind, a seed and a number, and is the same on every machine. It is bytes (the content of a
file) or a recipe: dictionaries, lists, texts and numbers, which JSON can hold. So it can be saved, replayed and reduced
without knowing what it is.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

Input = bytes | dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of inputs.

    Attributes
    ----------
    name
        What the command line calls it.
    make
        From random choices to an input.
    check
        Runs credo on an input, in a folder where it may write. Returns one word for what happened (such as `valid`, or
        the name of a `CredoError`); raises whatever should not have happened.
    ending
        Of the file in which an input is kept.
    seconds, megabytes
        How much time and memory one input may take.
    """

    name: str
    make: Callable[[Random], Input]
    check: Callable[[Input, Path], str]
    ending: str
    seconds: float = 10.0
    megabytes: int = 2048


# A new kind is a `Kind` in a module of this folder, and its line here.
KINDS = {
    "knowledge": "fuzz.knowledge:KNOWLEDGE",
    "bif": "fuzz.networks:BIF",
    "xmlbif": "fuzz.networks:XMLBIF",
    "xdsl": "fuzz.networks:XDSL",
    "uai": "fuzz.networks:UAI",
    "net": "fuzz.networks:NET",
    "dsl": "fuzz.networks:DSL",
    "saved": "fuzz.saved:SAVED",
    "csv": "fuzz.tables:CSV",
    "dialects": "fuzz.dialects:DIALECTS",
    "xlsx": "fuzz.dialects:XLSX",
    "parquet": "fuzz.frames:PARQUET",
    "frames": "fuzz.frames:FRAMES",
    "fits": "fuzz.fits:FITS",
    "checks": "fuzz.checks:CHECKS",
    "gates": "fuzz.gates:GATES",
    "ranked": "fuzz.ranked:RANKED",
    "studies": "fuzz.studies:STUDIES",
    "updates": "fuzz.updates:UPDATES",
    "sites": "fuzz.sites:SITES",
    "decisions": "fuzz.decisions:DECISIONS",
    "interviews": "fuzz.interviews:INTERVIEWS",
    "pages": "fuzz.shared_pages:PAGES",
    "boundary": "fuzz.boundary:BOUNDARY",
    "faults": "fuzz.faults:FAULT",
    "studio": "fuzz.studio:STUDIO",
}


def kind_named(name: str) -> Kind:
    """The kind of that name, or at that place (`module:attribute`)."""
    module, _, attribute = KINDS.get(name, name).partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    assert isinstance(kind, Kind)
    return kind


def make_input(kind: Kind, seed: int, number: int) -> Input:
    """The input with this number."""
    return kind.make(Random(f"{kind.name} {seed} {number}"))


def to_bytes(given: Input) -> bytes:
    """An input as the content of a file."""
    return given if isinstance(given, bytes) else json.dumps(given, indent=1).encode()


def from_bytes(kind: Kind, content: bytes) -> Input:
    """The input that `to_bytes` wrote."""
    return json.loads(content) if kind.ending == ".json" else content


def smaller(given: Input) -> Iterator[Input]:
    """Inputs that are a little smaller: without a part of the text, or without some members of a list."""
    if isinstance(given, bytes):
        yield from _shorter(given)
        return
    for place in _lists_in(given, ()):
        for shorter in _shorter(_at(given, place)):
            yield _with(given, place, shorter)


def _shorter(sequence: Any) -> Iterator[Any]:
    size = len(sequence)
    part = size
    while part >= 1:
        for start in range(0, size, part):
            yield sequence[:start] + sequence[start + part :]
        part //= 2


def _lists_in(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, list) and value:
        yield place
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in pairs:
        yield from _lists_in(member, (*place, key))


def _at(value: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


def _with(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    key, *rest = place
    changed = _with(value[key], tuple(rest), new)
    if isinstance(value, dict):
        return {**value, key: changed}
    return [*value[:key], changed, *value[key + 1 :]]

"""The blocks of a BIF text: what each declares, before names are looked up and numbers converted.

Large tables are mostly rows of plain numbers: one expression matches such a row. Whatever does not read as one is gone
through word by word, which finds the line of the mistake.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from credo.errors import NetworkError
from credo.io.bif_scan import QUOTED, Scanner
from credo.model.network import Variable

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")

_NUMBERS = re.compile(r"([-+.,\s0-9eE]*+);")
_ROW = re.compile(rf'\s*+\(((?:[^()"]++|{QUOTED})*+)\){_NUMBERS.pattern}')


class Entry(NamedTuple):
    """One row, `table` or `default` as text: the labels in brackets, the numbers, and where they start."""

    labels: str
    numbers: str
    position: int


@dataclass(frozen=True, slots=True)
class Block:
    """A `probability` block: who is given whom, and its entries."""

    child: str
    parents: tuple[str, ...]
    position: int
    rows: tuple[Entry, ...]
    table: Entry | None
    default: Entry | None


def network_block(scanner: Scanner) -> str:
    """The name of the network."""
    name = "network" if scanner.next_symbol() == "{" else scanner.word("the name of the network")
    scanner.expect("{", "after the name of the network")
    while not scanner.take("}"):
        start = scanner.skip_blanks()
        if scanner.word("`property` or `}`") != "property":
            scanner.fail("A `network` block holds properties only.", start)
        scanner.skip_property()
    return name


def variable_block(scanner: Scanner, start: int) -> Variable:
    """A variable with its states; `start` is where the block starts."""
    name = scanner.word("the name of a variable")
    scanner.expect("{", f"after the name {name}")
    states: list[str] | None = None
    while not scanner.take("}"):
        position = scanner.skip_blanks()
        match scanner.word(f"`type`, `property` or `}}` in variable {name}"):
            case "property":
                scanner.skip_property()
            case "type":
                if states is not None:
                    scanner.fail(f"Variable {name} has a second type.", position)
                states = _states(scanner, name)
            case other:
                scanner.fail(f"Expected `type` or `property` in variable {name}, not `{other[:40]}`.", position)
    if states is None:
        scanner.fail(f"Variable {name} has no type: which states does it have?", start)
    try:
        return Variable(name, tuple(states))
    except NetworkError as error:
        scanner.fail(str(error), start)


def _states(scanner: Scanner, name: str) -> list[str]:
    start = scanner.skip_blanks()
    kind = scanner.word(f"the type of {name}")
    if kind != "discrete":
        scanner.fail(f"Variable {name} is of type `{kind[:40]}`; only discrete variables can be read.", start)
    scanner.expect("[", f"after the type of {name}")
    start = scanner.skip_blanks()
    count = scanner.word(f"the number of states of {name}")
    if not re.fullmatch(r"[0-9]{1,9}", count):
        scanner.fail(f"The number of states of {name} is not a whole number: `{count[:40]}`.", start)
    scanner.expect("]", f"after the number of states of {name}")
    scanner.expect("{", f"before the states of {name}")
    states: list[str] = []
    while not scanner.take("}"):
        states.append(scanner.word(f"a state of {name} or `}}`"))
        scanner.take(",")
    if len(states) != int(count):
        scanner.fail(
            f"Variable {name} announces {int(count)} states and lists {len(states)}. A name with blanks needs quotes.",
            start,
        )
    scanner.expect(";", f"after the states of {name}")
    return states


def probability_block(scanner: Scanner, start: int) -> Block:
    """A `probability` block as text; `start` is where it starts."""
    scanner.expect("(", "after `probability`")
    child = scanner.word("the name of a variable")
    parents: list[str] = []
    # The specification lets `|` and `,` be left out: the first name is the child.
    if not scanner.take("|"):
        scanner.take(",")
    while not scanner.take(")"):
        parents.append(scanner.word(f"a parent of {child} or `)`"))
        scanner.take(",")
    scanner.expect("{", f"after the head of the block of {child}")
    rows: list[Entry] = []
    single: dict[str, Entry] = {}
    while True:
        while row := _ROW.match(scanner.text, scanner.position):
            rows.append(Entry(row[1], row[2], row.start(1)))
            scanner.position = row.end()
        if scanner.take("}"):
            break
        position = scanner.skip_blanks()
        if scanner.next_symbol() == "(":
            _explain_row(scanner, child)
        match scanner.word(f"a row, `table`, `default` or `}}` in the block of {child}"):
            case "property":
                scanner.skip_property()
            case ("table" | "default") as kind:
                if kind in single:
                    scanner.fail(f"A second `{kind}` in the block of {child}.", position)
                single[kind] = _plain_numbers(scanner, child)
            case other:
                expected = "a row in brackets, `table` or `default`"
                scanner.fail(f"Expected {expected} in the block of {child}, not `{other[:40]}`.", position)
    if "table" in single and (rows or "default" in single):
        scanner.fail(f"The block of {child} has a `table` and rows as well: which holds?", start)
    return Block(child, tuple(parents), start, tuple(rows), single.get("table"), single.get("default"))


def _plain_numbers(scanner: Scanner, child: str) -> Entry:
    start = scanner.position
    match = _NUMBERS.match(scanner.text, start)
    if match is None:
        _explain_numbers(scanner, child)
    scanner.position = match.end()
    return Entry("", match[1], start)


def _explain_row(scanner: Scanner, child: str) -> NoReturn:
    """Say what is wrong with a row that does not read as one."""
    scanner.expect("(", "")
    while not scanner.take(")"):
        scanner.word(f"the state of a parent of {child} or `)`")
        scanner.take(",")
    _explain_numbers(scanner, child)


def _explain_numbers(scanner: Scanner, child: str) -> NoReturn:
    """Say what is wrong with numbers that do not read as such."""
    while not scanner.take(";"):
        start = scanner.skip_blanks()
        word = scanner.word(f"a number or `;` in the block of {child}")
        if not NUMBER.fullmatch(word):
            scanner.fail(f"Expected a number in the block of {child}, not `{word[:40]}`.", start)
        scanner.take(",")
    raise AssertionError("unreachable: these numbers read as such")

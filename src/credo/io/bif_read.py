"""Read a network from BIF: every label, every order, and each number exactly as the text says it.

Blocks are resolved after the whole text is scanned, so they may come in any order. The numbers of a table are converted
all at once where they are plain; otherwise entry by entry, which finds the line of the mistake. Nothing is normalised.
Properties and comments have no place in a `Network` and are passed over.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path

import numpy as np

from credo.errors import FormatError, NetworkError, suggestion
from credo.io.bif_blocks import NUMBER, Block, Entry, network_block, probability_block, variable_block
from credo.io.bif_scan import Scanner, words
from credo.model.names import first_duplicate
from credo.model.network import Network, Table, Variable

# A `default` row lets a short file ask for any size; beyond this (2 GB) it is taken for a mistake.
LARGEST_TABLE = 2**28

_HOLE = re.compile(r",\s*(?:,|$)|^\s*,")


def read_bif(path: str | os.PathLike[str]) -> Network:
    """The network in a BIF file; one whose name ends in `.gz` is unpacked on the way."""
    try:
        content = Path(path).read_bytes()
        if str(path).lower().endswith(".gz"):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"This file cannot be read: {reason}.", str(path)) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"Byte {error.start} is not UTF-8 text. Save the file as UTF-8."
        raise FormatError(message, str(path), line) from None
    return parse_bif(text, str(path))


def parse_bif(text: str, path: str | None = None) -> Network:
    """The network that a BIF text describes; `path` is for messages only."""
    scanner = Scanner(text, path)
    names: list[str] = []
    variables: dict[str, Variable] = {}
    blocks: dict[str, Block] = {}
    while scanner.next_symbol():
        start = scanner.position
        match scanner.word("`network`, `variable` or `probability`"):
            case "network":
                if names:
                    scanner.fail("A second `network` block: a file holds one network.", start)
                names.append(network_block(scanner))
            case "variable":
                variable = variable_block(scanner, start)
                if variable.name in variables:
                    scanner.fail(f"Variable {variable.name} is declared twice.", start)
                variables[variable.name] = variable
            case "probability":
                block = probability_block(scanner, start)
                if block.child in blocks:
                    scanner.fail(f"A second `probability` block for {block.child}.", start)
                blocks[block.child] = block
            case other:
                scanner.fail(f"Expected `network`, `variable` or `probability`, not `{other[:40]}`.", start)
    if not variables:
        scanner.fail("The file declares no variable: is it BIF?")
    for block in blocks.values():
        _check_names(scanner, block, variables)
    return _network(scanner, names[0] if names else "network", variables, blocks)


def _check_names(scanner: Scanner, block: Block, variables: Mapping[str, Variable]) -> None:
    for name in (block.child, *block.parents):
        if name not in variables:
            message = f'The block of {block.child} names "{name}", which is no variable.'
            scanner.fail(message + suggestion(name, tuple(variables)), block.position)
    if (twice := first_duplicate(block.parents)) is not None:
        scanner.fail(f"Variable {block.child} has the parent {twice} twice.", block.position)


def _network(scanner: Scanner, name: str, variables: dict[str, Variable], blocks: dict[str, Block]) -> Network:
    parents = {child: block.parents for child, block in blocks.items()}
    try:
        structure = Network(tuple(variables.values()), parents, name=name)
    except NetworkError as error:
        raise FormatError(str(error), scanner.path) from None
    found = {child: _table(scanner, structure, block) for child, block in blocks.items()}
    tables = {child: table for child, table in found.items() if table is not None}
    try:
        return structure.with_cpts(tables)
    except NetworkError:
        for child, table in tables.items():
            try:
                structure.with_cpts({child: table})
            except NetworkError as error:
                scanner.fail(str(error), blocks[child].position)
        raise


# Tables --------------------------------------------------------------------------------------------------------------


def _table(scanner: Scanner, structure: Network, block: Block) -> Table | None:
    """The table of a block with axes (parents…, child); none where the block holds no numbers."""
    if block.table is not None:
        return _whole_table(scanner, structure.shape(block.child), block, block.table)
    if not block.rows and block.default is None:
        return None
    shape = structure.shape(block.child)
    configurations, states = prod(shape[:-1]), shape[-1]
    indices = _row_indices(scanner, structure, block)
    _check_indices(scanner, structure, block, indices, configurations)
    if configurations * states > LARGEST_TABLE:
        scanner.fail(f"The table of {block.child} would have {configurations * states:,} numbers.", block.position)
    table = np.empty(shape, dtype=np.float64)
    rows = table.reshape(configurations, states)
    if block.default is not None:
        rows[:] = _values(scanner, block.child, [block.default], states)
    if indices:
        rows[indices] = _values(scanner, block.child, block.rows, states)
    table.setflags(write=False)
    return table


def _whole_table(scanner: Scanner, shape: tuple[int, ...], block: Block, entry: Entry) -> Table:
    """A `table` entry: axes (child, parents…), the last one running fastest, as the specification and JavaBayes say."""
    values = _values(scanner, block.child, [entry], prod(shape))
    table = np.array(np.moveaxis(values.reshape(shape[-1], *shape[:-1]), 0, -1), order="C")
    table.setflags(write=False)
    return table


def _values(scanner: Scanner, child: str, entries: Sequence[Entry], count: int) -> Table:
    """The numbers of entries that each need `count` of them, as an array (entries, count)."""
    if all(entry.numbers.count(",") == count - 1 for entry in entries):
        try:
            flat = list(map(float, ",".join([entry.numbers for entry in entries]).split(",")))
            return np.array(flat).reshape(len(entries), count)
        except ValueError:
            pass  # numbers with blanks between them, or a mistake
    return np.array([_entry_values(scanner, child, entry, count) for entry in entries])


def _entry_values(scanner: Scanner, child: str, entry: Entry, count: int) -> list[float]:
    start = scanner.text.index(entry.numbers, entry.position)
    if hole := _HOLE.search(entry.numbers):
        scanner.fail(f"A number is missing in the block of {child}.", start + hole.start())
    numbers: list[float] = []
    for match in re.finditer(r"[^\s,]+", entry.numbers):
        if not NUMBER.fullmatch(match.group()):
            message = f"Expected a number in the block of {child}, not `{match.group()[:40]}`."
            scanner.fail(message, start + match.start())
        numbers.append(float(match.group()))
    if len(numbers) != count:
        label = f"({entry.labels.strip()}) " if entry.labels.strip() else ""
        scanner.fail(f"Row {label}of {child} has {len(numbers)} numbers; it needs {count}.", entry.position)
    return numbers


def _row_indices(scanner: Scanner, structure: Network, block: Block) -> list[int]:
    """The number of each row, counted with the last parent running fastest."""
    lookups: list[dict[str, int]] = []
    stride = 1
    for parent in reversed(block.parents):
        states = structure.states(parent)
        lookups.insert(0, {state: stride * index for index, state in enumerate(states)})
        stride *= len(states)
    indices: list[int] = []
    for row in block.rows:
        labels = row.labels.split(",")
        index = 0
        try:
            if len(labels) != len(lookups) or '"' in row.labels:
                raise KeyError
            for lookup, label in zip(lookups, labels, strict=True):
                index += lookup[label.strip()]
        except KeyError:
            index = _row_index(scanner, block, row, lookups)
        indices.append(index)
    return indices


def _row_index(scanner: Scanner, block: Block, row: Entry, lookups: Sequence[Mapping[str, int]]) -> int:
    """The number of a row whose labels are in quotes, have no commas between them, or are wrong."""
    labels = words(row.labels)
    if len(labels) != len(lookups):
        parents = ", ".join(block.parents) or "none"
        message = f"Row ({row.labels.strip()}) of {block.child} has {len(labels)} states; the parents are: {parents}."
        scanner.fail(message, row.position)
    for parent, lookup, label in zip(block.parents, lookups, labels, strict=True):
        if label not in lookup:
            message = f'A row of {block.child} has "{label}", which is no state of {parent}.'
            scanner.fail(message + suggestion(label, tuple(lookup)), row.position)
    return sum(lookup[label] for lookup, label in zip(lookups, labels, strict=True))


def _check_indices(
    scanner: Scanner, structure: Network, block: Block, indices: Sequence[int], configurations: int
) -> None:
    seen: set[int] = set()
    for index, row in zip(indices, block.rows, strict=True):
        if index in seen:
            scanner.fail(f"{structure.describe(block.child, index)} is given twice.", row.position)
        seen.add(index)
    if block.default is None and len(seen) < configurations:
        first = next(index for index in range(configurations) if index not in seen)
        more = f", and {configurations - len(seen) - 1:,} more rows" if configurations - len(seen) > 1 else ""
        scanner.fail(f"{structure.describe(block.child, first)} is missing{more}.", block.position)

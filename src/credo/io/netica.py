"""DNE (and DNET), the text format of Netica: nodes of nature with their states, parents and CPTs.

`probs` has axes (parents…, child), the child varying fastest; `functable` has one state for each configuration.
`levels` cut a continuous node, whose states are then intervals that include their lower end, or are the values of a
discrete one. Everything that is drawn on the screen, findings and comments are skipped. Netica's binary files (`.neta`)
are not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, nan
from typing import NoReturn

import numpy as np

from credo.errors import IncompleteCPTWarning, NetworkError, counted, readable_count, suggestion
from credo.io.assembly import assemble, mistake_in_family, structure_of
from credo.io.files import read_text, warn_caller
from credo.io.printed_numbers import NUMBER
from credo.io.scanner import NETICA, Scanner, unquoted
from credo.model.cut_points import CutPoints, default_labels
from credo.model.network import Network, Variable
from credo.types import Numbers, PathLike

_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|[^\s(),]+')
_READ = ("kind", "discrete", "states", "numstates", "levels", "parents", "probs", "functable", "equation")


def read_netica(path: PathLike) -> Network:
    """The network in a DNE file."""
    return parse_netica(read_text(path, "latin-1"), str(path))  # names are ASCII; titles and comments are skipped


def parse_netica(text: str, path: str | None = None) -> Network:
    """The network that a DNE text describes; `path` is for messages only."""
    scanner = Scanner(text, path, NETICA)
    if scanner.word("`bnet`") != "bnet":
        scanner.fail("Expected `bnet` at the start of the network: is it a DNE file of Netica?", 0)
    name = scanner.word("the name of the network")
    scanner.expect("{", "after the name of the network")
    nodes: dict[str, _Node] = {}
    while not scanner.take("}"):
        start = scanner.skip_blanks()
        word = scanner.word("`node`, an attribute or `}`")
        if scanner.take("="):
            scanner.skip_value(word)
        elif word == "node":
            node = _node(scanner, start)
            if node.name in nodes:
                scanner.fail(f"A second node {node.name}.", start)
            nodes[node.name] = node
        else:  # what is drawn: `visual V1 { … };`
            scanner.skip_value(word)
    if not nodes:
        scanner.fail("The file has no node.")
    return _network(scanner, name, nodes)


@dataclass(slots=True)
class _Node:
    """A node: its attributes as text, with their positions."""

    name: str
    position: int
    values: dict[str, str] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)

    def items(self, attribute: str) -> list[str]:
        """The words of a list, whatever its brackets."""
        found = _ITEM.finditer(self.values.get(attribute, ""))
        return [match.group() if match[1] is None else unquoted(match.group()) for match in found]


def _node(scanner: Scanner, start: int) -> _Node:
    node = _Node(scanner.word("the name of a node"), start)
    scanner.expect("{", f"after the name {node.name}")
    while not scanner.take("}"):
        word = scanner.word(f"an attribute of {node.name} or `}}`")
        if scanner.take("="):
            position = scanner.skip_blanks()
            value = scanner.skip_value(f"{word} of {node.name}")
            if word in _READ:
                node.values[word], node.positions[word] = value.strip(), position
        else:
            scanner.skip_value(word)
    scanner.take(";")
    return node


def _of_nature(scanner: Scanner, nodes: Mapping[str, _Node]) -> dict[str, _Node]:
    """The nodes without constants that no CPT depends on, such as titles."""
    used = {parent for node in nodes.values() for parent in node.items("parents")}
    kept: dict[str, _Node] = {}
    for name, node in nodes.items():
        kind = node.values.get("kind", "NATURE")
        if kind == "NATURE":
            kept[name] = node
        elif kind != "CONSTANT" or name in used:
            scanner.fail(f"Node {name} is of kind {kind[:40]}; only nodes of kind NATURE can be read.", node.position)
    return kept


def _network(scanner: Scanner, name: str, all_nodes: Mapping[str, _Node]) -> Network:
    nodes = _of_nature(scanner, all_nodes)
    variables = [_variable(scanner, node) for node in nodes.values()]
    parents = {child: node.items("parents") for child, node in nodes.items()}
    for child, node in nodes.items():
        if (mistake := mistake_in_family(child, parents[child], nodes, "node", "node")) is not None:
            scanner.fail(mistake, node.position)
    structure = structure_of(variables, parents, name, scanner.path)

    def fail(child: str, message: str) -> NoReturn:
        scanner.fail(message, nodes[child].position)

    cpts = {child: _cpt(scanner, structure, node) for child, node in nodes.items()}
    return assemble(structure, {child: cpt for child, cpt in cpts.items() if cpt is not None}, scanner.path, fail)


def _variable(scanner: Scanner, node: _Node) -> Variable:
    states = node.items("states")
    levels = [_number(scanner, node, "levels", word) for word in node.items("levels")]
    try:
        if node.values.get("discrete", "TRUE").upper() == "FALSE":
            if len(levels) < 3:
                scanner.fail(
                    f"Node {node.name} is continuous and has no levels: discretise it in Netica.", node.position
                )
            cuts = CutPoints(tuple(levels[1:-1]))
            return Variable(node.name, tuple(states) or default_labels(cuts.points), cuts)
        if not states and levels:
            states = [f"{level:g}" for level in levels]
        if not states and node.values.get("numstates", "").isdecimal():
            states = [f"state{number}" for number in range(int(node.values["numstates"]))]
        return Variable(node.name, tuple(states))
    except NetworkError as error:
        scanner.fail(str(error), node.position)


def _number(scanner: Scanner, node: _Node, attribute: str, word: str) -> float:
    if word == "@imposs":
        return 0.0
    if word == "@undef" and attribute == "probs":
        return nan
    if word.upper().lstrip("+-") in ("INFINITY", "INF"):
        return -inf if word.startswith("-") else inf
    if not NUMBER.fullmatch(word):
        scanner.fail(f"Expected a number in {attribute} of {node.name}, not `{word[:40]}`.", node.positions[attribute])
    return float(word)


def _cpt(scanner: Scanner, structure: Network, node: _Node) -> Numbers | None:
    """The CPT of a node; None where the file has none, with a warning if it has an equation instead."""
    shape = structure.shape(node.name)
    attribute = "probs" if "probs" in node.values else "functable"
    if attribute not in node.values:
        if "equation" in node.values:
            warn_caller(
                f"{scanner.path or 'The network'}: Node {node.name} has an equation and no table. Equations are not "
                f"read, so that {node.name} has no CPT. Let Netica make the table (Table, Equation to Table), or learn "
                "it from data.",
                IncompleteCPTWarning,
            )
        return None
    words = node.items(attribute)
    needed = structure.shape(node.name)[:-1] if attribute == "functable" else shape
    size = int(np.prod(needed, dtype=np.int64)) if needed else 1
    if len(words) != size:
        message = (
            f"Node {node.name} has {counted(len(words), 'value')} in {attribute}; it needs {readable_count(size)}."
        )
        scanner.fail(message, node.positions[attribute])
    if attribute == "probs":
        values = np.array([_number(scanner, node, attribute, word) for word in words])
        values = values.reshape(shape)
        if not np.isfinite(values[~np.isnan(values).all(axis=-1)]).all():
            scanner.fail(f"A probability of {node.name} is not finite.", node.positions[attribute])
        return values
    variable = structure.variable(node.name)
    chosen = [_state(scanner, node, variable, word) for word in words]
    result: Numbers = np.eye(len(variable.states))[chosen].reshape(shape)
    return result


def _state(scanner: Scanner, node: _Node, variable: Variable, word: str) -> int:
    """The number of the state that a word of a `functable` means; a continuous node has numbers there."""
    states = variable.states
    if variable.cuts is not None and word not in states and NUMBER.fullmatch(word):
        return int(np.searchsorted(variable.cuts.points, float(word), side="right"))
    if word not in states and not (re.fullmatch(r"#[0-9]{1,6}", word) and int(word[1:]) < len(states)):
        message = f'The functable of {node.name} has "{word[:40]}", which is not one of its states.'
        scanner.fail(message + suggestion(word, states), node.positions["functable"])
    return states.index(word) if word in states else int(word[1:])

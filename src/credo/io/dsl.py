"""DSL, the old format of GeNIe: names and every bit of every number.

A node has a `TYPE`, its `PARENTS`, and a `DEFINITION` with `NAMESTATES` and `PROBABILITIES`, whose axes are (parents…,
child), the child varying fastest and the first parent slowest. A node of the type `NOISY_MAX` has `PROBABILITIES` and
`STRENGTHS` as in XDSL (see `xdsl.py`). Cut points are `USER_PROPERTIES` (see `cut_properties.py`). The `ID` in a
`HEADER` is the name of the node again. Everything else is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NoReturn

from credo.errors import NetworkError, counted, listing, readable_count
from credo.io.assembly import assemble, check_implied, implied_by_noise, parents_first, structure_of
from credo.io.cut_properties import PROPERTIES, WORD, cut_properties, identifier, identifiers, variable_with
from credo.io.files import read_text, replacing, warn_of_loss
from credo.io.noisy_formats import noisymax_form
from credo.io.printed_numbers import NUMBER, RoundedSums, parse_numbers
from credo.io.scanner import DSL, Scanner, in_quotes, take_numbers, unquoted
from credo.model.network import Network, Variable
from credo.model.noisy import NoisyForm
from credo.types import Numbers, PathLike

_NUMBERS = re.compile(r"\s*+\(([-+.,\s0-9eE]*+)\)\s*+;")
_EMPTY_PLACE = re.compile(r",\s*(?:,|$)|^\s*,")


def read_dsl(path: PathLike) -> Network:
    """The network in a DSL file; its nodes have the type CPT or NOISY_MAX."""
    return parse_dsl(read_text(path), str(path))


def parse_dsl(text: str, path: str | None = None) -> Network:
    """The network that a DSL text describes; `path` is for messages only."""
    scanner = Scanner(text, path, DSL)
    if scanner.next_symbol() and scanner.word("`net`") != "net":
        scanner.fail("Expected `net` at the start of the file: is it DSL?", 0)
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
            if node.variable.name in nodes:
                scanner.fail(f"A second node {node.variable.name}.", start)
            nodes[node.variable.name] = node
        else:
            scanner.fail(f"Expected `node` or an attribute, not `{word[:40]}`.", start)
    scanner.take(";")
    if scanner.next_symbol():
        scanner.fail(f"Expected the end of the file after the network, not {scanner.found()}.")
    return _network(scanner, name, nodes)


def _network(scanner: Scanner, name: str, nodes: dict[str, _Node]) -> Network:
    variables = tuple(node.variable for node in nodes.values())
    structure = structure_of(variables, {child: node.parents for child, node in nodes.items()}, name, scanner.path)

    def fail(child: str, message: str) -> NoReturn:
        scanner.fail(message, nodes[child].position)

    noisy = [child for child, node in nodes.items() if node.is_noisy and structure.parents[child]]
    check_implied(structure, implied_by_noise(structure, noisy), fail)
    rounded, cpts, forms = RoundedSums(), dict[str, Numbers](), dict[str, NoisyForm]()
    for child, node in nodes.items():
        shape = structure.shape(child)
        if child not in noisy:
            cpts[child] = _values(scanner, node, shape)
            continue
        distributions = _values(scanner, node, (sum(shape[:-1]) + 1, shape[-1]))
        try:
            forms[child] = noisymax_form(structure, child, distributions, node.strengths, rounded)
        except NetworkError as error:
            fail(child, str(error))
    return assemble(structure, cpts, scanner.path, fail, forms, rounded)


# Nodes as text --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Node:
    """A node: the variable, its parents, and its numbers as text."""

    variable: Variable
    parents: tuple[str, ...]
    is_noisy: bool
    strengths: tuple[str, ...]
    numbers: str
    numbers_position: int
    position: int


def _node(scanner: Scanner, start: int) -> _Node:
    name = scanner.word("the name of a node")
    kind, parents, definition = "", list[str](), _Definition()
    seen: set[str] = set()
    properties: list[tuple[str, str]] = []
    for attribute in scanner.attributes(name, ("TYPE", "HEADER", "PARENTS", "DEFINITION"), seen):
        match attribute:
            case "TYPE":
                position = scanner.skip_blanks()
                kind = scanner.word(f"the type of {name}")
                if kind not in ("CPT", "NOISY_MAX"):
                    message = f"Node {name} is of type {kind[:40]}; only CPT and NOISY_MAX can be read."
                    scanner.fail(message, position)
            case "PARENTS":
                parents = _list(scanner, f"a parent of {name}")
            case "DEFINITION":
                definition = _definition(scanner, name)
            case "USER_PROPERTIES":
                for key in scanner.attributes(name, PROPERTIES):
                    properties.append((key, unquoted(scanner.skip_value(key).strip())))
            case "HEADER":
                _require_own_id(scanner, name)
            case _:
                scanner.skip_value(attribute)
                continue
        scanner.expect(";", f"after the {attribute} of {name}")
    scanner.take(";")
    for needed in ("TYPE", "DEFINITION"):
        if needed not in seen:
            scanner.fail(f"Node {name} has no {needed}.", start)
    try:
        variable = variable_with(name, definition.states, properties)
    except NetworkError as error:
        scanner.fail(str(error), start)
    return _Node(
        variable,
        tuple(parents),
        kind == "NOISY_MAX",
        definition.strengths,
        definition.numbers,
        definition.position,
        start,
    )


def _require_own_id(scanner: Scanner, name: str) -> None:
    """Skip the header of a node; a second name in it, or another one, is an error: nothing says which one counts."""
    for attribute in scanner.attributes(name, ("ID",)):
        start = scanner.skip_blanks()
        value = unquoted(scanner.skip_value(attribute).strip())
        if attribute == "ID" and value != name:
            scanner.fail(f"The ID of node {name} is `{value[:40]}`. Write the same name in both places.", start)


@dataclass(frozen=True, slots=True)
class _Definition:
    states: tuple[str, ...] = ()
    strengths: tuple[str, ...] = ()
    numbers: str = ""
    position: int = 0


def _definition(scanner: Scanner, name: str) -> _Definition:
    states, strengths, numbers, position = list[str](), list[str](), "", scanner.skip_blanks()
    for attribute in scanner.attributes(name, ("NAMESTATES", "PROBABILITIES", "STRENGTHS")):
        match attribute:
            case "NAMESTATES":
                states = _list(scanner, f"a state of {name}")
                scanner.expect(";", f"after the states of {name}")
            case "STRENGTHS":
                strengths = _list(scanner, f"a strength of {name}")
                scanner.expect(";", f"after the strengths of {name}")
            case "PROBABILITIES":
                position = scanner.skip_blanks()
                numbers = take_numbers(scanner, _NUMBERS, f"the probabilities of {name}")
            case _:
                scanner.skip_value(attribute)
    return _Definition(tuple(states), tuple(strengths), numbers, position)


def _list(scanner: Scanner, what: str) -> list[str]:
    scanner.expect("(", f"before {what}")
    return scanner.words_until(")", what)


def _values(scanner: Scanner, node: _Node, shape: tuple[int, ...]) -> Numbers:
    name, at = node.variable.name, node.numbers_position
    if empty := _EMPTY_PLACE.search(node.numbers):
        scanner.fail(f"A number is missing in the probabilities of {name}.", at + empty.start())
    values = parse_numbers(node.numbers.replace(",", " "))
    if values is None:
        wrong = next(word for word in re.findall(r"[^\s,]+", node.numbers) if not NUMBER.fullmatch(word))
        scanner.fail(f"Expected a number in the probabilities of {name}, not `{wrong[:40]}`.", at)
    if len(values) != prod(shape):
        scanner.fail(f"Node {name} has {counted(len(values), 'number')}; it needs {readable_count(prod(shape))}.", at)
    return values.reshape(shape)


# Writing --------------------------------------------------------------------------------------------------------------


def write_dsl(network: Network, path: PathLike) -> None:
    """Write the network as DSL. Variables whose name is not an identifier, or that have no CPT, are errors."""
    content = "".join(_lines(network)).encode("ascii")
    with replacing(path) as draft:
        draft.write_bytes(content)
    if (order := parents_first(network)) != network.names:
        warn_of_loss(path, f"DSL has parents before children: variables come back as {listing(order)}.")


def _lines(network: Network) -> Iterator[str]:
    # The name of the network is not important enough to fail.
    yield f"net {re.sub(r'[^A-Za-z0-9_]', '_', network.name) or 'network'}\n{{\n"
    for name in parents_first(network):
        variable = network.variable(name)
        written = identifiers(variable, WORD)
        parents, states = ", ".join(network.parents[name]), ", ".join(written)
        numbers = ", ".join(map(repr, network.cpt_array(name).ravel().tolist()))
        yield f" node {identifier(name, 'DSL')}\n  {{\n   TYPE = CPT;\n"
        yield f'   HEADER =\n    {{\n     ID = {name};\n     NAME = "{name}";\n    }};\n   PARENTS = ({parents});\n'
        yield f"   DEFINITION =\n    {{\n     NAMESTATES = ({states});\n"
        yield f"     PROBABILITIES = ({numbers});\n    }};\n"
        if properties := cut_properties(variable, written):
            yield "   USER_PROPERTIES =\n    {\n"
            yield from (f"     {key} = {in_quotes(value)};\n" for key, value in properties.items())
            yield "    };\n"
        yield "  };\n"
    yield "};\n"

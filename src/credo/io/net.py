"""NET, the format of Hugin: names, orders, and every bit of every number.

`data` has axes (parents…, child), the child varying fastest and the first parent slowest; brackets in it group numbers
and have to fit these axes. Of all attributes, `states` and `data` are read; `%` starts a comment.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NoReturn

from credo.errors import NetworkError, counted, readable_count
from credo.io.assembly import assemble, mistake_in_family, structure_of
from credo.io.cut_properties import cut_properties, variable_with
from credo.io.files import read_text, replacing
from credo.io.printed_numbers import NUMBER, parse_numbers
from credo.io.scanner import NET, QUOTED, Scanner, in_quotes, take_numbers, unquoted
from credo.model.network import Network, Variable
from credo.types import Numbers, PathLike

_DATA = re.compile(r"\s*+([-+.,()\s0-9eE]*+);")
_STATE = re.compile(rf'{QUOTED}|[^\s()"]++')
_OTHER_NODES = ("continuous", "decision", "utility", "function", "instance", "class")


def read_net(path: PathLike) -> Network:
    """The network in a NET file; its nodes are discrete chance nodes."""
    return parse_net(read_text(path), str(path))


def parse_net(text: str, path: str | None = None) -> Network:
    """The network that a NET text describes; `path` is for messages only."""
    scanner = Scanner(text, path, NET)
    name: str | None = None
    variables: dict[str, Variable] = {}
    potentials: dict[str, _Potential] = {}
    while scanner.next_symbol():
        start = scanner.position
        word = scanner.word("`net`, `node` or `potential`")
        if word == "discrete":
            word = scanner.word("`node`")
        match word:
            case "net":
                if name is not None:
                    scanner.fail("A second `net` block: a file holds one network.", start)
                name = _net_block(scanner)
            case "node":
                variable = _node(scanner, start)
                if variable.name in variables:
                    scanner.fail(f"Node {variable.name} is declared twice.", start)
                variables[variable.name] = variable
            case "potential":
                potential = _potential(scanner, start)
                if potential.child in potentials:
                    scanner.fail(f"A second `potential` of {potential.child}.", start)
                potentials[potential.child] = potential
            case _ if word in _OTHER_NODES:
                scanner.fail(f"This file has a `{word}`; only discrete chance nodes can be read.", start)
            case _:
                scanner.fail(f"Expected `net`, `node` or `potential`, not `{word[:40]}`.", start)
    if not variables:
        scanner.fail("The file declares no node: is it NET?")
    for potential in potentials.values():
        if (
            mistake := mistake_in_family(potential.child, potential.parents, variables, "potential", "node")
        ) is not None:
            scanner.fail(mistake, potential.position)
    parents = {child: potential.parents for child, potential in potentials.items()}
    structure = structure_of(tuple(variables.values()), parents, name or "network", path)
    cpts = {
        child: _cpt(scanner, structure, potential)
        for child, potential in potentials.items()
        if potential.data is not None
    }

    def fail(child: str, message: str) -> NoReturn:
        scanner.fail(message, potentials[child].position)

    return assemble(structure, cpts, path, fail)


# Blocks as text -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Potential:
    """The CPT of a child as text; None if it has no numbers."""

    child: str
    parents: tuple[str, ...]
    position: int
    data: str | None
    data_position: int


def _net_block(scanner: Scanner) -> str:
    name = ""
    for attribute in scanner.attributes("the network"):
        value = scanner.skip_value(attribute)
        if attribute == "name":
            name = unquoted(value.strip()) if re.fullmatch(f'{QUOTED}|[^\\s"]+', value.strip()) else ""
    return name


def _node(scanner: Scanner, start: int) -> Variable:
    name = scanner.word("the name of a node")
    states: list[str] | None = None
    properties: list[tuple[str, str]] = []
    for attribute in scanner.attributes(name):
        if attribute != "states":
            properties.append((attribute, unquoted(scanner.skip_value(attribute).strip())))
            continue
        if states is not None:
            scanner.fail(f"Node {name} has a second list of states.")
        states = _state_list(scanner, name)
    if states is None:
        scanner.fail(f"Node {name} has no states.", start)
    try:
        return variable_with(name, states, properties)
    except NetworkError as error:
        scanner.fail(str(error), start)


def _state_list(scanner: Scanner, name: str) -> list[str]:
    """States in quotes, or without: then anything but blanks and brackets belongs to one, as in pyAgrum's intervals."""
    scanner.expect("(", f"before the states of {name}")
    states: list[str] = []
    while not scanner.take(")"):
        match = _STATE.match(scanner.text, scanner.skip_blanks())
        if match is None or match.group() in (";", "}", "};"):
            scanner.fail(f"Expected a state of {name} or `)`, not {scanner.found()}.")
        scanner.position = match.end()
        states.append(unquoted(match.group()))
    scanner.expect(";", f"after the states of {name}")
    return states


def _potential(scanner: Scanner, start: int) -> _Potential:
    scanner.expect("(", "after `potential`")
    child = scanner.word("the name of a node")
    parents: list[str] = []
    if scanner.take("|"):
        parents = scanner.words_until(")", f"a parent of {child}")
    elif not scanner.take(")"):
        scanner.fail(f"Expected `|` or `)` after {child}, not {scanner.found()}: a potential has one child.")
    data, position, has_model = None, start, False
    for attribute in scanner.attributes(f"the potential of {child}"):
        has_model |= attribute.startswith("model_")
        if attribute != "data":
            scanner.skip_value(attribute)
            continue
        if data is not None:
            scanner.fail(f"The potential of {child} has a second `data`.")
        position = scanner.skip_blanks()
        data = take_numbers(scanner, _DATA, f"the data of {child}")
    if has_model and data is None:
        scanner.fail(f"The potential of {child} is given by a model; only `data` can be read.", start)
    return _Potential(child, tuple(parents), start, data, position)


# Blocks as CPTs -------------------------------------------------------------------------------------------------------


def _cpt(scanner: Scanner, structure: Network, potential: _Potential) -> Numbers:
    shape, text, at = structure.shape(potential.child), potential.data or "", potential.data_position
    values = parse_numbers(text.translate(_UNGROUPED))
    if values is None:
        wrong = next(word for word in re.finditer(r"[^\s(),]+", text) if not NUMBER.fullmatch(word.group()))
        message = f"Expected a number in the data of {potential.child}, not `{wrong.group()[:40]}`."
        scanner.fail(message, at + wrong.start())
    if len(values) != prod(shape):
        needed = readable_count(prod(shape))
        scanner.fail(f"The potential of {potential.child} has {counted(len(values), 'number')}; it needs {needed}.", at)
    _check_groups(scanner, potential, text, shape)
    return values.reshape(shape)


_UNGROUPED = str.maketrans("(),", "   ")
_GROUP = re.compile(r"[()]|[^\s(),]++")


def _check_groups(scanner: Scanner, potential: _Potential, text: str, shape: tuple[int, ...]) -> None:
    """Raise if brackets are not closed, or group numbers in another way than the parents do."""
    sizes = {prod(shape[axis:]) for axis in range(len(shape))} | {1}
    opened: list[int] = []
    numbers = 0
    for match in _GROUP.finditer(text):
        match match.group():
            case "(":
                opened.append(numbers)
            case ")":
                size = numbers - opened.pop() if opened else 0
                if size not in sizes or numbers % size:
                    scanner.fail(
                        f"The brackets in the data of {potential.child} do not fit its parents: numbers are grouped by "
                        f"{' × '.join(map(str, shape))}.",
                        potential.data_position + match.start(),
                    )
            case _:
                numbers += 1
    if opened:
        scanner.fail(f"A bracket in the data of {potential.child} is not closed.", potential.data_position)


# Writing --------------------------------------------------------------------------------------------------------------


def write_net(network: Network, path: PathLike) -> None:
    """Write the network as NET. Names that are not identifiers, and variables without a CPT, are errors."""
    content = "".join(_lines(network)).encode("utf-8")
    with replacing(path) as draft:
        draft.write_bytes(content)


def _lines(network: Network) -> Iterator[str]:
    yield f"net\n{{\n  name = {_quoted(network.name)};\n}}\n"
    for variable in network.variables:
        states = " ".join(map(_quoted, variable.states))
        yield f"\nnode {_identifier(variable.name)}\n{{\n  states = ({states});\n"
        for key, value in cut_properties(variable).items():
            yield f"  {key} = {_quoted(value)};\n"
        yield "}\n"
    for name in network.names:
        given = f" | {' '.join(network.parents[name])}" if network.parents[name] else ""
        yield f"\npotential ({name}{given})\n{{\n  data = "
        yield from _data_lines(network.cpt_array(name))
        yield "}\n"


def _data_lines(cpt: Numbers) -> Iterator[str]:
    """A line for each distribution, with a bracket wherever the state of a parent starts or ends."""
    steps = list(itertools.accumulate(reversed(cpt.shape[:-1]), lambda a, b: a * b, initial=1))
    distributions = cpt.reshape(-1, cpt.shape[-1]).tolist()
    for place, distribution in enumerate(distributions):
        opened = sum(place % step == 0 for step in steps)
        closed = sum((place + 1) % step == 0 for step in steps)
        blanks = "" if place == 0 else " " * (9 + len(steps) - opened)
        end = ";\n" if place + 1 == len(distributions) else "\n"
        yield f"{blanks}{'(' * opened}{' '.join(map(repr, distribution))}{')' * closed}{end}"


def _identifier(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise NetworkError(
            f'NET cannot hold the name "{name}": letters, digits and underscores only, and no digit first. BIF can.'
        )
    return name


def _quoted(text: str) -> str:
    if not text.isprintable():  # control characters and lone surrogates
        raise NetworkError(f"NET cannot hold the text {text!r}. BIF can.")
    return in_quotes(text)

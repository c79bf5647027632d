"""UAI, the format of the inference competitions: exact numbers, but no names.

Variables come back as `x0`, `x1`, … and states as `0`, `1`, …. A function lists the child last, and its last variable
varies fastest: the axes are (parents…, child). Files of pyAgrum, which are recognised by their comments, have the first
parent vary fastest. Cut points are in a file beside (`cut_properties.py`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from math import prod
from typing import NoReturn

import numpy as np

from credo.errors import FormatError, NetworkError, counted
from credo.io.assembly import assemble
from credo.io.cut_properties import beside, read_beside, write_beside
from credo.io.files import read_text, replacing, warn_of_loss
from credo.io.printed_numbers import NUMBER, number_text, parse_numbers
from credo.io.scanner import UAI, Scanner
from credo.model.network import Network
from credo.types import Numbers, PathLike

_COMMENT = re.compile(r"#[^\n]*|^c[^\S\n][^\n]*", re.MULTILINE)


def read_uai(path: PathLike) -> Network:
    """The network in a UAI file of type BAYES, with the cut points in the file beside it, if there is one."""
    return read_beside(parse_uai(read_text(path), str(path)), path)


def parse_uai(text: str, path: str | None = None) -> Network:
    """The network that a UAI text describes; `path` is for messages only."""
    scanner = Scanner(_COMMENT.sub("", text), path, UAI)
    if (kind := scanner.word("the type of the network")) != "BAYES":
        scanner.fail(f"Expected a network of type BAYES, not `{kind[:40]}`.")
    sizes = [_whole(scanner, "a number of states") for _ in range(_whole(scanner, "the number of variables"))]
    if 0 in sizes:
        scanner.fail(f"Variable x{sizes.index(0)} has no states.")
    if (functions := _whole(scanner, "the number of functions")) != len(sizes):
        scanner.fail(
            f"{counted(functions, 'function')} for {counted(len(sizes), 'variable')}: a Bayesian network has "
            "one for each."
        )
    scopes = _scopes(scanner, functions, len(sizes))
    cpts, firsts = _cpts(scanner, [tuple(sizes[index] for index in scope) for scope in scopes])
    if _has_reversed_parents(text, scopes, scanner):
        cpts = [
            np.ascontiguousarray(
                cpt.reshape(*cpt.shape[-2::-1], cpt.shape[-1]).transpose([*range(cpt.ndim - 2, -1, -1), -1])
            )
            for cpt in cpts
        ]
    # Only now that a CPT was found for every state: names of states take memory.
    variables = {f"x{index}": [str(state) for state in range(size)] for index, size in enumerate(sizes)}
    children = [f"x{scope[-1]}" for scope in scopes]
    parents = {child: [f"x{index}" for index in scope[:-1]] for child, scope in zip(children, scopes, strict=True)}
    try:
        structure = Network(variables, parents)
    except NetworkError as error:
        raise FormatError(str(error), path) from None

    def fail(name: str, message: str) -> NoReturn:
        _fail_at(scanner, scanner.position, firsts[children.index(name)], message)

    return assemble(structure, dict(zip(children, cpts, strict=True)), path, fail)


def _scopes(scanner: Scanner, functions: int, variables: int) -> list[list[int]]:
    """The variables of each function: the parents, then the child."""
    scopes, without_own_child, children = list[list[int]](), None, set[int]()
    for _ in range(functions):
        count = _whole(scanner, "a number of variables")
        scopes.append([_whole(scanner, "a variable", variables - 1) for _ in range(count)])
        if without_own_child is None and (not scopes[-1] or scopes[-1][-1] in children):
            without_own_child = scanner.position
        children.update(scopes[-1][-1:])
    if without_own_child is not None:
        message = "Each function needs a child of its own as its last variable."
        if len({scope[0] for scope in scopes if scope}) == functions:
            message += " Here it seems to be the first: list it last, with the numbers of the CPT in that order."
        scanner.fail(message, without_own_child)
    return scopes


def _cpts(scanner: Scanner, shapes: Sequence[tuple[int, ...]]) -> tuple[list[Numbers], list[int]]:
    """The CPTs, and which number is the first of each.

    Everything behind the functions is a number, first of each CPT how many follow.
    """
    start = scanner.skip_blanks()
    values = parse_numbers(scanner.text[start:])
    if values is None:
        wrong = next(
            match for match in re.finditer(r"\S+", scanner.text[start:]) if not NUMBER.fullmatch(match.group())
        )
        scanner.fail(f"Expected a number, not `{wrong.group()[:40]}`.", start + wrong.start())
    found, firsts, at = list[Numbers](), list[int](), 0
    for shape in shapes:
        if at >= len(values):
            scanner.fail("Expected the size of a CPT, not the end of the file (is it cut off?).", len(scanner.text))
        if values[at] != prod(shape):
            _fail_at(
                scanner,
                start,
                at,
                f"A CPT of size {values[at]:g} for a function that needs {counted(prod(shape), 'number')}.",
            )
        if at + 1 + prod(shape) > len(values):
            scanner.fail(
                f"Expected {counted(prod(shape), 'number')} of a CPT, not the end of the file (is it cut off?).",
                len(scanner.text),
            )
        found.append(values[at + 1 : at + 1 + prod(shape)].reshape(shape).copy())
        firsts.append(at + 1)
        at += 1 + prod(shape)
    if at < len(values):
        _fail_at(scanner, start, at, "Expected the end of the file after the last CPT, not another number.")
    return found, firsts


def _fail_at(scanner: Scanner, start: int, number: int, message: str) -> NoReturn:
    """Raise an error about the line of a number."""
    place = next(itertools.islice(re.finditer(r"\S+", scanner.text[start:]), number, None))
    scanner.fail(message, start + place.start())


def _has_reversed_parents(text: str, scopes: Sequence[Sequence[int]], scanner: Scanner) -> bool:
    """Whether pyAgrum wrote this file: it has the first parent vary fastest, where the format has the last.

    pyAgrum puts three blanks, `#` and a name behind every function, and lists variables in their order. A file with a
    comment behind every function that differs in this may have been one: with several parents it is refused.
    """
    behind = re.findall(r"^[ \t]*\d+(?: +\d+)*([ \t]*)#", text, re.MULTILINE)
    if len(behind) < len(scopes) or all(len(scope) < 3 for scope in scopes):
        return False
    in_order = all(scope[-1] == place for place, scope in enumerate(scopes))
    if not in_order or behind != ["   "] * len(scopes):
        scanner.fail(
            "It is not clear which parent varies fastest: the comments behind the functions are those of pyAgrum, but "
            "changed. If the last parent varies fastest, as the format wants it, remove the comments."
        )
    return True


def write_uai(network: Network, path: PathLike) -> None:
    """Write the network as UAI. All names are lost: variables and states keep their order only."""
    number = {name: index for index, name in enumerate(network.names)}
    lines = ["BAYES", str(len(network)), " ".join(str(len(variable.states)) for variable in network.variables)]
    lines.append(str(len(network)))
    for name in network.names:
        scope = [*network.parents[name], name]
        lines.append(" ".join(map(str, [len(scope), *(number[member] for member in scope)])))
    for name in network.names:
        cpt = network.cpt_array(name)
        lines += ["", str(cpt.size), number_text(cpt)]
    with replacing(path) as draft:
        draft.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    if write_beside(network, path):
        instead = "BIF keeps them in one file."
        warn_of_loss(path, f"UAI has no place for cut points: they are in {beside(path).name}, beside it.", instead)
    if any(variable.is_ordered for variable in network.variables):
        warn_of_loss(path, "UAI has no place for declared orders of states: they are not written.")
    unnamed = [(f"x{i}", tuple(map(str, range(len(own.states))))) for i, own in enumerate(network.variables)]
    if [(variable.name, variable.states) for variable in network.variables] != unnamed:
        warn_of_loss(path, "UAI has no names: variables come back as x0, x1, … and states as 0, 1, …, in their order.")


def _whole(scanner: Scanner, what: str, largest: int = 2**31) -> int:
    start = scanner.skip_blanks()
    word = scanner.word(what)
    if not re.fullmatch("[0-9]{1,18}", word) or int(word) > largest:
        scanner.fail(f"Expected {what}, a whole number, not `{word[:40]}`.", start)
    return int(word)

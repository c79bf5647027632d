"""UAI, the format of the inference competitions: exact numbers, but no names.

Variables come back as `x0`, `x1`, … and states as `0`, `1`, …. A function lists the child last, and its last variable
runs fastest: the axes are (parents…, child). (pyAgrum 3.3 has the first parent run fastest, in single precision.)
"""

from __future__ import annotations

import re
from math import prod
from pathlib import Path

import numpy as np

from credo.errors import FormatError, NetworkError
from credo.io.files import replacing, unreadable, warn_of_loss
from credo.io.scanner import NUMBER, Scanner, number_text
from credo.model.network import Network
from credo.types import Numbers, PathLike


def read_uai(path: PathLike) -> Network:
    """The network in a UAI file of type BAYES."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise FormatError(f"Byte {error.start} is not UTF-8 text. Save the file as UTF-8.", str(path)) from None
    scanner = Scanner(re.sub(r"#[^\n]*|^c\s[^\n]*", "", text, flags=re.MULTILINE), str(path))
    if (kind := scanner.word("the type of the network")) != "BAYES":
        scanner.fail(f"Expected a network of type BAYES, not `{kind[:40]}`.")
    sizes = [_whole(scanner, "a number of states", 2**31) for _ in range(_whole(scanner, "the number of variables"))]
    if (functions := _whole(scanner, "the number of functions")) != len(sizes):
        scanner.fail(f"{functions} functions for {len(sizes)} variables: a Bayesian network has one for each.")
    scopes = [
        [_whole(scanner, "a variable", len(sizes) - 1) for _ in range(_whole(scanner, "a number of variables"))]
        for _ in range(functions)
    ]
    parents: dict[str, list[str]] = {}
    cpts: dict[str, Numbers] = {}
    for scope in scopes:
        if not scope or f"x{scope[-1]}" in parents:
            scanner.fail("Each function needs a child of its own as its last variable.")
        shape = tuple(sizes[index] for index in scope)
        if (count := _whole(scanner, "the size of a CPT", 2**63)) != prod(shape):
            scanner.fail(f"A CPT of size {count} for a function that needs {prod(shape)} numbers.")
        child = f"x{scope[-1]}"
        parents[child] = [f"x{index}" for index in scope[:-1]]
        cpts[child] = np.array([_number(scanner) for _ in range(count)]).reshape(shape)
    try:
        variables = {f"x{index}": [str(state) for state in range(size)] for index, size in enumerate(sizes)}
        return Network(variables, parents, cpts)
    except NetworkError as error:
        raise FormatError(str(error), str(path)) from None


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
    unnamed = [(f"x{i}", tuple(map(str, range(len(own.states))))) for i, own in enumerate(network.variables)]
    if [(variable.name, variable.states) for variable in network.variables] != unnamed:
        warn_of_loss(path, "UAI has no names: variables come back as x0, x1, … and states as 0, 1, …, in their order.")


def _whole(scanner: Scanner, what: str, largest: int = 2**31) -> int:
    start = scanner.skip_blanks()
    word = scanner.word(what)
    if not re.fullmatch("[0-9]{1,18}", word) or int(word) > largest:
        scanner.fail(f"Expected {what}, a whole number, not `{word[:40]}`.", start)
    return int(word)


def _number(scanner: Scanner) -> float:
    start = scanner.skip_blanks()
    word = scanner.word("a number")
    if not NUMBER.fullmatch(word):
        scanner.fail(f"Expected a number, not `{word[:40]}`.", start)
    return float(word)

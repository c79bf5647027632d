"""Networks from and to files and objects: one table says which ending is read and written by whom."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from credo.errors import FormatError, NetworkError, closest
from credo.io.agrum import from_pyagrum
from credo.io.bif_read import read_bif
from credo.io.bif_write import write_bif
from credo.io.lossy import NOISY, warn_of_loss
from credo.io.net_dsl import read_with_pyagrum, write_with_pyagrum
from credo.io.noisy_tables import as_tables
from credo.io.pgmpy import from_pgmpy
from credo.io.uai import read_uai, write_uai
from credo.io.xdsl import read_xdsl, write_xdsl
from credo.io.xmlbif import read_xmlbif, write_xmlbif
from credo.model.network import Network


class FileFormat(NamedTuple):
    """How files of one ending are read and written."""

    read: Callable[[str | os.PathLike[str]], Network]
    write: Callable[[Network, str | os.PathLike[str]], None]
    keeps_noisy: bool = False  # families that are no full tables


FORMATS: dict[str, FileFormat] = {
    ".bif": FileFormat(read_bif, write_bif),
    ".bif.gz": FileFormat(read_bif, write_bif),
    ".xmlbif": FileFormat(read_xmlbif, write_xmlbif),
    ".bifxml": FileFormat(read_xmlbif, write_xmlbif),
    ".xdsl": FileFormat(read_xdsl, write_xdsl, keeps_noisy=True),
    ".uai": FileFormat(read_uai, write_uai),
    ".net": FileFormat(read_with_pyagrum, write_with_pyagrum),
    ".dsl": FileFormat(read_with_pyagrum, write_with_pyagrum),
}


def read_network(source: Any) -> Network:
    """A network from a file, a pgmpy model or a pyAgrum `BayesNet`; a `Network` is returned as it is.

    The ending says the format: `.bif`, `.bif.gz`, `.xmlbif`, `.bifxml`, `.xdsl`, `.uai`, and with pyAgrum `.net` and
    `.dsl`. Numbers are read exactly as they are written, except from `.net` and `.dsl`: there pyAgrum keeps single
    precision (errors up to 3e-8). UAI has no names: its variables are `x0`, `x1`, … and their states `0`, `1`, ….
    """
    if isinstance(source, Network):
        return source
    package = type(source).__module__.partition(".")[0]
    if package in _FROM_OBJECT:
        return _FROM_OBJECT[package](source)
    if not isinstance(source, str | os.PathLike):
        kind = type(source).__name__
        raise NetworkError(f"A network is a path, a Network, a pgmpy model or a pyAgrum BayesNet, not a {kind}.")
    path = Path(source)
    file_format = _format_of(path)
    _check_readable(path)
    return file_format.read(path)


def write_network(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network to a file, in the format of its ending; a failed write leaves what was there.

    What each format keeps:

    - `.bif`, `.bif.gz`: everything. Names, all orders, every bit of every number, variables without a table.
    - `.xmlbif`, `.bifxml`: the same; names with control characters or with blanks around them are an error.
    - `.xdsl`: every bit, the order of states and parents; variables are put in an order with parents first. Names that
      are no identifiers, and variables without a table, are an error.
    - `.uai`: every bit and every order, but no names at all. Variables without a table are an error.
    - `.net` (pyAgrum): every digit, but reading it gives single precision. `.dsl` (pyAgrum): six digits, which is an
      error where rows then no longer sum to one. The order of variables and parents may change; whatever else these
      two cannot hold is an error.

    Noisy families are kept by `.xdsl` alone, as GeNIe's noisy-MAX: there sets of several parents become variables. The
    other formats hold their full tables, and where these would be too large, a variable for each effect.

    Where something of this network is lost, a `LossyFormatWarning` says what.
    """
    if not isinstance(network, Network):
        raise NetworkError(f"What is written is a Network, not a {type(network).__name__}; read_network makes one.")
    if not isinstance(path, str | os.PathLike):
        raise FormatError(f"A network is written to a path, not to a {type(path).__name__}.")
    file_format = _format_of(Path(path))
    lost = ""
    if not file_format.keeps_noisy:
        network, lost = as_tables(network)
    try:
        file_format.write(network, path)
    except NetworkError as error:
        raise FormatError(str(error), str(path)) from None
    if lost:
        warn_of_loss(path, lost, instead=NOISY, callers=3)


_FROM_OBJECT: dict[str, Callable[[Any], Network]] = {"pgmpy": from_pgmpy, "pyagrum": from_pyagrum}


def _format_of(path: Path) -> FileFormat:
    name = path.name.lower()
    # `.bif.gz` has to be seen before `.gz` could be taken for an ending of its own.
    for ending in sorted(FORMATS, key=len, reverse=True):
        if name.endswith(ending):
            return FORMATS[ending]
    ending = "".join(path.suffixes) or "no ending"
    raise FormatError(f"Unknown kind of network file ({ending}). Known endings: {', '.join(FORMATS)}.", str(path))


def _check_readable(path: Path) -> None:
    """Say what is wrong with a path that is no file, with the nearest name in its folder."""
    try:
        if path.is_dir():
            raise FormatError("This is a folder, not a network file.", str(path))
        if path.is_file():
            return
        neighbours = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"This file cannot be read: {reason}.", str(path)) from None
    near = closest(path.name, neighbours)
    hint = f' Did you mean "{near}"?' if near else ""
    place = "" if path.parent.is_dir() else f" The folder {path.parent} does not exist either."
    raise FormatError(f"There is no such file.{hint}{place}", str(path))


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise what `write_network` would raise for this path, before there is anything to write."""
    target = Path(path)
    _format_of(target)
    if not target.parent.is_dir():
        raise FormatError(f"there is no folder {target.parent} to write to", str(target))
    if target.is_dir():
        raise FormatError("this is a folder, not a file to write to", str(target))

"""Networks from and to files, and from objects of other libraries.

A new file format is a module with two functions, `read_x(path) -> Network` and `write_x(network, path)`, and one line
in `FORMATS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credo.errors import FormatError, NetworkError
from credo.io.bif import read_bif, write_bif
from credo.io.dsl import read_dsl, write_dsl
from credo.io.files import require_file, require_target, warn_of_loss
from credo.io.net import read_net, write_net
from credo.io.netica import read_netica
from credo.io.noisy_formats import as_full_cpts
from credo.io.open_psa import is_fault_tree, write_fault_tree
from credo.io.pgmpy import from_pgmpy
from credo.io.pyagrum import from_pyagrum
from credo.io.uai import read_uai, write_uai
from credo.io.xdsl import read_xdsl, write_xdsl
from credo.io.xmlbif import read_xml, write_xmlbif
from credo.model.network import Network
from credo.types import PathLike, PgmpyModel, PyagrumModel

NetworkLike = Network | PathLike | PgmpyModel | PyagrumModel


@dataclass(frozen=True, slots=True)
class NetworkFormat:
    """A file format for networks.

    `read` raises a `FormatError` with the line of a mistake; `write` replaces a file completely or leaves it (see
    `files.replacing`) and calls `warn_of_loss` for what it cannot hold. A `NetworkError` that `write` raises becomes a
    `FormatError` about the file.
    """

    endings: tuple[str, ...]  # of file names, in lower case
    read: Callable[[PathLike], Network]
    write: Callable[[Network, PathLike], None] | None  # None where a format is read alone
    keeps_noisy: bool = False  # whether noisy families can be written; else `write` gets full CPTs
    write_fault_tree: Callable[[Network, PathLike], None] | None = None  # for networks of gates and events alone


FORMATS = (
    NetworkFormat((".bif", ".bif.gz"), read_bif, write_bif),
    NetworkFormat((".xmlbif", ".bifxml"), read_xml, write_xmlbif),
    NetworkFormat((".xml",), read_xml, write_xmlbif, write_fault_tree=write_fault_tree),
    NetworkFormat((".xdsl",), read_xdsl, write_xdsl, keeps_noisy=True),
    NetworkFormat((".uai",), read_uai, write_uai),
    NetworkFormat((".net",), read_net, write_net),
    NetworkFormat((".dsl",), read_dsl, write_dsl),
    NetworkFormat((".dne", ".dnet"), read_netica, None),
)
CLASS_NETWORK = ".oobn"
SAVED_FIT = ".fit"  # the ending of a fit, which holds a network and more
ENDINGS = tuple(ending for known in FORMATS for ending in known.endings)

# By the package that defines the object's type.
OBJECT_READERS: dict[str, Callable[[Any], Network]] = {"pgmpy": from_pgmpy, "pyagrum": from_pyagrum}


def read_network(source: NetworkLike) -> Network:
    """Read a network from a file or from an object of another library.

    The ending of a file determines its format: `.bif`, `.bif.gz`, `.xmlbif`, `.bifxml`, `.xml`, `.xdsl`, `.uai`,
    `.net`, `.dsl`, `.dne` or `.dnet`; `.xml` may hold fault trees of Open-PSA instead. Numbers are read exactly as they
    are written; distributions that do not sum to one because their digits are rounded are divided by their sums. UAI
    has no names: its variables are called `x0`, `x1`, … and their states `0`, `1`, ….

    Parameters
    ----------
    source : path, pgmpy model, pyAgrum BayesNet or Network
        What to read. A `Network` is returned as it is.

    Returns
    -------
    Network
        The network; a variable without numbers in the file has no CPT.

    Raises
    ------
    FormatError
        If the file does not follow its format, or its ending is unknown.
    MissingFileError
        If there is no such file. It is a `FileNotFoundError` too.
    FileError
        If the file cannot be read.
    TooLargeError
        If reading the file would take more memory than allowed.
    NetworkError
        If the source is neither a path nor a network.

    Warns
    -----
    RoundedNumbersWarning
        If distributions were divided by their sums.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.bif")
    >>> write_network(Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.5, 0.5]}), path)
    >>> read_network(path).cpts["coin"].tolist()
    [0.5, 0.5]
    """
    if isinstance(source, Network):
        return source
    package = type(source).__module__.partition(".")[0]
    if package in OBJECT_READERS:
        return OBJECT_READERS[package](source)
    if not isinstance(source, str | os.PathLike):
        kind = type(source).__name__
        raise NetworkError(f"A network is a path, a Network, a pgmpy model or a pyAgrum BayesNet, not a {kind}.")
    path = Path(source)
    known = _format_of(path, "Knowledge that declares its variables has a name that ends in .credo.")
    require_file(path, "network file")
    return known.read(path)


def write_network(network: Network, path: PathLike) -> None:
    """Write a network to a file, in the format of its ending; a failed write leaves the old file.

    What each format keeps:

    - `.bif`, `.bif.gz`: everything but noisy families. Names, all orders, every bit of every number, variables without
      a CPT.
    - `.xmlbif`, `.bifxml`, `.xml`: the same; names with control characters or with blanks around them are an error.
    - `.xdsl`: every bit, the order of states and parents, noisy families; variables are reordered so that parents come
      first. Names that are not identifiers, and variables without a CPT, are an error.
    - `.uai`: every bit and every order, but no names at all. Variables without a CPT are an error.
    - `.net`: every bit and every order. Names that are not identifiers, states with control characters, and variables
      without a CPT are an error.
    - `.dsl`: every bit, the order of states and parents; variables are reordered so that parents come first. Names and
      states that are not identifiers, and variables without a CPT, are an error.
    - `.dne`, `.dnet`: these are read alone.

    All keep cut points, to the last bit: as properties of the variable, or in a file `.uai.cuts.json` beside `.uai`.
    `.xdsl` and `.dsl` accept the states of measured variables whatever they are called.

    A network of gates and events of two states is written to `.xml` as a fault tree of Open-PSA, every other one as
    XMLBIF. Noisy families are kept by `.xdsl` alone, as GeNIe's noisy-MAX, in which sets of several parents become
    variables. The other formats hold their full CPTs, and where these would be too large, a variable for each effect.

    Parameters
    ----------
    network : Network
        The network.
    path : path
        The file; its ending determines the format.

    Raises
    ------
    FormatError
        If the ending is unknown, or the format cannot hold this network.
    FileError
        If the file cannot be written.

    Warns
    -----
    LossyFormatWarning
        If something of this network is lost; the message names it.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "coin.xdsl")
    >>> write_network(Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.5, 0.5]}), path)
    >>> os.path.exists(path)
    True
    """
    if not isinstance(network, Network):
        raise NetworkError(f"Only a Network can be written, not a {type(network).__name__}; read_network makes one.")
    if not isinstance(path, str | os.PathLike):
        raise FormatError(f"A network is written to a path, not to a {type(path).__name__}.")
    known = _format_of(Path(path))
    write = _writer(known, path)
    lost = ""
    if known.write_fault_tree is not None and is_fault_tree(network):
        write = known.write_fault_tree
    elif not known.keeps_noisy:
        network, lost = as_full_cpts(network)
    try:
        write(network, path)
    except NetworkError as error:
        raise FormatError(str(error), str(path)) from None
    if lost:
        warn_of_loss(path, lost, "XDSL keeps gates and most noisy families; a saved fit (.fit) keeps everything.")


def check_target(path: PathLike) -> None:
    """Raise what `write_network` would raise for this path, before there is anything to write."""
    _writer(_format_of(Path(path)), path)
    require_target(path)


def _writer(known: NetworkFormat, path: PathLike) -> Callable[[Network, PathLike], None]:
    if known.write is None:
        message = f"Files that end in {known.endings[0]} are read, not written. BIF keeps most: name it .bif."
        raise FormatError(message, str(path))
    return known.write


def _format_of(path: Path, instead: str = "") -> NetworkFormat:
    name = path.name.lower()
    for known in FORMATS:
        if name.endswith(known.endings):
            return known
    if name.endswith(SAVED_FIT):
        message = (
            "This names a saved fit, not a network: --save or fit.save writes it; credo query, show and convert read "
            "it, and credo.load in Python."
        )
        raise FormatError(message, str(path))
    if name.endswith(CLASS_NETWORK):
        message = "Networks of classes, which Hugin saves as .oobn, are not read. Save the network as .net in Hugin."
        raise FormatError(message, str(path))
    ending = "".join(path.suffixes) or "no ending"
    message = f"Unknown kind of network file ({ending}). Known endings: {', '.join(ENDINGS)}. {instead}"
    raise FormatError(message.rstrip(), str(path))

"""Hugin's NET and GeNIe's old DSL, through pyAgrum; what it writes is read again, so that no loss goes unnoticed."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np

from credo.errors import FormatError, NetworkError, listing
from credo.io.files import replacing, warn_of_loss
from credo.io.pyagrum import from_pyagrum, load_pyagrum, to_pyagrum
from credo.model.alignment import aligned_cpt
from credo.model.network import Network
from credo.types import PathLike, PyagrumModel

# pyAgrum writes DSL with six digits and reads both formats in single precision.
LARGEST_DIFFERENCE = 1e-5


def read_with_pyagrum(path: PathLike) -> Network:
    """The network in a file that pyAgrum can read. Its parsers keep single precision (errors up to 3e-8)."""
    pyagrum = load_pyagrum(f"Reading {Path(path).name}")
    try:
        return from_pyagrum(_load(pyagrum, path))
    except NetworkError as error:
        raise FormatError(str(error), str(path)) from None


def write_with_pyagrum(network: Network, path: PathLike) -> None:
    """Write the network in the format of the file's ending, and make sure that it can be read again.

    DSL keeps six digits, which is an error where distributions then no longer sum to one. The order of variables and
    parents may change; names and the order of states may not: a name that the format cannot hold is an error, and the
    old file stays.
    """
    pyagrum = load_pyagrum(f"Writing {Path(path).name}")
    missing = [name for name in network.names if name not in network.cpts]
    if missing:
        raise NetworkError(f"Variable {missing[0]} has no CPT, and this format needs one. BIF does not.")
    model = to_pyagrum(network)
    # Both formats accept only an identifier; the name of the network is not important enough to fail.
    model.setProperty("name", re.sub(r"\W", "_", network.name, flags=re.ASCII) or "network")
    with replacing(path, Path(path).suffix.lower()) as draft:
        try:
            pyagrum.saveBN(model, str(draft))
            again = from_pyagrum(_load(pyagrum, draft))
        except (pyagrum.GumException, FormatError, NetworkError) as error:
            reason = re.sub(r"\s+", " ", str(error).replace(str(draft), str(path)))
            raise FormatError(f"This format cannot hold the network: {reason} BIF can.", str(path)) from None
        if difference := _difference(network, again):
            raise FormatError(f"This format cannot hold the network: {difference} BIF can.", str(path))
    if lost := _lost(network, again):
        warn_of_loss(path, " ".join(lost))


def _load(pyagrum: ModuleType, path: PathLike) -> PyagrumModel:
    try:
        model: PyagrumModel = pyagrum.loadBN(str(path))
        return model
    except pyagrum.GumException as error:
        reason = re.sub(r"\s+", " ", str(error))
        raise FormatError(f"pyAgrum cannot read this: {reason}", str(path)) from None


def _lost(network: Network, again: Network) -> list[str]:
    """What is allowed to change, and did: orders, and digits."""
    found = []
    if again.names != network.names:
        found.append(f"Variables come back in the order {listing(again.names)}.")
    reordered = [name for name in network.names if again.parents[name] != network.parents[name]]
    if reordered:
        found.append(f"The parents of {listing(reordered)} come back in another order.")
    worst = max(
        float(np.abs(aligned_cpt(network, again, name) - network.cpt_array(name)).max()) for name in network.names
    )
    if worst > 0.0:
        found.append(f"Numbers come back changed by up to {worst:.1g}.")
    return found


def _difference(network: Network, again: Network) -> str | None:
    """What differs between a network and another, if anything, apart from the order of variables and parents."""
    for name in network.names:
        if name not in again:
            return f'The variable "{name}" does not come back.'
        if again.states(name) != network.states(name):
            return f"The states of {name} come back as {again.states(name)}."
        mine, theirs = network.parents[name], again.parents[name]
        if set(mine) != set(theirs):
            return f"The parents of {name} come back as {theirs}."
        if not np.allclose(aligned_cpt(network, again, name), network.cpt_array(name), rtol=0, atol=LARGEST_DIFFERENCE):
            return f"The numbers of {name} come back changed."
    return None

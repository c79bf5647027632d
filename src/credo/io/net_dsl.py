"""Hugin's NET and GeNIe's old DSL through pyAgrum; what it writes is read again, so that no label is lost unseen."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from credo.errors import FormatError, NetworkError, listing
from credo.io.agrum import from_pyagrum, load_pyagrum, to_pyagrum
from credo.io.atomic import replacing
from credo.io.lossy import warn_of_loss
from credo.model.network import Network, Table

# pyAgrum writes DSL with six digits and reads both formats in single precision.
LARGEST_DIFFERENCE = 1e-5


def read_with_pyagrum(path: str | os.PathLike[str]) -> Network:
    """The network in a file that pyAgrum can read. Its parsers keep single precision (errors up to 3e-8)."""
    pyagrum = load_pyagrum(f"Reading {Path(path).name}")
    try:
        return from_pyagrum(_load(pyagrum, path))
    except NetworkError as error:
        raise FormatError(str(error), str(path)) from None


def write_with_pyagrum(network: Network, path: str | os.PathLike[str]) -> None:
    """Write the network in the format of the file's ending, and make sure that it can be read again.

    DSL keeps six digits, which is an error where rows then no longer sum to one. The order of variables and parents
    may change; names and the order of states may not: a name that the format cannot hold is an error, and the old file
    stays.
    """
    pyagrum = load_pyagrum(f"Writing {Path(path).name}")
    missing = [name for name in network.names if name not in network.cpts]
    if missing:
        raise NetworkError(f"Variable {missing[0]} has no table, and this format needs one. BIF does not.")
    model = to_pyagrum(network)
    # Both formats take an identifier only, and the network's own name is not worth a failure.
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


def _load(pyagrum: Any, path: str | os.PathLike[str]) -> Any:
    try:
        return pyagrum.loadBN(str(path))
    except pyagrum.GumException as error:
        reason = re.sub(r"\s+", " ", str(error))
        raise FormatError(f"pyAgrum cannot read this: {reason}", str(path)) from None


def _lost(network: Network, again: Network) -> list[str]:
    """What is allowed to change, and did: orders, and digits."""
    found = []
    if again.names != network.names:
        found.append(f"Variables come back in the order {listing(again.names)}.")
    turned = [name for name in network.names if again.parents[name] != network.parents[name]]
    if turned:
        found.append(f"The parents of {listing(turned)} come back in another order.")
    worst = max(
        float(np.abs(_table_of(network, again, name) - network.cpt_array(name)).max()) for name in network.names
    )
    if worst > 0.0:
        found.append(f"Numbers come back changed by up to {worst:.1g}.")
    return found


def _table_of(network: Network, again: Network, name: str) -> Table:
    """A table of another network, with its axes in the order of this one."""
    mine, theirs = network.parents[name], again.parents[name]
    return again.cpt_array(name).transpose([*(theirs.index(parent) for parent in mine), len(mine)])


def _difference(network: Network, again: Network) -> str | None:
    """What of a network is not the same in another, if anything; orders of variables and parents apart."""
    for name in network.names:
        if name not in again:
            return f'The variable "{name}" does not come back.'
        if again.states(name) != network.states(name):
            return f"The states of {name} come back as {again.states(name)}."
        mine, theirs = network.parents[name], again.parents[name]
        if set(mine) != set(theirs):
            return f"The parents of {name} come back as {theirs}."
        if not np.allclose(_table_of(network, again, name), network.cpt_array(name), rtol=0, atol=LARGEST_DIFFERENCE):
            return f"The numbers of {name} come back changed."
    return None

"""pyAgrum: networks from and to its objects, and Hugin's NET and GeNIe's old DSL through it."""

from __future__ import annotations

import re
import warnings
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from credo.errors import FileError, FormatError, MissingExtraError, NetworkError, TooLargeError, listing, readable_bytes
from credo.io.files import replacing, warn_of_loss
from credo.io.noisy_formats import as_full_cpts
from credo.model.alignment import aligned_cpt
from credo.model.network import Network, Variable
from credo.types import Numbers, PathLike, PyagrumModel

# Objects --------------------------------------------------------------------------------------------------------------


# pyAgrum allocates every CPT as soon as its arcs are there; more than this (2 GB) in one CPT is refused.
LARGEST_CPT = 2**28


def load_pyagrum(purpose: str) -> ModuleType:
    """The package pyAgrum; `purpose` starts the message of the error if it is not installed."""
    try:
        with warnings.catch_warnings():
            # Its compiled part warns about itself on import, and crashes the process where warnings are errors.
            warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
            import pyagrum
    except ImportError:
        raise MissingExtraError("pyagrum", "agrum", purpose) from None
    return pyagrum  # type: ignore[no-any-return]


def from_pyagrum(model: PyagrumModel) -> Network:
    """A pyAgrum `BayesNet` as a network.

    Every discrete variable has labels as text (`[0;1.5[` for an interval). pyAgrum fills a CPT that was never set with
    zeros: such a variable gets no CPT.
    """
    pyagrum = load_pyagrum("A pyAgrum network")
    if not isinstance(model, pyagrum.BayesNet):
        raise NetworkError(f"Expected a pyAgrum BayesNet, not a {type(model).__name__}.")
    variables, parents, cpts = [], {}, {}
    for node in sorted(model.nodes()):
        variable, cpt = model.variable(node), model.cpt(node)
        name = variable.name()
        variables.append(Variable(name, tuple(variable.labels())))
        parents[name] = tuple(cpt.names[1:])
        axes, values = array_of(cpt)
        if values.any():
            cpts[name] = values.transpose([axes.index(axis) for axis in (*parents[name], name)])
    return Network(variables, parents, cpts, model.propertyWithDefault("name", "network"))


def to_pyagrum(network: Network) -> PyagrumModel:
    """The network as a pyAgrum `BayesNet` of labelled variables; a missing CPT is zeros, as pyAgrum makes it."""
    pyagrum = load_pyagrum("A pyAgrum network")
    network, lost = as_full_cpts(network)
    if lost:
        warn_of_loss("pyAgrum", lost, instead="")
    _check_text("The name of the network", network.name)
    for variable in network.variables:
        _check_text("The name of a variable", variable.name)
        for state in variable.states:
            _check_text(f"A state of {variable.name}", state)
        _check_size(network, variable.name)
    model = pyagrum.BayesNet(network.name)
    for name in network.names:
        try:
            model.add(pyagrum.LabelizedVariable(name, name, list(network.states(name))))
        except pyagrum.GumException as error:
            raise NetworkError(f"pyAgrum does not accept the variable {name}: {error}") from None
    for name in network.names:
        for parent in network.parents[name]:
            model.addArc(parent, name)
    for name, values in network.cpts.items():
        cpt = model.cpt(name)
        cpt[:] = _in_axes(values, (*network.parents[name], name), tuple(reversed(cpt.names)))
    return model  # type: ignore[no-any-return]


def array_of(tensor: Any) -> tuple[tuple[str, ...], Numbers]:
    """The numbers of a pyAgrum tensor, and the names of the array's axes, which are those of the tensor reversed."""
    names = tuple(reversed(tensor.names))
    shape = [tensor.variable(name).domainSize() for name in names]
    # pyAgrum drops the axes where every variable has one state.
    return names, np.array(tensor.toarray(), dtype=np.float64).reshape(shape)


def _in_axes(cpt: Numbers, axes: tuple[str, ...], wanted: tuple[str, ...]) -> Numbers:
    return np.ascontiguousarray(cpt.transpose([axes.index(axis) for axis in wanted]))


def _check_text(what: str, text: str) -> None:
    # Such text crashes pyAgrum or is cut off by it, both without a message.
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise NetworkError(f"{what} cannot be given to pyAgrum: {text!r} has a null character or a lone surrogate.")


def _check_size(network: Network, name: str) -> None:
    numbers = prod(network.shape(name))
    if numbers > LARGEST_CPT:
        size = readable_bytes(8 * numbers)
        raise TooLargeError(f"pyAgrum would need {size} for the CPT of {name} ({numbers:,} numbers).", 8 * numbers)


# Files ----------------------------------------------------------------------------------------------------------------


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
            if "I/O Error" in reason:
                raise FileError("This file cannot be written: the disk may be full.", path) from None
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

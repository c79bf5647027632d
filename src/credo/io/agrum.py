"""Networks from and to pyAgrum objects: parents matched by name, numbers copied exactly."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

import numpy as np

from credo.errors import MissingExtraError, NetworkError, TooLargeError, readable_bytes
from credo.io.lossy import warn_of_loss
from credo.io.noisy_tables import as_tables
from credo.model.network import Network, Table, Variable

# pyAgrum fills memory for every table as soon as its arcs are there; more than this (2 GB) in one table is refused.
LARGEST_TABLE = 2**28


def load_pyagrum(purpose: str) -> Any:
    """The package pyAgrum, imported when it is needed; `purpose` starts the message where it is missing."""
    try:
        with warnings.catch_warnings():
            # Its compiled part warns about itself on import, and crashes the process where warnings are errors.
            warnings.filterwarnings("ignore", "builtin type .* has no __module__ attribute", DeprecationWarning)
            import pyagrum
    except ImportError:
        raise MissingExtraError("pyagrum", "agrum", purpose) from None
    return pyagrum


def from_pyagrum(model: Any) -> Network:
    """A pyAgrum `BayesNet` as a network.

    Every discrete variable has labels as text (`[0;1.5[` for an interval). pyAgrum fills a table that nobody has set
    with zeros: such a variable gets no table.
    """
    pyagrum = load_pyagrum("A pyAgrum network")
    if not isinstance(model, pyagrum.BayesNet):
        raise NetworkError(f"Expected a pyAgrum BayesNet, not a {type(model).__name__}.")
    variables, parents, tables = [], {}, {}
    for node in sorted(model.nodes()):
        variable, cpt = model.variable(node), model.cpt(node)
        name = variable.name()
        variables.append(Variable(name, tuple(variable.labels())))
        parents[name] = tuple(cpt.names[1:])
        axes, values = array_of(cpt)
        if values.any():
            tables[name] = values.transpose([axes.index(axis) for axis in (*parents[name], name)])
    return Network(variables, parents, tables, model.propertyWithDefault("name", "network"))


def to_pyagrum(network: Network) -> Any:
    """The network as a pyAgrum `BayesNet` of labelled variables; a missing table stays as pyAgrum makes it: zeros."""
    pyagrum = load_pyagrum("A pyAgrum network")
    network, lost = as_tables(network)
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
            raise NetworkError(f"pyAgrum does not take the variable {name}: {error}") from None
    for name in network.names:
        for parent in network.parents[name]:
            model.addArc(parent, name)
    for name, table in network.cpts.items():
        cpt = model.cpt(name)
        cpt[:] = _in_axes(table, (*network.parents[name], name), tuple(reversed(cpt.names)))
    return model


def array_of(tensor: Any) -> tuple[tuple[str, ...], Table]:
    """The numbers of a pyAgrum tensor, and the names of the array's axes, which run backwards through the tensor's."""
    names = tuple(reversed(tensor.names))
    shape = [tensor.variable(name).domainSize() for name in names]
    # Where every variable has one state pyAgrum gives the axes up.
    return names, np.array(tensor.toarray(), dtype=np.float64).reshape(shape)


def _in_axes(table: Table, axes: tuple[str, ...], wanted: tuple[str, ...]) -> Table:
    return np.ascontiguousarray(table.transpose([axes.index(axis) for axis in wanted]))


def _check_text(what: str, text: str) -> None:
    # Such text crashes pyAgrum or is cut off by it, both without a message.
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise NetworkError(f"{what} cannot be given to pyAgrum: {text!r} has a null character or a lone surrogate.")


def _check_size(network: Network, name: str) -> None:
    numbers = prod(network.shape(name))
    if numbers > LARGEST_TABLE:
        size = readable_bytes(8 * numbers)
        raise TooLargeError(f"pyAgrum would need {size} for the table of {name} ({numbers:,} numbers).", 8 * numbers)

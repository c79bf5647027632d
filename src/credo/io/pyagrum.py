"""pyAgrum: networks from and to its objects."""

from __future__ import annotations

import warnings
from math import prod
from types import ModuleType
from typing import Any

import numpy as np

from credo.errors import MissingExtraError, NetworkError, TooLargeError, listing, readable_bytes
from credo.io.files import warn_of_loss
from credo.io.noisy_formats import as_full_cpts
from credo.io.printed_numbers import RoundedSums
from credo.model.network import Network, Variable
from credo.types import Numbers, PyagrumModel

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
    zeros: such a variable gets no CPT. Distributions that do not sum to one because pyAgrum read rounded digits are
    divided by their sums, with a warning.
    """
    pyagrum = load_pyagrum("A pyAgrum network")
    if not isinstance(model, pyagrum.BayesNet):
        raise NetworkError(f"Expected a pyAgrum BayesNet, not a {type(model).__name__}.")
    variables, parents, cpts, rounded = [], {}, {}, RoundedSums()
    for node in sorted(model.nodes()):
        variable, cpt = model.variable(node), model.cpt(node)
        name = variable.name()
        variables.append(Variable(name, tuple(variable.labels())))
        parents[name] = tuple(cpt.names[1:])
        axes, values = array_of(cpt)
        if values.any():
            values = values.transpose([axes.index(axis) for axis in (*parents[name], name)])
            cpts[name] = rounded.normalised(name, values)
    network = Network(variables, parents, cpts, model.propertyWithDefault("name", "network"))
    rounded.warn("The pyAgrum network")
    return network


def to_pyagrum(network: Network) -> PyagrumModel:
    """The network as a pyAgrum `BayesNet` of labelled variables; a missing CPT is zeros, as pyAgrum makes it."""
    pyagrum = load_pyagrum("A pyAgrum network")
    network, lost = as_full_cpts(network)
    if lost:
        warn_of_loss("pyAgrum", lost, instead="")
    if measured := [variable.name for variable in network.variables if variable.cuts is not None]:
        warn_of_loss("pyAgrum", f"The cut points of {listing(measured)} are not kept.")
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

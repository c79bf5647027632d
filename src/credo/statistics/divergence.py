"""How far two networks of one structure are apart: the Kullback-Leibler divergence of their joint distributions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from credo.errors import NetworkError, listing
from credo.io.agrum import array_of, load_pyagrum
from credo.network import Network, Table
from credo.statistics.align import aligned_table


def kl(network: Network, other: Network) -> float:
    """KL(network ‖ other) in nats, exactly, by families [yao, section 7.1]:

        Σ_X Σ_u P(u) Σ_x θ_x|u log(θ_x|u / θ'_x|u)

    where P(u) is the marginal of the parents of X under `network`, from exact inference. 0 log 0 is 0; the divergence
    is infinite where `other` rules out what `network` does not. Variables, states and parents are matched by name,
    whatever their order.
    """
    _check_names(network, other)
    rows = {name: _row_divergences(network.table(name), aligned_table(network, other, name)) for name in network.names}
    # A family whose rows all agree adds nothing, and needs no inference.
    apart = {name: divergences for name, divergences in rows.items() if divergences.any()}
    marginals = _parent_marginals(network, [name for name in apart if network.parents[name]])
    total = 0.0
    for name, divergences in apart.items():
        weights = marginals.get(name, np.ones(()))
        reached = weights > 0  # an impossible configuration adds nothing, even where its rows are infinitely apart
        total += float((weights[reached] * divergences[reached]).sum())
    return total


def _check_names(network: Network, other: Network) -> None:
    if more := [name for name in other if name not in network]:
        raise NetworkError(f"Only the other network has {listing(more)}: the two must have one structure.")


def _row_divergences(table: Table, other: Table) -> Table:
    """Σ_x θ_x log(θ_x / θ'_x) for each configuration of the parents; the last axis is summed away."""
    terms = np.zeros_like(table)
    possible = table > 0
    with np.errstate(divide="ignore"):
        # A difference of logarithms: the ratio of two numbers may overflow where its logarithm does not.
        terms[possible] = table[possible] * (np.log(table[possible]) - np.log(other[possible]))
    sums: Table = terms.sum(axis=-1)
    return sums


def _parent_marginals(network: Network, names: list[str]) -> dict[str, Table]:
    """P(parents of each of these variables), axes in the order of the parents."""
    marginals = {name: np.ones(network.shape(name)[:-1]) for name in names}
    # A variable with one state is a constant; pyAgrum's posteriors trip over them, so they are left out.
    number = {name: str(index) for index, name in enumerate(network.names) if len(network.states(name)) > 1}
    wanted = {name: [number[parent] for parent in network.parents[name] if parent in number] for name in names}
    wanted = {name: parents for name, parents in wanted.items() if parents}
    if not wanted:
        return marginals
    pyagrum = load_pyagrum("The divergence of two networks")
    model = _model(pyagrum, network, number)
    inference = pyagrum.LazyPropagation(model)
    for parents in wanted.values():
        if len(parents) == 1:
            inference.addTarget(parents[0])
        else:
            inference.addJointTarget(set(parents))
    inference.makeInference()
    for name, parents in wanted.items():
        joint = inference.posterior(parents[0]) if len(parents) == 1 else inference.jointPosterior(set(parents))
        axes, values = array_of(joint)
        marginals[name][...] = values.transpose([axes.index(parent) for parent in parents]).reshape(
            marginals[name].shape
        )
    return marginals


def _model(pyagrum: Any, network: Network, number: Mapping[str, str]) -> Any:
    """The network for pyAgrum with numbers for names, so that no name can trouble it."""
    model = pyagrum.BayesNet()
    for name in number:
        model.add(pyagrum.RangeVariable(number[name], "", 0, len(network.states(name)) - 1))
    for name in number:
        parents = [number[parent] for parent in network.parents[name] if parent in number]
        for parent in parents:
            model.addArc(parent, number[name])
        axes = (*parents, number[name])
        table = network.table(name).reshape([model.variable(axis).domainSize() for axis in axes])
        cpt = model.cpt(number[name])
        cpt[:] = np.ascontiguousarray(table.transpose([axes.index(axis) for axis in reversed(cpt.names)]))
    return model

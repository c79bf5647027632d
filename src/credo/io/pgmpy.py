"""Networks from and to pgmpy objects: parents and states matched by name, numbers copied exactly."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from credo.errors import MissingExtraError, NetworkError, first_duplicate, listing
from credo.io.files import warn_of_loss
from credo.io.noisy_formats import as_full_cpts
from credo.model.network import Network, Variable
from credo.types import Numbers, PgmpyModel

# pgmpy keeps the states of a variable in its CPT; for a variable without one they are an attribute of the node.
STATES_ATTRIBUTE = "states"
CUTS_ATTRIBUTE = "cut_points"  # of the node of a measured variable


def from_pgmpy(model: PgmpyModel) -> Network:
    """A pgmpy `DiscreteBayesianNetwork` as a network; names and states that are not texts become texts.

    Each CPT of pgmpy lists the states of its parents itself, in an order of its own; here they are put into the order
    of the parent's CPT. A variable without a CPT is kept as structure if its states are given anywhere.
    """
    if not hasattr(model, "nodes") or not hasattr(model, "get_cpds"):
        raise NetworkError(f"A pgmpy model is a DiscreteBayesianNetwork, not a {type(model).__name__}.")
    nodes = list(model.nodes())
    names = _texts(nodes, "Two variables of the pgmpy model")
    cpds = {node: cpd for node in nodes if (cpd := model.get_cpds(node)) is not None}
    states = {node: _states(model, cpds, node, name) for node, name in zip(nodes, names.values(), strict=True)}
    parents: dict[str, tuple[str, ...]] = {}
    cpts: dict[str, Numbers] = {}
    for node, name in names.items():
        own = list(model.get_parents(node))
        if node in cpds:
            given = list(cpds[node].variables[1:])
            if set(given) != set(own):
                edges, in_cpt = listing([names[key] for key in own]), listing([str(key) for key in given])
                raise NetworkError(
                    f"The pgmpy model has edges to {name} from {edges or 'no variable'}, but the parents in its CPT "
                    f"are {in_cpt or 'none'}."
                )
            own = given
            cpts[name] = _cpt(cpds[node], states)
        parents[name] = tuple(names[parent] for parent in own)
    variables = [
        Variable(
            name,
            tuple(_texts(states[node], f"Two states of {name}").values()),
            model.nodes[node].get(CUTS_ATTRIBUTE),
        )
        for node, name in names.items()
    ]
    return Network(variables, parents, cpts, getattr(model, "name", "") or "network")


def to_pgmpy(network: Network) -> PgmpyModel:
    """The network as a pgmpy `DiscreteBayesianNetwork` with a `TabularCPD` for each CPT.

    pgmpy knows states only from CPTs: every node also has them in its attribute `states`, so that a network without
    CPTs survives the way back through `from_pgmpy`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pgmpy's own imports warn about each other's versions
            from pgmpy.factors.discrete import TabularCPD
            from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        raise MissingExtraError("pgmpy", "pgmpy", "A pgmpy model") from None
    network, lost = as_full_cpts(network)
    if lost:
        warn_of_loss("pgmpy", lost, instead="")
    model = DiscreteBayesianNetwork()
    model.name = network.name
    for name in network.names:
        model.add_node(name)
        model.nodes[name][STATES_ATTRIBUTE] = network.states(name)
        if (cuts := network.variable(name).cuts) is not None:
            model.nodes[name][CUTS_ATTRIBUTE] = cuts
    for name in network.names:
        for parent in network.parents[name]:
            model.add_edge(parent, name)
    for name, cpt in network.cpts.items():
        family = (name, *network.parents[name])
        cpd = TabularCPD(
            name,
            len(network.states(name)),
            cpt.reshape(-1, cpt.shape[-1]).T.copy(),
            evidence=list(family[1:]),
            evidence_card=list(cpt.shape[:-1]),
            state_names={member: list(network.states(member)) for member in family},
        )
        model.add_cpds(cpd)
    return model  # type: ignore[no-any-return]


def _states(model: PgmpyModel, cpds: dict[Any, Any], node: Any, name: str) -> list[Any]:
    """The states of a node: from its own CPT, else from its attribute, else from the CPT of a child."""
    if node in cpds:
        return list(cpds[node].state_names[node])
    if STATES_ATTRIBUTE in model.nodes[node]:
        return list(model.nodes[node][STATES_ATTRIBUTE])
    for cpd in cpds.values():
        if node in cpd.variables:
            return list(cpd.state_names[node])
    raise NetworkError(
        f"The pgmpy model does not list the states of {name}, which has no CPT. Give the model its CPTs, "
        f"or set model.nodes[{node!r}]['{STATES_ATTRIBUTE}']."
    )


def _cpt(cpd: Any, states: dict[Any, list[Any]]) -> Numbers:
    """The values of a pgmpy CPT with axes (parents…, child), each axis in the order of `states`."""
    values: Numbers = np.asarray(cpd.values, dtype=np.float64)
    for axis, node in enumerate(cpd.variables):
        own = list(cpd.state_names[node])
        if own == states[node]:
            continue
        if len(own) != len(states[node]) or set(own) != set(states[node]):
            raise NetworkError(
                f"The pgmpy CPT of {cpd.variable} has other states for {node} ({listing(list(map(str, own)))}) "
                f"than the CPT of {node} itself ({listing(list(map(str, states[node])))})."
            )
        values = values.take([own.index(state) for state in states[node]], axis=axis)
    return np.moveaxis(values, 0, -1)


def _texts(values: Sequence[Hashable], two: str) -> dict[Any, str]:
    """Each value with its text; two that become the same text are an error."""
    texts = {value: value if isinstance(value, str) else str(value) for value in values}
    if (duplicate := first_duplicate(texts[value] for value in values)) is not None:
        raise NetworkError(f'{two} become the same text "{duplicate}".')
    return texts

"""Networks from and to pgmpy objects: parents and states matched by name, numbers copied exactly."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from credo.errors import MissingExtraError, NetworkError, listing
from credo.io.lossy import warn_of_loss
from credo.io.noisy_tables import as_tables
from credo.model.names import first_duplicate
from credo.model.network import Network, Table, Variable

# Where pgmpy keeps no states (a variable without a table), they travel as an attribute of the node.
STATES_ATTRIBUTE = "states"


def from_pgmpy(model: Any) -> Network:
    """A pgmpy `DiscreteBayesianNetwork` as a network; names and states that are no text become text.

    Each table of pgmpy lists the states of its parents itself, in an order of its own; here they are put into the
    order of the parent's table. A variable without a table is kept as structure if its states stand anywhere.
    """
    if not hasattr(model, "nodes") or not hasattr(model, "get_cpds"):
        raise NetworkError(f"A pgmpy model is a DiscreteBayesianNetwork, not a {type(model).__name__}.")
    nodes = list(model.nodes())
    names = _texts(nodes, "Two variables of the pgmpy model")
    cpds = {node: cpd for node in nodes if (cpd := model.get_cpds(node)) is not None}
    states = {node: _states(model, cpds, node, name) for node, name in zip(nodes, names.values(), strict=True)}
    parents: dict[str, tuple[str, ...]] = {}
    tables: dict[str, Table] = {}
    for node, name in names.items():
        own = list(model.get_parents(node))
        if node in cpds:
            given = list(cpds[node].variables[1:])
            if set(given) != set(own):
                raise NetworkError(
                    f"The pgmpy model draws edges to {name} from {listing([names[key] for key in own]) or 'nobody'}, "
                    f"its table is given {listing([str(key) for key in given]) or 'nobody'}."
                )
            own = given
            tables[name] = _table(cpds[node], states)
        parents[name] = tuple(names[parent] for parent in own)
    variables = [
        Variable(name, tuple(_texts(states[node], f"Two states of {name}").values())) for node, name in names.items()
    ]
    return Network(variables, parents, tables, getattr(model, "name", "") or "network")


def to_pgmpy(network: Network) -> Any:
    """The network as a pgmpy `DiscreteBayesianNetwork` with a `TabularCPD` for each table.

    pgmpy knows states only from tables: every node also carries its own in the attribute `states`, so that a network
    without tables comes back whole through `from_pgmpy`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pgmpy's own imports warn about each other's versions
            from pgmpy.factors.discrete import TabularCPD
            from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        raise MissingExtraError("pgmpy", "pgmpy", "A pgmpy model") from None
    network, lost = as_tables(network)
    if lost:
        warn_of_loss("pgmpy", lost, instead="")
    model = DiscreteBayesianNetwork()
    model.name = network.name
    for name in network.names:
        model.add_node(name)
        model.nodes[name][STATES_ATTRIBUTE] = network.states(name)
    for name in network.names:
        for parent in network.parents[name]:
            model.add_edge(parent, name)
    for name, table in network.cpts.items():
        family = (name, *network.parents[name])
        cpd = TabularCPD(
            name,
            len(network.states(name)),
            table.reshape(-1, table.shape[-1]).T.copy(),
            evidence=list(family[1:]),
            evidence_card=list(table.shape[:-1]),
            state_names={member: list(network.states(member)) for member in family},
        )
        model.add_cpds(cpd)
    return model


def _states(model: Any, cpds: dict[Any, Any], node: Any, name: str) -> list[Any]:
    """The states of a node: from its own table, else from its attribute, else from the table of a child."""
    if node in cpds:
        return list(cpds[node].state_names[node])
    if STATES_ATTRIBUTE in model.nodes[node]:
        return list(model.nodes[node][STATES_ATTRIBUTE])
    for cpd in cpds.values():
        if node in cpd.variables:
            return list(cpd.state_names[node])
    raise NetworkError(
        f"The pgmpy model does not say which states {name} has: it has no table. Give the model its tables, "
        f"or set model.nodes[{node!r}]['{STATES_ATTRIBUTE}']."
    )


def _table(cpd: Any, states: dict[Any, list[Any]]) -> Table:
    """The values of a pgmpy table with axes (parents…, child), each axis in the order of `states`."""
    values: Table = np.asarray(cpd.values, dtype=np.float64)
    for axis, node in enumerate(cpd.variables):
        own = list(cpd.state_names[node])
        if own == states[node]:
            continue
        if len(own) != len(states[node]) or set(own) != set(states[node]):
            raise NetworkError(
                f"The pgmpy table of {cpd.variable} has other states for {node} ({listing(list(map(str, own)))}) "
                f"than its own table ({listing(list(map(str, states[node])))})."
            )
        values = values.take([own.index(state) for state in states[node]], axis=axis)
    return np.moveaxis(values, 0, -1)


def _texts(values: Sequence[Hashable], two: str) -> dict[Any, str]:
    """Each value with its text; two that become the same text are an error."""
    texts = {value: value if isinstance(value, str) else str(value) for value in values}
    if (twice := first_duplicate([texts[value] for value in values])) is not None:
        raise NetworkError(f'{two} become the same text "{twice}".')
    return texts

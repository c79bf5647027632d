"""XDSL, the format of GeNIe, read and written exactly.

`<probabilities>` has axes (parents…, child), the child running fastest and the first parent slowest. pyAgrum 3.3 takes
the first parent for the fastest, writes six digits and needs the `<extensions>` part, so it is not used here.
"""

from __future__ import annotations

import os
import re
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from credo.errors import FormatError, NetworkError, listing, suggestion
from credo.io.formats.atomic import replacing
from credo.io.formats.xml_text import number_text, numbers_of, read_tree, text_of, tree_bytes
from credo.io.lossy import warn_of_loss
from credo.network import Network, Table, Variable


def read_xdsl(path: str | os.PathLike[str]) -> Network:
    """The network in an XDSL file; nodes are chance nodes with a table (`cpt`) or `deterministic`."""
    root = read_tree(path)
    try:
        return _network(root)
    except NetworkError as error:
        raise FormatError(str(error), str(path)) from None


def write_xdsl(network: Network, path: str | os.PathLike[str]) -> None:
    """Write the network as XDSL. Names that are no identifiers, and variables without a table, are errors."""
    root = Element("smile", version="1.0", id=_identifier(network.name))
    nodes = SubElement(root, "nodes")
    labels = SubElement(SubElement(root, "extensions"), "genie", version="1.0", app="credo", name=network.name)
    for name in network.order:  # GeNIe wants parents before children
        element = SubElement(nodes, "cpt", id=_identifier(name))
        for state in network.states(name):
            SubElement(element, "state", id=_identifier(state))
        if network.parents[name]:
            SubElement(element, "parents").text = " ".join(network.parents[name])
        SubElement(element, "probabilities").text = number_text(network.table(name))
        SubElement(SubElement(labels, "node", id=name), "name").text = name
    with replacing(path) as draft:
        draft.write_bytes(tree_bytes(root))
    if network.order != network.names:
        warn_of_loss(path, f"XDSL has parents before children: variables come back as {listing(network.order)}.")


def _identifier(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise NetworkError(f'XDSL takes letters, digits and underscores only, and no digit first, not "{name}".')
    return name


def _network(root: Element) -> Network:
    nodes = root.find("nodes")
    if root.tag != "smile" or nodes is None:
        raise NetworkError(f"Expected <smile> with <nodes> in it, not <{root.tag}>.")
    variables, parents = [], {}
    for element in nodes:
        name = element.get("id", "")
        if element.tag not in ("cpt", "deterministic"):
            raise NetworkError(f"Node {name} is a <{element.tag}>; only <cpt> and <deterministic> can be read.")
        variables.append(Variable(name, tuple(state.get("id", "") for state in element.findall("state"))))
        parents[name] = text_of(element.find("parents")).split()
    structure = Network(variables, parents, name=root.get("id") or "network")
    return structure.with_tables({element.get("id", ""): _table(structure, element) for element in nodes})


def _table(structure: Network, element: Element) -> Table:
    name = element.get("id", "")
    if element.tag == "cpt":
        text = text_of(element.find("probabilities"))
        return numbers_of(text, structure.shape(name), f"The table of {name}")
    states = structure.states(name)
    results = text_of(element.find("resultingstates")).split()
    if len(results) != structure.configurations(name):
        raise NetworkError(f"Node {name} has {len(results)} resulting states; it needs one for each configuration.")
    for result in results:
        if result not in states:
            raise NetworkError(f'Node {name} results in "{result}", which is no state.{suggestion(result, states)}')
    table: Table = np.eye(len(states))[[states.index(result) for result in results]]
    return table.reshape(structure.shape(name))

"""XMLBIF 0.3, read and written exactly.

A `TABLE` has axes (givens…, child), the child varying fastest. A `DEFINITION` without a `TABLE` is structure.
A second `TABLE`, `FOR` or `NETWORK` is an error: nothing says which one counts. Cut points are properties of a variable
(`cut_properties.py`).
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from credo.io.assembly import assemble
from credo.io.cut_properties import cut_properties, property_of, variable_with
from credo.io.open_psa import ROOT as FAULT_TREES
from credo.io.open_psa import fault_tree_network
from credo.io.printed_numbers import number_text, numbers_of
from credo.io.xml_tree import XmlElement, checked_text, read_tree, write_tree
from credo.model.network import Network, Variable
from credo.types import Numbers, PathLike


def read_xml(path: PathLike) -> Network:
    """The network in an XMLBIF file, or the fault trees in a file of Open-PSA, which has the same ending."""
    root = read_tree(path).root
    return fault_tree_network(root) if root.tag == FAULT_TREES else _network(root)


def write_xmlbif(network: Network, path: PathLike) -> None:
    """Write the network as XMLBIF; a name that XML cannot hold (control characters, blanks around it) is an error."""
    root = Element("BIF", VERSION="0.3")
    body = SubElement(root, "NETWORK")
    SubElement(body, "NAME").text = checked_text(network.name)
    for variable in network.variables:
        element = SubElement(body, "VARIABLE", TYPE="nature")
        SubElement(element, "NAME").text = checked_text(variable.name)
        for state in variable.states:
            SubElement(element, "OUTCOME").text = checked_text(state)
        for key, value in cut_properties(variable).items():
            SubElement(element, "PROPERTY").text = f"{key} = {value}"
    for name in network.names:
        element = SubElement(body, "DEFINITION")
        SubElement(element, "FOR").text = name
        for parent in network.parents[name]:
            SubElement(element, "GIVEN").text = parent
        if name in network.cpts:
            SubElement(element, "TABLE").text = number_text(network.cpts[name])
    write_tree(root, path)


def _network(root: XmlElement) -> Network:
    body = root.only("NETWORK")
    if root.tag != "BIF" or body is None:
        root.fail(f"Expected <BIF> with a <NETWORK> in it, not <{root.tag}>.")
    variables = [_variable(element) for element in body.all("VARIABLE")]
    # Version 0.2 has PROBABILITY for DEFINITION and VALUE for OUTCOME.
    definitions: dict[str, XmlElement] = {}
    for element in body.all("DEFINITION", "PROBABILITY"):
        child = element.text_of("FOR")
        if child in definitions or not child:
            element.fail(f"Expected one definition for one variable; see that of {child or 'a variable'}.")
        definitions[child] = element
    parents = {child: [given.text() for given in element.all("GIVEN")] for child, element in definitions.items()}
    with body.located():
        structure = Network(variables, parents, name=body.text_of("NAME") or "network")
    cpts: dict[str, Numbers] = {}
    for child, element in definitions.items():
        if (table := element.only("TABLE")) is not None:
            with table.located():
                cpts[child] = numbers_of(table.text(), structure.shape(child), f"The CPT of {child}")
    return assemble(structure, cpts, root.path, lambda child, message: definitions[child].fail(message))


def _variable(element: XmlElement) -> Variable:
    name = element.text_of("NAME")
    kind = element.get("TYPE", "nature")
    if kind != "nature":
        element.fail(f"Variable {name} is of type {kind}; only `nature` can be read.")
    with element.located():
        properties = [property_of(each.text()) for each in element.all("PROPERTY")]
        states = [state.text() for state in element.all("OUTCOME", "VALUE")]
        return variable_with(name, states, [each for each in properties if each is not None])

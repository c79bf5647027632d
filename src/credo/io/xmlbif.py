"""XMLBIF 0.3, read and written exactly.

A `TABLE` has axes (givens…, child), the child running fastest. A `DEFINITION` without a `TABLE` is structure.
pyAgrum 3.3 writes six digits, escapes nothing and sorts states that look like numbers, so it is not used here.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from credo.errors import FormatError, NetworkError
from credo.io.scanner import number_text, numbers_of
from credo.io.xml_tree import checked_text, read_tree, text_of, write_tree
from credo.model.network import Network, Variable
from credo.types import PathLike


def read_xmlbif(path: PathLike) -> Network:
    """The network in an XMLBIF file."""
    root = read_tree(path)
    try:
        return _network(root)
    except NetworkError as error:
        raise FormatError(str(error), str(path)) from None


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
    for name in network.names:
        element = SubElement(body, "DEFINITION")
        SubElement(element, "FOR").text = name
        for parent in network.parents[name]:
            SubElement(element, "GIVEN").text = parent
        if name in network.cpts:
            SubElement(element, "TABLE").text = number_text(network.cpts[name])
    write_tree(root, path)


def _network(root: Element) -> Network:
    body = root.find("NETWORK")
    if root.tag != "BIF" or body is None:
        raise NetworkError(f"Expected <BIF> with a <NETWORK> in it, not <{root.tag}>.")
    variables = [_variable(element) for element in body.findall("VARIABLE")]
    # Version 0.2 has PROBABILITY for DEFINITION and VALUE for OUTCOME.
    definitions: dict[str, Element] = {}
    for element in (*body.findall("DEFINITION"), *body.findall("PROBABILITY")):
        child = text_of(element.find("FOR"))
        if child in definitions or len(element.findall("FOR")) != 1:
            raise NetworkError(f"Expected one definition for one variable; see that of {child or 'a variable'}.")
        definitions[child] = element
    parents = {child: [text_of(given) for given in element.findall("GIVEN")] for child, element in definitions.items()}
    structure = Network(variables, parents, name=text_of(body.find("NAME")) or "network")
    cpts = {
        child: numbers_of(text_of(table), structure.shape(child), f"The CPT of {child}")
        for child, element in definitions.items()
        if (table := element.find("TABLE")) is not None
    }
    return structure.with_cpts(cpts)


def _variable(element: Element) -> Variable:
    name = text_of(element.find("NAME"))
    kind = element.get("TYPE", "nature")
    if kind != "nature":
        raise NetworkError(f"Variable {name} is of type {kind}; only `nature` can be read.")
    states = [text_of(state) for state in (*element.findall("OUTCOME"), *element.findall("VALUE"))]
    return Variable(name, tuple(states))

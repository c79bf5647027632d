"""XDSL, the format of GeNIe, read and written exactly.

`<probabilities>` has axes (parents…, child), the child running fastest and the first parent slowest. pyAgrum 3.3 takes
the first parent for the fastest, writes six digits and needs the `<extensions>` part, so it is not used here.

A `<noisymax>` lists its states from winning to losing. `<parameters>` has a distribution of the child for each state of
each parent, and one for the leak; within a parent they stand in the order of `<strengths>`, which lists the numbers of
the parent's states, and the last one has no effect: all its probability is on the child's last state.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from credo.errors import FormatError, NetworkError, listing, suggestion
from credo.io.files import warn_of_loss
from credo.io.noisy_formats import as_noisymax
from credo.io.scanner import number_text, numbers_of
from credo.io.xml_tree import read_tree, text_of, write_tree
from credo.model.network import Network, Variable
from credo.model.noisy import NoisyForm
from credo.types import Numbers, PathLike


def read_xdsl(path: PathLike) -> Network:
    """The network in an XDSL file; nodes are chance nodes with a CPT (`cpt`), `noisymax` or `deterministic`."""
    root = read_tree(path)
    try:
        return _network(root)
    except NetworkError as error:
        raise FormatError(str(error), str(path)) from None


def write_xdsl(network: Network, path: PathLike) -> None:
    """Write the network as XDSL. Names that are not identifiers, and variables without a CPT, are errors."""
    names = network.names
    network, lost = as_noisymax(network)
    root = Element("smile", version="1.0", id=_identifier(network.name))
    nodes = SubElement(root, "nodes")
    labels = SubElement(SubElement(root, "extensions"), "genie", version="1.0", app="credo", name=network.name)
    for name in network.order:  # GeNIe wants parents before children
        form = network.forms.get(name)
        noisy = form is not None and form.cpts != ()
        element = SubElement(nodes, "noisymax" if noisy else "cpt", id=_identifier(name))
        for state in network.states(name):
            SubElement(element, "state", id=_identifier(state))
        if network.parents[name]:
            SubElement(element, "parents").text = " ".join(network.parents[name])
        if form is not None and noisy:
            _write_noisy(element, form)
        else:
            SubElement(element, "probabilities").text = number_text(network.cpt_array(name))
        SubElement(SubElement(labels, "node", id=name), "name").text = name
    write_tree(root, path)
    if [name for name in network.order if name in names] != list(names):
        warn_of_loss(path, f"XDSL has parents before children: variables come back as {listing(network.order)}.")
    if lost:
        warn_of_loss(path, " ".join(lost), instead="A pickle keeps everything.")


def _write_noisy(element: Element, form: NoisyForm) -> None:
    """Strengths and parameters of a form whose sets are single parents (see `as_noisymax`)."""
    strengths, distributions = list[int](), list[Numbers]()
    for cpt in form.cpts[: len(form.sets)]:
        idle = int(np.argmax(cpt[:, -1]))  # the state without effect
        strengths += (order := [*(state for state in range(len(cpt)) if state != idle), idle])
        distributions += [cpt[state] for state in order]
    leak = form.cpts[-1] if form.leak else np.eye(len(form.order))[-1]
    SubElement(element, "strengths").text = " ".join(map(str, strengths))
    SubElement(element, "parameters").text = number_text(np.concatenate([*distributions, leak]))


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
        if element.tag not in ("cpt", "deterministic", "noisymax"):
            raise NetworkError(
                f"Node {name} is a <{element.tag}>; only <cpt>, <noisymax> and <deterministic> can be read."
            )
        variables.append(Variable(name, tuple(state.get("id", "") for state in element.findall("state"))))
        parents[name] = text_of(element.find("parents")).split()
    structure = Network(variables, parents, name=root.get("id") or "network")
    noisy = [element for element in nodes if element.tag == "noisymax" and structure.parents[element.get("id", "")]]
    cpts = {element.get("id", ""): _cpt(structure, element) for element in nodes if element not in noisy}
    forms = {element.get("id", ""): _form(structure, element) for element in noisy}
    return structure.with_cpts(cpts).with_forms(forms)


def _form(structure: Network, element: Element) -> NoisyForm:
    """A noisy-MAX: each parent a cause of its own, and a leak unless it has no effect."""
    name = element.get("id", "")
    states, parents = structure.states(name), structure.parents[name]
    sizes = structure.shape(name)[:-1]
    text = text_of(element.find("parameters"))
    distributions = numbers_of(text, (sum(sizes) + 1, len(states)), f"The noisy-MAX of {name}")
    strengths = _strengths(element, name, sizes)
    small, first = [], 0
    for size in sizes:
        cpt = np.empty((size, len(states)))
        cpt[[place - first for place in strengths[first : first + size]]] = distributions[first : first + size]
        small.append(cpt)
        first += size
    if leak := bool(distributions[-1, -1] != 1.0):
        small.append(distributions[-1])
    kind = "noisy-or" if len(states) == 2 else "noisy-max"
    return NoisyForm(kind, tuple((parent,) for parent in parents), states[::-1], leak, tuple(small))


def _strengths(element: Element, name: str, sizes: tuple[int, ...]) -> list[int]:
    """For each distribution of the parameters, its place in the order of states; those of a parent stay together."""
    words = text_of(element.find("strengths")).split()
    found, first = list[int](), 0
    for size in sizes:
        own = words[first : first + size] if words else [str(state) for state in range(size)]
        if sorted(own) != sorted(map(str, range(size))):
            raise NetworkError(f"The strengths of {name} are the numbers of each parent's states, each once.")
        found += [first + int(word) for word in own]
        first += size
    if words and len(words) != first:
        raise NetworkError(f"Node {name} has {len(words)} strengths; it needs {first}.")
    return found


def _cpt(structure: Network, element: Element) -> Numbers:
    name = element.get("id", "")
    if element.tag in ("cpt", "noisymax"):
        text = text_of(element.find("probabilities" if element.tag == "cpt" else "parameters"))
        return numbers_of(text, structure.shape(name), f"The CPT of {name}")
    states = structure.states(name)
    results = text_of(element.find("resultingstates")).split()
    if len(results) != structure.configurations(name):
        raise NetworkError(f"Node {name} has {len(results)} resulting states; it needs one for each configuration.")
    for result in results:
        if result not in states:
            raise NetworkError(f'Node {name} results in "{result}", which is not a state.{suggestion(result, states)}')
    cpt: Numbers = np.eye(len(states))[[states.index(result) for result in results]]
    return cpt.reshape(structure.shape(name))

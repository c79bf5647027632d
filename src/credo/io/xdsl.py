"""XDSL, the format of GeNIe, read and written exactly.

`<probabilities>` has axes (parents…, child), the child varying fastest and the first parent slowest. Files of pyAgrum,
which say so, have the first parent vary fastest.

Cut points are user properties (`cut_properties.py`).

A `<noisymax>` lists its states from winning to losing. `<parameters>` has a distribution of the child for each state of
each parent, and one for the leak; within a parent they stand in the order of `<strengths>`, which lists the numbers of
the parent's states, and the last one has no effect: all its probability is on the child's last state.
"""

from __future__ import annotations

from typing import NoReturn
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from credo.errors import NetworkError, listing, suggestion
from credo.io.assembly import assemble, check_implied, implied_by_noise, parents_first
from credo.io.cut_properties import cut_properties, identifier, identifiers, variable_with
from credo.io.files import warn_of_loss
from credo.io.noisy_formats import as_noisymax, as_steps, noisymax_form
from credo.io.printed_numbers import RoundedSums, number_text, numbers_of
from credo.io.xml_tree import XmlDocument, XmlElement, read_tree, write_tree
from credo.model.gates import GateForm
from credo.model.network import Network, Variable
from credo.model.noisy import NoisyForm
from credo.model.recognised_gates import recognised_gate
from credo.types import Numbers, PathLike


def read_xdsl(path: PathLike) -> Network:
    """The network in an XDSL file; nodes are chance nodes with a CPT (`cpt`), `noisymax` or `deterministic`."""
    return _network(read_tree(path))


def write_xdsl(network: Network, path: PathLike) -> None:
    """Write the network as XDSL. Variables whose name is not an identifier, or that have no CPT, are errors."""
    names = network.names
    network, lost = as_noisymax(network)
    network, steps = as_steps(network)
    lost += steps
    root = Element("smile", version="1.0", id=identifier(network.name, "XDSL"))
    nodes = SubElement(root, "nodes")
    labels = SubElement(SubElement(root, "extensions"), "genie", version="1.0", app="credo", name=network.name)
    for name in (order := parents_first(network)):  # as GeNIe wants it
        form = network.forms.get(name)
        noisy = form if isinstance(form, NoisyForm) and form.cpts else None
        kind = "noisymax" if noisy is not None else "deterministic" if isinstance(form, GateForm) else "cpt"
        element = SubElement(nodes, kind, id=identifier(name, "XDSL"))
        variable = network.variable(name)
        written = identifiers(variable)
        for state in written:
            SubElement(element, "state", id=state)
        if network.parents[name]:
            SubElement(element, "parents").text = " ".join(network.parents[name])
        if noisy is not None:
            _write_noisy(element, noisy)
        elif kind == "deterministic":
            results = network.cpt_array(name).reshape(-1, len(written)).argmax(axis=1)
            SubElement(element, "resultingstates").text = " ".join(written[place] for place in results)
        else:
            SubElement(element, "probabilities").text = number_text(network.cpt_array(name))
        for key, value in cut_properties(variable, written).items():
            SubElement(element, "property", id=key).text = value
        SubElement(SubElement(labels, "node", id=name), "name").text = name
    write_tree(root, path)
    if [name for name in order if name in names] != list(names):
        warn_of_loss(path, f"XDSL has parents before children: variables come back as {listing(order)}.")
    if lost:
        warn_of_loss(path, " ".join(lost), instead="A saved fit (.fit) keeps everything.")


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


def _network(document: XmlDocument) -> Network:
    root = document.root
    nodes = root.only("nodes")
    if root.tag != "smile" or nodes is None:
        root.fail(f"Expected <smile> with <nodes> in it, not <{root.tag}>.")
    _require_static(root, nodes)
    variables, parents, elements = list[Variable](), dict[str, list[str]](), dict[str, XmlElement]()
    for element in nodes:
        name = element.get("id")
        if element.tag not in ("cpt", "deterministic", "noisymax"):
            element.fail(f"Node {name} is a <{element.tag}>; only <cpt>, <noisymax> and <deterministic> can be read.")
        if name in elements:
            element.fail(f"A second node {name}.")
        with element.located():
            properties = [(each.get("id"), each.text()) for each in element.all("property")]
            variables.append(variable_with(name, [state.get("id") for state in element.all("state")], properties))
        parents[name] = element.text_of("parents").split()
        elements[name] = element
    with nodes.located():
        structure = Network(variables, parents, name=root.get("id") or "network")

    def fail(name: str, message: str) -> NoReturn:
        elements[name].fail(message)

    noisy = [name for name, element in elements.items() if element.tag == "noisymax" and structure.parents[name]]
    results = {name: "results" for name, element in elements.items() if element.tag == "deterministic"}
    check_implied(structure, results | implied_by_noise(structure, noisy), fail)
    reversed_parents = _has_reversed_parents(document)
    rounded, cpts, forms = RoundedSums(), dict[str, Numbers](), dict[str, NoisyForm | GateForm]()
    for name, element in elements.items():
        with element.located():
            if name in noisy:
                forms[name] = _form(structure, element, rounded)
            else:
                cpt = _cpt(structure, element, reversed_parents)
                gate = _gate(structure, name, cpt) if name in results else None
                if gate is None:
                    cpts[name] = cpt
                else:
                    forms[name] = gate
    return assemble(structure, cpts, root.path, fail, forms, rounded)


def _require_static(root: XmlElement, nodes: XmlElement) -> None:
    """Refuse a dynamic network: its nodes are those of the first slice, and the rest of it stands elsewhere."""
    slices = [*root.all("dynamic"), *(element for element in nodes if element.get("dynamic"))]
    if slices:
        slices[0].fail(
            "This network is dynamic, with slices of time, and only static networks can be read. Unroll it in GeNIe, "
            "and save the unrolled network."
        )


def _has_reversed_parents(document: XmlDocument) -> bool:
    """Whether pyAgrum wrote this file: it has the first parent vary fastest, where GeNIe has the last.

    It says so twice, in a comment and in the extensions. A file that says it once was changed since, perhaps by a
    program that turned the numbers: with several parents it is refused.
    """
    root = document.root
    signs = (
        any("created by pyAgrum" in comment for comment in document.comments),
        any(
            genie.get("app").startswith("aGrUM")
            for extensions in root.all("extensions")
            for genie in extensions.all("genie")
        ),
    )
    if all(signs) or not any(signs):
        return all(signs)
    for nodes in root.all("nodes"):
        for element in nodes:
            if len(element.text_of("parents").split()) > 1:
                element.fail(
                    "It is not clear which parent varies fastest: one part of this file says that pyAgrum wrote it, "
                    "another part does not. Save the network again with pyAgrum, as BIF."
                )
    return False


def _gate(structure: Network, name: str, cpt: Numbers) -> GateForm | None:
    """The gate that a deterministic node is, where it is one."""
    parents = structure.parents[name]
    states_of = [structure.states(parent) for parent in parents]
    return recognised_gate(cpt, parents, structure.states(name), states_of)


def _form(structure: Network, element: XmlElement, rounded: RoundedSums) -> NoisyForm:
    name = element.get("id")
    rows = sum(structure.shape(name)[:-1]) + 1
    shape = (rows, len(structure.states(name)))
    distributions = numbers_of(element.text_of("parameters"), shape, f"The noisy-MAX of {name}")
    return noisymax_form(structure, name, distributions, element.text_of("strengths").split(), rounded)


def _cpt(structure: Network, element: XmlElement, reversed_parents: bool) -> Numbers:
    name = element.get("id")
    shape = structure.shape(name)
    if element.tag in ("cpt", "noisymax"):
        text = element.text_of("probabilities" if element.tag == "cpt" else "parameters")
        if not reversed_parents:
            return numbers_of(text, shape, f"The CPT of {name}")
        turned = numbers_of(text, (*shape[-2::-1], shape[-1]), f"The CPT of {name}")
        return np.ascontiguousarray(turned.transpose([*range(turned.ndim - 2, -1, -1), turned.ndim - 1]))
    states = structure.states(name)
    codes = {state: code for code, state in enumerate(states)}
    results = element.text_of("resultingstates").split()
    if len(results) != structure.configurations(name):
        raise NetworkError(f"Node {name} has {len(results)} resulting states; it needs one for each configuration.")
    for result in results:
        if result not in codes:
            raise NetworkError(f'Node {name} results in "{result}", which is not a state.{suggestion(result, states)}')
    cpt: Numbers = np.zeros((len(results), len(states)))
    cpt[np.arange(len(results)), [codes[result] for result in results]] = 1.0
    return cpt.reshape(shape)

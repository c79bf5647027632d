"""Fault trees in the Open-PSA model exchange format: basic events, house events and gates become a network, and back.

Every event has the states `no` and `yes`, and gates stay gates (`model/gates.py`). A basic event without a
probability, or with one that depends on a mission time, has no CPT. Event trees, common-cause groups and everything
else of the format that would change a probability are refused; labels and attributes are skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, prod
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from credo.errors import IncompleteCPTWarning, counted, listing, suggestion
from credo.io.files import warn_caller, warn_of_loss
from credo.io.xml_tree import XmlElement, checked_text, write_tree
from credo.model.gates import PAIRS, GateForm, GateInput
from credo.model.network import Form, Network, Variable
from credo.types import Numbers, PathLike

EVENT_STATES = ("no", "yes")
# The gates of Open-PSA → a kind of `GateForm`, and whether its result is turned around.
KINDS = {
    "and": ("and", False),
    "or": ("or", False),
    "xor": ("xor", False),
    "iff": ("iff", False),
    "imply": ("imply", False),
    "nand": ("and", True),
    "nor": ("or", True),
    "not": ("or", True),
    "atleast": ("atleast", False),
}


class Input(NamedTuple):
    """What goes into a gate: an event, or its negation."""

    event: str
    is_negated: bool = False

    def negated(self) -> Input:
        """The opposite."""
        return Input(self.event, not self.is_negated)


@dataclass(slots=True)
class GateBuilder:
    """Events and gates on their way to a network; names are given by the caller and never taken twice."""

    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cpts: dict[str, Numbers] = field(default_factory=dict)
    forms: dict[str, Form] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)  # names of gates and events that are still to come

    def add_event(self, name: str, probability: float | None) -> None:
        """An event that has no inputs; without a probability it has no CPT."""
        self.parents[name] = ()
        if probability is not None:
            self.cpts[name] = np.array([1.0 - probability, probability])

    def add_gate(self, name: str, kind: str, inputs: Sequence[Input], least: int = 0) -> None:
        """A gate of one of `KINDS`; `least` is the k of `atleast`."""
        own, is_negated = KINDS[kind]
        wired = tuple(GateInput(each.event, EVENT_STATES, each.is_negated) for each in inputs)
        form = GateForm(own, wired, EVENT_STATES, least, is_negated)
        self.parents[name], self.forms[name] = form.parents, form

    def unused(self, name: str) -> str:
        """The name, or one like it that nothing else has."""
        while name in self.parents or name in self.reserved:
            name += "'"
        return name

    def network(self, name: str) -> Network:
        """The network of everything that was added."""
        variables = [Variable(each, EVENT_STATES) for each in self.parents]
        return Network(variables, self.parents, self.cpts, name, self.forms)


ROOT = "opsa-mef"
_REFERENCES = ("event", "gate", "basic-event", "house-event")
_SKIPPED = ("label", "attributes")
_CONTAINERS = ("define-fault-tree", "define-component", "model-data")
_NAMED = 5


def fault_tree_network(root: XmlElement) -> Network:
    """The network of all fault trees in an `opsa-mef` file."""
    model = _model(root)
    if not model.gates:
        root.fail("The file defines no gate: a fault tree has at least one.")
    builder = GateBuilder(reserved={*model.gates, *model.basic, *model.houses})
    for name in dict.fromkeys([*model.basic, *model.undefined()]):
        _add_basic(builder, model, name)
    for name, house in model.houses.items():
        builder.add_event(name, float(_constant(house.element)))
    _add_gates(builder, model)
    if model.without_probability:
        some = listing(model.without_probability[:_NAMED])
        more = len(model.without_probability) - _NAMED
        warn_caller(
            f"{root.path}: {some}{f' and {more:,} more' if more > 0 else ''} have no probability in the file (or one "
            f"that depends on a mission time), so that they have no CPT. Give it in a statement, such as "
            f'`P("{model.without_probability[0]}"=yes) is 0.001`.',
            IncompleteCPTWarning,
        )
    name = root.get("name") or next((tree.get("name") for tree in root.all("define-fault-tree")), "") or "fault tree"
    with root.located():
        return builder.network(name)


@dataclass(frozen=True, slots=True)
class _Definition:
    """A gate, event or parameter: where it is defined, which names it sees, and what it is called in the network."""

    element: XmlElement
    scope: tuple[str, ...]  # the fault tree and components around it
    name: str


@dataclass(slots=True)
class _Model:
    """What the file defines, by the name in the network. A name that occurs in several components gets their path."""

    gates: dict[str, _Definition] = field(default_factory=dict)
    basic: dict[str, _Definition] = field(default_factory=dict)
    houses: dict[str, _Definition] = field(default_factory=dict)
    parameters: dict[str, _Definition] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)  # full path of an event → its name
    without_probability: list[str] = field(default_factory=list)

    def is_defined(self, name: str) -> bool:
        """Whether this is an event."""
        return name in self.gates or name in self.basic or name in self.houses

    def resolved(self, name: str, scope: tuple[str, ...]) -> str | None:
        """The event that a gate in this scope means by a name or path: the nearest one."""
        for depth in range(len(scope), -1, -1):
            if (found := self.paths.get(".".join((*scope[:depth], name)))) is not None:
                return found
        return next((each for each in (name, name.rpartition(".")[2]) if self.is_defined(each)), None)

    def undefined(self) -> Iterator[str]:
        """Basic events that gates name and nobody defines, as in files whose probabilities are kept elsewhere."""
        for gate in self.gates.values():
            stack = list(reversed(gate.element.children))
            while stack:
                element = stack.pop()
                if element.tag in ("basic-event", "event") and self.resolved(element.get("name"), gate.scope) is None:
                    yield element.get("name")
                stack.extend(reversed(element.children))


def _model(root: XmlElement) -> _Model:
    model = _Model()
    tables = {
        "define-gate": model.gates,
        "define-basic-event": model.basic,
        "define-house-event": model.houses,
        "define-parameter": model.parameters,
    }
    # The outermost definition of a name keeps it.
    for element, scope in sorted(_definitions(root, (), tables), key=lambda found: len(found[1])):
        name = element.get("name")
        if not name:
            element.fail(f"This <{element.tag}> has no name.")
        table, is_event = tables[element.tag], element.tag != "define-parameter"
        path = ".".join((*scope, name))
        if path in (model.paths if is_event else table):
            element.fail(f"{name} is defined twice.")
        candidates = (name, ".".join((*scope[1:], name)), path)
        called = next((each for each in candidates if each not in table and not model.is_defined(each)), path)
        if called in table or model.is_defined(called):
            element.fail(f"{name} is defined twice.")
        table[called] = _Definition(element, scope, called)
        if is_event:
            model.paths[path] = called
    return model


def _definitions(
    element: XmlElement, scope: tuple[str, ...], tags: Collection[str]
) -> Iterator[tuple[XmlElement, tuple[str, ...]]]:
    for child in element:
        if child.tag in _CONTAINERS:
            name = child.get("name")
            yield from _definitions(child, (*scope, name) if name else scope, tags)
        elif child.tag in tags:
            yield child, scope
        elif child.tag not in _SKIPPED:
            child.fail(f"<{child.tag}> cannot be read; fault trees with gates, basic events and house events can.")


def _content(element: XmlElement) -> XmlElement | None:
    """The formula or expression of a definition."""
    found = [child for child in element if child.tag not in _SKIPPED]
    if len(found) > 1:
        found[1].fail(f"Expected one formula or number in {element.get('name')}, not a second one (<{found[1].tag}>).")
    return found[0] if found else None


# Probabilities --------------------------------------------------------------------------------------------------------


def _add_basic(builder: GateBuilder, model: _Model, name: str) -> None:
    definition = model.basic.get(name)
    content = None if definition is None else _content(definition.element)
    value = None if content is None else _value(content, model, ())
    if value is None:
        model.without_probability.append(name)
    elif definition is not None and not 0 <= value <= 1:
        definition.element.fail(f"The probability of {name} is {value:g}; it has to be between 0 and 1.")
    builder.add_event(name, value)


def _value(element: XmlElement, model: _Model, seen: tuple[str, ...]) -> float | None:
    """The number that an expression stands for; None where it depends on a mission time."""
    match element.tag:
        case "float" | "int":
            try:
                return float(element.get("value"))
            except ValueError:
                element.fail(f"Expected a number, not `{element.get('value')[:40]}`.")
        case "parameter":
            name = element.get("name").rpartition(".")[2]
            if name not in model.parameters or name in seen:
                reason = "depends on itself" if name in seen else "is not defined"
                element.fail(f"Parameter {name} {reason}." + suggestion(name, tuple(model.parameters)))
            content = _content(model.parameters[name].element)
            return None if content is None else _value(content, model, (*seen, name))
        case "system-mission-time":
            return None
    values = [_value(child, model, seen) for child in element if child.tag not in _SKIPPED]
    numbers = [value for value in values if value is not None]
    if element.tag in ("GLM", "Weibull", "periodic-test") and len(numbers) < len(values):
        return None
    if element.tag not in ("add", "sub", "mul", "div", "neg", "exponential") or not values:
        element.fail(
            f"The expression <{element.tag}> cannot be read. Write the probability as <float value=…/>; numbers, "
            "parameters, add, sub, mul, div and exponential can be read."
        )
    if len(numbers) < len(values):
        return None
    match element.tag:
        case "add":
            return sum(numbers)
        case "mul":
            return prod(numbers)
        case "sub":
            return numbers[0] - sum(numbers[1:])
        case "neg":
            return -numbers[0]
        case "div":
            divisor = prod(numbers[1:])
            if divisor == 0:
                element.fail("This divides by zero.")
            return numbers[0] / divisor
        case _:
            if len(numbers) != 2:
                element.fail("<exponential> needs a rate and a time.")
            return 1.0 - exp(-numbers[0] * numbers[1])


def _constant(element: XmlElement) -> bool:
    content = _content(element)
    if content is None or content.tag != "constant" or content.get("value") not in ("true", "false"):
        element.fail(f'House event {element.get("name")} needs <constant value="true"/> or "false".')
    return content.get("value") == "true"


# Gates ----------------------------------------------------------------------------------------------------------------


def _add_gates(builder: GateBuilder, model: _Model) -> None:
    for name, gate in model.gates.items():
        content = _content(gate.element)
        if content is None:
            gate.element.fail(f"Gate {name} has no formula.")
        if content.tag in _REFERENCES:
            builder.add_gate(name, "or", [_reference(content, model, gate.scope)])
        elif content.tag == "constant":
            builder.add_event(name, float(content.get("value") == "true"))
        else:
            _add_formula(builder, model, name, content, gate.scope)


def _add_formula(builder: GateBuilder, model: _Model, name: str, formula: XmlElement, scope: tuple[str, ...]) -> None:
    """A gate, and a gate for each formula in it that is more than a negation."""
    arguments = [child for child in formula if child.tag not in _SKIPPED]
    if formula.tag not in KINDS:
        formula.fail(f"The gate <{formula.tag}> of {name} cannot be read; {listing(tuple(KINDS))} can.")
    _require_number(formula, arguments, name)
    inputs = [_input(builder, model, f"{name} [{place}]", child, scope) for place, child in enumerate(arguments, 1)]
    builder.add_gate(name, formula.tag, inputs, _least(formula, name))


def _require_number(formula: XmlElement, arguments: Sequence[XmlElement], name: str) -> None:
    expected = 1 if formula.tag == "not" else 2 if formula.tag in PAIRS else None
    if not arguments or (expected is not None and len(arguments) != expected):
        formula.fail(f"The gate <{formula.tag}> of {name} has {counted(len(arguments), 'input')}.")


def _least(formula: XmlElement, name: str) -> int:
    if formula.tag != "atleast":
        return 0
    text = formula.get("min")
    if not text.isdecimal():
        formula.fail(f"The gate <atleast> of {name} needs min=, a whole number, not `{text[:40]}`.")
    return int(text)


def _input(builder: GateBuilder, model: _Model, part: str, element: XmlElement, scope: tuple[str, ...]) -> Input:
    """An input; a formula becomes a gate of its own, which is called `part`."""
    if element.tag in _REFERENCES:
        return _reference(element, model, scope)
    if element.tag == "not" and len(element.all(*_REFERENCES)) == 1 == len(element.children):
        return _reference(element.children[0], model, scope).negated()
    part = builder.unused(part)
    if element.tag == "constant":
        builder.add_event(part, float(element.get("value") == "true"))
    else:
        _add_formula(builder, model, part, element, scope)
    return Input(part)


def _reference(element: XmlElement, model: _Model, scope: tuple[str, ...]) -> Input:
    name = element.get("name")
    if not name:
        element.fail(f"This <{element.tag}> has no name.")
    found = model.resolved(name, scope)
    kinds = {"gate": model.gates, "house-event": model.houses}
    if element.tag in kinds and found not in kinds[element.tag]:
        kind = element.tag.replace("-", " ")
        element.fail(f"There is no {kind} {name}." + suggestion(name, tuple(kinds[element.tag])))
    return Input(name if found is None else found)


# Writing --------------------------------------------------------------------------------------------------------------

_WRITTEN = {"max": "or", "min": "and"}
_NEGATED = {"or": "nor", "and": "nand"}


def is_fault_tree(network: Network) -> bool:
    """Whether a network has nothing but gates and events of two states without parents."""
    gates = {name: form for name, form in network.forms.items() if isinstance(form, GateForm)}
    return bool(gates) and all(
        len(network.states(name)) == 2 and (name in gates or not network.parents[name]) for name in network.names
    )


def write_fault_tree(network: Network, path: PathLike) -> None:
    """Write a network of gates and events as a fault tree of Open-PSA; see `is_fault_tree`."""
    gates = {name: form for name, form in network.forms.items() if isinstance(form, GateForm)}
    events = {name: form.order[-1] for name, form in gates.items()}  # the state that is the event
    for form in gates.values():
        for each in form.inputs:
            events.setdefault(each.name, each.order[-1])
    root = Element(ROOT)
    tree, data = SubElement(root, "define-fault-tree", name=checked_text(network.name)), SubElement(root, "model-data")
    for name in network.names:
        if name in gates:
            _write_gate(SubElement(tree, "define-gate", name=checked_text(name)), gates[name], events, gates)
            continue
        element = SubElement(data, "define-basic-event", name=checked_text(name))
        if name in network.cpts:
            states = network.states(name)
            value = float(network.cpts[name][states.index(events.get(name, states[-1]))])
            SubElement(element, "float", value=repr(value))
    write_tree(root, path)
    if any(network.states(name) != EVENT_STATES for name in network.names):
        warn_of_loss(path, "Open-PSA has no names of states: they come back as no and yes.")


def _write_gate(element: Element, form: GateForm, events: Mapping[str, str], gates: Collection[str]) -> None:
    kind, is_negated = _WRITTEN.get(form.kind, form.kind), form.is_negated
    if is_negated and (kind in _NEGATED and len(form.inputs) > 1):
        kind, is_negated = _NEGATED[kind], False
    parent = SubElement(element, "not") if is_negated else element
    if len(form.inputs) > 1 or form.kind == "atleast":
        parent = SubElement(parent, kind, {"min": str(form.least)} if kind == "atleast" else {})
    for each in form.inputs:
        turned = each.is_negated != (each.order[-1] != events[each.name])
        place = SubElement(parent, "not") if turned else parent
        SubElement(place, "gate" if each.name in gates else "basic-event", name=each.name)

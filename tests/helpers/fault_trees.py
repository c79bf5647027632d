"""An evaluation of Open-PSA fault trees that shares no code with credo: binary decision diagrams."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REFERENCES = ("event", "gate", "basic-event", "house-event")


class TooManyNodes(Exception):
    """The diagram is too large to be worth the time."""


class Diagrams:
    """Reduced ordered diagrams as numbers of nodes (variable, low, high); 0 and 1 are the constants."""

    def __init__(self, most: int) -> None:
        self.nodes: list[tuple[int, int, int]] = [(sys.maxsize, 0, 0), (sys.maxsize, 1, 1)]
        self.unique: dict[tuple[int, int, int], int] = {}
        self.known: dict[tuple[int, int, int], int] = {}
        self.most = most

    def node(self, variable: int, low: int, high: int) -> int:
        if low == high:
            return low
        key = (variable, low, high)
        if key not in self.unique:
            if len(self.nodes) > self.most:
                raise TooManyNodes
            self.unique[key] = len(self.nodes)
            self.nodes.append(key)
        return self.unique[key]

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        if condition < 2 or then == otherwise:
            return then if condition == 1 or then == otherwise else otherwise
        key = (condition, then, otherwise)
        if key not in self.known:
            top = min(self.nodes[item][0] for item in key)
            halves = [
                [self.nodes[item][side] if self.nodes[item][0] == top else item for item in key] for side in (1, 2)
            ]
            self.known[key] = self.node(top, self.choose(*halves[0]), self.choose(*halves[1]))
        return self.known[key]

    def probability(self, root: int, probabilities: list[float]) -> float:
        found = {0: 0.0, 1: 1.0}

        def value(item: int) -> float:
            if item not in found:
                variable, low, high = self.nodes[item]
                p = probabilities[variable]
                found[item] = (1 - p) * value(low) + p * value(high)
            return found[item]

        return value(root)


def top_events(path: Path, most: int = 200_000) -> dict[str, float]:
    """The probability of each gate that no other gate uses."""
    sys.setrecursionlimit(20_000)
    root = ElementTree.parse(path).getroot()
    gates = dict(gates_of(root))
    houses = {event.get("name"): body(event).get("value") == "true" for event in root.iter("define-house-event")}
    basic = {event.get("name"): float(body(event).get("value")) for event in root.iter("define-basic-event")}

    def meant(reference: Any, inside: str) -> str:
        """The gate of the same component that has this name, else whatever has it."""
        name = reference.get("name")
        own = f"{inside.rpartition('.')[0]}.{name}"
        return own if own in gates else name

    used = {meant(item, name) for name, gate in gates.items() for item in gate.iter() if item.tag in REFERENCES}
    tops = [name for name in gates if name not in used]
    diagrams, order, made = Diagrams(most), dict[str, int](), dict[str, int]()

    def of(element: Any, inside: str) -> int:
        if element.tag in REFERENCES:
            name = meant(element, inside)
            if name in gates:
                if name not in made:
                    made[name] = of(gates[name], name)
                return made[name]
            if name in houses:
                return int(houses[name])
            return diagrams.node(order.setdefault(name, len(order)), 0, 1)
        if element.tag == "constant":
            return int(element.get("value") == "true")
        items = [of(child, inside) for child in element]
        match element.tag:
            case "not":
                return diagrams.choose(items[0], 0, 1)
            case "and" | "nand" | "or" | "nor" | "xor" | "iff" | "imply":
                result = items[0]
                for item in items[1:]:
                    match element.tag:
                        case "and" | "nand":
                            result = diagrams.choose(result, item, 0)
                        case "or" | "nor":
                            result = diagrams.choose(result, 1, item)
                        case "xor":
                            result = diagrams.choose(result, diagrams.choose(item, 0, 1), item)
                        case "iff":
                            result = diagrams.choose(result, item, diagrams.choose(item, 0, 1))
                        case "imply":
                            result = diagrams.choose(result, item, 1)
                return diagrams.choose(result, 0, 1) if element.tag in ("nand", "nor") else result
            case "atleast":
                return at_least(items, int(element.get("min")))
        raise AssertionError(element.tag)

    def at_least(items: list[int], least: int) -> int:
        if least <= 0:
            return 1
        if least > len(items):
            return 0
        return diagrams.choose(items[0], at_least(items[1:], least - 1), at_least(items[1:], least))

    roots = {name: of(gates[name], name) for name in tops}
    probabilities = [basic[name] for name in order]
    return {name: diagrams.probability(root, probabilities) for name, root in roots.items()}


def gates_of(element: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every gate with its name, that of its component before it."""
    for child in element:
        if child.tag == "define-gate":
            yield path + child.get("name"), body(child)
        elif child.tag == "define-component":
            yield from gates_of(child, f"{path}{child.get('name')}.")
        elif child.tag in ("define-fault-tree", "opsa-mef"):
            yield from gates_of(child, path)


def body(element: Any) -> Any:
    return next(child for child in element if child.tag not in ("label", "attributes"))

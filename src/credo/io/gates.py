"""Gates as parts of a network: and, or, at least k of n, …, whose inputs are events, each as it is or negated.

A gate of many inputs would need a CPT of 2^n configurations. It is decomposed: `and`, `or` and `xor` become a balanced
tree of gates with two inputs, `atleast` a chain that counts up to k. So n inputs cost n small CPTs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from credo.model.network import Network, Variable
from credo.types import Numbers

EVENT_STATES = ("no", "yes")

_PAIRS: dict[str, Callable[[bool, bool], bool]] = {
    "and": lambda one, other: one and other,
    "or": lambda one, other: one or other,
    "xor": lambda one, other: one != other,
    "iff": lambda one, other: one == other,
    "imply": lambda one, other: not one or other,
}
_NEGATED = {"nand": "and", "nor": "or"}
GATE_KINDS = (*_PAIRS, *_NEGATED, "not", "atleast")
PAIR_KINDS = ("iff", "imply")  # of exactly two inputs


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

    variables: list[Variable] = field(default_factory=list)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    cpts: dict[str, Numbers] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)  # names of gates and events that are still to come

    def add_event(self, name: str, probability: float | None) -> None:
        """An event that has no inputs; without a probability it has no CPT."""
        cpt = None if probability is None else np.array([1.0 - probability, probability])
        self._add(name, EVENT_STATES, (), cpt)

    def add_gate(self, name: str, kind: str, inputs: Sequence[Input], least: int = 0, is_negated: bool = False) -> None:
        """A gate of one of `GATE_KINDS`; `least` is the k of `atleast`, and `is_negated` swaps its result."""
        if kind in _NEGATED:
            kind, is_negated = _NEGATED[kind], not is_negated
        if kind == "not":
            kind, is_negated = "or", not is_negated
        if kind == "atleast" and least in (1, len(inputs)):
            kind = "or" if least == 1 else "and"
        if kind == "atleast" and not 0 < least < len(inputs):
            self._add(name, EVENT_STATES, (), np.eye(2)[int((least <= 0) != is_negated)])
        elif kind == "atleast":
            self._add_count(name, inputs, least, is_negated)
        else:
            self._add_tree(name, kind, inputs, is_negated)

    def network(self, name: str) -> Network:
        """The network of everything that was added."""
        return Network(self.variables, self.parents, cpts=self.cpts, name=name)

    def _add(self, name: str, states: Sequence[str], parents: tuple[str, ...], cpt: Numbers | None) -> None:
        self.variables.append(Variable(name, tuple(states)))
        self.parents[name] = parents
        if cpt is not None:
            self.cpts[name] = cpt

    def unused(self, name: str) -> str:
        """The name, or one like it that nothing else has."""
        while name in self.parents or name in self.reserved:
            name += "'"
        return name

    def _add_tree(self, name: str, kind: str, inputs: Sequence[Input], is_negated: bool) -> None:
        """A balanced tree: each level combines neighbours."""
        level, number = list(dict.fromkeys(inputs)) if kind in ("and", "or") else list(inputs), 0
        while len(level) > 2:
            pairs = [level[place : place + 2] for place in range(0, len(level), 2)]
            level = []
            for pair in pairs:
                if len(pair) == 1:
                    level.append(pair[0])
                    continue
                number += 1
                part = self.unused(f"{name} ({number})")
                self._add_pair(part, kind, pair, is_negated=False)
                level.append(Input(part))
        self._add_pair(name, kind, level, is_negated)

    def _add_pair(self, name: str, kind: str, inputs: Sequence[Input], is_negated: bool) -> None:
        events = tuple(dict.fromkeys(item.event for item in inputs))
        cpt = np.zeros((2,) * len(events) + (2,))
        for values in np.ndindex(cpt.shape[:-1]):
            known = dict(zip(events, map(bool, values), strict=True))
            truths = [known[item.event] != item.is_negated for item in inputs]
            result = _PAIRS[kind](truths[0], truths[1]) if len(truths) == 2 else truths[0]
            cpt[(*values, int(result != is_negated))] = 1.0
        self._add(name, EVENT_STATES, events, cpt)

    def _add_count(self, name: str, inputs: Sequence[Input], least: int, is_negated: bool) -> None:
        """A chain of counts, each of which stops at k; the gate is whether the last one reached it."""
        before: str | None = None
        for number, item in enumerate(inputs[:-1], start=1):
            largest = min(number, least)
            states = [str(count) for count in range(largest)] + [f"{largest}+" if largest == least else str(largest)]
            earlier = 1 if before is None else len(self.variables[-1].states)
            cpt = np.zeros((earlier, 2, largest + 1))
            for count, value in np.ndindex(earlier, 2):
                cpt[count, value, min(count + int(bool(value) != item.is_negated), largest)] = 1.0
            part = self.unused(f"{name} (count of {number})")
            if before is None:
                self._add(part, states, (item.event,), cpt[0])
            else:
                self._add(part, states, (before, item.event), cpt)
            before = part
        assert before is not None
        cpt = np.zeros((len(self.variables[-1].states), 2, 2))
        for count, value in np.ndindex(cpt.shape[:2]):
            is_reached = count + int(bool(value) != inputs[-1].is_negated) >= least
            cpt[count, value, int(is_reached != is_negated)] = 1.0
        self._add(name, EVENT_STATES, (before, inputs[-1].event), cpt)

"""Fault trees on their way to a network: basic events, and gates whose inputs are events, as they are or negated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from credo.model.gates import GateForm, GateInput
from credo.model.network import Form, Network, Variable
from credo.types import Numbers

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

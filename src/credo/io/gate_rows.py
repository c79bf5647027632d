"""Rows of data and gates: what follows from the inputs is filled in, and rows that contradict a gate are found.

Each value is a set of states, kept as bits: one where it was seen, all where it is missing. A step of a gate can be in
the states that the sets of its parents lead to. Where that is one state, it is known although nobody saw it, so that
nothing has to be summed over; where no state is left, the row contradicts the gate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from credo.errors import ImpossibleRowError
from credo.io.dataset import Dataset, extended
from credo.model.expansion import Expansion
from credo.model.network import Network
from credo.types import Indices

MOST_STATES = 62  # that fit into the bits of a number


@dataclass(frozen=True, slots=True, eq=False)
class GateStep:
    """A variable that follows from its parents: positions in the expanded network, and the state for each of theirs."""

    gate: str
    place: int
    parents: tuple[int, ...]
    states: Indices  # (states of each parent…)


class Contradiction(NamedTuple):
    """A row, from 0, the gates that it contradicts together, and the positions of the values that do."""

    row: int
    gates: tuple[str, ...]
    places: tuple[int, ...]


def gate_steps(expansion: Expansion) -> tuple[GateStep, ...]:
    """The steps of all gates, parents before children."""
    network = expansion.network
    gate_of = {step: gate for gate, steps in expansion.steps.items() for step in steps}
    position = {name: place for place, name in enumerate(network.names)}
    found = []
    for name in network.order if gate_of else ():
        if name in gate_of and max(network.shape(name)) <= MOST_STATES:
            parents = tuple(position[parent] for parent in network.parents[name])
            found.append(GateStep(gate_of[name], position[name], parents, network.cpts[name].argmax(axis=-1)))
    return tuple(found)


def with_gates(dataset: Dataset, network: Network, steps: tuple[GateStep, ...], first_row: int = 0) -> Dataset:
    """The rows with a column for each variable of the expanded network, in which gates that follow are filled in.

    Raises `ImpossibleRowError` for a row that contradicts a gate; `first_row` is the number of the first one, from 0.
    """
    filled, contradiction = filled_in(extended(dataset, network), network, steps)
    if contradiction is not None:
        row = contradiction.row
        codes = filled.codes[row]
        values = [f"{network.names[v]}={network.variables[v].states[codes[v]]}" for v in contradiction.places]
        raise ImpossibleRowError(first_row + row + 1, values, gates=contradiction.gates)
    return filled


def filled_in(dataset: Dataset, network: Network, steps: tuple[GateStep, ...]) -> tuple[Dataset, Contradiction | None]:
    """The rows with all steps that follow from others, and the first row that contradicts a gate."""
    if not steps:
        return dataset, None
    codes = dataset.codes.copy()
    sets: dict[int, Indices] = {}

    def seen(place: int) -> Indices:
        if place not in sets:
            column = dataset.codes[:, place].astype(np.int64)
            every = (1 << len(network.variables[place].states)) - 1
            sets[place] = np.where(column >= 0, 1 << np.maximum(column, 0), every)
        return sets[place]

    first: tuple[int, GateStep] | None = None
    for step in steps:
        own = seen(step.place)
        possible = np.zeros(len(dataset), dtype=np.int64)
        for states in np.ndindex(step.states.shape):
            is_possible = np.ones(len(dataset), dtype=np.bool_)
            for parent, state in zip(step.parents, states, strict=True):
                is_possible &= (seen(parent) >> state) & 1 == 1
            possible |= np.where(is_possible, 1 << int(step.states[states]), 0)
        wrong = possible & own == 0
        if dataset.weights is not None:
            wrong &= dataset.weights > 0
        if wrong.any() and (first is None or int(np.argmax(wrong)) < first[0]):
            first = int(np.argmax(wrong)), step
        left = np.where(possible & own == 0, own, possible & own)
        sets[step.place] = left
        follows = (left & (left - 1) == 0) & (dataset.codes[:, step.place] < 0)
        codes[follows, step.place] = np.log2(left[follows].astype(np.float64)).round().astype(codes.dtype)
    filled = replace(dataset, codes=codes)
    return filled, None if first is None else _contradiction(dataset, steps, *first)


def _contradiction(dataset: Dataset, steps: tuple[GateStep, ...], row: int, step: GateStep) -> Contradiction:
    """The values that were seen below a step, and the gates between them and it."""
    by_place = {each.place: each for each in steps}
    gates, places, stack = dict.fromkeys((step.gate,)), dict[int, None](), [step]
    if dataset.codes[row, step.place] >= 0:
        places[step.place] = None
    while stack:
        for parent in stack.pop().parents:
            if dataset.codes[row, parent] >= 0:
                places[parent] = None
            elif parent in by_place:
                gates[by_place[parent].gate] = None
                stack.append(by_place[parent])
    return Contradiction(row, tuple(gates), tuple(places))

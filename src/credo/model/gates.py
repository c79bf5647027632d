"""Gates: a child that follows from its parents, such as the `or` and `2 of 3` of a fault tree.

Every input is an event, or a rank for `max` and `min`. With v_i the value of input i (0 or 1, turned around
where it is negated):

    or  max_i v_i        and  min_i v_i        atleast  Σ_i v_i ≥ k        xor  Σ_i v_i is odd

A CPT of n inputs would have 2ⁿ configurations, so it is decomposed (`pieces`): a balanced tree of steps with two inputs
each, or for `atleast` a chain that counts up to k. Nothing is learned for a gate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from typing import NamedTuple

import numpy as np

from credo.errors import NetworkError, counted, listing
from credo.types import Indices, Numbers

BOOLEAN = ("or", "and", "xor", "iff", "imply", "atleast")
RANKED = ("max", "min")
PAIRS = ("iff", "imply")  # of exactly two inputs
_NEGATED = {"or": "nor", "and": "nand", "xor": "xnor"}

_STEPS: dict[str, Callable[[Indices, Indices], Indices]] = {
    "or": np.maximum,
    "and": np.minimum,
    "max": np.maximum,
    "min": np.minimum,
    "xor": np.bitwise_xor,
    "iff": lambda one, other: (one == other).astype(np.int64),
    "imply": lambda one, other: np.maximum(1 - one, other),
}


@dataclass(frozen=True, slots=True)
class GateInput:
    """A parent as a gate sees it.

    Attributes
    ----------
    name
        The parent.
    order
        Its states from low to high, the last of which is the event.
    is_negated
        Whether the input is that the event does not happen.
    """

    name: str
    order: tuple[str, ...]
    is_negated: bool = False

    def __str__(self) -> str:
        return f"not {self.name}" if self.is_negated else self.name


class Piece(NamedTuple):
    """One step of a decomposed gate: a hidden variable, or the child itself, with its CPT."""

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    cpt: Numbers


@dataclass(frozen=True, slots=True)
class GateForm:
    """How the child of a gate follows from its parents.

    Parameters
    ----------
    kind : {"or", "and", "xor", "iff", "imply", "atleast", "max", "min"}
        What the gate computes. `max` and `min` take the highest and the lowest state of their inputs.
    inputs : sequence of GateInput
        The parents, with the order of their states.
    order : sequence of str
        The states of the child, from low to high. The child of a gate of events has two.
    least : int, default 0
        The k of `atleast`: how many inputs have to happen.
    is_negated : bool, default False
        Whether the result is turned around.

    Raises
    ------
    NetworkError
        If the kind is unknown, there are no inputs, or their number does not fit the kind.

    Examples
    --------
    >>> event = ("no", "yes")
    >>> form = GateForm("or", (GateInput("pump1", event), GateInput("pump2", event)), event)
    >>> print(form)
    or of pump1, pump2
    """

    kind: str
    inputs: tuple[GateInput, ...]
    order: tuple[str, ...]
    least: int = 0
    is_negated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))
        object.__setattr__(self, "order", tuple(self.order))
        if self.kind not in (*BOOLEAN, *RANKED):
            raise NetworkError(f"A gate is {listing((*BOOLEAN, *RANKED))}, not {self.kind!r}.")
        if not self.inputs or (self.kind in PAIRS and len(self.inputs) != 2):
            raise NetworkError(f"The gate {self.kind} has {counted(len(self.inputs), 'input')}.")
        if self.kind in BOOLEAN and len(self.order) != 2:
            raise NetworkError(f"A gate {self.kind} needs a child of two states; this one has {len(self.order)}.")

    def __str__(self) -> str:
        inputs = listing([self._input_text(each) for each in self.inputs])
        if len(self.inputs) == 1 and self.kind != "atleast":
            return f"not {inputs}" if self.is_negated else f"same as {inputs}"
        return f"{self.title} of {inputs}"

    def _input_text(self, one: GateInput) -> str:
        """The input, with the state that is its event where there are several that could be."""
        is_one_of_several = self.kind in BOOLEAN and len(one.order) > 2
        return f"{one}={one.order[-1]}" if is_one_of_several else str(one)

    @property
    def title(self) -> str:
        """The gate in one or two words, for messages: `or`, `2`, `nand`."""
        if self.kind == "atleast":
            return f"not {self.least}" if self.is_negated else str(self.least)
        return _NEGATED.get(self.kind, f"not {self.kind}") if self.is_negated else self.kind

    @property
    def parents(self) -> tuple[str, ...]:
        """The parents, each once, in the order of the inputs."""
        return tuple(dict.fromkeys(each.name for each in self.inputs))

    @property
    def has_numbers(self) -> bool:
        """A gate needs none to be known."""
        return True

    def without_cpts(self) -> GateForm:
        """The gate itself: its CPT is part of what it is.

        Returns
        -------
        GateForm
            This form.
        """
        return self

    def same(self, other: object, states: Sequence[str]) -> bool:
        """Whether two forms are equal; `states`, those of the child, play no part.

        Parameters
        ----------
        other : object
            Another form.
        states : sequence of str
            The states of the child.

        Returns
        -------
        bool
            True if they are equal.
        """
        return self == other


def check_gate(form: GateForm, name: str, states_of: Mapping[str, Sequence[str]]) -> None:
    """Raise where a gate does not fit its child and parents, whose states `states_of` has."""
    parents = set(states_of) - {name}
    for each in form.inputs:
        if each.name not in parents:
            raise NetworkError(f'"{each.name}" is not a parent of {name}.')
        if set(each.order) != set(states_of[each.name]):
            raise NetworkError(f"The gate of {name} does not list exactly the states of {each.name}.")
        if form.kind in RANKED and len(each.order) != len(form.order):
            own = counted(len(each.order), "state")
            raise NetworkError(f"{name} is {form}, but {each.name} has {own} and {name} {len(form.order)}.")
    if left_out := [parent for parent in parents if parent not in form.parents]:
        raise NetworkError(f"The parent {left_out[0]} of {name} is no input of its gate.")
    if set(form.order) != set(states_of[name]):
        raise NetworkError(f"The order {' < '.join(form.order)} does not list exactly the states of {name}.")


def gate_cpt(
    form: GateForm, parents: Sequence[str], states: Sequence[str], states_of: Mapping[str, Sequence[str]]
) -> Numbers:
    """The CPT P(child | parents) of zeros and ones, axes (parents…, child), read-only.

    `states` are those of the child, `states_of` has those of the parents, both as the network lists them.
    """
    return _full_cpt(form, tuple(parents), tuple(states), tuple(tuple(states_of[parent]) for parent in parents))


def gate_pieces(
    form: GateForm,
    child: str,
    states: Sequence[str],
    states_of: Mapping[str, Sequence[str]],
    unused: Callable[[str], str],
) -> list[Piece]:
    """The gate as steps with at most two parents each, parents before children, the child last.

    `unused` makes a name for a hidden variable of one like it.
    """
    wires = [_Wire(each.name, _value(form, each, states_of[each.name])) for each in form.inputs]
    if form.kind in ("or", "and", "max", "min"):
        wires = list({(wire.name, *wire.value): wire for wire in wires}.values())
    ranks = [form.order.index(state) for state in states]
    last = np.argsort(ranks)[:: -1 if form.is_negated else 1]  # value → place of the state
    if form.kind == "atleast":
        return _counting(wires, form.least, child, states, last, unused)
    combine, same = _combining(form.kind), np.arange(len(form.order))
    found: list[Piece] = []
    while len(wires) > 2:
        level = []
        for place in range(0, len(wires), 2):
            pair = wires[place : place + 2]
            if len(pair) == 2:
                name = unused(f"{child} ({len(found) + 1})")
                found.append(_step(name, form.order, pair, combine, same))
                pair = [_Wire(name, same)]
            level += pair
        wires = level
    return [*found, _step(child, tuple(states), wires, combine, last)]


def _value(form: GateForm, each: GateInput, states: Sequence[str]) -> Indices:
    """The value of an input in each state of its parent."""
    if form.kind in RANKED:
        order = form.order if set(each.order) == set(form.order) else each.order
        ranks = np.array([order.index(state) for state in states])
        return len(order) - 1 - ranks if each.is_negated else ranks
    return np.array([int((state == each.order[-1]) != each.is_negated) for state in states])


def _combining(kind: str) -> Callable[[Sequence[Indices]], Indices]:
    return lambda values: values[0] if len(values) == 1 else _STEPS[kind](values[0], values[1])


class _Wire(NamedTuple):
    """What goes into a step: a variable, and the value of each of its states."""

    name: str
    value: Indices


def _step(
    name: str,
    states: tuple[str, ...],
    wires: Sequence[_Wire],
    combine: Callable[[Sequence[Indices]], Indices],
    result: Indices,
) -> Piece:
    """A variable that is `result[combine(values)]` of its wires, two of which may be the same variable."""
    parents = tuple(dict.fromkeys(wire.name for wire in wires))
    sizes = {wire.name: len(wire.value) for wire in wires}
    grid = np.indices(tuple(sizes[parent] for parent in parents))
    values = [wire.value[grid[parents.index(wire.name)]] for wire in wires]
    return Piece(name, states, parents, np.eye(len(states))[result[combine(values)]])


def _counting(
    wires: Sequence[_Wire],
    least: int,
    child: str,
    states: Sequence[str],
    last: Indices,
    unused: Callable[[str], str],
) -> list[Piece]:
    """A chain of counts, each of which stops at k; the gate is whether the last one reached it."""
    if not 0 < least <= len(wires):  # always, or never
        wires = wires[:1]
        return [_step(child, tuple(states), wires, lambda values: np.full_like(values[0], int(least <= 0)), last)]
    found: list[Piece] = []
    before: list[_Wire] = []
    for number, wire in enumerate(wires[:-1], start=1):
        most = min(number, least)
        name = unused(f"{child} (count of {number})")
        counts = tuple(f"{count}+" if count == least else str(count) for count in range(most + 1))
        found.append(_step(name, counts, [*before, wire], partial(_sum_up_to, most), np.arange(most + 1)))
        before = [_Wire(name, np.arange(most + 1))]
    reached = [*np.zeros(least, dtype=np.int64), 1]  # by the sum, up to k
    ending = _step(child, tuple(states), [*before, wires[-1]], partial(_sum_up_to, least), last[np.array(reached)])
    return [*found, ending]


def _sum_up_to(most: int, values: Sequence[Indices]) -> Indices:
    total: Indices = np.minimum(np.sum(values, axis=0), most)
    return total


@lru_cache(maxsize=256)
def _full_cpt(
    form: GateForm, parents: tuple[str, ...], states: tuple[str, ...], sizes: tuple[tuple[str, ...], ...]
) -> Numbers:
    states_of = dict(zip(parents, sizes, strict=True))
    shape = tuple(map(len, sizes))

    def spread(each: GateInput, value: Indices) -> Indices:
        axis = parents.index(each.name)
        return value.reshape([-1 if place == axis else 1 for place in range(len(shape))])

    wide = [spread(each, _value(form, each, states_of[each.name])) for each in form.inputs]
    if form.kind == "atleast":
        total = (reduce(np.add, wide) >= form.least).astype(np.int64)
    else:
        total = wide[0]
        for value in wide[1:]:
            total = _STEPS[form.kind](total, value)
    order = form.order[::-1] if form.is_negated else form.order
    places = np.array([states.index(state) for state in order])
    cpt: Numbers = np.eye(len(states))[places[np.broadcast_to(total, shape)]]
    cpt.setflags(write=False)
    return cpt

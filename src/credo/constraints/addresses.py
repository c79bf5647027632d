"""Where the numbers of a term are: the parameters that P(child=state | some parents) means, parent by parent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from credo.constraints.constraint_set import TRUE_TOLERANCE, Indices, Parameters
from credo.knowledge.syntax import Probability


@dataclass(frozen=True, slots=True)
class Family:
    """A table seen as strides: parameter index = offset + Σ stride[parent] · state of parent + state of child."""

    name: str
    offset: int
    states: Mapping[str, int]  # label → position
    strides: Mapping[str, int]  # parent → stride, in the order of the table's axes
    parent_states: Mapping[str, Mapping[str, int]]  # parent → label → position

    def base(self, given: Iterable[tuple[str, str]]) -> int:
        """The index of the child's first state where the parents not given are in their first state."""
        return self.offset + sum(self.strides[parent] * self.parent_states[parent][label] for parent, label in given)

    def left_out(self, given: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """The parents that are not mentioned, in the order of the table's axes."""
        mentioned = {parent for parent, _ in given}
        return tuple(parent for parent in self.strides if parent not in mentioned)


def family_of(parameters: Parameters, name: str) -> Family:
    """The strides of one table."""
    network = parameters.network
    parents, shape = network.parents[name], network.shape(name)
    return Family(
        name,
        parameters.offsets[name],
        positions(network.states(name)),
        {parent: prod(shape[axis + 1 :]) for axis, parent in enumerate(parents)},
        {parent: positions(network.states(parent)) for parent in parents},
    )


def positions(labels: Iterable[str]) -> dict[str, int]:
    """Each label with its place in the list."""
    return {label: place for place, label in enumerate(labels)}


def grid(axes: Mapping[str, Indices], family: Family, moving: Iterable[str]) -> Indices:
    """What to add to a base index for each configuration of `axes`, the last axis running fastest.

    `axes` gives the states that each free variable takes, by position; only those in `moving` move this family's
    index, the others repeat it: so one configuration is the same one in every term of a statement.
    """
    total = np.zeros((1,) * len(axes), dtype=np.int64)
    moving = frozenset(moving)
    for axis, (name, places) in enumerate(axes.items()):
        step = family.strides[name] * places if name in moving else np.zeros(len(places), dtype=np.int64)
        total = total + step.reshape([-1 if each == axis else 1 for each in range(len(axes))])
    return total.ravel()


def single_states(terms: Iterable[tuple[float, Probability]]) -> dict[Probability, float]:
    """Σ coefficient · P(…) with one state a term, equal terms added up, and those that cancel left out."""
    total: dict[Probability, float] = {}
    for coefficient, term in terms:
        given = tuple(sorted(term.given)) if len(term.given) > 1 else term.given
        for state in term.states:
            key = Probability(term.variable, (state,), given)
            total[key] = total.get(key, 0.0) + coefficient
    return {term: coefficient for term, coefficient in total.items() if abs(coefficient) > TRUE_TOLERANCE}

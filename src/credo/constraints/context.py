"""What every lowering rule is handed: the addresses of all tables, the orders of states, and where rows go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Protocol

import numpy as np

from credo.arrays import Indices
from credo.constraints.addresses import grid
from credo.constraints.collect import Collector, reserve
from credo.knowledge.expressions import Probability
from credo.knowledge.influence import Direction
from credo.knowledge.statements import Statement, to_text
from credo.model.layout import Family
from credo.model.network import Network


class StateOrderLike(Protocol):
    """The states of a variable from low to high."""

    @property
    def states(self) -> tuple[str, ...]: ...


class KnowledgeLike(Protocol):
    """Resolved statements over a network, with the order of states that influences use."""

    @property
    def statements(self) -> Sequence[Statement]: ...

    @property
    def network(self) -> Network: ...

    @property
    def orders(self) -> Mapping[str, StateOrderLike]: ...


@dataclass(frozen=True, slots=True)
class Context:
    """The knowledge that is lowered, the collector of its rows, and the families met so far."""

    knowledge: KnowledgeLike
    collector: Collector
    directions: Mapping[tuple[str, str], Direction]  # (child, parent) → direction, for every parent in a synergy
    families: dict[str, Family] = field(default_factory=dict)

    def family(self, name: str) -> Family:
        """The strides of a table, worked out once."""
        found = self.families.get(name)
        if found is None:
            found = self.families[name] = self.collector.layout.family(str(name))
        return found

    def low_to_high(self, name: str) -> Indices:
        """The positions of a variable's states, from low to high."""
        states = self.knowledge.network.states(name)
        order = self.knowledge.orders.get(name)
        labels = states if order is None else order.states
        return np.array([states.index(label) for label in labels], dtype=np.int64)

    def all_states(self, name: str) -> Indices:
        """The positions of a variable's states, as the file has them."""
        return np.arange(len(self.knowledge.network.states(name)), dtype=np.int64)


def term_indices(context: Context, terms: Sequence[Probability], statement: Statement) -> tuple[Indices, bool]:
    """The parameter of each term in each configuration of the parents left out: (configurations, terms).

    Also whether two terms may be one parameter in some configurations: the same state, with other parents left out.
    """
    families = [context.family(term.variable) for term in terms]
    free = [family.left_out(term.given) for family, term in zip(families, terms, strict=True)]
    axes = {name: context.all_states(name) for names in free for name in names}
    rows = prod(len(places) for places in axes.values())
    reserve(context.collector, rows, len(terms), spoken(statement) if axes else "")
    indices = np.empty((rows, len(terms)), dtype=np.int64)
    for column, (family, term, names) in enumerate(zip(families, terms, free, strict=True)):
        first = family.base(term.given) + family.states[term.states[0]]
        indices[:, column] = first + grid(axes, family, names) if axes else first
    seen: dict[tuple[str, str], tuple[str, ...]] = {}
    pairs = zip(terms, free, strict=True)
    return indices, any(seen.setdefault((term.variable, term.states[0]), names) != names for term, names in pairs)


def spoken(statement: Statement) -> str:
    """A statement for a message: its line, where it has one, and the user's words."""
    line = statement.span.line if statement.span is not None else 0
    return f"line {line}, “{words(statement)}”" if line else f"“{words(statement)}”"


def words(statement: Statement) -> str:
    """A statement as the user wrote it, or as they could have written it."""
    if statement.span is None:
        return to_text(statement)
    return statement.span.text[statement.span.column - 1 : statement.span.end_column - 1].strip()

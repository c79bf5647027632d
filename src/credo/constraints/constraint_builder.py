"""The builder that lowering rules write to: it finds the parameters of each P(…) and collects constraints.

A statement about each state of some parents can make a hundred thousand constraints with the same coefficients. They
are added as one array, and counted before any memory is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan, prod
from typing import Protocol

import numpy as np

from credo.constraints.constraint_set import (
    Constraints,
    InfluenceOrder,
    LinearConstraints,
    NetworkConstraint,
    NoisyFamilyForm,
    ProductConstraint,
    RowTie,
    UnloweredStatement,
)
from credo.constraints.separation import separated
from credo.errors import TooLargeError, readable_bytes
from credo.knowledge.expressions import Probability
from credo.knowledge.influence import synergy_directions
from credo.knowledge.network_names import each_of
from credo.knowledge.statements import Statement, words_of
from credo.model.layout import Family, Layout
from credo.model.network import Network
from credo.tolerances import DECIMAL_ROUNDING
from credo.types import Indices, Numbers

MAX_CONSTRAINTS = 5_000_000
_BYTES_PER_CONSTRAINT, _BYTES_PER_ENTRY = 40, 16


class StateOrderLike(Protocol):
    """The states of a variable from low to high."""

    @property
    def states(self) -> tuple[str, ...]: ...


class KnowledgeLike(Protocol):
    """Statements over a network, with the order of states that influences use."""

    @property
    def statements(self) -> Sequence[Statement]: ...

    @property
    def network(self) -> Network: ...

    @property
    def orders(self) -> Mapping[str, StateOrderLike]: ...


@dataclass(frozen=True, slots=True)
class Pieces:
    """The linear constraints of one statement as the builder holds them: those of a piece differ in indices alone."""

    indices: tuple[Indices, ...]
    coefficients: tuple[Numbers, ...]
    shapes: tuple[tuple[int, int], ...]
    bounds: tuple[float, ...]
    equality: tuple[bool, ...]
    confidences: tuple[float, ...]
    always_true: int
    count: int  # of constraints, as they were reserved


class ConstraintBuilder:
    """Collects the constraints of a knowledge; the one object that is changed while statements are lowered."""

    def __init__(self, knowledge: KnowledgeLike, layout: Layout) -> None:
        self.knowledge = knowledge
        self.layout = layout
        self.directions = synergy_directions(knowledge.statements)
        self.products: list[ProductConstraint] = []
        self.network_constraints: list[NetworkConstraint] = []
        self.influences: list[InfluenceOrder] = []
        self.ties: list[RowTie] = []
        self.forms: list[NoisyFamilyForm] = []
        self.effects: Mapping[str, Sequence[str]] = {}  # of noisy families: child → the effect of each set
        self._count = 0
        self._families: dict[str, Family] = {}
        # Each piece is several constraints with the same coefficients, bound and statement.
        self._indices: list[Indices] = []
        self._coefficients: list[Numbers] = []
        self._shapes: list[tuple[int, int]] = []  # (constraints, entries of each) of a piece
        self._bounds: list[float] = []
        self._statements: list[int] = []
        self._equality: list[bool] = []
        self._confidences: list[float] = []
        self._always_true: dict[int, int] = {}

    # Where probabilities are

    def family(self, name: str) -> Family:
        """The strides of a CPT, computed once."""
        found = self._families.get(name)
        if found is None:
            found = self._families[name] = self.layout.family(str(name))
        return found

    def low_to_high(self, name: str) -> Indices:
        """The positions of a variable's states, from low to high."""
        states = self.knowledge.network.states(name)
        order = self.knowledge.orders.get(name)
        labels = states if order is None else order.states
        return np.array([states.index(label) for label in labels], dtype=np.int64)

    def all_states(self, name: str) -> Indices:
        """The positions of a variable's states, as the network lists them."""
        return np.arange(len(self.knowledge.network.states(name)), dtype=np.int64)

    def parameters_of(self, terms: Sequence[Probability], statement: Statement) -> tuple[Indices, bool]:
        """The parameter of each term in each configuration of the parents under `each`: (configurations, terms).

        Also whether two terms may be one parameter in some configurations: the same state, with other parents given.
        """
        families = [self.family(term.variable) for term in terms]
        free = [
            tuple(parent for parent in family.strides if parent in each_of(term, self.knowledge.network))
            for family, term in zip(families, terms, strict=True)
        ]
        axes = {name: self.all_states(name) for names in free for name in names}
        configurations = prod(len(states) for states in axes.values())
        self.reserve(configurations, len(terms), statement if axes else None)
        indices = np.empty((configurations, len(terms)), dtype=np.int64)
        for column, (family, term, names) in enumerate(zip(families, terms, free, strict=True)):
            first = family.base(term.given) + family.states[term.states[0]]
            indices[:, column] = first + configuration_offsets(axes, family, names) if axes else first
        seen: dict[tuple[str, str], tuple[str, ...]] = {}
        pairs = zip(terms, free, strict=True)
        return indices, any(seen.setdefault((term.variable, term.states[0]), names) != names for term, names in pairs)

    # Adding constraints

    def reserve(self, count: int, entries: int, statement: Statement | None) -> None:
        """Count constraints before they are made, and refuse more than the limit."""
        self._count += count
        if self._count > MAX_CONSTRAINTS:
            bytes_needed = count * (_BYTES_PER_CONSTRAINT + _BYTES_PER_ENTRY * entries)
            subject = "This statement" if statement is None else quoted_statement(statement)
            raise TooLargeError(
                f"{subject} alone means {count:,} constraints, one for each configuration of the parents "
                f"that it does not fix (about {readable_bytes(bytes_needed)}); the limit for all statements is "
                f"{MAX_CONSTRAINTS:,}. Name more of the parents, or declare the family noisy-or.",
                bytes_needed,
            )

    def add(
        self,
        indices: Indices,
        coefficients: Numbers,
        bound: float,
        statement: int,
        *,
        equality: bool = False,
        confidence: float | None = None,
        unit: float = 1.0,
    ) -> None:
        """Add Σ coefficients · θ[indices] ≤ bound for every row of `indices`, which is (constraints, entries).

        `unit` is the size of the numbers that the bound was computed from.
        """
        if not indices.size:
            count = indices.shape[0]
            self.add_constant(bound, statement, count=count, equality=equality, confidence=confidence, unit=unit)
            return
        self._indices.append(indices.ravel())
        self._coefficients.append(coefficients if len(indices) == 1 else np.tile(coefficients, len(indices)))
        self._shapes.append(indices.shape)
        self._describe_piece(bound, statement, equality, confidence)

    def add_constant(
        self,
        bound: float,
        statement: int,
        *,
        count: int = 1,
        equality: bool = False,
        confidence: float | None = None,
        unit: float = 1.0,
    ) -> None:
        """Add 0 ≤ bound (or 0 = bound): only counted where it is true, a constraint without entries where it is not.

        `unit` is the size of the numbers that the bound was computed from, and what its rounding is compared with.
        """
        rounding = DECIMAL_ROUNDING * unit
        if bound >= -rounding and (not equality or bound <= rounding):
            self._always_true[statement] = self._always_true.get(statement, 0) + count
            return
        self._indices.append(np.empty(0, dtype=np.int64))
        self._coefficients.append(np.empty(0))
        self._shapes.append((1, 0))
        self._describe_piece(bound, statement, equality, confidence)

    def _describe_piece(self, bound: float, statement: int, equality: bool, confidence: float | None) -> None:
        self._bounds.append(bound)
        self._statements.append(statement)
        self._equality.append(equality)
        self._confidences.append(nan if confidence is None else confidence)

    # Constraints of statements that were lowered before

    def place(self) -> tuple[int, int, int]:
        """How much there is so far: pieces, constraints, and what is not a linear constraint."""
        others = (
            len(self.products) + len(self.network_constraints) + len(self.influences) + len(self.ties) + len(self.forms)
        )
        return len(self._bounds), self._count, others

    def pieces_since(self, place: tuple[int, int, int], statement: int) -> Pieces | None:
        """What a statement added since then; None where that is not linear constraints alone."""
        first, count, others = place
        if self.place()[2] != others:
            return None
        return Pieces(
            tuple(self._indices[first:]),
            tuple(self._coefficients[first:]),
            tuple(self._shapes[first:]),
            tuple(self._bounds[first:]),
            tuple(self._equality[first:]),
            tuple(self._confidences[first:]),
            self._always_true.get(statement, 0),
            self._count - count,
        )

    def add_pieces(self, pieces: Pieces, statement: int) -> None:
        """Add the constraints of a statement again, under its number here."""
        self.reserve(pieces.count, 0, None)
        self._indices += pieces.indices
        self._coefficients += pieces.coefficients
        self._shapes += pieces.shapes
        self._bounds += pieces.bounds
        self._statements += [statement] * len(pieces.bounds)
        self._equality += pieces.equality
        self._confidences += pieces.confidences
        if pieces.always_true:
            self._always_true[statement] = pieces.always_true

    def constraints(self, unlowered: Iterable[UnloweredStatement] = ()) -> Constraints:
        """Everything that was added, in columns."""
        shapes = np.array(self._shapes, dtype=np.int64).reshape(-1, 2)
        counts, entries = shapes[:, 0], shapes[:, 1]
        linear = LinearConstraints(
            np.concatenate(([0], np.cumsum(np.repeat(entries, counts)))).astype(np.int64),
            np.concatenate(self._indices) if self._indices else np.empty(0, dtype=np.int64),
            np.concatenate(self._coefficients) if self._coefficients else np.empty(0),
            np.repeat(np.array(self._bounds, dtype=np.float64), counts),
            np.repeat(np.array(self._statements, dtype=np.int64), counts),
            np.repeat(np.array(self._equality, dtype=np.bool_), counts),
            np.repeat(np.array(self._confidences, dtype=np.float64), counts),
        )
        return Constraints(
            self.layout,
            separated(linear, self.layout).scaled(),
            tuple(self.products),
            tuple(self.ties),
            tuple(self.forms),
            tuple(unlowered),
            dict(self._always_true),
            network_constraints=tuple(self.network_constraints),
            influences=tuple(self.influences),
            orders={
                name: order
                for name in self.knowledge.orders
                if not np.array_equal(order := self.low_to_high(name), self.all_states(name))
            },
        )


def configuration_offsets(axes: Mapping[str, Indices], family: Family, moving: Iterable[str]) -> Indices:
    """What to add to a base index for each configuration of `axes`, the last axis varying fastest.

    `axes` gives the states that each free variable takes, by position; only those in `moving` move this family's
    index, the others repeat it, so that one configuration is the same in every term of a statement.
    """
    total = np.zeros((1,) * len(axes), dtype=np.int64)
    moving = frozenset(moving)
    for axis, (name, states) in enumerate(axes.items()):
        step = family.strides[name] * states if name in moving else np.zeros(len(states), dtype=np.int64)
        total = total + step.reshape([-1 if other == axis else 1 for other in range(len(axes))])
    return total.ravel()


def coefficients_by_state(terms: Iterable[tuple[float, Probability]]) -> dict[Probability, float]:
    """Σ coefficient · P(…) with one state a term, equal terms added up, and those that cancel left out."""
    total: dict[Probability, float] = {}
    largest: dict[Probability, float] = {}
    for coefficient, term in terms:
        given = tuple(sorted(term.given)) if len(term.given) > 1 else term.given
        each = tuple(sorted(term.each)) if len(term.each) > 1 else term.each
        for state in term.states:
            key = Probability(term.variable, (state,), given, each, term.each_other)
            total[key] = total.get(key, 0.0) + coefficient
            largest[key] = max(largest.get(key, 0.0), abs(coefficient))
    return {
        term: coefficient for term, coefficient in total.items() if abs(coefficient) > DECIMAL_ROUNDING * largest[term]
    }


def quoted_statement(statement: Statement) -> str:
    """A statement for a message: `Line 3, “smoke raises lung”`."""
    line = statement.span.line if statement.span is not None else 0
    return f"Line {line}, “{words_of(statement)}”" if line else f"“{words_of(statement)}”"

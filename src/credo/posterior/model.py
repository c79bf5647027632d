"""What chains draw: the CPTs in coordinates of the hierarchical prior, and the boundaries that statements set.

Configurations have coordinates of their own where rows reach them or a statement names them. The others follow their
CPT's base: what is drawn for them says nothing about the rest, so that configurations without rows never speak
against an influence. States are numbered from low to high here, in whatever order the network lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.constraint_set import InfluenceOrder, LinearConstraints
from credo.model.layout import Layout
from credo.types import Flags, Indices, Numbers

SMALL = 1e-4  # a number so small that rounding of sums that are one is no small share of it
NARROW = 1e-4  # as wide as this, what a statement that may be wrong allows is not found by drawing what it is about


@dataclass(frozen=True, slots=True, eq=False)
class SampledFamily:
    """One CPT: configurations and states in the order of the chain, and where they are elsewhere."""

    name: str
    sizes: tuple[int, ...]  # of the parents
    states: int
    parent_states: Indices  # (configurations, parents) int32
    cells: Indices  # (configurations, states) in the layout
    signs: Indices  # (parents,) of influences that hold whatever the other parents are
    kept: Indices  # the configurations with coordinates
    places: Indices  # (configurations,) their numbers among these, or -1
    first: int  # cell in the vectors of chains

    @property
    def size(self) -> int:
        """How many cells it has in the vectors of chains."""
        return len(self.kept) * self.states

    @property
    def strides(self) -> Indices:
        """How far apart configurations are that differ in one state of a parent."""
        return np.array([int(np.prod(self.sizes[p + 1 :])) for p in range(len(self.sizes))], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class BoundaryRows:
    """Linear constraints on the cells of chains, inequalities alone."""

    starts: Indices
    cells: Indices
    coefficients: Numbers
    bounds: Numbers

    def __len__(self) -> int:
        return len(self.bounds)


@dataclass(frozen=True, slots=True)
class DoubtedSign:
    """An influence that may be wrong: it is true where all effects of a parent have this sign."""

    statement: int  # its place among those that may be wrong
    family: int
    parent: int  # its place among the parents
    sign: int


@dataclass(frozen=True, slots=True, eq=False)
class SampledModel:
    """All CPTs that are drawn."""

    layout: Layout
    families: tuple[SampledFamily, ...]
    rows: BoundaryRows
    row_statement: Indices  # (rows,) the place of its statement among those that may be wrong, or -1
    doubted_signs: tuple[DoubtedSign, ...]
    cells: Indices  # (cells of chains,) where each is in the layout
    first_cell: Indices  # (distributions + 1,) in the vectors of chains
    barred: Flags  # (cells of chains,) which statements make zero
    held: Flags  # (distributions,) which trajectories alone move, because statements about whole networks reach them
    thin: tuple[Indices, ...]  # (cells of the layout,) of each constraint that may be wrong and leaves a thin set

    @property
    def size(self) -> int:
        """How many cells the vectors of chains have."""
        return len(self.cells)


def sampled_model(
    layout: Layout,
    names: Sequence[str],  # of the variables whose CPTs are learned
    reached: Flags,  # (cells of the layout,) that rows can have
    linear: LinearConstraints,
    influences: Sequence[InfluenceOrder],
    orders: Mapping[str, Indices],  # of variables whose states the network does not list from low to high
    zeros: Indices,  # parameters that statements make zero
    doubted: Indices,  # the numbers of statements that may be wrong
    held: Flags,  # (cells of the layout,) that statements about whole networks reach
) -> SampledModel:
    """Which configurations have coordinates, and what bounds them.

    An influence alone bounds neighbours among the configurations with coordinates; the others are put between them
    when a draw is made. One that may be wrong is about the base alone. All other statements give coordinates to every
    configuration they name.
    """
    place_of = {number: place for place, number in enumerate(doubted.tolist())}
    by_child: dict[str, dict[str, int]] = {}
    for each in influences:
        if each.statement not in place_of:
            by_child.setdefault(each.child, {})[each.parent] = each.sign
    wide = [each.statement for each in influences if each.alone]
    own = linear.take(~np.isin(linear.statements, wide))
    touched = held.copy()
    touched[own.indices] = True
    families: list[SampledFamily] = []
    placed = np.full(layout.size, -1, dtype=np.int64)
    first = 0
    for name in names:
        family = replace(_family(layout, name, reached | touched, by_child.get(name, {}), orders), first=first)
        placed[family.cells[family.kept].ravel()] = np.arange(first, first + family.size)
        families.append(family)
        first += family.size
    parts: list[tuple[Indices, Numbers, float]] = []
    row_statement: list[int] = []
    thin = _thin(own, np.isin(own.statements, doubted))
    own = own.drawn()
    owner = layout.distribution_of(np.arange(layout.size))
    for number in range(len(own)):
        piece = slice(own.starts[number], own.starts[number + 1])
        if piece.start == piece.stop:
            continue
        places, values, bound = placed[own.indices[piece]], own.coefficients[piece], float(own.bounds[number])
        if len(values) == 1 and 0.0 < 1.0 - bound / values[0] < SMALL:  # nearly one: by what it lacks
            others = layout.distribution_of(own.indices[piece])[0] == owner
            others[own.indices[piece]] = False
            places = placed[np.flatnonzero(others)]
            values, bound = np.full(len(places), -values[0]), bound - values[0]
        if 0.0 < abs(bound) < SMALL and (values * bound > 0.0).all():
            values, bound = values / abs(bound), bound / abs(bound)  # what rounding may leave is a share of the number
        parts.append((places, values, bound))
        row_statement.append(place_of.get(int(own.statements[number]), -1))
    for family in families:
        if any(each.child == family.name and each.alone and each.statement not in place_of for each in influences):
            parts += _ordered_rows(family)
            row_statement += [-1] * (len(parts) - len(row_statement))
    numbers = {family.name: number for number, family in enumerate(families)}
    signs = tuple(
        DoubtedSign(
            place_of[each.statement],
            numbers[each.child],
            layout.network.parents[each.child].index(each.parent),
            each.sign,
        )
        for each in influences
        if each.alone and each.statement in place_of and each.child in numbers
    )
    sizes = [family.states for family in families for _ in family.kept]
    cells = (
        np.concatenate([family.cells[family.kept].ravel() for family in families])
        if families
        else np.zeros(0, np.int64)
    )
    pinned = np.zeros(layout.size, dtype=np.bool_)
    pinned[zeros] = True
    rows = BoundaryRows(
        np.cumsum([0, *(len(places) for places, _, _ in parts)]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *(places for places, _, _ in parts)]),
        np.concatenate([np.zeros(0), *(values for _, values, _ in parts)]),
        np.array([bound for _, _, bound in parts], dtype=np.float64),
    )
    return SampledModel(
        layout,
        tuple(families),
        rows,
        np.array(row_statement, dtype=np.int64),
        signs,
        cells,
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        pinned[cells],
        held[cells][np.cumsum([0, *sizes[:-1]])] if sizes else np.zeros(0, dtype=np.bool_),
        thin,
    )


def _thin(linear: LinearConstraints, doubted: Flags) -> tuple[Indices, ...]:
    """The parameters of each equality and of each small upper bound that leaves a thin set."""
    upper = np.bincount(linear.entry_constraints, linear.coefficients <= 0.0, len(linear)) == 0.0
    small = upper & (linear.bounds > 0.0) & (linear.bounds < NARROW)
    narrow = doubted & np.where(linear.equality, linear.equality_widths() < NARROW, small)
    return tuple(linear.indices[linear.starts[n] : linear.starts[n + 1]] for n in np.flatnonzero(narrow))


def _family(
    layout: Layout, name: str, reached: Flags, signs: Mapping[str, int], orders: Mapping[str, Indices]
) -> SampledFamily:
    network = layout.network
    parents = network.parents[name]
    shape = network.shape(name)
    sizes, states = tuple(shape[:-1]), shape[-1]
    cells = (layout.offsets[name] + np.arange(int(np.prod(shape)))).reshape(shape)
    for axis, variable in enumerate((*parents, name)):
        if variable in orders:
            cells = np.take(cells, orders[variable], axis=axis)
    cells = np.ascontiguousarray(cells.reshape(-1, states))
    grid = np.indices(sizes, dtype=np.int32).reshape(len(sizes), len(cells)).T
    kept = np.flatnonzero(reached[cells].any(axis=1))
    places = np.full(len(cells), -1, dtype=np.int64)
    places[kept] = np.arange(len(kept))
    return SampledFamily(
        name,
        sizes,
        states,
        np.ascontiguousarray(grid),
        cells,
        np.array([signs.get(parent, 0) for parent in parents], dtype=np.int32),
        kept,
        places,
        0,
    )


def _ordered_rows(family: SampledFamily) -> list[tuple[Indices, Numbers, float]]:
    """P(child ≥ k) of a configuration is at most that of the next ones with coordinates in the order of influences."""
    states = family.parent_states[family.kept] * np.where(family.signs == 0, 1, family.signs)
    signed = family.signs != 0
    n, rows = len(states), []
    same = (states[:, None, ~signed] == states[None, :, ~signed]).all(axis=2)
    below = same & (states[:, None, signed] <= states[None, :, signed]).all(axis=2) & ~np.eye(n, dtype=np.bool_)
    between = (below.astype(np.float32) @ below.astype(np.float32)) > 0.5
    for low, high in zip(*np.nonzero(below & ~between), strict=True):
        for k in range(1, family.states):
            own = family.first + low * family.states + np.arange(k, family.states)
            other = family.first + high * family.states + np.arange(k, family.states)
            cells = np.concatenate((own, other))
            values = np.concatenate((np.ones(len(own)), -np.ones(len(other))))
            rows.append((cells.astype(np.int64), values, 0.0))
    return rows

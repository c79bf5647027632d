"""Draws under statements about any probability of the network: what the compiled updates of CPTs need.

CPTs that such statements reach are updated by `kernels/general_sweeps.py` and by nothing else; all that a chain holds
beside them (components, means, weights) is drawn as usual. An equality leaves a set without volume: it is held within
`EQUALITY_WIDTH`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np

from credo.constraints.blocks import Block, starts_of
from credo.constraints.constraint_set import NO_CONSTRAINTS
from credo.errors import CredoError
from credo.kernels.sampler_arrays import CliqueTree, GeneralArrays, GeneralMoves, Geometry, JointUpdates, Underway
from credo.model.graphs import ancestors
from credo.model.layout import Layout
from credo.sampling.distributions import SampledDistributions
from credo.sampling.region import Region
from credo.statistics.inference.clique_tree import UPDATE, clique_tree
from credo.statistics.network_statements import NetworkStatements, excesses_of
from credo.tolerances import EQUALITY_WIDTH
from credo.types import Flags, Indices, Numbers

POINTS_AT_ONCE = 500
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class GeneralRegion:
    """General statements, and a point inside of everything."""

    statements: NetworkStatements
    start: Numbers  # (parameters of the statements' layout,)
    others: tuple[Numbers, ...] = ()  # further points inside of everything, far from it


@dataclass(frozen=True, slots=True, eq=False)
class GeneralUpdates:
    """The tree and the statements as arrays."""

    tree: CliqueTree
    arrays: GeneralArrays
    families: tuple[str, ...]  # of the tree
    groups: Flags  # (groups,) which are updated here
    family_of: Indices  # (parameters,) the CPT in the tree of each sampled parameter, −1: of none that is updated
    family_groups: tuple[tuple[int, ...], ...]  # of each CPT in the tree, the groups of its distributions
    drawn: DrawnGeneral  # the statements at draws

    def lines(self, geometry: Geometry) -> GeneralMoves:
        """The moves of a geometry that stay within one CPT."""
        return self._moves(self._lines(geometry), [[] for _ in self.families], [{} for _ in self.families])

    def moves(self, geometry: Geometry, updates: JointUpdates) -> GeneralMoves:
        """The same, pairs of states apart where statements are linear in their CPT, and joint updates beside them.

        These reach corners, which rays are for.
        """
        lines, pairs = self._lines(geometry), [dict[int, list[int]]() for _ in self.families]
        sizes = np.diff(geometry.move_starts)
        for family, own in enumerate(lines):
            first, last = self.arrays.constraint_starts[family : family + 2].tolist()
            reached = self.arrays.constraints[first:last]
            is_linear = bool((self.arrays.straight[reached] & np.isnan(self.arrays.weights[reached])).all())
            others = []
            for move in own:
                if geometry.rays[move]:
                    continue
                first = int(geometry.move_starts[move])
                of_pair = geometry.owners[geometry.move_indices[first : first + 2]]
                values = geometry.move_values[first : first + 2]
                is_pair = sizes[move] == 2 and of_pair[0] == of_pair[1] and values[0] == 1.0 and values[1] == -1.0
                if is_linear and is_pair and geometry.extra_starts[move] == geometry.extra_starts[move + 1]:
                    pairs[family].setdefault(int(of_pair[0]), []).append(move)
                else:
                    others.append(move)
            lines[family] = others
        joints: list[list[int]] = [[] for _ in self.families]
        for which, (start, stop) in enumerate(pairwise(updates.starts.tolist())):
            families = self.family_of[updates.numbers[start:stop]]
            if families[0] >= 0 and (families == families[0]).all():
                joints[int(families[0])].append(which)
        return self._moves(lines, joints, pairs)

    def rounds(self, passes: Indices) -> Indices:
        """In how many rounds each operation of the tree takes part, as the parameters of blocks do.

        From a clique to a part of the tree and back, messages go where a CPT there takes part.
        """
        most = np.ones(len(self.families), dtype=np.int64)
        known = self.family_of[: len(passes)]
        np.maximum.at(most, known[known >= 0], passes[known >= 0])
        operations = self.tree.operations.tolist()
        found, open_ = np.ones(len(operations), dtype=np.int64), []
        for number, (kind, _, which) in enumerate(operations):
            if kind == UPDATE:
                found[number] = most[which]
            elif which % 2:  # down
                open_.append(number)
                continue
            else:  # and up again
                begun = open_.pop()
                found[number] = found[begun] = found[begun + 1 : number].max(initial=0)
        return found

    def _lines(self, geometry: Geometry) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.families]
        for group in np.flatnonzero(self.groups).tolist():
            for move in range(int(geometry.group_moves[group]), int(geometry.group_moves[group + 1])):
                entries = slice(int(geometry.move_starts[move]), int(geometry.move_starts[move + 1]))
                families = self.family_of[geometry.move_indices[entries]]
                if len(families) and families[0] >= 0 and (families == families[0]).all():
                    found[int(families[0])].append(move)
        return found

    def _moves(
        self, lines: list[list[int]], joints: list[list[int]], pairs: list[dict[int, list[int]]]
    ) -> GeneralMoves:
        return GeneralMoves(
            *_stretches([list(own) for own in pairs]),
            *_stretches([moves for own in pairs for moves in own.values()]),
            *_stretches(lines),
            *_stretches(joints),
            *_stretches(self.family_groups),
        )


def _stretches(lists: Sequence[Sequence[int]]) -> tuple[Indices, Indices]:
    """Lists as one array, and where each starts."""
    return starts_of([len(each) for each in lists]), np.array([k for each in lists for k in each], dtype=np.int64)


def with_general_blocks(blocks: Sequence[Block], general: GeneralRegion, layout: Layout) -> tuple[Block, ...]:
    """The blocks, and one without constraints for the other distributions of each CPT that general statements reach."""
    covered = {place for block in blocks for place in block.configurations}
    found = list(blocks)
    for name in general.statements.families:
        if name not in layout:
            continue
        rest = [number for number in range(layout.network.configurations(name)) if (name, number) not in covered]
        if not rest:
            continue
        size = len(layout.network.states(name))
        first = general.statements.layout.offsets[name]
        parameters = np.concatenate([np.arange(first + number * size, first + (number + 1) * size) for number in rest])
        found.append(
            Block(
                tuple((name, number) for number in rest),
                parameters,
                np.arange(len(rest) + 1) * size,
                np.repeat(np.arange(len(rest)), size),
                NO_CONSTRAINTS,
                np.zeros(0, dtype=np.int64),
            )
        )
    return tuple(found)


def reached_groups(blocks: Sequence[Block], general: GeneralRegion) -> Flags:
    """Which blocks have distributions that general statements reach."""
    families = set(general.statements.families)
    return np.array([any(name in families for name, _ in block.configurations) for block in blocks], dtype=np.bool_)


def require_moves(region: Region, groups: Flags) -> None:
    """Refuse equalities between CPTs of different variables: draws would have to move both at once."""
    for group in np.flatnonzero(groups).tolist():
        block, part = region.blocks[group], region.parts[group]
        names = np.array([name for name, _ in block.configurations])[block.distribution_of]
        for number in range(part.equalities.shape[0]):
            entries = part.equalities.indices[part.equalities.indptr[number] : part.equalities.indptr[number + 1]]
            held = sorted(set(names[entries].tolist()))
            if len(held) > 1:
                raise CredoError(
                    f"The method posterior cannot draw the CPTs of {' and '.join(held)} "
                    "under an equality between them together with statements about probabilities that depend on "
                    "several CPTs. Use the method cmap, or replace the equality by a range."
                )


def general_updates(
    general: GeneralRegion,
    sampled: SampledDistributions,
    blocks: Sequence[Block],
    soft_weight: float | None,
    memory_limit: int | None = None,
    doubted: Mapping[int, int] | None = None,
) -> GeneralUpdates:
    """The tree of all CPTs that matter, and the statements in its numbers; `doubted` has those that may be wrong."""
    statements, network = general.statements, general.statements.network
    position = {name: number for number, name in enumerate(network.names)}
    named = sorted({name for allowed in statements.sums for name, _ in allowed}, key=position.__getitem__)
    reached = set(statements.families) & set(sampled.names)
    families = sorted(ancestors(network.parents, [*named, *reached]), key=position.__getitem__)
    sizes = [len(variable.states) for variable in network.variables]
    shapes = [network.shape(name) for name in families]
    starts = starts_of([prod(shape) for shape in shapes])
    own = statements.layout.unpack(general.start)
    cpts = np.concatenate(
        [np.ravel(own[name] if name in own else network.cpt_array(name)) for name in families]
    ).astype(np.float64)
    members = [
        (
            tuple(position[member] for member in (*network.parents[name], name)),
            [prod(shape[axis + 1 :]) for axis in range(len(shape))],
            int(first),
        )
        for name, shape, first in zip(families, shapes, starts, strict=False)
    ]
    tree = clique_tree(
        sizes,
        members,
        [name in reached for name in families],
        [position[name] for name in named],
        len(statements.sums),
        memory_limit,
    )
    number_of = {name: number for number, name in enumerate(families)}
    owners = np.array([number_of.get(name, -1) for name in sampled.names], dtype=np.int64)
    of_parameter = np.repeat(sampled.families, np.diff(sampled.starts))
    offsets = np.array([sampled.layout.offsets[name] for name in sampled.names], dtype=np.int64)
    inside = sampled.parameters() - offsets[of_parameter]
    places = np.where(owners[of_parameter] < 0, -1, starts[owners[of_parameter]] + inside)
    updated = np.array([name in reached for name in sampled.names], dtype=np.bool_)
    family_of = np.where(updated[of_parameter], owners[of_parameter], -1)
    arrays = _arrays(statements, sampled, named, cpts, places, starts, soft_weight, doubted or {}, families)
    groups = [
        tuple(number for number, block in enumerate(blocks) if any(own == name for own, _ in block.configurations))
        for name in families
    ]
    return GeneralUpdates(
        tree,
        arrays,
        tuple(families),
        reached_groups(blocks, general),
        family_of,
        tuple(groups),
        DrawnGeneral.of(general, blocks),
    )


def _arrays(
    statements: NetworkStatements,
    sampled: SampledDistributions,
    named: Sequence[str],
    cpts: Numbers,
    places: Indices,
    family_starts: Indices,
    soft_weight: float | None,
    doubted: Mapping[int, int],
    families: Sequence[str],
) -> GeneralArrays:
    network = statements.network
    firsts = dict(zip(named, starts_of([len(network.states(n)) for n in named]), strict=False))
    indicators = np.ones((sum(len(network.states(name)) for name in named), len(statements.sums)))
    for column, allowed in enumerate(statements.sums):
        for name, states in allowed:
            first = int(firsts[name])
            indicators[first : first + len(network.states(name)), column] = 0.0
            indicators[[first + state for state in states], column] = 1.0
    number_of = {name: place for place, name in enumerate(sampled.names)}
    address = {int(index): place for place, index in enumerate(sampled.parameters().tolist())}
    terms: list[list[tuple[float, int, int]]] = []
    bounds: list[float] = []
    weights: list[float] = []
    equality: list[bool] = []
    entries: list[tuple[int, int, float]] = []
    meanings: list[int] = []
    owners: list[int] = []
    for owner, each in enumerate(statements.constraints):
        meaning = doubted.get(each.statement, -1)
        if each.confidence is not None and not soft_weight and meaning < 0:
            continue
        mine = np.flatnonzero(statements.owners == owner).tolist()
        hard = each.confidence is None or meaning >= 0
        width = 0.0
        if hard and each.equality:
            width = EQUALITY_WIDTH
        for sign in (1.0, -1.0) if hard and each.equality else (1.0,):
            bound, number = sign * each.bound + width, len(bounds)
            for index, coefficient in zip(each.indices, each.coefficients, strict=True):
                name, configuration, state = statements.layout.locate(index)
                if name in number_of:
                    entry = address[sampled.layout.index(name, configuration, state)]
                    entries.append((entry, number, sign * coefficient))
                else:  # a CPT that is kept
                    bound -= (
                        sign
                        * coefficient
                        * float(network.cpt_array(name).ravel()[index - statements.layout.offsets[name]])
                    )
            bounds.append(bound)
            weights.append(np.nan if hard else float(soft_weight or 0.0) * float(each.confidence or 0.0))
            equality.append(each.equality)
            meanings.append(meaning)
            owners.append(owner)
            terms.append(
                [
                    (sign * float(statements.coefficients[t]), int(statements.above[t]), int(statements.below[t]))
                    for t in mine
                ]
            )
    entries.sort()
    with_entries = {number for _, number, _ in entries}
    single = [
        len(own) == 1 and np.isnan(weight) and number not in with_entries
        for number, (own, weight) in enumerate(zip(terms, weights, strict=True))
    ]
    straight = [
        is_single or all(below < 0 for _, _, below in own) for is_single, own in zip(single, terms, strict=True)
    ]
    flat = [term for own in terms for term in own]
    # Where statements may be wrong, all are followed all the time.
    constraints_of = [
        [number for number, owner in enumerate(owners) if doubted or name in statements.reached[owner]]
        for name in families
    ]
    counts = np.bincount(np.array([place for place, _, _ in entries], dtype=np.int64), minlength=sampled.size)
    return GeneralArrays(
        indicators,
        cpts,
        places.astype(np.int64),
        _inverse(places, len(cpts)),
        family_starts,
        starts_of([len(own) for own in terms]),
        np.array([coefficient for coefficient, _, _ in flat], dtype=np.float64),
        np.array([above for _, above, _ in flat], dtype=np.int64),
        np.array([below for _, _, below in flat], dtype=np.int64),
        np.array(bounds, dtype=np.float64),
        np.array(weights, dtype=np.float64),
        np.array(equality, dtype=np.bool_),
        np.array(single, dtype=np.bool_),
        starts_of(counts),
        np.array([number for _, number, _ in entries], dtype=np.int64),
        np.array([value for _, _, value in entries], dtype=np.float64),
        np.array(meanings, dtype=np.int64),
        np.array(straight, dtype=np.bool_),
        *_stretches(constraints_of),
        *_stretches(
            [
                sorted({s for number in own for _, *both in terms[number] for s in both if s >= 0})
                for own in constraints_of
            ]
        ),
    )


def _inverse(places: Indices, cells: int) -> Indices:
    """The parameter of each cell, −1: of none."""
    found = np.full(cells, -1, dtype=np.int64)
    known = np.flatnonzero(places >= 0)
    found[places[known]] = known
    return found


def no_general() -> GeneralArrays:
    """No statements about any probability."""
    none, zeros, flags = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.bool_)
    return GeneralArrays(
        np.zeros((0, 0)), zeros, none, none, none, none, zeros, none, none, zeros, zeros, flags, flags, none, none,
        zeros, none, flags, none, none, none, none,
    )  # fmt: skip


def nothing_underway() -> Underway:
    """No CPT with such statements."""
    none = np.zeros(0, dtype=np.int64)
    return Underway(0, np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros((2, 0)), np.zeros((2, 0)), none, none)


# Whether statements hold in draws -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class DrawnGeneral:
    """General statements, evaluated at draws of the parameters of blocks."""

    region: GeneralRegion
    columns: Indices  # (parameters of blocks,) where each is in the statements' layout

    @classmethod
    def of(cls, region: GeneralRegion, blocks: Sequence[Block]) -> DrawnGeneral:
        """For draws of the parameters of these blocks, in their order."""
        parameters = [block.parameters for block in blocks]
        return cls(region, np.concatenate(parameters) if parameters else np.zeros(0, dtype=np.int64))

    def all_hold(self, theta: Numbers) -> bool:
        """Whether every statement holds at a point, (parameters of blocks,), equalities as closely as in draws."""
        whole, statements = self.region.start.copy(), self.region.statements
        whole[self.columns] = theta
        excess = statements.excess(whole) - np.where(statements.equality, EQUALITY_WIDTH, 0.0)
        return bool((excess <= 0.0).all())

    def true(self, theta: Numbers, numbers: Sequence[int]) -> Flags:
        """Which of these statements hold at points, (points, parameters of blocks): (statements, points)."""
        statements = self.region.statements
        found = np.ones((len(numbers), len(theta)), dtype=np.bool_)
        for first in range(0, len(theta), POINTS_AT_ONCE):
            own = theta[first : first + POINTS_AT_ONCE]
            whole = np.repeat(self.region.start[None], len(own), axis=0)
            whole[:, self.columns] = own
            excess = excesses_of(statements.values_from(statements.sums_of(whole), whole), statements.equality)
            excess = excess - np.where(statements.equality, EQUALITY_WIDTH, 0.0)
            for place, number in enumerate(numbers):
                mine = statements.statements == number
                found[place, first : first + len(own)] = (excess[:, mine] <= ROUNDING).all(axis=1)
        return found

"""How distributions move under statements that may be wrong.

Mass between two states of a distribution: in the log-odds x of their split the density is that of a Beta variable,
log-concave, times a factor for each statement that is constant on an interval of x and one outside of it. The
logarithm of the Beta density is bounded by its tangents at nodes around the mode; between their knots, and the ends of
all intervals, a piece is chosen by its mass, and a point in it drawn. A Metropolis step corrects for what lies below
the tangents, and nearly always accepts. So a statement is entered and left in one step, however narrow it is; and as
the tangents are nowhere below the density, no place holds a chain.

Renewal: distributions and their components are drawn as if there were no statements, and kept with the chance that the
statements give the new place over the old one. Those of one statement are renewed together, too, so that a statement
about several distributions becomes true or false at once. What statements hold together follows one of them, or is
moved by the same mass. A statement of many constraints, such as an influence, is tempered
(`kernels/doubtful_tempering.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from credo.kernels.doubtful_renewals import MOST_DRAWN
from credo.kernels.sampler_arrays import DistributionArrays, Extras, GeneralArrays, GeneralMoves, Geometry
from credo.model.graphs import connected_components
from credo.sampling.directions import starts_of
from credo.sampling.doubted_statements import DoubtedConstraints
from credo.sampling.general_updates import GeneralUpdates, no_general, nothing_underway
from credo.sampling.region import Region
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

    from credo.kernels.doubt_arrays import BeliefArrays, DoubtArrays
    from credo.kernels.doubtful_updates import VisitArrays

# Nodes around the mode of a Beta density, in units of its width there.
_UPPER = (0.5, 1.0, 1.6, 2.3, 3.2, 5.0, 12.0)
NODES = np.array([*(-node for node in reversed(_UPPER)), 0.0, *_UPPER])
TINY_CHANGE = 1e-12
LEAST_TEMPERED = 3  # constraints of a statement that is tempered: of fewer, moves make it true and false
MOST_TEMPERED = 400  # pairs of states that such a statement is about, above which nearly all transitions are rejected
MOST_FOLLOWING = 16  # distributions that one statement after another holds together, and that go together

Row = tuple[int, float]  # a constraint, and how much it changes with mass moved from the second state to the first


@dataclass(frozen=True, slots=True)
class Pair:
    """Two states of a distribution, and the constraints that change with mass moved between them."""

    first: int
    second: int
    distribution: int  # its number among those of all blocks
    doubted: tuple[Row, ...]  # sorted by statement
    hard: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """The same two states of several distributions, between which the same mass is moved, and what changes."""

    firsts: tuple[int, ...]
    seconds: tuple[int, ...]
    distributions: tuple[int, ...]
    doubted: tuple[Row, ...]
    hard: tuple[Row, ...]


@dataclass(frozen=True)
class DoubtfulMoves:
    """The moves of all blocks that doubted statements constrain, and what they have to look at."""

    doubted: DoubtedConstraints
    pairs: tuple[Pair, ...]
    sets: tuple[tuple[int, ...], ...]  # distributions that are renewed together
    matrix: csr_array  # (doubted constraints, parameters of blocks)
    hard: csr_array  # (hard constraints, parameters of blocks)
    hard_bounds: Numbers
    starts: Indices  # (distributions of blocks + 1,) into parameters
    general: GeneralUpdates | None = None  # of CPTs that statements about any probability reach

    blocks: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # the block of each pair
    clusters: int = 0  # how many of the sets, the last ones, hang together by several statements
    lines: tuple[Line, ...] = ()  # of distributions that statements hold together

    def pairs_apart_from_general(self) -> tuple[Pair, ...]:
        """The pairs of blocks that no statement about any probability reaches."""
        if self.general is None:
            return self.pairs
        reached = self.general.groups
        return tuple(pair for pair, block in zip(self.pairs, self.blocks.tolist(), strict=True) if not reached[block])

    # Compiled ---------------------------------------------------------------------------------------------------------

    @cached_property
    def arrays(self) -> tuple[DoubtArrays, BeliefArrays]:
        """The same as flat arrays, and how far statements are believed."""
        from credo.kernels.doubt_arrays import BeliefArrays, DoubtArrays

        linear, statements = self.doubted.linear, self.doubted.statements
        constraints, limits = (self._constraints_of_sets(matrix) for matrix in (self.matrix, self.hard))
        doubt = DoubtArrays(
            linear.starts.astype(np.int64),
            linear.indices.astype(np.int64),
            linear.coefficients,
            linear.bounds,
            linear.statements.astype(np.int64),
            self.hard.indptr.astype(np.int64),
            self.hard.indices.astype(np.int64),
            self.hard.data.astype(np.float64),
            self.hard_bounds,
            starts_of([*(1 for _ in self.pairs), *(len(line.firsts) for line in self.lines)]),
            np.array([*(pair.first for pair in self.pairs), *(i for line in self.lines for i in line.firsts)]),
            np.array([*(pair.second for pair in self.pairs), *(j for line in self.lines for j in line.seconds)]),
            *_flat([*(pair.doubted for pair in self.pairs), *(line.doubted for line in self.lines)]),
            *_flat([*(pair.hard for pair in self.pairs), *(line.hard for line in self.lines)]),
            starts_of([len(each) for each in self.sets]),
            np.array([d for each in self.sets for d in each], dtype=np.int64),
            starts_of([len(each) for each in constraints]),
            np.array([constraint for each in constraints for constraint in each], dtype=np.int64),
            starts_of([len(each) for each in limits]),
            np.array([constraint for each in limits for constraint in each], dtype=np.int64),
            self.chances,
            NODES,
            *self._tempered(),
        )
        learned = statements.learned
        given = np.array([expert.reliability or 0.5 for expert in statements.experts])[statements.expert_of]
        given = np.where(np.isnan(statements.confidences), given, statements.confidences)
        given = np.clip(given, 1e-9, 1.0 - 1e-9)
        priors = [(0.0, 0.0) if each.reliability is not None else each.prior for each in statements.experts]
        return doubt, BeliefArrays(
            learned.astype(np.int64),
            np.log(given / (1.0 - given)),
            statements.log_widening,
            statements.false,
            self.doubted.meanings,
            *np.array(priors, dtype=np.float64).reshape(-1, 2).T.copy(),
        )

    def _tempered(self) -> tuple[Indices, Indices, Indices, Indices]:
        """The statements of many constraints, how many, and the pairs of the distributions that they are about."""
        meanings = self.doubted.linear.statements
        counts = np.bincount(meanings, minlength=1)
        chosen = np.flatnonzero(counts >= LEAST_TEMPERED)
        owners = np.searchsorted(self.starts, self.doubted.linear.indices, side="right") - 1
        of_entry = meanings[self.doubted.linear.entry_constraints]
        pairs_of: dict[int, list[int]] = {}
        for number, pair in enumerate(self.pairs):
            pairs_of.setdefault(pair.distribution, []).append(number)
        lists = [
            [number for d in np.unique(owners[of_entry == meaning]).tolist() for number in pairs_of.get(d, ())]
            for meaning in chosen.tolist()
        ]
        some = [place for place, each in enumerate(lists) if 0 < len(each) <= MOST_TEMPERED]
        return (
            chosen[some].astype(np.int64),
            counts[chosen[some]].astype(np.int64),
            starts_of([len(lists[place]) for place in some]),
            np.array([number for place in some for number in lists[place]], dtype=np.int64),
        )

    @property
    def chances(self) -> Numbers:
        """How likely a sweep makes each renewal: those of several distributions, together, as often as those of one."""
        sizes = np.array([len(each) for each in self.sets], dtype=np.int64)
        single = sizes == 1
        chances = np.where(single, 1.0, np.minimum(1.0, single.sum() / max(1, int((~single).sum()))))
        chances[len(sizes) - self.clusters :] = 1.0
        return chances

    def _constraints_of_sets(self, matrix: csr_array) -> list[list[int]]:
        """The constraints on the distributions of each set, in their order, which is that of statements."""
        from scipy.sparse import csc_array

        columns = csc_array(matrix)
        touching = [
            set(columns.indices[columns.indptr[start] : columns.indptr[stop]].tolist())
            for start, stop in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)
        ]
        return [sorted(set().union(*(touching[d] for d in each))) for each in self.sets]

    @cached_property
    def visits(self) -> VisitArrays:
        """What is updated with each CPT that statements about any probability reach, and with none of them.

        Distributions of several of these CPTs cannot be renewed or tempered together: sums are known along one CPT.
        """
        from credo.kernels.doubtful_updates import VisitArrays

        count, family_of = 0, np.full(len(self.starts) - 1, -1)
        if self.general is not None:
            count, family_of = len(self.general.families), self.general.family_of[self.starts[:-1]]

        def visited(numbers: Sequence[Sequence[int]]) -> tuple[Indices, Indices]:
            """Those whose distributions belong to each CPT, the last being none."""
            own: list[list[int]] = [[] for _ in range(count + 1)]
            for place, distributions in enumerate(numbers):
                families = {int(family_of[d]) for d in distributions}
                if len(families) == 1:
                    own[families.pop()].append(place)  # −1 is the last
            return starts_of([len(each) for each in own]), np.array([k for each in own for k in each], dtype=np.int64)

        doubt = self.arrays[0]
        tempered = [
            sorted({self.pairs[k].distribution for k in doubt.tempered_pairs[start:stop].tolist()})
            for start, stop in zip(doubt.tempered_starts[:-1].tolist(), doubt.tempered_starts[1:].tolist(), strict=True)
        ]
        pairs = [*((pair.distribution,) for pair in self.pairs), *(line.distributions for line in self.lines)]
        return VisitArrays(*visited(self.sets), *visited(pairs), *visited(tempered))

    def update_chain(self, passes: Indices, arrays: DistributionArrays, *of_chain: object) -> None:
        """One sweep of one chain, compiled; each parameter of a block takes part in so many passes."""
        from credo.kernels.doubtful_updates import update_doubtful

        update_doubtful(*self.arrays, self.visits, passes, no_general(), nothing_underway(), arrays, *of_chain)

    def update_chain_with_general(
        self,
        where: tuple[Geometry, Extras],
        general: GeneralArrays,
        moves: GeneralMoves,
        passes: Indices,
        arrays: DistributionArrays,
        *of_chain: object,
    ) -> None:
        """The same where statements about any probability reach CPTs, which are updated too."""
        from credo.kernels.general_doubt import general_doubtful_sweep

        assert self.general is not None
        own = *where, self.general.tree, general, moves, self.general.groups, *self.arrays, self.visits
        general_doubtful_sweep(*own, passes, no_general(), nothing_underway(), arrays, *of_chain)


def doubtful_moves(region: Region, doubted: DoubtedConstraints, general: GeneralUpdates | None = None) -> DoubtfulMoves:
    """The moves of the blocks that doubted statements constrain; `region` has the directions of what must hold."""
    from scipy.sparse import csc_array, csr_array, vstack

    size = len(region.start)
    ends = [block.distributions[1:] for block in region.blocks]
    offsets = np.cumsum([0, *(block.size for block in region.blocks)])
    starts = np.concatenate([[0], *(end + offset for end, offset in zip(ends, offsets, strict=False))]).astype(np.int64)
    found, parts, bounds, free, distribution = [], [csr_array((0, size))], [np.zeros(0)], set(), 0
    owners: list[int] = []
    for number, (block, part, has) in enumerate(zip(region.blocks, region.parts, doubted.blocks, strict=True)):
        first = int(offsets[number])
        if has:
            found += [
                (first + i, first + j, distribution + int(block.distribution_of[i])) for i, j in _pairs(part.moves)
            ]
            owners += [number] * (len(found) - len(owners))
            hard = part.inequalities
            shifted = hard.coefficients, hard.indices + first, hard.starts
            parts.append(csr_array(shifted, shape=(len(hard), size)))
            bounds.append(hard.bounds)
            # An equality holds its distributions: none of them can be drawn as if it were free.
            held = set(block.distribution_of[part.equalities.indices].tolist())
            free |= {distribution + d for d in range(len(block.configurations)) if d not in held}
        distribution += len(block.configurations)
    matrix, hard_matrix = doubted.linear.matrix(size), csr_array(vstack(parts, format="csr"))
    columns, hard_columns = csc_array(matrix), csc_array(hard_matrix)
    pairs = [
        Pair(i, j, d, tuple(_differences(columns, (i,), (j,))), tuple(_differences(hard_columns, (i,), (j,))))
        for i, j, d in found
    ]
    sets = _renewed_together(doubted, starts, free)
    tied = _tied(doubted, starts, free)
    clusters = [each for each in _hanging_together(tied, len(starts) - 1) if each not in sets]
    lines = [
        Line(
            firsts,
            seconds,
            own,
            tuple(_differences(columns, firsts, seconds)),
            tuple(_differences(hard_columns, firsts, seconds)),
        )
        for own in (*tied, *clusters)
        for firsts, seconds in _same_states(own, starts)
    ]
    of_blocks = np.array(owners, dtype=np.int64)
    return DoubtfulMoves(
        doubted,
        tuple(pairs),
        (*sets, *clusters),
        matrix,
        hard_matrix,
        np.concatenate(bounds),
        starts,
        general,
        of_blocks,
        len(clusters),
        tuple(lines),
    )


def _renewed_together(doubted: DoubtedConstraints, starts: Indices, free: set[int]) -> tuple[tuple[int, ...], ...]:
    """Each distribution on its own, and those of each statement and of each constraint, where they are few."""
    linear = doubted.linear
    owners = np.searchsorted(starts, linear.indices, side="right") - 1
    found: dict[tuple[int, ...], None] = {(d,): None for d in sorted(free)}
    groups: dict[tuple[int, int], set[int]] = {}
    for constraint, d in zip(linear.entry_constraints.tolist(), owners.tolist(), strict=True):
        groups.setdefault((0, constraint), set()).add(d)
        groups.setdefault((1, int(linear.statements[constraint])), set()).add(d)
    for group in groups.values():
        if 1 < len(group) <= MOST_DRAWN and group <= free:
            found[tuple(sorted(group))] = None
    return tuple(found)


def _tied(doubted: DoubtedConstraints, starts: Indices, free: set[int]) -> list[tuple[int, ...]]:
    """Pairs of distributions that a statement holds near each other, from below and from above."""
    linear = doubted.linear
    owners = np.searchsorted(starts, linear.indices, side="right") - 1
    signs: dict[tuple[int, int, int], set[bool]] = {}
    for constraint in range(len(linear)):
        entries = slice(linear.starts[constraint], linear.starts[constraint + 1])
        own = np.unique(owners[entries]).tolist()
        if len(own) == 2 and free.issuperset(own):
            coefficient = linear.coefficients[entries][owners[entries] == own[0]][0]
            signs.setdefault((int(linear.statements[constraint]), own[0], own[1]), set()).add(bool(coefficient > 0.0))
    return sorted({(first, second) for (_, first, second), both in signs.items() if len(both) == 2})


def _hanging_together(tied: Sequence[tuple[int, ...]], count: int) -> list[tuple[int, ...]]:
    """The distributions that are tied to each other, directly or by others."""
    if not tied:
        return []
    ends = np.array(tied, dtype=np.int64)
    labels = connected_components(ends[:, 0], ends[:, 1], count)
    members: dict[int, list[int]] = {}
    for d in sorted({d for pair in tied for d in pair}):
        members.setdefault(int(labels[d]), []).append(d)
    return [tuple(own) for own in members.values() if 2 < len(own) <= MOST_FOLLOWING]


def _same_states(distributions: Sequence[int], starts: Indices) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The parameters of each two states in all of them; none where they have not as many states."""
    firsts = [int(starts[d]) for d in distributions]
    sizes = {int(starts[d + 1] - starts[d]) for d in distributions}
    if len(sizes) > 1:
        return []
    pairs = combinations(range(sizes.pop()), 2)
    return [(tuple(first + i for first in firsts), tuple(first + j for first in firsts)) for i, j in pairs]


def _pairs(moves: csr_array) -> list[tuple[int, int]]:
    """The moves of mass between two states."""
    found = []
    for number in range(moves.shape[0]):
        entries = slice(moves.indptr[number], moves.indptr[number + 1])
        indices, values = moves.indices[entries], moves.data[entries]
        if len(indices) == 2 and values[0] == -values[1]:
            found.append((int(indices[0]), int(indices[1])))
    return found


def _differences(columns: csc_array, firsts: Sequence[int], seconds: Sequence[int]) -> list[Row]:
    """The constraints that change with mass moved to the first states, and how much; in the order of statements."""
    found: dict[int, float] = {}
    for column, sign in (*((i, 1.0) for i in firsts), *((j, -1.0) for j in seconds)):
        entries = slice(columns.indptr[column], columns.indptr[column + 1])
        for constraint, value in zip(columns.indices[entries].tolist(), columns.data[entries].tolist(), strict=True):
            found[constraint] = found.get(constraint, 0.0) + sign * value
    return [(constraint, change) for constraint, change in sorted(found.items()) if abs(change) > TINY_CHANGE]


def _flat(lists: Sequence[Sequence[Row]]) -> tuple[Indices, Indices, Numbers]:
    return (
        starts_of([len(each) for each in lists]),
        np.array([constraint for each in lists for constraint, _ in each], dtype=np.int64),
        np.array([change for each in lists for _, change in each], dtype=np.float64),
    )

"""Updates of CPTs under statements about any probability of the network, for hundreds of chains at once.

The same as `kernels/general_sweeps.py`, and its reference: before the moves of a CPT, one elimination for all sums and
all chains gives the derivatives of the sums with respect to it, in which these are linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from credo.kernels.sampler_arrays import GeneralArrays, Geometry
from credo.sampling.directions import without_rays
from credo.sampling.doubted_statements import DoubtedConstraints
from credo.sampling.general_updates import GeneralRegion, GeneralUpdates
from credo.sampling.region import Region, geometry_of
from credo.sampling.vectorised import CHAINS
from credo.sampling.vectorised.batches import SMALLEST
from credo.sampling.vectorised.doubted_lines import DoubtedLine, DoubtedLines
from credo.sampling.vectorised.moves import MOST_STEPS_OUT, STEP_OUT, Which, slice_within, split, step_out, taken
from credo.statistics.inference.batched import Plan, batch_fastest, make_plan, sum_out
from credo.statistics.network_statements import SumGroup
from credo.types import Flags, Indices, Numbers

MOST_CELLS = 4_000_000  # of all cliques, for all sums and chains: what is more is for compiled code
MOST_MOVES = 200
ROUNDING, NOTHING = 1e-12, 1e-15
NARROWEST = 1e-9  # share of a line
MOST_JUMPS = 3  # along a line

# Parameters and their changes, constraints and theirs, and what may be wrong.
Move = tuple[Indices, Numbers, Indices, Numbers, DoubtedLine | None]


@dataclass(frozen=True, slots=True, eq=False)
class FamilyPlan:
    """How the derivatives with respect to one CPT are computed: all other factors, summed to its members."""

    group: SumGroup
    plan: Plan
    transpose: tuple[int, ...]  # from ascending order of the members to (parents…, child)


@dataclass(slots=True, eq=False)
class GeneralSweeps:
    """All CPTs that general statements reach; moves are set for a region, and again when directions were learned."""

    general: GeneralRegion
    updates: GeneralUpdates
    start: Numbers  # (parameters of blocks,) where chains start
    families: tuple[str, ...]
    plans: tuple[tuple[FamilyPlan, ...], ...]
    doubted: DoubtedLines | None = None
    bounds: Numbers = field(default_factory=lambda: np.zeros(0))
    matrix: Any = None  # (constraints, parameters)
    moves: tuple[tuple[Move, ...], ...] = ()  # of each CPT

    def learn(self, region: Region) -> None:
        """Take the moves of a region."""
        geometry, _ = geometry_of(region.blocks, [without_rays(part) for part in region.parts])
        moves = self.updates.lines(geometry)
        from scipy.sparse import csr_array

        cells = geometry.constraint_values, geometry.constraint_indices, geometry.constraint_starts
        self.matrix = csr_array(cells, shape=(len(geometry.bounds), len(self.start)))
        self.bounds = geometry.bounds
        self.moves = tuple(
            tuple(
                _move(geometry, int(move), self.doubted)
                for move in moves.lines[moves.line_starts[number] : moves.line_starts[number + 1]]
            )
            for number in self._numbers
        )

    def update(self, theta: Numbers, shape: Numbers, rng: np.random.Generator, odds: Numbers | None = None) -> None:
        """Every CPT once; θ is (parameters of blocks + 1, chains), the last is padding.

        `odds` are what it is worth that statements which may be wrong are true, (meanings, chains).
        """
        arrays, chains = self.updates.arrays, theta.shape[1]
        if self.doubted is not None and odds is not None:
            self.doubted.begin(theta, odds)
        edge = len(theta) - 1
        cells = np.repeat(arrays.cpts[:, None], chains, axis=1)
        inside = np.flatnonzero(arrays.places[:edge] >= 0)
        cells[arrays.places[inside]] = theta[inside]
        slack = self.bounds[:, None] - self.matrix @ theta[:-1]
        linear = np.zeros((len(arrays.bounds), chains))
        owners = np.repeat(np.arange(len(arrays.places)), np.diff(arrays.entry_starts))
        np.add.at(linear, arrays.entry_statements, arrays.entry_values[:, None] * theta[owners])
        for number, plans, moves in zip(self._numbers, self.plans, self.moves, strict=True):
            first, last = int(arrays.family_starts[number]), int(arrays.family_starts[number + 1])
            derivatives = self._derivatives(plans, cells, number)  # (cells, sums, chains)
            sums = np.einsum("csk,ck->sk", derivatives, cells[first:last])
            for move in moves:
                places = arrays.places[move[0]] - first
                slopes = np.einsum("m,msk->sk", move[1], derivatives[places])
                changes = np.zeros(len(arrays.bounds))
                for index, value in zip(move[0].tolist(), move[1].tolist(), strict=True):
                    own = slice(int(arrays.entry_starts[index]), int(arrays.entry_starts[index + 1]))
                    np.add.at(changes, arrays.entry_statements[own], value * arrays.entry_values[own])
                _move_line(arrays, move, theta, shape, slack, sums, slopes, linear, changes, self.doubted, rng)
            inside = np.flatnonzero((arrays.places[:edge] >= first) & (arrays.places[:edge] < last))
            cells[arrays.places[inside]] = theta[inside]

    @property
    def _numbers(self) -> list[int]:
        """The number of each CPT in the tree."""
        return [self.updates.families.index(name) for name in self.families]

    def _derivatives(self, plans: Sequence[FamilyPlan], cells: Numbers, number: int) -> Numbers:
        """∂ sum/∂θ of one CPT, (cells, sums, chains)."""
        arrays, network = self.updates.arrays, self.general.statements.network
        names, chains = self.updates.families, cells.shape[1]
        size = int(arrays.family_starts[number + 1] - arrays.family_starts[number])
        found = np.zeros((size, arrays.indicators.shape[1], chains))
        for each in plans:
            group, sums = each.group, len(each.group.numbers)
            factors = []
            for name, transpose in zip(group.families, group.transposes, strict=True):
                if name == names[number]:
                    continue
                place = names.index(name)
                own = cells[arrays.family_starts[place] : arrays.family_starts[place + 1]]
                table = np.moveaxis(own.reshape(*network.shape(name), chains), -1, 0)
                factors.append(np.tile(table, (sums, *(1,) * (table.ndim - 1))).transpose(transpose))
            factors += [batch_fastest(np.repeat(factor, chains, axis=0)) for factor in group.beside]
            result = sum_out(each.plan, factors)
            scale = np.exp(result.log_scale).reshape(-1, *(1,) * (result.values.ndim - 1))
            values = np.transpose(result.values * scale, (0, *(1 + axis for axis in each.transpose)))
            found[:, group.numbers] = values.reshape(sums, chains, size).transpose(2, 0, 1)
        return found


def general_sweeps(
    general: GeneralRegion,
    updates: GeneralUpdates,
    region: Region,
    memory_limit: int | None = None,
    most_cells: int = MOST_CELLS,
    doubted: DoubtedConstraints | None = None,
) -> GeneralSweeps | None:
    """The updates of small problems; None for others, which compiled code updates."""
    statements, network = general.statements, general.statements.network
    groups = np.flatnonzero(updates.groups).tolist()
    if any(region.parts[group].extras.shape[0] for group in groups):
        return None  # products and soft statements
    if CHAINS * sum(group.plan.cells * len(group.numbers) for group in statements.groups) > most_cells:
        return None
    if sum(region.parts[group].moves.shape[0] for group in groups) > MOST_MOVES:
        return None
    families = tuple(name for name in statements.families if name in updates.families)
    position = {name: place for place, name in enumerate(network.names)}
    plans = []
    for name in families:
        own = []
        for group in statements.groups:
            if name not in group.families:
                continue
            place = group.families.index(name)
            given = len(group.families) + len(group.beside)
            scopes = [scope for number, scope in enumerate(group.plan.scopes[:given]) if number != place]
            members = [position[member] for member in (*network.parents[name], name)]
            plan = make_plan(group.plan.sizes, scopes, members, network.names, memory_limit)
            own.append(FamilyPlan(group, plan, tuple(sorted(members).index(member) for member in members)))
        plans.append(tuple(own))
    none = np.zeros((0, CHAINS))
    lines = None if doubted is None else DoubtedLines(doubted, updates.arrays, none, none)
    found = GeneralSweeps(general, updates, region.start, families, tuple(plans), lines)
    found.learn(region)
    return found


def _move(geometry: Geometry, move: int, doubted: DoubtedLines | None) -> Move:
    entries = slice(int(geometry.move_starts[move]), int(geometry.move_starts[move + 1]))
    changed = slice(int(geometry.delta_starts[move]), int(geometry.delta_starts[move + 1]))
    indices, values = geometry.move_indices[entries], geometry.move_values[entries]
    line = None if doubted is None else doubted.along(indices, values)
    return indices, values, geometry.delta_constraints[changed], geometry.delta_values[changed], line


def _move_line(
    arrays: GeneralArrays,
    move: Move,
    theta: Numbers,
    shape: Numbers,
    slack: Numbers,
    sums: Numbers,
    slopes: Numbers,
    linear: Numbers,
    changes: Numbers,
    doubted: DoubtedLines | None,
    rng: np.random.Generator,
) -> None:
    """All chains along one direction, by a slice in the log-odds of the place between the two ends."""
    indices, values, constraints, deltas, line = move
    old, rising = theta[indices], values > 0.0
    limits = -old / values[:, None]
    low = limits[rising].max(axis=0, initial=-np.inf)
    high = limits[~rising].min(axis=0, initial=np.inf)
    for constraint, delta in zip(constraints.tolist(), deltas.tolist(), strict=True):
        if delta > 0.0:
            high = np.minimum(high, slack[constraint] / delta)
        else:
            low = np.maximum(low, slack[constraint] / delta)
    low, high = _within_statements(arrays, sums, slopes, low, high)
    can = (low < 0.0) & (high > 0.0)
    if not can.any():
        return
    low, high = np.where(can, low, -1.0), np.where(can, high, 1.0)
    length, zeros = high - low, limits
    gaps = np.where(rising[:, None], low - zeros, zeros - high)
    exponents = shape[indices] - 1.0
    bound = np.flatnonzero(~arrays.single & (arrays.meanings < 0)).tolist()
    others = [number for number in bound if _changes(arrays, number, slopes, changes)]

    def excess(number: int, step: Numbers, which: Which) -> Numbers:
        here = taken(sums, which), taken(slopes, which), taken(linear, which)
        return _excess(arrays, number, *here, changes, step)

    doubts = None if doubted is None or line is None else doubted.terms(line, excess)

    def log_density(odds: Numbers, which: Which) -> Numbers:
        near, far = split(odds)  # near: the share from the low end
        whole = taken(length, which)
        own = np.abs(values)[:, None] * np.where(rising[:, None], whole * near, whole * far)
        own = own + np.abs(values)[:, None] * taken(gaps, which)
        density = -np.abs(odds) - 2.0 * np.log1p(np.exp(-np.abs(odds)))
        density = density + (taken(exponents, which) * np.log(np.maximum(own, SMALLEST))).sum(axis=0)
        step = taken(low, which) + whole * near
        if others:
            density = density + _statement_terms(
                arrays, others, taken(sums, which), taken(slopes, which), taken(linear, which), changes, step
            )
        if doubts is not None:
            density = density + doubts(step, which)
        return np.asarray(density)

    now = np.log(-low / high)
    level = log_density(now, slice(None)) - rng.standard_exponential(len(now))
    left, right = step_out(log_density, now, level, STEP_OUT, MOST_STEPS_OUT, rng)
    odds, moved = slice_within(log_density, now, level, left, right, rng)
    if doubted is not None and line is not None and line.meanings:
        for place in rng.permutation(len(line.meanings))[:MOST_JUMPS].tolist():
            if arrays.straight[list(line.general[place])].all():
                ends = doubted.interval(line, place, lambda own: _straight(arrays, own, sums, slopes, linear, changes))
                begin, end = ((each - low) / length for each in ends)
                odds, jumped = _jump(log_density, np.where(moved, odds, now), begin, end, rng)
                moved = moved | jumped
    near, far = split(odds)
    own = np.abs(values)[:, None] * (np.where(rising[:, None], length * near, length * far) + gaps)
    moved = moved & can
    theta[indices] = np.where(moved, np.maximum(own, SMALLEST), old)
    step = np.where(moved, low + length * near, 0.0)
    slack[constraints] -= deltas[:, None] * step
    if doubted is not None and line is not None:
        doubted.move(line, step)
    sums += slopes * step
    linear += changes[:, None] * step


def _jump(
    log_density: Callable[[Numbers, Which], Numbers],
    odds: Numbers,
    begin: Numbers,
    end: Numbers,
    rng: np.random.Generator,
) -> tuple[Numbers, Flags]:
    """A Metropolis step to a place on the line that is drawn, half of the time, from where a statement holds.

    Slices rarely find a narrow interval. `begin` and `end` are shares of the line; returns who moved, too.
    """
    begin, end = np.clip(begin, 0.0, 1.0), np.clip(end, 0.0, 1.0)
    width = end - begin
    exists = width > NARROWEST
    width = np.where(exists, width, 1.0)
    shares = rng.random(len(odds))
    there = exists & (rng.random(len(odds)) < 0.5)
    shares = np.clip(np.where(there, begin + shares * width, shares), NARROWEST, 1.0 - NARROWEST)
    near, far = split(odds)

    def chance(share: Numbers) -> Numbers:
        return np.where(exists, 0.5 + 0.5 * ((share >= begin) & (share <= end)) / width, 1.0)

    tried = np.log(shares) - np.log1p(-shares)
    ratio = log_density(tried, slice(None)) - np.log(shares) - np.log1p(-shares) - np.log(chance(shares))
    with np.errstate(divide="ignore"):
        ratio = ratio - (log_density(odds, slice(None)) - np.log(near) - np.log(far) - np.log(chance(near)))
    moved = -rng.standard_exponential(len(odds)) < ratio
    return np.where(moved, tried, odds), moved


def _straight(
    arrays: GeneralArrays, constraint: int, sums: Numbers, slopes: Numbers, linear: Numbers, changes: Numbers
) -> tuple[Numbers, Numbers]:
    """How far a straight constraint is from its bound, times its denominator, and how fast a line leads there."""
    bound, slack = arrays.bounds[constraint], arrays.bounds[constraint] - linear[constraint]
    change = np.full(len(slack), changes[constraint])
    for term in range(int(arrays.term_starts[constraint]), int(arrays.term_starts[constraint + 1])):
        above, below, coefficient = int(arrays.above[term]), int(arrays.below[term]), arrays.coefficients[term]
        if below >= 0:  # the only term: N/D ≤ c is N − c·D ≤ 0
            return bound * sums[below] - coefficient * sums[above], coefficient * slopes[above] - bound * slopes[below]
        slack, change = slack - coefficient * sums[above], change + coefficient * slopes[above]
    return slack, change


def _changes(arrays: GeneralArrays, number: int, slopes: Numbers, changes: Numbers) -> bool:
    """Whether a statement changes along a line: a probability does, too, where only its condition becomes likelier."""
    terms = slice(int(arrays.term_starts[number]), int(arrays.term_starts[number + 1]))
    below = arrays.below[terms]
    return bool(changes[number] or slopes[arrays.above[terms]].any() or slopes[below[below >= 0]].any())


def _within_statements(
    arrays: GeneralArrays, sums: Numbers, slopes: Numbers, low: Numbers, high: Numbers
) -> tuple[Numbers, Numbers]:
    """The ends of a line, cut where statements about one conditional probability end.

    A chain that rounding has put on a bound keeps as much room as rounding is worth: with none it could never leave.
    """
    for number in np.flatnonzero(arrays.single & (arrays.meanings < 0)).tolist():
        term = int(arrays.term_starts[number])
        above, below, coefficient = int(arrays.above[term]), int(arrays.below[term]), float(arrays.coefficients[term])
        bound, sign = float(arrays.bounds[number]) / coefficient, 1.0 if coefficient > 0.0 else -1.0
        if below >= 0:
            value, size = sign * (sums[above] - bound * sums[below]), np.abs(sums[above]) + np.abs(bound * sums[below])
            slope = sign * (slopes[above] - bound * slopes[below])
            scale = np.abs(slopes[above]) + np.abs(bound * slopes[below])
        else:
            value, size = sign * (sums[above] - bound), np.abs(sums[above]) + abs(bound)
            slope, scale = sign * slopes[above], np.abs(slopes[above])
        bounded = np.abs(slope) > NOTHING * scale
        limit = np.maximum(-value, NOTHING * size) / np.where(bounded, slope, 1.0)
        high = np.where(bounded & (slope > 0.0), np.minimum(high, limit), high)
        low = np.where(bounded & (slope < 0.0), np.maximum(low, limit), low)
    return low, high


def _statement_terms(
    arrays: GeneralArrays,
    numbers: Sequence[int],
    sums: Numbers,
    slopes: Numbers,
    linear: Numbers,
    changes: Numbers,
    step: Numbers,
) -> Numbers:
    """What other statements add to the log density: 0 or −∞, or −w/2·violation² of soft ones."""
    density = np.zeros(len(step))
    for number in numbers:
        total = _excess(arrays, number, sums, slopes, linear, changes, step)
        if np.isnan(arrays.weights[number]):
            density = np.where(total > ROUNDING, -np.inf, density)
        else:
            counts = (total > 0.0) | (bool(arrays.equality[number]) & np.isfinite(total))
            density = density - np.where(counts, 0.5 * arrays.weights[number] * np.where(counts, total, 0.0) ** 2, 0.0)
    return density


def _excess(
    arrays: GeneralArrays, number: int, sums: Numbers, slopes: Numbers, linear: Numbers, changes: Numbers, step: Numbers
) -> Numbers:
    """By how much a statement is missed after steps; −∞ where a condition has no probability."""
    total = linear[number] + step * changes[number] - arrays.bounds[number]
    possible = np.ones(len(step), dtype=np.bool_)
    for term in range(int(arrays.term_starts[number]), int(arrays.term_starts[number + 1])):
        above, below = int(arrays.above[term]), int(arrays.below[term])
        value = sums[above] + step * slopes[above]
        if below >= 0:
            under = sums[below] + step * slopes[below]
            possible &= under > 0.0
            value = value / np.where(under > 0.0, under, 1.0)
        total = total + arrays.coefficients[term] * value
    return np.where(possible, total, -np.inf)

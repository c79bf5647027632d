"""Updates of distributions under statements that may be wrong, for many chains at once.

Mass between two states of a distribution: in the log-odds x of their split the density is that of a Beta variable,
log-concave, times a factor for each statement that is constant on an interval of x and one outside of it. Between nodes
around the mode, and the ends of all intervals, the logarithm of the Beta density is taken as linear: a piece is chosen by
its mass, and a point in it drawn. A Metropolis step corrects for what is not linear, and nearly always accepts. So a
statement is crossed in one step however narrow it is, and what lies between is not.

Renewal: a distribution and its component are drawn as if there were no statements, and kept with the chance that the
statements give the new place over the old one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credo.sampling.doubted_statements import ROUNDING, DoubtedConstraints
from credo.sampling.region import Region
from credo.sampling.vectorised.batches import (
    SMALLEST,
    TINY_CHANGE,
    UNBOUNDED,
    independent_batches,
    padded,
    padded_values,
)
from credo.sampling.vectorised.moves import log_split, split
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array

FARTHEST = 600.0  # in log-odds
# Nodes around the mode of the Beta density, in units of its width there.
NODES = np.array([0.0, 0.35, 0.7, 1.05, 1.4, 1.8, 2.2, 2.7, 3.3, 4.0, 5.0, 7.0, 11.0, 20.0, 40.0])
NODES = np.concatenate((-NODES[:0:-1], NODES))
NEARLY_FLAT = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class PairBatch:
    """Pairs of states between which mass is moved at once; what a pair has fewer of than others is padded."""

    first: Indices  # (pairs,) parameters
    second: Indices
    hard: Indices  # (hard constraints, pairs)
    hard_changes: Numbers  # how much each changes with a step
    statements: Indices  # (statements, pairs)
    rows: Indices  # (statements, constraints, pairs)
    changes: Numbers  # (statements, constraints, pairs)


@dataclass(frozen=True, slots=True, eq=False)
class DoubtfulUpdates:
    """What does not change: the pairs, and the constraints of hard and doubted statements that they touch."""

    doubted: DoubtedConstraints
    batches: tuple[PairBatch, ...]
    hard_matrix: csr_array  # (hard constraints, parameters of blocks)
    hard_bounds: Numbers
    matrix: csr_array  # (doubted constraints, parameters of blocks)

    def update(self, theta: Numbers, shape: Numbers, rng: np.random.Generator) -> None:
        """One sweep: reliabilities, then every pair; θ and s·b + N are (parameters of blocks or more, chains)."""
        size = self.matrix.shape[1]
        linear, chains = self.doubted.linear, theta.shape[1]
        pad = np.full((1, chains), UNBOUNDED)
        slack = np.concatenate((linear.bounds[:, None] - self.matrix @ theta[:size], pad))
        hard = np.concatenate((self.hard_bounds[:, None] - self.hard_matrix @ theta[:size], pad))
        count = len(self.doubted.statements)
        broken = np.zeros((count + 1, chains), dtype=np.int64)
        np.add.at(broken, linear.statements, slack[:-1] < -ROUNDING)
        broken[:-1][self.doubted.statements.false] += 1
        odds = self.doubted.statements.log_odds(broken[:-1] == 0, rng)
        odds = np.concatenate((odds, np.zeros((1, chains))))
        for batch in self.batches:
            move_pairs(batch, shape, theta, slack, hard, broken, odds, rng)


def doubtful_updates(region: Region, doubted: DoubtedConstraints) -> DoubtfulUpdates:
    """The updates of the blocks that doubted statements constrain; `region` has the directions of what must hold."""
    from scipy.sparse import csr_array, vstack

    size = len(region.start)
    moves, rows, bounds, first = [], [], [], 0
    for block, part, has in zip(region.blocks, region.parts, doubted.blocks.tolist(), strict=True):
        if has:
            moves += [(first + i, first + j, (first, int(block.distribution_of[i]))) for i, j in _pairs(part.moves)]
            shifted = csr_array(
                (part.inequalities.coefficients, part.inequalities.indices + first, part.inequalities.starts),
                shape=(len(part.inequalities), size),
            )
            rows.append(shifted)
            bounds.append(part.inequalities.bounds)
        first += block.size
    hard = csr_array(vstack(rows, format="csr")) if rows else csr_array((0, size))
    matrix = doubted.linear.matrix(size)
    return DoubtfulUpdates(
        doubted, tuple(_batches(moves, hard, matrix, doubted)), hard, np.concatenate([np.zeros(0), *bounds]), matrix
    )


def _pairs(moves: csr_array) -> list[tuple[int, int]]:
    """The moves of mass between two states."""
    found = []
    for number in range(moves.shape[0]):
        entries = slice(moves.indptr[number], moves.indptr[number + 1])
        indices, values = moves.indices[entries], moves.data[entries]
        if len(indices) == 2 and values[0] == -values[1]:
            found.append((int(indices[0]), int(indices[1])))
    return found


def _batches(
    moves: Sequence[tuple[int, int, tuple[int, int]]], hard: csr_array, matrix: csr_array, doubted: DoubtedConstraints
) -> list[PairBatch]:
    from scipy.sparse import csc_array

    by_column, hard_by_column = csc_array(matrix), csc_array(hard)
    statement_of = doubted.linear.statements
    touched, limits, resources, kinds = [], [], [], []
    for i, j, owner in moves:
        limits.append(_differences(hard_by_column, i, j))
        own: dict[int, list[tuple[int, float]]] = {}
        for row, change in _differences(by_column, i, j):
            own.setdefault(int(statement_of[row]), []).append((row, change))
        touched.append(own)
        resources.append(
            {("d", owner), *(("h", row) for row, _ in limits[-1]), *(("s", statement) for statement in own)}
        )
        kinds.append(len(own).bit_length())
    count, none = len(doubted.statements), len(statement_of)
    found = []
    for members in independent_batches(resources, kinds):
        most = max(len(touched[m]) for m in members)
        deepest = max((len(rows) for m in members for rows in touched[m].values()), default=0)
        rows = np.full((most, deepest, len(members)), none, dtype=np.int64)
        changes = np.ones((most, deepest, len(members)))
        for column, m in enumerate(members):
            for slot, own_rows in enumerate(touched[m].values()):
                for depth, (row, change) in enumerate(own_rows):
                    rows[slot, depth, column], changes[slot, depth, column] = row, change
        found.append(
            PairBatch(
                np.array([moves[m][0] for m in members]),
                np.array([moves[m][1] for m in members]),
                padded([[row for row, _ in limits[m]] for m in members], hard.shape[0]),
                padded_values([[change for _, change in limits[m]] for m in members], 1.0),
                padded([list(touched[m]) for m in members], count),
                rows,
                changes,
            )
        )
    return found


def _differences(columns: csc_array, i: int, j: int) -> list[tuple[int, float]]:
    """The constraints that change with mass moved from j to i, and how much."""
    found: dict[int, float] = {}
    for column, sign in ((i, 1.0), (j, -1.0)):
        entries = slice(columns.indptr[column], columns.indptr[column + 1])
        for row, value in zip(columns.indices[entries].tolist(), columns.data[entries].tolist(), strict=True):
            found[row] = found.get(row, 0.0) + sign * value
    return [(row, change) for row, change in found.items() if abs(change) > TINY_CHANGE]


def move_pairs(
    batch: PairBatch,
    shape: Numbers,
    theta: Numbers,
    slack: Numbers,
    hard: Numbers,
    broken: Indices,
    odds: Numbers,
    rng: np.random.Generator,
) -> None:
    """Mass between two states of distributions: an exact draw, but for what the Metropolis step corrects."""
    i, j = batch.first, batch.second
    a, b, old_i, old_j = shape[i], shape[j], theta[i], theta[j]  # (pairs, chains)
    now = np.log(old_i / old_j)
    steps = _ratios(hard[batch.hard], batch.hard_changes[..., None])  # (2, …): where constraints begin and cease to hold
    low = np.maximum(steps[0].max(axis=0, initial=-np.inf), -old_i)
    high = np.minimum(steps[1].min(axis=0, initial=np.inf), old_j)
    left = np.minimum(_place(low, old_i, old_j), now)
    right = np.maximum(_place(high, old_i, old_j), now)

    violated = slack[batch.rows] < -ROUNDING  # (statements, constraints, pairs, chains)
    begin, end = _ratios(slack[batch.rows], batch.changes[..., None])
    begin, end = begin.max(axis=1, initial=-np.inf), end.min(axis=1, initial=np.inf)
    elsewhere = broken[batch.statements] - violated.sum(axis=1) > 0  # a constraint that no step mends is violated
    gain = np.where(elsewhere | (begin >= end), 0.0, odds[batch.statements])  # (statements, pairs, chains)
    begin, end = (np.clip(_place(each, old_i, old_j), left, right) for each in (begin, end))

    mode, width = np.log(a / b), np.sqrt(1.0 / a + 1.0 / b)
    nodes = np.clip(mode + NODES[:, None, None] * width, left, right)
    nodes = np.concatenate((left[None], nodes, begin, end, right[None]))
    change = np.concatenate((np.zeros((len(NODES) + 1, *a.shape)), gain, -gain, np.zeros((1, *a.shape))))
    order = nodes.argsort(axis=0, kind="stable")
    nodes = np.take_along_axis(nodes, order, axis=0)
    factor = np.take_along_axis(change, order, axis=0).cumsum(axis=0)[:-1]  # of each piece
    heights = log_split(a, b, nodes)
    lengths, slopes = np.diff(nodes, axis=0), np.diff(heights, axis=0)
    with np.errstate(divide="ignore"):
        masses = np.log(lengths) + np.maximum(heights[1:], heights[:-1]) + log_mean_exponential(slopes) + factor
    masses = np.exp(masses - masses.max(axis=0))
    cumulative = masses.cumsum(axis=0)
    piece = (rng.random(a.shape) * cumulative[-1] > cumulative).sum(axis=0)
    piece = np.minimum(piece, len(masses) - 1)

    def taken(array: Numbers, which: Indices) -> Numbers:
        return np.take_along_axis(array, which[None], axis=0)[0]

    slope, length = taken(slopes, piece), taken(lengths, piece)
    share = exponential_share(slope, rng.random(a.shape))
    new = taken(nodes, piece) + share * length
    own = np.clip((nodes <= now).sum(axis=0) - 1, 0, len(lengths) - 1)
    own_length = taken(lengths, own)
    own_share = np.where(own_length > 0.0, (now - taken(nodes, own)) / np.where(own_length > 0.0, own_length, 1.0), 0.0)
    was = log_split(a, b, now) - taken(heights, own) - own_share * taken(slopes, own)
    becomes = log_split(a, b, new) - taken(heights, piece) - share * slope
    accepted = np.log(rng.random(a.shape)) < becomes - was
    one, two = split(np.where(accepted, new, now))
    total = old_i + old_j
    theta[i] = np.where(accepted, np.maximum(total * one, SMALLEST), old_i)
    theta[j] = np.where(accepted, np.maximum(total * two, SMALLEST), old_j)
    step = theta[i] - old_i
    hard[batch.hard] -= np.where(batch.hard[..., None] < len(hard) - 1, batch.hard_changes[..., None] * step, 0.0)
    slack[batch.rows] -= np.where(batch.rows[..., None] < len(slack) - 1, batch.changes[..., None] * step, 0.0)
    still = slack[batch.rows] < -ROUNDING
    broken[batch.statements] += still.sum(axis=1) - violated.sum(axis=1)


def _ratios(slack: Numbers, changes: Numbers) -> tuple[Numbers, Numbers]:
    """Between which steps each constraint holds."""
    steps = slack / changes
    return np.where(changes < 0.0, steps, -np.inf), np.where(changes > 0.0, steps, np.inf)


def _place(step: Numbers, first: Numbers, second: Numbers) -> Numbers:
    """The log-odds of two states after a step."""
    step = np.clip(step, -first, second)
    with np.errstate(divide="ignore"):
        return np.clip(np.log(first + step) - np.log(second - step), -FARTHEST, FARTHEST)


def log_mean_exponential(slope: Numbers) -> Numbers:
    """log of ∫ exp(slope·u) du over (0, 1), divided by its largest value: (1 − e^−|s|)/|s|."""
    size = np.abs(slope)
    near = size < NEARLY_FLAT
    return np.where(near, -0.5 * size, np.log(-np.expm1(-np.where(near, 1.0, size)) / np.where(near, 1.0, size)))


def exponential_share(slope: Numbers, uniform: Numbers) -> Numbers:
    """A draw in (0, 1) with density proportional to exp(slope·u)."""
    size = np.abs(slope)
    near = size < NEARLY_FLAT
    safe = np.where(near, 1.0, size)
    drawn = np.where(near, uniform, -np.log1p(uniform * np.expm1(-safe)) / safe)  # falling
    return np.where(slope > 0.0, 1.0 - drawn, drawn)

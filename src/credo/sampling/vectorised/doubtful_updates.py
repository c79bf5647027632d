"""The moves of `doubtful_moves.py` for many chains at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credo.sampling.doubted_statements import ROUNDING
from credo.sampling.doubtful_moves import NODES, DoubtfulMoves, Row
from credo.sampling.vectorised.batches import (
    SMALLEST,
    UNBOUNDED,
    independent_batches,
    padded,
    padded_values,
)
from credo.sampling.vectorised.doubtful_renewals import RenewedSet, renew_some, renewed_sets
from credo.sampling.vectorised.moves import log_split, split
from credo.types import Indices, Numbers

FARTHEST = 600.0  # in log-odds
if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
    """The moves in batches."""

    moves: DoubtfulMoves
    batches: tuple[PairBatch, ...]
    members: csr_array  # (meanings, doubted constraints)
    speakers: csr_array  # (meanings, statements)
    sets: tuple[RenewedSet, ...] = ()  # distributions that are proposed together

    def update(self, theta: Numbers, shape: Numbers, rng: np.random.Generator) -> Numbers:
        """One sweep: reliabilities, some renewals, all pairs; θ and s·b + N are (parameters of blocks or more, chains).

        Returns what it is worth that each meaning is true, (meanings, chains).
        """
        moves, doubted = self.moves, self.moves.doubted
        size, chains = moves.matrix.shape[1], theta.shape[1]
        pad = np.full((1, chains), UNBOUNDED)
        slack = np.concatenate((doubted.linear.bounds[:, None] - moves.matrix @ theta[:size], pad))
        hard = np.concatenate((moves.hard_bounds[:, None] - moves.hard @ theta[:size], pad))
        broken = np.zeros((doubted.count + 1, chains), dtype=np.int64)
        broken[:-1] = self.members @ (slack[:-1] < -ROUNDING).astype(np.float64)
        true = (broken[:-1] == 0)[doubted.meanings] & ~doubted.statements.false[:, None]
        if doubted.general is not None and len(doubted.places):
            numbers = doubted.statements.numbers[doubted.places].tolist()
            true[doubted.places] &= doubted.general.true(theta[: doubted.parameters].T, numbers)
        odds = self.speakers @ doubted.statements.log_odds(true, rng)
        odds = np.concatenate((odds, np.zeros((1, chains))))
        if self.sets:
            renew_some(self.sets, theta, shape, slack, hard, broken, odds, rng)
        for batch in self.batches:
            move_pairs(batch, shape, theta, slack, hard, broken, odds, rng)
        return odds[:-1]


def doubtful_updates(moves: DoubtfulMoves) -> DoubtfulUpdates:
    """The same moves in batches that share no distribution, no statement and no hard constraint.

    Distributions of blocks that statements about any probability reach are left to `general_updates.py`.
    """
    statement_of = moves.doubted.linear.statements
    touched: list[dict[int, list[Row]]] = []
    pairs = moves.pairs_apart_from_general()
    for pair in pairs:
        own: dict[int, list[Row]] = {}
        for row, change in pair.doubted:
            own.setdefault(int(statement_of[row]), []).append((row, change))
        touched.append(own)
    resources = [
        {("d", pair.distribution), *(("h", row) for row, _ in pair.hard), *(("s", statement) for statement in own)}
        for pair, own in zip(pairs, touched, strict=True)
    ]
    found = []
    for members in independent_batches(resources, [len(own).bit_length() for own in touched]):
        statements = [touched[m] for m in members]
        most = max(len(own) for own in statements)
        deepest = max((len(rows) for own in statements for rows in own.values()), default=0)
        rows = np.full((most, deepest, len(members)), len(statement_of), dtype=np.int64)
        changes = np.ones((most, deepest, len(members)))
        for column, own in enumerate(statements):
            for slot, its_rows in enumerate(own.values()):
                for depth, (row, change) in enumerate(its_rows):
                    rows[slot, depth, column], changes[slot, depth, column] = row, change
        moved = [pairs[m] for m in members]
        found.append(
            PairBatch(
                np.array([pair.first for pair in moved]),
                np.array([pair.second for pair in moved]),
                padded([[row for row, _ in pair.hard] for pair in moved], len(moves.hard_bounds)),
                padded_values([[change for _, change in pair.hard] for pair in moved], 1.0),
                padded([list(own) for own in statements], moves.doubted.count),
                rows,
                changes,
            )
        )
    return DoubtfulUpdates(moves, tuple(found), moves.doubted.members, moves.doubted.speakers, renewed_sets(moves))


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
    steps = _ratios(
        hard[batch.hard], batch.hard_changes[..., None]
    )  # (2, …): where constraints begin and cease to hold
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

    # Tangents at nodes around the mode, the knots between them, and pieces between knots and ends of intervals.
    mode, width = np.log(a / b), np.sqrt(1.0 / a + 1.0 / b)
    touch = mode + NODES[:, None, None] * width
    value, slope = log_split(a, b, touch), a - (a + b) * split(touch)[0]
    meeting = np.diff(value - slope * touch, axis=0) / np.maximum(-np.diff(slope, axis=0), SMALLEST)
    knots = np.clip(np.clip(meeting, touch[:-1], touch[1:]), left, right)
    nodes = np.concatenate((left[None], knots, begin, end, right[None]))
    none = np.zeros((1, *a.shape))
    change = np.concatenate((np.zeros((len(NODES), *a.shape)), gain, -gain, none))
    passed = np.concatenate((none, np.ones_like(knots), np.zeros_like(begin), np.zeros_like(end), none))
    order = nodes.argsort(axis=0, kind="stable")
    nodes = np.take_along_axis(nodes, order, axis=0)
    factor = np.take_along_axis(change, order, axis=0).cumsum(axis=0)[:-1]  # of each piece
    tangent = np.take_along_axis(passed, order, axis=0).cumsum(axis=0)[:-1].astype(np.int64)
    slopes = np.take_along_axis(slope, tangent, axis=0)
    heights = np.take_along_axis(value - slope * touch, tangent, axis=0) + slopes * nodes[:-1]  # where pieces begin
    lengths = np.diff(nodes, axis=0)
    rises = slopes * lengths
    with np.errstate(divide="ignore"):
        masses = np.log(lengths) + heights + np.maximum(rises, 0.0) + log_mean_exponential(rises) + factor
    masses = np.exp(masses - masses.max(axis=0))
    cumulative = masses.cumsum(axis=0)
    piece = (rng.random(a.shape) * cumulative[-1] > cumulative).sum(axis=0)
    piece = np.minimum(piece, len(masses) - 1)

    def taken(array: Numbers, which: Indices) -> Numbers:
        return np.asarray(np.take_along_axis(array, which[None], axis=0)[0])

    def above(x: Numbers, which: Indices) -> Numbers:
        """By how much the tangent lies above the density, at points of pieces."""
        bound = taken(heights, which) + taken(slopes, which) * (x - taken(nodes, which))
        return np.asarray(bound - log_split(a, b, x))

    new = taken(nodes, piece) + exponential_share(taken(rises, piece), rng.random(a.shape)) * taken(lengths, piece)
    own = np.clip((nodes <= now).sum(axis=0) - 1, 0, len(lengths) - 1)
    becomes, was = -above(new, piece), -above(now, own)
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
        return np.asarray(np.clip(np.log(first + step) - np.log(second - step), -FARTHEST, FARTHEST))


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

"""Tied rows completed given CPTs: the values of ties first, then every row's other missing values, exactly.

Rows say what they would have with each value of their tie (forward sums), the values are drawn, and
rows are completed given them (backward). Where rows are conditioned on their ties, the rows of failed attempts are
drawn and counted too (`failed_attempts.py`); where a tie is one draw for all its rows, its value counts once.

Given the value of a tie, its rows are independent. With μ_r(x) = P(row r, x), a tie has the value x with chances

    Π_r μ_r(x)^w_r · tilt(x),

and a pair that differs has the values x and y with chances μ_1(x)·μ_2(y) where they go together. Where rows are in
several ties, rows and ties form trees. Messages are sent from the ties that are farthest from the root of their tree to
the root; then values are drawn from the root on, each given those before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from credo.core.tie_messages import put_in
from credo.options import TieReading
from credo.statistics.inference.draw_missing import draw_missing, fractional_rows
from credo.statistics.inference.elimination import visited_cells
from credo.statistics.ties.factors import no_value
from credo.statistics.ties.failed_attempts import LEAST as LEAST_SUCCESS
from credo.statistics.ties.failed_attempts import Agreement, agreements_of, failed_rows, pairs_of, why_not_conditioned
from credo.statistics.ties.likelihood import TiedData
from credo.statistics.ties.relaxation import Relaxation
from credo.types import Indices, Numbers

# From log evidence on all columns to the log messages of rows to each, without its own evidence: (messages, chains).
RowMessages = Callable[[Numbers], Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class TieOrder:
    """The ties of each tree from its root on."""

    levels: tuple[Indices, ...]  # ties by their distance from the root
    towards_root: Indices  # (factors,) the member through which each is connected to the root; −1 for the root itself


def tie_order(relaxation: Relaxation) -> TieOrder:
    """Choose a root in each tree, and order its ties."""
    members = relaxation.members
    factors, owner = members.factors, members.factors.factor
    inside = np.flatnonzero(members.columns >= 0)
    evaluation = np.full(len(owner), -1, dtype=np.int64)
    evaluation[inside] = relaxation.evaluation[members.columns[inside]]
    of_evaluation: dict[int, list[int]] = {}
    for member in inside.tolist():
        of_evaluation.setdefault(int(evaluation[member]), []).append(member)
    towards = np.full(len(factors), -1, dtype=np.int64)
    reached = np.zeros(len(factors), dtype=np.bool_)
    levels: list[list[int]] = []
    for root in range(len(factors)):
        if reached[root]:
            continue
        reached[root] = True
        now, depth = [root], 0
        while now:
            if depth == len(levels):
                levels.append([])
            levels[depth] += now
            following = []
            for factor in now:
                for member in range(factors.starts[factor], factors.starts[factor + 1]):
                    for other in of_evaluation.get(int(evaluation[member]), ()):
                        if not reached[owner[other]]:
                            reached[owner[other]] = True
                            towards[owner[other]] = other
                            following.append(int(owner[other]))
            now, depth = following, depth + 1
    return TieOrder(tuple(np.array(level, dtype=np.int64) for level in levels), towards)


def draw_values(
    relaxation: Relaxation,
    order: TieOrder,
    row_messages: RowMessages,
    chains: int,
    rng: np.random.Generator,
    tilt: Numbers | None = None,
) -> Indices:
    """The state of each column, (columns, chains).

    `tilt`, (factors, most states, chains), is added to the logarithms of each tie's chances.
    """
    evidence = np.zeros((int(relaxation.offsets[-1]), chains))
    chosen = np.zeros((len(relaxation.cells), chains), dtype=np.int64)
    for level in order.levels[:0:-1]:
        logs = row_messages(evidence)
        for of, states in _by_scope(relaxation, level):
            _send_to_root(relaxation, order, of, states, logs, tilt, evidence)
    for level in order.levels:
        logs = row_messages(evidence)
        for of, states in _by_scope(relaxation, level):
            for columns, values in _drawn_columns(relaxation, of, states, logs, tilt, rng):
                chosen[columns] = values
                at = relaxation.offsets[columns][:, None] + np.arange(states)
                evidence[at] = np.where(values[:, None] == np.arange(states)[:, None], 0.0, -np.inf)
    return chosen


def _by_scope(relaxation: Relaxation, level: Indices) -> list[tuple[Indices, int]]:
    """Ties with the same variables, and how many states these have."""
    scope, sizes = relaxation.members.factors.scope[level], relaxation.prepared.layout.sizes
    scopes = relaxation.members.factors.scopes
    return [(level[scope == number], scopes[number].states(sizes)) for number in np.unique(scope).tolist()]


def _send_to_root(
    relaxation: Relaxation,
    order: TieOrder,
    of: Indices,
    states: int,
    logs: Numbers,
    tilt: Numbers | None,
    evidence: Numbers,
) -> None:
    """Write the message of each tie and of all beyond it into the evidence of the member towards the root."""
    factors, columns = relaxation.members.factors, relaxation.members.columns
    towards = order.towards_root[of]
    at = relaxation.offsets[columns[towards]][:, None] + np.arange(states)
    if factors.differ[of[0]]:
        other = factors.starts[of] + (factors.starts[of] == towards)
        joint = (
            _member_messages(relaxation, columns[other], states, logs)[:, None] + _together(relaxation, of)[:, :, None]
        )
        highest = np.maximum(joint.max(axis=2, keepdims=True), -1e300)
        with np.errstate(divide="ignore"):
            message = np.log(np.exp(joint - highest).sum(axis=2)) + highest[:, :, 0]
    else:
        together = _sum_over_members(relaxation, of, states, logs, tilt)[0]
        possible = logs[at] > -np.inf  # what the row itself excludes stays so
        message = np.where(possible, together - np.where(possible, logs[at], 0.0), -np.inf)
    evidence[at] = message - np.maximum(message.max(axis=1, keepdims=True), -1e300)


def _drawn_columns(
    relaxation: Relaxation, of: Indices, states: int, logs: Numbers, tilt: Numbers | None, rng: np.random.Generator
) -> list[tuple[Indices, Indices]]:
    """Columns of ties with the same variables, and the states drawn for them, (columns, chains)."""
    factors, columns = relaxation.members.factors, relaxation.members.columns
    if not factors.differ[of[0]]:
        together, members, lengths = _sum_over_members(relaxation, of, states, logs, tilt)
        return [(columns[members], np.repeat(_drawn(relaxation, of, together, rng), lengths, axis=0))]
    sides = [columns[factors.starts[of] + side] for side in (0, 1)]
    first, second = (_member_messages(relaxation, side, states, logs) for side in sides)
    joint = first[:, :, None] + second[:, None] + _together(relaxation, of)[:, :, None]  # (pairs, states, states, …)
    values = np.divmod(_drawn(relaxation, of, joint.reshape(len(of), states * states, -1), rng), states)
    return [(side[side >= 0], own[side >= 0]) for side, own in zip(sides, values, strict=True)]


def _sum_over_members(
    relaxation: Relaxation, of: Indices, states: int, logs: Numbers, tilt: Numbers | None
) -> tuple[Numbers, Indices, Indices]:
    """The sum of all members' log messages to each tie, (ties, states, chains); the members, and how many each has."""
    factors = relaxation.members.factors
    lengths = factors.starts[of + 1] - factors.starts[of]
    begins = np.cumsum(lengths) - lengths
    members = np.repeat(factors.starts[of] - begins, lengths) + np.arange(lengths.sum())
    own = logs[relaxation.offsets[relaxation.members.columns[members]][:, None] + np.arange(states)]
    together = np.add.reduceat(factors.weights[members][:, None, None] * own, begins, axis=0)
    return together if tilt is None else together + tilt[of, :states], members, lengths


def _together(relaxation: Relaxation, of: Indices) -> Numbers:
    """Zero where two states of a pair go together, else minus infinity."""
    factors = relaxation.members.factors
    scope = factors.scopes[factors.scope[of[0]]]
    return np.where(pairs_of(scope, relaxation.prepared.layout.sizes), 0.0, -np.inf)


def _member_messages(relaxation: Relaxation, columns: Indices, states: int, logs: Numbers) -> Numbers:
    """The log messages of one member of each tie, (ties, states, chains); a known value alone is possible."""
    own = logs[relaxation.offsets[np.maximum(columns, 0)][:, None] + np.arange(states)].copy()
    known = np.flatnonzero(columns < 0)
    own[known] = -np.inf
    own[known, -1 - columns[known]] = 0.0
    return np.asarray(own)


def _drawn(relaxation: Relaxation, of: Indices, logs: Numbers, rng: np.random.Generator) -> Indices:
    """A state of each tie, (ties, chains), given the logarithms of its chances, (ties, states, chains)."""
    highest = logs.max(axis=1, keepdims=True)
    impossible = np.flatnonzero((highest == -np.inf).any(axis=(1, 2)))
    if len(impossible):
        factors, network = relaxation.members.factors, relaxation.prepared.layout.network
        raise no_value(network, factors, int(of[impossible[0]]))
    cumulative = np.exp(logs - highest).cumsum(axis=1)
    drawn = rng.random((len(logs), 1, logs.shape[2])) * cumulative[:, -1:]
    return np.asarray(np.minimum((drawn >= cumulative).sum(axis=1), logs.shape[1] - 1))


LEAST = 1e-100  # of soft evidence in programs, which divide by it


def why_not_drawn(tied: TiedData) -> str:
    """Why the values of ties cannot be drawn, as a clause; empty where they can."""
    seen = tied.seen
    if not seen.is_exact:
        return "ties form cycles: values that are tied depend on each other in several ways"
    alone = np.bincount(seen.evaluation, minlength=len(seen.prepared.groups.weights)) == 1
    if (seen.prepared.groups.weights[~alone] != 1.0).any():
        return "rows in several ties have weights, and their copies form cycles"
    return "" if tied.chance is None else why_not_conditioned(tied.chance)


def fractional_tied_rows(tied: TiedData) -> tuple[int, float] | None:
    """The first of incomplete rows, tied or not, with a weight that is not a whole number, and this weight."""
    found = [fractional_rows(part) for part in (tied.seen.prepared, tied.seen.rest)]
    return min((each for each in found if each is not None), default=None)


@dataclass(frozen=True, slots=True, eq=False)
class TiedDraws:
    """What drawing tied rows needs."""

    tied: TiedData
    order: TieOrder
    agreements: tuple[Agreement, ...]
    copies: Numbers  # (cells,) of values that merged ties reveal, beyond the one that counts

    @property
    def cells(self) -> int:
        """How many cells are visited to complete the rows once."""
        relaxations = (self.tied.seen, self.tied.chance)
        parts = [relaxation.prepared for relaxation in relaxations if relaxation is not None]
        return sum(int(visited_cells(part.groups, part.plans).sum()) for part in parts)


def tied_draws(tied: TiedData) -> TiedDraws:
    """Make ready what each sweep needs."""
    layout = tied.prepared.layout
    agreements = () if tied.chance is None else agreements_of(tied.chance, layout.sizes)
    copies = np.zeros(layout.size)
    if tied.reading is TieReading.MERGED:
        cells, number = tied.revealed_copies()
        np.add.at(copies, cells, number)
    return TiedDraws(tied, tie_order(tied.seen), agreements, copies)


def draw_tied(
    draws: TiedDraws,
    theta: Numbers,
    generator: NDArray[np.uint64],
    rng: np.random.Generator,
    least: float = LEAST_SUCCESS,
) -> Numbers:
    """Counts of all cells in tied rows with missing values, (cells, chains), given CPTs `theta`, (cells, chains).

    Attempts that failed are drawn as if ties were no less probable than `least`.
    """
    counts = np.zeros_like(theta)
    seen, chance = draws.tied.seen, draws.tied.chance
    if len(seen.prepared.groups.component):
        full = _with_sensors(seen, theta)
        chosen = draw_values(seen, draws.order, partial(_row_messages, seen, full), len(full), rng, _tilt(draws, theta))
        for own, states in zip(full, chosen.T, strict=True):
            _observe(seen, states, own)
        counts += draw_missing(seen.prepared, full.T, generator)[: len(theta)]
        _subtract_copies(draws, chosen, counts)
    if chance is None or not len(chance.prepared.groups.component):
        return counts
    full = _with_sensors(chance, theta)
    logs = _row_messages(chance, full, np.zeros((int(chance.offsets[-1]), len(full))))
    rows = _failed(draws, chance, np.exp(logs), rng, least)
    for chain, own in enumerate(full):
        counts[:, chain] += _draw_failed(chance, own, rows[:, chain], generator)[: len(theta)]
    return counts


def _draw_failed(chance: Relaxation, full: Numbers, rows: Indices, generator: NDArray[np.uint64]) -> Numbers:
    """Complete this many rows of each column and state, (messages,)."""
    counts, states = np.zeros_like(full), np.diff(chance.offsets)
    for state in range(int(states.max(initial=0))):
        has = np.flatnonzero(states > state)
        weights = np.zeros(len(chance.prepared.groups.weights))
        weights[chance.evaluation[has]] = rows[chance.offsets[has] + state]
        if weights.any():
            _observe(chance, np.full(len(states), state), full)
            groups = replace(chance.prepared.groups, weights=weights)
            counts += draw_missing(replace(chance.prepared, groups=groups), full, generator)
    return counts


def _row_messages(relaxation: Relaxation, full: Numbers, evidence: Numbers) -> Numbers:
    """The log messages of rows to each column, given the log evidence on their other columns: (messages, chains)."""
    soft = np.maximum(np.exp(np.ascontiguousarray(evidence.T)), LEAST)
    messages = np.empty_like(soft)
    for own, column, out in zip(full, soft, messages, strict=True):
        relaxation.evaluate(own, column, out)
    with np.errstate(divide="ignore"):
        return np.log(messages.T)


def _observe(relaxation: Relaxation, chosen: Indices, full: Numbers) -> None:
    """Let sensors show these states of their columns."""
    evidence = np.zeros(int(relaxation.offsets[-1]))
    has = chosen < np.diff(relaxation.offsets)
    evidence[relaxation.offsets[:-1][has] + chosen[has]] = 1.0
    put_in(relaxation.cells, relaxation.steps, relaxation.offsets, evidence, full)


def _with_sensors(relaxation: Relaxation, theta: Numbers) -> Numbers:
    """CPTs, (chains, cells), with those of sensors, which are ones: uninformative."""
    full = np.ones((theta.shape[1], relaxation.prepared.layout.size))
    full[:, : len(theta)] = theta.T
    return full


def _failed(
    draws: TiedDraws, relaxation: Relaxation, chances: Numbers, rng: np.random.Generator, least: float
) -> Indices:
    """How many rows of failed attempts have each column and state, (messages, chains)."""
    rows = np.zeros(chances.shape, dtype=np.int64)
    for agreement in draws.agreements:
        own = slice(relaxation.offsets[agreement.column], relaxation.offsets[agreement.column + 1])
        rows[own] += failed_rows(agreement, chances[own], rng, least)
    return rows


def _tilt(draws: TiedDraws, theta: Numbers) -> Numbers | None:
    """(1 − n)·log P(x) of merged ties, (factors, most states, chains): the value of n rows is one draw."""
    if draws.tied.reading is not TieReading.MERGED:
        return None
    relaxation, layout = draws.tied.seen, draws.tied.prepared.layout
    factors = relaxation.members.factors
    tilt = np.zeros((len(factors), int(relaxation.states.max(initial=1)), theta.shape[1]))
    for number, scope in enumerate(factors.scopes):
        of = np.flatnonzero(factors.scope == number)
        cells = layout.first_cells[list(scope.variables)] + scope.digits(layout.sizes)  # (states, variables)
        with np.errstate(divide="ignore"):
            logs = np.log(theta[cells]).sum(axis=1)
        # A value of probability zero stays impossible: rows say so, and this must not say the opposite.
        logs = np.where(np.isfinite(logs), logs, 0.0)
        tilt[of, : len(cells)] = (1.0 - relaxation.members.factors.totals[of])[:, None, None] * logs
    return tilt


def _subtract_copies(draws: TiedDraws, chosen: Indices, counts: Numbers) -> None:
    """Let the values of merged ties count once; `chosen` is (columns, chains), `counts` is (cells, chains)."""
    if draws.tied.reading is not TieReading.MERGED:
        return
    relaxation, layout = draws.tied.seen, draws.tied.prepared.layout
    factors = relaxation.members.factors
    for number, scope in enumerate(factors.scopes):
        of = np.flatnonzero(factors.scope == number)
        digits = scope.digits(layout.sizes)[chosen[relaxation.members.columns[factors.starts[of]]]]
        cells = layout.first_cells[list(scope.variables)] + digits  # (factors, chains, variables)
        chains = np.broadcast_to(np.arange(counts.shape[1])[:, None], cells.shape)
        copies = np.broadcast_to((relaxation.members.factors.totals[of] - 1.0)[:, None, None], cells.shape)
        np.subtract.at(counts, (cells, chains), copies)

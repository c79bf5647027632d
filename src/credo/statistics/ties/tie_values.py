"""The values that ties share, drawn given their rows: messages forward, values backward.

Given the value of a tie, its rows are independent. With μ_r(x) = P(row r, x), a tie has the value x with chances

    Π_r μ_r(x)^w_r · tilt(x),

and a pair that differs has the values x and y with chances μ_1(x)·μ_2(y) where they go together. Where rows are in
several ties, rows and ties form trees. Messages are sent from the ties that are farthest from the root of their tree to
the root; then values are drawn from the root on, each given those before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from credo.statistics.ties.factors import no_value
from credo.statistics.ties.failed_attempts import pairs_of
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

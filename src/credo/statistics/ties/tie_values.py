"""The values that ties share, drawn given what their rows say.

Given the value of a tie, its rows are independent. With μ_r(x) = P(row r, x), a tie has the value x with chances

    Π_r μ_r(x)^w_r · tilt(x),

and a pair that differs has the values x and y with chances μ_1(x)·μ_2(y) where they go together.
"""

from __future__ import annotations

import numpy as np

from credo.statistics.ties.factors import TieError, no_value
from credo.statistics.ties.failed_attempts import pairs_of
from credo.statistics.ties.relaxation import Relaxation
from credo.types import Indices, Numbers


def choose_values(
    relaxation: Relaxation, logs: Numbers, rng: np.random.Generator, tilt: Numbers | None = None
) -> Indices:
    """The state of each column, (columns, chains), given log μ, (messages, chains).

    `tilt`, (factors, most states, chains), is added to the logarithms of each tie.
    """
    factors, sizes = relaxation.members.factors, relaxation.prepared.layout.sizes
    chosen = np.zeros((len(relaxation.cells), logs.shape[1]), dtype=np.int64)
    for number, scope in enumerate(factors.scopes):
        of = np.flatnonzero(factors.scope == number)
        if not len(of):
            continue
        states = scope.states(sizes)
        if any(scope.differs):
            together = np.where(pairs_of(scope, sizes), 0.0, -np.inf)
            _choose_pairs(relaxation, of, together, logs, rng, chosen)
            continue
        lengths = factors.starts[of + 1] - factors.starts[of]
        begins = np.cumsum(lengths) - lengths
        members = np.repeat(factors.starts[of] - begins, lengths) + np.arange(lengths.sum())
        columns = relaxation.members.columns[members]
        said = logs[relaxation.offsets[columns][:, None] + np.arange(states)]  # (members, states, chains)
        all_say = np.add.reduceat(factors.weights[members][:, None, None] * said, begins, axis=0)
        if tilt is not None:
            all_say = all_say + tilt[of, :states]
        drawn = _drawn(relaxation, of, all_say, rng)
        chosen[columns] = np.repeat(drawn, lengths, axis=0)
    return chosen


def _choose_pairs(
    relaxation: Relaxation, of: Indices, together: Numbers, logs: Numbers, rng: np.random.Generator, chosen: Indices
) -> None:
    """The same for pairs that differ; `together` is zero where two states go together, else minus infinity."""
    states, factors = len(together), relaxation.members.factors
    sides = [relaxation.members.columns[factors.starts[of] + side] for side in (0, 1)]
    said = []
    for columns in sides:
        own = logs[relaxation.offsets[np.maximum(columns, 0)][:, None] + np.arange(states)].copy()
        known = np.flatnonzero(columns < 0)
        own[known] = -np.inf
        own[known, -1 - columns[known]] = 0.0
        said.append(own)
    joint = said[0][:, :, None] + said[1][:, None] + together[:, :, None]  # (pairs, states, states, chains)
    drawn = _drawn(relaxation, of, joint.reshape(len(of), states * states, -1), rng)
    for columns, values in zip(sides, np.divmod(drawn, states), strict=True):
        chosen[columns[columns >= 0]] = values[columns >= 0]


def _drawn(relaxation: Relaxation, of: Indices, logs: Numbers, rng: np.random.Generator) -> Indices:
    """A state of each factor, (factors, chains), given the logarithms of its chances, (factors, states, chains)."""
    highest = logs.max(axis=1, keepdims=True)
    impossible = np.flatnonzero((highest == -np.inf).any(axis=(1, 2)))
    if len(impossible):
        raise _impossible(relaxation, int(of[impossible[0]]))
    cumulative = np.exp(logs - highest).cumsum(axis=1)
    drawn = rng.random((len(logs), 1, logs.shape[2])) * cumulative[:, -1:]
    return np.minimum((drawn >= cumulative).sum(axis=1), logs.shape[1] - 1)


def _impossible(relaxation: Relaxation, factor: int) -> TieError:
    return no_value(relaxation.prepared.layout.network, relaxation.members.factors, factor)

"""Tied rows completed given CPTs: the values of ties first, then every row's other missing values, exactly.

Rows say what they would have with each value of their tie (forward sums), the values are drawn (`tie_values.py`), and
rows are completed given them (backward). Where rows are conditioned on their ties, the rows of failed attempts are
drawn and counted too (`failed_attempts.py`); where a tie is one draw for all its rows, its value counts once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from credo.core.tie_messages import put_in
from credo.options import TieReading
from credo.statistics.inference.draw_missing import draw_missing, fractional_rows
from credo.statistics.inference.elimination import visited_cells
from credo.statistics.ties.failed_attempts import LEAST as LEAST_SUCCESS
from credo.statistics.ties.failed_attempts import Agreement, agreements_of, failed_rows, why_not_conditioned
from credo.statistics.ties.likelihood import TiedData
from credo.statistics.ties.relaxation import Relaxation
from credo.statistics.ties.tie_values import TieOrder, draw_values, tie_order
from credo.types import Indices, Numbers

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
        tilt[of, : len(cells)] = (1.0 - _sizes(relaxation)[of])[:, None, None] * logs
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
        copies = np.broadcast_to((_sizes(relaxation)[of] - 1.0)[:, None, None], cells.shape)
        np.subtract.at(counts, (cells, chains), copies)


def _sizes(relaxation: Relaxation) -> Numbers:
    """How many rows each tie has, (factors,)."""
    factors = relaxation.members.factors
    return np.asarray(np.add.reduceat(factors.weights, factors.starts[:-1]) if len(factors) else np.zeros(0))

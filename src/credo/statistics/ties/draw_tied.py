"""Tied rows completed given CPTs: the values of ties first, then every row's other missing values, exactly.

Rows say what they would have with each value of their tie (forward sums), the values are drawn (`tie_values.py`), and
rows are completed given them (backward). Where rows are conditioned on their ties, the rows of failed attempts are
drawn and counted too (`failed_attempts.py`); where a tie is one draw for all its rows, its value counts once. As for
other missing values, small problems enumerate all joint states for many chains at once, larger ones run programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.options import TieReading
from credo.statistics.inference.draw_missing import (
    Enumeration,
    Programs,
    draw_by_programs,
    enumeration_of,
    fractional_rows,
    programs_of,
    split_rows,
    term_products,
)
from credo.statistics.ties.failed_attempts import LEAST as LEAST_SUCCESS
from credo.statistics.ties.failed_attempts import Agreement, agreements_of, failed_rows, shares_of, why_not_conditioned
from credo.statistics.ties.likelihood import TiedData
from credo.statistics.ties.relaxation import Relaxation
from credo.statistics.ties.tie_values import TieOrder, draw_values, tie_order
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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


# What all chains share ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """The rows of a relaxation: all their terms, or programs."""

    relaxation: Relaxation
    enumeration: Enumeration | None
    # (columns of an evaluation at most, terms) the column and state of each term as places in arrays of messages; one
    # behind the last where an evaluation has fewer columns
    message: Indices
    sums: tuple[csr_array, ...]  # (messages, terms) each
    programs: Programs | None

    @property
    def cells(self) -> int:
        """How many cells are visited to complete the rows once."""
        if self.programs is not None:
            return self.programs.cells
        return 0 if self.enumeration is None else self.enumeration.factors


@dataclass(frozen=True, slots=True, eq=False)
class TiedDraws:
    """What drawing tied rows needs, for either sampler."""

    tied: TiedData
    order: TieOrder
    seen: Evaluated
    chance: Evaluated | None
    agreements: tuple[Agreement, ...]
    copies: Numbers  # (cells,) of values that merged ties reveal, beyond the one that counts

    @property
    def cells(self) -> int:
        """How many cells are visited to complete the rows once."""
        return self.seen.cells + (0 if self.chance is None else self.chance.cells)


def factors_to_enumerate(tied: TiedData) -> float:
    """How many numbers are multiplied for one set of CPTs; infinite where there are too many joint states."""
    found = [enumeration_of(part) for part in tied.parts]
    return float(sum(np.inf if each is None else each.factors for each in found))


def tied_draws(tied: TiedData, compiled: bool, memory_limit: int | None = None) -> TiedDraws:
    """Make ready what each sweep needs."""
    layout = tied.prepared.layout
    chance = None if tied.chance is None else _evaluated(tied.chance, compiled, memory_limit)
    agreements = () if tied.chance is None else agreements_of(tied.chance, layout.sizes)
    copies = np.zeros(layout.size)
    if tied.reading is TieReading.MERGED:
        cells, number = tied.revealed_copies()
        np.add.at(copies, cells, number)
    seen = _evaluated(tied.seen, compiled, memory_limit)
    return TiedDraws(tied, tie_order(tied.seen), seen, chance, agreements, copies)


def _evaluated(relaxation: Relaxation, compiled: bool, memory_limit: int | None) -> Evaluated:
    from scipy.sparse import csr_array

    prepared = relaxation.prepared
    if compiled:
        programs = programs_of(prepared, memory_limit) if len(prepared.groups.component) else None
        return Evaluated(relaxation, None, np.zeros((0, 0), dtype=np.int64), (), programs)
    enumeration = enumeration_of(prepared)
    assert enumeration is not None
    message = _messages_of_terms(relaxation, enumeration)
    count, terms, sums = int(relaxation.offsets[-1]), message.shape[1], []
    for own in message:
        used = np.flatnonzero(own < count)
        sums.append(csr_array((np.ones(len(used)), (own[used], used)), shape=(count, terms)))
    return Evaluated(relaxation, enumeration, message, tuple(sums), None)


def _messages_of_terms(relaxation: Relaxation, enumeration: Enumeration) -> Indices:
    """Each term reads one cell of each sensor in its evaluation, that of its column in its state."""
    count = int(relaxation.offsets[-1])
    place = np.full(relaxation.prepared.layout.size + 1, count, dtype=np.int64)
    states = np.diff(relaxation.offsets)
    column = np.repeat(np.arange(len(states)), states)
    state = np.arange(len(column)) - relaxation.offsets[column]
    place[relaxation.cells[column] + state * relaxation.steps[column]] = np.arange(len(column))
    found = np.sort(place[enumeration.cells], axis=0)  # what is not a sensor comes last
    return found[: int((found < count).any(axis=1).sum())]


# By enumeration -------------------------------------------------------------------------------------------------------


def draw_tied_by_enumeration(
    draws: TiedDraws, theta: Numbers, rng: np.random.Generator, least: float = LEAST_SUCCESS
) -> Numbers:
    """Counts of all cells in tied rows with missing values, (cells, chains), given CPTs `theta`, (cells, chains).

    Attempts that failed are drawn as if ties were no less probable than `least`.
    """
    counts = np.zeros_like(theta)
    seen = draws.seen
    if len(seen.message):
        assert seen.enumeration is not None
        products = term_products(seen.enumeration, _with_sensors(seen.relaxation, theta))
        row_messages = partial(_messages_by_terms, seen, products)
        chosen = draw_values(seen.relaxation, draws.order, row_messages, theta.shape[1], rng, _tilt(draws, theta))
        for allowed in _allowed(seen, chosen):
            products *= allowed
        counts += split_rows(seen.enumeration, products, rng)[: len(theta)]
        _subtract_copies(draws, chosen, counts)
    if draws.chance is not None and len(draws.chance.message):  # else no two rows that count are tied
        counts += _failed_by_enumeration(draws, draws.chance, theta, rng, least)
    return counts


def _messages_by_terms(evaluated: Evaluated, products: Numbers, evidence: Numbers) -> Numbers:
    """The log messages of rows to each column, given the evidence on their other columns: (messages, chains)."""
    weights = np.concatenate((np.exp(evidence), np.ones((1, evidence.shape[1]))))
    found = np.zeros_like(evidence)
    for own, sums in enumerate(evaluated.sums):
        weighted = products
        for other, message in enumerate(evaluated.message):
            if other != own:
                weighted = weighted * weights[message]
        found += sums @ weighted
    with np.errstate(divide="ignore"):
        return np.log(found)


def _allowed(evaluated: Evaluated, chosen: Indices) -> Iterator[Flags]:
    """Which terms have the states that were chosen, (terms, chains), for each place of a column in an evaluation."""
    relaxation = evaluated.relaxation
    column = np.repeat(np.arange(len(chosen)), np.diff(relaxation.offsets))
    for message in evaluated.message:
        allowed = np.ones((len(message), chosen.shape[1]), dtype=np.bool_)
        used = np.flatnonzero(message < len(column))
        own = column[message[used]]
        allowed[used] = chosen[own] == (message[used] - relaxation.offsets[own])[:, None]
        yield allowed


def _failed_by_enumeration(
    draws: TiedDraws, chance: Evaluated, theta: Numbers, rng: np.random.Generator, least: float
) -> Numbers:
    assert chance.enumeration is not None
    products = term_products(chance.enumeration, _with_sensors(chance.relaxation, theta))
    rows = _failed(draws, chance.relaxation, chance.sums[0] @ products, rng, least)
    drawn = np.zeros_like(products)
    for message in np.flatnonzero(rows.any(axis=1)).tolist():
        own = np.flatnonzero(chance.message[0] == message)
        drawn[own] = rng.multinomial(rows[message], shares_of(products[own].T)).T
    return np.asarray(chance.enumeration.sums @ drawn)[: len(theta)]


# By programs ----------------------------------------------------------------------------------------------------------


def draw_tied_by_programs(
    draws: TiedDraws,
    theta: Numbers,
    generator: NDArray[np.uint64],
    rng: np.random.Generator,
    least: float = LEAST_SUCCESS,
) -> Numbers:
    """The same for one set of CPTs, (cells,), in compiled code."""
    counts = np.zeros_like(theta)
    seen = draws.seen
    if seen.programs is not None:
        full = _with_sensors(seen.relaxation, theta[:, None])[:, 0]
        row_messages = partial(_messages_by_programs, seen.relaxation, full)
        chosen = draw_values(seen.relaxation, draws.order, row_messages, 1, rng, _tilt(draws, theta[:, None]))
        _observe(seen.relaxation, chosen[:, 0], full)
        counts += draw_by_programs(seen.programs, full, generator)[: len(theta)]
        _subtract_copies(draws, chosen, counts[:, None])
    chance = draws.chance
    if chance is None or chance.programs is None:
        return counts
    relaxation = chance.relaxation
    full = _with_sensors(relaxation, theta[:, None])[:, 0]
    logs = _messages_by_programs(relaxation, full, np.zeros((int(relaxation.offsets[-1]), 1)))
    rows = _failed(draws, relaxation, np.exp(logs), rng, least)[:, 0]
    states = np.diff(relaxation.offsets)
    for state in range(int(states.max(initial=0))):
        has = np.flatnonzero(states > state)
        weights = np.zeros(len(chance.programs.groups.weights))
        weights[relaxation.evaluation[has]] = rows[relaxation.offsets[has] + state]
        if weights.any():
            _observe(relaxation, np.full(len(states), state), full)
            groups = replace(chance.programs.groups, weights=weights)
            counts += draw_by_programs(replace(chance.programs, groups=groups), full, generator)[: len(theta)]
    return counts


def _messages_by_programs(relaxation: Relaxation, full: Numbers, evidence: Numbers) -> Numbers:
    """The same as `_messages_by_terms` for one set of CPTs, with those of sensors: (messages, 1)."""
    messages = np.empty(len(evidence))
    relaxation.evaluate(full, np.maximum(np.exp(evidence[:, 0]), LEAST), messages)
    with np.errstate(divide="ignore"):
        return np.log(messages)[:, None]


def _observe(relaxation: Relaxation, chosen: Indices, full: Numbers) -> None:
    """Let sensors show these states of their columns."""
    from credo.kernels.tie_messages import put_in

    evidence = np.zeros(int(relaxation.offsets[-1]))
    has = chosen < np.diff(relaxation.offsets)
    evidence[relaxation.offsets[:-1][has] + chosen[has]] = 1.0
    put_in(relaxation.cells, relaxation.steps, relaxation.offsets, evidence, full)


# Both -----------------------------------------------------------------------------------------------------------------


def _with_sensors(relaxation: Relaxation, theta: Numbers) -> Numbers:
    """CPTs, (cells, chains), with those of sensors, which are ones: uninformative."""
    more = relaxation.prepared.layout.size - len(theta)
    return np.concatenate((theta, np.ones((more, theta.shape[1]))))


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
    relaxation, layout = draws.seen.relaxation, draws.tied.prepared.layout
    factors = relaxation.members.factors
    tilt = np.zeros((len(factors), int(relaxation.states.max(initial=1)), theta.shape[1]))
    for number, scope in enumerate(factors.scopes):
        of = np.flatnonzero(factors.scope == number)
        cells = layout.cell_starts[list(scope.variables)] + scope.digits(layout.sizes)  # (states, variables)
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
    relaxation, layout = draws.seen.relaxation, draws.tied.prepared.layout
    factors = relaxation.members.factors
    for number, scope in enumerate(factors.scopes):
        of = np.flatnonzero(factors.scope == number)
        digits = scope.digits(layout.sizes)[chosen[relaxation.members.columns[factors.starts[of]]]]
        cells = layout.cell_starts[list(scope.variables)] + digits  # (factors, chains, variables)
        chains = np.broadcast_to(np.arange(counts.shape[1])[:, None], cells.shape)
        copies = np.broadcast_to((_sizes(relaxation)[of] - 1.0)[:, None, None], cells.shape)
        np.subtract.at(counts, (cells, chains), copies)


def _sizes(relaxation: Relaxation) -> Numbers:
    """How many rows each tie has, (factors,)."""
    factors = relaxation.members.factors
    return np.asarray(np.add.reduceat(factors.weights, factors.starts[:-1]) if len(factors) else np.zeros(0))

"""How far the likelihood of ties that form cycles is from the exact one, estimated by drawing their values.

Where messages have converged, with beliefs b of rows, factors and edges, the exact sum is that of the messages times

    R = Σ_x Π_rows b(x_row) · Π_factors b(x_factor) / Π_edges b(x_edge)          [wainwright et al., 2003, eq. 12]

Without cycles R is one. Each connected component has a factor of its own. Where its tied values have few states
together, all of them are summed up. Else values are drawn, mostly from the beliefs of edges, and the mean of their
weights is R; this estimate has a standard error, and where a few draws have most of the weight it is not given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from credo.io.dataset import Dataset
from credo.model.graphs import connected_components
from credo.statistics.counts import layout_for_counts
from credo.statistics.predict import posterior
from credo.statistics.ties.relaxation import TIGHT, Relaxation
from credo.types import Flags, Indices, Numbers

DRAWS = 2_000
MOST_SUMMED = 4_096  # states of a component that are all summed up
UNIFORM_SHARE = 0.1  # of draws: what beliefs hold for improbable may carry much of the sum
MOST_COLUMNS = 3_000  # of evidence in cycles
MOST_STATES = 4_096  # that the tied values of one row may have together
MOST_CELLS = 2**22  # of such states in all rows
LEAST_EFFECTIVE = 20.0  # draws, (Σ w)² / Σ w²: with fewer the mean of weights is that of a few


@dataclass(frozen=True, slots=True)
class Correction:
    """What the logarithm of the exact sum has beyond that of the messages, and the standard error of this estimate."""

    value: float
    error: float

    def less(self, other: Correction) -> Correction:
        """The correction of a difference of logarithms."""
        return Correction(self.value - other.value, float(np.hypot(self.error, other.error)))


def loop_correction(relaxation: Relaxation, theta: Numbers, evidence: Numbers, seed: int = 0) -> Correction | None:
    """The correction of one set of ties under CPTs; None where it is too large to be estimated, or too uncertain."""
    if relaxation.is_exact:
        return Correction(0.0, 0.0)
    beliefs = _Beliefs.of(relaxation, theta, evidence)
    if beliefs is None:
        return None
    total, variance = 0.0, 0.0
    for component, columns in enumerate(beliefs.components()):
        generator = np.random.default_rng([seed, component])
        logs, is_sum = beliefs.log_weights(columns, generator)
        largest = logs.max()
        if largest == -np.inf:
            return None
        weights = np.exp(logs - largest)
        if is_sum:
            total += float(largest + np.log(weights.sum()))
            continue
        effective = weights.sum() ** 2 / (weights @ weights)
        if effective < LEAST_EFFECTIVE:
            return None
        total += float(largest + np.log(weights.mean()))
        variance += 1.0 / effective - 1.0 / len(weights)
    return Correction(total, float(np.sqrt(max(variance, 0.0))))


@dataclass(frozen=True, slots=True, eq=False)
class _Beliefs:
    """Of columns, their messages, and the rows that several of them are evidence in."""

    relaxation: Relaxation
    messages: Numbers  # μ of each column, as `evidence`
    marginals: Numbers  # b of each column
    in_cycles: Flags  # (columns,)
    factor: Indices  # (columns,) the factor of each column in cycles
    rows: Mapping[int, tuple[tuple[int, ...], Numbers]]  # row → its hidden tied variables, and the logarithm of b

    @classmethod
    def of(cls, relaxation: Relaxation, theta: Numbers, evidence: Numbers) -> _Beliefs | None:
        ended, _ = relaxation.propagate(theta, evidence, TIGHT)
        messages = np.empty_like(evidence)
        full = np.concatenate([theta, np.zeros(relaxation.prepared.layout.size - len(theta))])
        relaxation.evaluate(full, ended.evidence, messages)
        marginals = ended.evidence * messages
        starts, lengths = relaxation.offsets[:-1], np.diff(relaxation.offsets)
        marginals /= np.repeat(np.add.reduceat(marginals, starts), lengths)
        in_cycles = _columns_in_cycles(relaxation)
        if in_cycles.sum() > MOST_COLUMNS:
            return None
        rows = _row_beliefs(relaxation, theta, ended.evidence, in_cycles)
        members = relaxation.members
        factor, own = np.zeros(len(in_cycles), dtype=np.int64), members.columns >= 0
        factor[members.columns[own]] = members.factors.factor[own]
        return None if rows is None else cls(relaxation, messages, marginals, in_cycles, factor, rows)

    def components(self) -> Iterator[Indices]:
        """The columns of each connected component with cycles."""
        members, columns = self.relaxation.members, np.flatnonzero(self.in_cycles)
        own = members.columns >= 0
        own[own] = self.in_cycles[members.columns[own]]
        count = len(self.in_cycles)
        factor = members.factors.factor[own] + count
        row = members.row[columns] + count + len(members.factors)
        label = connected_components(
            np.concatenate([members.columns[own], columns]),
            np.concatenate([factor, row]),
            count + len(members.factors) + int(members.row.max()) + 1,
        )
        for each in np.unique(label[columns]):
            yield columns[label[columns] == each]

    def log_weights(self, columns: Indices, generator: np.random.Generator) -> tuple[Numbers, bool]:
        """log Π b(row) Π b(factor) / Π b(edge) of all values of a component, and that these are all; or of draws.

        The weight of a draw is divided by its probability.
        """
        relaxation, members = self.relaxation, self.relaxation.members
        factors, sizes = members.factors, relaxation.prepared.layout.sizes
        shared, codes = self._shared(columns), relaxation.prepared.dataset.codes
        known: dict[tuple[int, int], int] = {}
        keys: dict[tuple[int, int], None] = {}
        for column in columns.tolist():
            row = int(members.row[column])
            for v in factors.scopes[members.scope[column]].variables:
                if codes[row, v] >= 0:
                    known[row, v] = int(codes[row, v])
                else:
                    keys[shared.get((row, v), (row, v))] = None
        shape = [int(sizes[v]) for _, v in keys]
        is_sum = prod(shape) <= MOST_SUMMED
        if is_sum:
            value = {key: part.ravel() for key, part in zip(keys, np.indices(shape), strict=True)}
            logs = np.zeros(prod(shape))
        else:
            value, logs = {}, np.zeros(DRAWS)
        value |= {key: np.full(len(logs), code, dtype=np.int64) for key, code in known.items()}
        with np.errstate(divide="ignore", invalid="ignore"):
            if not is_sum:
                logs -= self._draw(columns, value, shared, generator)
            for column in columns.tolist():
                logs -= np.log(self._of(self.marginals, column, self._state(column, value, shared)))
            for row in np.unique(members.row[columns]).tolist():
                variables, table = self.rows[row]
                state = np.zeros(len(logs), dtype=np.int64)
                for v in variables:
                    state = state * sizes[v] + value[shared.get((row, v), (row, v))]
                logs += table[state]
            for factor in np.unique(self.factor[columns]).tolist():
                logs += self._factor(factor, value, shared)
        return np.where(np.isnan(logs), -np.inf, logs), is_sum

    def _draw(
        self,
        columns: Indices,
        value: dict[tuple[int, int], Indices],
        shared: dict[tuple[int, int], tuple[int, int]],
        generator: np.random.Generator,
    ) -> Numbers:
        """Draw all values that are not known, column after column; the logarithm of the probability of each draw."""
        relaxation, members = self.relaxation, self.relaxation.members
        factors, sizes = members.factors, relaxation.prepared.layout.sizes
        logs, every = np.zeros(DRAWS), np.arange(DRAWS)
        order = sorted(columns.tolist(), key=lambda c: (-len(factors.scopes[members.scope[c]].variables), c))
        for column in order:
            scope, row = factors.scopes[members.scope[column]], int(members.row[column])
            keys = [shared.get((row, v), (row, v)) for v in scope.variables]
            if all(key in value for key in keys):
                continue
            belief = self.marginals[relaxation.offsets[column] : relaxation.offsets[column + 1]]
            mixed = (1 - UNIFORM_SHARE) * belief + UNIFORM_SHARE / len(belief)
            digits, chances = scope.digits(sizes), np.broadcast_to(mixed, (DRAWS, len(belief)))
            for k, key in enumerate(keys):
                if key in value:
                    chances = np.where(digits[:, k] == value[key][:, None], chances, 0.0)
            sums = chances.sum(axis=1)
            reached = np.cumsum(chances, axis=1) <= (generator.random(DRAWS) * sums)[:, None]
            state = np.minimum(reached.sum(axis=1), len(belief) - 1)
            logs += np.log(chances[every, state] / sums)
            for k, key in enumerate(keys):
                value.setdefault(key, digits[state, k])
        return logs

    def _shared(self, columns: Indices) -> dict[tuple[int, int], tuple[int, int]]:
        """The first (row, variable) of those that equal factors make the same."""
        members, factors = self.relaxation.members, self.relaxation.members.factors
        inside = set(columns.tolist())
        found: dict[tuple[int, int], tuple[int, int]] = {}
        for factor in np.unique(self.factor[columns]).tolist():
            if factors.differ[factor]:
                continue
            own = [
                c for c in members.columns[factors.starts[factor] : factors.starts[factor + 1]].tolist() if c in inside
            ]
            for v in factors.scopes[factors.scope[factor]].variables:
                keys = [(int(members.row[c]), v) for c in own]
                for key in keys[1:]:
                    found[key] = keys[0]
        return found

    def _state(
        self, column: int, value: dict[tuple[int, int], Indices], shared: dict[tuple[int, int], tuple[int, int]]
    ) -> Indices:
        members, sizes = self.relaxation.members, self.relaxation.prepared.layout.sizes
        row, state = int(members.row[column]), np.zeros(1, dtype=np.int64)
        for v in members.factors.scopes[members.scope[column]].variables:
            state = state * sizes[v] + value[shared.get((row, v), (row, v))]
        return state

    def _of(self, table: Numbers, column: int, state: Indices) -> Numbers:
        return np.asarray(table[self.relaxation.offsets[column] + state])

    def _factor(
        self, factor: int, value: dict[tuple[int, int], Indices], shared: dict[tuple[int, int], tuple[int, int]]
    ) -> Numbers:
        """The logarithm of the belief of a factor, over draws; leaves and observed members are part of it."""
        members, factors = self.relaxation.members, self.relaxation.members.factors
        own = members.columns[factors.starts[factor] : factors.starts[factor + 1]]
        if not factors.differ[factor]:
            column = next(c for c in own.tolist() if c >= 0 and self.in_cycles[c])
            return np.log(self._of(self.marginals, column, self._state(column, value, shared)))
        states = int(self.relaxation.states[factor])
        left, right = (self._message(int(c), states) for c in own)
        joint = left[:, None] * right[None, :] * self._allowed(factor)
        joint /= joint.sum()
        inside = [int(c) >= 0 and bool(self.in_cycles[c]) for c in own]
        picks = [self._state(int(c), value, shared) if use else None for c, use in zip(own, inside, strict=True)]
        if picks[0] is not None and picks[1] is not None:
            return np.asarray(np.log(joint[picks[0], picks[1]]))
        at, axis = (picks[0], 1) if picks[0] is not None else (picks[1], 0)
        assert at is not None
        return np.asarray(np.log(joint.sum(axis=axis)[at]))  # the other one is observed, or a leaf whose belief cancels

    def _message(self, column: int, states: int) -> Numbers:
        if column < 0:
            return np.asarray(np.eye(states)[-1 - column])
        return self.messages[self.relaxation.offsets[column] : self.relaxation.offsets[column + 1]]

    def _allowed(self, factor: int) -> Flags:
        scope = self.relaxation.members.factors.scopes[self.relaxation.members.factors.scope[factor]]
        digits = scope.digits(self.relaxation.prepared.layout.sizes)
        same = digits[:, None, :] == digits[None, :, :]
        return np.asarray((same != np.array(scope.differs)).all(axis=2))


def _columns_in_cycles(relaxation: Relaxation) -> Flags:
    """Columns that are evidence in a row in two ties, or in ties with such rows: others are leaves, and cancel."""
    members = relaxation.members
    crowded = np.bincount(relaxation.evaluation, minlength=1)[relaxation.evaluation] > 1
    return np.asarray(crowded & (np.bincount(members.columns[members.columns >= 0], minlength=len(crowded)) == 1))


def _row_beliefs(
    relaxation: Relaxation, theta: Numbers, evidence: Numbers, in_cycles: Flags
) -> dict[int, tuple[tuple[int, ...], Numbers]] | None:
    """The joint belief of all tied values of each row in cycles, in logarithms."""
    members, dataset = relaxation.members, relaxation.prepared.dataset
    layout, network = relaxation.rest.layout, relaxation.rest.layout.network
    learned = network.with_cpts(layout.unpack(theta))
    columns_of: dict[int, list[int]] = {}
    for column in np.flatnonzero(in_cycles).tolist():
        columns_of.setdefault(int(members.row[column]), []).append(column)
    by_pattern: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for row, columns in columns_of.items():
        scopes = tuple(int(members.scope[c]) for c in columns)
        variables = sorted({v for scope in scopes for v in members.factors.scopes[scope].variables})
        hidden = tuple(v for v in variables if dataset.codes[row, v] < 0)
        by_pattern.setdefault((hidden, scopes), []).append(row)
    found: dict[int, tuple[tuple[int, ...], Numbers]] = {}
    cells = 0
    for (hidden, scopes), rows in by_pattern.items():
        shape = [int(layout.sizes[v]) for v in hidden]
        states = prod(shape)  # exact, however large
        cells += states * len(rows)
        if states > MOST_STATES or cells > MOST_CELLS:
            return None
        digits = np.column_stack([part.ravel() for part in np.indices(shape)])
        names = tuple(network.names[v] for v in hidden)
        own = Dataset(network.names, dataset.codes[rows])
        with np.errstate(divide="ignore"):
            logs = np.log(posterior(layout_for_counts(learned), own, names, {}))
        for place, number in enumerate(scopes):
            for k, row in enumerate(rows):
                state = np.zeros(states, dtype=np.int64)
                for v in members.factors.scopes[number].variables:
                    known = digits[:, hidden.index(v)] if v in hidden else int(dataset.codes[row, v])
                    state = state * int(layout.sizes[v]) + known
                logs[k] += np.log(evidence[relaxation.offsets[columns_of[row][place]] + state])
        for k, row in enumerate(rows):
            largest = logs[k].max()
            found[row] = hidden, logs[k] - largest - np.log(np.exp(logs[k] - largest).sum())
    return found

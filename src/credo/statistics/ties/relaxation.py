"""One relaxed set of ties: rows are independent given soft evidence on their tied values (loopy belief propagation).

Exact inference gets a sensor for each tied variable, with a column of evidence for each member; the expected counts of
sensors are the marginals that messages are made from. log Z is the Bethe approximation: exact if rows and ties form no
cycle [yao, proposition 5.1]. At convergence its derivatives are the expected counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.core.tie_messages import TieFactors, change, keep_previous, put_in, take_out
from credo.io.dataset import Dataset
from credo.model.graphs import connected_components
from credo.model.layout import Layout, Sensor
from credo.statistics.inference.elimination import cut_pieces, execute
from credo.statistics.inference.expected_counts import Prepared, expected_cells, impossible_evaluation, prepare
from credo.statistics.ties.factors import Factors, no_value
from credo.types import Codes, Flags, Indices, Numbers

MOST_ROUNDS = 200
UNDAMPED_ROUNDS = 10
LARGEST_RATE = 0.9  # of convergence that is assumed when the remaining distance is estimated
DAMPING = 0.5  # the weight of the old evidence if messages do not converge undamped
TOLERANCE = 3e-4  # of a marginal, while learning: the error of the likelihood is of the order of its square
TIGHT = 1e-9  # of a marginal, for a likelihood that is reported
PARTIAL_SHARE = 0.5  # if evidence changed in a smaller share of the evaluations, only those are repeated


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The column of soft evidence of each member of a factor: its own, or one shared by several."""

    factors: Factors
    columns: Indices  # (members,) or −1 − x if the value x is observed
    scope: Indices  # (columns,) the scope of its factor, or one with the same variables
    row: Indices  # (columns,) the row that each is evidence in
    weights: Numbers  # (columns,) the sum over the members that share it


@dataclass(frozen=True, slots=True, eq=False)
class TupleDigits:
    """The variables of each factor, for comparing two states of a tuple: their numbers of states, the last fastest."""

    starts: Indices  # (factors + 1,)
    sizes: Indices
    differs: Flags  # whether the two rows of a pair differ in it; else they share it

    @classmethod
    def of(cls, factors: Factors, sizes: Indices) -> TupleDigits:
        """Of the variables of factors in a network with these numbers of states."""
        scopes = [factors.scopes[number] for number in factors.scope.tolist()]
        variables = [position for scope in scopes for position in scope.variables]
        starts = np.cumsum([0, *(len(scope.variables) for scope in scopes)]).astype(np.int64)
        differs = np.array([differs for scope in scopes for differs in scope.differs], dtype=bool)
        return cls(starts, sizes[np.array(variables, dtype=np.int64)], differs)


@dataclass(frozen=True, slots=True, eq=False)
class MessageState:
    """The state of the messages at the end."""

    counts: Numbers  # the expected counts of the network's own CPTs
    log_z: float
    evidence: Numbers
    rounds: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """Ties ready to be evaluated under any CPTs."""

    prepared: Prepared  # the evaluations with a tied value
    rest: Prepared  # the other ones
    members: Members
    cells: Indices  # (columns,) the first cell of each in the CPT of its sensor
    steps: Indices  # (columns,) from the cell of a state to that of the next state
    evaluation: Indices  # (columns,) the evaluation that each is evidence in
    multiplicity: Indices  # (columns,) how many columns are evidence on the same value
    offsets: Indices  # (columns + 1,) where each begins in arrays of messages
    states: Indices  # (factors,) the number of states of its variables together
    digits: TupleDigits
    shares: Numbers  # (members,) of the weight of its column
    is_direct: bool  # no evaluation is in two ties: one exchange of messages is enough
    is_exact: bool  # rows and ties form no cycle

    def start(self) -> Numbers:
        """Uninformative evidence."""
        return np.ones(int(self.offsets[-1]))

    def propagate(
        self, theta: Numbers, evidence: Numbers, tolerance: float, tilt: Numbers | None = None
    ) -> tuple[MessageState, Numbers]:
        """Pass messages, starting from `evidence`, until marginals are within `tolerance` of their limit (RMS).

        Evaluations whose evidence did not change are not repeated. If only few have been repeated since all were
        evaluated, the total is corrected for those few at the end.

        `tilt` weighs the values of each factor in addition to the messages, (factors, most states); with it the
        marginals of all factors are returned too.
        """
        full = np.concatenate([theta, np.zeros(self.prepared.layout.size - len(theta))])
        rest, log_rest = expected_cells(self.rest, theta)
        factors, width = self.members.factors, int(self.states.max(initial=1))
        tilt = np.empty((0, width)) if tilt is None else tilt
        marginals = np.zeros((len(factors) if len(tilt) else 0, width))
        messages, changes = np.empty_like(evidence), np.zeros(len(self.cells))
        repeated = np.zeros(len(self.prepared.groups.component), dtype=bool)  # since all were evaluated
        totals, totals_evidence = self.evaluate(full, evidence, messages), evidence
        passing = TieFactors(factors, self.members, self.digits, self.states, self.shares, self.offsets)
        damping, change_size, round, converged = 0.0, np.inf, 0, False
        for round in range(1, MOST_ROUNDS + 1):
            following = np.empty_like(evidence)
            log_factors, impossible = passing.compensate(messages, tilt, following, marginals)
            if impossible >= 0:
                raise no_value(self.prepared.layout.network, factors, impossible)
            change(self.offsets, self.multiplicity, messages, evidence, following, damping, changes)
            before, change_size = change_size, float(np.sqrt(changes @ changes / max(1, len(changes))))
            rate = min(change_size / before, LARGEST_RATE)
            enough = tolerance / max(1.0, rate / (1 - rate))
            converged = change_size <= enough
            if converged or round == MOST_ROUNDS:
                break
            if round >= UNDAMPED_ROUNDS and change_size > 0.5 * before:
                damping = DAMPING
            changed = np.zeros_like(repeated)
            changed[self.evaluation[changes > enough]] = True
            if self.is_direct or changed.sum() >= PARTIAL_SHARE * len(changed):
                evidence, repeated[:] = following, False
                totals, totals_evidence = self.evaluate(full, evidence, messages), evidence
                if self.is_direct:  # the message of a member does not depend on the messages it receives
                    converged = True
                    break
            else:
                keep_previous(self.offsets, changed[self.evaluation].view(np.uint8), evidence, following)
                evidence, repeated = following, repeated | changed
                self.evaluate(full, evidence, messages, changed)
        counts, log_rows = totals
        if repeated.sum() >= PARTIAL_SHARE * len(repeated):
            counts, log_rows = self.evaluate(full, evidence, messages)
        elif repeated.any():
            counts_then, log_then = self.evaluate(full, totals_evidence, np.empty_like(messages), repeated)
            counts_now, log_now = self.evaluate(full, evidence, messages, repeated)
            counts, log_rows = counts + (counts_now - counts_then), log_rows + (log_now - log_then)
        log_z = log_rest + log_rows + log_factors
        return MessageState(rest + counts[: len(theta)], log_z, following, round, converged), marginals

    def evaluate(
        self, full: Numbers, evidence: Numbers, messages: Numbers, which: Flags | None = None
    ) -> tuple[Numbers, float]:
        """Expected counts and log P of rows under soft evidence, without its scale.

        The messages that rows send are written into `messages`. `which` chooses the evaluations; without it all.
        """
        part = self.prepared if which is None else _chosen(self.prepared, which)
        columns = np.ones(len(self.cells), dtype=np.uint8) if which is None else which[self.evaluation].view(np.uint8)
        put_in(self.cells, self.steps, self.offsets, evidence, full)
        counts, log_rows, impossible = execute(part.layout, part.groups, part.plans, part.cuts, full)
        if impossible >= 0:
            raise impossible_evaluation(part.layout, part.groups, part.dataset.codes, impossible)
        log_columns = take_out(
            counts, self.cells, self.steps, self.offsets, self.members.weights, evidence, columns, messages
        )
        return counts, float(log_rows - log_columns)


def relax(
    count_layout: Layout, codes: Codes, weights: Numbers, members: Members, memory_limit: int | None
) -> Relaxation:
    """The relaxation of ties over rows of state numbers."""
    layout_sensors, readings, sensor, reading = _sensors(count_layout, len(codes), members)
    dataset = Dataset(count_layout.network.names, codes, weights)
    prepared = prepare(count_layout, dataset, memory_limit, sensors=layout_sensors, readings=readings)
    layout = prepared.layout
    tied = _has_sensor(prepared)
    rest = _chosen(replace(prepared, layout=Layout.of(count_layout.network)), ~tied)
    prepared = _chosen(prepared, tied)
    position = len(count_layout.network) + sensor
    factors = members.factors
    states = np.array([scope.states(layout.sizes) for scope in factors.scopes], dtype=np.int64)
    sizes = states[members.scope]
    shares = np.ones(len(members.columns))
    hidden = members.columns >= 0
    shares[hidden] = factors.weights[hidden] / members.weights[members.columns[hidden]]
    evaluation = _evaluations(prepared, layout.cell_starts[position] + reading)
    direct, exact = _topology(prepared, members, evaluation)
    return Relaxation(
        prepared,
        rest,
        members,
        layout.cell_starts[position] + reading,
        layout.sizes[position],
        evaluation,
        _multiplicity(members, len(count_layout.network)),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        states[factors.scope],
        TupleDigits.of(factors, layout.sizes),
        shares,
        direct,
        exact,
    )


def _sensors(count_layout: Layout, rows: int, members: Members) -> tuple[Sequence[Sensor], Codes, Indices, Indices]:
    """Sensors with a state for each column, the state of each in each row, and the sensor and state of each column.

    A value in several ties has a sensor for each.
    """
    key = members.row * len(members.factors.scopes) + members.scope
    order = np.argsort(key, kind="stable")
    new = np.concatenate([[True], np.diff(key[order]) != 0]) if len(key) else np.zeros(0, dtype=bool)
    first = np.maximum.accumulate(np.where(new, np.arange(len(key)), 0))
    turn = np.empty_like(key)
    turn[order] = np.arange(len(key)) - first
    kinds, sensor = np.unique(np.column_stack([members.scope, turn]), axis=0, return_inverse=True)
    sensor = sensor.ravel()
    totals = np.bincount(sensor, minlength=len(kinds))
    reading = np.empty(len(key), dtype=np.int64)
    by_sensor = np.argsort(sensor, kind="stable")
    reading[by_sensor] = np.arange(len(key)) - np.repeat(np.cumsum(totals) - totals, totals)
    names, scopes = count_layout.network.names, members.factors.scopes
    sensors = [
        Sensor(tuple(names[v] for v in scopes[number].variables), int(n))
        for (number, _), n in zip(kinds, totals, strict=True)
    ]
    readings = np.full((rows, len(kinds)), -1, dtype=np.int32)
    readings[members.row, sensor] = reading
    return sensors, readings, sensor, reading


def _has_sensor(prepared: Prepared) -> Flags:
    """Which evaluations contain a sensor."""
    groups, own_cells = prepared.groups, prepared.layout.cell_starts[len(prepared.layout.network)]
    if not len(groups.component):
        return np.zeros(0, dtype=bool)
    contains: Flags = np.maximum.reduceat(groups.cells, groups.cell_starts[:-1]) >= own_cells
    return contains


def _chosen(prepared: Prepared, kept: Flags) -> Prepared:
    """The same with only some of the evaluations."""
    groups, lengths = prepared.groups, np.diff(prepared.groups.cell_starts)
    part = replace(
        groups,
        component=groups.component[kept],
        cells=groups.cells[np.repeat(kept, lengths)],
        cell_starts=np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64),
        weights=groups.weights[kept],
        rows=groups.rows[kept],
    )
    return replace(prepared, groups=part, cuts=cut_pieces(prepared.layout, part, prepared.plans))


def _evaluations(prepared: Prepared, first_cells: Indices) -> Indices:
    """The evaluation of each column, by its first cell."""
    layout, groups = prepared.layout, prepared.groups
    families = len(layout.network)
    evaluation = np.repeat(np.arange(len(groups.component)), np.diff(groups.cell_starts))
    of_sensor = groups.cells >= layout.cell_starts[families]
    cells = groups.cells[of_sensor]
    # Where a row holds a part of a tuple, its slice begins later, but at the same state of the sensor.
    sensor = np.searchsorted(layout.cell_starts, cells, side="right") - 1
    first = layout.cell_starts[sensor]
    where = np.full(layout.size, -1, dtype=np.int64)
    where[first + (cells - first) % layout.sizes[sensor]] = evaluation[of_sensor]
    return where[first_cells]


def _multiplicity(members: Members, variables: int) -> Indices:
    """How many columns are evidence on the same value, for each column; of a tuple, on the most crowded one."""
    scopes = [members.factors.scopes[number].variables for number in members.scope.tolist()]
    column = np.repeat(np.arange(len(scopes)), [len(scope) for scope in scopes])
    position = np.array([v for scope in scopes for v in scope], dtype=np.int64)
    _, which, counts = np.unique(members.row[column] * variables + position, return_inverse=True, return_counts=True)
    crowd = np.ones(len(scopes), dtype=np.int64)
    np.maximum.at(crowd, column, counts[which.ravel()])
    return crowd


def _topology(prepared: Prepared, members: Members, evaluation: Indices) -> tuple[bool, bool]:
    """Whether no evaluation is in two ties, and whether evaluations and ties form no cycle."""
    groups = prepared.groups
    hidden = members.columns >= 0
    shared = np.bincount(members.columns[hidden], minlength=len(evaluation)) > 1
    direct = len(np.unique(evaluation)) == len(evaluation)
    edges = hidden.copy()
    edges[hidden] = ~shared[members.columns[hidden]]  # members that share a column are separate rows, each a leaf
    rows, ties = evaluation[members.columns[edges]], members.factors.factor[edges] + len(groups.component)
    size = len(groups.component) + len(members.factors)
    trees = int(connected_components(rows, ties, size).max(initial=-1)) + 1
    return direct, size - trees == len(rows)

"""One relaxed set of ties: rows are independent given soft evidence on their tied values, passed until it settles.

The engine is given a sensor for each tied variable, with a column for each member; their expected counts are the
marginals that messages are made of. log Z is that of Bethe: exact where rows and ties form no cycle
[yao, proposition 5.1], and where messages have settled its derivative is the expected counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Codes, Indices, Numbers
from credo.io.dataset import Dataset
from credo.model.graphs import connected_components
from credo.model.layout import Layout, Sensor
from credo.statistics.inference.execute import cut_pieces, execute
from credo.statistics.inference.expected_counts import Prepared, expected_cells, impossible_evaluation, prepare
from credo.statistics.ties.factors import Factors, TieError, listed

MOST_ROUNDS = 200
PATIENCE = 10  # rounds without damping
SLOWEST = 0.9  # the rate at which messages are believed to approach their end at least
KEEP = 0.5  # of the old evidence where messages do not settle by themselves
TOLERANCE = 3e-4  # of a marginal, while learning: the likelihood's own error is of its square
FEW = 0.5  # the share of rows below which those are evaluated alone whose evidence moved
TIGHT = 1e-9  # for a likelihood that is reported


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Which column of soft evidence each member of a factor has: its own, or one that many share."""

    factors: Factors
    columns: Indices  # (members,) −1 − x where the value x is observed
    variable: Indices  # (columns,) the position of each
    row: Indices  # (columns,) the row of the engine's table that each is evidence in
    weights: Numbers  # (columns,) of all members that share it


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """What messages settled at."""

    counts: Numbers  # (cells of the network's own tables,) expected
    log_z: float
    evidence: Numbers
    rounds: int
    converged: bool


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """Ties ready to be evaluated under any tables."""

    prepared: Prepared  # only what a tie touches
    rest: Prepared  # what none does
    members: Members
    cells: Indices  # (columns,) the first cell of each
    steps: Indices  # (columns,)
    home: Indices  # (columns,) the evaluation that each is evidence in
    crowd: Indices  # (columns,) how many columns are evidence on the same value
    offsets: Indices  # (columns + 1,)
    states: Indices  # (factors,)
    shares: Numbers  # (members,)
    is_direct: bool  # no component is in two ties: one exchange of messages is all
    is_exact: bool  # rows and ties form no cycle

    def start(self) -> Numbers:
        """Evidence that says nothing."""
        return np.ones(int(self.offsets[-1]))

    def settle(
        self, theta: Numbers, evidence: Numbers, tolerance: float, tilt: Numbers | None = None
    ) -> tuple[Settled, Numbers]:
        """Pass messages on from `evidence` until marginals have no more than `tolerance` to go, in root mean square.

        Rows whose evidence did not move wait. Where few were evaluated since all were, what all expect is corrected for
        those few in the end.

        `tilt` weighs the values of each factor beside what the rows say, (factors, most states); with it the beliefs of
        all factors are given too.
        """
        from credo.kernels.tie_messages import change, compensate, put_off

        full = np.concatenate([theta, np.zeros(self.prepared.layout.size - len(theta))])
        rest, log_rest = expected_cells(self.rest, theta)
        factors, width = self.members.factors, int(self.states.max(initial=1))
        tilt = np.empty((0, width)) if tilt is None else tilt
        beliefs = np.zeros((len(factors) if len(tilt) else 0, width))
        own, moves = np.empty_like(evidence), np.zeros(len(self.cells))
        woken = np.zeros(len(self.prepared.groups.component), dtype=bool)  # evaluations since all of them were
        all_then, evidence_then = self._evaluate(full, evidence, own), evidence
        keep, moved, round, converged = 0.0, np.inf, 0, False
        for round in range(1, MOST_ROUNDS + 1):
            following = np.empty_like(evidence)
            log_factors, nothing = compensate(
                factors.starts, factors.differ, self.states, self.members.columns, factors.weights, self.shares,
                self.offsets, own, tilt, following, beliefs,
            )  # fmt: skip
            if nothing >= 0:
                raise _no_value(self.prepared, factors, int(nothing))
            change(self.offsets, self.crowd, own, evidence, following, keep, moves)
            before, moved = moved, float(np.sqrt(moves @ moves / max(1, len(moves))))
            rate = min(moved / before, SLOWEST)
            enough = tolerance / max(1.0, rate / (1 - rate))
            converged = moved <= enough
            if converged or round == MOST_ROUNDS:
                break
            if round >= PATIENCE and moved > 0.5 * before:
                keep = KEEP
            waking = np.zeros_like(woken)
            waking[self.home[moves > enough]] = True
            if self.is_direct or waking.sum() >= FEW * len(waking):
                evidence, woken[:] = following, False
                all_then, evidence_then = self._evaluate(full, evidence, own), evidence
                if self.is_direct:  # what a member says does not depend on what it is told
                    converged = True
                    break
            else:
                put_off(self.offsets, waking[self.home], evidence, following)
                evidence, woken = following, woken | waking
                self._evaluate(full, evidence, own, waking)
        counts, log_rows = all_then
        if woken.sum() >= FEW * len(woken):
            counts, log_rows = self._evaluate(full, evidence, own)
        elif woken.any():
            counts_then, log_then = self._evaluate(full, evidence_then, np.empty_like(own), woken)
            counts_now, log_now = self._evaluate(full, evidence, own, woken)
            counts, log_rows = counts + (counts_now - counts_then), log_rows + (log_now - log_then)
        log_z = log_rest + log_rows + float(log_factors)
        return Settled(rest + counts[: len(theta)], log_z, following, round, converged), beliefs

    def _evaluate(
        self, full: Numbers, evidence: Numbers, own: Numbers, which: NDArray[np.bool_] | None = None
    ) -> tuple[Numbers, float]:
        """Expected counts and log P of rows under soft evidence, without its scale; `own` is what they say themselves.

        `which` are the evaluations that are made; all where nothing is said.
        """
        from credo.kernels.tie_messages import put_in, take_out

        part = self.prepared if which is None else _chosen(self.prepared, which)
        columns = np.ones(len(self.cells), dtype=bool) if which is None else which[self.home]
        put_in(self.cells, self.steps, self.offsets, evidence, full)
        counts, log_rows, impossible = execute(part.layout, part.groups, part.plans, part.cuts, full)
        if impossible >= 0:
            raise impossible_evaluation(part.layout, part.groups, part.dataset.codes, impossible)
        log_columns = take_out(
            counts, self.cells, self.steps, self.offsets, self.members.weights, evidence, columns, own
        )
        return counts, float(log_rows - log_columns)


def relax(
    count_layout: Layout, codes: Codes, weights: Numbers, members: Members, memory_limit: int | None
) -> Relaxation:
    """The relaxation of ties over rows of an engine's table."""
    layout_sensors, readings, sensor, reading = _sensors(count_layout, len(codes), members)
    dataset = Dataset(count_layout.network.names, codes, weights)
    prepared = prepare(count_layout, dataset, memory_limit, sensors=layout_sensors, readings=readings)
    layout = prepared.layout
    touched = _touched(prepared)
    rest = _chosen(replace(prepared, layout=Layout.of(count_layout.network)), ~touched)
    prepared = _chosen(prepared, touched)
    position = len(count_layout.network) + sensor
    sizes = layout.sizes[members.variable]
    factors = members.factors
    shares = np.ones(len(members.columns))
    hidden = members.columns >= 0
    shares[hidden] = factors.weights[hidden] / members.weights[members.columns[hidden]]
    home = _homes(prepared, layout.cell_starts[position] + reading)
    direct, exact = _shape(prepared, members, home)
    return Relaxation(
        prepared,
        rest,
        members,
        layout.cell_starts[position] + reading,
        layout.sizes[position],
        home,
        _crowd(members, len(count_layout.network)),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        layout.sizes[factors.variable],
        shares,
        direct,
        exact,
    )


def _sensors(count_layout: Layout, rows: int, members: Members) -> tuple[Sequence[Sensor], Codes, Indices, Indices]:
    """Sensors with enough columns, what each row reads from each, and the sensor and the reading of each column.

    A value in several ties has a sensor for each.
    """
    key = members.row * len(count_layout.network) + members.variable
    order = np.argsort(key, kind="stable")
    new = np.concatenate([[True], np.diff(key[order]) != 0]) if len(key) else np.zeros(0, dtype=bool)
    first = np.maximum.accumulate(np.where(new, np.arange(len(key)), 0))
    turn = np.empty_like(key)
    turn[order] = np.arange(len(key)) - first
    kinds, sensor = np.unique(np.column_stack([members.variable, turn]), axis=0, return_inverse=True)
    sensor = sensor.ravel()
    totals = np.bincount(sensor, minlength=len(kinds))
    reading = np.empty(len(key), dtype=np.int64)
    by_sensor = np.argsort(sensor, kind="stable")
    reading[by_sensor] = np.arange(len(key)) - np.repeat(np.cumsum(totals) - totals, totals)
    sensors = [Sensor((count_layout.network.names[v],), int(n)) for (v, _), n in zip(kinds, totals, strict=True)]
    readings = np.full((rows, len(kinds)), -1, dtype=np.int32)
    readings[members.row, sensor] = reading
    return sensors, readings, sensor, reading


def _touched(prepared: Prepared) -> NDArray[np.bool_]:
    """Which evaluations hold a sensor."""
    groups, own_cells = prepared.groups, prepared.layout.cell_starts[len(prepared.layout.network)]
    if not len(groups.component):
        return np.zeros(0, dtype=bool)
    holds: NDArray[np.bool_] = np.maximum.reduceat(groups.cells, groups.cell_starts[:-1]) >= own_cells
    return holds


def _chosen(prepared: Prepared, kept: NDArray[np.bool_]) -> Prepared:
    """The same with some of the evaluations alone."""
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


def _homes(prepared: Prepared, first_cells: Indices) -> Indices:
    """The evaluation of each column, by its first cell."""
    groups, start = prepared.groups, prepared.layout.cell_starts[len(prepared.layout.network)]
    evaluation = np.repeat(np.arange(len(groups.component)), np.diff(groups.cell_starts))
    of_sensor = groups.cells >= start
    where = np.full(prepared.layout.size, -1, dtype=np.int64)
    where[groups.cells[of_sensor]] = evaluation[of_sensor]
    return where[first_cells]


def _crowd(members: Members, variables: int) -> Indices:
    _, which, counts = np.unique(members.row * variables + members.variable, return_inverse=True, return_counts=True)
    crowd: Indices = counts[which].astype(np.int64)
    return crowd


def _shape(prepared: Prepared, members: Members, home: Indices) -> tuple[bool, bool]:
    """Whether no evaluation is in two ties, and whether evaluations and ties form no cycle."""
    groups = prepared.groups
    hidden = members.columns >= 0
    shared = np.bincount(members.columns[hidden], minlength=len(home)) > 1
    direct = len(np.unique(home)) == len(home)
    edges = hidden.copy()
    edges[hidden] = ~shared[members.columns[hidden]]  # members that share a column are rows of their own, each a leaf
    rows, ties = home[members.columns[edges]], members.factors.factor[edges] + len(groups.component)
    size = len(groups.component) + len(members.factors)
    trees = int(connected_components(rows, ties, size).max(initial=-1)) + 1
    return direct, size - trees == len(rows)


def _no_value(prepared: Prepared, factors: Factors, factor: int) -> TieError:
    name = prepared.layout.network.names[factors.variable[factor]]
    rows = factors.rows[factors.starts[factor] : factors.starts[factor + 1]]
    said = "differ in" if factors.differ[factor] else "share"
    return TieError(
        f"Rows {listed(rows)} are to {said} {name}, but the network gives probability zero to all values with which "
        "they would.",
        (rows + 1).tolist(),
    )

"""Probabilities of many events at once, and the derivatives of a weighted sum of them with respect to all CPTs.

An event allows some variables some of their states. It is a row of data: what has one state is observed, what has
several is seen through a sensor that tells that it is one of these, and all else is missing. So P(event) is a product
of complete families and of components of hidden variables, as in EM, and the same compiled programs compute it; events
share the components that look the same. With S = Σ w P(event), the expected counts of rows with the weights w·P(event)
are ∂S/∂log θ, so one pass backward gives all derivatives, however many events there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

import numpy as np

from credo.core.elimination import Evaluator
from credo.model.graphs import ancestors
from credo.model.layout import Layout, Sensor
from credo.model.network import Network
from credo.statistics.inference.components import Groups, group_rows
from credo.statistics.inference.elimination import Plans, make_plans, visited_cells
from credo.types import MISSING, Codes, Indices, Numbers

LEAST = 1e-260  # stands for zero in derivatives, so that a sum that is linear in a zero has its slope there
Allowed = tuple[tuple[str, tuple[int, ...]], ...]  # variables and the positions of the states that they may have


@dataclass(frozen=True, eq=False)
class EventSums:
    """Events as rows over the variables that matter to them."""

    size: int  # of vectors with all parameters that are learned
    layout: Layout  # of the variables that matter, and of the sensors
    known: Numbers  # its cells, for CPTs that are not learned and for sensors
    learned: Indices  # the cells of CPTs that are learned,
    addresses: Indices  # and their parameters
    groups: Groups  # with weights that change from call to call
    plans: Plans
    parts: Indices  # the evaluations that events are products of,
    part_events: Indices  # and the event of each
    cells: Indices  # the same for cells of complete families
    cell_events: Indices
    count: int

    @classmethod
    def of(
        cls, events: Sequence[Allowed], learned: Layout, network: Network, memory_limit: int | None = None
    ) -> EventSums:
        """Events in a network whose CPTs have, where they are learned, the addresses of `learned`."""
        own = _network_of(events, network)
        codes, sensors, tables = _rows(events, own)
        layout = Layout.of(own, sensors=sensors)
        together = [name for name in layout.own_names if name in learned]
        known = {name: network.cpt_array(name) for name in own.names if name not in learned}
        groups = group_rows(layout, codes)
        groups = replace(groups, weights=np.zeros(len(groups.component)))
        lengths = np.diff(groups.part_starts)[groups.distinct]
        part_events = np.repeat(np.arange(len(events)), lengths)
        within = np.arange(len(part_events)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        cells, cell_events = _complete_cells(layout, codes)
        return cls(
            learned.size,
            layout,
            layout.pack(known, tables, missing=np.nan),
            _numbers(layout.slice_of(name) for name in together),
            _numbers(learned.slice_of(name) for name in together),
            groups,
            make_plans(layout, groups, memory_limit),
            groups.parts[groups.part_starts[groups.distinct][part_events] + within],
            part_events,
            cells,
            cell_events,
            len(events),
        )

    def __len__(self) -> int:
        return self.count

    @property
    def visited(self) -> float:
        """How many cells of cliques all events visit together."""
        return float(visited_cells(self.groups, self.plans).sum())

    @cached_property
    def _evaluator(self) -> tuple[Evaluator, Lock]:
        return Evaluator(self.groups, self.plans), Lock()

    def values(self, theta: Numbers) -> Numbers:
        """P(event) of every event, (events,)."""
        return np.asarray(np.exp(self._logs(self._cells(theta))))

    def slope(self, theta: Numbers, weights: Numbers) -> Numbers:
        """The derivatives of Σ weights · P(event) with respect to all parameters, (parameters,)."""
        own = np.maximum(self._cells(theta), LEAST)
        shares = weights * np.exp(self._logs(own))
        counts: Numbers = np.bincount(self.cells, shares[self.cell_events], len(own)).astype(np.float64)
        evaluator, lock = self._evaluator
        with lock:
            self.groups.weights[:] = np.bincount(self.parts, shares[self.part_events], len(self.groups.weights))
            evaluator.expect(own, 0, len(self.groups.weights), counts)
        slopes = counts[self.learned] / own[self.learned]
        return np.asarray(np.bincount(self.addresses, slopes, self.size))

    def _cells(self, theta: Numbers) -> Numbers:
        cells = self.known.copy()
        cells[self.learned] = theta[self.addresses]
        return cells

    def _logs(self, cells: Numbers) -> Numbers:
        """log P(event) of every event, (events,)."""
        found = np.empty(len(self.groups.weights))
        evaluator, lock = self._evaluator
        with lock:
            evaluator.log_sums(cells, found)
        with np.errstate(divide="ignore"):
            complete = np.log(cells[self.cells])
        logs = np.bincount(self.part_events, found[self.parts], self.count)
        return np.asarray(logs + np.bincount(self.cell_events, complete, self.count))


def _numbers(slices: Iterable[slice]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(each.start, each.stop) for each in slices)])


def _network_of(events: Sequence[Allowed], network: Network) -> Network:
    """The variables that events name, and their ancestors: the probabilities of all others sum to one."""
    needed = ancestors(network.parents, {name for event in events for name, _ in event}) or {network.order[0]}
    if len(needed) == len(network):
        return network
    return Network(
        [variable for variable in network.variables if variable.name in needed],
        {name: network.parents[name] for name in network.names if name in needed},
        shared={name: owner for name, owner in network.shared.items() if {name, owner} <= needed},
    )


def _rows(events: Sequence[Allowed], network: Network) -> tuple[Codes, tuple[Sensor, ...], list[Numbers]]:
    """Each event as a row; the sensors that tell of several states, and their CPTs."""
    columns: dict[str, dict[tuple[int, ...], int]] = {}
    for name, states in (each for event in events for each in event):
        if len(states) != 1:
            own = columns.setdefault(name, {})
            own.setdefault(states, len(own))
    places = {name: len(network) + number for number, name in enumerate(columns)}
    positions = {name: number for number, name in enumerate(network.names)}
    codes = np.full((len(events), len(network) + len(columns)), MISSING, dtype=np.int64)
    for row, event in enumerate(events):
        for name, states in event:
            if len(states) == 1:
                codes[row, positions[name]] = states[0]
            else:
                codes[row, places[name]] = columns[name][states]
    tables = []
    for name, own in columns.items():
        table = np.zeros((len(network.states(name)), len(own)))
        for states, column in own.items():
            table[list(states), column] = 1.0
        tables.append(table)
    return codes, tuple(Sensor((name,), len(own)) for name, own in columns.items()), tables


def _complete_cells(layout: Layout, codes: Codes) -> tuple[Indices, Indices]:
    """The cells of families of which every member is observed, and the row of each."""
    cells, rows = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for first, start, end in zip(
        layout.first_cells[:-1], layout.member_starts[:-1], layout.member_starts[1:], strict=True
    ):
        seen = codes[:, layout.members[start:end]]
        own = np.flatnonzero((seen != MISSING).all(axis=1))
        cells.append(first + seen[own] @ layout.strides[start:end])
        rows.append(own)
    return np.concatenate(cells), np.concatenate(rows)

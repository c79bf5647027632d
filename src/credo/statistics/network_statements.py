"""Values and derivatives of statements about any probability of the network.

A probability P(x | e) is N/D with N = P(x, e) and D = P(e), sums over all variables that are not named. N and D are
multilinear in the CPTs: for one CPT θ, with the others fixed,

    N = Σ_jk θ_jk · ∂N/∂θ_jk.

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

from credo.constraints.constraint_set import Constraints, NetworkConstraint, NetworkProbability
from credo.core.elimination import Evaluator
from credo.model.graphs import ancestors, reached_families
from credo.model.layout import Layout, Sensor
from credo.model.network import Network
from credo.statistics.inference.components import Groups, group_rows
from credo.statistics.inference.elimination import Plans, make_plans, visited_cells
from credo.tolerances import EQUALITY_SHARE, EQUALITY_WIDTH
from credo.types import MISSING, Codes, Flags, Indices, Numbers

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


IMPOSSIBLE = 1e-250  # a condition less probable than this never occurs: nothing contradicts a statement about it
NO_CONDITION = -1
POINTS_AT_ONCE = 4096  # at which statements are evaluated
HOLDS = 1e-12  # by which sums of probabilities may miss a bound, in units of `sizes`


@dataclass(frozen=True, eq=False)
class NetworkStatements:
    """All network constraints of a knowledge as arrays; term t is coefficients[t] · sum[above[t]] / sum[below[t]]."""

    layout: Layout
    network: Network  # with the CPTs that the layout does not have
    constraints: tuple[NetworkConstraint, ...]
    sums: EventSums  # the probabilities N and D of all terms
    owners: Indices  # (terms,) the constraint of each
    coefficients: Numbers  # (terms,)
    above: Indices  # (terms,)
    below: Indices  # (terms,) −1: no condition
    reached: tuple[frozenset[str], ...]  # whose CPTs matter to each constraint, among those of the layout

    @classmethod
    def of(cls, constraints: Constraints, network: Network, memory_limit: int | None = None) -> NetworkStatements:
        """The network constraints of a knowledge, planned for evaluation; `network` is the expanded one."""
        stated = constraints.network_constraints
        numbers: dict[Allowed, int] = {}
        owners, coefficients, above, below = [], [], [], []
        for owner, constraint in enumerate(stated):
            for coefficient, term in constraint.terms:
                owners.append(owner)
                coefficients.append(coefficient)
                above.append(numbers.setdefault(_together(term), len(numbers)))
                condition = _allowed(term.conditions)
                below.append(numbers.setdefault(condition, len(numbers)) if condition else NO_CONDITION)
        layout = constraints.layout
        reached = tuple(
            frozenset(name for name in relevant_families(network, each) if name in layout)
            | {layout.locate(index)[0] for index in each.indices}
            for each in stated
        )
        return cls(
            layout,
            network,
            stated,
            EventSums.of(tuple(numbers), layout, network, memory_limit),
            np.array(owners, dtype=np.int64),
            np.array(coefficients, dtype=np.float64),
            np.array(above, dtype=np.int64),
            np.array(below, dtype=np.int64),
            reached,
        )

    def __len__(self) -> int:
        return len(self.constraints)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """Whose CPTs matter to any constraint, among those of the layout."""
        found = frozenset[str]().union(*self.reached)
        return tuple(name for name in self.layout.names if name in found)

    @cached_property
    def mask(self) -> Flags:
        """Which parameters matter to each constraint, (constraints, parameters)."""
        found = np.zeros((len(self), self.layout.size), dtype=np.bool_)
        for own, names in zip(found, self.reached, strict=True):
            for name in names:
                own[self.layout.slice_of(name)] = True
        return found

    @cached_property
    def bounds(self) -> Numbers:
        """The bound of each constraint."""
        return np.array([each.bound for each in self.constraints], dtype=np.float64)

    @cached_property
    def equality(self) -> Flags:
        """Which constraints are equalities."""
        return np.array([each.equality for each in self.constraints], dtype=np.bool_)

    @cached_property
    def sizes(self) -> Numbers:
        """The unit in which tolerances are: the bound on small probabilities, if nothing is subtracted; else 1."""
        return np.array([size_of(each) for each in self.constraints], dtype=np.float64)

    @cached_property
    def confidences(self) -> Numbers:
        """The confidence of each constraint, NaN where it is hard."""
        return np.array([np.nan if each.confidence is None else each.confidence for each in self.constraints])

    @property
    def hard(self) -> Flags:
        """Which constraints have no confidence."""
        return np.isnan(self.confidences)

    @cached_property
    def statements(self) -> Indices:
        """The statement of each constraint."""
        return np.array([each.statement for each in self.constraints], dtype=np.int64)

    @cached_property
    def scales(self) -> Numbers:
        """What the numbers of each constraint were divided by."""
        return np.array([each.scale for each in self.constraints], dtype=np.float64)

    @cached_property
    def entries(self) -> tuple[Indices, Indices, Numbers]:
        """Single parameters in the constraints: the constraint, the parameter and the coefficient of each."""
        found = [
            (owner, index, coefficient)
            for owner, each in enumerate(self.constraints)
            for index, coefficient in zip(each.indices, each.coefficients, strict=True)
        ]
        owners = np.array([owner for owner, _, _ in found], dtype=np.int64)
        columns = np.array([index for _, index, _ in found], dtype=np.int64)
        return owners, columns, np.array([coefficient for _, _, coefficient in found], dtype=np.float64)

    # Values ----------------------------------------------------------------------------------------------------------

    def sums_of(self, thetas: Numbers) -> Numbers:
        """The probabilities that terms are made of at many points, (points, parameters): (points, sums)."""
        found = np.empty((len(thetas), len(self.sums)))
        for own, theta in zip(found, thetas, strict=True):
            own[:] = self.sums.values(theta)
        return found

    def values_at(self, theta: Numbers) -> Numbers:
        """Σ … − bound of every constraint at one point."""
        return self.values_from(self.sums.values(theta), theta)

    def values_from(self, sums: Numbers, theta: Numbers) -> Numbers:
        """Σ … − bound of every constraint; NaN where a condition never occurs. Sums and θ may have a batch in front."""
        return self._sides(self.coefficients, self.entries[2], sums, theta) - self.bounds

    def _sides(self, of_terms: Numbers, of_entries: Numbers, sums: Numbers, theta: Numbers) -> Numbers:
        """Σ … of every constraint, with these coefficients."""
        parts = of_terms * sums[..., self.above]
        given = np.flatnonzero(self.below >= 0)
        if len(given):
            condition = sums[..., self.below[given]]
            parts[..., given] /= np.where(condition > IMPOSSIBLE, condition, np.nan)
        owners, columns, _ = self.entries
        found = _sums_by(self.owners, parts, len(self))
        return found + _sums_by(owners, of_entries * theta[..., columns], len(self)) if len(owners) else found

    def excess(self, theta: Numbers) -> Numbers:
        """By how much each constraint is violated, in probabilities; negative where it holds."""
        return _excess(self.values_at(theta), self.equality)

    def distances(self, thetas: Numbers, numbers: Sequence[int]) -> Numbers:
        """How far these statements are from true at many points, (statements, points): 0 to 1 where they are true.

        That is how many of its widths an equality is missed by, on the scale of logarithms, with a sign where the
        statement is that alone; ∞ where something is violated that is no equality.
        """
        found = np.empty((len(numbers), len(thetas)))
        for first in range(0, len(thetas), POINTS_AT_ONCE):
            own = thetas[first : first + POINTS_AT_ONCE]
            sums = self.sums_of(own)
            values = self.values_from(sums, own)
            larger, widths = self.larger_sides(values, own, sums), self.drawn_widths(values, own, sums)
            distance = np.where(self.drawn_excess(own, sums) <= 0.0, 0.0, np.inf)
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = -np.log1p(-np.abs(values) / larger)  # |log l − log r|
                scaled = logs * np.where(self.compared, larger, np.abs(self.bounds)) / widths
            distance = np.where(self.equality & np.isfinite(scaled), scaled, distance)
            for place, number in enumerate(numbers):
                chosen = np.flatnonzero(self.statements == number)
                found[place, first : first + len(own)] = distance[:, chosen].max(axis=1)
                if len(chosen) == 1:
                    found[place, first : first + len(own)] *= np.where(values[:, chosen[0]] < 0.0, -1.0, 1.0)
        return found

    def drawn_excess(self, theta: Numbers, sums: Numbers | None = None) -> Numbers:
        """By how much draws violate each constraint, equalities read with their width; negative where they hold.

        The width is 0.002, but no more than a hundredth of the larger side. Both may have a batch in front.
        """
        sums = self.sums.values(theta) if sums is None else sums
        values = self.values_from(sums, theta)
        return np.asarray(_excess(values, self.equality) - self.drawn_widths(values, theta, sums) - HOLDS * self.sizes)

    def drawn_widths(self, values: Numbers, theta: Numbers, sums: Numbers) -> Numbers:
        """The width of each equality where constraints have these values; 0 of inequalities."""
        if not self.compared.any():
            return np.broadcast_to(self.equality_widths, values.shape)
        narrow = np.minimum(EQUALITY_WIDTH, EQUALITY_SHARE * self.larger_sides(values, theta, sums))
        return np.where(self.compared, narrow, self.equality_widths)

    def larger_sides(self, values: Numbers, theta: Numbers, sums: Numbers) -> Numbers:
        """The larger side of each constraint, written with positive coefficients and numbers alone."""
        positive = np.maximum(self.coefficients, 0.0), np.maximum(self.entries[2], 0.0)
        left = np.nan_to_num(self._sides(*positive, sums, theta) + np.maximum(-self.bounds, 0.0))
        return np.maximum(left, left - np.nan_to_num(values))

    @cached_property
    def equality_widths(self) -> Numbers:
        """The width of each equality; of those with a probability on both sides that at most."""
        return np.minimum(EQUALITY_WIDTH, EQUALITY_SHARE * self.sizes) * self.equality

    @cached_property
    def compared(self) -> Flags:
        """Which equalities have probabilities on both sides."""
        sides = [
            {coefficient > 0.0 for coefficient in (*(value for value, _ in each.terms), *each.coefficients)}
            for each in self.constraints
        ]
        return self.equality & np.array([len(own) == 2 for own in sides], dtype=np.bool_)

    def soft_cost(self, values: Numbers, weight: float) -> float:
        """(W/2)·C·violation² of all soft constraints, at these values."""
        soft = ~self.hard
        if not weight > 0.0 or not soft.any():
            return 0.0
        missed = np.maximum(_excess(values, self.equality)[soft], 0.0)
        return 0.5 * weight * float(self.confidences[soft] @ missed**2)

    def weights_of_sums(self, sums: Numbers, weights: Numbers) -> Numbers:
        """The derivatives of Σ weights · constraints with respect to the sums, (sums,).

        Of a bound on one conditional probability, N/D ≤ c, it is the derivative of (N − c·D)/D⁰, which is exact for
        changes of one CPT. Where a condition never occurs they are zero.
        """
        given = self.below >= 0
        condition = np.where(given, sums[self.below], 1.0)
        own = weights[self.owners] * self.coefficients
        own = np.divide(own, condition, out=np.zeros_like(own), where=condition > IMPOSSIBLE)
        ratio = np.where(
            self._single[self.owners],
            self.bounds[self.owners] / self.coefficients,
            np.divide(sums[self.above], condition, out=np.zeros_like(own), where=condition > IMPOSSIBLE),
        )
        found = np.bincount(self.above, own, len(self.sums))
        return np.asarray(found - np.bincount(self.below[given], (own * ratio)[given], len(self.sums)))

    @cached_property
    def _single(self) -> Flags:
        """Which constraints bound one probability, and nothing beside it."""
        single = np.bincount(self.owners, minlength=len(self)) == 1
        return np.asarray(single & np.array([not each.indices for each in self.constraints], dtype=np.bool_))

    def slope(self, theta: Numbers, weights: Numbers) -> Numbers:
        """The derivatives of Σ weights · constraints with respect to all parameters, (parameters,).

        Those of bounds on one conditional probability are as `weights_of_sums` says.
        """
        sums = self.sums.values(theta)
        kept = np.where(np.isnan(self.values_from(sums, theta)), 0.0, weights)
        owners, columns, coefficients = self.entries
        found = self.sums.slope(theta, self.weights_of_sums(sums, kept))
        return np.asarray(found + np.bincount(columns, kept[owners] * coefficients, len(theta)))

    def linearised(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """The values of all constraints and their derivatives, (constraints, parameters); see `slope`.

        Where a condition never occurs, values are NaN and derivatives zero; they are zero for CPTs that do not matter.
        """
        found = np.array([self.slope(theta, own) for own in np.eye(len(self))]).reshape(len(self), self.layout.size)
        found[~self.mask] = 0.0
        return self.values_at(theta), found


def excesses_of(values: Numbers, equality: Flags) -> Numbers:
    """By how much constraints are violated at these values, −∞ where a condition never occurs."""
    return _excess(values, equality)


def size_of(constraint: NetworkConstraint) -> float:
    """The number of a constraint where it is small and nothing is subtracted; else 1."""
    coefficients = [*(coefficient for coefficient, _ in constraint.terms), *constraint.coefficients]
    if all(coefficient * constraint.bound > 0.0 for coefficient in coefficients):
        return min(1.0, abs(constraint.bound))
    return 1.0


def _sums_by(owners: Indices, values: Numbers, count: int) -> Numbers:
    """The sum of what each owner has, (…, owners)."""
    if values.ndim == 1:
        return np.asarray(np.bincount(owners, values, count), dtype=np.float64)
    points = int(np.prod(values.shape[:-1]))
    places = owners + count * np.arange(points)[:, None]
    found: Numbers = np.bincount(places.ravel(), values.ravel(), points * count).astype(np.float64, copy=False)
    return found.reshape(*values.shape[:-1], count)


def _excess(values: Numbers, equality: Flags) -> Numbers:
    excess = np.where(equality, np.abs(values), values)
    return np.asarray(np.where(np.isnan(excess), -np.inf, excess), dtype=np.float64)


# Sums -----------------------------------------------------------------------------------------------------------------


def _allowed(parts: Iterable[tuple[str, tuple[int, ...]]]) -> Allowed:
    return tuple(sorted(parts))


def _together(term: NetworkProbability) -> Allowed:
    return _allowed((*term.events, *term.conditions))


def relevant_families(network: Network, constraint: NetworkConstraint) -> set[str]:
    """The variables whose CPTs can change a term: of the others, descendants of nothing named or d-separated.

    In the CPTs of what is named and of all ancestors, those that hang together with an event through variables that are
    not known make up P(events | conditions).
    """
    found: set[str] = set()
    for _, term in constraint.terms:
        known = {name for name, states in term.conditions if len(states) == 1}
        events = [name for name, _ in term.events]
        named = [*events, *(name for name, _ in term.conditions)]
        found |= reached_families(network.parents, events, named, known)
    return found

"""Expected counts of incomplete data and their log-likelihood: prepared once per dataset, evaluated once per iteration.

    log L(θ) = Σ_families Σ_cells N log θ  +  Σ_evaluations w log Z(θ)

The first sum is over complete families, counted once; the second over the distinct evaluations of components.
The derivative with respect to log θ is the expected count of each cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from credo.errors import DataError, ImpossibleRowError
from credo.io.dataset import Dataset
from credo.model.layout import Layout, Sensor
from credo.statistics.counts import Counts, count
from credo.statistics.inference.components import Groups, group_rows
from credo.statistics.inference.elimination import Plans, cut_pieces, execute, make_plans
from credo.statistics.inference.expected_counts_of_parts import PreparedParts
from credo.types import Codes, Flags, Indices, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """All that does not change while CPTs are learned."""

    dataset: Dataset
    count_layout: Layout
    layout: Layout
    groups: Groups
    plans: Plans
    cuts: Indices  # (pieces + 1,) evaluations that are summed together
    observed: Counts  # of complete families
    observed_cells: Indices  # where in the layout these were counted,
    observed_counts: Numbers  # and how often

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to expect: no row has a missing value that matters."""
        return not len(self.groups.component)

    @property
    def seen(self) -> Flags:
        """Which variables some row observes, (variables,)."""
        seen: Flags = np.any(self.dataset.codes >= 0, axis=0) | bool(self.dataset.counted)
        return seen

    @property
    def identity(self) -> Any:
        """What the rows are, for checkpoints."""
        return self.dataset.codes, self.dataset.weights, *(each.dense for each in self.dataset.counted)

    def evaluate(self, theta: Numbers, backward: bool = True) -> tuple[Numbers, float, ImpossibleRowError | None]:
        """Expected counts of incomplete families, their log-likelihood, and why that is minus infinity."""
        counts, log_likelihood, impossible = execute(
            self.layout, self.groups, self.plans, self.cuts, theta, backward=backward
        )
        if impossible < 0:
            return counts, log_likelihood, None
        return counts, log_likelihood, impossible_evaluation(self.layout, self.groups, self.dataset.codes, impossible)

    def first_with(self, theta: Numbers) -> ImpossibleRowError:
        """The error for the first row with a complete family of probability zero."""
        return _impossible_family(self, theta)

    def barren(self) -> dict[str, float]:
        """The weight of the rows that say nothing about a variable's table; variables without such are left out."""
        pairs = zip(self.layout.network.names, self.groups.barren, strict=False)  # sensors are never barren
        return {name: float(weight) for name, weight in pairs if weight}


PreparedRows = Prepared | PreparedParts


def prepare(
    count_layout: Layout,
    dataset: Dataset,
    memory_limit: int | None = None,
    *,
    sensors: Sequence[Sensor] = (),
    readings: Codes | None = None,  # (rows, sensors)
    asked: int = -1,
) -> Prepared:
    """Count what is observed, group what is not, and plan how to sum over it.

    `sensors` are observed children beside the network, `asked` is the one whose evaluation each row is asked for.
    """
    layout = Layout.of(count_layout.network, sensors=sensors)
    codes = dataset.codes if readings is None else np.hstack([dataset.codes, readings])
    groups = group_rows(layout, codes, dataset.weights, asked + len(count_layout.network) if asked >= 0 else -1)
    plans = make_plans(layout, groups, memory_limit)
    observed = count(count_layout, dataset)
    cells, counts = cells_of_counts(layout, observed)
    return Prepared(
        dataset, count_layout, layout, groups, plans, cut_pieces(layout, groups, plans), observed, cells, counts
    )


def has_data(prepared: PreparedRows) -> bool:
    """Whether some value of a row with weight is there."""
    return bool(len(prepared.observed_cells)) or not prepared.is_complete


def require_data(prepared: PreparedRows) -> None:
    """Refuse data from which nothing can be learned."""
    if not has_data(prepared):
        raise DataError("There is nothing to learn from: every value is missing, or every weight is zero.")


def expected_counts(prepared: PreparedRows, cpts: Mapping[str, Any]) -> tuple[Counts, float]:
    """The expected counts of all families under these CPTs, and the log-likelihood of the data."""
    counts, log_likelihood = expected_cells(prepared, prepared.layout.pack(cpts))
    return as_counts(prepared, counts), log_likelihood


def expected_cells(prepared: PreparedRows, theta: Numbers) -> tuple[Numbers, float]:
    """The same with all CPTs in one array, and all counts in one with the same layout."""
    own = theta[prepared.observed_cells]
    if not own.all():
        raise prepared.first_with(theta)
    counts, log_likelihood, impossible = prepared.evaluate(theta)
    if impossible is not None:
        raise impossible
    counts[prepared.observed_cells] += prepared.observed_counts
    return counts, log_likelihood + float(np.log(own) @ prepared.observed_counts)


def log_likelihood_of(prepared: PreparedRows, theta: Numbers) -> float:
    """The log-likelihood alone; minus infinity where a row is impossible."""
    own = theta[prepared.observed_cells]
    if not own.all():
        return -inf
    _, log_likelihood, impossible = prepared.evaluate(theta, backward=False)
    if impossible is not None:
        return -inf
    return log_likelihood + float(np.log(own) @ prepared.observed_counts)


def as_counts(prepared: PreparedRows, cells: Numbers) -> Counts:
    """Counts that merge with others: dense families as they lie, sparse ones as the cells that are not zero.

    No family counts as incomplete: what was missing is expected now, or was barren (`Prepared.barren`).
    """
    count_layout, observed = prepared.count_layout, prepared.observed
    cells = cells.view()
    cells.flags.writeable = False  # an M-step that changed them would change what the next step starts from
    parts = {name: cells[prepared.layout.slice_of(name)] for name in count_layout.left_out}
    sparse = {name: (np.flatnonzero(part), part[part != 0]) for name, part in parts.items()}
    if sparse:
        own = (cells[prepared.layout.slice_of(name)] for name in count_layout.own_names)
        cells = np.concatenate([np.zeros(0), *own])
    return Counts(count_layout, cells, sparse, np.zeros(len(count_layout.network)), observed.total, observed.rows)


def impossible_evaluation(layout: Layout, groups: Groups, codes: Any, evaluation: int) -> ImpossibleRowError:
    """The error for an evaluation of probability zero: its first row, and the values that it saw."""
    row = int(groups.rows[evaluation])
    seen: dict[int, None] = {}
    for family in groups.families(int(groups.component[evaluation])):
        for member in layout.members[layout.member_starts[family] : layout.member_starts[family + 1]]:
            seen[int(member)] = None
    variables = layout.network.variables
    known = [v for v in sorted(seen) if v < len(variables) and codes[row, v] >= 0]
    values = [f"{variables[v].name}={variables[v].states[codes[row, v]]}" for v in known]
    return ImpossibleRowError(row + 1, values or ["the soft evidence"])


def _impossible_family(prepared: Prepared, theta: Numbers) -> ImpossibleRowError:
    """The error for a complete family of probability zero: the first such row."""
    layout = prepared.layout
    found: list[tuple[int, list[str]]] = []
    for cell in prepared.observed_cells[theta[prepared.observed_cells] == 0].tolist():
        matches, states = rows_with_cell(layout, prepared.dataset, cell)
        variables = [(layout.network.variables[member], state) for member, state in states.items()]
        values = [f"{variable.name}={variable.states[state]}" for variable, state in variables]
        found.append((int(np.argmax(matches)) + 1, values))
    return ImpossibleRowError(*min(found))


def cells_of_counts(layout: Layout, observed: Counts) -> tuple[Indices, Numbers]:
    """The cells that were counted, and their counts."""
    cells, counts = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for name in layout.own_names:
        start = layout.slice_of(name).start
        if name in observed.layout.offsets:
            table = observed.of(name).ravel()
            keys = np.flatnonzero(table)
            values = table[keys]
        else:
            keys, values = observed.sparse[name]
        cells.append(start + keys)
        counts.append(values)
    return np.concatenate(cells), np.concatenate(counts)


def rows_with_cell(layout: Layout, dataset: Dataset, cell: int) -> tuple[Flags, dict[int, int]]:
    """Which rows have a cell of a complete family; and the states of its variables, by their positions.

    Where families share a CPT, it is the first of them that some row has in this cell.
    """
    owner = int(np.searchsorted(layout.cell_starts, cell, side="right")) - 1
    first = int(layout.first_cells[owner])
    for family in [owner, *(f for f in np.flatnonzero(layout.first_cells[:-1] == first).tolist() if f != owner)]:
        rest, matches = cell - first, np.ones(len(dataset), dtype=np.bool_)
        states: dict[int, int] = {}
        for i in range(layout.member_starts[family], layout.member_starts[family + 1]):
            state, rest = divmod(rest, int(layout.strides[i]))
            states[int(layout.members[i])] = state
            matches &= dataset.codes[:, layout.members[i]] == state
        if dataset.weights is not None:
            matches &= dataset.weights > 0
        if matches.any():
            break
    return matches, states

"""The probability of each state of a variable in each row, given the values of the row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import ImpossibleRowError
from credo.io.dataset import Dataset, extended
from credo.io.number_columns import NumbersSeen, merged, warn_outside
from credo.io.tables import stream_table
from credo.model.expansion import expand
from credo.model.layout import Layout, Sensor
from credo.model.network import Network
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.elimination import cut_pieces
from credo.statistics.inference.expected_counts import Prepared, expected_cells, prepare
from credo.statistics.soft_evidence import likelihoods_of, likelihoods_of_rows, require_as_many
from credo.types import Indices, Numbers, SoftRows, TableLike

if TYPE_CHECKING:
    import polars as pl


def predict(network: Network, data: TableLike, name: str, soft: SoftRows | None = None) -> pl.DataFrame:
    """P(name | values of the row): a row for each row of the data, a column `name=state` for each state.

    `soft` is soft evidence: for each state of a variable the likelihood of what was seen, one number for all rows or a
    list with one for each row. A value of the row itself is certain.
    """
    import polars as pl

    probabilities = probabilities_of(network, data, name, soft)
    return pl.DataFrame({f"{name}={state}": probabilities[:, k] for k, state in enumerate(network.states(name))})


def probabilities_of(network: Network, data: TableLike, name: str, soft: SoftRows | None = None) -> Numbers:
    """The same as an array, (rows, states)."""
    network.variable(name)
    likelihoods = likelihoods_of(network, soft, rows=True)
    expanded = expand(network).network
    count_layout = layout_for_counts(expanded)
    parts, done = [], 0
    numbers: dict[str, NumbersSeen] = {}
    for part in stream_table(network, data):
        numbers = merged([numbers, part.numbers])
        part = extended(part, expanded)
        own = {key: likelihoods_of_rows(values, done, len(part)) for key, values in likelihoods.items()}
        if all(len(values) == len(part) for values in own.values()):
            parts.append(posterior(count_layout, part, name, own, rows_before=done))
        done += len(part)
    warn_outside(network, numbers)
    for key, values in likelihoods.items():
        require_as_many(key, values, done)
    return np.concatenate(parts)


def posterior(
    count_layout: Layout,
    dataset: Dataset,
    name: str | tuple[str, ...],
    soft: Mapping[str, Numbers] | Mapping[str | tuple[str, ...], Numbers],
    memory_limit: int | None = None,
    rows_before: int = 0,
) -> Numbers:
    """The same for rows of state numbers, as an array (rows, states).

    `soft` has likelihoods (rows, states) of a variable, or of a tuple of variables, the last one varying fastest. A
    tuple can be asked for too, where all its variables are missing in all rows.
    """
    network = count_layout.network
    names = (name,) if isinstance(name, str) else name
    sensors, readings, likelihood_columns = [], [], []
    for key, likelihoods in soft.items():
        distinct, which = np.unique(likelihoods, axis=0, return_inverse=True)
        sensors.append(Sensor((key,) if isinstance(key, str) else key, len(distinct)))
        readings.append(which.ravel())
        likelihood_columns.append(np.ascontiguousarray(distinct.T))
        if isinstance(key, str):
            _check_observed(network, dataset, key, likelihoods, rows_before)
    sensors.append(Sensor(names))
    readings.append(np.zeros(len(dataset), dtype=np.int64))
    most = max(sensor.states for sensor in sensors)
    fits = most - 1 <= np.iinfo(dataset.codes.dtype).max
    codes = np.column_stack(readings).astype(dataset.codes.dtype if fits else np.int32)
    unweighted = replace(dataset, weights=None)
    prepared = prepare(count_layout, unweighted, memory_limit, sensors=sensors, readings=codes, asked=len(sensors) - 1)
    asked = np.unique(prepared.groups.answers[prepared.groups.answers >= 0])
    prepared, answers = _own_cells(prepared, asked)
    theta = prepared.layout.pack(network.cpts, [*likelihood_columns, np.ones(answers.stop - answers.start)])
    try:
        counts, _ = expected_cells(prepared, theta)
    except ImpossibleRowError as error:
        raise error.later(rows_before) from None
    states = prod(len(network.states(each)) for each in names)
    found = counts[answers].reshape(-1, states)[: len(asked)] / prepared.groups.weights[asked, None]

    probabilities = np.zeros((len(dataset), states))
    column = dataset.codes[:, network.names.index(names[0])]
    observed, missing = np.flatnonzero(column >= 0), np.flatnonzero(column < 0)
    probabilities[observed, column[observed]] = 1.0
    probabilities[missing] = found[np.searchsorted(asked, prepared.groups.answers[missing])]
    return probabilities


def _own_cells(prepared: Prepared, asked: Indices) -> tuple[Prepared, slice]:
    """Give the query cells of its own in each evaluation, so that their expected counts are its answer."""
    layout, groups = prepared.layout, prepared.groups
    first = int(layout.cell_starts[-2])
    states = int(layout.cell_starts[-1]) - first
    cells, offsets = groups.cells.copy(), layout.cell_starts.copy()
    # The query is the last family of the layout, so the last of each component that contains it.
    cells[groups.cell_starts[asked + 1] - 1] = first + states * np.arange(len(asked))
    offsets[-1] = first + states * max(1, len(asked))
    wider, asking = replace(layout, cell_starts=offsets), replace(groups, cells=cells)
    cuts = cut_pieces(wider, asking, prepared.plans)
    return replace(prepared, layout=wider, groups=asking, cuts=cuts), slice(first, int(offsets[-1]))


def _check_observed(network: Network, dataset: Dataset, name: str, likelihoods: Numbers, before: int) -> None:
    """Raise if a row holds a value that the soft evidence on it excludes."""
    column = dataset.codes[:, network.names.index(name)]
    rows = np.flatnonzero(column >= 0)
    impossible = likelihoods[rows, column[rows]] == 0
    if impossible.any():
        row = int(rows[np.argmax(impossible)])
        state = network.states(name)[column[row]]
        raise ImpossibleRowError(before + row + 1, [f"{name}={state} with the soft evidence on {name}"])

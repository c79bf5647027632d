"""How probable each state of a variable is in each row, given what the row holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Numbers
from credo.errors import DataError, ImpossibleRowError, OptionError
from credo.io.dataset import Dataset, extended
from credo.io.tables import stream_table
from credo.model.expansion import expand
from credo.model.layout import Layout, Sensor
from credo.model.network import Network
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.execute import cut_pieces
from credo.statistics.inference.expected_counts import Prepared, expected_cells, prepare

if TYPE_CHECKING:
    import polars as pl

Soft = Mapping[str, Any]


def predict(
    network: Network, data: Any, name: str, soft: Soft | None = None, memory_limit: int | None = None
) -> pl.DataFrame:
    """P(name | what the row holds): a row for each row of the table, a column `name=state` for each state.

    `soft` gives evidence that is not certain: for a variable the likelihood of what was seen under each of its
    states, one list for all rows or one for each. A value that the row itself holds is certain.
    """
    import polars as pl

    states, soft = network.states(name), soft or {}
    whole = expand(network).network
    count_layout = layout_for_counts(whole)
    parts, done = [], 0
    for part in stream_table(data, network):
        part = extended(part, whole)
        likelihoods = {key: _likelihoods(network, key, soft[key], done, len(part)) for key in soft}
        parts.append(posterior(count_layout, part, name, likelihoods, memory_limit, done))
        done += len(part)
    for key, values in soft.items():
        if np.ndim(values) == 2 and len(values) != done:
            raise DataError(f"There are {done} rows but {len(values)} likelihoods for {key}: one list a row is needed.")
    table = np.concatenate(parts)
    return pl.DataFrame({f"{name}={state}": table[:, k] for k, state in enumerate(states)})


def posterior(
    count_layout: Layout,
    dataset: Dataset,
    name: str,
    soft: Mapping[str, Numbers],
    memory_limit: int | None = None,
    rows_before: int = 0,
) -> Numbers:
    """The same for rows of state numbers, (rows, states); `soft` has likelihoods (rows, states)."""
    network = count_layout.network
    target = network.names.index(name)
    sensors, readings, tables = [], [], []
    for key, likelihoods in soft.items():
        distinct, which = np.unique(likelihoods, axis=0, return_inverse=True)
        sensors.append(Sensor((key,), len(distinct)))
        readings.append(which.ravel())
        tables.append(np.ascontiguousarray(distinct.T))
        _check_seen(network, dataset, key, likelihoods, rows_before)
    sensors.append(Sensor((name,)))
    readings.append(np.zeros(len(dataset), dtype=np.int64))
    most = max(sensor.states for sensor in sensors)
    fits = most - 1 <= np.iinfo(dataset.codes.dtype).max
    codes = np.column_stack(readings).astype(dataset.codes.dtype if fits else np.int32)
    unweighted = replace(dataset, weights=None)
    prepared = prepare(count_layout, unweighted, memory_limit, sensors=sensors, readings=codes, asked=len(sensors) - 1)
    asked = np.unique(prepared.groups.answers[prepared.groups.answers >= 0])
    prepared, answers = _own_cells(prepared, asked)
    theta = prepared.layout.pack(network.cpts, [*tables, np.ones(answers.stop - answers.start)])
    try:
        counts, _ = expected_cells(prepared, theta)
    except ImpossibleRowError as error:
        raise error.later(rows_before) from None
    states = len(network.states(name))
    found = counts[answers].reshape(-1, states)[: len(asked)] / prepared.groups.weights[asked, None]

    table = np.zeros((len(dataset), states))
    column = dataset.codes[:, target]
    known, gaps = np.flatnonzero(column >= 0), np.flatnonzero(column < 0)
    table[known, column[known]] = 1.0
    table[gaps] = found[np.searchsorted(asked, prepared.groups.answers[gaps])]
    return table


def _own_cells(prepared: Prepared, asked: NDArray[np.int64]) -> tuple[Prepared, slice]:
    """Give the question cells of its own in each evaluation, so that what is expected there is the answer there."""
    layout, groups = prepared.layout, prepared.groups
    first = int(layout.cell_starts[-2])
    states = int(layout.cell_starts[-1]) - first
    cells, offsets = groups.cells.copy(), layout.cell_starts.copy()
    # The question is the last family of the layout, so the last of each component that holds it.
    cells[groups.cell_starts[asked + 1] - 1] = first + states * np.arange(len(asked))
    offsets[-1] = first + states * max(1, len(asked))
    wider, asking = replace(layout, cell_starts=offsets), replace(groups, cells=cells)
    cuts = cut_pieces(wider, asking, prepared.plans)
    return replace(prepared, layout=wider, groups=asking, cuts=cuts), slice(first, int(offsets[-1]))


def _likelihoods(network: Network, name: str, values: Any, before: int, rows: int) -> Numbers:
    """Likelihoods of this part of the table, (rows, states)."""
    states = len(network.states(name))
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"The soft evidence on {name} is not made of numbers.") from None
    if numbers.ndim not in (1, 2) or numbers.shape[-1] != states:
        raise OptionError(
            f"Soft evidence on {name} is {states} numbers, one a state, or such a list for each row; "
            f"its shape is {numbers.shape}."
        )
    if not (np.isfinite(numbers).all() and (numbers >= 0).all() and numbers.any(axis=-1).all()):
        raise OptionError(f"Soft evidence on {name} is made of numbers that are not negative, not all of them zero.")
    if numbers.ndim == 1:
        return np.broadcast_to(numbers, (rows, states))
    if len(numbers) < before + rows:
        raise DataError(f"There are more rows than likelihoods for {name} ({len(numbers)}): one list a row is needed.")
    return numbers[before : before + rows]


def _check_seen(network: Network, dataset: Dataset, name: str, likelihoods: Numbers, before: int) -> None:
    """A value that a row holds must be possible under the soft evidence on it."""
    column = dataset.codes[:, network.names.index(name)]
    rows = np.flatnonzero(column >= 0)
    impossible = likelihoods[rows, column[rows]] == 0
    if impossible.any():
        row = int(rows[np.argmax(impossible)])
        state = network.states(name)[column[row]]
        raise ImpossibleRowError(before + row + 1, [f"{name}={state} with the soft evidence on {name}"])

"""Rows that a saved fit keeps, because counts are not enough to update it: those with missing values, and tied ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.io.dataset import Dataset, code_type
from credo.io.number_columns import NumbersSeen
from credo.model.network import Network
from credo.saving.archive import Archive
from credo.saving.records import damaged
from credo.statistics.counts import Counts
from credo.types import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """A dataset as a file holds it: the variables are those of the network, the columns of ties are texts."""

    codes: NDArray[np.int32]
    weights: Numbers | None
    hidden: tuple[str, ...]
    others: Mapping[str, tuple[str | None, ...]]
    numbers: Mapping[str, NumbersSeen]
    counted: tuple[Counts, ...]


def kept_rows(dataset: Dataset) -> KeptRows:
    """The rows of a dataset, ready to be written."""
    others = {str(name): tuple(_text(value) for value in column.to_list()) for name, column in dataset.others.items()}
    codes = dataset.codes.astype(np.int32)
    return KeptRows(codes, dataset.weights, dataset.hidden, others, dataset.numbers, dataset.counted)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def rows_of(archive: Archive, kept: KeptRows, network: Network) -> Dataset:
    """The dataset of rows that were read from a file; those of an expanded network are cut back to this one."""
    import polars as pl

    def require(condition: object, problem: str) -> None:
        if not condition:
            raise damaged(archive, "rows", problem)

    require(kept.codes.ndim == 2 and kept.codes.shape[1] >= len(network), "they have other columns")
    codes = np.ascontiguousarray(kept.codes[:, : len(network)])
    sizes = np.array([len(variable.states) for variable in network.variables])
    require((codes >= -1).all() and (codes < sizes).all(), "a value is not a state")
    require(all(len(column) == len(codes) for column in kept.others.values()), "a column has another length")
    others = {name: pl.Series(name, column, dtype=pl.String) for name, column in kept.others.items()}
    return Dataset(
        network.names,
        codes.astype(code_type(network)),
        kept.weights,
        tuple(name for name in kept.hidden if name in network),
        others,
        variables=network.variables,
        numbers=kept.numbers,
        counted=kept.counted,
    )

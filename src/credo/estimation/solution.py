"""What every estimator returns: tables, how it ended, and what a reader should know about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Numbers
from credo.errors import Status, closest
from credo.estimation.solvers.certificate import Certificate
from credo.findings import Finding
from credo.io.dataset import Dataset
from credo.model.network import Network
from credo.statistics.counts import Counts


class Uncertainty(Protocol):
    """How sure each number is, from a method that samples."""

    @property
    def deviations(self) -> Mapping[str, Numbers]:
        """The standard deviation of each number of each table, (parents…, child)."""

    def interval(self, name: str, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """The ends of the central credible interval of each number of a table."""


@dataclass(frozen=True, slots=True)
class TiedLikelihood:
    """How likely the data are given the ties between their rows."""

    value: float  # log P(data | ties), also where ties were merged to learn
    is_exact: bool  # rows and ties form no cycle, and the messages between them settled
    settled: bool


@dataclass(frozen=True, slots=True)
class Solution:
    """Tables (parents…, child), the status, and what is to be said about one estimation."""

    cpts: Mapping[str, Numbers]
    status: Status
    findings: tuple[Finding, ...] = ()
    certificate: Certificate | None = None
    multipliers: Mapping[int, float] = field(default_factory=dict)  # statement → log-likelihood per unit of its bound
    posterior: Uncertainty | None = None
    log_likelihood: float | None = None  # of what was observed, where rows have gaps
    history: tuple[float, ...] = ()  # the objective after each iteration
    tied: TiedLikelihood | None = None
    expected: Counts | None = None  # what EM counted last, where rows have gaps or ties


def rows_without_data(network: Network, name: str, rows: NDArray[np.int64], instead: str) -> Finding:
    """The finding that some parent configurations were never seen, each by name."""
    configurations = tuple(network.configuration(name, int(row)) for row in rows)
    if not network.parents[name]:
        return Finding("no data", f"{name}: there are no data; {instead} was taken.", name, configurations)
    message = (
        f"{name}: {len(rows)} of {network.configurations(name)} configurations of its parents have no data; "
        f"{instead} was taken for:"
    )
    return Finding("no data", message, name, configurations)


def rows_without_probability(network: Network, counts: Counts, names: Iterable[str]) -> list[Finding]:
    """The findings that tables give probability zero to what the data hold; only tables that were kept can do so."""
    findings = []
    for name in names:
        seen = counts.of(name)
        impossible = (seen > 0) & (network.cpt_array(name).reshape(seen.shape) == 0)
        if impossible.any():
            cells = ", ".join(network.describe(name, int(row), int(state)) for row, state in np.argwhere(impossible))
            message = f"{name}: the table that was kept gives probability zero to what the data hold: {cells} = 0."
            findings.append(Finding("impossible data", message, name))
    return findings


def hidden_findings(dataset: Dataset) -> list[Finding]:
    """The findings that variables have no column; a column of a similar name that is not used may be a slip."""
    findings = []
    for name in dataset.hidden:
        near = closest(name, dataset.ignored)
        hint = f" The column “{near}”, which is not used, has a similar name: rename it if it is meant." if near else ""
        findings.append(Finding("hidden", f"{name} has no column in the data: it is taken as hidden.{hint}", name))
    return findings

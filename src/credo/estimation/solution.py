"""What every estimator returns: CPTs, how the estimation ended, and what a user should know about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import Constraints
from credo.constraints.violations import excess_by_statement
from credo.errors import Status, closest, counted
from credo.estimation.solvers.certificate import Certificate
from credo.findings import Finding
from credo.io.dataset import Dataset
from credo.io.number_columns import NumbersSeen, outside_messages
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.types import Numbers

UNIFORM = "the uniform distribution"


class Uncertainty(Protocol):
    """How uncertain each probability is, from a method that samples.

    Attributes
    ----------
    deviations
        The standard deviation of each probability: an array for each CPT, with axes (parents…, child).
    """

    @property
    def deviations(self) -> Mapping[str, Numbers]:
        """The standard deviation of each probability: an array for each CPT, with axes (parents…, child)."""

    def interval(self, name: str, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """The ends of the central credible interval of each probability of a CPT.

        Parameters
        ----------
        name
            The variable, or a small CPT of a noisy family.
        level
            The probability with which each interval contains the true value.

        Returns
        -------
        tuple of ndarray
            The lower and the upper ends, with axes (parents…, child).
        """


@dataclass(frozen=True, slots=True)
class TiedLikelihood:
    """How likely the data are given the ties between their rows.

    Attributes
    ----------
    value
        log P(data | ties), also where ties were merged to learn.
    is_exact
        Whether rows and ties form no cycle, and the messages between them converged.
    converged
        Whether the messages between tied rows converged.
    correction
        What the exact logarithm has beyond `value`; None where it is not known.
    correction_error
        The standard error of this estimate.
    """

    value: float
    is_exact: bool
    converged: bool
    correction: float | None = None
    correction_error: float = 0.0


@dataclass(frozen=True, slots=True)
class Solution:
    """CPTs with axes (parents…, child), the status, and what a user should know about one estimation."""

    cpts: Mapping[str, Numbers]
    status: Status
    findings: tuple[Finding, ...] = ()
    certificate: Certificate | None = None
    multipliers: Mapping[int, float] = field(default_factory=dict)  # statement → log-likelihood per unit of its bound
    posterior: Uncertainty | None = None
    log_likelihood: float | None = None  # of what was observed, where rows are incomplete
    history: tuple[float, ...] = ()  # the objective after each iteration
    tied: TiedLikelihood | None = None
    soft_weight: float | None = None  # W of soft statements, where it was chosen
    expected: Counts | None = None  # of EM's last E-step, where rows are incomplete or tied
    no_interval: str = ""  # why the draws of `posterior` do not show how sure each number is; empty where they do


def where(network: Network, block: Block) -> str:
    """The distributions of a block in words, by the first of them."""
    first, others = network.describe(*block.configurations[0]), len(block.configurations) - 1
    linked = f" and {counted(others, 'linked distribution')}" if others else ""
    return f"{first}{linked}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Configurations(Sequence[Mapping[str, str]]):
    """Configurations of a variable's parents by number, each put into words when it is asked for."""

    network: Network
    name: str
    numbers: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(self.network.configuration(self.name, number) for number in self.numbers[place])
        return self.network.configuration(self.name, self.numbers[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self))


def no_data_finding(network: Network, name: str, configurations: Iterable[int], instead: str) -> Finding:
    """The finding that some configurations of a variable's parents were never seen, each by name."""
    unseen = _Configurations(network, name, tuple(map(int, configurations)))
    if not network.parents[name]:
        return Finding("no data", f"{name}: there are no data; {instead} was taken.", name, unseen)
    message = (
        f"{name}: {len(unseen)} of {network.configurations(name)} configurations of its parents have no data; "
        f"{instead} was taken for:"
    )
    return Finding("no data", message, name, unseen)


def no_data_findings(
    network: Network,
    names: Iterable[str],
    unseen: Mapping[str, Collection[int]],
    constrained: Mapping[str, Collection[int]],
    instead: str,
) -> Iterator[Finding]:
    """The same for several variables: the uniform distribution, or something else where constraints refer to them."""
    for name in names:
        inside = set(constrained.get(name, ()))
        outside = set(unseen.get(name, ())) - inside
        if outside:
            yield no_data_finding(network, name, sorted(outside), UNIFORM)
        if inside:
            yield no_data_finding(network, name, sorted(inside), instead)


def impossible_data_findings(network: Network, counts: Counts, names: Iterable[str]) -> list[Finding]:
    """The findings that CPTs which were kept give probability zero to data."""
    findings = []
    for name in names:
        seen = counts.of(name)
        impossible = (seen > 0) & (network.cpt_array(name).reshape(seen.shape) == 0)
        if impossible.any():
            cells = ", ".join(network.describe(name, int(at), int(state)) for at, state in np.argwhere(impossible))
            message = f"{name}: the CPT that was kept gives probability zero to what the data contain: {cells} = 0."
            findings.append(Finding("impossible data", message, name))
    return findings


def violated_findings(constraints: Constraints, theta: Numbers) -> list[Finding]:
    """The finding that CPTs violate statements without a confidence, and which of them most."""
    excesses = excess_by_statement(constraints, theta, hard_only=True)
    violated = {number: excess for number, excess in excesses.items() if excess.is_violated}
    if not violated:
        return []
    worst = max(violated, key=lambda number: violated[number].scaled)
    subject = "1 statement is" if len(violated) == 1 else f"{len(violated)} statements are"
    most = "It is" if len(violated) == 1 else "Most of all, it is"
    message = (
        f"{subject} not satisfied. {most} statement {worst + 1}, missed by {violated[worst].amount:.3g}; "
        "fit.violations() lists all."
    )
    return [Finding("violated", message)]


def outside_findings(network: Network, numbers: Mapping[str, NumbersSeen]) -> list[Finding]:
    """The findings that numbers lie outside of the range that was seen before."""
    messages = outside_messages(network, numbers)
    return [Finding("outside range", message, name) for name, message in messages.items()]


def hidden_findings(dataset: Dataset) -> list[Finding]:
    """The findings that variables have no column; a column of a similar name that is not used may be a slip."""
    findings = []
    for name in dataset.hidden:
        near = closest(name, dataset.ignored)
        hint = f" The column “{near}”, which is not used, has a similar name: rename it if it is meant." if near else ""
        findings.append(Finding("hidden", f"{name} has no column in the data: it is taken as hidden.{hint}", name))
    return findings

"""The constrained log-likelihood of tied rows, log P(data | ties) = log P(data, ties) − log P(ties) [yao, eq. 3].

Both terms are relaxed sets of ties: one over the rows of the data, one over rows without values. Their expected
counts, N1 and N2, are the derivatives with respect to log θ [yao, eq. 5]; without ties N2 is zero and N1 are the
expected counts of EM. That is right for rows that were drawn until they agreed (`TieReading.SELECTED`). Rows that
were drawn first, and found to agree later, are `JOINT`: the first term alone. `MERGED` ties are one draw for all their
members instead of several that happen to agree: one term again, and the CPT of the tied variable counts once per tie
[shental et al., 2003].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo.constraints.constraint_set import RowTie
from credo.errors import OptionError
from credo.io.dataset import Dataset
from credo.model.graphs import connected_components
from credo.model.layout import Layout
from credo.model.network import Network
from credo.options import TieReading
from credo.statistics.inference.expected_counts import Prepared, prepare
from credo.statistics.ties.factors import Factors, factors_of, joined
from credo.statistics.ties.loop_correction import Correction, loop_correction
from credo.statistics.ties.relaxation import TIGHT, Members, Relaxation, relax
from credo.types import Indices, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """The result of one evaluation."""

    seen: Numbers  # N1, the expected counts given data and ties
    chance: Numbers  # N2, the expected counts given the ties alone
    log_likelihood: float  # log P(data | ties), or as `reading` defines it
    evidence: Numbers  # messages that the next evaluation may start from
    rounds: int  # of messages
    converged: bool


@dataclass(frozen=True, slots=True)
class TieFigures:
    """How many values are tied into how many shared ones, and how many pairs of rows differ."""

    values: int
    shared: int
    pairs: int

    def __add__(self, other: TieFigures) -> TieFigures:
        return TieFigures(self.values + other.values, self.shared + other.shared, self.pairs + other.pairs)


@dataclass(frozen=True, slots=True, eq=False)
class TiedData:
    """Rows and their ties, ready to be evaluated under any CPTs."""

    prepared: Prepared  # the rows with the values that ties reveal, without the ties
    factors: Factors  # each over one variable; relaxations join those of the same rows
    seen: Relaxation
    chance: Relaxation | None  # only where rows are conditioned on their ties
    reading: TieReading = TieReading.SELECTED

    @property
    def is_exact(self) -> bool:
        """Whether the likelihood is exact once messages have converged."""
        return self.seen.is_exact and (self.chance is None or self.chance.is_exact)

    @property
    def parts(self) -> tuple[Prepared, ...]:
        """All evaluations: of rows with a tied value that is hidden, of other incomplete rows, of ties without data."""
        chance = () if self.chance is None else (self.chance.prepared,)
        return self.seen.prepared, self.seen.rest, *chance

    @property
    def is_conditioned(self) -> bool:
        """Whether the probability of the ties is divided out."""
        return self.chance is not None

    @property
    def figures(self) -> TieFigures:
        """How many ties there are."""
        pairs = int(self.factors.differ.sum())
        values = int(np.diff(self.factors.starts)[~self.factors.differ].sum())
        return TieFigures(values, len(self.factors) - pairs, pairs)

    def start(self) -> Numbers:
        """Uninformative messages to start from."""
        terms = [self.seen] if self.chance is None else [self.seen, self.chance]
        return np.concatenate([term.start() for term in terms])

    def expected(self, theta: Numbers, evidence: Numbers, tolerance: float = TIGHT) -> Expected:
        """Expected counts and the constrained log-likelihood under CPTs; messages start from `evidence`."""
        if self.reading is TieReading.MERGED:
            return self._merged(theta, evidence, tolerance)
        cut = int(self.seen.offsets[-1])
        seen, _ = self.seen.propagate(theta, evidence[:cut], tolerance)
        if self.chance is None:
            nothing = np.zeros_like(seen.counts)
            return Expected(seen.counts, nothing, seen.log_z, seen.evidence, seen.rounds, seen.converged)
        chance, _ = self.chance.propagate(theta, evidence[cut:], tolerance)
        return Expected(
            seen.counts,
            chance.counts,
            seen.log_z - chance.log_z,
            np.concatenate([seen.evidence, chance.evidence]),
            max(seen.rounds, chance.rounds),
            seen.converged and chance.converged,
        )

    def correction(self, theta: Numbers, seed: int = 0) -> Correction | None:
        """What the exact logarithm has beyond that of converged messages; None where that is not known."""
        seen = loop_correction(self.seen, theta, self.seen.start(), seed)
        if seen is None or self.chance is None:
            return seen
        chance = loop_correction(self.chance, theta, self.chance.start(), seed)
        return None if chance is None else seen.less(chance)

    def _merged(self, theta: Numbers, evidence: Numbers, tolerance: float) -> Expected:
        """Each tie counts the CPTs of its variables once: P(x) is divided out for all members but one."""
        factors, layout = self.seen.members.factors, self.prepared.layout
        width = int(self.seen.states.max(initial=1))
        members = factors.totals
        logs, parts = np.full((len(factors), width), -np.inf), []
        for number, scope in enumerate(factors.scopes):
            of = np.flatnonzero(factors.scope == number)
            if not len(of):
                continue  # all values of these ties are known
            cells = layout.first_cells[list(scope.variables)] + scope.digits(layout.sizes)  # (states, variables)
            own = theta[cells]
            with np.errstate(divide="ignore", invalid="ignore"):
                # A value of probability zero stays impossible, though it is divided out more often than multiplied.
                joint = np.where((own > 0).all(axis=1), (1 - members[of])[:, None] * np.log(own).sum(axis=1), -np.inf)
            logs[of, : len(cells)] = joint
            parts.append((of, cells))
        scales = logs.max(axis=1, initial=-np.inf)
        ended, marginals = self.seen.propagate(theta, evidence, tolerance, np.exp(logs - scales[:, None]))
        counts = ended.counts.copy()
        for of, cells in parts:
            copies = (members[of] - 1) @ marginals[of, : len(cells)]
            np.add.at(counts, cells, -np.repeat(copies[:, None], cells.shape[1], axis=1))
        known_cells, known_copies = self.revealed_copies()
        np.add.at(counts, known_cells, -known_copies)
        revealed = float(-known_copies @ np.log(theta[known_cells]))
        nothing = np.zeros_like(counts)
        log_likelihood = ended.log_z + float(scales.sum()) + revealed
        return Expected(counts, nothing, log_likelihood, ended.evidence, ended.rounds, ended.converged)

    def revealed_copies(self) -> tuple[Indices, Numbers]:
        """The cells of values that ties reveal, and how many copies of each there are beside the one that counts."""
        factors = self.factors
        if not len(factors):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        states = self.prepared.dataset.codes[factors.rows[factors.starts[:-1]], factors.variable]
        known = (states >= 0) & ~factors.differ
        cells = (self.prepared.layout.first_cells[factors.variable] + states)[known]
        return cells, (factors.totals - 1)[known]


def tie_rows(
    count_layout: Layout,
    ties: Sequence[RowTie],
    dataset: Dataset,
    *,
    reading: TieReading = TieReading.SELECTED,
    memory_limit: int | None = None,
) -> TiedData:
    """Prepare the likelihood of rows with these ties, once for any CPTs."""
    network, reading = count_layout.network, TieReading(reading)
    factors, revealed = factors_of(network, ties, dataset)
    if reading is TieReading.MERGED:
        _refuse_to_merge(network, factors)
    weights = np.ones(len(revealed)) if revealed.weights is None else revealed.weights
    prepared = prepare(count_layout, revealed, memory_limit)
    seen = relax(count_layout, revealed.codes, weights, _own_columns(network, factors, revealed), memory_limit)
    chance = None
    if reading is TieReading.SELECTED:
        members, rows, row_weights = _chance_columns(network, joined(factors, network))
        nothing = np.full((rows, len(network)), -1, dtype=revealed.codes.dtype)
        chance = relax(count_layout, nothing, row_weights, members, memory_limit)
    return TiedData(prepared, factors, seen, chance, reading)


def _own_columns(network: Network, factors: Factors, dataset: Dataset) -> Members:
    """A column of evidence for each member with a hidden value; ties whose values are all known need none."""
    values = dataset.codes[factors.rows, factors.variable[factors.factor]]
    hidden = np.zeros(len(factors), dtype=bool)
    hidden[factors.factor[values < 0]] = True
    own_factors = joined(factors.chosen(hidden), network)
    scope = own_factors.scope[own_factors.factor]
    known = np.empty(len(scope), dtype=np.int64)  # the state of the tuple; −1 where not all of it is
    for number, each in enumerate(own_factors.scopes):
        at = np.flatnonzero(scope == number)
        codes = dataset.codes[own_factors.rows[at]][:, list(each.variables)].astype(np.int64)
        state = np.zeros(len(at), dtype=np.int64)
        for k, position in enumerate(each.variables):
            state = state * len(network.variables[position].states) + codes[:, k]
        known[at] = np.where((codes >= 0).all(axis=1), state, -1)
    own = known < 0
    columns = np.where(own, np.cumsum(own) - 1, -1 - known)
    return Members(own_factors, columns, scope[own], own_factors.rows[own], own_factors.weights[own])


def _chance_columns(network: Network, factors: Factors) -> tuple[Members, int, Numbers]:
    """Columns of evidence over rows without values, how many such rows there are, and their weights.

    Tied values of a row that have no ancestor in common are independent, and become rows of their own. A value that is
    alone in its row has the same distribution as any other of its variable, so that all such members share a column.
    """
    scope, key = _same_variables(factors)[factors.factor], _clusters(network, factors)
    _, cluster, sizes = np.unique(key, return_inverse=True, return_counts=True)
    alone = sizes[cluster] == 1
    label = np.where(alone, scope, len(factors.scopes) + cluster)  # of the row
    labels, row = np.unique(label, return_inverse=True)
    columns = np.empty(len(row), dtype=np.int64)
    columns[~alone] = np.arange(int((~alone).sum()))
    shared, place = np.unique(scope[alone], return_inverse=True)
    columns[alone] = int((~alone).sum()) + place
    count = int((~alone).sum()) + len(shared)
    weights: Numbers = np.bincount(columns, factors.weights, minlength=count).astype(np.float64)
    first = np.empty(count, dtype=np.int64)
    first[columns[::-1]] = np.arange(len(columns))[::-1]
    row_weights = np.zeros(len(labels))
    row_weights[row] = factors.weights  # a row keeps its weight,
    row_weights[row[alone]] = weights[columns[alone]]  # and a shared one has that of all members that share it
    return Members(factors, columns, scope[first], row[first].astype(np.int64), weights), len(labels), row_weights


def _clusters(network: Network, factors: Factors) -> Indices:
    """A number for each member, equal for members of one row whose variables have an ancestor in common."""
    scope = factors.scope[factors.factor]
    roots = _ancestors(network)
    node, at = [], []
    for number, each in enumerate(factors.scopes):
        mine = np.flatnonzero(scope == number)
        for ancestor in sorted({ancestor for position in each.variables for ancestor in roots[position]}):
            node.append(factors.rows[mine] * len(network) + ancestor)
            at.append(mine)
    if not node:
        return np.zeros(0, dtype=np.int64)
    _, meeting = np.unique(np.concatenate(node), return_inverse=True)
    member = np.concatenate(at)
    size = len(scope) + int(meeting.max()) + 1
    return connected_components(member, len(scope) + meeting, size)[: len(scope)]


def _same_variables(factors: Factors) -> Indices:
    """The first scope with the same variables as that of each factor, whether its rows share them or differ."""
    first: dict[tuple[int, ...], int] = {}
    for number, scope in enumerate(factors.scopes):
        first.setdefault(scope.variables, number)
    return np.array([first[scope.variables] for scope in factors.scopes], dtype=np.int64)[factors.scope]


def _ancestors(network: Network) -> list[list[int]]:
    """The ancestors of each variable and itself, by position."""
    position = {name: i for i, name in enumerate(network.names)}
    found: dict[str, set[int]] = {}
    for name in network.order:
        found[name] = {position[name]}.union(*(found[parent] for parent in network.parents[name]))
    return [sorted(found[name]) for name in network.names]


def _refuse_to_merge(network: Network, factors: Factors) -> None:
    for position in np.unique(factors.variable).tolist():
        name = network.names[position]
        if network.parents[name]:
            raise OptionError(
                f"Merged ties are one draw for several rows, which is not defined where {name} depends on "
                f"{', '.join(network.parents[name])}: the rows may differ in them. Choose another tie_reading."
            )
    if factors.differ.any():
        raise OptionError("Rows that differ cannot be merged. Choose another tie_reading.")

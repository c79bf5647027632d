"""Statements about a probability that depends on several CPTs, compared with a share of the rows.

`P(lung=yes | smoke=yes)` is the share of rows with lung=yes among those with smoke=yes, whatever other parents lung
has. Counts of a family show that share where all the variables belong to it. Before the data every share is as probable
as any other; after them it has a Beta distribution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from credo.constraints.constraint_set import Constraints
from credo.constraints.probability_ranges import Range, ranges_of
from credo.explain.beta_probabilities import interval_probability
from credo.explain.plausibility import Plausibility, ProbabilityEstimate
from credo.knowledge import Knowledge
from credo.knowledge.expressions import Probability
from credo.knowledge.query import query_of
from credo.statistics.counts import Counts
from credo.tolerances import EQUALITY_WIDTH

NEGLIGIBLE = 1e-6  # rows, by their weights, that are rounding


@dataclass(frozen=True, slots=True)
class RowShare:
    """How many of the rows with what is given show the event of a statement, and how plausible that makes it."""

    probability: Probability
    family: str  # the variable whose family was counted
    hits: float
    rows: float
    plausibility: Plausibility


def row_shares(knowledge: Knowledge, constraints: Constraints, counts: Counts) -> dict[int, RowShare]:
    """The share of rows for each statement, by number, that bounds one probability which depends on several CPTs."""
    found = {}
    for number in (*(each.statement for each in constraints.unlowered), *constraints.network_statements):
        ranges = ranges_of(knowledge.statements[number], knowledge.network)
        if len(ranges) == 1:
            ((probability, allowed),) = ranges.items()
            share = _share(probability, allowed, counts)
            if share is not None:
                found[number] = share
    return found


def _share(probability: Probability, allowed: Range, counts: Counts) -> RowShare | None:
    """None where no family has all the variables, or no row shows what is given."""
    network = counts.layout.network
    asked = query_of(probability)
    events, given = asked.targets, asked.evidence
    wanted = {*events, *given}
    if probability.each or probability.alone or not wanted <= set(network.names):
        return None
    families = [name for name in counts.layout.names if wanted <= {name, *network.parents[name]}]
    if not families:
        return None
    missing = counts.missing()
    family = min(families, key=lambda name: missing.get(name, 0.0))
    members = (*network.parents[family], family)
    table = counts.of(family).reshape([len(network.states(name)) for name in members])
    rows = _count(table, members, given, counts)
    hits = _count(table, members, {**given, **events}, counts)
    if not rows > 0.0:
        return None
    return RowShare(probability, family, hits, rows, _plausibility(allowed, hits, rows))


def _count(table: np.ndarray, members: tuple[str, ...], chosen: Mapping[str, tuple[str, ...]], counts: Counts) -> float:
    """The rows in which the chosen variables have one of their states."""
    network = counts.layout.network
    places = [
        [network.states(name).index(state) for state in chosen.get(name, network.states(name))] for name in members
    ]
    return float(table[np.ix_(*places)].sum())


def _plausibility(allowed: Range, hits: float, rows: float) -> Plausibility:
    low, high = allowed
    tolerance = None
    if high <= 0.0 or low >= 1.0:
        tolerance = EQUALITY_WIDTH
    elif low == high:
        tolerance = min(EQUALITY_WIDTH, low, 1.0 - low)
    if tolerance is not None:
        low, high = low - tolerance, high + tolerance
    before = interval_probability((1.0, 1.0), low, high)
    is_refuted = (allowed[1] <= 0.0 and hits > NEGLIGIBLE) or (allowed[0] >= 1.0 and rows - hits > NEGLIGIBLE)
    after = 0.0 if is_refuted else interval_probability((hits + 1.0, max(rows - hits, 0.0) + 1.0), low, high)
    return Plausibility(
        ProbabilityEstimate(before, 0.0, is_exact=True),
        ProbabilityEstimate(after, 0.0, is_exact=True),
        after / before if before > 0.0 else None,
        False,
        tolerance,
    )

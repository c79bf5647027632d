"""How far an expert's numbers count, where the expert may be wrong.

The n_ej cases that expert e's number of distribution j is worth count as w_e·n_ej. There is one weight w_e for all
numbers of an expert, out of `GRID`: before anything is known it is 1 with the expert's reliability, and each of the
others is equally probable. With d_j cases that were seen there, by rows or in studies,

    P(w | d)  ∝  Π_e π_e(w_e) · Π_j B(½ + Σ_e w_e n_ej + d_j) / Π_ej B(½ + w_e n_ej),

B(x) = Π_k Γ(x_k) / Γ(Σ_k x_k): the marginal likelihood of Dirichlet distributions, in closed form. Experts who disagree
with rows, or with each other, lose weight. The mean of w_e is the weight that their numbers have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from credo.constraints.evidence import Cases, CountEvidence, EvidenceRecord
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.statistics.pooling import log_beta
from credo.types import Numbers

GRID = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.0)  # weights that an expert's numbers may have
MOST_COMBINATIONS = 50_000  # of weights of experts with numbers of the same distributions: else fewer weights each
BASE = 0.5  # cases of each state, before anything is known [Jeffreys]

Place = tuple[object, ...]  # a distribution: a variable, a configuration, and how its states are put together


@dataclass(frozen=True, slots=True)
class DoubtedNumbers:
    """Whose numbers may be wrong.

    Attributes
    ----------
    expert_of
        The expert of each statement that may be wrong, by the number of the statement.
    reliabilities
        How probable it is, before anything is known, that an expert's numbers have their full weight.
    """

    expert_of: Mapping[int, str] = field(default_factory=dict)
    reliabilities: Mapping[str, float] = field(default_factory=dict)


def expert_weights(
    records: Sequence[EvidenceRecord], doubted: DoubtedNumbers, counts: Counts, network: Network
) -> dict[str, float]:
    """The mean weight of each expert whose numbers may be wrong, given counts of rows and what is certain."""
    own: dict[str, dict[Place, Numbers]] = {name: {} for name in dict.fromkeys(doubted.expert_of.values())}
    seen: dict[Place, Numbers] = {}
    for record in records:
        found = _distribution(record, network)
        if found is None:
            continue
        place, cases = found
        name = doubted.expert_of.get(record.statement)
        target = seen if name is None else own[name]
        target[place] = target.get(place, 0.0) + cases
    for place in {place for numbers in own.values() for place in numbers}:
        variable, configuration, groups = place
        rows = counts.configuration(str(variable), int(configuration))  # type: ignore[call-overload]
        seen[place] = seen.get(place, 0.0) + np.array([rows[list(group)].sum() for group in groups])  # type: ignore[attr-defined]
    weights: dict[str, float] = {}
    for group in _who_share(own):
        weights |= _mean_weights({name: own[name] for name in group}, doubted.reliabilities, seen)
    return weights


def weighed(
    records: Sequence[EvidenceRecord], doubted: DoubtedNumbers, weights: Mapping[str, float]
) -> tuple[EvidenceRecord, ...]:
    """The records with the cases of experts who may be wrong multiplied by their weights."""
    return tuple(_weighed(each, weights.get(doubted.expert_of.get(each.statement, ""), 1.0)) for each in records)


def _weighed(record: EvidenceRecord, weight: float) -> EvidenceRecord:
    if weight == 1.0 or not isinstance(record, Cases | CountEvidence):
        return record
    return replace(record, counts=tuple(weight * count for count in record.counts))


def _distribution(record: EvidenceRecord, network: Network) -> tuple[Place, Numbers] | None:
    """The distribution of a CPT that cases are of, with the cases; None for any other probability."""
    if isinstance(record, Cases):
        groups = tuple((k,) for k in range(len(record.counts)))
        return (record.variable, record.configuration, groups), np.array(record.counts)
    if not isinstance(record, CountEvidence) or record.variation is not None or record.is_learned:
        return None
    events, conditions = [each.events for each in record.probabilities], record.probabilities[0].conditions
    if any(len(each) != 1 for each in events):
        return None
    name = events[0][0][0]
    given = dict(conditions)
    parents = network.parents[name]
    if set(given) != set(parents) or any(len(states) != 1 for states in given.values()):
        return None
    configuration = 0
    for parent in parents:
        configuration = configuration * len(network.states(parent)) + given[parent][0]
    return (name, configuration, tuple(each[0][1] for each in events)), np.array(record.counts)


def _who_share(own: Mapping[str, Mapping[Place, Numbers]]) -> Iterator[list[str]]:
    """Groups of experts with numbers of the same distributions, directly or through others."""
    left = dict(own)
    while left:
        name, places = left.popitem()
        group, reached = [name], set(places)
        while found := [each for each in left if reached & set(left[each])]:
            for each in found:
                group.append(each)
                reached |= set(left.pop(each))
        yield sorted(group)


def _mean_weights(
    own: Mapping[str, Mapping[Place, Numbers]], reliabilities: Mapping[str, float], seen: Mapping[Place, Numbers]
) -> dict[str, float]:
    names = list(own)
    grid = _grid(len(names))
    combinations = np.array(list(product(grid, repeat=len(names))))  # (combinations, experts)
    total = np.zeros(len(combinations))
    for expert, name in enumerate(names):
        full = reliabilities[name]
        prior = np.where(combinations[:, expert] == 1.0, full, (1.0 - full) / (len(grid) - 1))
        total += np.log(prior)
    for place in {place for numbers in own.values() for place in numbers}:
        together = np.repeat((BASE + seen[place])[None], len(combinations), axis=0)
        for expert, name in enumerate(names):
            if place in own[name]:
                cases = combinations[:, [expert]] * own[name][place]
                total -= log_beta(BASE + cases)
                together = together + cases
        total += log_beta(together)
    chance = np.exp(total - total.max())
    means = chance @ combinations / chance.sum()
    return dict(zip(names, map(float, means), strict=True))


def _grid(experts: int) -> tuple[float, ...]:
    """The weights that each of several experts may have."""
    count = len(GRID)
    while count > 2 and count**experts > MOST_COMBINATIONS:
        count -= 1
    return (*GRID[: count - 1], GRID[-1])

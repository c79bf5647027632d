"""How far an expert's numbers count, where the expert may be wrong.

The n_ej cases that expert e's number j is worth count as w_e·n_ej. There is one weight w_e for all numbers of an
expert, out of `GRID`: before anything is known it is 1 with the expert's reliability, and each of the others is equally
probable. With d_j cases that were seen of number j, by rows or in studies, and a_j before anything is known,

    P(w | d)  ∝  Π_e π_e(w_e) · Π_j B(a_j + Σ_e w_e n_ej + d_j) / Π_ej B(a_j + w_e n_ej),

B(x) = Π_k Γ(x_k) / Γ(Σ_k x_k): the marginal likelihood of Dirichlet distributions. Of one distribution of a CPT, a_j is
½ for each state, and d_j is what rows show there. A probability that depends on several CPTs has no cases of its own:
a_j and a_j + d_j are the Dirichlet distributions with the mean and the variance that it has under draws of these CPTs
without and with what was seen. Experts who disagree with rows, or with each other, lose weight. The mean of w_e is the
weight that their numbers have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from credo.constraints.constraint_set import NetworkProbability
from credo.constraints.evidence import Cases, CountEvidence, EvidenceRecord
from credo.knowledge.query import Query
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.statistics.pooling import log_beta
from credo.statistics.questions import answer, factors_of
from credo.types import Numbers

GRID = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.0)  # weights that an expert's numbers may have
MOST_COMBINATIONS = 50_000  # of weights of experts with numbers of the same distributions: else fewer weights each
BASE = 0.5  # cases of each state, before anything is known [Jeffreys]
DRAWS = 500  # of CPTs, under which a probability has a mean and a variance
FEWEST_DRAWS = 50  # where so few fit into `MOST_NUMBERS`, the probability says nothing of its expert
MOST_NUMBERS = 4_000_000  # of CPTs in all draws
LEAST = 1e-9  # of a mean and a variance: a probability that is known

# A distribution of a CPT, with a variable, a configuration, and how its states are put together; or probabilities that
# depend on several CPTs.
Place = tuple[object, ...]


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
    records: Sequence[EvidenceRecord],
    doubted: DoubtedNumbers,
    counts: Counts,
    network: Network,
    kept: Sequence[str] = (),
) -> dict[str, float]:
    """The mean weight of each expert whose numbers may be wrong, given counts of rows and what is certain.

    `kept` are variables whose CPTs are known.
    """
    own: dict[str, dict[Place, Numbers]] = {name: {} for name in dict.fromkeys(doubted.expert_of.values())}
    certain: dict[Place, Numbers] = {}
    for record in records:
        found = _distribution(record, network) or _probabilities(record)
        if found is None:
            continue
        place, cases = found
        name = doubted.expert_of.get(record.statement)
        target = certain if name is None else own[name]
        target[place] = target.get(place, 0.0) + cases
    base: dict[Place, Numbers] = {}
    seen: dict[Place, Numbers] = {}
    for place in list(dict.fromkeys(place for numbers in own.values() for place in numbers)):
        if isinstance(place[0], NetworkProbability):
            matched = _as_cases(place, network, counts, kept, certain)  # type: ignore[arg-type]
            if matched is None:
                for numbers in own.values():
                    numbers.pop(place, None)
                continue
            base[place], seen[place] = matched[0], matched[1] - matched[0] + certain.get(place, 0.0)
        else:
            base[place] = np.array(BASE)
            seen[place] = _rows_at(place, counts) + certain.get(place, 0.0)
    weights: dict[str, float] = {}
    for group in _who_share(own):
        weights |= _mean_weights({name: own[name] for name in group}, doubted.reliabilities, base, seen)
    return weights


def _rows_at(place: Place, counts: Counts) -> Numbers:
    """The cases that rows show of a distribution."""
    variable, configuration, groups = place
    rows = counts.configuration(str(variable), int(configuration))  # type: ignore[call-overload]
    return np.array([rows[list(group)].sum() for group in groups])  # type: ignore[attr-defined]


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


def _probabilities(record: EvidenceRecord) -> tuple[Place, Numbers] | None:
    """The probabilities, which exclude each other, that cases are of, with the cases."""
    if not isinstance(record, CountEvidence) or record.variation is not None or record.is_learned:
        return None
    return (tuple(record.probabilities), np.array(record.counts)) if len(record.counts) > 1 else None


def _as_cases(
    probabilities: tuple[NetworkProbability, ...],
    network: Network,
    counts: Counts,
    kept: Sequence[str],
    certain: Mapping[Place, Numbers],
) -> tuple[Numbers, Numbers] | None:
    """The Dirichlet distributions that probabilities have before anything is known, and with what was seen.

    None where their CPTs are too large to draw from.
    """
    queries = [each.question(network) for each in probabilities]
    names = {name for each in queries for name in factors_of(network, each.targets, each.evidence, {}).families}
    sizes = sum(int(np.prod(network.shape(name))) for name in names)
    draws = min(DRAWS, MOST_NUMBERS // max(1, sizes))
    if draws < FEWEST_DRAWS or names & set(counts.layout.left_out):
        return None
    shapes = {name: np.full((network.configurations(name), network.shape(name)[-1]), BASE) for name in names}
    before = _matched(queries, network, kept, shapes, draws)
    for name, own in shapes.items():
        if name in counts.layout:
            own += counts.of(name)
    for (variable, configuration, groups), cases in (each for each in certain.items() if each[0][0] in shapes):
        if all(len(group) == 1 for group in groups):  # type: ignore[attr-defined]
            np.add.at(shapes[str(variable)][configuration], [group[0] for group in groups], cases)  # type: ignore
    return before, _matched(queries, network, kept, shapes, draws)


def _matched(
    queries: Sequence[Query], network: Network, kept: Sequence[str], shapes: Mapping[str, Numbers], draws: int
) -> Numbers:
    """The Dirichlet distribution with the means and the variance of probabilities under draws of CPTs."""
    rng = np.random.default_rng(0)
    cpts: dict[str, Numbers] = {}
    for name in sorted(shapes):
        if name in kept:
            cpts[name] = network.cpt_array(name)[None]
            continue
        own = np.maximum(rng.standard_gamma(shapes[name], size=(draws, *shapes[name].shape)), np.finfo(float).tiny)
        cpts[name] = (own / own.sum(axis=-1, keepdims=True)).reshape(draws, *network.shape(name))
    values = np.stack([answer(network, cpts, each)[0].reshape(-1) for each in queries], axis=1)
    values = values[np.isfinite(values).all(axis=1)]
    mean = np.maximum(values.mean(axis=0), LEAST)
    mean /= mean.sum()
    size = float((mean * (1.0 - mean)).sum() / max(float(values.var(axis=0).sum()), LEAST)) - 1.0
    return np.asarray(max(size, LEAST) * mean, dtype=np.float64)


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
    own: Mapping[str, Mapping[Place, Numbers]],
    reliabilities: Mapping[str, float],
    base: Mapping[Place, Numbers],
    seen: Mapping[Place, Numbers],
) -> dict[str, float]:
    names = list(own)
    grid = _grid(len(names))
    combinations = np.array(list(product(grid, repeat=len(names))))  # (combinations, experts)
    total = np.zeros(len(combinations))
    for expert, name in enumerate(names):
        full = reliabilities[name]
        prior = np.where(combinations[:, expert] == 1.0, full, (1.0 - full) / (len(grid) - 1))
        total += np.log(prior)
    for place in dict.fromkeys(place for numbers in own.values() for place in numbers):
        together = np.repeat((base[place] + seen[place])[None], len(combinations), axis=0)
        for expert, name in enumerate(names):
            if place in own[name]:
                cases = combinations[:, [expert]] * own[name][place]
                total -= log_beta(base[place] + cases)
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

"""Evidence about probabilities as plain records: cases that were seen, and ratios that were measured.

Cases of single distributions of a CPT are counts like those of rows. Everything else is a likelihood of probabilities
of the network, whose value and derivatives `statistics/evidence.py` computes:

- `CountEvidence`: Σ_k n_k log P_k; with variation between studies, the log odds of each study are normal around those
  of the network, with a standard deviation that is given, or learned from all studies of the same probability;
- `LogRatioEvidence`: a normal likelihood of log odds ratio, log relative risk or risk difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import NormalDist

from credo.constraints.constraint_set import NetworkProbability
from credo.constraints.noisy_families import shared_term
from credo.knowledge.evidence import (
    RISK_DIFFERENCE,
    EffectStudy,
    Evidence,
    ExpertNumber,
    Study,
    equivalent_cases,
)
from credo.knowledge.expressions import Probability
from credo.knowledge.network_names import is_cpt_entry
from credo.knowledge.query import query_of
from credo.knowledge.statements import Statement
from credo.model.expansion import Expansion
from credo.model.network import Network


@dataclass(frozen=True, slots=True)
class Cases:
    """Cases of one distribution of a CPT: how many of each state, as if rows had shown the family alone.

    Those that somebody `believed`, and did not see, are a prior; where they are all of it, no other counts beside them.
    """

    variable: str
    configuration: int
    counts: tuple[float, ...]
    statement: int
    believed: bool = False
    are_all: bool = False


@dataclass(frozen=True, slots=True)
class CountEvidence:
    """Cases of events that exclude each other: Σ_k n_k log P_k.

    With `variation` s, or one that is learned, there are two events, and the likelihood of k of n cases is
    ∫ Binomial(k; n, σ(logit P + s z)) φ(z) dz.
    """

    probabilities: tuple[NetworkProbability, ...]
    counts: tuple[float, ...]
    statement: int
    variation: float | None = None
    is_learned: bool = False

    @property
    def is_rows(self) -> bool:
        """Whether it is as many rows in which all else is missing: whole cases of single states, given nothing."""
        singles = all(len(states) == 1 for each in self.probabilities for _, states in each.events)
        given = any(each.conditions for each in self.probabilities)
        whole = all(float(count).is_integer() for count in self.counts)
        return singles and whole and not given and self.variation is None and not self.is_learned


@dataclass(frozen=True, slots=True)
class LogRatioEvidence:
    """estimate ~ N(g(P₁, P₂), error² + variation²); g is a log odds ratio, a log relative risk or a difference."""

    measure: str
    first: NetworkProbability
    second: NetworkProbability
    estimate: float
    error: float
    statement: int
    variation: float | None = None
    is_learned: bool = False


EvidenceRecord = Cases | CountEvidence | LogRatioEvidence


def evidence_of(statements: Sequence[Statement], expansion: Expansion) -> tuple[EvidenceRecord, ...]:
    """The records of all statements that weigh like cases, each with the number of its statement."""
    return tuple(
        record
        for number, statement in enumerate(statements)
        if isinstance(statement, ExpertNumber | Study | EffectStudy)
        for record in _records(statement, number, expansion)
    )


def _records(statement: Evidence, number: int, expansion: Expansion) -> Iterator[EvidenceRecord]:
    original = expansion.original
    if isinstance(statement, EffectStudy):
        yield _log_ratio(statement, number, original)
        return
    probability = statement.probability
    counts = _counts(statement)
    whole = not probability.states
    if whole:
        states: Iterable[tuple[str, ...]] = [(state,) for state in original.states(str(probability.variable))]
    else:
        others = tuple(each for each in original.states(str(probability.variable)) if each not in probability.states)
        states = (probability.states, others) if others else (probability.states,)
    states = list(states)
    varies = isinstance(statement, Study) and (statement.variation is not None or statement.is_learned)
    if _is_distribution(probability, expansion) and not varies and all(len(each) == 1 for each in states):
        own = dict(zip((str(each[0]) for each in states), counts, strict=False))
        if str(probability.variable) in expansion.aligned:
            places = [original.states(str(probability.variable)).index(state) for state in own]
            probability = shared_term(probability, expansion)
            own = dict(zip((original.states(str(probability.variable))[k] for k in places), own.values(), strict=True))
        variable = str(probability.variable)
        ordered = tuple(own.get(state, 0.0) for state in original.states(variable))
        believed = isinstance(statement, ExpertNumber)
        are_all = isinstance(statement, ExpertNumber) and statement.is_all
        yield Cases(variable, _configuration(probability, original), ordered, number, believed, are_all)
        return
    asked = tuple(NetworkProbability.of(query_of(replace(probability, states=each)), original) for each in states)
    if isinstance(statement, Study):
        yield CountEvidence(asked, counts, number, statement.variation, statement.is_learned)
    else:
        yield CountEvidence(asked, counts, number)


def _counts(statement: ExpertNumber | Study) -> tuple[float, ...]:
    if isinstance(statement, Study):
        return statement.seen, statement.total - statement.seen
    return tuple(float(f"{count:.9g}") for count in equivalent_cases(statement))  # 44, not 43.99999999999999


def _is_distribution(probability: Probability, expansion: Expansion) -> bool:
    """Whether the probability is a number of one CPT that is learned as it stands."""
    variable = str(probability.variable)
    return (
        is_cpt_entry(probability, expansion.original)
        and variable not in expansion.effects
        and variable not in expansion.steps
    )


def _configuration(probability: Probability, network: Network) -> int:
    """The number of the configuration, the last parent varying fastest."""
    given = {str(name): str(state) for name, state in probability.given}
    number = 0
    for parent in network.parents[str(probability.variable)]:
        states = network.states(parent)
        number = number * len(states) + states.index(given[parent])
    return number


def _log_ratio(statement: EffectStudy, number: int, network: Network) -> LogRatioEvidence:
    width = 2.0 * NormalDist().inv_cdf(0.5 + statement.level / 2.0)
    estimate, low, high = statement.estimate, statement.low, statement.high
    if statement.measure != RISK_DIFFERENCE:
        estimate, low, high = log(estimate), log(low), log(high)
    return LogRatioEvidence(
        statement.measure,
        NetworkProbability.of(query_of(statement.first), network),
        NetworkProbability.of(query_of(statement.second), network),
        estimate,
        (high - low) / width,
        number,
        statement.variation,
        statement.is_learned,
    )

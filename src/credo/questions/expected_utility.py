"""The expected utility of every option, exactly: utilities are events with amounts, and events have probabilities.

With lines l of amount u_l, whose conditions on chance variables are the event A_l, and an option d,

    EU(d | e) = Σ_{l allowed by d} u_l · P(A_l | e, do(d)).

A decision that is a variable of the network is set by do(…): what people did in the data says nothing about this case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from credo.errors import OptionError, QueryError, listing
from credo.knowledge.decisions import DecisionProblem, decision_problem
from credo.knowledge.knowledge import Knowledge, KnowledgeSource
from credo.knowledge.query import Query, as_evidence
from credo.model.expansion import expand
from credo.model.graphs import ancestors
from credo.model.network import Network
from credo.posterior.cpt_answers import distribution_asked_for
from credo.questions.question_draws import with_mean
from credo.results.fit_results import Fit
from credo.statistics.questions import BatchedCPTs, Factors, answer, factors_of, require_possible
from credo.types import Numbers

Event = tuple[tuple[str, tuple[str, ...]], ...]  # variables, each in one of these states
Known = Mapping[str, tuple[str, ...]]  # evidence

_HOW = (
    "Add to the knowledge, or write into a file of its own (--utilities; utilities= in Python), for instance: "
    "decision treat: no, yes / utility of disease=yes, treat=no is -100 / utility of treat=yes is -30"
)


@dataclass(frozen=True)
class Option:
    """One choice: a state for each decision, what is certain of its utility, and the events that add to it."""

    choice: Mapping[str, str]
    interventions: Mapping[str, str]  # of the decisions that are variables of the network
    constant: float
    lines: tuple[tuple[int, Event], ...]  # lines that count, by their numbers, with the event that has to happen

    def __str__(self) -> str:
        return ", ".join(f"{name}={state}" for name, state in self.choice.items())


@dataclass(frozen=True)
class Choices:
    """What can be chosen, about which network, and what it is worth."""

    network: Network  # expanded
    problem: DecisionProblem
    options: tuple[Option, ...]

    @cached_property
    def chance(self) -> tuple[str, ...]:
        """The variables, other than decisions, that utilities are about."""
        named = (name for utility in self.problem.utilities for name in utility.given)
        return tuple(dict.fromkeys(name for name in named if name not in self.problem.options))

    @cached_property
    def after(self) -> frozenset[str]:
        """The decisions of the network and everything that depends on them."""
        decided = [name for name in self.problem.options if name in self.network]
        parents = self.network.parents
        return frozenset(name for name in self.network.names if ancestors(parents, [name]) & set(decided))

    def amounts(self, option: Option) -> Iterable[tuple[float, Event]]:
        """The amounts and events of an option, beside what is certain."""
        return ((self.problem.utilities[number].amount, event) for number, event in option.lines)


def choices_of(fit: Fit, utilities: KnowledgeSource | None = None) -> Choices:
    """The decisions of a fit, or of other lines about its network.

    Raises
    ------
    OptionError
        If nothing is to be decided, or nothing is worth anything.
    """
    knowledge = fit.knowledge if utilities is None else Knowledge(fit.network, utilities)
    problem = decision_problem(knowledge.declarations, fit.network)
    if not problem.options:
        raise OptionError(f"The knowledge declares no decision. {_HOW}")
    if not problem.utilities:
        raise OptionError(f"The decision {listing([*problem.options])} has no utilities. {_HOW}")
    network = expand(fit.network).network
    return Choices(network, problem, tuple(_options(network, problem)))


def _options(network: Network, problem: DecisionProblem) -> Iterable[Option]:
    for states in product(*problem.options.values()):
        choice = dict(zip(problem.options, states, strict=True))
        constant, lines = 0.0, []
        for number, utility in enumerate(problem.utilities):
            if all(choice[name] in allowed for name, allowed in utility.given.items() if name in choice):
                event = tuple((name, allowed) for name, allowed in utility.given.items() if name not in choice)
                if event:
                    lines.append((number, event))
                else:
                    constant += utility.amount
        interventions = {name: state for name, state in choice.items() if name in network}
        yield Option(choice, interventions, constant, tuple(lines))


def evidence_before(choices: Choices, network: Network, evidence: object) -> dict[str, tuple[str, ...]]:
    """Evidence that can be known before deciding; what depends on the decision cannot.

    Raises
    ------
    QueryError
        If the evidence names a decision, or something that depends on it, or cannot be read.
    """
    if isinstance(evidence, Mapping):
        for name in evidence:
            _refuse_decision(choices, name)
    elif isinstance(evidence, str):
        for name in choices.problem.options:
            if name not in network and evidence.replace(" ", "").startswith(f"{name}="):
                _refuse_decision(choices, name)
    known = as_evidence(network, evidence)
    for name in known:
        _refuse_decision(choices, name)
        if name in choices.after:
            decided = listing([each for each in choices.problem.options if each in network])
            raise QueryError(
                f"{name} depends on the decision {decided}, so it is not known before deciding. Leave it out of the "
                "evidence."
            )
    return known


def _refuse_decision(choices: Choices, name: str) -> None:
    if name in choices.problem.options:
        raise QueryError(f"{name} is what is to be decided: leave it out of the evidence.")


def utility_factors(choices: Choices, known: Known) -> list[Factors]:
    """The factors of every probability that `expected_utilities` needs, for the plan of its draws."""
    found = {
        _key(choices, known, option, event): (option, event) for option in choices.options for _, event in option.lines
    }
    needed = [_query(known, option, event) for option, event in found.values()]
    needed += [Query({}, dict(known))]
    return [factors_of(choices.network, each.targets, each.evidence, each.interventions) for each in needed if each]


def expected_utilities(choices: Choices, cpts: BatchedCPTs, known: Known) -> tuple[Numbers, Numbers]:
    """EU of every option under every set of CPTs, (batch, options), and log P(evidence), (batch,).

    They are NaN, and the logarithm minus infinity, where the evidence is impossible.
    """
    _, log_evidence = answer(choices.network, cpts, Query({}, dict(known)))
    found: dict[object, Numbers] = {}
    columns = []
    for option in choices.options:
        total = np.full(len(log_evidence), option.constant)
        for amount, event in choices.amounts(option):
            key = _key(choices, known, option, event)
            if key not in found:
                found[key] = event_probability(choices.network, cpts, known, option.interventions, event)
            total = total + amount * found[key]
        columns.append(total)
    values = np.stack(np.broadcast_arrays(*columns), axis=1)
    return np.where(np.isfinite(log_evidence)[:, None], values, np.nan), log_evidence


def event_probability(
    network: Network, cpts: BatchedCPTs, known: Known, interventions: Mapping[str, str], event: Event
) -> Numbers:
    """P(event | evidence, do(…)) under every set of CPTs, (batch,).

    Where that is a number of a CPT, the values have the mean that the CPT shows, which is known from all draws: so a
    decision, a question and the CPT say the same.
    """
    rest = remaining(known, event)
    if not rest:
        return np.array([float(rest is not None)])
    asked = Query(dict(rest), dict(known), dict(interventions))
    values, _ = answer(network, cpts, asked)
    probabilities = np.minimum(values.reshape(len(values)), 1.0)
    shown = distribution_asked_for(network, asked)
    return probabilities if shown is None else with_mean(probabilities, float(shown.sum()))


def remaining(known: Known, event: Event) -> Event | None:
    """What of an event is not known yet; None where the evidence excludes it."""
    found = []
    for name, states in event:
        if name not in known:
            found.append((name, states))
            continue
        possible = tuple(state for state in known[name] if state in states)
        if not possible:
            return None
        if len(possible) < len(known[name]):
            found.append((name, possible))
    return tuple(found)


def _query(known: Known, option: Option, event: Event) -> Query | None:
    rest = remaining(known, event)
    return Query(dict(rest), dict(known), dict(option.interventions)) if rest else None


def _key(choices: Choices, known: Known, option: Option, event: Event) -> object:
    """Events whose probability is the same for two options have one key: decisions may not matter for them."""
    needed = ancestors(choices.network.parents, {*known, *(name for name, _ in event)}, option.interventions)
    return event, tuple((name, state) for name, state in option.interventions.items() if name in needed)


def possible_draws(values: Numbers, log_evidence: Numbers, known: Known) -> Numbers:
    """The values under draws that give the evidence some probability; refused where none does."""
    require_possible(log_evidence, Query({}, dict(known)))
    return values[np.isfinite(log_evidence)]

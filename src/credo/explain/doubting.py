"""Which statements may be wrong, whose they are, and how far each is believed before the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real

import numpy as np

from credo.constraints.constraint_set import HOLDS_WITHIN, Constraints
from credo.errors import OptionError, listing
from credo.estimation.problem import Problem
from credo.explain.plausibility import plausibilities
from credo.explain.statement_effects import LEAST_CHANGE_OF_MEAN, Change, StatementEffect
from credo.findings import Finding
from credo.knowledge import ExpertNumber, Knowledge
from credo.knowledge.experts import Expert as NamedExpert
from credo.knowledge.experts import beta_between, expert_of
from credo.model.network import Network
from credo.posterior.doubted_statements import DoubtedStatements, Expert, probability_without, weights_without
from credo.posterior.draws import PosteriorResult
from credo.probability_texts import short_percent
from credo.statistics.expert_weights import DoubtedNumbers
from credo.statistics.network_statements import NetworkStatements
from credo.tolerances import EQUALITY_WIDTH
from credo.types import Flags, Indices, Numbers

PRIORS = (0.1, 0.5, 1.0)  # pseudo-counts of a state, before anything is known: nearly deterministic to uniform
LEAST_SHARE = 1e-9  # the probability below which a statement is not widened further
GENERAL_DRAWS = 300  # of all CPTs, for each of these, to see how narrow a statement about any probability is …
LEAST_GENERAL_DRAWS, GENERAL_CELLS = 20, 1_000_000_000  # … fewer where that would visit more cells of cliques
UNDOUBTED = "not doubted"
LEAST_SHARE_OF_CASES = 0.5  # of an expert's numbers: what counts for less is contradicted


def given_reliability(doubt: bool | float) -> float | None:
    """How often statements are right that have no confidence and no expert; None where it is learned, or not asked."""
    given: object = doubt
    if isinstance(given, bool):
        return None
    if not isinstance(given, Real) or not 0.0 < float(given) < 1.0:
        raise OptionError(f"doubt is True, False, or a probability above 0 and below 1; it is {given!r}.")
    return 1.0 - float(given)


def is_doubt_asked_for(knowledge: Knowledge, doubt: bool | float) -> bool:
    """Whether statements may be wrong that have no confidence: by the option, or because they are an expert's."""
    every = given_reliability(doubt) is not None or doubt is True
    return every or any(expert_of(each) is not None for each in knowledge.statements)


def doubted_numbers(knowledge: Knowledge, stated: Constraints, doubt: bool | float, samples: bool = True) -> Indices:
    """The statements that may be wrong, by number; none where nothing is doubted.

    A confidence is the probability that a statement is true, for a method that `samples`; another one makes a cost of
    it. Statements without constraints are left out: orders, noisy families and ties say what the variables and rows
    are. So are those about products of probabilities.
    """
    statements = knowledge.statements
    if not samples and not is_doubt_asked_for(knowledge, doubt):
        return np.zeros(0, dtype=np.int64)
    all_of_them = given_reliability(doubt) is not None or doubt is True
    about = {*stated.linear.statements.tolist(), *stated.network_statements} - _about_products(stated)
    unsure = {
        number
        for number, each in enumerate(statements)
        if all_of_them or expert_of(each) is not None or getattr(each, "confidence", None) is not None
    }
    beyond = sorted(unsure & _about_products(stated))
    if beyond and (not about & unsure or any(getattr(statements[k], "confidence", None) is not None for k in beyond)):
        raise OptionError(
            f"“{statements[beyond[0]]}” may be wrong, but compares products of probabilities: how probable it is "
            "cannot be computed. State it as certain, without a confidence and outside of an expert's block, leave it "
            "out, or use method=cmap, which makes a cost of a confidence."
        )
    return np.array(sorted(about & unsure), dtype=np.int64)


def doubted_experts(knowledge: Knowledge, doubt: bool | float) -> DoubtedNumbers:
    """Whose numbers may be wrong: those in experts' blocks, and all others where doubt is asked for."""
    anyone = given_reliability(doubt)
    every = anyone is not None or doubt is True
    expert_of_number: dict[int, str] = {}
    reliabilities: dict[str, float] = {}
    for number, statement in enumerate(knowledge.statements):
        if (own := expert_of(statement)) is not None and own.reliability is not None:
            reliabilities[own.name] = _mean_reliability(_expert(own))
        if isinstance(statement, ExpertNumber) and (own is not None or every):
            expert_of_number[number] = "" if own is None else own.name
    for name in expert_of_number.values():
        reliabilities.setdefault(name, _mean_reliability(Expert(name, None if name else anyone)))
    return DoubtedNumbers(expert_of_number, reliabilities)


def _mean_reliability(expert: Expert) -> float:
    first, second = expert.prior
    return first / (first + second) if expert.reliability is None else expert.reliability


def contradicted_experts(weights: Mapping[str, float]) -> list[Finding]:
    """The findings that experts' numbers count for much less than was said."""
    return [
        Finding(
            "expert weight",
            f"The {f'numbers of {name}' if name else 'stated numbers'} count as {short_percent(weight)} of the cases "
            "that they were said to be worth: rows, studies or other experts say otherwise.",
        )
        for name, weight in weights.items()
        if weight < LEAST_SHARE_OF_CASES
    ]


def _about_products(stated: Constraints) -> set[int]:
    return {product.statement for product in stated.products}


def doubted_statements(
    knowledge: Knowledge,
    stated: Constraints,
    numbers: Indices,
    doubt: bool | float,
    known: Network,
    kept: Sequence[str],
) -> DoubtedStatements:
    """How far each of the doubted statements is believed; `kept` CPTs of the `known` network stay as they are."""
    own = [expert_of(knowledge.statements[number]) for number in numbers.tolist()]
    named = {each.name: each for each in own if each is not None}
    named |= {each.name: each for each in own if each is not None and each.reliability is not None}
    anyone = Expert("", given_reliability(doubt))
    experts = (anyone, *(_expert(each) for each in named.values()))
    position = {each.name: place for place, each in enumerate(experts)}
    confidences = [getattr(knowledge.statements[number], "confidence", None) for number in numbers.tolist()]
    return DoubtedStatements(
        numbers,
        experts,
        np.array([0 if each is None else position[each.name] for each in own], dtype=np.int64),
        np.array([np.nan if each is None else each for each in confidences], dtype=np.float64),
        _log_prior_correction(stated, numbers, known),
        _false(stated, numbers, known, kept),
    )


def _expert(named: NamedExpert) -> Expert:
    """The expert with a Beta distribution for a reliability that is learned."""
    if not isinstance(named.reliability, tuple):
        return Expert(named.name, named.reliability)
    return Expert(named.name, None, beta_between(*named.reliability))


def _log_prior_correction(stated: Constraints, numbers: Indices, network: Network) -> Numbers:
    """log max(1, (1 − p)/p), p being the probability of a statement before anything is known.

    CPTs are often nearly deterministic, so that a statement about a corner is no narrow one, and often not: the
    probability is averaged over Dirichlet distributions between both.
    """
    network_statements = set(stated.network_statements)
    shares = np.zeros(len(numbers))
    about_cpts = [number for number in numbers.tolist() if number not in network_statements]
    for prior in PRIORS if about_cpts else ():
        plausible = plausibilities(stated, statements=about_cpts, prior=prior, doubted=True)
        for place, number in enumerate(numbers.tolist()):
            if number not in network_statements:
                before = plausible[number].before_data
                shares[place] += (before.value if before.upper_bound is None else before.upper_bound) / len(PRIORS)
    places = [place for place, number in enumerate(numbers.tolist()) if number in network_statements]
    if places:
        shares[places] = _shares_of_network_constraints(stated, numbers[places].tolist(), network)
    shares = np.clip(shares, LEAST_SHARE, 1.0 - LEAST_SHARE)
    return np.asarray(np.maximum(0.0, np.log1p(-shares) - np.log(shares)))


def _shares_of_network_constraints(stated: Constraints, numbers: Sequence[int], network: Network) -> Numbers:
    """How often statements about any probability hold in CPTs that are drawn before anything is known."""
    chosen = tuple(each for each in stated.network_constraints if each.statement in set(numbers))
    alone = replace(stated, network_constraints=chosen)
    layout, rng = stated.layout, np.random.default_rng(0)
    starts = layout.distribution_starts()
    statements = NetworkStatements.of(alone, network)
    held, count = np.zeros(len(numbers)), 0
    cells = statements.sums.visited
    draws = int(np.clip(GENERAL_CELLS // max(1, len(PRIORS) * cells), LEAST_GENERAL_DRAWS, GENERAL_DRAWS))
    for prior in PRIORS:
        # A Gamma variable with a small shape is U^(1/a) times one with the shape a + 1: its logarithm is a number.
        logs = np.log(rng.gamma(prior + 1.0, size=(draws, layout.size)))
        logs += np.log(rng.random(logs.shape)) / prior
        logs -= np.repeat(np.maximum.reduceat(logs, starts, axis=1), np.diff(starts, append=layout.size), axis=1)
        theta = np.exp(logs)
        theta /= layout.totals(theta)
        held += statements.true(theta, numbers).sum(axis=1)
        count += len(theta)
    return np.asarray((held + 0.5) / (count + 1.0))


def _false(stated: Constraints, numbers: Indices, network: Network, kept: Sequence[str]) -> Flags:
    """The statements with a constraint that has no parameter to learn and does not hold."""
    known = stated.layout.pack({name: network.cpt_array(name) for name in kept}, missing=np.nan)
    linear = stated.linear
    free = np.bincount(linear.entry_constraints, np.isnan(known[linear.indices]), len(linear)) > 0
    excess = linear.excess(np.nan_to_num(known))
    false = set(linear.statements[~free & (excess > HOLDS_WITHIN)].tolist())
    if stated.network_constraints and kept:
        constraints = NetworkStatements.of(stated, network)
        settled = np.array([own <= set(kept) for own in constraints.reached], dtype=np.bool_)
        missed = constraints.excess(np.nan_to_num(known, nan=0.5)) - np.where(constraints.equality, EQUALITY_WIDTH, 0.0)
        false |= set(constraints.statements[settled & (missed > HOLDS_WITHIN)].tolist())
    return np.array([number in false for number in numbers.tolist()], dtype=np.bool_)


def undoubted_findings(stated: Constraints, numbers: Indices) -> list[Finding]:
    """The finding that statements about products must hold although all others may be wrong."""
    products = sorted(_about_products(stated)) if len(numbers) else []
    if not products:
        return []
    subject = "Statement" if len(products) == 1 else "Statements"
    message = (
        f"{subject} {listing([str(number + 1) for number in products])} must hold: what compares products of "
        "probabilities is not doubted."
    )
    return [Finding(UNDOUBTED, message)]


# Explanations ---------------------------------------------------------------------------------------------------------


def without_doubted(problem: Problem) -> Problem:
    """The problem with the statements that must hold alone."""
    assert problem.model.doubts is not None
    constraints = problem.model.constraints.without(problem.model.doubts.numbers.tolist())
    return problem.with_constraints(constraints).with_model(doubts=None)


def effects_of_doubted(problem: Problem, posterior: PosteriorResult) -> dict[int, StatementEffect]:
    """What each doubted statement changed: the mean of the draws, and their mean weighted as if it had not been made.

    The weight of a draw is 1/(r·w) where the statement is true, else 1/(1 − r); the expectation of it given what is
    true, where r is learned.
    """
    assert problem.model.doubts is not None
    assert posterior.doubt is not None
    doubts = replace(problem.model.doubts, log_prior_correction=posterior.doubt.log_prior_correction)
    true = np.moveaxis(posterior.doubt.truth, -1, 0).reshape(len(doubts), -1)
    draws = posterior.draws.reshape(-1, posterior.layout.size)
    mean, layout = draws.mean(axis=0), posterior.layout
    places = [(name, index) for name in layout.names for index in range(layout.network.configurations(name))]
    starts = layout.distribution_starts()
    found = {}
    for number, own, weights in zip(doubts.numbers.tolist(), true, weights_without(doubts, true), strict=True):
        if probability_without(weights, own) is None:
            found[number] = StatementEffect((), 0.0, is_known=False)
            continue
        change = np.abs(weights @ draws / weights.sum() - mean)
        largest = np.maximum.reduceat(change, starts)
        order = np.argsort(-largest, kind="stable")
        order = order[largest[order] >= LEAST_CHANGE_OF_MEAN]
        changes = ((places[d], float(largest[d])) for d in order.tolist())
        found[number] = StatementEffect(tuple(Change(name, index, size) for (name, index), size in changes), 0.0)
    return found

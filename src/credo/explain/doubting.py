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
from credo.types import Flags, Indices, Numbers

PRIORS = (0.1, 0.5, 1.0)  # pseudo-counts of a state, before anything is known: nearly deterministic to uniform
LEAST_SHARE = 1e-15  # the probability below which a statement is not widened further
WIDER_PRIORS = (0.02, 0.05, 0.1, 0.2)  # of further draws, where a statement is about a number below SMALL,
MORE_DRAWS, SMALL = 4, 1e-3  # and how many times as many draws there are; weights undo what is wider
LEAST_KNOWN = 0.5  # rows, of a distribution that is not thought of as unseen
GENERAL_DRAWS = 300  # of all CPTs, for each of these, to see how narrow a statement about any probability is …
LEAST_NEAR, MOST_NEAR, NEAR_SHARE = 5, 60, 30  # the draws nearest to an equality: a share of all by the last
MOST_SLOPE, ROUNDING = 0.99, 1e-6  # of the mean distance of what is near, as a share of the farthest
WIDER = 4  # how many more show of how many dimensions what is near is
LEAST_GENERAL_DRAWS, GENERAL_CELLS = 20, 1_000_000_000  # … fewer where that would visit more cells of cliques,
MORE_CELLS = 1_000_000  # which further draws may visit
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
    """How far each of the doubted statements is believed; `kept` CPTs of the `known` network stay as they are.

    How narrow they are is not known yet, see `with_prior_correction`.
    """
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
        np.zeros(len(numbers)),
        _false(stated, numbers, known, kept),
    )


def unseen_cells(problem: Problem) -> Flags:
    """The parameters of distributions without rows; none where values are missing, so that any row may have them."""
    layout = problem.layout
    if problem.data.dataset is not None:
        return np.zeros(layout.size, dtype=np.bool_)
    return np.asarray(layout.totals(problem.vector()) < LEAST_KNOWN)


def with_prior_correction(
    doubts: DoubtedStatements, stated: Constraints, network: Network, unseen: Flags
) -> DoubtedStatements:
    """The same with log max(1, (1 − p)/p), p being the probability of a statement before anything is known.

    CPTs are often nearly deterministic, so that a statement about a corner is no narrow one, and often not: the
    probability is averaged over Dirichlet distributions between both. Nothing that was never seen is thought to be
    nearly deterministic, as in the model's prior: the pseudo-counts of an `unseen` distribution are one or more.
    """
    return replace(doubts, log_prior_correction=_log_prior_correction(stated, doubts.numbers, network, unseen))


def _expert(named: NamedExpert) -> Expert:
    """The expert with a Beta distribution for a reliability that is learned."""
    if not isinstance(named.reliability, tuple):
        return Expert(named.name, named.reliability)
    return Expert(named.name, None, beta_between(*named.reliability))


def _log_prior_correction(stated: Constraints, numbers: Indices, network: Network, unseen: Flags) -> Numbers:
    layout = stated.layout
    least = np.where(unseen, 1.0 / layout.totals(np.ones(layout.size)), 0.0)
    network_statements = set(stated.network_statements)
    shares = np.zeros(len(numbers))
    about_cpts = [number for number in numbers.tolist() if number not in network_statements]
    for prior in PRIORS if about_cpts else ():
        plausible = plausibilities(stated, statements=about_cpts, prior=np.maximum(prior, least), doubted=True)
        for place, number in enumerate(numbers.tolist()):
            if number not in network_statements:
                before = plausible[number].before_data
                shares[place] += (before.value if before.upper_bound is None else before.upper_bound) / len(PRIORS)
    places = [place for place, number in enumerate(numbers.tolist()) if number in network_statements]
    if places:
        shares[places] = _shares_of_network_constraints(stated, numbers[places].tolist(), network, least)
    shares = np.clip(shares, LEAST_SHARE, 1.0 - LEAST_SHARE)
    return np.asarray(np.maximum(0.0, np.log1p(-shares) - np.log(shares)))


def _shares_of_network_constraints(
    stated: Constraints, numbers: Sequence[int], network: Network, least: Numbers
) -> Numbers:
    """How often statements about any probability hold in CPTs that are drawn before anything is known.

    What holds in few draws, as an equality does, is as probable as the nearest draws are close: k of n draws within d
    widths of it give the probability k/n · 1/d, and 1/d^m where m equalities are independent. Of one equality the
    density is thought to be exponential in the logarithm there, p ∝ exp(λu), with the mean of u that they have:
    k/n · 1/d · λd/sinh(λd).
    """
    chosen = tuple(each for each in stated.network_constraints if each.statement in set(numbers))
    alone = replace(stated, network_constraints=chosen)
    layout, rng = stated.layout, np.random.default_rng(0)
    starts = layout.distribution_starts()
    statements = NetworkStatements.of(alone, network)
    cells = statements.sums.visited
    draws = int(np.clip(GENERAL_CELLS // max(1, len(PRIORS) * cells), LEAST_GENERAL_DRAWS, GENERAL_DRAWS))
    wider = WIDER_PRIORS if (statements.sizes < SMALL).any() else ()
    draws = min(MORE_DRAWS * draws, int(MORE_CELLS // max(1, cells)) + draws) if wider else draws
    shapes = [np.maximum(prior, least) for prior in PRIORS] + [np.full(layout.size, prior) for prior in wider]
    logs = np.empty((len(shapes), draws, layout.size))
    for own, prior in zip(logs, shapes, strict=True):
        # A Gamma variable with a small shape is U^(1/a) times one with the shape a + 1: its logarithm is a number.
        own[:] = np.log(rng.gamma(prior + 1.0, size=own.shape)) + np.log(rng.random(own.shape)) / prior
        own -= np.repeat(np.maximum.reduceat(own, starts, axis=1), np.diff(starts, append=layout.size), axis=1)
        own -= np.log(layout.totals(np.exp(own)))
    every: Numbers = logs.reshape(-1, layout.size)
    weights = np.ones(len(every))
    if wider:
        matters: Flags = np.asarray(statements.mask.any(axis=0))
        densities = np.array([_log_density(every, prior, matters, starts) for prior in shapes])
        densities -= densities.max(axis=0)
        weights = np.exp(densities[: len(PRIORS)]).mean(axis=0) / np.exp(densities).mean(axis=0)
    distances = statements.distances(np.exp(every), numbers)
    equalities = [int(statements.equality[statements.statements == number].sum()) for number in numbers]
    return np.array([_share_within(own, weights, most) for own, most in zip(distances, equalities, strict=True)])


def _log_density(logs: Numbers, shapes: Numbers, matters: Flags, starts: Indices) -> Numbers:
    """The logarithm of the density of the distributions that matter, Dirichlet with these shapes, at each draw."""
    from scipy.special import gammaln

    lengths = np.diff(starts, append=len(shapes))
    own = np.logical_or.reduceat(matters, starts)
    constant = gammaln(np.add.reduceat(shapes, starts))[own].sum() - gammaln(shapes)[np.repeat(own, lengths)].sum()
    return np.asarray(constant + logs[:, np.repeat(own, lengths)] @ (shapes - 1.0)[np.repeat(own, lengths)])


def _share_within(distances: Numbers, weights: Numbers, equalities: int) -> float:
    """The probability of a distance of at most one, from weighted draws of it."""
    order = np.argsort(np.abs(distances), kind="stable")
    sizes, sums = np.abs(distances[order]), np.cumsum(weights[order]) / len(weights)
    count, finite, held = len(sizes), int(np.isfinite(sizes).sum()), int((sizes <= 1.0).sum())
    near = min(max(LEAST_NEAR, min(count // NEAR_SHARE, MOST_NEAR)), finite)
    if held >= near or not equalities:
        return float(sums[held - 1]) if held else 0.5 / (count + 1.0)
    share, farthest = float(sums[near - 1]), float(sizes[near - 1])
    if equalities == 1:
        slope = float(weights[order[:near]] @ distances[order[:near]]) / (share * count * farthest)
        slope = float(np.clip(slope, -MOST_SLOPE, MOST_SLOPE))
        growth = abs(slope * (3.0 - slope**2) / (1.0 - slope**2))  # the inverse of coth(x) − 1/x, to 5% [Cohen, 1991]
        return share / farthest * (growth / float(np.sinh(growth)) if growth > ROUNDING else 1.0)
    dimensions, farther = 1.0, min(WIDER * near, finite)
    if farthest < sizes[farther - 1]:
        dimensions = float(np.log(sums[farther - 1] / share) / np.log(sizes[farther - 1] / farthest))
    return float(share * farthest ** -min(max(dimensions, 1.0), equalities))


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
        missed = constraints.drawn_excess(np.nan_to_num(known, nan=0.5))
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

"""Builds the explanation of a result from the problem that was solved and its solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from credo.constraints.block_findings import conflicts_behind
from credo.constraints.blocks import Block, stacked
from credo.constraints.lower import lower
from credo.constraints.stage_costs import REDUCE_CONSTRAINTS, announce, check_memory, explaining
from credo.constraints.violations import Excess
from credo.estimation.methods import METHODS
from credo.estimation.papers.penalised_statements import softened_problem
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT, choose_soft_weight
from credo.estimation.solution import Uncertainty
from credo.explain.allowed_ranges import AllowedRanges, allowed_ranges
from credo.explain.contradictions import compare_with_data, contradictions_among
from credo.explain.doubting import effects_of_doubted, without_doubted
from credo.explain.explanation import ConfigurationExplanation, Effect, Explanation, StatementExplanation
from credo.explain.held_out import HeldOutComparison, cross_validate, leave_one_out, most_harmful_statement
from credo.explain.learned_probabilities import learned_probabilities
from credo.explain.next_observation import NextObservation, next_observations
from credo.explain.plausibility import Plausibility
from credo.explain.statement_effects import StatementEffect, effects_by_configuration, effects_of_statements
from credo.explain.statement_references import references_to
from credo.explain.summary import summarise
from credo.explain.violations import UnusedStatement, statement_excesses
from credo.knowledge import Knowledge
from credo.model.network import Network
from credo.posterior.draws import PosteriorResult
from credo.progress import EXPLAINING, ProgressEvent, ProgressListener
from credo.types import Indices

MAX_CONFIGURATIONS = 4_096  # of one variable that are explained
PERCENTAGE_POINT = 0.01
LEAST_ROOM = 1e-6  # a statement nearer to its bound than this has no room to spare
# The methods whose own estimate is computed again without a statement.
EXACT_EFFECTS = ("cml", "cmap", "cem", "posterior")
IMPORTANCE = {
    Effect.VIOLATED: 1,
    Effect.NOT_USED: 2,
    Effect.BINDING: 3,
    Effect.NOT_COMPUTED: 3,
    Effect.SATISFIED: 4,
    Effect.NO_EFFECT: 5,
    Effect.NO_CONSTRAINT: 6,
}
STEPS = (
    "comparing statements with the data",
    "leaving out each statement in turn",
    "ranges that the knowledge allows",
    "predicting held-out observations",
    "what to observe next",
)


def explain(
    network: Network,
    problem: Problem,
    knowledge: Knowledge,
    *,
    multipliers: Mapping[int, float],
    posterior: Uncertainty | None,
    has_intervals: bool,
    method: str,
    is_incomplete: bool,
    notify: ProgressListener,
    unused: Sequence[UnusedStatement] = (),
    next_rows: Sequence[NextObservation] = (),
) -> Explanation:
    """Explain a result.

    `network` is the learned one with noisy families expanded; `multipliers` maps numbers of statements to the gain in
    log-likelihood per unit of their bound; `has_intervals` says that draws of the posterior show how sure each number
    is; `is_incomplete` that the problem's counts are expected ones; `unused` are the statements about several CPTs;
    `next_rows` what to observe next for the questions that were asked.
    """

    def begin(step: int) -> None:
        notify(ProgressEvent(EXPLAINING, step, len(STEPS), STEPS[step]))

    cost = explaining(problem.model.blocks, problem.layout.size)
    check_memory(cost, problem.settings.memory_limit, "The explanation of this fit", REDUCE_CONSTRAINTS)
    announce(cost, EXPLAINING, notify)
    is_used = METHODS[method].uses_knowledge
    theta = problem.layout.pack({name: network.cpt_array(name) for name in problem.layout.names})
    everything = problem
    if problem.model.doubts is not None:
        problem = without_doubted(problem)  # what they did is in the draws
    conflicts = conflicts_behind(problem.model.blocks, theta)
    if METHODS[method].weighs_all_statements:
        problem = softened_problem(problem)
    elif conflicts:  # no CPTs under the knowledge to compare with
        problem = problem.with_model(
            blocks=tuple(block for k, block in enumerate(problem.model.blocks) if k not in conflicts)
        )
    conflicting = tuple(conflict.statements for found in conflicts.values() for conflict in found)
    not_chosen = is_incomplete and problem.settings.soft_weight is None
    weight = DEFAULT_WEIGHT if not_chosen else choose_soft_weight(problem, problem.vector())[0]
    problem = problem if problem.settings.soft_weight is not None else problem.with_settings(soft_weight=weight)
    begin(0)
    # Without the numbers of CPTs that were kept, and with statements that the method does not bind.
    stated = lower(knowledge) if problem.model.stated is None else problem.model.stated
    observed = problem.data.counts if problem.data.observed is None else problem.data.observed
    plausible = compare_with_data(stated, observed, seed=problem.settings.seed, knowledge=knowledge).plausible
    doubted = set() if everything.model.doubts is None else set(everything.model.doubts.numbers.tolist())
    contradicted = tuple(
        each
        for each in contradictions_among(plausible, knowledge, stated, observed)
        if each.statement.number not in doubted
    )
    begin(1)
    with _unbounded_likelihoods():
        mean = None if posterior is None else theta
        effects = effects_of_statements(problem, mean, posterior) if is_used else {}
    if everything.model.doubts is not None and isinstance(posterior, PosteriorResult):
        effects |= effects_of_doubted(everything, posterior)
    statements = explain_statements(
        network,
        everything,
        knowledge,
        multipliers,
        effects,
        plausible,
        of_mean=posterior is not None,
        unused=unused,
        sampled=posterior if has_intervals and isinstance(posterior, PosteriorResult) else None,
    )
    begin(2)
    ranges = allowed_ranges(problem)
    sampled = posterior if has_intervals else None
    configurations = explain_configurations(network, problem, ranges, sampled, effects)
    begin(3)
    with _unbounded_likelihoods():
        some_held_out = not is_incomplete and problem.data.counts.rows > 0
        one_by_one = leave_one_out(problem) if some_held_out else None
        in_tenths = cross_validate(problem) if some_held_out else None
    comparison = one_by_one or in_tenths
    harmful = _harmful_statement(problem, comparison)
    begin(4)
    observations = tuple(next_rows or next_observations(problem, sampled, ranges))
    summary = summarise(
        network.name,
        variables=len(knowledge.network),
        rows=problem.data.counts.rows,
        statements=statements,
        unused=unused,
        contradicted=contradicted,
        conflicting=conflicting,
        is_used=is_used,
        comparison=comparison,
        harmful=harmful,
        next_observations=observations,
    )
    notes = _notes(problem, method, is_incomplete, some_held_out, too_many_cells=one_by_one is None)
    return Explanation(summary, statements, configurations, one_by_one, in_tenths, observations, notes)


def explain_statements(
    network: Network,
    problem: Problem,
    knowledge: Knowledge,
    multipliers: Mapping[int, float],
    effects: Mapping[int, StatementEffect],
    plausible: Mapping[int, Plausibility],
    of_mean: bool,
    unused: Sequence[UnusedStatement] = (),
    sampled: PosteriorResult | None = None,
) -> tuple[StatementExplanation, ...]:
    """The explanation of every statement, the most important first.

    A posterior mean is at no bound: there a statement that changed the mean counts as binding whatever its multiplier.
    """
    # As stated: a statement about CPTs that were kept is no constraint of the problem, and may not hold.
    stated = problem.model.constraints if problem.model.stated is None else problem.model.stated
    excesses, about = statement_excesses(stated, network), _configurations_of(problem.model.blocks)
    amounts = {each.statement.number: -np.inf if each.amount is None else each.amount for each in unused}
    excesses |= {number: Excess(amount, amount) for number, amount in amounts.items()}
    any_multiplier = of_mean or not multipliers
    of_several = set(stated.network_statements)
    explained = []
    for reference, statement in zip(references_to(knowledge.statements), knowledge.statements, strict=True):
        number = reference.number
        excess, multiplier = excesses.get(number, Excess(-np.inf, -np.inf)), multipliers.get(number, 0.0)
        change = effects[number].largest if number in effects else 0.0
        is_known = number not in effects or effects[number].is_known
        if number in amounts:
            effect = Effect.NOT_USED
        elif number not in about and number not in excesses:
            effect = Effect.NO_CONSTRAINT
        elif excess.is_violated:
            effect = Effect.VIOLATED
        elif change > 0 and (any_multiplier or multiplier > 0.0 or effects[number].log_likelihood_gain == np.inf):
            effect = Effect.BINDING
        elif not is_known:
            effect = Effect.NOT_COMPUTED
        else:
            effect = Effect.SATISFIED if excess.scaled < -LEAST_ROOM else Effect.NO_EFFECT
        matters = effect in (Effect.BINDING, Effect.VIOLATED)
        explained.append(
            StatementExplanation(
                reference,
                effect,
                PERCENTAGE_POINT * multiplier if matters else 0.0,
                excess.amount,
                change,
                plausible.get(number),
                tuple(about.get(number, ())),
                getattr(statement, "confidence", None),
                learned_probabilities(network, statement, sampled) if number in of_several else (),
            )
        )
    return tuple(sorted(explained, key=lambda each: _importance(each, of_mean)))


def explain_configurations(
    network: Network,
    problem: Problem,
    ranges: AllowedRanges,
    posterior: Uncertainty | None,
    effects: Mapping[int, StatementEffect],
) -> dict[str, tuple[ConfigurationExplanation, ...]]:
    """The conditional distributions of every learned variable; of very many, the most informative."""
    changed, layout, constrained = (
        effects_by_configuration(effects),
        problem.layout,
        problem.constrained_configurations(),
    )
    explained = {}
    for name in problem.model.names:
        counts = problem.data.counts.of(name)
        low, high, mean = (layout.view(vector, name) for vector in (ranges.low, ranges.high, ranges.mean))
        learned = network.cpt_array(name).reshape(counts.shape)
        ends = None if posterior is None else [end.reshape(counts.shape) for end in posterior.interval(name)]
        observations = counts.sum(axis=1)
        explained[name] = tuple(
            ConfigurationExplanation(
                name,
                index,
                network.describe(name, index),
                float(observations[index]),
                counts[index] / observations[index] if observations[index] > 0 else None,
                low[index],
                high[index],
                mean[index],
                learned[index],
                None if ends is None else (ends[0][index], ends[1][index]),
                tuple(changed.get((name, index), ())),
            )
            for index in _most_informative(observations, constrained.get(name, [])).tolist()
        )
    return explained


def _importance(explained: StatementExplanation, of_mean: bool) -> tuple[float, ...]:
    """Contradicted by the data first, then violated, then what shaped the result, and how much."""
    rank = 0 if explained.is_contradicted else IMPORTANCE[explained.effect]
    change, gain = -explained.largest_change, -explained.gain_per_point
    missed = -explained.excess if explained.effect in (Effect.VIOLATED, Effect.NOT_USED) else 0.0
    return rank, missed, *((change, gain) if of_mean else (gain, change)), explained.statement.number


def _configurations_of(blocks: tuple[Block, ...]) -> dict[int, list[tuple[str, int]]]:
    """The conditional distributions that each statement is about."""
    about: dict[int, list[tuple[str, int]]] = {}
    if not blocks:
        return about
    whole = stacked(blocks)
    linear, count = whole.linear, len(whole.configurations)
    statements = linear.statements[linear.entry_constraints]
    for pair in np.unique(statements * count + whole.distribution_of[linear.indices]).tolist():
        about.setdefault(pair // count, []).append(whole.configurations[pair % count])
    for block in blocks:
        for product in block.products:
            owners = sorted({int(block.distribution_of[index]) for index in product.indices})
            about.setdefault(product.statement, []).extend(block.configurations[owner] for owner in owners)
    return about


def _most_informative(observations: Indices, constrained: list[int]) -> Indices:
    """All configurations; of too many, those that statements are about, then those observed most often."""
    if len(observations) <= MAX_CONFIGURATIONS:
        return np.arange(len(observations))
    is_constrained = np.zeros(len(observations))
    is_constrained[constrained] = 1.0
    return np.sort(np.lexsort((-observations, -is_constrained))[:MAX_CONFIGURATIONS])


def _unbounded_likelihoods() -> np.errstate:
    """Where statements force a probability to zero that a prior gives weight to, log 0 is expected: no warning."""
    return np.errstate(divide="ignore", over="ignore", invalid="ignore")


def _harmful_statement(problem: Problem, comparison: HeldOutComparison | None) -> int | None:
    """Where the knowledge did harm on the whole, the statement that did most in the block that lost most."""
    if comparison is None or not comparison.scores or comparison.gain >= 0:
        return None
    with _unbounded_likelihoods():
        found = most_harmful_statement(problem, min(comparison.scores, key=lambda score: score.gain))
    return None if found is None else found[0]


def _notes(
    problem: Problem, method: str, is_incomplete: bool, some_held_out: bool, too_many_cells: bool
) -> tuple[str, ...]:
    """What is not available here, and why."""
    notes = []
    has_statements = bool(problem.model.blocks)
    if has_statements and not METHODS[method].uses_knowledge:
        notes.append(
            f"The method {method} does not use the knowledge: its result is only compared with the statements."
        )
    elif has_statements and method not in EXACT_EFFECTS:
        notes.append(
            "How much a statement changed is computed for the most probable CPTs under the knowledge: "
            f"{method} has no such answer of its own."
        )
    if is_incomplete:
        learns_again = method == "posterior" and problem.data.dataset is not None
        changed = (
            ""
            if learns_again
            else ("What a statement changed is therefore computed from expected counts, the last ones of EM. ")
        )
        notes.append(
            f"The data have missing values, hidden variables or tied rows. {changed}What the data on their own say "
            "about a statement is seen in the rows that show a variable and its parents, and ties are ignored there. "
            "Whether the knowledge improves predictions is not computed."
        )
    elif some_held_out and too_many_cells:
        notes.append("There are too many probabilities to leave out one observation at a time: a tenth was, ten times.")
    if any(block.products for block in problem.model.blocks) and some_held_out:
        notes.append("Statements that compare products take no part in the predictions of held-out observations.")
    if problem.model.constraints.network_constraints and some_held_out:
        notes.append(
            "Statements about probabilities that depend on several CPTs take no part in the predictions of held-out "
            "observations."
        )
    large = [name for name in problem.model.names if problem.model.network.configurations(name) > MAX_CONFIGURATIONS]
    if large:
        notes.append(
            f"Of a variable with more than {MAX_CONFIGURATIONS:,} configurations of its parents, the most informative "
            f"are explained: {', '.join(large)}."
        )
    return tuple(notes)

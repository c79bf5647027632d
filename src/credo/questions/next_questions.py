"""Which question to the expert next: how much each answer is expected to narrow a target, before it is given.

Every draw θ of all CPTs says what somebody who knew θ would answer. An expert who is right with probability r gives
answer a with probability P(a | θ): r for that answer, and (1 − r)/(A − 1) for each other of A answers. So the draws,
weighted by P(a | θ), are what would be believed after answer a, and

    expected reduction = Var(f) − Σ_a P(a) · Var(f | a)

of a target f(θ) is a sum over groups of draws [pre-posterior analysis; Raiffa and Schlaifer, 1961]. After an answer
that makes no statement, such as "it depends", the old mean is believed, and Var(f | a) is taken around that. For a
decision it is the expected gain of deciding after the answer (`question_goals.py`). Questions are about what an expert
can know: arcs, configurations of parents that occur, and states; never the hidden effects of families.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.errors import OptionError
from credo.knowledge.comparison import Approximation, Comparison
from credo.knowledge.decisions import decision_problem
from credo.knowledge.expressions import Probability, number_text, probabilities_in, probability_text
from credo.knowledge.influence import Influence
from credo.knowledge.labels import Labels, labels_of
from credo.knowledge.names import name_text
from credo.knowledge.query import Query
from credo.knowledge.state_order import LISTED
from credo.knowledge.verbal_statements import about
from credo.model.expansion import expand
from credo.model.network import Network
from credo.plain_results import PlainResult
from credo.posterior.draws import MOST_DRAWS, PosteriorResult, cpts_under_draws, draw_count
from credo.probability_texts import percent_digits, short_percent
from credo.questions.decide import amount_text
from credo.questions.question_draws import why_no_interval
from credo.questions.question_goals import WHOLE, Goal, configuration_probabilities, goal_of
from credo.results.fit_results import Fit
from credo.statistics.questions import BatchedCPTs
from credo.types import Json, Numbers

if TYPE_CHECKING:
    import polars as pl

Answers = NDArray[np.int64]  # (draws,) the number of the answer under each

RELIABILITY = 0.9  # of an expert, while nothing else is known
MOST_BINS = 5  # ranges between which an expert's number distinguishes at most
NEARLY_CERTAIN = 0.1  # by which the numbers of a gate are off 0 and 1 in draws that count as one
ABOUT_EQUAL = 0.05  # two probabilities that differ by less are about the same to an expert
LEAST_CONFIGURATION = 1e-6  # a configuration that is less probable does not occur
MOST_CONFIGURATIONS = 200  # of one CPT about which questions are asked: the most probable
MOST_PAIRS = 300  # of configurations of one CPT that are compared
MOST_PARENTS = 5  # that somebody can keep in mind
FEW = 5  # draws that are too few to know a variance from
NOTHING = 1e-9  # a share of what is not known: a question that removes less removes nothing
SHOWN = 5  # questions that a text lists


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """One answer to a question.

    Attributes
    ----------
    label : str
        What it says.
    statement : str
        The statement that it makes; empty where it makes none.
    probability : float
        How probable it is that the expert gives it.
    mean : float
        What the target would be after it; NaN for the whole network, and for a decision by how much the best option
        would be better than the second.
    best : str
        What the best option would be; empty where nothing is to be decided.
    """

    label: str
    statement: str
    probability: float
    mean: float
    best: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to an expert. Printing it gives the question in plain words.

    Attributes
    ----------
    kind : str
        "influence", "gate", "comparison" or "number".
    text : str
        The question.
    about : str
        What is asked for, in the language: `age raises disease`, or `P(disease=1 | age=young)`.
    answers : tuple
        The answers that are expected. A number is answered by a number or a range: these are examples.
    reduction : float
        Which share of the target's variance the answer is expected to remove; of a decision, which share of what is
        expected to be lost because the probabilities are not known.
    """

    kind: str
    text: str
    about: str
    answers: tuple[AnswerChoice, ...] = field(repr=False)
    reduction: float

    @property
    def is_about_decision(self) -> bool:
        """Whether the target is what to do."""
        return any(answer.best for answer in self.answers)

    @property
    def narrowing(self) -> float:
        """By which share the target's interval is expected to become narrower; of a decision, the reduction."""
        if self.is_about_decision:
            return self.reduction
        return float(1.0 - np.sqrt(max(0.0, 1.0 - self.reduction)))

    def __str__(self) -> str:
        return self.text

    def why(self, target: str) -> str:
        """Why this question: what each answer would mean for the target.

        Parameters
        ----------
        target
            What the question is for.

        Returns
        -------
        str
            A sentence and a line for each answer.
        """
        if self.is_about_decision:
            lines = [
                f"  If the answer is “{each.label}” (probability {short_percent(each.probability)}), {each.best} would "
                f"be best, by {amount_text(each.mean)}."
                for each in self.answers
            ]
            return "\n".join([f"The answer is expected to avoid {short_percent(self.reduction)} of {LOSS}.", *lines])
        head = f"The answer is expected to narrow the interval of {target} by {short_percent(self.narrowing)}."
        if target == WHOLE:
            return f"The answer is expected to remove {short_percent(self.reduction)} of the uncertainty about it all."
        lines = [
            f"  If the answer is “{each.label}” (probability {short_percent(each.probability)}), it would be "
            f"{percent_digits(each.mean)}."
            for each in self.answers
        ]
        return "\n".join([head, *lines])


LOSS = "what is lost because the probabilities are not known"


@dataclass(frozen=True, slots=True)
class NextQuestions(PlainResult):
    """Questions to an expert, those that help most first. Printing it lists them.

    Attributes
    ----------
    target : str
        What the answers are to narrow.
    deviation : float
        The standard deviation of the target under the draws; for the whole network the square root of the expected
        divergence, in nats, of the true network from the learned one; for a decision the utility that is
        expected to be lost because the probabilities are not known.
    questions : tuple of Question
        The questions, the best first.
    """

    target: str
    deviation: float
    questions: tuple[Question, ...] = field(repr=False)

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each question: `question`, `kind`, `about`, `reduction`, `narrowing`."""
        import polars as pl

        names = ("text", "kind", "about", "reduction", "narrowing")
        rows = [[getattr(question, name) for name in names] for question in self.questions]
        return pl.DataFrame(rows, schema=["question", *names[1:]], orient="row")

    def __str__(self) -> str:
        if not self.questions:
            return f"There is nothing left to ask about {self.target}."
        decides = self.questions[0].is_about_decision
        lines = [f"Questions that would {'help most to decide' if decides else 'narrow'} {self.target}"]
        lines[0] += ":" if decides else " most:"
        for number, question in enumerate(self.questions[:SHOWN], start=1):
            gain = f"gains {amount_text(question.reduction * self.deviation)}"
            gain = gain if decides else f"narrower by {short_percent(question.narrowing)}"
            lines.append(f"{number}. {question.text} ({gain})")
        if len(self.questions) > SHOWN:
            lines.append(f"… and {len(self.questions) - SHOWN} more")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Json]:
        """The questions as dictionaries, lists, texts and finite numbers: what JSON can hold.

        Returns
        -------
        dict
            The fields by name, with the rows of `frame` as `questions`.
        """
        return {**PlainResult.to_dict(self), "questions": self.frame.to_dicts()}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that could be asked, and what each draw would answer."""

    kind: str
    text: str
    about: str
    child: str
    answers: Answers
    labels: tuple[str, ...]
    statements: tuple[str, ...]
    key: Hashable  # the same for a statement that answers it


def next_questions(
    fit: Fit,
    target: str | Query | None = None,
    count: int = 20,
    reliability: float = RELIABILITY,
    skip: Sequence[str] = (),
) -> NextQuestions:
    """Rank questions to an expert by how much an answer narrows a target; see `Fit.next_questions`."""
    if not 0.5 <= reliability <= 1.0:
        raise OptionError(f"How often an expert is right is a number from 0.5 to 1, not {reliability}.")
    if note := why_no_interval(fit):
        raise OptionError(f"{note} Questions are ranked by the draws.")
    posterior = fit.posterior
    assert isinstance(posterior, PosteriorResult)
    network = expand(fit.network).network
    draws = {
        name: cpts_under_draws(posterior, network, min(MOST_DRAWS, draw_count(posterior)), name)
        for name in network.names
    }
    goal = goal_of(fit, network, draws, target)
    found = []
    for candidate in candidates(fit, draws, goal.children, set(skip)):
        if candidate.kind == "comparison" and not {0, 1} <= set(candidate.answers.tolist()):
            continue  # which is more frequent is known
        reduction, answers = _expected_reduction(candidate, goal, reliability)
        if reduction > NOTHING:
            found.append(Question(candidate.kind, candidate.text, candidate.about, answers, reduction))
    found.sort(key=lambda question: -question.reduction)
    return NextQuestions(goal.name, goal.deviation, tuple(found[:count]))


def _expected_reduction(candidate: Candidate, goal: Goal, reliability: float) -> tuple[float, tuple[AnswerChoice, ...]]:
    """By which share less is expected not to be known after the answer, and what each answer would mean."""
    values = goal.values[candidate.child]
    usable = np.isfinite(values).all(axis=1)
    values, codes = values[usable], candidate.answers[usable]
    kinds = len(candidate.labels)
    if goal.total <= 0.0 or len(values) < 2 * FEW:
        return 0.0, ()
    member = np.zeros((kinds, len(values)))
    member[codes, np.arange(len(values))] = 1.0
    center = values.mean(axis=0)
    shifted = values - center  # squares of small numbers keep their digits
    counts, sums, squares = member.sum(axis=1), member @ shifted, member @ (shifted * shifted)
    wrong = (1.0 - reliability) / max(1, kinds - 1)
    own = reliability - wrong

    def mixed(groups: Numbers) -> Numbers:
        return np.asarray(own * groups + wrong * groups.sum(axis=0, keepdims=True), dtype=np.float64)

    weights, first, second = mixed(counts), mixed(sums), mixed(squares)
    weights = np.maximum(weights, np.finfo(float).tiny)  # an answer that no draw gives
    squared = reliability**2 * counts + wrong**2 * (len(values) - counts)  # Σ of squared weights
    effective = np.maximum(weights**2 / np.maximum(squared, np.finfo(float).tiny), 2.0)
    moves = first / weights[:, None]
    means, variances = center + moves, np.maximum(second / weights[:, None] - moves**2, 0.0)
    every = np.array([float(len(values))])
    all_of_them = (squares.sum(axis=0) / every)[None]
    before = float(goal.left(candidate.child, center[None], all_of_them, every, center[None])[0])
    teaches = np.array([len(text) > 0 for text in candidate.statements]) & (counts >= FEW)
    believed = np.where(teaches[:, None], means, center)
    left = goal.left(candidate.child, means, variances, effective, believed)
    chance = weights / weights.sum()
    reduction = (before - float((chance * left).sum())) / goal.total
    outcomes = [goal.outcome(mean) for mean in means]
    answers = tuple(
        AnswerChoice(label, statement, float(p), mean, best)
        for label, statement, p, (mean, best) in zip(
            candidate.labels, candidate.statements, chance, outcomes, strict=True
        )
    )
    return min(1.0, reduction), answers


# The grammar of askable questions -------------------------------------------------------------------------------------


def candidates(fit: Fit, draws: BatchedCPTs, children: Sequence[str], skip: set[str]) -> Iterator[Candidate]:
    """Every question that could be asked about these CPTs and has not been answered."""
    network, labels = fit.network, labels_of(fit.knowledge.declarations)
    decided = decision_problem(fit.knowledge.declarations, network).options  # nobody is asked what will be done
    settled = {_settles(each) for each in fit.knowledge.statements}
    for child in children:
        if (
            child in decided
            or child in network.forms
            or len(draws[child]) == 1
            or len(network.parents[child]) > MOST_PARENTS
        ):
            continue
        made = [
            *_influence_questions(fit, draws[child], child, labels),
            *_gate_questions(fit, draws[child], child, labels),
            *_configuration_questions(network, draws[child], child, labels),
        ]
        yield from (each for each in made if each.key not in settled and not skip & {each.about, each.text})


def _settles(statement: object) -> Hashable:
    """The question that a statement answers; None where it answers none."""
    if isinstance(statement, Influence):
        return str(statement.parent), str(statement.child)
    if isinstance(statement, Approximation):
        return frozenset(map(_place, (*probabilities_in(statement.left), *probabilities_in(statement.right))))
    if not isinstance(statement, Comparison):
        return None
    found = frozenset(_place(each) for side in statement.sides for each in probabilities_in(side))
    is_bound = len(found) == 1 and len(statement.sides) == 2 and "=" not in statement.relations  # the rest is open
    return None if is_bound else found


def _place(probability: Probability) -> Hashable:
    """A probability whatever the order of its conditions."""
    given = frozenset((str(name), str(state)) for name, state in probability.given)
    return str(probability.variable), tuple(map(str, probability.states)), given


def _influence_questions(fit: Fit, cpt: Numbers, child: str, labels: Labels) -> Iterator[Candidate]:
    """Does a parent raise or lower the child? Where both have an order."""
    network, orders = fit.network, fit.knowledge.orders
    if orders[child].reason == LISTED:
        return
    rank = [network.states(child).index(state) for state in orders[child].states]
    exceeding = cpt[..., rank][..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]  # P(child ≥ k), k above the lowest
    for axis, parent in enumerate(network.parents[child], start=1):
        order = orders[parent]
        if order.reason == LISTED:
            continue
        place = [network.states(parent).index(state) for state in order.states]
        steps = np.diff(exceeding.take(place, axis=axis), axis=axis)
        flat = steps.reshape(len(steps), -1)
        rises, falls = (flat >= 0.0).all(axis=1), (flat <= 0.0).all(axis=1)
        high, (low_parent, high_parent) = orders[child].states[-1], (order.states[0], order.states[-1])
        event = f"{labels.variable(child)} = {labels.state(child, high)}"
        if len(network.states(child)) > 2:
            event = f"a higher {labels.variable(child)}"
        condition = (
            f"the higher {labels.variable(parent)} is"
            if len(order.states) > 2
            else f"if {labels.variable(parent)} is {labels.state(parent, high_parent)} rather than "
            f"{labels.state(parent, low_parent)}"
        )
        yield Candidate(
            "influence",
            f"Is {event} more or less likely {condition}, everything else being equal?",
            f"{name_text(parent)} raises {name_text(child)}",
            child,
            np.where(rises, 0, np.where(falls, 1, 2)),
            ("more likely", "less likely", "neither, or it depends"),
            (str(Influence(parent, child, "raises")), str(Influence(parent, child, "lowers")), ""),
            (parent, child),
        )


def _gate_questions(fit: Fit, cpt: Numbers, child: str, labels: Labels) -> Iterator[Candidate]:
    """Does the child happen exactly if one of its parents does, or all of them? Where all have two ordered states."""
    network, orders = fit.network, fit.knowledge.orders
    parents = network.parents[child]
    members = (*parents, child)
    if len(parents) < 2 or any(len(network.states(n)) > 2 or orders[n].reason == LISTED for n in members):
        return
    high = [network.states(name).index(orders[name].states[-1]) for name in members]
    happens = np.moveaxis(cpt[..., high[-1]], 0, -1)  # (parents…, draws)
    happening = np.stack(np.meshgrid(*(np.arange(2) == k for k in high[:-1]), indexing="ij"))
    gates = [np.asarray(gate, dtype=np.float64) for gate in (happening.any(axis=0), happening.all(axis=0))]
    is_or, is_and = (
        (np.abs(happens - gate[..., None]) <= NEARLY_CERTAIN).reshape(-1, happens.shape[-1]).all(axis=0)
        for gate in gates
    )
    causes = ", ".join(f"{labels.variable(n)} = {labels.state(n, orders[n].states[-1])}" for n in parents)
    listed = ", ".join(map(name_text, parents))
    yield Candidate(
        "gate",
        f"Is {labels.variable(child)} = {labels.state(child, orders[child].states[-1])} whenever one of these is, and "
        f"never otherwise: {causes}?",
        f"{name_text(child)} is a gate of {listed}",
        child,
        np.where(is_or, 0, np.where(is_and, 1, 2)),
        ("yes, if any of them is", "only if all of them are", "no"),
        (f"{name_text(child)} is or of {listed}", f"{name_text(child)} is and of {listed}", ""),
        ("gate", child),
    )


def _configuration_questions(network: Network, cpt: Numbers, child: str, labels: Labels) -> Iterator[Candidate]:
    """How frequent is a state in a configuration that occurs, and in which of two configurations more?"""
    parents, states = network.parents[child], network.states(child)
    probable = configuration_probabilities(network, child)
    order = np.argsort(-probable, kind="stable")[:MOST_CONFIGURATIONS]
    occurring = [int(j) for j in order if probable[j] > LEAST_CONFIGURATION]
    flat = cpt.reshape(len(cpt), -1, len(states))
    shown = range(1, 2) if len(states) == 2 else range(len(states))
    for j in occurring:
        for k in shown:
            values = flat[:, j, k]
            if values.std() > 0.0:
                yield _number_question(network, child, j, k, values, labels)
    pairs = 0
    for i, j in combinations(occurring, 2):
        one, other = network.configuration(child, i), network.configuration(child, j)
        if sum(one[parent] != other[parent] for parent in parents) != 1:
            continue
        pairs += 1
        if pairs > MOST_PAIRS:
            return
        for k in shown:
            yield _comparison_question(network, child, (i, j), k, flat[:, i, k] - flat[:, j, k], labels)


def _term(network: Network, child: str, j: int, k: int) -> Probability:
    return Probability(child, (network.states(child)[k],), tuple(network.configuration(child, j).items()))


def _cases(network: Network, child: str, j: int, labels: Labels) -> str:
    given = network.configuration(child, j)
    shown = [f"{labels.variable(name)} = {labels.state(name, state)}" for name, state in given.items()]
    return f" with {', '.join(shown)}" if shown else ""


def _number_question(network: Network, child: str, j: int, k: int, values: Numbers, labels: Labels) -> Candidate:
    bins = _bins(values)
    cuts = np.quantile(values, np.arange(1, bins) / bins)
    ends = [0.0, *(float(f"{cut:.2g}") for cut in cuts), 1.0]
    asked = _term(network, child, j, k)
    term = probability_text(asked)
    event = f"{labels.variable(child)} = {labels.state(child, network.states(child)[k])}"
    ranges = [*pairwise(ends)]
    return Candidate(
        "number",
        f"Out of 100 cases{_cases(network, child, j, labels)}, how many have {event}?",
        term,
        child,
        np.searchsorted(cuts, values).astype(np.int64),
        tuple(f"{short_percent(low)} to {short_percent(high)}" for low, high in ranges),
        tuple(f"{number_text(low)} <= {term} <= {number_text(high)}" for low, high in ranges),
        frozenset([_place(asked)]),
    )


def _bins(values: Numbers) -> int:
    """Between how many ranges an expert's number distinguishes: each is as wide as what "about p" means, or wider."""
    low, middle, high = np.quantile(values, (0.05, 0.5, 0.95))
    least, greatest = about(float(middle))
    return int(np.clip(1 + (high - low) / (greatest - least), 2, MOST_BINS))


def _comparison_question(
    network: Network, child: str, configurations: tuple[int, int], k: int, difference: Numbers, labels: Labels
) -> Candidate:
    one, other = (_term(network, child, j, k) for j in configurations)
    first, second = (_cases(network, child, j, labels).strip() for j in configurations)
    event = f"{labels.variable(child)} = {labels.state(child, network.states(child)[k])}"
    left, right = probability_text(one), probability_text(other)
    same = f"{left} ~ {right} within {number_text(ABOUT_EQUAL)}"
    return Candidate(
        "comparison",
        f"Where is {event} more frequent: in cases {first}, or in cases {second}?",
        f"{left} against {right}",
        child,
        np.where(np.abs(difference) <= ABOUT_EQUAL, 2, np.where(difference > 0.0, 0, 1)).astype(np.int64),
        ("the first", "the second", "about the same"),
        (f"{left} >= {right}", f"{left} <= {right}", same),
        frozenset([_place(one), _place(other)]),
    )

"""One interview with an expert who knows the true network, in one of several orders; the error after each answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

import credo
from credo.knowledge.query import Query
from credo.knowledge.verbal_statements import about
from credo.questions.next_questions import Candidate, candidates, configuration_probabilities
from experiments.running import SHARED, Job, Record

FOLDER = SHARED / "networks" / "published"
NETWORKS = (
    "BOPfailure1", "BOPfailure3", "GDIpathway1", "agropastoral3", "agropastoral4", "asia", "case", "catchment",
    "coral1", "corical", "corrosion", "covid1", "covid2", "criminal1", "curacao1", "curacao3", "disputed2",
    "electricvehicle", "engines", "enrollment", "fingermarks1", "gasifier", "intentionalattacks", "lawschool",
    "oxygen", "project", "ropesegment", "vessel1", "waterlead", "accidents",
)  # fmt: skip
ASIDE = ("BOPfailure2", "curacao5", "disputed4", "gonorrhoeae", "grounding", "oildepot", "pilot", "vessel2")
STRATEGIES = ("credo", "random", "by weight", "file order")
TARGETS = ("probability", "whole network")
EXPERTS = {"right": 0.0, "wrong in one of ten": 0.1}
ROWS = 30
ANSWERS = 8
DRAWS = credo.PosteriorOptions(draws=100, warmup=100, max_draws=100)  # less than half of the time of the default
WRONG_ODDS = 4.0  # by which a wrong number is off
KEY = ("network", "target", "expert", "draw", "strategy")


def run_trial(job: Job, most: int = ANSWERS) -> list[Record]:
    """The errors of one interview: a row for each number of answers, from none to the most."""
    name, goal, expert, draw, strategy = job
    warnings.simplefilter("ignore")
    truth = credo.read_network(FOLDER / f"{name}.bif")
    generator = np.random.default_rng([draw, NETWORKS.index(name) if name in NETWORKS else 100 + ASIDE.index(name)])
    structure = credo.Network(truth.variables, truth.parents, name=truth.name)
    rows = truth.sample(ROWS, seed=int(generator.integers(2**31)))
    target = None if goal == "whole network" else random_target(truth, generator)
    statements: list[str] = []
    skip: set[str] = set()
    records: list[Record] = []
    for answers in range(most + 1):
        fit = _learned(structure, rows, statements, expert)
        if fit is None:  # an answer that is wrong contradicts others: nobody learns from it
            statements.pop()
            fit = _learned(structure, rows, statements, expert)
            assert fit is not None
        records.append({**dict(zip(KEY, job, strict=True)), "answers": answers, "error": error_of(truth, fit, target)})
        question = next(ask(fit, target, strategy, skip, generator), None)
        if question is None:
            break
        skip.update((question.text, question.about))
        if statement := answer_of(truth, fit, question, EXPERTS[expert], generator):
            statements.append(statement)
    last = records[-1]
    return records + [{**last, "answers": each} for each in range(len(records), most + 1)]


def _learned(structure: credo.Network, rows: object, statements: list[str], expert: str) -> credo.Fit | None:
    lines = statements if not EXPERTS[expert] else [f"expert e with reliability 0.9: {line}" for line in statements]
    try:
        text = "\n".join(lines)
        return credo.fit(structure, rows, text, method="posterior", posterior=DRAWS, progress=False)  # type: ignore[arg-type]
    except credo.CredoError:
        return None


def random_target(truth: credo.Network, generator: np.random.Generator) -> Query:
    """P(x = s | one or two findings of a simulated case), of a variable that the findings say something about."""
    while True:
        case = truth.sample(1, seed=int(generator.integers(2**31))).row(0, named=True)
        names = generator.permutation([n for n in truth.names if len(truth.states(n)) > 1]).tolist()
        child, *given = names[: 2 + int(generator.integers(2))]
        states = truth.states(child)
        found = Query({child: (states[int(generator.integers(len(states)))],)}, {name: (case[name],) for name in given})
        if 0.02 < float(truth_of(truth, found)) < 0.98:
            return found


def truth_of(truth: credo.Network, target: Query) -> float:
    from credo.questions.answers import query_network

    return float(query_network(truth, target))


def error_of(truth: credo.Network, fit: credo.Fit, target: Query | None) -> float:
    """How far the answer is from the true one; of the whole network the divergence from it, in nats."""
    return truth.kl(fit.network) if target is None else abs(float(fit.query(target)) - truth_of(truth, target))


def ask(
    fit: credo.Fit, target: Query | None, strategy: str, skip: set[str], generator: np.random.Generator
) -> Iterator[Candidate]:
    """The next question in an order; all of them only ask about CPTs that matter."""
    from credo.model.expansion import expand
    from credo.posterior.draws import cpts_under_draws, draw_count
    from credo.statistics.questions import factors_of

    network = expand(fit.network).network
    count = min(1000, draw_count(fit.posterior))  # type: ignore[arg-type]
    draws = {name: cpts_under_draws(fit.posterior, network, count, name) for name in network.names}  # type: ignore[arg-type]
    families = network.names
    if target is not None:
        families = factors_of(network, target.targets, target.evidence, {}).families
    asked = candidates(fit, draws, [name for name in fit.network.names if name in families], skip)
    open_questions = [each for each in asked if each.kind != "gate"]  # nobody calls a gate what is nearly one
    if strategy == "credo":
        best = [each.text for each in fit.next_questions(target, count=100, skip=tuple(skip)).questions]
        by_text = {each.text: each for each in open_questions}
        yield from (by_text[text] for text in best if text in by_text)
    elif strategy == "random":
        if open_questions:
            yield open_questions[int(generator.integers(len(open_questions)))]
    else:
        numbers = [each for each in open_questions if each.kind == "number"]
        if strategy == "by weight":
            numbers.sort(key=lambda each: -_weight(fit, each))
        yield from numbers


def _weight(fit: credo.Fit, question: Candidate) -> float:
    """How often the configuration of a number occurs."""
    probable = configuration_probabilities(fit.network, question.child)
    ((_, _, given),) = question.key  # type: ignore[misc, attr-defined]
    configurations = range(fit.network.configurations(question.child))
    wanted = dict(given)
    return next(float(probable[j]) for j in configurations if fit.network.configuration(question.child, j) == wanted)


def answer_of(
    truth: credo.Network, fit: credo.Fit, question: Candidate, wrong: float, generator: np.random.Generator
) -> str:
    """The statement that the expert makes; empty where there is none to make."""
    is_wrong = generator.random() < wrong
    if question.kind == "number":
        ((name, states, given),) = question.key  # type: ignore[misc, attr-defined]
        place = tuple(truth.states(parent).index(dict(given)[parent]) for parent in truth.parents[name])
        value = float(truth.cpt_array(name)[place][truth.states(name).index(states[0])])
        if is_wrong:
            odds = value / max(1e-9, 1.0 - value) * WRONG_ODDS ** (1 if value < 0.5 else -1)
            value = odds / (1.0 + odds)
        low, high = about(float(f"{value:.2g}"))
        return f"{low:.6g} <= {question.about} <= {high:.6g}"
    cpt = truth.cpt_array(question.child)[None]
    both = {question.child: np.concatenate([cpt, cpt])}
    known = candidates(_Known(truth, fit), both, [question.child], set())  # type: ignore[arg-type]
    same = next((each.answers[0] for each in known if each.text == question.text), None)
    if same is None:
        return ""  # about cases that never occur: nobody knows
    choice = int(same)
    if is_wrong:
        choice = (1, 0, 0)[choice]
    return question.statements[choice]


class _Known:
    """The true network in place of a fit, for the answers that it gives."""

    def __init__(self, truth: credo.Network, fit: credo.Fit) -> None:
        self.network = fit.network.with_cpts(truth.cpts)
        self.knowledge = credo.Knowledge(fit.network, "")

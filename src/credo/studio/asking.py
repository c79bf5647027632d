"""Questions of a page to what was learned, and their answers as JSON can hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import polars

from credo.errors import CredoError, OptionError, QueryError
from credo.knowledge import Knowledge
from credo.knowledge.decisions import CostDeclaration, DecisionDeclaration, UtilityDeclaration
from credo.knowledge.labels import Labels, labels_of
from credo.knowledge.query import Query
from credo.model.alignment import aligned_cpt
from credo.model.expansion import expand
from credo.model.network import Network
from credo.posterior.draws import MOST_CELLS, MOST_DRAWS
from credo.questions.decide import Decision
from credo.questions.marginals import as_given, marginals_given, marginals_of_network
from credo.questions.next_tests import NOTHING, NextTests
from credo.questions.question_draws import why_no_interval
from credo.results.fit_results import Fit
from credo.statistics.network_comparison import compare_networks
from credo.statistics.questions import marginal_factors
from credo.studio.opening import Opened
from credo.studio.result_data import MOST_CONFIGURATIONS
from credo.studio.support import support

QUICK_CELLS = 10_000_000  # of all cliques under all draws: about a third of a second
MOST_CHANGES = 50  # of numbers, between two fits
LEAST_CHANGE = 0.005  # less is no change that two percentages show
MOST_TESTS = 8  # that a page lists
MOST_QUESTIONS = 5
DECISION_LINES = (DecisionDeclaration, UtilityDeclaration, CostDeclaration)
MOST_NUMBERS = 12  # that an answer is most sensitive to


def given_of(request: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]:
    """Evidence, interventions and soft evidence of a request."""
    evidence, do, soft = (request.get(kind) or {} for kind in ("evidence", "do", "soft"))
    if not all(isinstance(each, Mapping) for each in (evidence, do, soft)):
        raise QueryError("Evidence is a mapping from variables to states.")
    return evidence, do, soft


def bars_data(opened: Opened, request: Mapping[str, Any]) -> dict[str, Any]:
    """The bars of all variables under evidence, of the fit or of a network that has its CPTs."""
    evidence, do, soft = given_of(request)
    answer: dict[str, Any] = {}
    if opened.fit is not None:
        supported = support(opened.fit, opened.reading, opened.table)
        known = {*opened.fit.network.names, *(opened.reading.network or ())}
        unused = [name for each in (evidence, do, soft) for name in each if name in known - supported.variables]
        answer = {"changes": list(supported.changes), "unused": unused}
        evidence, do, soft = (
            {name: each[name] for name in each if name not in unused} for each in (evidence, do, soft)
        )
        if request.get("quick") is True and _is_slow(opened.fit, evidence, do, soft):
            answer["rough"] = True  # the page asks again, and shows this meanwhile
            frame = marginals_of_network(opened.fit.network, evidence, interventions=do, soft=soft)
        else:
            frame = marginals_given(opened.fit, evidence, interventions=do, soft=soft)
        frame = frame.filter(frame["variable"].is_in(list(supported.variables)))
        source, note = "fit", why_no_interval(opened.fit)
    else:
        network = opened.given
        if network is None or not network.is_complete:
            return {"source": None, "bars": {}, "note": "Learn first: there are no probabilities yet."}
        frame = marginals_of_network(network, evidence, interventions=do, soft=soft)
        source, note = "network", "These are the numbers of the network file; learn, and they have intervals."
    bars: dict[str, dict[str, list[float | None]]] = {}  # by the names of states: their order may change
    for variable, state, probability, low, high in frame.iter_rows():
        bars.setdefault(variable, {})[state] = [probability, low, high]
    answer |= {"source": source, "bars": bars, "note": note}
    if request.get("before") is True and (before := _bars_before(opened, evidence, do, soft)):
        answer["before"] = before
    return answer


def _bars_before(
    opened: Opened, evidence: Mapping[str, Any], do: Mapping[str, Any], soft: Mapping[str, Any]
) -> dict[str, dict[str, float]]:
    """The same bars under the fit before; none where there is none, or it was of other variables."""
    if opened.fit is None or opened.previous is None or not opened.previous.same_structure(opened.fit.network):
        return {}
    try:
        frame = marginals_of_network(opened.previous, evidence, interventions=do, soft=soft)
    except CredoError:  # such as evidence that was impossible then
        return {}
    bars: dict[str, dict[str, float]] = {}
    for variable, state, probability, _, _ in frame.iter_rows():
        bars.setdefault(variable, {})[state] = probability
    return bars


def _is_slow(fit: Fit, evidence: Mapping[str, Any], do: Mapping[str, Any], soft: Mapping[str, Any]) -> bool:
    """Whether an answer under all draws would make a page wait, while one with the learned numbers would not."""
    if why_no_interval(fit):
        return False
    network = expand(fit.network).network
    cells = marginal_factors(
        network, *as_given(fit.network, evidence, do, soft), memory_limit=fit.memory_limit
    ).plan.cells
    return cells * min(MOST_DRAWS, MOST_CELLS // max(1, cells)) > QUICK_CELLS


def require_supported(opened: Opened, fit: Fit, names: Iterable[str]) -> None:
    """Refuse questions about variables that were learned otherwise than they are now."""
    supported = support(fit, opened.reading, opened.table)
    if not supported.variables.issuperset(names):
        raise OptionError(f"This was learned otherwise: {' '.join(supported.changes)} Learn again first.")


def sensitivity_data(fit: Fit, labels: Labels, request: Mapping[str, Any]) -> dict[str, Any]:
    """Which numbers and which evidence the probability of a state depends on most."""
    found = fit.sensitivity(_query_of(request), soft=given_of(request)[2])
    labelled = labels.in_texts(_states(fit.network))
    parameters = found.parameters.head(MOST_NUMBERS).to_dicts()
    return {
        "query": labelled(found.query),
        "probability": found.probability,
        "parameters": [{**each, "parameter": labelled(each["parameter"])} for each in parameters],
        "evidence": found.evidence.to_dicts(),
    }


def decision_lines(knowledge: Knowledge) -> list[Any]:
    """What a text says about decisions, and what outcomes are worth."""
    return [each for each in knowledge.declarations if isinstance(each, DECISION_LINES)]


def next_data(fit: Fit, knowledge: Knowledge, request: Mapping[str, Any]) -> dict[str, Any]:
    """Which observation would tell most about a variable, and what to do where the text has a decision."""
    labels, states = labels_of(knowledge.declarations), _states(fit.network)
    states |= {each.variable: each.states for each in knowledge.declarations if isinstance(each, DecisionDeclaration)}
    labelled = labels.in_texts(states)
    evidence, do, soft = given_of(request)
    lines = decision_lines(knowledge)
    decisions = {each.variable for each in lines if isinstance(each, DecisionDeclaration)}
    if soft or not decisions.issuperset(do):  # an option that is looked at is no part of the question
        raise OptionError("Tests and decisions are for what was observed: forget uncertain findings and what was set.")
    variable, answer = str(request.get("variable")), dict[str, Any]()
    is_decided = any(isinstance(each, UtilityDeclaration) for each in lines)
    if variable not in evidence:
        try:
            answer["tests"] = _tests_data(fit.next_tests(evidence, variable), labels, labelled)
        except OptionError as nothing_left:  # what to do can be said all the same
            if not is_decided:
                raise
            answer["hint"] = str(nothing_left)
    if is_decided:
        decided = fit.decide(evidence, utilities=lines)
        in_words = _labelled_decision(decided, labelled)
        answer["decision"] = {
            **decided.to_dict(),
            "sentence": str(in_words).splitlines()[0],
            "rules": list(in_words.changes),
        }
        with suppress(OptionError):  # where nothing is left to observe
            answer["gains"] = _tests_data(fit.next_tests(evidence, utilities=lines), labels, labelled)
    else:
        answer["hint"] = "For what to do, write a decision: decision treat: no, yes; and what each outcome is worth."
    return answer


def questions_data(fit: Fit, request: Mapping[str, Any]) -> dict[str, Any]:
    """Which questions to an expert would narrow the probability of a state most, and what each answer would state."""
    found = fit.next_questions(_query_of(request), count=MOST_QUESTIONS)
    questions = [
        {
            **{name: getattr(each, name) for name in ("text", "kind", "about", "narrowing")},
            "answers": [{"label": answer.label, "statement": answer.statement} for answer in each.answers],
        }
        for each in found.questions
    ]
    return {"target": found.target, "questions": questions}


def _query_of(request: Mapping[str, Any]) -> Query:
    """The probability of a state in a case; soft evidence is no part of it."""
    evidence, do, _ = given_of(request)
    return Query(
        {str(request.get("variable")): (str(request.get("state")),)},
        {name: (str(state),) for name, state in evidence.items()},
        {name: str(state) for name, state in do.items()},
    )


def _states(network: Network) -> dict[str, tuple[str, ...]]:
    return {name: network.states(name) for name in network.names}


def _tests_data(found: NextTests, labels: Labels, labelled: Callable[[str], str]) -> dict[str, Any]:
    """The tests by their names, and a sentence and a goal in the words of the labels."""
    called = [labels.variable(name) for name in found.tests["test"]]
    in_words = replace(
        found,
        given=labelled(found.given),
        goal=labels.variable(found.goal) if found.by == "information" else found.goal,
        now=labelled(found.now),
        tests=found.tests.with_columns(polars.Series("test", called, dtype=polars.String)),
    )
    tests = found.tests.filter(found.tests["value"] > NOTHING).head(MOST_TESTS).to_dicts()
    return {"sentence": str(in_words).splitlines()[0], "by": found.by, "goal": in_words.goal, "tests": tests}


def _labelled_decision(found: Decision, labelled: Callable[[str], str]) -> Decision:
    """The same in the words of the labels."""
    columns = polars.col(polars.String).map_elements(labelled, return_dtype=polars.String)
    frames = {name: getattr(found, name).with_columns(columns) for name in ("options", "thresholds", "utilities")}
    return replace(found, given=labelled(found.given), best=labelled(found.best), **frames)


def labelled_explanation(opened: Opened) -> dict[str, Any] | None:
    """What explains the fit, its sentences in the words of the labels that the text gives now."""
    found = opened.explanation
    if found is None or opened.fit is None:
        return found
    labelled = opened.reading.labels.in_texts(_states(opened.fit.network))
    return {
        **found,
        "summary": [labelled(each) for each in found["summary"]],
        "statements": [{**each, "effect": labelled(each["effect"])} for each in found["statements"]],
        "next": [{**each, "label": labelled(each["label"])} for each in found["next"]],
    }


def comparison_data(opened: Opened) -> dict[str, Any] | None:
    """What changed from the fit before to this one; None where there is none, or it was of other variables."""
    if opened.previous is None or opened.fit is None:
        return None
    try:
        found = compare_networks(opened.fit.network, opened.previous)
    except CredoError:
        return None
    largest = found.parameters.filter(found.parameters["difference"].abs() >= LEAST_CHANGE).head(MOST_CHANGES)
    fit, before = opened.fit.network, opened.previous
    labelled = opened.reading.labels.in_texts(_states(fit))
    return {
        "parameters": [
            {**row, "parameter": labelled(row["parameter"]), "difference": abs(row["difference"])}
            for row in largest.iter_rows(named=True)
        ],
        "cpts": {
            name: aligned_cpt(fit, before, name).reshape(-1, len(fit.states(name)))[:MOST_CONFIGURATIONS].tolist()
            for name in before.cpts
        },
    }

"""What a check found and what explains a fit, as JSON can hold it."""

from __future__ import annotations

from math import isfinite
from typing import Any

from credo.explain.explanation import ConfigurationExplanation, Explanation
from credo.posterior.draws import PosteriorResult
from credo.results.check_results import Check
from credo.results.fit_results import Fit

MOST_CONFIGURATIONS = 5_000  # of one variable; larger CPTs are in the learned network


def check_data(found: Check) -> dict[str, Any]:
    """The state of each statement, and the conflicts with their ways out."""
    redundant = {each.statement.number: each.follows_from for each in found.redundant}
    vacuous = {each.statement.number: each.reason for each in found.vacuous}
    excluded = {each.statement.number: each.excluded_by for each in found.excluded}
    contradicted = {each.statement.number: f"The data show instead: {each.evidence}" for each in found.contradicted}
    suspected = {each.number for each in found.suspected}
    unchecked = {each.statement.number for each in found.unchecked}
    statements = []
    for each in found.statements:
        number = each.statement.number
        state, detail = "consistent", ""
        if number in found.conflicting:
            state, detail = "conflict", "It cannot hold together with others."
        elif number in excluded:
            state = "excluded"
            detail = "Ruled out by " + "; ".join(str(other) for other in excluded[number]) + "."
        elif number in contradicted:
            state, detail = "contradicted", contradicted[number]
        elif number in vacuous:
            state, detail = "redundant", f"It says nothing: {vacuous[number]}."
        elif number in redundant:
            others = "; ".join(str(other) for other in redundant[number])
            state, detail = "redundant", f"It follows from {others}." if others else "It always holds."
        elif number in unchecked:
            state, detail = "unchecked", each.note or "Whether it can hold with the others is not known."
            if number in suspected:
                others = "; ".join(str(other) for other in found.suspected if other.number != number)
                detail = f"A search found no probabilities at which it holds with {others}. That is no proof."
        verdict = None if each.plausibility is None else each.plausibility.verdict
        statements.append(
            {
                "number": number,
                "line": each.statement.line,
                "text": each.statement.text,
                "state": state,
                "detail": detail,
                "numbers": each.numbers,
                "whole": each.constraints > 0 and each.numbers == 0,  # it is about the network, not single numbers
                "verdict": None if verdict is None else verdict.value,
            }
        )
    return {
        "feasible": found.feasible,
        "statements": statements,
        "conflicts": [
            {
                "statements": [
                    {"number": each.number, "line": each.line, "text": each.text} for each in conflict.statements
                ],
                "about": [list(each) for each in conflict.configurations],
                "slack": conflict.slack_needed,
                "resolutions": [
                    {
                        "line": each.statement.line,
                        "probabilities": [[name, value] for name, value in each.probabilities],
                    }
                    for each in conflict.resolutions
                ],
            }
            for conflict in found.conflicts[:50]
        ],
        "fewest": [each.line for each in found.fewest_to_drop],
        "seconds": found.seconds,
    }


def explanation_data(fit: Fit, explanation: Explanation) -> dict[str, Any]:
    """What each statement did, what data, knowledge and result say about each number, what to observe next."""
    return {
        "summary": list(explanation.summary),
        "notes": list(explanation.notes),
        "statements": [
            {
                "number": each.statement.number,
                "line": each.statement.line,
                "text": each.statement.text,
                "effect": each.describe_effect(),
                "important": each.is_important,
                "contradicted": each.is_contradicted,
                "largest_change": _number(each.largest_change),
                "verdict": None
                if each.plausibility is None or each.plausibility.verdict is None
                else each.plausibility.verdict.value,
                "variables": sorted({name for name, _ in each.configurations}),
            }
            for each in explanation.statements
        ],
        "cpts": {
            name: [_configuration(fit, each) for each in configurations[:MOST_CONFIGURATIONS]]
            for name, configurations in explanation.configurations.items()
        },
        "next": [
            {"variable": each.variable, "label": each.label, "observations": _number(each.observations)}
            for each in explanation.next_observations
        ],
    }


def cpt_data(fit: Fit, name: str) -> list[dict[str, Any]]:
    """The numbers of one CPT and their intervals, configuration by configuration, as `explanation_data` has them."""
    network = fit.network
    learned = network.cpt_array(name).reshape(-1, len(network.states(name)))[:MOST_CONFIGURATIONS]
    low = high = None
    if isinstance(fit.posterior, PosteriorResult) and name in fit.posterior.names and not fit.no_interval:
        low, high = (each.reshape(-1, learned.shape[1]) for each in fit.posterior.interval(name))
    return [
        {
            "label": network.describe(name, index),
            "index": index,
            "given": network.configuration(name, index),
            "observations": None,
            "learned": _numbers(learned[index]),
            "low": None if low is None else _numbers(low[index]),
            "high": None if high is None else _numbers(high[index]),
        }
        for index in range(len(learned))
    ]


def _configuration(fit: Fit, each: ConfigurationExplanation) -> dict[str, Any]:
    low, high = (None, None) if each.interval is None else each.interval
    return {
        "label": each.label,
        "index": each.index,
        "given": fit.network.configuration(each.variable, each.index) if each.variable in fit.network.names else {},
        "observations": _number(each.observations),
        "data": _numbers(each.frequencies),
        "lowest": _numbers(each.low),
        "highest": _numbers(each.high),
        "learned": _numbers(each.learned),
        "low": _numbers(low),
        "high": _numbers(high),
        "changed_by": [[number, _number(change)] for number, change in each.changed_by[:5]],
    }


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _numbers(values: Any) -> list[float | None] | None:
    return None if values is None else [_number(float(value)) for value in values]

"""The explanation of a fit as JSON can hold it."""

from __future__ import annotations

from math import isfinite
from typing import Any

from credo.explain.explanation import ConfigurationExplanation, Explanation
from credo.results.fit_results import FitResult

MOST_CONFIGURATIONS = 5_000  # of one variable; larger CPTs are in the learned network


def explanation_data(fit: FitResult, explanation: Explanation) -> dict[str, Any]:
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


def _configuration(fit: FitResult, each: ConfigurationExplanation) -> dict[str, Any]:
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

"""What the check found, line by line, as JSON can hold it."""

from __future__ import annotations

from typing import Any

from credo.results.check_results import CheckResult


def check_data(found: CheckResult) -> dict[str, Any]:
    """The state of each statement, and the conflicts with their ways out."""
    redundant = {each.statement.number: each.follows_from for each in found.redundant}
    vacuous = {each.statement.number: each.reason for each in found.vacuous}
    excluded = {each.statement.number: each.excluded_by for each in found.excluded}
    contradicted = {each.statement.number: f"The data show instead: {each.evidence}" for each in found.contradicted}
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
        verdict = None if each.plausibility is None else each.plausibility.verdict
        statements.append(
            {
                "number": number,
                "line": each.statement.line,
                "text": each.statement.text,
                "state": state,
                "detail": detail,
                "numbers": each.numbers,
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

"""The audit trail of a fit as text: who learned it when, from what, and what changed."""

from __future__ import annotations

from collections.abc import Iterator

from credo.errors import counted, listing
from credo.results.audit import Step
from credo.results.fit_results import Fit
from credo.terminal import escape


def history_text(fit: Fit) -> str:
    """All steps of a fit, the first one first."""
    if not fit.trail:
        return "This fit has no audit trail."
    lines = [f"{counted(len(fit.trail), 'step')}, {counted(fit.rows, 'row')} in all."]
    for number, step in enumerate(fit.trail, 1):
        lines += ["", f"{number}. {first_sentence(step, number == 1)}", *(f"   {line}" for line in details(step))]
    return "\n".join(lines)


def first_sentence(step: Step, is_first: bool) -> str:
    """When, what and by whom."""
    what = "Learned from" if is_first else "Updated with"
    tables = listing([str(table) for table in step.tables])
    source = (
        f"{counted(step.rows, 'row')}: {tables}" if step.tables else "statements alone" if is_first else "statements"
    )
    who = f" by {step.who}" if step.who else ""
    return f"{step.date}{who}. {what} {source}."


def details(step: Step) -> Iterator[str]:
    """What else is known of a step, line by line."""
    yield f"{counted(step.statements, 'statement')}, credo {step.version}, seed {step.seed}"
    for text in step.added:
        yield f"added: {text}"
    for text in step.withdrawn:
        yield f"withdrawn: {text}"
    if step.forget is not None:
        yield f"older rows count half after {step.forget:g} newer ones"
    if step.kept < 1.0:
        yield f"rows from before count {step.kept:.0%} of what they did: so they predict the new ones best"
    for text in step.changes:
        yield f"changed: {text}"


def audit_section(fit: Fit) -> str:
    """The same as HTML: every step with its tables, and the text as it was used."""
    steps = ""
    for number, step in enumerate(fit.trail):
        lines = "".join(f"<li>{escape(line)}</li>" for line in details(step))
        steps += f"<li>{escape(first_sentence(step, number == 0))}<ul>{lines}</ul></li>"
    text = escape(fit.knowledge.to_text())
    whole = f"<details><summary>The text that was used</summary><pre>{text}</pre></details>" if text else ""
    return f"<ol>{steps}</ol>{whole}" if steps else ""

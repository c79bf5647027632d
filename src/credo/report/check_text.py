"""The check of knowledge as text: the verdict first, then conflicts, then each statement."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from math import floor, isfinite, log10

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from credo.errors import counted
from credo.explain.plausibility import Plausibility, ProbabilityEstimate, Verdict, bayes_factor_error
from credo.explain.statement_references import StatementReference, capitalised, places_of
from credo.explain.summary import what_is_contradicted
from credo.results.check_results import Check, Conflict, StatementCheck
from credo.terminal import console

FEW = 12  # entries of one kind that are listed; the rest is counted
FEW_STATEMENTS = 60
LEAST_SHOWN = 1e-4  # smaller numbers are shown as below this
STYLES = {
    Verdict.CONTRADICTED: "bold red",
    Verdict.DOUBTED: "yellow",
    Verdict.INCONCLUSIVE: "dim",
    Verdict.SUPPORTED: "green",
}


def check_summary(check: Check) -> RenderableType:
    """The whole check, for a terminal."""
    verdict, *about_data = verdict_sentences(check)
    colour = "red" if not check.feasible else "yellow" if check.unchecked else "green"
    first = Text(verdict, style=f"bold {colour}")
    for sentence in about_data:
        first.append(f" {sentence}", style="bold red" if check.contradicted else "not bold")
    parts: list[RenderableType] = [first]
    parts += [Text(f"• {sentence}") for sentence in what_is_contradicted(check.contradicted)]
    parts += [_conflict(number, conflict) for number, conflict in enumerate(check.conflicts[:FEW], start=1)]
    if len(check.conflicts) > FEW:
        parts.append(Text(f"… and {counted(len(check.conflicts) - FEW, 'more conflict')}."))
    parts += [Text(f"\n{sentence}") for sentence in about_all_conflicts(check)]
    if check.statements:
        parts += [Text(""), _statement_table(check)]
    for title, lines in sections(check):
        parts += _section(title, lines)
    return Group(*parts)


def check_plain_text(check: Check) -> str:
    """The same without colours."""
    return plain_text(check_summary(check))


def plain_text(renderable: RenderableType, width: int = 110) -> str:
    """What a terminal of this width would show, without colours."""
    stream = StringIO()
    shown = console(file=stream, width=width, no_color=True, force_terminal=False, legacy_windows=False)
    shown.print(renderable)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def verdict_sentences(check: Check) -> list[str]:
    """Whether the knowledge can hold and, if it was compared with data, what these say about it."""
    statements = counted(len(check.statements), "statement")
    if not check.statements:
        return ["There are no statements to check."]
    if check.suspected:
        which = places_of(check.suspected)
        sentences = [
            f"{capitalised(which)} do not seem to go together: no probabilities were found at which all of them hold. "
            "That is what a search found, and no proof."
        ]
    elif check.feasible:
        sentences = [_what_can_hold(check)]
    else:
        least = "" if check.has_all_conflicts else "at least "
        several = f"there are {least}{len(check.conflicts)} conflicts"
        conflicts = f"there is {least}one conflict" if len(check.conflicts) == 1 else several
        sentences = [f"The knowledge contradicts itself: {conflicts} among its {statements}."]
    if check.contradicted:
        which = "one statement" if len(check.contradicted) == 1 else f"{len(check.contradicted)} statements"
        sentences.append(f"The data contradict {which}.")
    elif check.with_data:
        compared = any(each.plausibility is not None and each.plausibility.after_data for each in check.statements)
        verb = "The data contradict none of them." if compared else "None of them could be compared with the data."
        sentences.append(verb)
    return sentences


def _what_can_hold(check: Check) -> str:
    """The verdict on knowledge without conflicts, which counts only the statements that were checked."""
    left_out = check.unchecked
    may_be_wrong = sum(each.confidence is not None and not each.note for each in check.statements)
    checked = len(check.statements) - len(left_out) - may_be_wrong
    together = "can all hold together" if checked > 1 else "can hold"
    if not left_out and not may_be_wrong:
        return f"The knowledge is consistent: its {counted(checked, 'statement')} {together}."
    if not left_out and not checked:
        return "The knowledge is consistent: all of its statements have a confidence, and may be wrong."
    if not left_out:
        others = "One more has" if may_be_wrong == 1 else f"{may_be_wrong} more have"
        return (
            f"The knowledge is consistent: the {counted(checked, 'statement')} that must hold {together}. "
            f"{others} a confidence, and may be wrong."
        )
    few = len(left_out) <= FEW
    which = places_of([each.statement for each in left_out]) if few else f"{len(left_out):,} others"
    several = len(left_out) > 1
    reason = "the reasons are under “Left out of the check”"
    if {each.note for each in left_out} == {left_out[0].note} and left_out[0].note:
        note = left_out[0].note
        reason = (
            note
            if not several
            else note.replace("it is about a probability that depends", "they are about probabilities that depend", 1)
        )
    if not checked:
        subject = "The statement" if not several else f"None of the {counted(len(left_out), 'statement')}"
        return f"{subject} was {'not ' if not several else ''}checked for conflicts: {reason}."
    verb = "was" if not several else "were"
    return (
        f"{checked:,} of {counted(len(check.statements), 'statement')} {together}; {which} {verb} not checked against "
        f"the others: {reason}."
    )


def sections(check: Check) -> list[tuple[str, Sequence[str]]]:
    """What else was found, under its titles."""
    determined = [f"{each.probability} = {each.value:g}, by {places_of(each.statements)}" for each in check.determined]
    forced = [f"{capitalised(places_of(each.statements))} force {each.equation}" for each in check.forced_equalities]
    orders = [f"{each.variable}: {' < '.join(each.states)} ({each.reason})" for each in check.orders]
    return [
        (
            "Statements with a confidence that cannot hold",
            [_excluded(each.statement, each.excluded_by) for each in check.excluded],
        ),
        ("Probabilities with only one possible value", determined),
        (
            "Statements that follow from others",
            [_redundant(each.statement, each.follows_from) for each in check.redundant],
        ),
        ("Statements that always hold", [f"{_named(each.statement)}: {each.reason}" for each in check.vacuous]),
        ("Equalities that follow from the statements", forced),
        ("Taken from the table", check.from_table),
        ("How sentences were read", check.readings),
        ("How states are ordered, from low to high", orders),
        ("Checked in another way", check.notes),
        ("Left out of the check", check.not_checked),
    ]


def about_all_conflicts(check: Check) -> list[str]:
    """Whether there may be more conflicts, and what would end them all."""
    sentences = []
    if not check.has_all_conflicts:
        sentences.append(f"The search ended at {counted(len(check.conflicts), 'conflict')}: there may be more.")
    elif len(check.conflicts) > 1 and check.fewest_to_drop:
        named = places_of(check.fewest_to_drop)
        fewer = "; with fewer left out, one is" if len(check.fewest_to_drop) > 1 else ""
        sentences.append(f"Without {named}, no conflict is left{fewer}.")
    return sentences


def ways_out(conflict: Conflict) -> str:
    """What would end a conflict, in sentences; nothing where that is not known."""
    several = len(conflict.statements) > 1
    sentences = ["Without any one of them, the others among them can hold."] if several and conflict.resolutions else []
    if conflict.slack_needed is not None:
        subject = "All of them can hold if each bound" if several else "It can hold if its bound"
        sentences.append(f"{subject} gives way by {conflict.slack_needed:.2g}.")
    return " ".join(sentences)


def most_doubtful_first(each: StatementCheck) -> tuple[int, float]:
    """A sorting key: what the data contradict first; what cannot be compared with them last."""
    found = each.plausibility
    if found is None or found.after_data is None:
        return len(Verdict), 0.0
    return list(Verdict).index(found.verdict or Verdict.INCONCLUSIVE), found.bayes_factor or 0.0


def estimate_text(estimate: ProbabilityEstimate) -> str:
    """A probability, with no more digits than are known."""
    if estimate.upper_bound is not None:
        return f"<{_number(max(estimate.upper_bound, LEAST_SHOWN))}"
    if 0.995 <= estimate.value < 1.0:
        return ">0.99"
    return rounded(estimate.value, estimate.error, is_exact=estimate.is_exact)


def factor_text(found: Plausibility) -> str:
    """A Bayes factor, with no more digits than are known."""
    if found.bayes_factor is None:
        return "–"
    if found.is_upper_bound:
        return f"<{_number(max(found.bayes_factor, LEAST_SHOWN))}"
    is_exact = found.before_data.is_exact and found.after_data is not None and found.after_data.is_exact
    return rounded(found.bayes_factor, bayes_factor_error(found), is_exact=is_exact)


def rounded(value: float, error: float, *, is_exact: bool) -> str:
    """A number with no more digits than its error leaves; `≈` marks an estimate from draws."""
    if 0.0 < value < LEAST_SHOWN:
        return f"<{_number(LEAST_SHOWN)}"
    if is_exact or not error > 0.0:
        return _number(value)
    if value < error:
        return f"<{_number(value + 2 * error)}"
    return f"≈{_number(value, error)}"


def _number(value: float, error: float = 0.0) -> str:
    """Two significant digits, and fewer where the error is in the first or the number is tiny."""
    if value == 0.0 or not isfinite(value):
        return f"{value:g}"
    digits = 1 if value <= LEAST_SHOWN else 2
    decimals = digits - 1 - floor(log10(value))
    if error > 0.0:
        decimals = min(decimals, -floor(log10(error)))
    value = round(value, decimals)
    return f"{value:,.{max(decimals, 0)}f}" if value < 1e7 else f"{value:.2g}"


def _conflict(number: int, conflict: Conflict) -> Text:
    what = "these statements cannot all hold" if len(conflict.statements) > 1 else "this statement cannot hold"
    text = Text(f"\nConflict {number}: {what}.\n", style="bold")
    numbered = all(each.place.startswith("line ") for each in conflict.statements)
    width = max(len(str(each.line) if numbered else each.place) for each in conflict.statements)
    for each in conflict.statements:
        place = f"line {each.line:>{width}}" if numbered else f"{each.place:<{width}}"
        text.append(f"  {place}  " if width and place else "  ", style="dim")
        text.append(f"{each.text}\n", style="not bold")
    sentences = ways_out(conflict)
    return text.append(f"  {sentences}", style="not bold") if sentences else text[:-1]


def _statement_table(check: Check) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    headings = ("before", "after", "ratio", "the data") if check.with_data else ("before", "constraints", "kind")
    for heading in ("line", "statement", *headings):
        is_text = heading in ("statement", "kind", "the data")
        table.add_column(heading, justify="left" if is_text else "right", overflow="fold", no_wrap=not is_text)
    statements: Sequence[StatementCheck] = check.statements
    if check.with_data:
        statements = sorted(statements, key=most_doubtful_first)
    conflicting = check.conflicting
    for each in statements[:FEW_STATEMENTS]:
        cells = [
            Text(each.statement.place.removeprefix("line ")),
            Text(each.statement.text, style="red" if each.statement.number in conflicting else ""),
            Text("–" if each.plausibility is None else estimate_text(each.plausibility.before_data)),
        ]
        if check.with_data:
            cells += _data_cells(each.plausibility)
        else:
            kind = each.kind if each.guo_type is None else f"{each.kind} (type {each.guo_type})"
            cells += [Text(f"{each.constraints:,}" if each.constraints else "–"), Text(kind, style="dim")]
        table.add_row(*cells)
    left = len(statements) - FEW_STATEMENTS
    caption = "before: the probability of a statement before any data: the share of all possible CPTs that it allows."
    if check.with_data:
        caption += " after: its probability by the data alone. ratio: after divided by before, the Bayes factor."
    if any(each.plausibility is not None and each.plausibility.equality_tolerance for each in statements):
        caption += (
            " Equalities are read as equal within 0.002, or within a number that is smaller; one row refutes what"
        )
        caption += " is called impossible."
    table.caption = f"… and {left:,} more statements (all of them with --json). {caption}" if left > 0 else caption
    table.caption_justify = "left"
    return table


def _data_cells(found: Plausibility | None) -> list[Text]:
    if found is None or found.after_data is None:
        return [Text("–"), Text("–"), Text("")]
    verdict = found.verdict or Verdict.INCONCLUSIVE
    return [Text(estimate_text(found.after_data)), Text(factor_text(found)), Text(verdict.value, style=STYLES[verdict])]


def _section(title: str, lines: Sequence[str]) -> list[RenderableType]:
    if not lines:
        return []
    shown: list[RenderableType] = [Text(f"\n{title}", style="bold")]
    shown += [Text(f"• {line}") for line in lines[:FEW]]
    if len(lines) > FEW:
        shown.append(Text(f"  … and {len(lines) - FEW:,} more (all of them with --json).", style="dim"))
    return shown


def _redundant(statement: StatementReference, sources: Sequence[StatementReference]) -> str:
    if not sources:
        return f"{_named(statement)} holds for all probabilities: it adds nothing"
    return f"{_named(statement)} follows from {places_of(sources)}"


def _excluded(statement: StatementReference, others: Sequence[StatementReference]) -> str:
    if not others:
        return f"{_named(statement)} holds for no probabilities at all"
    return f"{_named(statement)} is ruled out by {places_of(others)}"


def _named(statement: StatementReference) -> str:
    return f"{capitalised(statement.place)} (“{statement.text}”)" if statement.place else f"“{statement.text}”"

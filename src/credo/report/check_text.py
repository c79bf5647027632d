"""The check of a knowledge as people read it: the verdict first, then conflicts, then each statement."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from math import floor, isfinite, log10

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from credo.check_results import Check, Conflict, Said, StatementCheck, starting
from credo.explain.plausibility import Plausibility, Share, Verdict, bayes_factor_error

FEW = 12  # entries of one kind that are listed; the rest is counted
FEW_STATEMENTS = 60
STYLES = {
    Verdict.CONTRADICTED: "bold red",
    Verdict.DOUBTED: "yellow",
    Verdict.OPEN: "dim",
    Verdict.SUPPORTED: "green",
}


def check_summary(check: Check) -> RenderableType:
    """The whole check, for a terminal."""
    parts: list[RenderableType] = [verdict_line(check)]
    parts += [_conflict(number, conflict) for number, conflict in enumerate(check.conflicts[:FEW], start=1)]
    if len(check.conflicts) > FEW:
        parts.append(Text(f"… and {len(check.conflicts) - FEW} more conflicts."))
    if check.statements:
        parts += [Text(""), _statements(check)]
    for title, lines in sections(check):
        parts += _section(title, lines)
    return Group(*parts)


def sections(check: Check) -> list[tuple[str, Sequence[str]]]:
    """What else is to be said, under its titles."""
    pinned = [f"{each.parameter} = {each.value:g}, by {_lines(each.statements)}" for each in check.pinned]
    fixed = [f"{_place(each.statement)}: {each.reason}" for each in check.cannot_differ]
    fixed += [f"{starting(_lines(each.statements))} together force {each.equation}" for each in check.forced_equal]
    orders = [f"{each.variable}: {' < '.join(each.states)} ({each.reason})" for each in check.orders]
    return [
        ("Soft statements that cannot hold", [_because(each.statement, each.because) for each in check.cannot_hold]),
        ("Numbers that can have one value only", pinned),
        ("Statements that follow from others", [_follows(each.statement, each.sources) for each in check.redundant]),
        ("Statements on numbers that cannot differ", fixed),
        ("How states are ordered, from low to high", orders),
        ("Checked by other means", check.notes),
        ("Not checked", check.not_checked),
    ]


def check_plain_text(check: Check, width: int = 110) -> str:
    """The same, without colours: what `print(check)` shows."""
    stream = StringIO()
    console = Console(
        file=stream, width=width, no_color=True, highlight=False, force_terminal=False, legacy_windows=False
    )
    console.print(check_summary(check))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def verdict_line(check: Check) -> Text:
    """Whether the knowledge can hold, and what the data say to it."""
    size = f"{_count(len(check.statements), 'statement')}, {_count(check.rows, 'row')}, {_count(check.blocks, 'block')}"
    if check.feasible:
        found = Text(f"The knowledge is consistent: {size}.", style="bold green")
    else:
        clashes = "one conflict" if len(check.conflicts) == 1 else f"{len(check.conflicts)} conflicts"
        found = Text(f"The knowledge contradicts itself: {clashes} among {size}.", style="bold red")
    against = [each for each in check.statements if _worry(each) is Verdict.CONTRADICTED]
    if against:
        verb = "contradict one statement" if len(against) == 1 else f"contradict {len(against)} statements"
        found.append(f" The data {verb}.", style="bold red")
    elif check.with_data:
        if any(each.plausibility is not None and each.plausibility.probability for each in check.statements):
            found.append(" The data contradict none of it.", style="green")
        else:
            found.append(" Nothing of it could be compared with the data.", style="yellow")
    return found


def _conflict(number: int, conflict: Conflict) -> Text:
    if len(conflict.statements) == 1:
        text = Text(f"\nConflict {number}: this statement cannot hold.\n", style="bold")
    else:
        text = Text(f"\nConflict {number}: these statements cannot hold together.\n", style="bold")
    numbered = all(each.place.startswith("line ") for each in conflict.statements)
    width = max(len(str(each.line) if numbered else each.place) for each in conflict.statements)
    for each in conflict.statements:
        place = f"line {each.line:>{width}}" if numbered else f"{each.place:<{width}}"
        text.append(f"  {place}  " if width and place else "  ", style="dim")
        text.append(f"{each.text}\n", style="not bold")
    sentences = way_out(conflict)
    return text.append(f"  {sentences}", style="not bold") if sentences else text[:-1]


def way_out(conflict: Conflict) -> str:
    """What would end a conflict, in sentences; nothing where that is not known."""
    together = len(conflict.statements) > 1
    sentences = ["Without any one of them, the others can hold."] if together and conflict.without_one else []
    if conflict.gap is not None:
        who, end = ("Each", " for all to hold") if together else ("It", "")
        sentences.append(f"{who} would have to give way by {conflict.gap:.2g}{end}.")
    return " ".join(sentences)


def _statements(check: Check) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    headings = ("chance", "factor", "data say") if check.with_data else ("kind",)
    for heading in ("line", "statement", "rows", "keeps", *headings):
        words = heading in ("statement", "kind", "data say")
        table.add_column(heading, justify="left" if words else "right", overflow="fold", no_wrap=not words)
    rows: Sequence[StatementCheck] = check.statements
    if check.with_data:
        rows = sorted(rows, key=by_worry)
    clashing = {each.number for conflict in check.conflicts for each in conflict.statements}
    for each in rows[:FEW_STATEMENTS]:
        kind = each.kind if each.guo_type is None else f"{each.kind} (type {each.guo_type})"
        cells = [
            Text(each.said.place.removeprefix("line ")),
            Text(each.said.text, style="red" if each.said.number in clashing else ""),
            Text(str(each.rows) if each.rows else "–"),
            Text("–" if each.plausibility is None else share_text(each.plausibility.volume)),
        ]
        table.add_row(*cells, *(_data_cells(each.plausibility) if check.with_data else [Text(kind, style="dim")]))
    left = len(rows) - FEW_STATEMENTS
    caption = "keeps: the share of all tables that a statement allows."
    if check.with_data:
        caption += " chance: its probability by the data alone. factor: chance by keeps, the Bayes factor."
    if any(each.plausibility is not None and each.plausibility.region for each in rows):
        caption += " Equalities are read as equal within 0.01."
    table.caption = f"… and {left:,} more statements (all of them with --json). {caption}" if left > 0 else caption
    table.caption_justify = "left"
    return table


def _data_cells(found: Plausibility | None) -> list[Text]:
    if found is None or found.probability is None:
        return [Text("–"), Text("–"), Text("")]
    verdict = found.verdict or Verdict.OPEN
    return [Text(share_text(found.probability)), Text(factor_text(found)), Text(verdict.value, style=STYLES[verdict])]


def _worry(each: StatementCheck) -> Verdict | None:
    return None if each.plausibility is None else each.plausibility.verdict


def by_worry(each: StatementCheck) -> tuple[int, float]:
    """What the data contradict comes first; what they say nothing about last."""
    found = each.plausibility
    if found is None or found.probability is None:
        return len(Verdict), 0.0
    return list(Verdict).index(found.verdict or Verdict.OPEN), found.bayes_factor or 0.0


def _section(title: str, lines: Sequence[str]) -> list[RenderableType]:
    if not lines:
        return []
    shown: list[RenderableType] = [Text(f"\n{title}", style="bold")]
    shown += [Text(f"• {line}") for line in lines[:FEW]]
    if len(lines) > FEW:
        shown.append(Text(f"  … and {len(lines) - FEW:,} more (all of them with --json).", style="dim"))
    return shown


def _follows(statement: Said, sources: Sequence[Said]) -> str:
    if not sources:
        return f"{_place(statement)} holds for all probabilities: it says nothing"
    return f"{_place(statement)} follows from {_lines(sources)}"


def _because(statement: Said, because: Sequence[Said]) -> str:
    if not because:
        return f"{_place(statement)} holds for no probabilities at all"
    return f"{_place(statement)} is ruled out by {_lines(because)}"


def _lines(statements: Sequence[Said]) -> str:
    """`lines 2, 5 and 7`, places in several files, or the words of statements that have no line."""
    places = [each.place for each in statements]
    if not all(places):
        return "; ".join(f"“{each.text}”" for each in statements)
    if all(place.startswith("line ") for place in places) and len(places) > 1:
        places = [place.removeprefix("line ") for place in places]
        places[0] = f"lines {places[0]}"
    return places[0] if len(places) == 1 else f"{', '.join(places[:-1])} and {places[-1]}"


def _place(said: Said) -> str:
    return f"{starting(said.place)} (“{said.text}”)" if said.place else f"“{said.text}”"


def share_text(share: Share) -> str:
    """A probability, with no more digits than are known."""
    if share.below is not None:
        return f"<{_number(share.below)}"
    if 0.995 <= share.value < 1.0:
        return ">0.99"
    return _estimate(share.value, share.error, exact=share.exact)


def factor_text(found: Plausibility) -> str:
    """A Bayes factor, with no more digits than are known."""
    if found.bayes_factor is None:
        return "–"
    if found.relation:
        return f"{found.relation}{_number(found.bayes_factor)}"
    exact = found.volume.exact and found.probability is not None and found.probability.exact
    return _estimate(found.bayes_factor, bayes_factor_error(found), exact=exact)


def _estimate(value: float, error: float, *, exact: bool) -> str:
    """A number with no more digits than its error leaves; `≈` says that it was drawn, not worked out."""
    if exact or not error > 0.0:
        return _number(value)
    if value < error:
        return f"<{_number(value + 2 * error)}"
    return f"≈{_number(value, error)}"


def _number(value: float, error: float = 0.0) -> str:
    """Two significant digits, and fewer where the error is in the first."""
    if value == 0.0 or not isfinite(value):
        return f"{value:g}"
    decimals = 1 - floor(log10(value))
    if error > 0.0:
        decimals = min(decimals, -floor(log10(error)))
    value = round(value, decimals)
    return f"{value:,.{max(decimals, 0)}f}" if 1e-3 <= value < 1e7 else f"{value:.2g}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

"""The page of a check: whether the knowledge can hold, a picture of each conflict, and what else was found."""

from __future__ import annotations

from collections.abc import Sequence

from credo.drawing.conflict_graph import conflict_graph
from credo.drawing.svg import conflict_svg
from credo.explain.plausibility import Verdict
from credo.explain.summary import what_is_contradicted
from credo.report.check_text import (
    about_all_conflicts,
    estimate_text,
    factor_text,
    most_doubtful_first,
    sections,
    verdict_sentences,
    ways_out,
)
from credo.report.html import as_text, bullets, document, figure, folded, search_box, table
from credo.results.check_results import Check, Conflict, StatementCheck
from credo.terminal import escape

MAX_STATEMENTS = 8_000  # on one page
FEW_STATEMENTS = 60  # that are in sight
FEW_CONFLICTS = 20
FEW_LINES = 200
CLASSES = {Verdict.CONTRADICTED: "contradicted", Verdict.DOUBTED: "binding", Verdict.INCONCLUSIVE: "no_effect"}

_BEFORE = (
    "<b>Before</b>: the probability of the statement before any data: the share of all possible CPTs that it allows."
)
_AFTER = " <b>After</b>: its probability by the data alone. <b>Ratio</b>: after divided by before, the Bayes factor."


def check_page(check: Check) -> str:
    """The whole check as HTML."""
    verdict = " ".join(verdict_sentences(check))
    parts = [f"<p><strong>{escape(verdict)}</strong></p>"]
    parts += [bullets(what_is_contradicted(check.contradicted))] if check.contradicted else []
    parts.append(search_box("Find a statement"))
    parts += [_conflict(number, each) for number, each in enumerate(check.conflicts[:FEW_CONFLICTS], start=1)]
    if len(check.conflicts) > FEW_CONFLICTS:
        parts.append(f"<p>There are {len(check.conflicts) - FEW_CONFLICTS:,} more conflicts.</p>")
    parts += [f"<p>{escape(sentence)}</p>" for sentence in about_all_conflicts(check)]
    parts.append(_statements(check))
    for title, lines in sections(check):
        if lines:
            more = f"<p>{len(lines) - FEW_LINES:,} more.</p>" if len(lines) > FEW_LINES else ""
            parts.append(f"<h2>{escape(title)}</h2>{bullets(lines[:FEW_LINES])}{more}")
    return document("Check of the knowledge", parts)


def conflict_picture(conflict: Conflict) -> str:
    """A conflict as SVG."""
    return conflict_svg(conflict_graph([str(each) for each in conflict.statements], conflict.configurations))


def _conflict(number: int, conflict: Conflict) -> str:
    several = len(conflict.statements) > 1
    title = "these statements cannot all hold" if several else "this statement cannot hold"
    picture = figure(
        conflict_picture(conflict), "Statements on the left, the probabilities they are about on the right."
    )
    items = "".join(f'<li><a href="#s{each.number}">{escape(str(each))}</a></li>' for each in conflict.statements)
    return f"<h2>Conflict {number}: {title}</h2><ul>{items}</ul><p>{escape(ways_out(conflict))}</p>{picture}"


def _statements(check: Check) -> str:
    if not check.statements:
        return ""
    conflicting = check.conflicting
    ordered = sorted(
        check.statements, key=lambda each: (each.statement.number not in conflicting, *most_doubtful_first(each))
    )
    rest = ordered[FEW_STATEMENTS:MAX_STATEMENTS]
    more = folded(f"{len(rest):,} more", _statement_table(rest, check)) if rest else ""
    key = _BEFORE + (_AFTER if check.with_data else "")
    title = f'<h2>Each statement</h2><p class="soft">{key}</p>'
    return f"{title}{_statement_table(ordered[:FEW_STATEMENTS], check)}{more}"


def _statement_table(statements: Sequence[StatementCheck], check: Check) -> str:
    conflicting, unresolved = check.conflicting, {each.number for each in check.unresolved}
    rows = []
    for each in statements:
        found = each.plausibility
        verdict = None if found is None else found.verdict
        in_conflict = each.statement.number in conflicting
        kind = "contradicted" if in_conflict else "satisfied" if verdict is None else CLASSES.get(verdict, "satisfied")
        remarks = ["in conflict"] if in_conflict else []
        if each.statement.number in unresolved:
            remarks, kind = ["not known whether in conflict"], "binding" if kind == "satisfied" else kind
        remarks += [f"the data {verdict.value}"] if verdict is not None else []
        place = f"<i>{as_text(each.statement.place)}</i> " if each.statement.place else ""
        cells = ["–" if found is None else estimate_text(found.before_data)]
        if check.with_data:
            cells.append("–" if found is None or found.after_data is None else estimate_text(found.after_data))
            cells.append("–" if found is None else factor_text(found))
        rows.append(
            f"<tr id=s{each.statement.number} class={kind}><td>{place}{as_text(each.statement.text)}"
            f"<td>{as_text(', '.join(remarks) or 'consistent')}{''.join(f'<td>{as_text(cell)}' for cell in cells)}"
            f"<td>{as_text(each.kind)}"
        )
    if not check.with_data:
        return table("statements checked without-data", ("statement", "result", "before", "kind"), "".join(rows))
    headings = ("statement", "result", "before", "after", "ratio", "kind")
    return table("statements checked", headings, "".join(rows))

"""The page of a check: whether the knowledge can hold, each conflict as a picture, and what else was found."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from credo.check_results import Check, Conflict, StatementCheck
from credo.report.check_text import by_worry, factor_text, sections, share_text, verdict_line, way_out
from credo.report.page.conflict_picture import clash_picture
from credo.report.page.document import as_text, document, figure, search_box, table

MOST = 8_000  # statements on one page
FEW = 60  # statements in sight
FEW_CONFLICTS = 20
FEW_LINES = 200

_KEY = (
    "<b>Keeps</b>: the share of all tables that a statement allows. <b>Chance</b>: its probability by the data alone. "
    "<b>Factor</b>: chance by keeps, the Bayes factor."
)


def check_page(check: Check) -> str:
    """The whole check as HTML."""
    parts = [f"<p><strong>{escape(verdict_line(check).plain)}</strong></p>", search_box("Find a statement")]
    parts += [_conflict(number, each) for number, each in enumerate(check.conflicts[:FEW_CONFLICTS], start=1)]
    if len(check.conflicts) > FEW_CONFLICTS:
        parts.append(f"<p>There are {len(check.conflicts) - FEW_CONFLICTS:,} more conflicts.</p>")
    parts.append(_statements(check))
    for title, lines in sections(check):
        if lines:
            items = "".join(f"<li>{escape(line)}</li>" for line in lines[:FEW_LINES])
            more = f"<p>{len(lines) - FEW_LINES:,} more.</p>" if len(lines) > FEW_LINES else ""
            parts.append(f"<h2>{escape(title)}</h2><ul>{items}</ul>{more}")
    title = "Can it hold? Yes." if check.feasible else "Can it hold? No: the knowledge contradicts itself."
    return document(title, parts)


def _conflict(number: int, conflict: Conflict) -> str:
    several = len(conflict.statements) > 1
    title = "these statements cannot hold together" if several else "this statement cannot hold"
    picture = figure(clash_picture(conflict), "Statements on the left; the rows of tables they speak of on the right.")
    items = "".join(f'<li><a href="#s{each.number}">{escape(str(each))}</a></li>' for each in conflict.statements)
    return f"<h2>Conflict {number}: {title}</h2><ul>{items}</ul><p>{escape(way_out(conflict))}</p>{picture}"


def _statements(check: Check) -> str:
    if not check.statements:
        return ""
    clashing = {each.number for conflict in check.conflicts for each in conflict.statements}
    ordered = sorted(check.statements, key=lambda each: (each.said.number not in clashing, *by_worry(each)))
    rest = ordered[FEW:MOST]
    folded = f"<details><summary>{len(rest):,} more</summary>{_listed(rest, clashing)}</details>" if rest else ""
    title = f'<h2>Each statement</h2><p class="soft">{_KEY}</p>'
    return f"{title}{_listed(ordered[:FEW], clashing)}{folded}"


def _listed(statements: Sequence[StatementCheck], clashing: set[int]) -> str:
    rows = []
    for each in statements:
        found = each.plausibility
        verdict = found.verdict.value if found is not None and found.verdict is not None else ""
        kind = "contradicted" if each.said.number in clashing or verdict == "contradict it" else ""
        clash = "in conflict" if each.said.number in clashing else ""
        said = ", ".join(word for word in (clash, f"the data {verdict}" if verdict else "") if word) or "consistent"
        line = f"<i>{each.said.line}</i> " if each.said.line else ""
        keeps = "–" if found is None else share_text(found.volume)
        chance = "–" if found is None or found.probability is None else share_text(found.probability)
        factor = "–" if found is None else factor_text(found)
        rows.append(
            f"<tr id=s{each.said.number} class={kind or 'held'}><td>{line}{as_text(each.said.text)}<td>{as_text(said)}"
            f"<td>{as_text(keeps)}<td>{as_text(chance)}<td>{as_text(factor)}<td>{as_text(each.kind)}"
        )
    headings = ("statement", "what is to be said", "keeps", "chance", "factor", "kind")
    return table("statements loud checked", headings, "".join(rows))

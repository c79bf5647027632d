"""The page of a fit, put together from its explanation."""

from __future__ import annotations

from html import escape

from credo.explain.parts import Explanation
from credo.explain.summary import NAMELESS
from credo.model.expansion import expand
from credo.report.page.anchors import Places
from credo.report.page.document import document, figure, search_box, table
from credo.report.page.graph import network_picture
from credo.report.page.helped import helped
from credo.report.page.history import history_picture
from credo.report.page.statements import statements
from credo.report.page.tables import tables
from credo.results import Fit

FEW_FINDINGS = 40
LONG_FINDING = 1_000  # letters

_NETWORK = (
    'Arrows: <span class="raises">blue, whole: raises</span>; <span class="lowers">orange, dashed: lowers</span>; '
    '<span class="neutral">grey: neither throughout</span>. Circles are the fuller the farther the knowledge moved a '
    "number of their table; a click leads to it."
)
_HISTORY = "What is maximised, after each step of the best start."


def page(fit: Fit, explanation: Explanation | None = None) -> str:
    """The whole report as HTML."""
    story = fit.explain() if explanation is None else explanation
    places = Places.of(expand(fit.network).network, story)
    parts = [
        '<ol class="summary">' + "".join(f"<li>{escape(sentence)}</li>" for sentence in story.summary) + "</ol>",
        f'<p class="soft">{escape(fit.status.value)} Log-likelihood of the data: {fit.log_likelihood:,.4f}.</p>',
        *(f'<p class="soft">{escape(note)}</p>' for note in story.notes),
        search_box("Find a variable or a statement"),
        figure(network_picture(fit.network, _moves(story), places), _NETWORK),
        statements(story, places),
        helped(story, places),
        _looks(story, places),
        tables(story, places),
    ]
    if len(fit.history) > 2:
        parts.append(f"<h2>How learning went</h2>{figure(history_picture(fit.history), escape(_HISTORY))}")
    parts.append(_findings(fit))
    title = "What was learned" if fit.network.name in NAMELESS else f"{fit.network.name}: what was learned"
    return document(title, parts)


def _moves(story: Explanation) -> dict[str, float]:
    return {name: max((row.moved for row in rows), default=0.0) for name, rows in story.rows.items()}


def _looks(story: Explanation, places: Places) -> str:
    if not story.looks:
        return ""
    rows = "".join(
        f"<tr><td>{places.link(look.variable, look.row)}<td>{look.seen:,.4g}<td>± {look.deviation:.3f}"
        for look in story.looks
    )
    return (
        '<h2>What to observe next</h2><p class="soft">One more observation of these tells most, on average.</p>'
        f"{table('numbers', ('where', 'seen so far', 'unsure by'), rows)}"
    )


def _findings(fit: Fit) -> str:
    if not fit.findings:
        return ""
    texts = [str(finding) for finding in fit.findings[:FEW_FINDINGS]]
    shown = "".join(
        f"<li>{escape(text if len(text) <= LONG_FINDING else f'{text[:LONG_FINDING]} …')}</li>" for text in texts
    )
    more = len(fit.findings) - FEW_FINDINGS
    rest = f"<p>{more:,} more findings are in the result as JSON.</p>" if more > 0 else ""
    return f"<h2>What you should know</h2><ul>{shown}</ul>{rest}"

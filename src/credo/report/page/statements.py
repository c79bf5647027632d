"""What each statement did: those that matter in full sight, the rest folded away."""

from __future__ import annotations

from collections.abc import Sequence

from credo.explain.parts import Effect, Explanation, StatementStory
from credo.explain.summary import chance
from credo.report.page.anchors import Places
from credo.report.page.document import as_text, table

FEW = 30  # statements that are in sight
MOST = 8_000  # on one page
LEAST_WORTH = 1e-5  # nats; below this a statement is worth nothing
LEAST_MOVE = 5e-4

_KEY = (
    "What matters comes first. <b>Worth</b>: what the log-likelihood would gain if the bound moved by 0.01. "
    "<b>Moved</b>: the largest change of a number if the statement is left out. <b>Chance</b>: how probable the "
    "statement is by the data alone, and in brackets how many times as probable as before them (the Bayes factor)."
)
_QUIET = {
    Effect.HELD: "hold with room, and changed nothing",
    Effect.NOTHING: "had no effect",
    Effect.OUTSIDE: "speak of no table",
}


def statements(story: Explanation, places: Places) -> str:
    """The section, with the statements in the order of the explanation."""
    if not story.statements:
        return ""
    few = len(story.statements) <= FEW
    loud = [each for each in story.statements if each.matters or few]
    parts = [f'<h2>What each statement did</h2><p class="soft">{_KEY}</p>', _loud(loud[:FEW], places)]
    if loud[FEW:]:
        parts.append(_folded(f"{len(loud) - FEW:,} more did something", _loud(loud[FEW:MOST], places)))
    room = MOST - len(loud)
    for effect, did in _QUIET.items():
        own = [each for each in story.statements if each.effect is effect and not each.matters and not few]
        if own:
            parts.append(_folded(f"{len(own):,} {did}", _quiet(own[: max(0, room)], places)))
            room -= len(own)
    if room < 0:
        parts.append(f'<p class="soft">{-room:,} of them are not listed here, but in <code>fit.explain()</code>.</p>')
    return "".join(parts)


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>{content}</details>"


# Closing tags and quotes that HTML does not need are left out of rows, since there may be thousands.


def _loud(stories: Sequence[StatementStory], places: Places) -> str:
    rows = []
    for each in stories:
        kind = "contradicted" if each.contradicted else each.effect.name.lower()
        moved = f"{each.moved:.3f}" if each.moved >= LEAST_MOVE else "–"
        rows.append(
            f"<tr id=s{each.number} class={kind}><td>{_said(each)}<td>{_effect(each)}<td>{_worth(each)}<td>{moved}"
            f"<td>{_chance(each)}<td>{places.links(each.rows)}"
        )
    return table("statements loud", ("statement", "effect", "worth", "moved", "chance", "rows"), "".join(rows))


def _quiet(stories: Sequence[StatementStory], places: Places) -> str:
    rows = (
        f"<tr id=s{each.number}><td>{_said(each)}<td>{_chance(each)}<td>{places.links(each.rows)}" for each in stories
    )
    return table("statements quiet", ("statement", "chance", "rows"), "".join(rows))


def _said(each: StatementStory) -> str:
    return f"<i>{each.line}</i> {as_text(each.text)}" if each.line else as_text(each.text)


def _effect(each: StatementStory) -> str:
    did = each.effect.value + (f" by {each.amount:.3g}" if each.effect is Effect.VIOLATED else "")
    return f"contradicted by the data; {did}" if each.contradicted else did


def _worth(each: StatementStory) -> str:
    return f"{each.price:.3g}" if each.price >= LEAST_WORTH else "–"


def _chance(each: StatementStory) -> str:
    found = each.plausibility
    if found is None or found.probability is None:
        return "–"
    factor = "" if found.bayes_factor is None else f" ({as_text(found.relation)}{found.bayes_factor:.2g}×)"
    return f"{as_text(chance(found.probability.value))}{factor}"

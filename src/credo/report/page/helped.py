"""Whether the knowledge helped: how well held-out rows are foretold with it and without, and where that comes from."""

from __future__ import annotations

from html import escape

from credo.explain.held_out import BlockScore, HeldOut
from credo.explain.parts import Explanation
from credo.report.page.anchors import Places
from credo.report.page.document import table

FEW = 5  # tables where it helped or hurt most
NOTHING = 0.01  # nats; below this nothing was gained or lost


def helped(story: Explanation, places: Places) -> str:
    """The section; nothing where there is no knowledge, or no way to tell."""
    ways = {"one observation at a time": story.held_out, "a tenth of them at a time": story.cross_validated}
    lines = "".join(_way(name, scores) for name, scores in ways.items() if scores is not None and scores.blocks)
    if not lines:
        return ""
    told = story.held_out or story.cross_validated
    assert told is not None
    return (
        '<h2>Did the knowledge help?</h2><p class="soft">Observations are taken away, everything is learned from the '
        "others, and those taken away are foretold. In nats, for the rows of tables that the knowledge speaks of; "
        f"more is better.</p>{table('numbers', ('taken away', 'with it', 'without', 'gain'), lines)}"
        f"{_where(told, places)}"
    )


def _way(name: str, scores: HeldOut) -> str:
    told, untold = (sum(getattr(each, side) for each in scores.blocks) for side in ("with_knowledge", "without"))
    return f"<tr><td>{escape(name)}<td>{told:,.2f}<td>{untold:,.2f}<td>{scores.gain:+,.2f}"


def _where(scores: HeldOut, places: Places) -> str:
    ordered = sorted(scores.blocks, key=lambda score: score.gain)
    worst = [score for score in ordered[:FEW] if score.gain < -NOTHING]
    best = [score for score in reversed(ordered[-FEW:]) if score.gain > NOTHING]
    parts = []
    if best:
        parts.append(f"It helped most with {', '.join(_named(score, places) for score in best)}.")
    if worst:
        parts.append(f"It hurt most with {', '.join(_named(score, places) for score in worst)}.")
    return f'<p class="soft">{" ".join(parts)}</p>' if parts else ""


def _named(score: BlockScore, places: Places) -> str:
    names = list(dict.fromkeys(name for name, _ in score.configurations))
    links = " and ".join(f'<a href="#{places.cpt(name)}">{escape(name)}</a>' for name in names[:2])
    return f"{links}{' and others' if len(names) > 2 else ''} ({score.gain:+.2g})"

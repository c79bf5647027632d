"""Every table: for each row what the data say, what the knowledge allows, and what was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import isnan

from credo.explain.parts import Explanation, RowStory, StatementStory
from credo.report.page.anchors import Places
from credo.report.page.document import table

FEW_MOVERS = 3  # statements that are named beside a row
ASKED_FOR = ("yes", "true", "present", "positive", "1", "high", "abnormal")

_KEY = (
    '<p class="key"><span><span class=g style="--a:.2;--b:.8;--m:.5"></span>what the knowledge allows, and its mean'
    '</span> <span><span class=g style="--d:.5"></span>the data alone</span> '
    '<span><span class=g style="--l:.5"></span>learned</span> '
    '<span><span class=g style="--p:.2;--q:.8"></span>95% interval</span></p>'
)


def tables(story: Explanation, places: Places) -> str:
    """The section, a table for each variable."""
    said = {each.number: each for each in story.statements}
    sections = "".join(_table(name, story, said, places) for name in story.rows)
    return f"<h2>Every table</h2>{_KEY}{sections}"


def _table(name: str, story: Explanation, said: Mapping[int, StatementStory], places: Places) -> str:
    network, rows, shown = places.network, story.rows[name], places.shown[name]
    parents, states = network.parents[name], network.states(name)
    asked = range(len(states)) if len(states) != 2 else [_telling(states)]
    what = f"{name}={states[asked[0]]}" if len(asked) == 1 else name
    title = f"P({what} | {', '.join(parents)})" if parents else f"P({what})"
    lines = "".join(_row(each, asked, said, places) for each in shown)
    headings = ("", "where", "seen", *(states[k] for k in asked), "moved by")
    more = network.configurations(name) - len(shown)
    rest = f'<p class="soft">{more:,} more rows, which tell less, are in <code>fit.cpt</code>.</p>' if more > 0 else ""
    if not rows:
        return ""
    return (
        f'<section class="node" id="{places.cpt(name)}" data-name="{escape(name)}"><h3>{escape(title)}</h3>'
        f"{table('rows', headings, lines)}{rest}</section>"
    )


def _telling(states: Sequence[str]) -> int:
    """Of two states the one that people ask for: yes, present, positive; the other number is one minus it."""
    return 0 if states[0].casefold() in ASKED_FOR else 1


def _row(each: RowStory, asked: Sequence[int], said: Mapping[int, StatementStory], places: Places) -> str:
    configuration = places.network.configuration(each.variable, each.row)
    where = ", ".join(f"{parent}={state}" for parent, state in configuration.items()) or "always"
    states = places.network.states(each.variable)
    named = (f' data-h="{escape(states[k])}"' if len(asked) > 1 else "" for k in asked)
    cells = "".join(f"<td{name}>{_picture(each, k)} {_numbers(each, k)}" for name, k in zip(named, asked, strict=True))
    movers = ", ".join(
        f"<a href=#s{number}>{_called(said[number])}</a> {amount:.2f}" for number, amount in each.moved_by[:FEW_MOVERS]
    )
    return (
        f"<tr id={places.row(each.variable, each.row)}><td>{each.row + 1}<td>{escape(where)}<td>{each.seen:,.4g}"
        f"{cells}<td>{movers}"
    )


def _called(story: StatementStory) -> str:
    return f"line {story.line}" if story.line else f"statement {story.number + 1}"


def _is_bounded(each: RowStory, k: int) -> bool:
    return not isnan(each.low[k]) and bool(each.low[k] > 1e-9 or each.high[k] < 1 - 1e-9)


def _picture(each: RowStory, k: int) -> str:
    """One element whose layers are placed by numbers: from a to b, the marks m, d and l, from p to q."""
    marks = {"l": each.learned[k]}
    if _is_bounded(each, k):
        marks |= {"a": each.low[k], "b": max(each.high[k], each.low[k] + 0.005), "m": each.allowed[k]}
    if each.data is not None:
        marks["d"] = each.data[k]
    if each.interval is not None:
        marks |= {"p": each.interval[0][k], "q": each.interval[1][k]}
    style = ";".join(f"--{name}:{min(max(float(value), 0.0), 1.0):.3g}" for name, value in marks.items())
    return f'<span class=g style="{style}"></span>'


def _numbers(each: RowStory, k: int) -> str:
    """What was learned, its interval, and in small what the data say and the knowledge allows."""
    text = f"<b>{each.learned[k]:.3f}</b>"
    if each.interval is not None:
        text += f"\N{NO-BREAK SPACE}[{each.interval[0][k]:.2f},\N{NO-BREAK SPACE}{each.interval[1][k]:.2f}]"
    parts = [] if each.data is None else [f"data {each.data[k]:.2f}"]
    if _is_bounded(each, k):
        parts.append(f"allowed {each.low[k]:.2f}–{each.high[k]:.2f}, mean {each.allowed[k]:.2f}")
    return f"{text} <small>{'; '.join(parts)}</small>" if parts else text

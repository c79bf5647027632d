"""The page, put together from an explanation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from math import isnan

import numpy as np

from credo.diagnostics.explain.story import Effect, Explanation, RowStory, StatementStory
from credo.diagnostics.explain.summary import chance
from credo.expansion import expand
from credo.network import Network
from credo.report.page.graph import network_picture
from credo.report.page.history import history_picture
from credo.result import Fit

FEW_LINKS = 6  # rows of tables that a statement links to
FEW_MOVERS = 3  # statements that are named beside a row
FEW_FINDINGS = 40
LEAST_WORTH = 1e-5  # nats; below this a statement is worth nothing


def page(fit: Fit, explanation: Explanation | None = None) -> str:
    """The whole report as HTML."""
    story = fit.explain() if explanation is None else explanation
    whole = expand(fit.network).network
    numbers = {name: place for place, name in enumerate(whole.names)}
    style, script = ((files("credo.report.page") / name).read_text("utf-8") for name in ("style.css", "script.js"))
    title = f"{fit.network.name}: what was learned"
    parts = [
        f"<h1>{escape(title)}</h1>",
        '<ol class="summary">' + "".join(f"<li>{escape(sentence)}</li>" for sentence in story.summary) + "</ol>",
        f'<p class="soft">{escape(fit.status.value)} Log-likelihood of the data: {fit.log_likelihood:.4f}.</p>',
        *(f'<p class="soft">{escape(note)}</p>' for note in story.notes),
        '<nav><label class="soft" for="search">Find a variable or a statement </label>'
        '<input id="search" type="search" autocomplete="off" placeholder="a part of its name"> '
        '<span id="found" class="soft" role="status"></span></nav>',
        _figure(network_picture(fit, story), _NETWORK_CAPTION),
        _statements(story, whole, numbers),
        _looks(story, whole, numbers),
        _tables(story, whole, numbers),
    ]
    if len(fit.history) > 2:
        parts.append(f"<h2>How learning went</h2>{_figure(history_picture(fit.history), _HISTORY_CAPTION)}")
    parts.append(_findings(fit))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{''.join(parts)}</main><script>{script}</script></body></html>"
    )


_NETWORK_CAPTION = (
    "Arrows: blue raises, orange lowers, grey neither throughout. Circles are the fuller the farther the knowledge "
    "moved a number of their table."
)
_HISTORY_CAPTION = "What is maximised, after each step of the best start."


def _figure(picture: str, caption: str) -> str:
    return f'<figure class="wide">{picture}<figcaption>{escape(caption)}</figcaption></figure>' if picture else ""


# Statements -----------------------------------------------------------------------------------------------------------


def _statements(story: Explanation, network: Network, numbers: dict[str, int]) -> str:
    if not story.statements:
        return ""
    rows = "".join(_statement(each, network, numbers) for each in story.statements)
    return (
        '<h2>What each statement did</h2><p class="soft">What matters comes first. Worth: what the log-likelihood '
        "would gain if the bound moved by 0.01. Moved: the largest change of a number if the statement is left out. "
        "Chance: how probable the statement is by the data alone, and the Bayes factor for it.</p>"
        '<table class="statements"><thead><tr><th>statement</th><th>effect</th><th class="n">worth</th>'
        '<th class="n">moved</th><th class="n">chance</th><th>rows</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _statement(each: StatementStory, network: Network, numbers: dict[str, int]) -> str:
    kind = "contradicted" if each.contradicted else each.effect.name.lower()
    label = "contradicted by the data" if each.contradicted else each.effect.value
    if each.contradicted and each.effect in (Effect.VIOLATED, Effect.BOUND):
        label += f", {each.effect.value}"
    if each.effect is Effect.VIOLATED:
        label += f" by {each.amount:.3g}"
    place = f'<span class="soft">line {each.line}</span> ' if each.line else ""
    return (
        f'<tr id="s{each.number}" data-text="{escape(each.text)}"><td>{place}<code>{escape(each.text)}</code></td>'
        f'<td><span class="badge {kind}">{escape(label)}</span></td>'
        f'<td class="n" data-h="worth">{_worth(each.price)}</td><td class="n" data-h="moved">{each.moved:.3f}</td>'
        f'<td class="n" data-h="chance">{_chance(each)}</td><td>{_links(each.rows, network, numbers)}</td></tr>'
    )


def _worth(price: float) -> str:
    return f"{price:.3g}" if price >= LEAST_WORTH else "–"


def _chance(each: StatementStory) -> str:
    found = each.plausibility
    if found is None or found.probability is None:
        return "–"
    factor = "" if found.bayes_factor is None else f" ({escape(found.relation)}{found.bayes_factor:.2g}×)"
    return f"{chance(found.probability.value)}{factor}"


def _links(rows: Sequence[tuple[str, int]], network: Network, numbers: dict[str, int]) -> str:
    links = [
        f'<a href="#t{numbers[name]}r{row}">{escape(network.describe(name, row))}</a>' for name, row in rows[:FEW_LINKS]
    ]
    more = f' <span class="soft">and {len(rows) - FEW_LINKS} more</span>' if len(rows) > FEW_LINKS else ""
    return ", ".join(links) + more


# Tables ---------------------------------------------------------------------------------------------------------------


def _tables(story: Explanation, network: Network, numbers: dict[str, int]) -> str:
    names = {each.number: each for each in story.statements}
    sections = "".join(_table(name, rows, names, network, numbers) for name, rows in story.rows.items())
    key = (
        '<p class="key soft"><span><span class="g"><b style="--x:.2;--w:.5"></b></span>what the knowledge allows</span>'
        '<span><span class="g"><u style="--x:.5"></u></span>its mean</span>'
        '<span><span class="g"><s style="--x:.5"></s></span>the data alone</span>'
        '<span><span class="g"><i style="--x:.5"></i></span>learned</span>'
        '<span><span class="g"><em style="--x:.2;--w:.6"></em></span>95% interval</span></p>'
    )
    return f"<h2>Every table</h2>{key}{sections}"


def _table(
    name: str,
    rows: Sequence[RowStory],
    statements: dict[int, StatementStory],
    network: Network,
    numbers: dict[str, int],
) -> str:
    parents, states = network.parents[name], network.states(name)
    title = f"P({name} | {', '.join(parents)})" if parents else f"P({name})"
    shown = range(len(states)) if len(states) != 2 else [_telling(states)]
    lines = "".join(_row(each, shown, statements, network, numbers) for each in rows)
    head = "".join(f"<th>{escape(f'{name}={states[k]}')}</th>" for k in shown)
    return (
        f'<section class="node" id="t{numbers[name]}" data-name="{escape(name)}"><h3>{escape(title)}</h3>'
        f'<table class="rows"><thead><tr><th>where</th><th class="n">seen</th>{head}<th>moved by</th></tr></thead>'
        f"<tbody>{lines}</tbody></table></section>"
    )


def _telling(states: Sequence[str]) -> int:
    """Of two states the one that people ask for: yes, present, positive; the other number is one minus it."""
    return 0 if states[0].casefold() in ("yes", "true", "present", "positive", "1", "high", "abnormal") else 1


def _row(
    each: RowStory,
    shown: Iterable[int],
    statements: dict[int, StatementStory],
    network: Network,
    numbers: dict[str, int],
) -> str:
    where = ", ".join(f"{parent}={state}" for parent, state in network.configuration(each.variable, each.row).items())
    cells = "".join(f"<td>{_glyph(each, k)} {_number(each, k)}</td>" for k in shown)
    movers = ", ".join(
        f'<a href="#s{number}" title="{escape(statements[number].text)}">{_called(statements[number])}</a> {amount:.2f}'
        for number, amount in each.moved_by[:FEW_MOVERS]
    )
    return (
        f'<tr id="t{numbers[each.variable]}r{each.row}"><td>{escape(where) or "always"}</td>'
        f'<td class="n" data-h="seen">{each.seen:,.4g}</td>{cells}<td>{movers}</td></tr>'
    )


def _called(story: StatementStory) -> str:
    return f"line {story.line}" if story.line else f"statement {story.number + 1}"


def _glyph(each: RowStory, k: int) -> str:
    parts = []
    if not isnan(each.low[k]) and (each.low[k] > 1e-9 or each.high[k] < 1 - 1e-9):
        parts.append(f'<b style="--x:{each.low[k]:.3f};--w:{max(each.high[k] - each.low[k], 0.005):.3f}"></b>')
        parts.append(f'<u style="--x:{each.allowed[k]:.3f}"></u>')
    if each.interval is not None:
        low, high = each.interval
        parts.append(f'<em style="--x:{low[k]:.3f};--w:{max(high[k] - low[k], 0.0):.3f}"></em>')
    if each.data is not None:
        parts.append(f'<s style="--x:{each.data[k]:.3f}"></s>')
    parts.append(f'<i style="--x:{np.clip(each.learned[k], 0, 1):.3f}"></i>')
    return f'<span class="g" aria-hidden="true">{"".join(parts)}</span>'


def _number(each: RowStory, k: int) -> str:
    text = f"<strong>{each.learned[k]:.3f}</strong>"
    if each.interval is not None:
        low, high = each.interval
        text += f' <span class="soft">[{low[k]:.2f}, {high[k]:.2f}]</span>'
    return text


# The rest -------------------------------------------------------------------------------------------------------------


def _looks(story: Explanation, network: Network, numbers: dict[str, int]) -> str:
    if not story.looks:
        return ""
    rows = "".join(
        f"<tr><td>{_links([(look.variable, look.row)], network, numbers)}</td>"
        f'<td class="n">{look.seen:,.4g}</td><td class="n">± {look.deviation:.3f}</td></tr>'
        for look in story.looks
    )
    return (
        '<h2>What to observe next</h2><p class="soft">One more observation of these tells most, on average.</p>'
        '<table><thead><tr><th>where</th><th class="n">seen so far</th><th class="n">unsure by</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _findings(fit: Fit) -> str:
    if not fit.findings:
        return ""
    shown = "".join(f"<li>{escape(str(finding))}</li>" for finding in fit.findings[:FEW_FINDINGS])
    more = len(fit.findings) - FEW_FINDINGS
    rest = f"<p>{more} more findings are in the result as JSON.</p>" if more > 0 else ""
    return f"<h2>What you should know</h2><ul>{shown}</ul>{rest}"

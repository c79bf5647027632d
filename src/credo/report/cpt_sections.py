"""The CPTs on the page of a fit: for each probability the data, what the knowledge allows, and what was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from credo.drawing.network_boxes import cut_text
from credo.explain.explanation import ConfigurationExplanation, Explanation
from credo.explain.statement_references import StatementReference
from credo.model.network import Network
from credo.model.state_texts import state_of_interest
from credo.probability_texts import count_digits, interval_digits, probability_digits, short_percent
from credo.questions.marginals import Marginals
from credo.report.html import as_text, folded, table
from credo.terminal import escape

MAX_PROBABILITIES = 4_000  # on a page, so that it stays small
LIMITS = (256, 64, 32, 16, 8, 4, 2, 1)  # configurations of a variable that are shown: as many as the page has room for
MAX_NUMBERS = 20_000  # on a page, of CPTs that are only partly shown
FEW_ROOTS = 40  # in sight in the table of variables without parents
FEW_STATES = 40  # in sight in the table of all states
FEW_ROWS = 12  # of a CPT that are in sight; a fold has the others
MANY_ROOTS = 5  # variables of two states without parents: so many and more stand in one table
FEW_LINKS = 8  # configurations that a statement links to
FEW_STATEMENTS = 3  # that are named beside a configuration

_KEY = (
    '<p class="key"><span><span class=g style="--a:.2;--b:.8;--m:.5"></span>what the knowledge allows, and the mean of '
    'it</span> <span><span class=g style="--d:.5"></span>the data alone</span> '
    '<span><span class=g style="--l:.5"></span>learned</span> '
    '<span><span class=g style="--p:.2;--q:.8"></span>95% credible interval</span></p>'
)


@dataclass(frozen=True, slots=True, eq=False)
class Anchors:
    """Where things are on the page: an anchor for every CPT and every configuration that is shown."""

    network: Network  # with noisy families expanded
    numbers: Mapping[str, int]
    shown: Mapping[str, Sequence[ConfigurationExplanation]]

    @classmethod
    def of(cls, network: Network, explanation: Explanation) -> Anchors:
        """All configurations where the page has room for them, and else the most informative of each variable."""
        limit = next((n for n in LIMITS if _probabilities(network, explanation, n) <= MAX_PROBABILITIES), LIMITS[-1])
        return cls(
            network,
            {name: number for number, name in enumerate(network.names)},
            {name: _most_informative(own, limit) for name, own in explanation.configurations.items()},
        )

    def cpt(self, name: str) -> str:
        """The anchor of a CPT."""
        return f"t{self.numbers[name]}"

    def configuration(self, name: str, index: int) -> str:
        """The anchor of a configuration."""
        return f"{self.cpt(name)}r{index}"

    def link(self, name: str, index: int) -> str:
        """A link to a configuration in words; to its CPT where the configuration is not shown."""
        return f'<a href="#{self._target(name, index)}">{escape(self.network.describe(name, index))}</a>'

    def links(self, configurations: Sequence[tuple[str, int]]) -> str:
        """Short links to configurations, by their number: `coma 1 2 3`."""
        parts, last = [], None
        for name, index in configurations[:FEW_LINKS]:
            parts.append(f"{escape(name)} " if name != last else "")
            parts.append(f"<a href=#{self._target(name, index)}>{index + 1}</a> ")
            last = name
        if len(configurations) > FEW_LINKS and last is not None:
            parts.append(f"<a href=#{self.cpt(last)}>and {len(configurations) - FEW_LINKS:,} more</a>")
        return "".join(parts).rstrip()

    def _target(self, name: str, index: int) -> str:
        is_shown = any(each.index == index for each in self.shown.get(name, ()))
        return self.configuration(name, index) if is_shown else self.cpt(name)


def _probabilities(network: Network, explanation: Explanation, limit: int) -> int:
    return sum(
        min(len(own), limit) * max(1, len(network.states(name)) - 1) for name, own in explanation.configurations.items()
    )


def _most_informative(
    configurations: Sequence[ConfigurationExplanation], limit: int
) -> Sequence[ConfigurationExplanation]:
    """Those that the knowledge changed most, then those observed most often; in their order."""
    if len(configurations) <= limit:
        return configurations
    ranked = sorted(configurations, key=lambda each: (-each.largest_change, -each.observations))
    return sorted(ranked[:limit], key=lambda each: each.index)


def probability_table(marginals: Marginals, anchors: Anchors) -> str:
    """How probable each state is, as a table; nothing where that is not known."""
    if not marginals.bars:
        return ""
    rows = []
    for name, own in marginals.bars.items():
        title = f'<a href="#{anchors.cpt(name)}">{escape(name)}</a>' if name in anchors.shown else escape(name)
        for place, bar in enumerate(own):
            ends = (
                f"{short_percent(bar.low)} to {short_percent(bar.high)}"
                if bar.low is not None and bar.high is not None
                else "–"
            )
            shown = short_percent(bar.probability)
            rows.append(
                f"<tr{'' if place else ' class=first'}><td>{'' if place else title}<td>{as_text(bar.state)}"
                f"<td>{as_text(shown)}" + (f"<td>{as_text(ends)}" if marginals.with_intervals else "")
            )
    headings = ["variable", "state", "probability", *(["95% interval"] if marginals.with_intervals else [])]
    shown = table("numbers states", headings, "".join(rows))
    text = '<p class="soft">When nothing else is known: these are the bars in the picture.</p>'
    return text + (shown if len(rows) <= FEW_STATES else folded(f"{len(rows):,} states", shown))


def cpt_sections(explanation: Explanation, anchors: Anchors, network: Network) -> str:
    """The CPT of each variable; `network` is the learned one."""
    statements = {each.statement.number: each.statement for each in explanation.statements}
    room = MAX_NUMBERS
    roots = [name for name in explanation.configurations if _is_plain_root(name, anchors)]
    together = set(roots) if len(roots) >= MANY_ROOTS else set()
    sections = [_roots(roots, statements, anchors, network)] if together else []
    for name in explanation.configurations:
        if name in together:
            continue
        rest, used = _all_numbers(name, anchors, room)
        room -= used
        drawn = network.names.index(name) if name in network else None
        sections.append(_section(name, statements, anchors, rest, drawn))
    return f"{_KEY}{''.join(sections)}"


def _all_numbers(name: str, anchors: Anchors, room: int) -> tuple[str, int]:
    """What follows a CPT that is not shown completely: all of it, folded; and how many numbers that is."""
    network, shown = anchors.network, len(anchors.shown[name])
    configurations, states = network.configurations(name), network.states(name)
    if configurations == shown:
        return "", 0
    showing = f"Showing {shown:,} of {configurations:,} configurations, the most informative"
    if configurations * len(states) > room:
        return f'<p class="soft">{showing}; all are in <code>fit.cpt({escape(repr(name))})</code>.</p>', 0
    probabilities = network.cpt_array(name).reshape(configurations, len(states))
    rows = "".join(
        f"<tr><td>{as_text(_given(network, name, index))}{''.join(f'<td>{value:.3g}' for value in own)}"
        for index, own in enumerate(probabilities.tolist())
    )
    everything = folded(f"All {configurations:,} configurations", table("numbers", ("given", *states), rows))
    return f'<p class="soft">{showing}; all are in the table below.</p>{everything}', configurations * len(states)


def _cuts(network: Network, name: str) -> str:
    """Where numbers are cut into the states of the variable and of its parents."""
    texts = [cut_text(network.variable(each)) for each in (name, *network.parents[name])]
    return "".join(f'<p class="soft">{escape(text)}</p>' for text in texts if text)


def _given(network: Network, name: str, index: int) -> str:
    return ", ".join(f"{parent}={state}" for parent, state in network.configuration(name, index).items())


def _section(
    name: str, statements: Mapping[int, StatementReference], anchors: Anchors, rest: str, drawn: int | None
) -> str:
    network, shown = anchors.network, anchors.shown[name]
    if not shown:
        return ""
    parents, states = network.parents[name], network.states(name)
    columns = range(len(states)) if len(states) != 2 else [state_of_interest(states)]
    head = f"{name}={states[columns[0]]}" if len(columns) == 1 else name
    title = f"P({head} | {', '.join(parents)})" if parents else f"P({head})"
    rows = [_row(each, columns, statements, anchors) for each in shown]
    headings = ("", "given", "observed", *(states[k] for k in columns), "changed by")
    up = "" if drawn is None else f' <a class="up" href="#v{drawn}">in the picture</a>'
    return (
        f'<section class="node" id="{anchors.cpt(name)}" data-name="{escape(name)}"><h3>{escape(title)}{up}</h3>'
        f"{_cuts(network, name)}{_folded_table(headings, rows)}{rest}</section>"
    )


def _folded_table(headings: Sequence[str], rows: Sequence[str]) -> str:
    """The table of a CPT; of a long one the first configurations, and the others in a fold."""
    if len(rows) <= FEW_ROWS + 2:  # a fold for two would save nothing
        return table("cpt", headings, "".join(rows))
    rest = folded(f"{len(rows) - FEW_ROWS:,} more configurations", table("cpt", headings, "".join(rows[FEW_ROWS:])))
    return table("cpt", headings, "".join(rows[:FEW_ROWS])) + rest


def _is_plain_root(name: str, anchors: Anchors) -> bool:
    network = anchors.network
    return not network.parents[name] and len(network.states(name)) == 2 and bool(anchors.shown[name])


def _roots(
    names: Sequence[str], statements: Mapping[int, StatementReference], anchors: Anchors, network: Network
) -> str:
    """The variables of two states without parents, such as the basic events of a fault tree: a row each."""
    rows = []
    for name in names:
        (each,) = anchors.shown[name]
        states = anchors.network.states(name)
        k = state_of_interest(states)
        link = f' <a class="up" href="#v{network.names.index(name)}">in the picture</a>' if name in network else ""
        rows.append(
            f'<tr id={anchors.configuration(name, each.index)} class=node data-name="{escape(name)}">'
            f"<td id={anchors.cpt(name)}><td>P({escape(name)}={escape(states[k])}){link}"
            f"<td>{count_digits(each.observations)}<td>{_picture(each, k)} {_numbers(each, k)}"
            f"<td>{_changed_by(each, statements)}"
        )
    headings = ("", "variables without parents", "observed", "probability", "changed by")
    shown = table("cpt", headings, "".join(rows[:FEW_ROOTS]))
    if rest := rows[FEW_ROOTS:]:
        shown += folded(f"{len(rest):,} more variables without parents", table("cpt", headings, "".join(rest)))
    return f'<section class="roots">{shown}</section>'


# Closing tags and quotes that HTML does not need are left out of rows, since there may be thousands.


def _row(
    each: ConfigurationExplanation,
    columns: Sequence[int],
    statements: Mapping[int, StatementReference],
    anchors: Anchors,
) -> str:
    given = _given(anchors.network, each.variable, each.index)
    states = anchors.network.states(each.variable)
    labels = (f' data-h="{escape(states[k])}"' if len(columns) > 1 else "" for k in columns)
    cells = "".join(
        f"<td{label}>{_picture(each, k)} {_numbers(each, k)}" for label, k in zip(labels, columns, strict=True)
    )
    return (
        f"<tr id={anchors.configuration(each.variable, each.index)}><td>{each.index + 1}<td>{escape(given)}"
        f"<td>{count_digits(each.observations)}{cells}<td>{_changed_by(each, statements)}"
    )


def _changed_by(each: ConfigurationExplanation, statements: Mapping[int, StatementReference]) -> str:
    return ", ".join(
        f"<a href=#s{number}>{_short_name(statements[number])}</a> ({amount:.2f})"
        for number, amount in each.changed_by[:FEW_STATEMENTS]
    )


def _short_name(statement: StatementReference) -> str:
    return escape(statement.place) if statement.place else f"statement {statement.number + 1}"


def _is_limited(each: ConfigurationExplanation, k: int) -> bool:
    return not isnan(each.low[k]) and bool(each.low[k] > 1e-9 or each.high[k] < 1 - 1e-9)


def _picture(each: ConfigurationExplanation, k: int) -> str:
    """One element whose layers are placed by numbers: from a to b, the marks m, d and l, from p to q."""
    marks = {"l": each.learned[k]}
    if _is_limited(each, k):
        marks |= {"a": each.low[k], "b": max(each.high[k], each.low[k] + 0.005), "m": each.allowed_mean[k]}
    if each.frequencies is not None:
        marks["d"] = each.frequencies[k]
    if each.interval is not None:
        marks |= {"p": each.interval[0][k], "q": each.interval[1][k]}
    style = ";".join(f"--{name}:{min(max(float(value), 0.0), 1.0):.3g}" for name, value in marks.items())
    return f'<span class=g style="{style}"></span>'


def _numbers(each: ConfigurationExplanation, k: int) -> str:
    """What was learned, its interval, and in small print what the data show and the knowledge allows."""
    text = f"<b>{probability_digits(each.learned[k], 3)}</b>"
    if each.interval is not None:
        low, high = map(escape, interval_digits(*(end[k] for end in each.interval)))
        text += f"\N{NO-BREAK SPACE}[{low},\N{NO-BREAK SPACE}{high}]"
    parts = [] if each.frequencies is None else [f"data {probability_digits(each.frequencies[k], 2)}"]
    if _is_limited(each, k):
        low, high = map(escape, interval_digits(each.low[k], each.high[k]))
        parts.append(f"allowed {low}–{high}, mean {probability_digits(each.allowed_mean[k], 2)}")
    return f"{text} <small>{'; '.join(parts)}</small>" if parts else text

"""What the command line shows: summaries and tables, made with rich."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from credo.estimation.methods import METHODS, choose_method
from credo.model.expansion import expand
from credo.model.network import Network
from credo.results import Fit

FEW_VARIABLES = 12  # networks up to this size are shown table by table
FEW_ROWS = 16  # of one table
FEW_FINDINGS = 8
FEW_STATEMENTS = 15
FINDING_WIDTH = 300


def methods_table() -> RenderableType:
    """Which method when."""
    table = Table(title="Methods", title_justify="left")
    for heading in ("method", "what it is", "when to take it"):
        table.add_column(heading)
    for method in METHODS.values():
        name = f"{method.name} (auto)" if method is choose_method("auto") else method.name
        table.add_row(name, method.title, method.when)
    return table


def fit_summary(fit: Fit, written_to: Path | None) -> RenderableType:
    """The result of learning, on a page."""
    parts: list[RenderableType] = [
        Text.from_markup(
            f"[bold]{escape(fit.network.name)}[/bold]: {len(fit.network)} variables learned from {fit.rows:,} rows "
            f"with [bold]{fit.method}[/bold] in {fit.seconds:.2f} s."
        ),
        Text(f"{fit.status.value} Log-likelihood of the data: {fit.log_likelihood:.4f}."),
    ]
    if len(fit.network) <= FEW_VARIABLES:
        parts += [part for name in fit.network.names for part in cpt_tables(fit, name)]
        if fit.posterior is not None:
            parts.append(Text("In brackets: where each number lies with a probability of 95%."))
    if fit.binding():
        parts += ["", binding_table(fit)]
    if fit.violations():
        parts += ["", violations_table(fit)]
    if fit.findings:
        parts.append(Text.from_markup("\n[bold]What you should know[/bold]"))
        parts += [Text(f"• {_shortened(str(finding))}") for finding in fit.findings[:FEW_FINDINGS]]
        if len(fit.findings) > FEW_FINDINGS:
            parts.append(Text(f"  and {len(fit.findings) - FEW_FINDINGS} more findings (all of them with --json)."))
    if written_to is not None:
        parts.append(Text(f"\nThe learned network is in {written_to}."))
    return Group(*parts)


def binding_table(fit: Fit) -> RenderableType:
    """The statements that shaped the result, the dearest first."""
    table = _plain_table("Statements that shaped the result", "line", "statement", "worth")
    for each in fit.binding()[:FEW_STATEMENTS]:
        table.add_row(str(each.line or ""), Text(each.statement), f"{0.01 * each.price:.3g}")
    table.caption = "worth: what the log-likelihood would gain if the bound moved by 0.01."
    return table


def violations_table(fit: Fit) -> RenderableType:
    """The statements that the result does not satisfy."""
    table = _plain_table("Statements that the result does not satisfy", "line", "statement", "missed by")
    for each in fit.violations()[:FEW_STATEMENTS]:
        table.add_row(str(each.line or ""), Text(each.statement), f"{each.amount:.3g}")
    return table


def _plain_table(title: str, line: str, statement: str, number: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, caption_justify="left")
    table.add_column(line, justify="right")
    table.add_column(statement)
    table.add_column(number, justify="right")
    return table


def cpt_tables(fit: Fit, name: str) -> list[RenderableType]:
    """The learned table of a variable; the small tables of a noisy family, one for each set of causes."""
    whole = expand(fit.network)
    if name not in whole.effects:
        return [cpt_table(fit, fit.network, name)]
    form = fit.network.forms[name]
    title = Text(f"{name} is {form.kind} of {len(form.causes)} independent causes:", style="bold")
    return [title, *(cpt_table(fit, whole.network, effect) for effect in whole.effects[name])]


def cpt_table(fit: Fit, network: Network, name: str) -> RenderableType:
    """One learned table, a row for each configuration of the parents, with intervals where there are some."""
    parents, states = network.parents[name], network.states(name)
    title = f"P({name} | {', '.join(parents)})" if parents else f"P({name})"
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    headings = states if name not in fit.network else [f"{name}={state}" for state in states]
    for heading in (*parents, *headings):
        table.add_column(Text(heading), justify="left" if heading in parents else "right")
    rows = network.cpt_array(name).reshape(-1, len(states))
    texts = [[f"{number:.3f}" for number in row] for row in rows[:FEW_ROWS]]
    if fit.posterior is not None:
        low, high = (end.reshape(rows.shape) for end in fit.interval(name))
        texts = [
            [f"{text} [{low[row, k]:.2f}, {high[row, k]:.2f}]" for k, text in enumerate(line)]
            for row, line in enumerate(texts)
        ]
    for row, line in enumerate(texts):
        table.add_row(*(Text(state) for state in network.configuration(name, row).values()), *map(Text, line))
    if len(rows) > FEW_ROWS:
        table.caption = f"{len(rows) - FEW_ROWS} more rows"
    return table


def _shortened(text: str) -> str:
    return text if len(text) <= FINDING_WIDTH else f"{text[:FINDING_WIDTH]}…"

"""What a notebook shows of a network, a fit and a check: a few lines, and a picture where it stays small."""

from __future__ import annotations

from html import escape

from credo.check_results import Check
from credo.drawing.colours import css
from credo.model.network import Network
from credo.report.check_text import check_plain_text
from credo.report.page.conflict_picture import clash_picture
from credo.report.page.graph import network_picture
from credo.results import Fit

LARGE = 150  # variables from which there is no picture
FEW = 5  # statements that are named
_STYLE = (
    "<style>"
    + css(".credo")
    + (
        ".credo{color:var(--ink);background:var(--paper);padding:.5em}.credo svg{max-width:100%;height:auto}"
        ".credo svg text{fill:var(--ink);font:12px system-ui,sans-serif;text-anchor:middle;paint-order:stroke;"
        "stroke:var(--paper);stroke-width:4px}.credo svg text.left{stroke:none}"
        ".credo svg text.left{text-anchor:start}"
        ".credo svg circle{fill:var(--moved);stroke:var(--ink)}"
        ".credo svg :is(.raises,.lowers,.neutral){fill:none;stroke-width:1.6;marker-end:url(#tip)}"
        ".credo svg .raises{stroke:var(--raises)}.credo svg .lowers{stroke:var(--lowers);stroke-dasharray:6 3}"
        ".credo svg .neutral{stroke:var(--neutral)}"
        ".credo svg.crowded :is(.raises,.lowers,.neutral){stroke-width:.8;marker-end:none}"
        ".credo svg .box{fill:var(--panel);stroke:var(--bad)}.credo svg .number{fill:var(--paper);stroke:var(--soft)}"
        ".credo svg .tie{fill:none;stroke:var(--bad);stroke-width:1.5}"
        "</style>"
    )
)


def network_html(network: Network) -> str:
    """A network: its size and its picture."""
    numbers = sum(network.configurations(name) * len(network.states(name)) for name in network.names)
    arcs = sum(len(network.parents[name]) for name in network.names)
    lines = f"<strong>{escape(network.name)}</strong>: {len(network)} variables, {arcs} arcs, {numbers:,} numbers"
    return _framed(f"<p>{lines}</p>{_picture(network)}")


def fit_html(fit: Fit) -> str:
    """A fit: how it ended, and the statements that shaped it; quick, so without the whole explanation."""
    parts = [
        f"<p><strong>{escape(fit.network.name)}</strong>, learned from {fit.rows:,} rows and "
        f"{len(fit.knowledge.statements):,} statements by {escape(fit.method)}. {escape(fit.status.value)} "
        f"Log-likelihood of the data: {fit.log_likelihood:,.4f}.</p>"
    ]
    for title, said in (
        ("Shaped the result", [(each.statement, f"price {each.price:.3g}") for each in fit.binding()]),
        ("Not satisfied", [(each.statement, f"by {each.amount:.3g}") for each in fit.violations()]),
    ):
        if said:
            items = "".join(f"<li><code>{escape(text)}</code>, {escape(how)}</li>" for text, how in said[:FEW])
            more = f"<li>and {len(said) - FEW:,} more</li>" if len(said) > FEW else ""
            parts.append(f"<p>{title}:</p><ul>{items}{more}</ul>")
    parts.append("<p><code>fit.explain()</code> and <code>fit.report(…)</code> tell the whole story.</p>")
    return _framed("".join(parts) + _picture(fit.network))


def check_html(check: Check) -> str:
    """A check: its story, and its first conflicts as pictures."""
    pictures = "".join(clash_picture(conflict) for conflict in check.conflicts[:FEW])
    return _framed(f"{pictures}<pre>{escape(check_plain_text(check))}</pre>")


def _picture(network: Network) -> str:
    return network_picture(network, {}) if 0 < len(network) <= LARGE else ""


def _framed(content: str) -> str:
    return f'{_STYLE}<div class="credo">{content}</div>'

"""What a notebook shows of a fit and a check: a few lines, and a picture where it stays small."""

from __future__ import annotations

from credo.drawing.network_svg import framed, picture
from credo.questions.marginals import fit_marginals
from credo.report.check_page import conflict_picture
from credo.report.check_text import check_plain_text
from credo.report.fit_text import contradicted_by_data, first_sentence, not_used_by_estimate, what_to_do
from credo.report.html import bullets
from credo.results.check_results import Check
from credo.results.fit_results import Fit
from credo.results.fit_statements import binding_statements, has_multipliers, violated_statements
from credo.terminal import escape

QUICK_CELLS = 2**22  # of all cliques, under all draws together: a tenth of a second
FEW = 5  # statements that are named, conflicts that are drawn


def fit_html(fit: Fit) -> str:
    """A fit: how it ended, and which statements shaped it; quick, so without the whole explanation."""
    first, contradicted = contradicted_by_data(fit)
    parts = [f"<p><strong>{escape(first)}</strong></p>{bullets(contradicted)}<p>{what_to_do(fit)}</p>"] if first else []
    unused = not_used_by_estimate(fit)
    parts += [
        f"<p><strong>{escape(first_sentence(fit))}</strong></p>{bullets(unused) if unused else ''}"
        f"<p>{escape(fit.status.value)} "
        f"Method: {escape(fit.method)}. Log-likelihood of the data: {fit.log_likelihood:,.4f}.</p>"
    ]
    binding = binding_statements(fit) if has_multipliers(fit) else ()
    parts += [
        _list(
            "These statements shaped the result. Beside each is how much it matters: the gain in log-likelihood if its "
            "bound moved by one percentage point.",
            [(each.statement.text, f"{each.gain_per_point:.3g}") for each in binding],
        ),
        _list(
            "These statements are not satisfied, and by how much:",
            [(each.statement.text, f"{each.amount:.3g}") for each in violated_statements(fit)],
        ),
        '<p><code>fit.explain()</code> explains the result, <code>fit.report("report.html")</code> writes a page.</p>',
    ]
    return framed("".join(parts) + picture(fit.network, fit_marginals(fit, QUICK_CELLS).bars))


def check_html(check: Check) -> str:
    """A check: what was found, and its first conflicts as pictures."""
    pictures = "".join(conflict_picture(conflict) for conflict in check.conflicts[:FEW])
    return framed(f"{pictures}<pre>{escape(check_plain_text(check))}</pre>")


def _list(title: str, statements: list[tuple[str, str]]) -> str:
    if not statements:
        return ""
    items = "".join(f"<li><code>{escape(text)}</code>: {escape(value)}</li>" for text, value in statements[:FEW])
    more = f"<li>and {len(statements) - FEW:,} more</li>" if len(statements) > FEW else ""
    return f"<p>{title}</p><ul>{items}{more}</ul>"

"""Experts' numbers and studies in a report: what was given, what rows show, and what came out."""

from __future__ import annotations

from credo.explain.evidence_used import EvidenceUsed, evidence_used
from credo.posterior.draws import PosteriorResult
from credo.results.fit_results import Fit
from credo.terminal import escape

_HEADINGS = ("about", "source", "given [95%]", "rows", "result [95%]", "counts as", "its share of what is known")


def evidence_section(fit: Fit) -> str:
    """A table with a row for each expert's number and each study; nothing where there are none."""
    if fit._problem is None or fit._problem.model.stated is None or not fit._problem.model.stated.evidence:
        return ""
    posterior = fit.posterior if isinstance(fit.posterior, PosteriorResult) else None
    learned = {name: fit.network.cpts[name] for name in fit._problem.model.names if name in fit.network.cpts}
    rows = [_row(each) for each in evidence_used(fit.knowledge, fit._problem, posterior, learned)]
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in _HEADINGS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(used: EvidenceUsed) -> tuple[str, ...]:
    source = used.source or used.statement.place or ""
    return used.subject, source, used.given, used.data, used.result, _weight(used), _share(used)


def _weight(used: EvidenceUsed) -> str:
    """Which part of its cases an expert's number has, where the expert may be wrong."""
    return "all" if used.weight is None else f"{used.weight:.0%}"


def _share(used: EvidenceUsed) -> str:
    return "" if used.share is None else f"{used.share:.0%}"

"""What is open, as data for a page: the files, what the text means, what was found and learned."""

from __future__ import annotations

from typing import Any

from credo.drawing.page_picture import corners_as_drawn, picture_data
from credo.knowledge.decisions import DecisionDeclaration
from credo.knowledge.labels import labels_of
from credo.knowledge.statements import to_text
from credo.questions.question_draws import why_no_interval
from credo.studio.asking import decision_lines
from credo.studio.folder import Folder
from credo.studio.opening import Opened
from credo.studio.reading import Reading, arrow_data, experts_data, mistake_data, network_data
from credo.studio.support import support

MOST_MISTAKES = 100  # that a page shows


def opened_data(opened: Opened, folder: Folder) -> dict[str, Any]:
    """Everything about what is open, as JSON can hold it; files are named as in their folder."""
    name, network = folder.name_of, opened.reading.network
    return {
        "knowledge": name(opened.knowledge),
        "network": None if opened.network_file is None else name(opened.network_file),
        "table": None if opened.table is None else name(opened.table.path),
        "text": opened.document.text,
        "version": opened.document.version,
        "unsaved": opened.document.text != opened.saved,
        "notice": opened.notice,
        "reading": reading_data(opened, opened.reading),
        "picture": None if network is None else picture_data(network, opened.reading.labels),
        "check": opened.found if opened.found and opened.found["version"] == opened.document.version else None,
        "arrows": None if opened.given is None or not opened.given.is_complete else arrow_data(opened.given),
        "fit": fit_data(opened),
        "view": opened.view | _positions(opened),
    }


def _positions(opened: Opened) -> dict[str, Any]:
    """Where boxes stand: as somebody moved them, or else as they were drawn in the network file."""
    network, labels = opened.reading.network, opened.reading.labels
    drawn = corners_as_drawn(network, labels, opened.drawn) if network is not None and opened.drawn else {}
    return {"positions": {**drawn, **opened.view.get("positions", {})}} if drawn else {}


def reading_data(opened: Opened, reading: Reading) -> dict[str, Any]:
    """What a text means, as JSON can hold it, and what changed since something was learned."""
    network, knowledge = reading.network, reading.knowledge
    said = () if knowledge is None else knowledge.statements
    lines = [] if knowledge is None else decision_lines(knowledge)
    decisions = {each.variable for each in lines if isinstance(each, DecisionDeclaration)}
    return {
        "network": None if network is None else network_data(network, said, reading.labels, decisions),
        "changes": [] if opened.fit is None else list(support(opened.fit, reading, opened.table).changes),
        "mistakes": [mistake_data(mistake, network) for mistake in reading.mistakes[:MOST_MISTAKES]],
        "findings": [str(finding) for finding in reading.findings],
        "message": reading.message,
        "experts": experts_data(said),
        "statements": len(said),
        "decisions": [to_text(each) for each in lines],
    }


def fit_data(opened: Opened) -> dict[str, Any] | None:
    """What was learned, in short."""
    fit = opened.fit
    if fit is None:
        return None
    return {
        "method": fit.method,
        "status": fit.status.value,
        "rows": fit.rows,
        "seconds": fit.seconds,
        "findings": [{"kind": finding.kind, "message": str(finding)} for finding in fit.findings],
        "left_out": list(opened.left_out),
        "no_interval": why_no_interval(fit),
        "report": opened.report is not None,
        "explained": opened.explanation is not None,
        "network": network_data(fit.network, (), labels_of(fit.knowledge.declarations)),
        "arrows": arrow_data(fit),
        "experts": [] if fit.doubt is None else fit.experts().to_dicts(),
        "beliefs": []
        if fit.doubt is None
        else fit.statements().select("expert", "statement", "probability").to_dicts(),
    }

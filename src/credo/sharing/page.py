"""A page that answers for a learned network: one file, without Python, without a connection, without rows of data."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

import numpy as np

from credo._version import __version__
from credo.drawing.page_picture import picture_data
from credo.errors import OptionError, TooLargeError
from credo.explain.summary import UNNAMED
from credo.knowledge.labels import Labels, labels_of
from credo.knowledge.state_order import state_order
from credo.knowledge.statements import to_text
from credo.model.network import Network
from credo.progress import ProgressListener
from credo.questions.expected_utility import choices_of
from credo.questions.question_draws import why_no_interval
from credo.results.fit_results import FROM_FILE, Fit, fit_of_network
from credo.sharing.compiled import compiled, table_of_answers
from credo.terminal import escape
from credo.types import Numbers

# Nothing is loaded, and nothing runs but the one script whose fingerprint this is.
POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
MOST_PICTURED = 150  # variables of a network whose picture is shown


def share_page(
    source: Fit | Network,
    *,
    inputs: Sequence[str] = (),
    targets: Sequence[str] = (),
    title: str = "",
    progress: ProgressListener = lambda event: None,
) -> str:
    """The page of a fit, or of a network.

    Parameters
    ----------
    source
        What was learned.
    inputs
        What people can say about a case; everything, if empty.
    targets
        What they can ask for; everything, if empty.
    title
        The heading; the name of the network, if empty.
    progress
        Is called where answers are computed beforehand.

    Raises
    ------
    TooLargeError
        If the network is too large, and no inputs and targets were chosen, or too many.
    OptionError
        If an input or a target is not a variable.
    """
    fit = fit_of_network(source) if isinstance(source, Network) else source
    network, labels = fit.network, labels_of(fit.knowledge.declarations)
    for name in (*inputs, *targets):
        network.variable(name)
    if both := [name for name in targets if name in inputs]:
        raise OptionError(f"{both[0]} cannot be both an input and a target.")
    content: dict[str, Any] = {
        "title": title or _title(network, labels, targets),
        "inputs": list(inputs),
        "targets": list(targets),
        "target": (targets or [_main_variable(network)])[0],
        "about": _about(fit),
        "text": _text(fit),
    }
    chosen = {*inputs, *targets} if inputs and targets else None
    try:
        found = compiled(fit, chosen)
    except TooLargeError:
        if chosen is None:
            raise
        numbers = table_of_answers(fit, inputs, targets, progress)
        content |= {"kind": "table", "note": why_no_interval(fit), "draws": 0}
        content["variables"] = _variables(network, labels, [*inputs, *targets])
    else:
        numbers = found.numbers
        content |= {"kind": "plan", "note": found.note, "draws": found.draws, "plan": found.plan}
        content["variables"] = _variables(found.network, labels, found.network.names, network)
        content |= _decision(fit, found.network)
    if len(network.names) <= MOST_PICTURED and chosen is None:
        content["picture"] = picture_data(network, labels)
    return _document(content, numbers)


def _variables(
    network: Network, labels: Labels, names: Sequence[str], original: Network | None = None
) -> list[dict[str, Any]]:
    """Variables as JSON can hold them; those that only stand for parts of a noisy family are hidden."""
    found = []
    for name in names:
        variable, label = network.variable(name), labels.variables.get(name)
        is_hidden = original is not None and name not in original
        shown = variable if original is None or is_hidden else original.variable(name)
        order = state_order(shown).states
        found.append(
            {
                "name": name,
                "label": labels.variable(name),
                "states": list(variable.states),
                "labels": [labels.state(name, state) for state in variable.states],
                "order": [variable.states.index(state) for state in order],
                "parents": [names.index(parent) for parent in network.parents[name] if parent in names],
                "hidden": is_hidden,
                "cuts": None if shown.cuts is None else list(shown.cuts.points),
                **{each: "" if label is None else getattr(label, each) for each in ("unit", "note", "source")},
            }
        )
    return found


def _decision(fit: Fit, network: Network) -> dict[str, Any]:
    """What is to be decided and what counts, where the knowledge says so and a page has all that this is about."""
    try:
        choices = choices_of(fit)
    except OptionError:
        return {}
    if not {*choices.chance, *choices.after} <= set(network.names):
        return {}

    def place(name: str, states: Sequence[str]) -> list[Any]:
        return [network.names.index(name), [network.states(name).index(state) for state in states]]

    options = [
        {
            "text": str(option),
            "set": [[number, state] for number, (state,) in (place(n, [s]) for n, s in option.interventions.items())],
            "constant": option.constant,
            "lines": [[amount, [place(*each) for each in event]] for amount, event in choices.amounts(option)],
        }
        for option in choices.options
    ]
    late = [network.names.index(name) for name in network.names if name in choices.after]
    utilities = [str(each.declaration) for each in choices.problem.utilities]
    return {"decision": {"options": options, "late": late, "utilities": utilities}}


def _main_variable(network: Network) -> str:
    """What a question is most likely about: the variable with the most parents, the last of these."""
    return max(reversed(network.names), key=lambda name: len(network.parents[name]))


def _title(network: Network, labels: Labels, targets: Sequence[str]) -> str:
    """What people read: the labels of what is asked for, else the name of the network."""
    names = targets or [_main_variable(network)]
    is_named = targets or names[0] in labels.variables or network.name in UNNAMED
    title = " and ".join(labels.variable(name) for name in names) if is_named else network.name
    return title[:1].upper() + title[1:]


def _about(fit: Fit) -> dict[str, Any]:
    if fit.method == FROM_FILE:
        return {"credo": __version__}
    origin = fit.origin
    return {
        "credo": __version__,
        "rows": fit.rows,
        "statements": len(fit.knowledge),
        "method": fit.method,
        "status": fit.status.value,
        "date": "" if origin is None else origin.date,
        "table": "" if origin is None else origin.table,
        "fingerprint": "" if origin is None else origin.fingerprint,
    }


def _text(fit: Fit) -> str:
    """What was declared and stated, line by line; as it was written, where that is known."""
    lines = [*fit.knowledge.declarations, *fit.knowledge.statements]
    lines.sort(key=lambda each: (each.span is None, 0 if each.span is None else each.span.line))
    return "\n".join(to_text(each) if each.span is None else each.span.text.strip() for each in lines)


def _document(content: dict[str, Any], numbers: Numbers) -> str:
    style, script = (
        (files("credo.sharing") / "static" / name).read_text("utf-8") for name in ("share.css", "share.js")
    )
    policy = POLICY.format(script=_fingerprint(script), style=_fingerprint(style))
    data = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    binary = b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode()
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f'<title>{escape(content["title"])}</title><link rel="icon" href="data:,"><style>{style}</style></head>'
        f"<body><noscript>This page computes its answers with JavaScript, which is switched off.</noscript>"
        f'<div id="page"></div><script type="application/json" id="content">{data}</script>'
        f'<script type="application/octet-stream" id="numbers">{binary}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def _fingerprint(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()

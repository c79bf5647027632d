"""What a text says: its network, its statements, its mistakes; lines with a mistake do not hide the others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from credo.drawing.network_boxes import strength
from credo.drawing.page_picture import NO_LABELS, picture_key
from credo.errors import CredoError
from credo.explain.statement_references import references_to
from credo.findings import Finding
from credo.knowledge import Knowledge, KnowledgeError, Mistake, corrections, declared_network
from credo.knowledge.experts import expert_of
from credo.knowledge.labels import Labels, labels_of
from credo.knowledge.state_order import state_order
from credo.knowledge.statement_base import FamilyStatement
from credo.knowledge.statements import Influence, Statement, to_text
from credo.model.network import Network, Variable
from credo.questions.question_draws import arrow_kinds
from credo.results.fit_results import Fit
from credo.studio.document import utf16_length
from credo.studio.table import OpenTable

Influences = Mapping[str, Mapping[str, str]]  # of each child, by its parents: "raises", "lowers" or "neutral"
_PROBABILITY = re.compile(r"P\([^)]*\)")
MOST_ROUNDS = 5  # of leaving lines with mistakes out: mistakes of one kind hide those of the next


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, read as far as it can be.

    Attributes
    ----------
    network
        The variables with their states and arcs; None where they are not known.
    knowledge
        The statements of all lines that have no mistake; None where there is no network.
    mistakes
        What has to be corrected.
    findings
        What was taken from the table.
    message
        What else is wrong, such as a table that cannot be read.
    text
        The text without the lines that have a mistake, which are empty: what can be learned.
    """

    network: Network | None = None
    knowledge: Knowledge | None = None
    mistakes: tuple[Mistake, ...] = ()
    findings: tuple[Finding, ...] = ()
    message: str = ""
    text: str = ""

    @property
    def labels(self) -> Labels:
        """What people read, and which variables belong together."""
        return NO_LABELS if self.knowledge is None else labels_of(self.knowledge.declarations)


def read(text: str, given: Network | None, table: OpenTable | None) -> Reading:
    """Read a text about a network that is given, or that it declares with the help of a table."""
    mistakes: list[Mistake] = []
    rest = text
    for _ in range(MOST_ROUNDS):
        if given is None and not has_content(rest):
            return Reading(mistakes=tuple(mistakes))
        try:
            network, findings = _network(rest, given, table)
            return Reading(network, Knowledge(network, rest), tuple(mistakes), findings, text=rest)
        except KnowledgeError as error:
            fresh = [mistake for mistake in error.mistakes if mistake.line]
            mistakes += fresh
            if not fresh:
                return Reading(mistakes=tuple(mistakes), message=str(error))
            rest = without_lines(rest, {mistake.line for mistake in fresh})
        except CredoError as error:
            message = str(error) if table is None else str(error).replace(str(table.path), table.path.name)
            return Reading(mistakes=tuple(mistakes), message=message)
    return Reading(mistakes=tuple(mistakes))


def _network(text: str, given: Network | None, table: OpenTable | None) -> tuple[Network, tuple[Finding, ...]]:
    if given is not None:
        return given, ()
    made = declared_network(
        text + "\n", data=None if table is None else table.columns()
    )  # the line feed says that it is text, not a file
    return made.network, made.findings


def has_content(text: str) -> bool:
    """Whether a text has more than comments and empty lines."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


def without_lines(text: str, lines: Sequence[int] | set[int]) -> str:
    """A text with some lines emptied, so that the others keep their numbers."""
    left_out = set(lines)
    return "\n".join("" if number in left_out else line for number, line in enumerate(text.split("\n"), start=1))


def mistake_data(mistake: Mistake, network: Network | None = None) -> dict[str, Any]:
    """A mistake as JSON can hold it; its ends are offsets in its line, in UTF-16 code units as JavaScript counts."""
    text = mistake.text
    return {
        "kind": mistake.kind,
        "line": mistake.line,
        "start": utf16_length(text[: mistake.column - 1]),
        "end": utf16_length(text[: mistake.end_column - 1]),
        "message": mistake.message,
        "expected": mistake.expected,
        "suggestion": mistake.suggestion,
        "fixes": list(corrections(mistake, network)),
    }


def network_data(
    network: Network,
    statements: Sequence[Statement] = (),
    labels: Labels = NO_LABELS,
    decisions: Collection[str] = (),
) -> dict[str, Any]:
    """The structure of a network as JSON can hold it, and what statements say about arrows and orders."""
    stated = stated_influences(statements)
    families = {str(each.child): to_text(each) for each in statements if isinstance(each, FamilyStatement)}
    return {
        "name": network.name,
        "picture": picture_key(network, labels),
        "groups": {name: list(members) for name, members in labels.groups.items()},
        "variables": [
            {
                "name": variable.name,
                "states": list(variable.states),
                "cuts": None if variable.cuts is None else list(variable.cuts.points),
                "parents": list(network.parents[variable.name]),
                "ordered": variable.is_ordered,
                "order": list(state_order(variable, statements).states),
                "stated": stated.get(variable.name, {}),
                "family": families.get(variable.name, ""),
                "decision": variable.name in decisions,
                **_label_data(variable, labels),
            }
            for variable in network.variables
        ],
    }


def _label_data(variable: Variable, labels: Labels) -> dict[str, Any]:
    """What people read in place of a variable's name and the names of its states."""
    own = labels.variables.get(variable.name)
    return {
        "label": labels.variable(variable.name),
        "labels": [labels.state(variable.name, state) for state in variable.states],
        "about": "" if own is None else ". ".join(each for each in (own.unit, own.note, own.source) if each),
    }


def stated_influences(statements: Iterable[Statement]) -> Influences:
    """Which parents raise or lower a child by what statements say; none where they disagree."""
    found: dict[str, dict[str, str]] = {}
    for each in statements:
        if isinstance(each, Influence):
            own = found.setdefault(str(each.child), {})
            parent, known = str(each.parent), own.get(str(each.parent), each.direction)
            own[parent] = each.direction if known == each.direction else "neutral"
    return found


def experts_data(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """Who said what: each expert's statements, with what each of them is about and what it says of that."""
    found: dict[str, dict[str, Any]] = {}
    for each, reference in zip(statements, references_to(statements), strict=True):
        if (expert := expert_of(each)) is None:
            continue
        own = found.setdefault(expert.name, {"name": expert.name, "reliability": "", "statements": []})
        own["reliability"] = own["reliability"] or str(expert).partition(" with reliability ")[2]
        about, says = "", reference.text
        if isinstance(each, Influence):
            about, says = f"{each.parent} → {each.child}", each.direction
        elif probability := _PROBABILITY.search(text := says if "P(" in says else str(each)):
            about, says = probability[0], text.replace(probability[0], "", 1).strip(" ,")
        own["statements"].append({"line": reference.line, "text": reference.text, "about": about, "says": says})
    return list(found.values())


def arrow_data(source: Fit | Network) -> dict[str, dict[str, tuple[str, float]]]:
    """Which parents raise or lower a child by the numbers, as in every picture of them, and how much."""
    network = source if isinstance(source, Network) else source.network
    found: dict[str, dict[str, tuple[str, float]]] = {name: {} for name in network}
    for (parent, name), kind in arrow_kinds(source).items():
        found[name][parent] = kind, round(strength(network, parent, name), 4)
    return found

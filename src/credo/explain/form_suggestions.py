"""Which form would fill a large CPT that few rows reach, in the words of the language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from credo.findings import Finding
from credo.knowledge import Knowledge
from credo.knowledge.names import name_text
from credo.knowledge.ranked_family import RankedFamily, WeightedParent
from credo.knowledge.state_order import LISTED
from credo.knowledge.statement_base import FamilyStatement
from credo.knowledge.statements import Influence
from credo.statistics.counts import Counts
from credo.types import Numbers

LARGE = 64  # configurations from which on a form is suggested
LARGEST = 2**20  # cells beyond which another message says the same
SPREAD = 0.2
HEAVIEST = 5  # the largest weight that is suggested; the smallest is 1
FORM = "large CPT"


def form_suggestions(knowledge: Knowledge, counts: Counts, names: Sequence[str]) -> list[Finding]:
    """A finding for each learned CPT with more configurations than rows, and more than `LARGE`."""
    network, found = knowledge.network, []
    stated = {str(each.child) for each in knowledge.statements if isinstance(each, FamilyStatement)}
    for name in names:
        if name not in network or name in stated or name in network.forms or name in network.shared:
            continue
        configurations = network.configurations(name)
        cells = configurations * len(network.states(name))
        if configurations <= LARGE or counts.total >= configurations or cells > LARGEST:
            continue
        message = (
            f"{name} has {configurations:,} configurations of its parents, most of which no row reaches: their "
            f"distributions are guesses. {_suggestion(knowledge, counts, name)}"
        )
        found.append(Finding(FORM, message, name))
    return found


def _suggestion(knowledge: Knowledge, counts: Counts, name: str) -> str:
    network = knowledge.network
    parents, states = network.parents[name], network.states(name)
    family = (name, *parents)
    has_order = all(knowledge.orders[each].reason != LISTED for each in family)
    if has_order and any(len(network.states(each)) > 2 for each in family):
        line = str(RankedFamily(name, "mean", tuple(_weighted(knowledge, counts, name)), SPREAD))
        return f"A few numbers would fill it, if its parents push it up and down on a scale: `{line}`."
    kind = "noisy-or" if len(states) == 2 else "noisy-max"
    sets = ", ".join("{" + name_text(parent) + "}" for parent in parents)
    line = f"{name_text(name)} is {kind} of {sets} with leak"
    return f"If each parent can bring it about by itself, {len(parents)} small CPTs would do: `{line}`."


def _weighted(knowledge: Knowledge, counts: Counts, name: str) -> Iterator[WeightedParent]:
    """The parents, weighed by what data and influences say of their direction and strength."""
    network = knowledge.network
    signs = {
        str(each.parent): 1 if each.direction == "raises" else -1
        for each in knowledge.statements
        if isinstance(each, Influence) and str(each.child) == name
    }
    table = counts.of(name).reshape(network.shape(name))
    slopes = {
        parent: _slope(knowledge, table.sum(axis=tuple(a for a in range(table.ndim - 1) if a != axis)), parent, name)
        for axis, parent in enumerate(network.parents[name])
    }
    least = max(max(abs(slope) for slope in slopes.values()) / HEAVIEST, 1e-9)
    for parent, slope in slopes.items():
        weight = float(np.clip(round(abs(slope) / least), 1, HEAVIEST))
        yield WeightedParent(parent, weight, signs.get(parent, 1 if slope >= 0 else -1) < 0)


def _slope(knowledge: Knowledge, table: Numbers, parent: str, child: str) -> float:
    """The correlation of two variables' ranks, from (states of the parent, states of the child)."""
    total = table.sum()
    if not total > 0:
        return 0.0

    def ranks(name: str) -> Numbers:
        order = list(knowledge.orders[name].states)
        return np.array([order.index(state) for state in knowledge.network.states(name)], dtype=np.float64)

    x, y = ranks(parent), ranks(child)
    rows, columns = table.sum(axis=1) / total, table.sum(axis=0) / total
    x, y = x - rows @ x, y - columns @ y
    scale = float(np.sqrt((rows @ x**2) * (columns @ y**2)))
    return float(x @ (table / total) @ y) / scale if scale > 0 else 0.0

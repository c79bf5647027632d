"""Which form would fill a large CPT that few rows reach, in the words of the language.

Where rows or experts' numbers are known, weighted mean, max and min, noisy-or and noisy-and compete: distributions lie
around a form's as its cases allow, and each free number costs ½ log n of the log-probability of the n cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np

from credo.estimation.learned_forms import fitted_form, most_probable, most_seen
from credo.findings import Finding
from credo.knowledge import Knowledge
from credo.knowledge.noisy_family import NoisyFamily, NoisyKind
from credo.knowledge.ranked_family import CASES, RankedFamily, WeightedParent, middle_of
from credo.knowledge.state_order import LISTED
from credo.knowledge.statement_base import FamilyStatement
from credo.knowledge.statements import Influence
from credo.model.ranked_nodes import KINDS as RANKED
from credo.statistics.counts import Counts
from credo.statistics.pooling import log_beta
from credo.types import Numbers

LARGE = 64  # configurations from which on a form is suggested
LARGEST = 2**20  # cells beyond which another message says the same
SPREAD = 0.2
MOST_COMPARED = 10  # CPTs whose forms compete, each for some tenths of a second
MOST_FREE = 60  # numbers of a noisy family that is tried: with more of them it is no small form
EFFECT_WIDTH = 2.0  # standard deviation of the log odds of an effect, before anything is known
FORM = "large CPT"


def form_suggestions(knowledge: Knowledge, counts: Counts, names: Sequence[str]) -> list[Finding]:
    """A finding for each learned CPT with more configurations than rows, and more than `LARGE`."""
    network = knowledge.network
    found: list[Finding] = []
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
            f"distributions are guesses. {_suggestion(knowledge, counts, name, len(found) < MOST_COMPARED)}"
        )
        found.append(Finding(FORM, message, name))
    return found


def _suggestion(knowledge: Knowledge, counts: Counts, name: str, compares: bool) -> str:
    network = knowledge.network
    parents, states = network.parents[name], network.states(name)
    family = (name, *parents)
    has_order = all(knowledge.orders[each].reason != LISTED for each in family)
    is_noisy = not has_order or all(len(network.states(each)) == 2 for each in family)
    kinds: tuple[NoisyKind, ...] = ("noisy-or", "noisy-and") if len(states) == 2 else ("noisy-max", "noisy-min")
    noisy = [NoisyFamily(name, kind, tuple((parent,) for parent in parents), leak=True) for kind in kinds]
    seen = most_seen(name, knowledge, counts) if compares else {}
    total = float(sum(cases.sum() for cases in seen.values()))
    if not total:
        if is_noisy:
            return f"If each parent can bring it about by itself, {len(parents)} small CPTs would do: `{noisy[0]}`."
        line = RankedFamily(name, "mean", tuple(_directed(knowledge, counts, name)), SPREAD)
        return f"A few numbers would fill it, if its parents push it up and down on a scale: `{line}`."
    scores = {}
    if has_order:
        for kind in RANKED:
            stated = RankedFamily(name, kind, tuple(_directed(knowledge, counts, name)))
            form, value, free = fitted_form(stated, knowledge, counts, points=1)  # quick, and enough to choose
            assert isinstance(form, RankedFamily)
            scores[str(_rounded(form))] = value - 0.5 * free * log(total)
    small = sum(len(network.states(parent)) - 1 for parent in parents) + 1
    if (free := small * (len(states) - 1)) <= MOST_FREE or not scores:
        for statement in noisy:
            scores[str(statement)] = _noisy_value(statement, knowledge, seen) - 0.5 * free * log(total)
    best = max(scores, key=lambda line: scores[line])
    own = np.array(list(seen.values()))
    if float((log_beta(own + 0.5) - log_beta(np.full_like(own, 0.5))).sum()) > scores[best]:
        return (
            f"What is known fits none of {len(scores)} forms better than a CPT of its own. The nearest is `{best}`: "
            "state it only if that is how it works."
        )
    return f"Of {len(scores)} forms, this one fits what is known best: `{best}`."


def _directed(knowledge: Knowledge, counts: Counts, name: str) -> Iterator[WeightedParent]:
    """The parents, turned around where influences or data say so."""
    network = knowledge.network
    signs = {
        str(each.parent): 1 if each.direction == "raises" else -1
        for each in knowledge.statements
        if isinstance(each, Influence) and str(each.child) == name
    }
    table = counts.of(name).reshape(network.shape(name))
    for axis, parent in enumerate(network.parents[name]):
        own = table.sum(axis=tuple(a for a in range(table.ndim - 1) if a != axis))
        sign = signs[parent] if parent in signs else _slope(knowledge, own, parent, name)
        yield WeightedParent(parent, None, sign < 0)


def _rounded(form: RankedFamily) -> RankedFamily:
    """The form with weights as somebody would write them; its spread is learned."""
    terms = tuple(replace(term, weight=round(middle_of(term.weight, 1.0), 1)) for term in form.terms)
    return replace(form, terms=terms, spread=None)


def _noisy_value(statement: NoisyFamily, knowledge: Knowledge, seen: Mapping[int, Numbers]) -> float:
    """The largest log-probability of the cases under a noisy family whose sets are single parents.

    P(child ≤ k | x) = Π P(effect_i ≤ k | x_i), with ≥ for noisy-and and noisy-min; a cause in its lowest state has the
    lowest effect.
    """
    network, child = knowledge.network, str(statement.child)
    parents, count = network.parents[child], len(network.states(child))
    from_low = 1 if statement.kind in ("noisy-or", "noisy-max") else -1
    causes = np.stack(np.unravel_index(np.array(list(seen)), network.shape(child)[:-1]), axis=1)
    ranks = [_ranks(knowledge, parent).astype(np.int64)[causes[:, k]] for k, parent in enumerate(parents)]
    own = np.array(list(seen.values()))[:, np.argsort(_ranks(knowledge, child))]
    sizes = [1, *(len(network.states(parent)) - 1 for parent in parents)]
    ends = np.cumsum(sizes)[:-1]
    none = np.eye(count)[[0]]

    def means(logs: Numbers) -> Numbers:
        effects = np.exp(np.pad(logs.reshape(-1, count - 1), ((0, 0), (1, 0))))
        leak, *others = np.split(effects / effects.sum(axis=1, keepdims=True), ends)
        below = np.cumsum(leak[:, ::from_low], axis=1)
        for states, rank in zip(others, ranks, strict=True):
            below = below * np.cumsum(np.vstack((none, states))[:, ::from_low], axis=1)[rank]
        return np.asarray(np.diff(below, axis=1, prepend=0.0)[:, ::from_low])

    start = np.zeros(sum(sizes) * (count - 1))
    return most_probable(means, start, np.full(len(start), EFFECT_WIDTH), own, CASES)[1]


def _slope(knowledge: Knowledge, table: Numbers, parent: str, child: str) -> float:
    """The correlation of two variables' ranks, from (states of the parent, states of the child)."""
    total = table.sum()
    if not total > 0:
        return 0.0
    x, y = _ranks(knowledge, parent), _ranks(knowledge, child)
    rows, columns = table.sum(axis=1) / total, table.sum(axis=0) / total
    x, y = x - rows @ x, y - columns @ y
    scale = float(np.sqrt((rows @ x**2) * (columns @ y**2)))
    return float(x @ (table / total) @ y) / scale if scale > 0 else 0.0


def _ranks(knowledge: Knowledge, name: str) -> Numbers:
    """How high each state is, from 0."""
    order = list(knowledge.orders[name].states)
    return np.array([order.index(state) for state in knowledge.network.states(name)], dtype=np.float64)

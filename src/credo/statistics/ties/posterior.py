"""Answers about tied rows: the probability of each state, and one state per row that respects the ties.

The messages that a tied value has converged to are soft evidence on it: with them each row can be evaluated alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from credo.errors import ImpossibleRowError
from credo.model.graphs import connected_components
from credo.model.network import Network
from credo.statistics.counts import layout_for_counts
from credo.statistics.predict import posterior
from credo.statistics.ties.likelihood import TiedData
from credo.types import Indices, Numbers

MOST_ATTEMPTS = 100_000  # for one component of groups that differ, before the search gives up


def tied_posterior(network: Network, tied: TiedData, name: str) -> Numbers:
    """P(name | data, ties), (rows, states), under the CPTs of the network.

    Exact if the likelihood is: if rows and ties form no cycle.
    """
    dataset, count_layout = replace(tied.prepared.dataset, weights=None), layout_for_counts(network)
    found = tied.expected(tied.prepared.layout.pack(network.cpts), tied.start())
    members = tied.seen.members
    has_evidence = np.zeros(len(dataset), dtype=bool)
    has_evidence[members.row] = True
    place = np.cumsum(has_evidence) - 1
    soft: dict[str | tuple[str, ...], Numbers] = {}
    for number, scope in enumerate(members.factors.scopes):
        columns = np.flatnonzero(members.scope == number)
        if not len(columns):
            continue
        names = tuple(network.names[position] for position in scope.variables)
        states = scope.states(tied.prepared.layout.sizes)
        at = tied.seen.offsets[columns][:, None] + np.arange(states)
        logs = np.zeros((int(has_evidence.sum()), states))
        np.add.at(logs, place[members.row[columns]], np.log(found.evidence[at]))  # a value may be in several ties
        likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
        key = names[0] if len(names) == 1 else names
        soft[key] = soft[key] * likelihoods if key in soft else likelihoods
    probabilities = np.empty((len(dataset), len(network.states(name))))
    for chosen, evidence in ((has_evidence, soft), (~has_evidence, {})):
        if not chosen.any():
            continue
        try:
            probabilities[chosen] = posterior(count_layout, dataset.rows(chosen), name, evidence)
        except ImpossibleRowError as error:  # its row is counted among the chosen ones
            raise ImpossibleRowError(int(np.flatnonzero(chosen)[error.row - 1]) + 1, error.values) from None
    return probabilities


# One state per group --------------------------------------------------------------------------------------------------


class NoAssignment(Exception):
    """No labels make all groups different that must be; `groups` are those of one connected component."""

    def __init__(self, groups: Sequence[int]) -> None:
        super().__init__()
        self.groups = tuple(groups)


def assign(probabilities: Numbers, pairs: Indices) -> tuple[Indices, bool]:
    """A state for each group, (groups,), and whether all pairs (n, 2) that must differ do: the search can give up.

        max Σ_groups log P(label)   s.t.  the labels of groups that differ are different

    `probabilities` are (groups, states). Groups in no pair get their most probable state. The others are coloured
    depth first: those with most neighbours first, each with its most probable state that no neighbour has.
    """
    labels: Indices = probabilities.argmax(axis=1).astype(np.int64)
    if not len(pairs):
        return labels, True
    neighbours: dict[int, list[int]] = {}
    for left, right in pairs.tolist():
        neighbours.setdefault(left, []).append(right)
        neighbours.setdefault(right, []).append(left)
    complete = True
    for groups in _components(pairs, len(probabilities)):
        found = _colour(probabilities, neighbours, groups)
        if found is None:
            complete = False
        else:
            labels[list(found)] = list(found.values())
    return labels, complete


def _components(pairs: Indices, groups: int) -> list[list[int]]:
    """The connected components of groups that must differ."""
    label = connected_components(pairs[:, 0], pairs[:, 1], groups)
    inside: Indices = np.unique(pairs)
    order = inside[np.argsort(label[inside], kind="stable")]
    return [part.tolist() for part in np.split(order, np.flatnonzero(np.diff(label[order])) + 1)]


def _colour(probabilities: Numbers, neighbours: dict[int, list[int]], groups: list[int]) -> dict[int, int] | None:
    """A state for each group of a component by backtracking; None if the search gives up."""
    order = sorted(groups, key=lambda group: (-len(neighbours[group]), -probabilities[group].max(), group))
    candidates = {group: np.argsort(-probabilities[group], kind="stable").tolist() for group in groups}
    chosen: dict[int, int] = {}
    next_candidate = [0] * len(order)
    depth = attempts = 0
    while 0 <= depth < len(order):
        group = order[depth]
        chosen.pop(group, None)
        taken = {chosen[neighbour] for neighbour in neighbours[group] if neighbour in chosen}
        while next_candidate[depth] < len(candidates[group]) and candidates[group][next_candidate[depth]] in taken:
            next_candidate[depth] += 1
        attempts += 1
        if attempts > MOST_ATTEMPTS:
            return None
        if next_candidate[depth] == len(candidates[group]):
            next_candidate[depth] = 0
            depth -= 1
        else:
            chosen[group] = candidates[group][next_candidate[depth]]
            next_candidate[depth] += 1
            depth += 1
    if depth < 0:
        raise NoAssignment(groups)
    return chosen

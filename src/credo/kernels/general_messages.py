"""The derivatives of all probabilities that statements name with respect to one CPT after the other.

They come from a clique tree (`statistics/inference/clique_tree.py`), whose messages follow the updates from CPT to CPT.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.sampler_arrays import BORROWING, CliqueTree, GeneralArrays, Underway

SEND = 0


class Times(NamedTuple):
    """When messages were sent and CPTs of cliques updated, by one clock: what is older than nothing behind it stays."""

    sent: Any  # (messages,) −1: never
    updated: Any  # (cliques,)
    clock: Any  # (1,)


@compiled(**BORROWING)
def multiply_clique(
    tree: CliqueTree,
    general: GeneralArrays,
    clique: int,
    family: int,
    message: int,
    messages: Any,
    products: Any,
    out: Any,
) -> None:
    """The product of all that is put into a clique, but for one CPT or one message, summed into `out`."""
    cells, indicators, maps = general.cpts, general.indicators, tree.maps
    sums = indicators.shape[1]
    skipped = message ^ 1 if message >= 0 else -1  # the message from where it goes
    target = tree.outs[message] if message >= 0 else 0
    first = tree.messages[message] if message >= 0 else general.family_starts[family]
    if family >= 0:
        for k in range(tree.family_starts[clique], tree.family_starts[clique + 1]):
            if tree.family_inputs[k, 0] == family:
                target = tree.family_inputs[k, 1]
    last = tree.messages[message + 1] if message >= 0 else general.family_starts[family + 1]
    for cell in range(last - first):
        for s in range(sums):
            out[cell, s] = 0.0
    shift = first if family >= 0 else 0
    for cell in range(tree.counts[clique]):
        value = 1.0
        for k in range(tree.family_starts[clique], tree.family_starts[clique + 1]):
            if tree.family_inputs[k, 0] != family:
                value *= cells[maps[tree.family_inputs[k, 1] + cell]]
        if value == 0.0:
            continue
        for s in range(sums):
            products[s] = value
        for k in range(tree.indicator_starts[clique], tree.indicator_starts[clique + 1]):
            place = tree.indicator_inputs[k, 0] + maps[tree.indicator_inputs[k, 1] + cell]
            for s in range(sums):
                products[s] *= indicators[place, s]
        for k in range(tree.message_starts[clique], tree.message_starts[clique + 1]):
            which = tree.message_inputs[k, 0]
            if which != skipped:
                place = tree.messages[which] + maps[tree.message_inputs[k, 1] + cell]
                for s in range(sums):
                    products[s] *= messages[place, s]
        place = maps[target + cell] - shift
        for s in range(sums):
            out[place, s] += products[s]


@compiled(**BORROWING)
def send(
    tree: CliqueTree, general: GeneralArrays, clique: int, message: int, messages: Any, room: Underway, times: Times
) -> None:
    """Send a message from a clique, unless it would be the same again."""
    newest = times.updated[clique]
    for k in range(tree.message_starts[clique], tree.message_starts[clique + 1]):
        other = tree.message_inputs[k, 0]
        if other != message ^ 1:
            newest = max(newest, times.sent[other])
    if times.sent[message] >= newest:
        return
    out = messages[tree.messages[message] : tree.messages[message + 1]]
    multiply_clique(tree, general, clique, -1, message, messages, room.slopes, out)
    times.clock[0] += 1
    times.sent[message] = times.clock[0]


@compiled(error_model="numpy")
def begin_cpt(tree: CliqueTree, general: GeneralArrays, clique: int, family: int, messages: Any, room: Underway) -> Any:
    """A CPT as it is begun: the derivatives of sums with respect to it, and the sums that it can change."""
    first, last = general.family_starts[family], general.family_starts[family + 1]
    constraints = general.constraints[general.constraint_starts[family] : general.constraint_starts[family + 1]]
    active = general.sums[general.sum_starts[family] : general.sum_starts[family + 1]]
    multiply_clique(tree, general, clique, family, -1, messages, room.slopes, room.derivatives)
    for s in active:
        room.sums[s] = 0.0
    for cell in range(first, last):
        for s in active:
            room.sums[s] += general.cpts[cell] * room.derivatives[cell - first, s]
    return Underway(first, room.derivatives, room.sums, room.slopes, room.linear, room.kept, constraints, active)


@compiled(error_model="numpy")
def end_cpt(general: GeneralArrays, family: int, clique: int, theta: Any, times: Times) -> None:
    """What a CPT became, for the messages to others."""
    for cell in range(general.family_starts[family], general.family_starts[family + 1]):
        if general.parameters[cell] >= 0:
            general.cpts[cell] = theta[general.parameters[cell]]
    times.clock[0] += 1
    times.updated[clique] = times.clock[0]


@compiled(error_model="numpy")
def begin_sweep(tree: CliqueTree, general: GeneralArrays, theta: Any, messages: Any) -> Any:
    """The present CPTs, the messages to the root, and room for the CPTs that are updated one by one; and times."""
    count, statements = general.indicators.shape[1], len(general.bounds)
    for i in range(len(general.places)):
        if general.places[i] >= 0:
            general.cpts[general.places[i]] = theta[i]
    largest = 0
    for family in range(len(general.family_starts) - 1):
        largest = max(largest, general.family_starts[family + 1] - general.family_starts[family])
    linear = np.zeros((2, statements))
    for i in range(len(general.entry_starts) - 1):
        for e in range(general.entry_starts[i], general.entry_starts[i + 1]):
            linear[0, general.entry_statements[e]] += general.entry_values[e] * theta[i]
    slopes = np.empty(count)
    sent = np.full(len(tree.messages) - 1, -1, dtype=np.int64)
    times = Times(sent, np.zeros(len(tree.counts), dtype=np.int64), np.zeros(1, dtype=np.int64))
    for k in range(len(tree.collecting)):
        clique, message = tree.collecting[k, 1], tree.collecting[k, 2]
        sent[message] = 0
        out = messages[tree.messages[message] : tree.messages[message + 1]]
        multiply_clique(tree, general, clique, -1, message, messages, slopes, out)
    kept = np.empty((2, max(count, statements)))
    none = general.constraints[:0]
    derivatives, sums = np.empty((largest, count)), np.empty(count)
    return Underway(general.family_starts[0], derivatives, sums, slopes, linear, kept, none, none), times

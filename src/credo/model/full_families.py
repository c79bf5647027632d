"""Noisy families as full CPTs over those parents whose states are not known.

The most probable states of all variables do not include effects, which are summed over: what is largest together with
one choice of effects need not be largest with all of them added up.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np

from credo.errors import TooLargeError, readable_bytes
from credo.memory import memory_limit_or_default
from credo.model.expansion import expand
from credo.model.gates import GateForm
from credo.model.network import Network
from credo.model.noisy import full_cpt

BYTES_PER_NUMBER = 24  # of a full CPT: the product of its factors, its differences, and the CPT itself


def with_full_families(
    network: Network, known: Mapping[str, str], interventions: Mapping[str, str], memory_limit: int | None = None
) -> Network:
    """The network with full CPTs in place of its noisy families, given the known states of some variables.

    Gates are expanded: further variables come after those of the network.
    A family loses the parents whose states are `known`, and all of them where an intervention sets its child.
    """
    if not network.forms:
        return network
    states = {**known, **interventions}
    parents, cpts = dict(network.parents), dict(network.cpts)
    gates = {}
    for child, form in network.forms.items():
        own = network.states(child)
        if child in interventions:
            parents[child], cpts[child] = (), np.full(len(own), 1.0 / len(own))
            continue
        if isinstance(form, GateForm):  # its steps have one value for each of its inputs' states: nothing is summed
            gates[child] = form
            continue
        left = [parent for parent in network.parents[child] if parent not in states]
        cells = prod(len(network.states(each)) for each in (*left, child))
        limit = memory_limit_or_default(memory_limit)
        if BYTES_PER_NUMBER * cells > limit:
            raise TooLargeError(
                f"The most probable states need the full CPT of {child}, which is {form.kind} of "
                f"{len(left)} parents without evidence: {readable_bytes(BYTES_PER_NUMBER * cells)}; "
                f"{readable_bytes(limit)} are allowed. Give the states of some of its parents.",
                BYTES_PER_NUMBER * cells,
            )
        effects = []
        for causes, cpt in zip(form.causes, form.cpts, strict=True):
            chosen = tuple(
                network.states(each).index(states[each]) if each in states else slice(None) for each in causes
            )
            effects.append(([each for each in causes if each not in states], cpt[chosen]))
        parents[child], cpts[child] = tuple(left), full_cpt(form, left, own, effects)
    return expand(Network(network.variables, parents, cpts, network.name, gates)).network

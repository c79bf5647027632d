"""A network with noisy families and gates as one of ordinary CPTs: hidden variables for effects, winners and steps.

A child with 40 parents in 10 sets becomes 10 small CPTs and a chain of 9 comparisons, never a CPT with 2⁴⁰
configurations:

    effect 1 ─┐
    effect 2 ─┴▶ winner of 2 ─┐
    effect 3 ─────────────────┴▶ winner of 3 … ▶ child

A gate becomes a tree of such comparisons, without effects. So everything that handles hidden variables (inference, EM,
knowledge about CPTs) handles both.

The most probable states of all variables do not include effects, which are summed over: what is largest together with
one choice of effects need not be largest with all of them added up. There families become full CPTs instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from credo.errors import TooLargeError, readable_bytes
from credo.memory import memory_limit_or_default
from credo.model.gates import GateForm, gate_pieces
from credo.model.network import Network, Variable
from credo.model.noisy import full_cpt
from credo.types import Numbers


@dataclass(frozen=True, slots=True)
class Expansion:
    """The expanded network, and what its further variables represent."""

    original: Network
    network: Network  # the original's variables first, in their order
    effects: Mapping[str, tuple[str, ...]]  # child → the effect of each of its causes; a gate has none
    # Variables whose CPTs only compare, the children of noisy families and gates among them; parents before children.
    winners: tuple[str, ...]
    steps: Mapping[str, tuple[str, ...]]  # gate → the variables that compute it, itself last
    # Variable that shares the CPT of another one → its own parents, in the order of the other's.
    aligned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def extra(self) -> tuple[str, ...]:
        """The variables that the original does not have."""
        return self.network.names[len(self.original) :]

    def collapse(self, cpts: Mapping[str, Numbers], canonical: bool = True) -> Network:
        """The original with learned CPTs; noisy families get the small CPTs of their effects."""
        ordinary = {
            name: self.unaligned(name, cpt)
            for name, cpt in cpts.items()
            if name in self.original and name not in self.effects
        }
        forms = {}
        for child, effects in self.effects.items():
            form = self.original.forms[child]
            if not isinstance(form, GateForm):
                form = form.with_cpts([cpts[effect] for effect in effects])
                forms[child] = form.canonical(self.original.states(child)) if canonical else form
        return self.original.with_cpts(ordinary).with_forms(forms)

    def unaligned(self, name: str, cpt: Numbers, batch: int = 0) -> Numbers:
        """An array like a CPT of the expanded network, with its parents' axes as the original has them.

        `batch` axes come before those of the CPT.
        """
        if name not in self.aligned:
            return cpt
        axes = [batch + self.aligned[name].index(parent) for parent in self.original.parents[name]]
        return np.ascontiguousarray(cpt.transpose([*range(batch), *axes, cpt.ndim - 1]))


def expand(network: Network, shared: Mapping[str, tuple[str, Sequence[str]]] | None = None) -> Expansion:
    """The network with every noisy family and gate expanded; the network itself if it has none.

    `shared` are variables whose CPT is that of another one: the other one, and their own parents in its order.
    """
    shared = shared or {}
    if not network.forms and not shared:
        return Expansion(network, network, {}, (), {})
    variables, parents = list(network.variables), dict(network.parents)
    cpts = {name: cpt for name, cpt in network.cpts.items() if name not in network.forms}
    effects: dict[str, tuple[str, ...]] = {}
    steps: dict[str, tuple[str, ...]] = {}
    winners: list[str] = []
    taken = set(network.names)

    def unused(name: str) -> str:
        while name in taken:
            name += "'"
        taken.add(name)
        return name

    def add(name: str, states: tuple[str, ...], given: tuple[str, ...]) -> str:
        name = unused(name)
        variables.append(Variable(name, states))
        parents[name] = given
        return name

    for child, form in network.forms.items():
        states = network.states(child)
        if isinstance(form, GateForm):
            pieces = gate_pieces(form, child, states, {name: network.states(name) for name in form.parents}, unused)
            variables += [Variable(piece.name, piece.states) for piece in pieces[:-1]]
            parents.update((piece.name, piece.parents) for piece in pieces)
            cpts.update((piece.name, piece.cpt) for piece in pieces)
            effects[child], steps[child] = (), tuple(piece.name for piece in pieces)
            winners += steps[child]
            continue
        names = [add(f"{child} by {', '.join(causes) or 'leak'}", states, causes) for causes in form.causes]
        effects[child] = tuple(names)
        cpts.update(zip(names, form.cpts, strict=False))
        wins, winner = form.wins(states), names[0]
        for place, name in enumerate(names[1:-1], start=2):
            winner = add(f"{child} by the first {place}", states, (winner, name))
            cpts[winner] = wins
            winners.append(winner)
        parents[child] = (winner,) if len(names) == 1 else (winner, names[-1])
        cpts[child] = np.eye(len(states)) if len(names) == 1 else wins
        winners.append(child)
    aligned = {name: tuple(order) for name, (_, order) in shared.items()}
    cpts = {name: cpt for name, cpt in cpts.items() if name not in shared}
    owners = {name: owner for name, (owner, _) in shared.items()}
    expanded = Network(variables, {**parents, **aligned}, cpts, network.name, shared=owners)
    return Expansion(network, expanded, effects, tuple(winners), steps, aligned)


# Noisy families as full CPTs ------------------------------------------------------------------------------------------


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

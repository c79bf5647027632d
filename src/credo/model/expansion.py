"""A network with noisy families as one of ordinary tables: a hidden variable for each effect, and for each winner.

A child with 40 parents in 10 sets becomes 10 small tables and a chain of 10 comparisons, never a table of 2⁴⁰ rows:

    effect 1 ─┐
    effect 2 ─┴▶ winner of 2 ─┐
    effect 3 ─────────────────┴▶ winner of 3 … ▶ child

So everything that knows hidden variables (inference, EM, knowledge about tables) knows noisy families.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from credo.model.network import Network, Table, Variable


@dataclass(frozen=True, slots=True)
class Expansion:
    """The ordinary network, and what in it stands for what."""

    original: Network
    network: Network  # the original's variables first, in their order
    effects: Mapping[str, tuple[str, ...]]  # child → the effect of each of its causes
    winners: tuple[str, ...]  # variables whose tables only compare: the children among them

    @property
    def extra(self) -> tuple[str, ...]:
        """The variables that the original does not have."""
        return self.network.names[len(self.original) :]

    def collapse(self, tables: Mapping[str, Table], canonical: bool = True) -> Network:
        """The original with learned tables: noisy families with the small tables of their effects."""
        own = {name: table for name, table in tables.items() if name in self.original and name not in self.effects}
        forms = {}
        for child, effects in self.effects.items():
            form = self.original.forms[child].with_cpts([tables[effect] for effect in effects])
            forms[child] = form.canonical(self.original.states(child)) if canonical else form
        return self.original.with_cpts(own).with_forms(forms)


def expand(network: Network) -> Expansion:
    """The network with every noisy family taken apart; itself where there is none."""
    if not network.forms:
        return Expansion(network, network, {}, ())
    variables, parents = list(network.variables), dict(network.parents)
    tables = {name: table for name, table in network.cpts.items() if name not in network.forms}
    effects: dict[str, tuple[str, ...]] = {}
    winners: list[str] = []
    taken = set(network.names)

    def add(name: str, states: tuple[str, ...], own: tuple[str, ...]) -> str:
        while name in taken:
            name += "'"
        taken.add(name)
        variables.append(Variable(name, states))
        parents[name] = own
        return name

    for child, form in network.forms.items():
        states = network.states(child)
        names = [add(f"{child} by {', '.join(own) or 'leak'}", states, own) for own in form.causes]
        effects[child] = tuple(names)
        tables.update(zip(names, form.cpts, strict=False))
        wins, best = form.wins(states), names[0]
        for place, name in enumerate(names[1:-1], start=2):
            best = add(f"{child} by the first {place}", states, (best, name))
            tables[best] = wins
            winners.append(best)
        parents[child] = (best,) if len(names) == 1 else (best, names[-1])
        tables[child] = np.eye(len(states)) if len(names) == 1 else wins
        winners.append(child)
    whole = Network(variables, parents, tables, network.name)
    return Expansion(network, whole, effects, tuple(winners))

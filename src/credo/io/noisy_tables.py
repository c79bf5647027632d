"""Noisy families for formats that do not know them: as full tables, as effects of their own, or as GeNIe's noisy-MAX.

GeNIe's noisy-MAX knows causes of one parent each, of which one state does nothing for certain, and a leak. Its child
lists the winning state first and the losing one last: where the lowest effect wins (noisy-and, noisy-min), its lowest
state comes first. All else goes through effects: a variable for each set of causes, and a child that follows them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from credo.errors import listing
from credo.model.expansion import expand
from credo.model.network import Network, Table, Variable
from credo.model.noisy import FULL_CELLS, NoisyForm


def as_tables(network: Network) -> tuple[Network, str]:
    """The network in full tables; families that are too large for one, with a variable for each effect and winner.

    With a sentence that says so, empty where there was nothing to do.
    """
    if not network.forms:
        return network, ""
    large = {name: form for name, form in network.forms.items() if form.cpts and name not in network.cpts}
    plain = Network(network.variables, network.parents, network.cpts, network.name, large)
    found = []
    if full := [name for name, form in network.forms.items() if form.cpts and name not in large]:
        found.append(f"The noisy families of {listing(full)} are written as full tables.")
    if bare := [name for name, form in network.forms.items() if not form.cpts]:
        found.append(f"That the families of {listing(bare)} are noisy is not written.")
    if large:
        found.append(
            f"The noisy families of {listing(list(large))} are too large for tables of {FULL_CELLS:,} numbers: each "
            "effect has become a variable of its own."
        )
        taken_apart = expand(plain)
        names: dict[str, str] = {}
        for extra in taken_apart.extra:
            names[extra] = _plain_name(extra, (*network.names, *names.values()))
        plain = _renamed(taken_apart.network, names)
    return plain, " ".join(found)


def as_noisymax(network: Network) -> tuple[Network, list[str]]:
    """The network as XDSL holds it: noisy families as noisy-or or noisy-max of one parent each, and what that changed.

    Every form of the result has the states of its child from winning to losing, and a leak.
    """
    found = []
    for child in [name for name, form in network.forms.items() if form.cpts]:
        form, states = network.forms[child], network.states(child)
        winning_first = form.order[::-1] if form.takes_highest else form.order
        if states != winning_first:
            network = _with_states(network, child, winning_first)
            found.append(f"The states of {child} come back as {listing(winning_first)}.")
        if not form.takes_highest:
            found.append(f"{child}, which is {form.kind}, comes back as the same with its states turned round.")
        network, added = _with_direct_causes(network, child)
        if added:
            found.append(f"The sets of causes of {child} come back as variables: {listing(added)}.")
    return network, found


def _with_direct_causes(network: Network, child: str) -> tuple[Network, list[str]]:
    """The network with a child each of whose causes is one parent, and the variables that stand for other causes."""
    states, before = network.states(child), network.parents[child]
    form = _scaled(network.forms[child], states)
    variables, parents, tables = list(network.variables), dict(network.parents), dict(network.cpts)
    tables.pop(child, None)
    causes = dict(zip(form.causes, form.cpts, strict=True))
    leak = causes.pop((), np.eye(len(states))[-1])
    own, small, added = list[str](), list[Table](), list[str]()
    for cause in sorted(causes, key=lambda each: min(map(before.index, each))):
        name, table = cause[0], causes[cause]
        if len(cause) > 1 or not (table[:, -1] == 1.0).any():
            name = _plain_name(f"{child} by {' '.join(cause)}", [each.name for each in variables])
            variables.append(Variable(name, states))
            parents[name], tables[name] = cause, table
            table = np.eye(len(states))
            added.append(name)
        own.append(name)
        small.append(table)
    parents[child] = tuple(own)
    sets, follows = tuple((each,) for each in own), [*small, *(() if leak[-1] == 1.0 else (leak,))]
    kind = "noisy-or" if len(states) == 2 else "noisy-max"
    noisy = NoisyForm(kind, sets, states[::-1], len(follows) > len(sets), tuple(follows))
    return Network(variables, parents, tables, network.name, {**network.forms, child: noisy}), added


def _scaled(form: NoisyForm, states: tuple[str, ...]) -> NoisyForm:
    """The form with a leak that takes upon itself what happens anyway, where the child has two states."""
    if len(states) != 2 or all((table[..., -1] == 1.0).any() for table in form.cpts[: len(form.sets)]):
        return form
    if not form.leak:  # the losing state is listed last
        form = replace(form, leak=True, cpts=(*form.cpts, np.array([0.0, 1.0])))
    return form.canonical(states)


def _with_states(network: Network, name: str, states: Sequence[str]) -> Network:
    """The same network with the states of a variable listed in another order."""
    places = [network.states(name).index(state) for state in states]
    variables = [Variable(name, tuple(states)) if each.name == name else each for each in network.variables]

    def turned(table: Table, axes: Sequence[str]) -> Table:
        return table.take(places, axis=axes.index(name)) if name in axes else table

    tables = {
        child: turned(table, [*network.parents[child], child])
        for child, table in network.cpts.items()
        if child not in network.forms
    }
    forms = {
        child: form.with_cpts(
            [turned(table, [*own, child]) for own, table in zip(form.causes, form.cpts, strict=False)]
        )
        for child, form in network.forms.items()
    }
    return Network(variables, network.parents, tables, network.name, forms)


def _plain_name(wanted: str, taken: Collection[str]) -> str:
    """A name for an added variable that every format takes: letters, digits and underscores."""
    plain = re.sub(r"\W+", "_", wanted).strip("_")
    while plain in taken:
        plain += "_"
    return plain


def _renamed(network: Network, names: Mapping[str, str]) -> Network:
    def new(name: str) -> str:
        return names.get(name, name)

    return Network(
        [Variable(new(each.name), each.states) for each in network.variables],
        {new(child): [new(parent) for parent in own] for child, own in network.parents.items()},
        {new(child): table for child, table in network.cpts.items()},
        network.name,
    )

"""Noisy families for formats without them: as full CPTs, as variables for their effects, or as GeNIe's noisy-MAX.

GeNIe's noisy-MAX has causes of one parent each, one state of which has no effect, and a leak. Its child lists the
winning state first and the losing one last: where the lowest effect wins (noisy-and, noisy-min), its lowest state comes
first. Everything else becomes a variable for the effect of each set of causes, and a child that follows them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from credo.errors import NetworkError, listing
from credo.io.printed_numbers import RoundedSums
from credo.model.expansion import expand
from credo.model.gates import GateForm
from credo.model.network import Form, Network, Variable
from credo.model.noisy import FULL_CELLS, NoisyForm
from credo.types import Numbers


def as_full_cpts(network: Network) -> tuple[Network, str]:
    """The network with full CPTs; families too large for one get a variable for each effect and winner.

    The second result is a sentence about what changed, empty if the network has no noisy family.
    """
    if not network.forms:
        return network, ""
    large = {name: form for name, form in network.forms.items() if form.has_numbers and name not in network.cpts}
    plain = Network(network.variables, network.parents, network.cpts, network.name, large)
    noisy = {name: form for name, form in network.forms.items() if isinstance(form, NoisyForm)}
    found = []
    if full := [name for name, form in noisy.items() if form.cpts and name not in large]:
        found.append(f"The noisy families of {listing(full)} are written as full CPTs.")
    if bare := [name for name, form in noisy.items() if not form.cpts]:
        found.append(f"That the families of {listing(bare)} are noisy is not written.")
    if len(noisy) < len(network.forms):
        found.append("Gates are written as CPTs.")
    if many := [name for name in large if name in noisy]:
        found.append(
            f"The noisy families of {listing(many)} are too large for CPTs of {FULL_CELLS:,} numbers: each "
            "effect has become a variable of its own."
        )
    plain, steps = as_steps(plain)
    return plain, " ".join([*found, *steps])


def as_steps(network: Network) -> tuple[Network, list[str]]:
    """The network in which forms without a full CPT are expanded, and a sentence about the gates among them."""
    large = {name: form for name, form in network.forms.items() if form.has_numbers and name not in network.cpts}
    if not large:
        return network, []
    others = {name: form for name, form in network.forms.items() if name not in large}
    cpts = {name: cpt for name, cpt in network.cpts.items() if name not in others}
    expanded = expand(Network(network.variables, network.parents, cpts, network.name, large))
    names: dict[str, str] = {}
    for extra in expanded.extra:
        names[extra] = _plain_name(extra, (*network.names, *names.values()))
    gates = [name for name, form in large.items() if isinstance(form, GateForm)]
    found = [f"The gates of {listing(gates)} have too many inputs for a CPT: their steps have become variables."]
    return _renamed(expanded.network, names, others), found if gates else []


def as_noisymax(network: Network) -> tuple[Network, list[str]]:
    """The network as XDSL holds it: noisy families as noisy-or or noisy-max of one parent each, and what that changed.

    Every form of the result has the states of its child from winning to losing.
    """
    found = []
    noisy = {name: form for name, form in network.forms.items() if isinstance(form, NoisyForm) and form.cpts}
    for child, form in noisy.items():
        states = network.states(child)
        winning_first = form.order[::-1] if form.takes_highest else form.order
        if states != winning_first:
            had_cuts = network.variable(child).cuts is not None
            if network.variable(child).is_ordered:
                found.append(f"A noisy-MAX lists its highest state first: that {child} is ordered is not written.")
            network = _with_states(network, child, winning_first)
            found.append(f"The states of {child} come back as {listing(winning_first)}.")
            if had_cuts:
                found.append(f"Cut points need the lowest state first: those of {child} are not written.")
        if not form.takes_highest:
            found.append(f"{child}, which is {form.kind}, comes back as the same with its states reversed.")
        network, added = _with_direct_causes(network, child)
        if added:
            found.append(f"The sets of causes of {child} come back as variables: {listing(added)}.")
    return network, found


def noisymax_form(
    structure: Network, name: str, distributions: Numbers, strengths: Sequence[str], rounded: RoundedSums
) -> NoisyForm:
    """A noisy-MAX of GeNIe: each parent a cause of its own, and a leak unless it has no effect.

    `distributions` has a row for each state of each parent, in the order of `strengths`, and one for the leak.
    """
    states, parents = structure.states(name), structure.parents[name]
    distributions = rounded.normalised(name, distributions)
    sizes = structure.shape(name)[:-1]
    order = _strengths(strengths, name, sizes)
    small, first = [], 0
    for size in sizes:
        cpt = np.empty((size, len(states)))
        cpt[[place - first for place in order[first : first + size]]] = distributions[first : first + size]
        small.append(cpt)
        first += size
    if leak := bool(distributions[-1, -1] != 1.0):
        small.append(distributions[-1])
    kind = "noisy-or" if len(states) == 2 else "noisy-max"
    try:
        return NoisyForm(kind, tuple((parent,) for parent in parents), states[::-1], leak, tuple(small))
    except NetworkError as error:
        raise NetworkError(f"The noisy-MAX of {name}: {error}") from None


def _strengths(words: Sequence[str], name: str, sizes: tuple[int, ...]) -> list[int]:
    """For each distribution of the parameters, its place in the order of states; those of a parent stay together."""
    found, first = list[int](), 0
    for size in sizes:
        own = words[first : first + size] if words else [str(state) for state in range(size)]
        if sorted(own) != sorted(map(str, range(size))):
            raise NetworkError(f"The strengths of {name} are the numbers of each parent's states, each once.")
        found += [first + int(word) for word in own]
        first += size
    if words and len(words) != first:
        raise NetworkError(f"Node {name} has {len(words)} strengths; it needs {first}.")
    return found


def _with_direct_causes(network: Network, child: str) -> tuple[Network, list[str]]:
    """The network with a child each of whose causes is one parent, and the variables added for other causes."""
    states, before = network.states(child), network.parents[child]
    noisy = network.forms[child]
    assert isinstance(noisy, NoisyForm)
    form = _scaled(noisy, states)
    variables, parents, cpts = list(network.variables), dict(network.parents), dict(network.cpts)
    cpts.pop(child, None)
    cpt_of = dict(zip(form.causes, form.cpts, strict=True))
    leak = cpt_of.pop((), np.eye(len(states))[-1])
    direct, small, added = list[str](), list[Numbers](), list[str]()
    for causes in sorted(cpt_of, key=lambda causes: min(map(before.index, causes))):
        name, cpt = causes[0], cpt_of[causes]
        if len(causes) > 1 or not (cpt[:, -1] == 1.0).any():
            name = _plain_name(f"{child} by {' '.join(causes)}", [variable.name for variable in variables])
            variables.append(Variable(name, states))
            parents[name], cpts[name] = causes, cpt
            cpt = np.eye(len(states))
            added.append(name)
        direct.append(name)
        small.append(cpt)
    parents[child] = tuple(direct)
    sets, effects = tuple((name,) for name in direct), [*small, *(() if leak[-1] == 1.0 else (leak,))]
    kind = "noisy-or" if len(states) == 2 else "noisy-max"
    direct_form = NoisyForm(kind, sets, states[::-1], len(effects) > len(sets), tuple(effects))
    return Network(variables, parents, cpts, network.name, {**network.forms, child: direct_form}), added


def _scaled(form: NoisyForm, states: tuple[str, ...]) -> NoisyForm:
    """The form with a leak for what happens without any cause, where the child has two states."""
    if len(states) != 2 or all((cpt[..., -1] == 1.0).any() for cpt in form.cpts[: len(form.sets)]):
        return form
    if not form.leak:  # the losing state is listed last
        form = replace(form, leak=True, cpts=(*form.cpts, np.array([0.0, 1.0])))
    return form.canonical(states)


def _with_states(network: Network, name: str, states: Sequence[str]) -> Network:
    """The same network with the states of a variable listed in another order."""
    places = [network.states(name).index(state) for state in states]
    variables = [Variable(name, tuple(states)) if own.name == name else own for own in network.variables]

    def reordered(cpt: Numbers, axes: Sequence[str]) -> Numbers:
        return cpt.take(places, axis=axes.index(name)) if name in axes else cpt

    cpts = {
        child: reordered(cpt, [*network.parents[child], child])
        for child, cpt in network.cpts.items()
        if child not in network.forms
    }
    forms: dict[str, Form] = {}
    for child, form in network.forms.items():
        if isinstance(form, NoisyForm):  # a gate knows states by their names
            pairs = zip(form.causes, form.cpts, strict=False)
            form = form.with_cpts([reordered(cpt, [*causes, child]) for causes, cpt in pairs])
        forms[child] = form
    return Network(variables, network.parents, cpts, network.name, forms)


def _plain_name(wanted: str, taken: Collection[str]) -> str:
    """A name for an added variable that every format accepts: letters, digits and underscores."""
    plain = re.sub(r"\W+", "_", wanted).strip("_")
    while plain in taken:
        plain += "_"
    return plain


def _renamed(network: Network, names: Mapping[str, str], forms: Mapping[str, Form]) -> Network:
    def new(name: str) -> str:
        return names.get(name, name)

    return Network(
        [replace(variable, name=new(variable.name)) for variable in network.variables],
        {new(child): [new(parent) for parent in parents] for child, parents in network.parents.items()},
        {new(child): cpt for child, cpt in network.cpts.items()},
        network.name,
        forms,
    )

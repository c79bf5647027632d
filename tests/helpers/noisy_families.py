"""The oracle of noisy families: small ones at random, and their full tables by enumerating every effect."""

from __future__ import annotations

from itertools import product

import numpy as np

from credo import Network, NoisyForm
from credo.types import Numbers

KINDS = ("noisy-or", "noisy-and", "noisy-max", "noisy-min")


def random_form(
    generator: np.random.Generator, kind: str, parents: dict[str, int], leak: bool, ordered: bool = False
) -> tuple[NoisyForm, tuple[str, ...]]:
    """A form over these parents (name → number of states) in random sets, and the states of its child."""
    count = 2 if kind in ("noisy-or", "noisy-and") else int(generator.integers(2, 5))
    states = tuple(f"s{k}" for k in range(count))
    order = states if ordered else tuple(generator.permutation(states).tolist())
    shuffled = generator.permutation(list(parents)).tolist()
    cuts = np.sort(generator.choice(np.arange(1, len(shuffled)), generator.integers(0, len(shuffled)), replace=False))
    sets = tuple(tuple(part.tolist()) for part in np.split(np.array(shuffled, dtype=object), cuts))
    shapes = [tuple(parents[name] for name in own) for own in (*sets, ()) if own or leak]
    tables = tuple(generator.dirichlet(np.ones(count), shape) for shape in shapes)
    return NoisyForm(kind, sets, order, leak, tables), states


def noisy_network(
    generator: np.random.Generator, kind: str, leak: bool, sizes: tuple[int, ...] = (2, 3, 2, 2)
) -> Network:
    """Parents without arcs among them, a noisy child `y`, and a child `z` of `y` and the first parent."""
    parents = {f"x{i}": size for i, size in enumerate(sizes)}
    form, states = random_form(generator, kind, parents, leak)
    variables = {name: [f"s{k}" for k in range(size)] for name, size in parents.items()}
    structure = Network({**variables, "y": states, "z": ("a", "b")}, {"y": list(parents), "z": ["y", "x0"]})
    tables = {
        name: generator.dirichlet(np.ones(structure.shape(name)[-1]), structure.shape(name)[:-1])
        for name in (*parents, "z")
    }
    return structure.with_cpts(tables).with_forms({"y": form})


def enumerated(form: NoisyForm, parents: dict[str, int], states: tuple[str, ...]) -> Numbers:
    """P(child | parents): over all effects together, what comes out of each, one by one."""
    names = list(parents)
    table = np.zeros((*parents.values(), len(states)))
    strongest = max if form.kind in ("noisy-or", "noisy-max") else min
    for configuration in np.ndindex(*parents.values()):
        given = dict(zip(names, configuration, strict=True))
        rows = [small[tuple(given[name] for name in own)] for own, small in zip(form.causes, form.cpts, strict=True)]
        for effects in product(range(len(states)), repeat=len(rows)):
            chance = np.prod([row[effect] for row, effect in zip(rows, effects, strict=True)])
            winner = strongest((states[effect] for effect in effects), key=form.order.index)
            table[(*configuration, states.index(winner))] += chance
    return table


def flat(network: Network) -> Network:
    """The same network with full tables in place of forms."""
    return Network(network.variables, network.parents, network.cpts, network.name)

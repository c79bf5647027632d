"""Names of variables and states, plain and odd, and small random networks that have them."""

from __future__ import annotations

from random import Random

import numpy as np

from credo.model.cut_points import CutPoints
from credo.model.network import Network, Variable
from credo.model.noisy import NoisyForm
from credo.model.state_texts import is_number

PLAIN = ("a", "b", "c", "lung", "smoke", "x1", "heart-rate", "b.p", "größe")
ODD = (
    "order", "rows", "P", "in", "a b", "x=y", "it's", 'say "hi"', "back\\slash", "年齢", "a,b", "a;b", "{x}", "a|b",
    "<5>", "&amp;", "#", "1.0", "-1", "5-12", "tab\tx", "line\nx", "e\u0301", "🫀", "NA ", " x", "\x07", "x" * 80,
)  # fmt: skip
STATES = (("no", "yes"), ("low", "medium", "high"), ("0", "1"), ("0", "1", "2"), ("true", "false"),
          ("<5", "5-12", "12+"),
          ("s0", "s1", "s2"), ("absent", "present"), ("only",), ("1.0", "2.0"), ("a", "b", "c", "d"))  # fmt: skip

IDENTIFIERS = tuple(states for states in STATES if all(state.isidentifier() for state in states))


def random_names(choose: Random, count: int, odd: float = 0.2) -> list[str]:
    """Distinct names, some of them odd."""
    names: dict[str, None] = {}
    while len(names) < count:
        pool = ODD if choose.random() < odd else PLAIN
        names[choose.choice(pool) + choose.choice(("", "", str(choose.randrange(20))))] = None
    return list(names)


def network_from(
    choose: Random,
    variables: tuple[int, int] = (1, 5),
    odd: float = 0.2,
    most_parents: int = 3,
    complete: float = 0.9,
    plain: bool = False,
) -> Network:
    """A small network with a random structure; its CPTs hold zeros, ones and numbers of many digits.

    `odd` is the share of odd names, `complete` that of variables with a CPT; with `plain` all names are identifiers.
    """
    names = random_names(choose, choose.randint(*variables), odd)
    if plain:
        names = [f"v{place}" for place in range(len(names))]
    numbers = np.random.default_rng(choose.getrandbits(64))
    states = {}
    for name in names:
        states[name] = list(choose.choice(IDENTIFIERS if plain else STATES))
        if choose.random() < odd:
            states[name] = random_names(choose, choose.randint(1, 4), 0.6)
        choose.shuffle(states[name])
    parents = {
        name: choose.sample(names[:place], min(place, choose.randint(0, most_parents)))
        for place, name in enumerate(names)
    }
    structure = Network(states, parents, name="net" if plain else choose.choice(("net", "a b", "größe", 'x"y')))
    cpts = {}
    for name in names:
        if choose.random() < complete:
            cpts[name] = random_cpt(choose, numbers, structure.shape(name))
    return structure.with_cpts(cpts)


def random_cpt(choose: Random, numbers: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Distributions over the last axis: smooth, sharp, deterministic or rounded."""
    how = choose.randrange(4)
    if how == 0:
        return numbers.dirichlet(np.full(shape[-1], 0.1), shape[:-1])
    if how == 1:
        return np.eye(shape[-1])[numbers.integers(shape[-1], size=shape[:-1])]
    cpt = numbers.dirichlet(np.ones(shape[-1]), shape[:-1])
    if how == 2:
        cpt = np.round(cpt, 2)
        cpt[..., 0] += 1.0 - cpt.sum(axis=-1)
        cpt = np.abs(cpt) / np.abs(cpt).sum(axis=-1, keepdims=True)
    return cpt


def with_noisy_family(choose: Random, network: Network) -> Network:
    """The same network with one of its variables as a noisy family, if one can be."""
    numbers = np.random.default_rng(choose.getrandbits(64))
    able = [name for name in network.names if network.parents[name] and len(network.states(name)) > 1]
    if not able:
        return network
    child = choose.choice(able)
    parents = list(network.parents[child])
    cut = choose.randrange(len(parents))
    sets = tuple(tuple(part) for part in (parents[:cut], parents[cut:]) if part)
    two = len(network.states(child)) == 2
    kind = choose.choice(("noisy-or", "noisy-and", "noisy-max", "noisy-min") if two else ("noisy-max", "noisy-min"))
    leak = choose.random() < 0.5
    causes = (*sets, ()) if leak else sets
    cpts = [
        random_cpt(choose, numbers, (*(len(network.states(each)) for each in names), len(network.states(child))))
        for names in causes
    ]
    return network.with_forms({child: NoisyForm(kind, sets, network.states(child), leak, tuple(cpts))})


def with_cut_points(choose: Random, network: Network) -> Network:
    """The same network with cut points for some of its variables, where no state is called a number."""
    variables = []
    for own in network.variables:
        count = len(own.states) - 1
        if count and not any(map(is_number, own.states)) and choose.random() < 0.5:
            scale = 10.0 ** choose.randint(-300, 300)
            points = sorted({choose.gauss(0, scale) for _ in range(count)})
            ends = sorted(choose.gauss(0, scale) for _ in range(2))
            lowest, highest = (choose.choice((None, end)) for end in ends)
            own = Variable(own.name, own.states, CutPoints(tuple(points), lowest, highest))
        variables.append(own)
    return Network(variables, network.parents, network.cpts, network.name, network.forms)
